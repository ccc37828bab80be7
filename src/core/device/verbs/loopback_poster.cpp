// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "loopback_poster.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "../../engine/completion_queue.hpp"
#include "device.hpp"

namespace opendoca::verbs {

namespace {

// Larger queues are not faster; a long copy is split into several messages.
constexpr std::uint32_t max_messages = 256;
constexpr std::uint32_t min_messages = 16;
/// Only every n-th send is signaled, so credits return late. Twice as many credits as useful messages make up for that.
constexpr std::uint32_t credits_per_message = 2;
constexpr std::uint32_t signals_per_round = 4;
/// A device may report the completion of a send slightly before that of its receive.
constexpr std::uint32_t spare_receives = 8;
/// Longest message. Some devices have 31 bits for a segment's length.
constexpr std::uint32_t max_message_bytes = 1u << 30;

} // namespace

LoopbackPoster::LoopbackPoster(const VerbsDevice &device, const CompletionQueue &completions)
    : send_flags_(completions.is_event_driven() ? unsigned{IBV_SEND_SOLICITED} : 0),
      device_(device)
{
    const VerbsFunction &function = device.port();
    const RdmaCapabilities &can = function.can.rdma;
    // A copy needs one message unless it is long, so the depth of the completion queue limits the messages that can be
    // used.
    const std::uint32_t desired =
        credits_per_message * std::clamp(std::bit_ceil(completions.depth()), min_messages, max_messages);
    num_messages_ = std::min(desired, can.max_queue_size);
    send_credits_ = static_cast<std::int32_t>(num_messages_);
    signal_period_ = std::max(num_messages_ / signals_per_round, 1u);
    until_signal_ = signal_period_;
    limits_ = {std::min(can.max_message_size, max_message_bytes),
               std::min(function.max_segments(), SegmentList::capacity)};
}

doca_error_t LoopbackPoster::connect()
{
    const std::uint32_t max_receives = device_.port().can.rdma.max_queue_size;
    const ReliableConnection::Sizes sizes = {.sends = num_messages_,
                                             .receives = std::min(num_messages_ + spare_receives, max_receives),
                                             .send_segments = limits_.segments,
                                             .receive_segments = limits_.segments,
                                             .send_operations = IBV_QP_EX_WITH_SEND};
    // The constructor has set a flag only for an event-driven queue.
    const bool has_channel = send_flags_ != 0;
    if (const doca_error_t status = completions_.create(device_, sizes.sends + sizes.receives, has_channel);
        status != DOCA_SUCCESS)
        return status;
    // No remote access rights: only messages are exchanged.
    if (const doca_error_t status = connection_.create(device_, completions_, sizes, 0); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = device_.connect_to_itself(connection_); status != DOCA_SUCCESS)
        return status;
    sender_ = &connection_.sender();
    queue_pair_ = &connection_.queue_pair();
    // The CPU reads inline data, which it cannot do with memory imported from a host.
    longest_inline_ = device_.function().can_import_dpu() ? 0 : connection_.max_inline();
    return DOCA_SUCCESS;
}

doca_error_t LoopbackPoster::reset_and_reconnect() noexcept
{
    // The completions that are left belong to work requests that reset() has dropped.
    doca_error_t status = connection_.reset();
    completions_.discard_all();
    if (status == DOCA_SUCCESS)
        status = device_.connect_to_itself(connection_);
    send_credits_ = status == DOCA_SUCCESS ? static_cast<std::int32_t>(num_messages_) : 0;
    until_signal_ = signal_period_;
    return status;
}

int LoopbackPoster::add(Batch &batch, std::uint64_t id) noexcept
{
    CopyPart &part = batch.next_part();
    // The receive is posted at once and the send with the batch, so each message finds its receive.
    if (const int error = post_receive(id, part.dst.segments.data(), part.dst.count); error != 0)
        return error;
    --send_credits_;
    ibv_send_wr &request = batch.requests[batch.count++];
    request = {};
    request.wr_id = id | is_send;
    // post() ends the chain behind the last request.
    request.next = &request + 1;
    request.sg_list = part.src.segments.data();
    request.num_sge = static_cast<int>(part.src.count);
    request.opcode = IBV_WR_SEND;
    request.send_flags = signal_flags();
    return 0;
}

int LoopbackPoster::post(Batch &batch) noexcept
{
    if (batch.count == 0)
        return 0;
    batch.requests[batch.count - 1].next = nullptr;
    batch.count = 0;
    ibv_send_wr *refused = nullptr;
    return ibv_post_send(queue_pair_, batch.requests, &refused);
}

} // namespace opendoca::verbs
