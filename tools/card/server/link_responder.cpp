// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "link_responder.hpp"

#include <cstddef>
#include <span>

#include "big_endian.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t max_aliases = 1 << 18; // of the other side, as many as one program can have keys

LinkStatus status_of(Access access)
{
    return access == Access::done ? LinkStatus::done : access == Access::gone ? LinkStatus::gone : LinkStatus::refused;
}

void put_status(std::span<std::uint8_t> body, LinkStatus status)
{
    store_big(body.data(), static_cast<std::uint32_t>(status));
}

/// Returns whether a range that the other side has sent is in itself possible.
bool is_range(const LinkRange &range)
{
    return range.count <= max_link_data && range.offset <= range.length && range.count <= range.length - range.offset;
}

/// Returns whether an access with these rights may write. Which of them it needs depends on the request: those of a
/// connection need rights of the peer, and those of the DMA engine local ones.
bool are_to_write(std::uint32_t rights)
{
    constexpr std::uint32_t any = right::local_write | right::remote_write | right::remote_atomic;
    return (rights & any) != 0 && (rights & ~any) == 0;
}

} // namespace

bool LinkResponder::handle(LinkStream &stream, const LinkMessage &message)
{
    switch (message.type) {
    case LinkType::open:
        return open(stream, message);
    case LinkType::close:
        return message.body.size() == sizeof(std::uint32_t) && aliases_.erase(be32(message.body.data())) == 1;
    case LinkType::read:
        return read(stream, message);
    case LinkType::write:
        return write(stream, message);
    case LinkType::atomic:
        return swap(stream, message);
    default:
        return false;
    }
}

bool LinkResponder::open(LinkStream &stream, const LinkMessage &message)
{
    if (message.body.size() != LinkOpen::bytes)
        return false;
    const LinkOpen wanted = LinkOpen::decode(message.body.first<LinkOpen::bytes>());
    const MemoryKey *key = find_shared_key(card_, wanted.vhca_id, wanted.object_id, wanted.access_key);
    const std::span<std::uint8_t> reply = stream.append(LinkType::opened, message.id, link_opened_bytes);
    if (key == nullptr || aliases_.size() == max_aliases) {
        put_status(reply, key == nullptr ? LinkStatus::refused : LinkStatus::full);
        return true;
    }
    do
        ++last_handle_;
    while (last_handle_ == 0 || aliases_.contains(last_handle_));
    aliases_.emplace(last_handle_, SharedKey{key->key >> 8, key->serial});
    store_big(&reply[link_at_handle], last_handle_);
    store_big(&reply[link_at_access], key->access);
    return true;
}

bool LinkResponder::resolve(const LinkRange &range, SegmentList &list)
{
    ++requests_;
    list.clear();
    const auto found = aliases_.find(range.handle);
    return found != aliases_.end() &&
           add_shared_range(card_, list, found->second, range.rights, range.address, range.length);
}

bool LinkResponder::read(LinkStream &stream, const LinkMessage &message)
{
    static SegmentList list;
    if (message.body.size() != LinkRange::bytes)
        return false;
    const LinkRange range = LinkRange::decode(message.body.first<LinkRange::bytes>());
    if (!is_range(range) || (range.rights & ~right::remote_read) != 0)
        return false;
    const std::span<std::uint8_t> reply = stream.append(LinkType::data, message.id, link_status_bytes + range.count);
    const Access access =
        resolve(range, list) ? read_from(list, range.offset, reply.subspan(link_status_bytes)) : Access::fault;
    put_status(reply, status_of(access));
    if (access != Access::done)
        stream.shorten_last(link_status_bytes); // no byte of memory that was read in part
    return true;
}

bool LinkResponder::write(LinkStream &stream, const LinkMessage &message)
{
    static SegmentList list;
    if (message.body.size() < LinkRange::bytes)
        return false;
    const LinkRange range = LinkRange::decode(message.body.first<LinkRange::bytes>());
    if (!is_range(range) || message.body.size() != LinkRange::bytes + range.count || !are_to_write(range.rights))
        return false;
    const Access access =
        resolve(range, list) ? write_to(list, range.offset, message.body.subspan(LinkRange::bytes)) : Access::fault;
    put_status(stream.append(LinkType::written, message.id, link_status_bytes), status_of(access));
    return true;
}

bool LinkResponder::swap(LinkStream &stream, const LinkMessage &message)
{
    static SegmentList list;
    if (message.body.size() != LinkRange::bytes + LinkAtomic::bytes)
        return false;
    const LinkRange range = LinkRange::decode(message.body.first<LinkRange::bytes>());
    if (range.offset != 0 || range.length != sizeof(std::uint64_t) || range.count != range.length ||
        !are_to_write(range.rights))
        return false;
    const LinkAtomic atomic = LinkAtomic::decode(message.body.last<LinkAtomic::bytes>());
    std::uint64_t old = 0;
    const Access access =
        resolve(range, list) && list.segments.size() == 1 ? swap_word(list, atomic, old) : Access::fault;
    const std::span<std::uint8_t> reply = stream.append(LinkType::swapped, message.id, link_swapped_bytes);
    put_status(reply, status_of(access));
    store_big(&reply[link_at_swapped], old);
    return true;
}

} // namespace opendoca::card
