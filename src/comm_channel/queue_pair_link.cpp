// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "queue_pair_link.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "../core/log/log.hpp"
#include "../core/process/unauthenticated_clients.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_LINK);

namespace opendoca::comm_channel {

namespace {

/// First word of a tag: the queue that a completion belongs to.
constexpr std::uint64_t of_sends = 0, of_receives = 1;
constexpr std::size_t frame_header = 8; ///< length and kind: Stream::Header

} // namespace

QueuePairLink::Slots::Slots(RingShape shape) noexcept
    : count(shape.messages + max_empty),
      size((sizeof(Prefix) + frame_header + shape.message_size + alignment - 1) / alignment * alignment)
{
}

QueuePairLink::QueuePairLink(RingShape outgoing, RingShape incoming)
    : sends_(outgoing),
      receives_(incoming),
      memory_(
          static_cast<std::byte *>(::operator new (sends_.bytes() + receives_.bytes(), std::align_val_t{alignment}))),
      completions_(sends_.count + receives_.count),
      sending_(std::make_unique<doca_buf[]>(sends_.count)),
      receiving_(std::make_unique<doca_buf[]>(receives_.count)),
      lengths_(std::make_unique<std::uint32_t[]>(receives_.count)),
      are_empty_(std::make_unique<bool[]>(sends_.count))
{
    sends_.start = memory_.get();
    receives_.start = memory_.get() + sends_.bytes();
}

doca_error_t QueuePairLink::create(const std::shared_ptr<const DeviceFunction> &function,
                                   std::shared_ptr<EventHandle> events, RingShape outgoing, RingShape incoming,
                                   std::unique_ptr<QueuePairLink> &created)
{
    std::unique_ptr<QueuePairLink> fresh(new QueuePairLink(outgoing, incoming));
    const doca_error_t status = fresh->open(function, std::move(events));
    if (status == DOCA_SUCCESS)
        created = std::move(fresh);
    return status;
}

doca_error_t QueuePairLink::open(const std::shared_ptr<const DeviceFunction> &function,
                                 std::shared_ptr<EventHandle> events)
{
    doca_dev *dev = nullptr;
    if (const doca_error_t status = doca_dev::open(function, dev); status != DOCA_SUCCESS)
        return status;
    device_.reset(dev);
    doca_error_t status =
        map_for_library(*dev, {memory_.get(), sends_.bytes() + receives_.bytes()}, Access::local_read_write, map_);
    if (status != DOCA_SUCCESS)
        return status;
    completions_.share_events(std::move(events));
    QueuePairSettings settings{};
    // Queue pairs take powers of two; the credits limit both sides to the exact counts.
    settings.send_queue_size = std::bit_ceil(sends_.count);
    settings.recv_queue_size = std::bit_ceil(receives_.count);
    settings.send_chain_length = settings.recv_chain_length = 1;
    settings.permissions = Access::local_read_write;
    settings.mtu = function->can.rdma.active_mtu;
    settings.has_grh = true;
    settings.completions = &completions_;
    settings.is_optional = true;
    status = dev->device().create_queue_pair(settings, state_, queue_pair_);
    if (status != DOCA_SUCCESS)
        return status;
    // Release: pairs with the acquire load in QueuePair's check of its state.
    state_.store(ConnectionState::initial, std::memory_order_release);
    return queue_pair_->attach(completions_);
}

QueuePairLink::~QueuePairLink()
{
    if (queue_pair_ != nullptr)
        queue_pair_->detach();
}

doca_error_t QueuePairLink::connect(std::span<const std::byte> details_of_peer)
{
    if (const doca_error_t status = queue_pair_->connect(details_of_peer); status != DOCA_SUCCESS)
        return status;
    // The peer sends nothing before it has been notified of this connect(), so it always finds a posted receive.
    for (std::uint32_t i = 0; i != receives_.count; ++i) {
        if (!post_receive(i))
            return DOCA_ERROR_DRIVER;
    }
    was_connected_ = true;
    return DOCA_SUCCESS;
}

doca_buf QueuePairLink::buffer_of(std::byte *slot, std::size_t size, std::size_t data) const noexcept
{
    doca_buf buf{};
    buf.head = buf.data = slot;
    buf.len = size;
    buf.data_len = data;
    buf.mmap = map_.get();
    return buf;
}

bool QueuePairLink::post_receive(std::uint32_t number) noexcept
{
    doca_buf &buf = receiving_[number % receives_.count];
    buf = buffer_of(receives_.at(number), receives_.size, 0);
    buf.last = &buf;
    has_failed_ =
        has_failed_ || queue_pair_->receive({of_receives, 0}, &buf, TransferPlan::single_sge(buf.len)) != DOCA_SUCCESS;
    return !has_failed_;
}

/// Returns whether one more message can be sent while fewer than @p max_empty_before empty ones hold credits.
bool QueuePairLink::has_space(std::uint32_t max_empty_before) noexcept
{
    const auto is_possible = [&] {
        // Three limits: slots of this side whose send has not completed, receives of the peer, and its receives for
        // reports.
        return !has_failed_ && num_sent_ - num_done_ != sends_.count &&
               num_sent_ - num_peer_reposted_ != sends_.count && num_empty_ < max_empty_before;
    };
    if (is_possible())
        return true;
    poll();
    return is_possible();
}

void QueuePairLink::post_send(std::span<const std::byte> bytes) noexcept
{
    // Both counts are reported with every message, so that data in both directions needs no messages of its own for
    // them.
    const Prefix prefix = {num_reported_ = num_reposted_, num_received_reported_ = num_received_};
    std::byte *const slot = sends_.at(num_sent_);
    std::memcpy(slot, &prefix, sizeof(prefix));
    std::ranges::copy(bytes, slot + sizeof(prefix));
    doca_buf &buf = sending_[num_sent_ % sends_.count];
    buf = buffer_of(slot, sends_.size, sizeof(prefix) + bytes.size());
    buf.last = &buf;
    Request request{};
    request.opcode = Opcode::send;
    request.plan = TransferPlan::single_sge(buf.data_len);
    request.local = &buf;
    if (queue_pair_->post({of_sends, 0}, request) != DOCA_SUCCESS) {
        has_failed_ = true;
        return;
    }
    are_empty_[num_sent_++ % sends_.count] = bytes.empty();
    num_empty_ += bytes.empty() ? 1 : 0;
}

bool QueuePairLink::send(std::span<const std::byte> frame) noexcept
{
    if (frame.size() > sends_.size - sizeof(Prefix) || !has_space(max_empty + 1))
        return false;
    post_send(frame);
    return !has_failed_;
}

void QueuePairLink::send_received_count() noexcept
// A frame may arrive in parts: @p bytes takes what fits, and the rest of the message stays for the next call.
{
    if (num_received_ != num_received_reported_ && has_space(max_empty_for_received))
        post_send({});
}

/// Reports reposted receives. The peer may lack credits while this side has nothing else to send.
void QueuePairLink::send_reposted_count() noexcept
{
    if (num_reposted_ - num_reported_ >= min_unreported_reposts && has_space(max_empty))
        post_send({});
}

std::size_t QueuePairLink::receive(std::span<std::byte> bytes) noexcept
{
    if (num_arrived_ == num_reposted_)
        poll();
    std::size_t given = 0;
    while (num_arrived_ != num_reposted_ && given != bytes.size()) {
        const std::uint32_t index = num_reposted_ % receives_.count;
        const std::size_t length = std::min<std::size_t>(lengths_[index] - at_, bytes.size() - given);
        std::memcpy(bytes.data() + given, receives_.at(num_reposted_) + sizeof(Prefix) + at_, length);
        given += length;
        at_ += length;
        if (at_ != lengths_[index])
            break;
        at_ = 0;
        (void)post_receive(num_reposted_++); // a failure is reported after the remaining data
    }
    send_reposted_count();
    return given;
}

bool QueuePairLink::has_unsent() noexcept
{
    poll();
    return !has_failed_ && num_sent_ != num_done_;
}

void QueuePairLink::poll() noexcept
{
    // A completion is in the ring, or poll() returns its operation: repeats until both are empty.
    for (;;) {
        Ended ended{};
        if (completions_.pop(ended)) {
            note(ended.tag, ended.status, ended.result.length);
        } else if (Operation *const operation = completions_.poll(); operation != nullptr) {
            note(operation->tag, DOCA_SUCCESS, operation->length);
            completions_.release(*operation);
        } else if (completions_.is_empty()) {
            return;
        }
    }
}

void QueuePairLink::note(Tag tag, doca_error_t status, std::uint32_t length) noexcept
{
    if (status != DOCA_SUCCESS)
        has_failed_ = true;
    else if (tag.a == of_sends)
        ++num_done_; // sends complete in order, and so do receives
    else
        note_message(length);
}

/// Validates a message of the untrusted peer and stores its credits and length.
void QueuePairLink::note_message(std::uint32_t length) noexcept
{
    Prefix prefix{};
    if (length >= sizeof(prefix))
        std::memcpy(&prefix, receives_.at(num_arrived_), sizeof(prefix));
    // Unsigned differences stay correct when the counts wrap around: a valid count lies between the last one and
    // num_sent_.
    if (length < sizeof(prefix) || prefix.reposted - num_peer_reposted_ > num_sent_ - num_peer_reposted_) {
        if (may_log_unauthenticated_client())
            LOG_ERR("the peer has sent an invalid message of %u bytes by a queue pair", length);
        has_failed_ = true;
        return;
    }
    for (; num_peer_reposted_ != prefix.reposted; ++num_peer_reposted_)
        num_empty_ -= are_empty_[num_peer_reposted_ % sends_.count] ? 1 : 0;
    num_received_by_peer_ = prefix.received;
    lengths_[num_arrived_++ % receives_.count] = length - static_cast<std::uint32_t>(sizeof(prefix));
}

void QueuePairLink::arm() noexcept
{
    is_armed_ = true;
    completions_.arm();
}

void QueuePairLink::disarm() noexcept
{
    if (std::exchange(is_armed_, false))
        (void)completions_.clear();
}

} // namespace opendoca::comm_channel
