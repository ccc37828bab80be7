// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "receive_queue.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../../mmap.hpp"
#include "queue_pair.hpp"

namespace opendoca::soft {

namespace {

/// Calls @p action with each buffer of @p receive that has room, the room's address and its length.
template <typename Action>
doca_error_t each_room(const Receive &receive, Action action)
{
    for (const doca_buf *buf = receive.dst; buf != nullptr; buf = buf->next) {
        const std::size_t room = receive.plan.overwrites ? buf->data_len : buf->tailroom();
        if (room == 0)
            continue;
        const std::byte *const start = buf->data + (receive.plan.overwrites ? 0 : buf->data_len);
        if (const doca_error_t status = action(*buf, start, room); status != DOCA_SUCCESS)
            return status;
    }
    return DOCA_SUCCESS;
}

doca_error_t find_export(const SoftDevice &device, const doca_buf &buf, const ExportDescriptor *&found)
{
    return static_cast<SoftKey &>(*buf.mmap->key_for(device)).export_for_receives(found);
}

} // namespace

doca_error_t post_segments(const SoftDevice &device, ReceiveEntry &entry, const Receive &receive)
{
    std::uint32_t count = 0;
    const doca_error_t status = each_room(receive, [&](const doca_buf &buf, const std::byte *start, std::size_t room) {
        const ExportDescriptor *found = nullptr;
        if (const doca_error_t not_found = find_export(device, buf, found); not_found != DOCA_SUCCESS)
            return not_found;
        entry.segments()[count++] = {
            .addr = reinterpret_cast<std::uintptr_t>(start),
            .generation = found->generation,
            .length = static_cast<std::uint32_t>(std::min<std::size_t>(room, UINT32_MAX)),
            .entry = found->entry,
        };
        return DOCA_SUCCESS;
    });
    if (status == DOCA_SUCCESS)
        entry.num_segments = count;
    return status;
}

SoftReceiveQueue::SoftReceiveQueue(const SoftDevice &device, CompletionQueue &completions, std::uint32_t size)
    : device_(device),
      completions_(completions),
      size_(size),
      mask_(std::bit_ceil(size) - 1),
      ring_(mask_ + std::size_t{1})
{
}

doca_error_t SoftReceiveQueue::receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    if (num_ == size_ || completions_.is_full())
        return DOCA_ERROR_NO_MEMORY;
    // A longer message is placed by its sender. That this is possible shows here, and not when it has come.
    if (plan.length > slot_size && !are_known_to_be_exported(dst)) [[unlikely]] {
        if (const doca_error_t status = guarded([&] { return check_exports({dst, plan}); }); status != DOCA_SUCCESS)
            return status;
    }
    Operation &operation = completions_.begin(tag, *this);
    operation.payload<Receive>() = {dst, plan};
    at(first_ + num_++) = &operation;
    feed();
    if (completions_.is_armed()) [[unlikely]]
        completions_.wake(); // messages may wait for it
    return DOCA_SUCCESS;
}

doca_error_t SoftReceiveQueue::check_exports(const Receive &receive)
{
    return each_room(receive, [&](const doca_buf &buf, const std::byte *, std::size_t) {
        const doca_mmap &map = *buf.mmap;
        if (is_known_to_be_exported(map))
            return DOCA_SUCCESS;
        const ExportDescriptor *found = nullptr;
        const doca_error_t status = find_export(device_, buf, found);
        if (status == DOCA_SUCCESS)
            exported_[last_exported_ ^= 1] = {map.serial(), map.num_starts()};
        return status;
    });
}

void SoftReceiveQueue::give_back(Operation &operation) noexcept
{
    if (num_ == ring_.size())
        return completions_.done(operation, DOCA_ERROR_SHUTDOWN); // others have been posted instead
    completions_.assign(operation, *this);
    at(--first_) = &operation;
    ++num_;
}

void SoftReceiveQueue::starve(SoftQueuePair &connection) noexcept
{
    if (connection.is_starving)
        return;
    connection.is_starving = true;
    connection.next_starving = nullptr;
    (first_starving_ == nullptr ? first_starving_ : last_starving_->next_starving) = &connection;
    last_starving_ = &connection;
}

void SoftReceiveQueue::feed_first() noexcept
{
    SoftQueuePair &connection = *first_starving_;
    first_starving_ = connection.next_starving;
    connection.is_starving = false;
    connection.look_again();
}

void SoftReceiveQueue::forget(SoftQueuePair &connection) noexcept
{
    SoftQueuePair *before = nullptr;
    for (SoftQueuePair *other = first_starving_; connection.is_starving && other != nullptr;
         before = std::exchange(other, other->next_starving)) {
        if (other != &connection)
            continue;
        (before == nullptr ? first_starving_ : before->next_starving) = connection.next_starving;
        if (last_starving_ == &connection)
            last_starving_ = before;
        connection.is_starving = false;
    }
    feed(); // it may have been about to take one
}

void SoftReceiveQueue::flush() noexcept
{
    while (has_receive())
        completions_.done(take(*this), DOCA_ERROR_SHUTDOWN);
}

} // namespace opendoca::soft
