// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "receive_queue.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../../objects/mmap.hpp"
#include "message_receiver.hpp"

namespace opendoca::soft {

namespace {

/// Calls @p action with each buffer of @p receive that has room, the room's address and its length in bytes. Stops at
/// the first error, and returns it.
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

/// Finds the export of the memory map of @p buf, or makes it. The key is a SoftKey as @p device is a software device.
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
            // A message has at most UINT32_MAX bytes, so the rest of a longer buffer is not needed.
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
    // A message longer than a slot is placed by its sender, which needs an export. Exported here, so that a failure is
    // the result of this call rather than of a connection's message later.
    if (plan.length > slot_size && !were_all_exported(dst)) [[unlikely]] {
        if (const doca_error_t status = guarded([&] { return check_exports({dst, plan}); }); status != DOCA_SUCCESS)
            return status;
    }
    Operation &operation = completions_.begin(tag, *this);
    operation.payload<Receive>() = {dst, plan};
    at(first_ + num_++) = &operation;
    check_first_without_receive();
    completions_.wake_if_waiting(); // a message may be waiting for this receive, and no peer rings for it again
    return DOCA_SUCCESS;
}

doca_error_t SoftReceiveQueue::check_exports(const Receive &receive)
{
    return each_room(receive, [&](const doca_buf &buf, const std::byte *, std::size_t) {
        const doca_mmap &map = *buf.mmap;
        if (was_exported(map))
            return DOCA_SUCCESS;
        const ExportDescriptor *found = nullptr;
        const doca_error_t status = find_export(device_, buf, found);
        if (status == DOCA_SUCCESS)
            // Replaces the older of the two.
            exported_[last_exported_ ^= 1] = {map.serial(), map.num_starts()};
        return status;
    });
}

void SoftReceiveQueue::put_back(Operation &operation) noexcept
{
    if (num_ == ring_.size())
        return completions_.done(operation, DOCA_ERROR_SHUTDOWN); // receives posted since have filled the ring
    completions_.assign(operation, *this);
    at(--first_) = &operation;
    ++num_;
}

void SoftReceiveQueue::add_without_receive(MessageReceiver &connection) noexcept
{
    if (connection.is_without_receive)
        return;
    connection.is_without_receive = true;
    connection.next_without_receive = nullptr;
    (first_without_receive_ == nullptr ? first_without_receive_ : last_without_receive_->next_without_receive) =
        &connection;
    last_without_receive_ = &connection;
}

/// Removes the first connection from the list and schedules its check. If another connection uses the receive before,
/// the check adds the connection to the list again.
void SoftReceiveQueue::schedule_first_without_receive() noexcept
{
    MessageReceiver &connection = *first_without_receive_;
    first_without_receive_ = connection.next_without_receive;
    connection.is_without_receive = false;
    connection.schedule_check();
}

void SoftReceiveQueue::remove_without_receive(MessageReceiver &connection) noexcept
{
    MessageReceiver *before = nullptr;
    for (MessageReceiver *other = first_without_receive_; connection.is_without_receive && other != nullptr;
         before = std::exchange(other, other->next_without_receive)) {
        if (other != &connection)
            continue;
        (before == nullptr ? first_without_receive_ : before->next_without_receive) = connection.next_without_receive;
        if (last_without_receive_ == &connection)
            last_without_receive_ = before;
        connection.is_without_receive = false;
    }
    // A check of the connection may have been scheduled for a receive that is still unused.
    check_first_without_receive();
}

void SoftReceiveQueue::end_all(doca_error_t status) noexcept
{
    while (has_receive())
        completions_.done(take(*this), status);
}

} // namespace opendoca::soft
