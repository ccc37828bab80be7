// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The memory that the two ends of a connection share. Each end has one sealed memfd, found at /proc/<pid>/fd/<n>, in
// which it posts its receives and the peer stores messages. Message n is for receive n, counted from 0 at the start of
// the connection, so one number is all that both sides must agree on. Neither side trusts a length or a number that it
// reads there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <doca_types.h>

#include "../memory/export_page.hpp"

namespace opendoca::soft {

inline constexpr char queue_pair_page_name[] = "opendoca-queue-pair";
inline constexpr char queue_pair_magic[8] = {'O', 'P', 'E', 'N', 'R', 'D', 'M', 'A'};
inline constexpr std::uint32_t queue_pair_version = 2;
inline constexpr std::uint32_t max_queue_size = 16384;
inline constexpr std::uint32_t max_chain_length = 32;
inline constexpr std::uint32_t max_slots = 64; ///< fewer where the receive queue is shorter
inline constexpr std::size_t slot_size = 8192; ///< bytes

/// How a message has come.
enum class MessageKind : std::uint16_t {
    in_cell,  ///< its bytes are in the cell
    in_slot,  ///< its bytes are in the slot for messages of medium length
    placed,   ///< its bytes are in the receive's buffers, or where a WRITE_IMM put them
    too_long, ///< not at all: it has more bytes than the receive
    failed,   ///< not at all: the receive's memory can't be reached
    asks,     ///< not yet: the next message asks for a receive to be placed in; where receives are shared
};

/// One message, on its way to the receive with the same number. One cache line: that of a short message is
/// all that moves between two processors.
struct alignas(64) MessageCell {
    std::atomic<std::uint32_t> sequence; ///< the message's number + 1, stored last
    std::uint32_t length;                ///< bytes
    std::uint32_t immediate;             ///< big endian
    std::uint16_t received;              ///< enum Received
    MessageKind kind;
    // Copies of the sender's receive state, so that the receiver need not load the sender's page.
    std::uint32_t num_posted;       ///< receives that the message's sender has posted
    std::uint32_t shortest_receive; ///< bytes: none of them that waits takes less
    std::byte data[40];
};

static_assert(sizeof(MessageCell) == 64);

inline constexpr std::size_t cell_capacity = sizeof(MessageCell::data);

/// Whether the number @p a is ahead of @p b; both wrap around.
[[nodiscard]] constexpr bool is_ahead(std::uint32_t a, std::uint32_t b) noexcept
{
    return static_cast<std::int32_t>(a - b) > 0;
}

/// A part of a posted receive's memory, in an export of its process.
struct ReceiveSegment {
    std::uint64_t addr;
    std::uint64_t generation;
    std::uint32_t length;
    std::uint32_t entry;
};

/// A posted receive; followed by as many segments as the queue pair's receives have at most.
struct ReceiveEntry {
    /// The side that may access the memory (a ReceiveState) and the receive's number; see state_of().
    std::atomic<std::uint64_t> state;
    std::uint32_t capacity;     ///< bytes
    std::uint32_t num_segments; ///< 0 where the capacity is not larger than a cell's data

    [[nodiscard]] ReceiveSegment *segments() noexcept { return reinterpret_cast<ReceiveSegment *>(this + 1); }
    [[nodiscard]] const ReceiveSegment *segments() const noexcept
    {
        return reinterpret_cast<const ReceiveSegment *>(this + 1);
    }
};

/// Of a posted receive. A message is for the receive with its number, so each state is of one receive only.
enum class ReceiveState : std::uint64_t {
    posted = 1,    ///< the message may come; the owner can take the receive back
    placing = 2,   ///< the peer is writing to the memory
    withdrawn = 3, ///< by the owner
};

/// Of receive @p number while it is @p turn. Distinct from those of all other receives in this place.
[[nodiscard]] constexpr std::uint64_t state_of(std::uint32_t number, ReceiveState state) noexcept
{
    return std::uint64_t{number} << 2 | static_cast<std::uint64_t>(state);
}

// The events of QueuePairPage::doorbell_request.
inline constexpr std::uint32_t wants_messages = 1;
inline constexpr std::uint32_t wants_receives = 2; ///< to send messages that wait

struct QueuePairPage {
    // Constant.
    char magic[8];
    std::uint32_t version;
    std::uint32_t pid;
    std::uint64_t start_time;
    std::uint64_t size;
    std::uint64_t id;
    Nonce nonce;
    std::uint32_t recv_queue_size; ///< a power of two: cells, and entries
    std::uint32_t chain_length;    ///< segments of an entry
    std::uint64_t function_id;
    std::uint32_t permissions; ///< enum doca_access_flags
    std::uint32_t mtu;         ///< enum doca_mtu_size
    /// A bool: receives are shared with other connections, and messages come before them.
    std::uint32_t shares_receives;

    /// The id of the queue pair that the owner has connected to, 0 before, closed after the end of the
    /// connection.
    alignas(64) std::atomic<std::uint64_t> accepts;
    /// A DoorbellRequest: the owner's doorbell that the peer must ring after its stores. Empty while the owner polls
    /// the page.
    std::atomic<std::uint64_t> doorbell_request;
    std::atomic<std::int32_t> doorbells_fd; ///< of the owner; where the page of doorbells is

    /// Messages that the owner has taken: their slots may be used again.
    alignas(64) std::atomic<std::uint32_t> num_taken;

    static constexpr std::uint64_t closed = UINT64_MAX;
};

static_assert(sizeof(QueuePairPage) == 256 && alignof(QueuePairPage) == 64);

/// The contents of connection details. Untrusted until the peer's page has confirmed them.
struct ConnectionDetails : ExporterAddress {
    std::uint64_t queue_pair_id;
    Nonce nonce;
    std::int32_t queue_pair_fd;

    template <typename Self, typename Visitor>
    static void visit(Self &d, Visitor visitor)
    {
        visitor(d.pid);
        visitor(d.page_fd);
        visitor(d.start_time);
        visitor(d.pid_namespace);
        visitor(d.queue_pair_id);
        visitor(d.nonce);
        visitor(d.queue_pair_fd);
    }
};

} // namespace opendoca::soft
