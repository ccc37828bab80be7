// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "../network/packet.hpp"
#include "completion.hpp"
#include "work_request.hpp"

namespace opendoca::card {

class RoceConnection;

/// The receiving half of a queue pair with a peer outside of the card: carries out requests in the order of their
/// packet sequence numbers, and answers. A member of RoceConnection.
class Responder {
public:
    explicit Responder(RoceConnection &connection) : connection_(connection) {}
    Responder(const Responder &) = delete;
    Responder &operator=(const Responder &) = delete;

    /// Starts with the attributes of the queue pair, which has become ready to receive.
    void start();
    void stop();
    void handle(const Packet &packet);
    /// Sends up to @p budget packets of read responses. Returns how many.
    unsigned transmit(unsigned budget);
    [[nodiscard]] bool can_transmit() const { return !reads_.empty(); }
    /// Sends the acknowledgement that is due, if there is one.
    void acknowledge();
    [[nodiscard]] bool has_due_acknowledgement() const { return is_acknowledgement_due_; }

private:
    enum class Message : std::uint8_t { none, send, write };

    /// A read that is being answered, or that may be requested again.
    struct Read {
        std::uint32_t first_psn, packets;
        std::uint64_t address;
        std::uint32_t key, length;
        std::uint32_t sent; ///< packets of the response
    };
    struct Atomic {
        std::uint32_t psn;
        std::uint64_t original;
    };
    /// A packet that waits until the reads before it are answered. Owns the payload.
    struct Held {
        Packet packet;
        std::vector<std::uint8_t> payload;
    };

    void hold(const Packet &packet);
    void handle_now(const Packet &packet);
    void repeat(const Packet &packet);
    /// Carry out a packet that is the expected one. Return whether it was accepted.
    bool execute(const Packet &packet);
    bool execute_message(const Packet &packet, const PacketTraits &traits);
    bool begin_write(const Packet &packet);
    bool take_receive_request();
    bool store_send(const Packet &packet);
    bool store_write(const Packet &packet);
    bool end_message(const Packet &packet);
    bool execute_read(const Packet &packet);
    bool execute_atomic(const Packet &packet);
    [[nodiscard]] bool has_right_length(const Packet &packet, const PacketTraits &traits) const;
    [[nodiscard]] bool find(std::uint32_t right, std::uint32_t key, std::uint64_t address, std::uint64_t length,
                            SegmentList &list) const;

    /// Answers with an error after which the queue pair is broken. Returns false. UC drops the message instead.
    bool refuse(std::uint8_t syndrome);
    void fail_receive(Syndrome syndrome);
    void abandon_message();
    void respond(PacketKind kind, std::uint8_t syndrome, std::uint32_t psn, std::uint64_t original = 0);
    [[nodiscard]] bool is_reliable() const;

    RoceConnection &connection_;
    std::uint32_t expected_psn_ = 0;
    std::uint32_t message_number_ = 0;
    bool has_refused_sequence_ = false; ///< nothing was accepted since a sequence error or "not ready" was sent
    bool is_acknowledgement_due_ = false;

    // The message in progress.
    Message message_ = Message::none;
    Receive receive_;
    bool has_receive_ = false;
    std::uint64_t received_ = 0; ///< bytes of it
    std::uint64_t write_address_ = 0;
    std::uint32_t write_key_ = 0, write_length_ = 0;

    std::deque<Read> reads_;      ///< to be answered
    std::deque<Read> past_reads_; ///< the last ones that were answered, which the peer may repeat
    std::deque<Atomic> atomics_;  ///< the last ones, with the results for repeated requests
    std::deque<Held> held_;
};

} // namespace opendoca::card
