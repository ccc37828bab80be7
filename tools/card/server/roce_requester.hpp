// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "../network/packet.hpp"
#include "engine.hpp"
#include "work_request.hpp"

namespace opendoca::card {

class RoceConnection;

/// The sending half of a queue pair with a peer outside of the card: takes work requests from the send queue,
/// sends their packets within a window, and completes them in order as they are acknowledged. What is lost is sent
/// again from the first missing packet on (go-back-N). A member of RoceConnection. Keys are resolved anew for each
/// batch of packets, so a key that was destroyed is not used any more.
class Requester {
public:
    explicit Requester(RoceConnection &connection) : connection_(connection) {}
    Requester(const Requester &) = delete;
    Requester &operator=(const Requester &) = delete;

    /// Starts with the attributes of the queue pair, which has become ready to send.
    void start();
    /// Drops the state of all requests. They stay in the send queue.
    void stop();
    /// Takes requests that the program has posted, up to the producer counter @p produced.
    void post(std::uint16_t produced, Progress &progress);
    /// Sends up to @p budget packets, as far as the window allows. Returns how many.
    unsigned transmit(unsigned budget);
    /// Returns whether transmit() would send something now.
    [[nodiscard]] bool can_transmit() const;
    /// Handles a packet of the responder.
    void handle(const Packet &packet);
    /// Handles the expiry of deadline().
    void expire(std::uint64_t now);
    /// Returns the time in ns at which expire() is to be called, or 0.
    [[nodiscard]] std::uint64_t deadline() const;

private:
    /// A request that was taken from the send queue and is not complete.
    struct Sent {
        std::vector<std::uint8_t> bytes; ///< the request itself, of which inline data are a part
        std::uint16_t index = 0, slots = 0;
        Opcode opcode{};
        Syndrome error = Syndrome::none; ///< it fails with this when all before it are complete
        bool is_fenced = false;          ///< waits for the reads and atomics before it
        std::uint32_t first_psn = 0, packets = 0;
        std::uint64_t length = 0;

        [[nodiscard]] bool is_read() const { return opcode == Opcode::read; }
        [[nodiscard]] bool is_atomic() const { return card::is_atomic(opcode); }
        [[nodiscard]] bool needs_data() const { return is_read() || is_atomic(); }
        [[nodiscard]] std::uint32_t end_psn() const { return psn_plus(first_psn, packets); }
        [[nodiscard]] WorkRequest request() const { return WorkRequest::parse(bytes, index); }
    };

    void take(const WorkRequest &request, std::uint16_t slots);
    [[nodiscard]] Syndrome measure(const WorkRequest &request, Sent &sent) const;
    /// Resolves the local memory of a request.
    [[nodiscard]] Syndrome resolve(const Sent &sent, SegmentList &local) const;
    [[nodiscard]] std::uint32_t window_left() const;
    unsigned send_payload(Sent &sent, unsigned budget);
    unsigned send_read(const Sent &sent, unsigned budget);
    void send_atomic(const Sent &sent);
    void complete_first();
    void fail_first(Syndrome syndrome);
    /// Completes the packets before @p psn. Returns false if the response to a read or an atomic is missing, which is
    /// then requested again.
    bool acknowledge_before(std::uint32_t psn);
    void take_data(const Packet &packet);
    void retry_from(std::uint32_t psn);
    void lose(std::uint32_t psn);
    void wait_for_receiver(const Packet &packet);
    void note_progress();
    void find_sending();
    [[nodiscard]] std::uint64_t timeout_ns() const;

    RoceConnection &connection_;
    std::deque<Sent> sent_;
    std::size_t sending_ = 0;         ///< index of the request that has next_psn_
    std::uint16_t taken_ = 0;         ///< counter of the first slot that was not taken
    std::uint32_t acknowledged_ = 0;  ///< first packet that is not acknowledged
    std::uint32_t next_psn_ = 0;      ///< packet that is sent next
    std::uint32_t sent_psn_ = 0;      ///< packet after the last one that was ever sent; next_psn_ goes back with a loss
    std::uint32_t end_psn_ = 0;       ///< packet after the last request that was taken
    std::deque<std::uint32_t> reads_; ///< ends of the reads and atomics that were requested and not answered
    /// Ends of the parts in which reads were requested. A repeated request must not extend beyond its part: otherwise
    /// the responder does not recognise it.
    std::deque<std::uint32_t> parts_;
    std::uint32_t window_ = 0;   ///< packets that may be unacknowledged
    std::uint32_t grown_at_ = 0; ///< the window grows when this packet is acknowledged
    unsigned retries_left_ = 0, rnr_retries_left_ = 0;
    bool is_retrying_ = false;            ///< a loss was reported, and nothing was acknowledged since
    std::uint64_t timeout_at_ = 0;        ///< 0: nothing is unacknowledged
    std::uint64_t receiver_ready_at_ = 0; ///< 0: the receiver has not reported "not ready"
};

} // namespace opendoca::card
