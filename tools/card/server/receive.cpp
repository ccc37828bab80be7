// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Receive queues. They have no doorbell that wakes the card: their records are read when a message arrives.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "big_endian.hpp"
#include "device_events.hpp"
#include "limits.hpp"
#include "work_request.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t segment_bytes = 16;
/// Room for the longest receive request.
using Entry512 = std::array<std::uint8_t, 1u << max_receive_log_stride>;

/// Resolves the data segments of a receive request, up to the end marker.
void read_segments(const QueuePair &qp, std::span<const std::uint8_t> segments, Receive &receive)
{
    constexpr std::uint32_t end_of_list = 0x100; // key of the end marker (MLX5_INVALID_LKEY)
    for (; segments.size() >= segment_bytes; segments = segments.subspan(segment_bytes)) {
        const std::uint32_t length = be32(&segments[0]), key = be32(&segments[4]);
        if (key == end_of_list)
            break;
        if (length != 0)
            receive.parts.push_back({key, length, be64(&segments[8])});
    }
    receive.is_valid = resolve_again(qp, receive);
}

/// Maps a failed access to the result of taking a receive request.
Take failed(Access access)
{
    return access == Access::gone ? Take::gone : Take::none;
}

/// Takes the next receive request of a shared receive queue, and sends the limit event if due.
Take take_shared(const QueuePair &qp, SharedReceiveQueue &srq, Receive &receive)
{
    std::uint32_t posted = 0;
    if (const Access access = srq.process->read(srq.doorbell_record, &posted, sizeof(posted)); access != Access::done)
        return failed(access);
    const auto ready = static_cast<std::uint16_t>(swap_on_little_endian(posted) - srq.consumed);
    if (ready == 0 || ready > srq.entries)
        return Take::none;
    Entry512 entry;
    const std::size_t size = std::size_t{1} << srq.log_stride;
    const std::uint32_t place = srq.next & (srq.entries - 1);
    if (const Access access =
            srq.process->read(srq.buffer + (static_cast<std::uint64_t>(place) << srq.log_stride), entry.data(), size);
        access != Access::done)
        return failed(access);
    receive.index = srq.is_cyclic ? srq.next : static_cast<std::uint16_t>(place);
    srq.next = srq.is_cyclic ? static_cast<std::uint16_t>(srq.next + 1) : be16(&entry[2]);
    ++srq.consumed;
    // The first 16 bytes link to the next receive request (mlx5_wqe_srq_next_seg).
    read_segments(qp, std::span(entry).first(size).subspan(segment_bytes), receive);
    if (srq.limit != 0 && ready - 1u < srq.limit) {
        srq.limit = 0;
        report_limit(srq);
    }
    return Take::taken;
}

/// Takes the next receive request of the queue pair's own ring.
Take take_own(QueuePair &qp, Receive &receive)
{
    if (qp.receive_entries == 0)
        return Take::none;
    // A counter beyond the ring's size is invalid, and counts as no receive request.
    const auto has_any = [&qp] {
        const auto ready = static_cast<std::uint16_t>(qp.receive_posted - qp.receive_consumed);
        return ready != 0 && ready <= qp.receive_entries;
    };
    if (!has_any()) {
        std::uint32_t posted = 0;
        if (const Access access = qp.process->read(qp.doorbell_record, &posted, sizeof(posted)); access != Access::done)
            return failed(access);
        qp.receive_posted = static_cast<std::uint16_t>(swap_on_little_endian(posted));
    }
    if (!has_any())
        return Take::none;
    Entry512 entry;
    const std::size_t size = std::size_t{1} << qp.receive_log_stride;
    const std::uint64_t place = qp.receive_consumed & (qp.receive_entries - 1);
    if (const Access access =
            qp.process->read(qp.receive_buffer + (place << qp.receive_log_stride), entry.data(), size);
        access != Access::done)
        return failed(access);
    receive.index = qp.receive_consumed++;
    read_segments(qp, std::span(entry).first(size), receive);
    return Take::taken;
}

} // namespace

Take take_receive(QueuePair &qp, Receive &receive, SharedReceiveQueue *xrc_queue)
{
    receive.list.clear();
    receive.parts.clear();
    receive.is_valid = true;
    receive.xrc_queue = xrc_queue != nullptr ? xrc_queue->number() : 0;
    SharedReceiveQueue *const shared = xrc_queue != nullptr ? xrc_queue : qp.srq.get();
    return shared != nullptr ? take_shared(qp, *shared, receive) : take_own(qp, receive);
}

SharedReceiveQueue *xrc_queue_of(const QueuePair &receiver, std::uint32_t number)
{
    auto *found = receiver.file.card.objects.by_number<SharedReceiveQueue>(number);
    return found != nullptr && found->domain && receiver.domain && found->domain->identity == receiver.domain->identity
               ? found
               : nullptr;
}

std::uint32_t memory_domain_of(const QueuePair &receiver, const SharedReceiveQueue *xrc_queue)
{
    return xrc_queue != nullptr ? xrc_queue->pd->number() : receiver.pd->number();
}

void complete_receive_error(QueuePair &qp, const Receive &receive, Syndrome syndrome)
{
    if (qp.type != QpType::xrc_receive)
        return complete_error(*qp.receive_cq, qp, Entry::receive_error, receive.index, 0, syndrome);
    // The queue may have been destroyed since the request was taken, and its completions with it.
    if (const SharedReceiveQueue *queue = xrc_queue_of(qp, receive.xrc_queue))
        complete_error(*queue->cq, qp, Entry::receive_error, receive.index, 0, syndrome, queue->user_index);
}

bool resolve_again(const QueuePair &qp, Receive &receive)
{
    receive.list.clear();
    const SharedReceiveQueue *queue = qp.type == QpType::xrc_receive ? xrc_queue_of(qp, receive.xrc_queue) : nullptr;
    if (queue == nullptr && qp.type == QpType::xrc_receive)
        return false; // destroyed since then
    const Purpose purpose{memory_domain_of(qp, queue), right::local_write, qp.number()};
    return std::ranges::all_of(receive.parts, [&](const Receive::Part &part) {
        return add_range(qp.file.card, receive.list, purpose, part.key, part.address, part.length);
    });
}

void flush_receives(QueuePair &qp)
{
    // Moved out first: a completion that overruns its queue breaks queue pairs, which comes here again.
    if (const std::unique_ptr<Receive> begun = std::move(qp.receiving))
        complete_receive_error(qp, *begun, Syndrome::flushed);
    Receive receive;
    while (!qp.srq && take_receive(qp, receive) == Take::taken)
        complete_error(*qp.receive_cq, qp, Entry::receive_error, receive.index, 0, Syndrome::flushed);
}

} // namespace opendoca::card
