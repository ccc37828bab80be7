// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "command.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace opendoca::card {

namespace {

/// Inputs up to this size are stored in the attribute itself.
constexpr std::size_t inline_bytes = sizeof(ib_uverbs_attr::data);

} // namespace

int Command::load()
{
    ib_uverbs_ioctl_hdr header;
    if (process->read(address_, &header, sizeof(header)) != Access::done)
        return EFAULT;
    // The header states its length twice, in bytes and in attributes.
    if (header.num_attrs > max_attributes ||
        header.length != sizeof(header) + header.num_attrs * sizeof(ib_uverbs_attr))
        return EINVAL;
    count_ = header.num_attrs;
    method_ = method_key(header.object_id, header.method_id);
    // The attributes follow the header. This is their only copy: the program may change its own at any time.
    if (process->read(address_ + sizeof(header), attributes_.data(), count_ * sizeof(ib_uverbs_attr)) != Access::done)
        return EFAULT;
    return 0;
}

const ib_uverbs_attr *Command::find(unsigned id) const
{
    const auto end = attributes_.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto found = std::find_if(attributes_.begin(), end, [&](const auto &attr) { return attr.attr_id == id; });
    return found == end ? nullptr : &*found;
}

std::uint64_t Command::address_of(const ib_uverbs_attr &attribute) const
{
    return address_ + sizeof(ib_uverbs_ioctl_hdr) +
           static_cast<std::uint64_t>(&attribute - attributes_.data()) * sizeof(ib_uverbs_attr);
}

std::size_t Command::length(unsigned id) const
{
    const ib_uverbs_attr *attribute = find(id);
    return attribute == nullptr ? 0 : attribute->len;
}

bool Command::get(unsigned id, void *to, std::size_t size) const
{
    // An older program passes a shorter structure; the fields that it lacks are 0.
    std::memset(to, 0, size);
    const ib_uverbs_attr *attribute = find(id);
    if (attribute == nullptr)
        return false;
    // A short input is in the attribute itself; otherwise the attribute holds its address.
    if (attribute->len <= inline_bytes) {
        std::memcpy(to, &attribute->data, std::min(size, inline_bytes));
        return true;
    }
    return process->read(attribute->data, to, std::min<std::size_t>(size, attribute->len)) == Access::done;
}

std::uint64_t Command::number(unsigned id) const
{
    const ib_uverbs_attr *attribute = find(id);
    return attribute == nullptr ? 0 : attribute->data;
}

int Command::put(unsigned id, const void *from, std::size_t size) const
{
    const ib_uverbs_attr *attribute = find(id);
    if (attribute == nullptr)
        return 0;
    // The flag reports to libibverbs that the output was written.
    const auto flags = static_cast<std::uint16_t>(attribute->flags | UVERBS_ATTR_F_VALID_OUTPUT);
    // An older program passes a shorter buffer, and gets the fields that it has room for.
    const bool is_done =
        process->write(attribute->data, from, std::min<std::size_t>(size, attribute->len)) == Access::done &&
        process->write(address_of(*attribute) + offsetof(ib_uverbs_attr, flags), &flags, sizeof(flags)) == Access::done;
    return is_done ? 0 : EFAULT;
}

int Command::put_part(unsigned id, std::size_t offset, const void *from, std::size_t size) const
{
    const ib_uverbs_attr *attribute = find(id);
    if (attribute == nullptr || offset + size > attribute->len)
        return EINVAL;
    return process->write(attribute->data + offset, from, size) == Access::done ? 0 : EFAULT;
}

int Command::put_handle(unsigned id, Object &object) const
{
    // A handle is stored in the attribute itself, unlike other outputs.
    const ib_uverbs_attr *attribute = find(id);
    const std::uint64_t handle = object.handle;
    const int error = attribute == nullptr ? EINVAL
                      : process->write(address_of(*attribute) + offsetof(ib_uverbs_attr, data), &handle,
                                       sizeof(handle)) == Access::done
                          ? 0
                          : EFAULT;
    if (error != 0)
        file.card.objects.destroy(object);
    return error;
}

int Command::put_descriptor(unsigned id, UniqueFd descriptor)
{
    const ib_uverbs_attr *attribute = find(id);
    if (attribute == nullptr)
        return EINVAL;
    // The preloaded library stores the number, since it is assigned when the program receives the descriptor.
    descriptor_slot = {address_of(*attribute) + offsetof(ib_uverbs_attr, data), sizeof(std::int64_t), 0};
    new_descriptor = std::move(descriptor);
    return 0;
}

int Command::put_descriptor_indirect(unsigned id, UniqueFd descriptor)
{
    const ib_uverbs_attr *attribute = find(id);
    if (attribute == nullptr || attribute->len < sizeof(std::int32_t))
        return EINVAL;
    descriptor_slot = {attribute->data, sizeof(std::int32_t), 0};
    new_descriptor = std::move(descriptor);
    return 0;
}

} // namespace opendoca::card
