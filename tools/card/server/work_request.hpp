// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Work requests as programs write them into send queues, and what the card does with each kind.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "access.hpp"
#include "card.hpp"
#include "completion.hpp"

namespace opendoca::card {

enum class Opcode : std::uint8_t {
    nop = 0x00,
    send_invalidate = 0x01,
    write = 0x08,
    write_immediate = 0x09,
    send = 0x0a,
    send_immediate = 0x0b,
    read = 0x10,
    compare_swap = 0x11,
    fetch_add = 0x12,
    register_memory = 0x25, ///< UMR
    copy = 0x2f,            ///< MMO
};

inline constexpr std::size_t slot_bytes = 64;
inline constexpr std::size_t most_request_slots = 16; ///< the largest count of 16-byte units is 63

/// One request, in one piece.
struct WorkRequest {
    std::span<const std::uint8_t> bytes;
    Opcode opcode;
    std::uint8_t modifier;
    std::uint16_t index;
    std::uint32_t immediate; ///< as it stands there
    bool is_signaled, is_solicited;

    /// From at least 16 bytes.
    static WorkRequest parse(std::span<const std::uint8_t> linear, std::uint16_t index);
    static std::size_t bytes_of(std::span<const std::uint8_t> first_slot);
};

enum class Outcome : std::uint8_t {
    done,
    more,    ///< a long one: goes on at the next turn
    waiting, ///< for the peer: tried again later
};

/// Carries out a request, or a part of it.
Outcome execute(QueuePair &qp, const WorkRequest &request);

/// Fails a request: its queue pair breaks, and so does the responder's where that is how the syndrome came
/// about.
Outcome fail(QueuePair &qp, QueuePair *responder, const WorkRequest &request, Syndrome syndrome);
/// Completes a request if it asks for that.
Outcome finish(QueuePair &qp, const WorkRequest &request, std::uint64_t bytes);

/// Reads the data segments from byte `at` on. A syndrome where they are not what the card may touch.
Syndrome add_data_segments(const QueuePair &qp, const WorkRequest &request, std::size_t at,
                           std::uint32_t rights, SegmentList &list);

/// Copies what is left of a long transfer up to a turn's part. Sets `is_complete`.
CopyResult copy_part(QueuePair &qp, const SegmentList &source, const SegmentList &destination,
                     std::uint64_t length, bool &is_complete);

// By kind of request.
Outcome execute_connected(QueuePair &qp, const WorkRequest &request);
Outcome execute_datagram(QueuePair &qp, const WorkRequest &request);
Outcome execute_copy(QueuePair &qp, const WorkRequest &request);
Outcome execute_registration(QueuePair &qp, const WorkRequest &request);

/// A receive request that a message has taken.
struct Receive {
    SegmentList list;
    std::uint16_t index = 0;
    bool is_valid = true; ///< its keys are
};
enum class Take : std::uint8_t { taken, none, gone };
/// Takes the next receive request of a queue pair.
Take take_receive(QueuePair &qp, Receive &receive);
/// Completes all receive requests of a broken queue pair with an error.
void flush_receives(QueuePair &qp);

/// Does the wire lead from one to the other, by that path?
bool is_reachable(const Function &from, const Function &to);
/// Whether the queue pair's partition key is set: only the first of the table is.
bool has_partition_key(const QueuePair &qp);
bool leads_to(const Function &to, bool is_global, std::span<const std::uint8_t, 16> gid, std::uint16_t lid);

} // namespace opendoca::card
