// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The memory that the two ends of a connection share. Each end owns two slots (see ../process/slab.hpp):
// - The head, a QueuePairPage, in a slab to which only the owner's process can write. The connection details name it.
// - The message region, in a slab that is for the peer's process alone, taken when this end is connected. The owner
//   posts its receives in it, and the peer stores messages in it. The head names it.
// The peer can write anything to the message region at any time, and the owner of a head to that: a field is read once
// for each decision, and each length, number and address read from either is checked before use.
//
// Messages are numbered from 0 at the start of the connection. With receives of the queue pair's own, message n goes
// into receive n, so one number is all that both sides must agree on. If receives are shared, n names only a cell and a
// slot, and the receive is chosen when the message arrives. After a rendezvous request with number n, the entry with
// number n + 1 is the answer, and message n + 1 goes into it.
//
// Layout of the message region: recv_queue_size message cells, as many receive entries, and the slots of messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <doca_types.h>

#include "../memory/export_page.hpp"

namespace opendoca::soft {

inline constexpr char queue_pair_magic[8] = {'O', 'P', 'E', 'N', 'R', 'D', 'M', 'A'};
inline constexpr std::uint32_t queue_pair_version = 4; ///< of the layout; processes with different ones don't connect
inline constexpr std::uint32_t max_queue_size = 16384; ///< receives; also the capability of the software device
inline constexpr std::uint32_t max_chain_length = 32;  ///< SGEs of one receive
inline constexpr std::uint32_t max_slots = 64;         ///< fewer if the receive queue is shorter
inline constexpr std::size_t slot_size = 8192;         ///< bytes

/// How the data of a message is transferred, and where it is.
enum class MessageKind : std::uint16_t {
    in_cell,  ///< eager, in the cell
    in_slot,  ///< eager, in the slot with the same number: a message of medium length
    placed,   ///< single copy, already in the receive's buffers or, of a WRITE_IMM, at its destination
    too_long, ///< not transferred: the message is longer than the receive
    failed,   ///< not transferred: the sender cannot access the receive's memory
    /// A request to send (RTS), without data. The owner answers by posting an entry (the CTS), into which the sender
    /// then places the next message. Only if receives are shared: otherwise entries are posted without a request.
    rendezvous_request,
};

/// One message. Written by the sender only. It fills exactly one cache line, so that a short message moves a single
/// line between two processors.
struct alignas(64) MessageCell {
    /// The message's number + 1, stored last with release. Pairs with SoftQueuePair::has_message_arrived().
    std::atomic<std::uint32_t> sequence;
    std::uint32_t length;    ///< bytes
    std::uint32_t immediate; ///< big endian
    std::uint16_t received;  ///< enum Received, by which opcode the message was sent; not a bool
    MessageKind kind;
    // Credits for the opposite direction, so that the receiver need not load the sender's shared region before it
    // sends.
    /// Messages with smaller numbers may be sent: the number of receives posted so far or, if they are shared, that of
    /// the messages received plus that of the cells.
    std::uint32_t num_posted;
    std::uint32_t shortest_receive; ///< bytes that each of these may have; UINT32_MAX if receives are shared
    std::byte data[40];
};

static_assert(sizeof(MessageCell) == 64);

inline constexpr std::size_t cell_capacity = sizeof(MessageCell::data);

/// Returns whether the number @p a is ahead of @p b. Both wrap around at 2^32; queues are far shorter than 2^31.
[[nodiscard]] constexpr bool is_ahead(std::uint32_t a, std::uint32_t b) noexcept
{
    return static_cast<std::int32_t>(a - b) > 0;
}

/// One SGE of a posted receive: a range of memory that the owner's process has exported.
struct ReceiveSegment {
    std::uint64_t addr;       ///< in the owner's address space
    std::uint64_t generation; ///< distinguishes the export from earlier ones in the same entry
    std::uint32_t length;     ///< bytes
    std::uint32_t entry;      ///< index of the export in the export page of the process
};

/// A posted receive, followed by QueuePairPage::chain_length segments. The owner writes all fields before it stores the
/// state `posted`; the peer only changes the state.
struct ReceiveEntry {
    /// The receive's number and the side that may access the memory (a ReceiveState); see state_of().
    std::atomic<std::uint64_t> state;
    std::uint32_t capacity;     ///< bytes
    std::uint32_t num_segments; ///< valid if the capacity exceeds that of a cell: shorter receives publish no segments

    [[nodiscard]] ReceiveSegment *segments() noexcept { return reinterpret_cast<ReceiveSegment *>(this + 1); }
    [[nodiscard]] const ReceiveSegment *segments() const noexcept
    {
        return reinterpret_cast<const ReceiveSegment *>(this + 1);
    }
};

/// The state of a posted receive. Both `placing` and `withdrawn` are reached from `posted` by compare-and-exchange, so
/// that either the peer writes to the memory or the owner takes the receive back, never both.
enum class ReceiveState : std::uint64_t {
    posted = 1,    ///< the peer may claim the memory, and the owner may withdraw the receive
    placing = 2,   ///< the peer is writing to the memory, which the owner must leave alone
    withdrawn = 3, ///< the owner has taken the receive back: the peer must not write any more
};

/// Returns the word for receive @p number in @p state. The number makes it differ from the words of earlier and later
/// receives in the same entry, so that a peer that is late cannot claim a receive that reuses the entry.
[[nodiscard]] constexpr std::uint64_t state_of(std::uint32_t number, ReceiveState state) noexcept
{
    return std::uint64_t{number} << 2 | static_cast<std::uint64_t>(state);
}

// The events of QueuePairPage::doorbell_request. The start and the end of the connection are announced as both.
inline constexpr std::uint32_t message_event = 1; ///< the peer has stored a message
inline constexpr std::uint32_t receive_event = 2; ///< a receive was posted, or a cell freed if receives are shared

/// Returns the number of the connection between the queue pairs with these ids, the same on both sides. A sum, so that
/// a queue pair can also be connected to itself. Equals 0 or `closed`, which have meanings of their own, only if an id
/// was chosen for that: connect() refuses such a peer.
[[nodiscard]] constexpr std::uint64_t id_of_link(std::uint64_t one, std::uint64_t other) noexcept
{
    return one + other;
}

/// The head of one end. The owner of the queue pair writes it, and all processes that connect to the owner's process
/// may read it. It is used again for another queue pair once the owner has released it: a reader that depends on what
/// it has read then compares the id, which is 0 while the head changes hands.
struct QueuePairPage {
    // Constant from create() on until the head is released, as is the id.
    char magic[8];
    std::uint32_t version;
    std::uint32_t pid;
    std::uint64_t start_time;      ///< of the process: distinguishes it from a later one with the same pid
    std::atomic<std::uint64_t> id; ///< random; never 0 or `closed`; stored last
    Nonce nonce;                   ///< random; the connection details must have the same
    std::uint32_t recv_queue_size; ///< the number of cells and of entries: a power of two
    std::uint32_t chain_length;    ///< the number of segments of an entry
    std::uint64_t function_id;     ///< of the owner's device: see function_id_of()
    std::uint32_t permissions;     ///< enum doca_access_flags
    std::uint32_t mtu;             ///< enum doca_mtu_size
    /// A bool: receives come from a queue that connections share, and a message is stored before it has a receive.
    std::uint32_t shares_receives;
    // The place of the message region. Stored before connected_to.
    std::atomic<std::int32_t> region_fd;    ///< the descriptor number of its slab, in the owner's process
    std::atomic<std::uint32_t> region_slab; ///< the number of its slab
    std::atomic<std::uint32_t> region_slot; ///< its index in the slab

    /// id_of_link() of the owner's queue pair and the peer's that it is connected to; 0 before connect(), `closed` once
    /// disconnected. The owner's own id is in it because the head outlives the queue pair: a peer that has not noticed
    /// the end of the one must not take the next one with the same head for it, even if that connects to the peer.
    alignas(64) std::atomic<std::uint64_t> connected_to;
    /// A DoorbellRequest: the owner's doorbell that the peer must ring after its stores. Without events while the owner
    /// polls the message region. Stored by SoftQueuePair::publish_doorbell_request(), loaded by the peer's
    /// notify_peer().
    std::atomic<std::uint64_t> doorbell_request;
    /// The descriptor number of the owner's doorbell page, in the owner's process. Stored before doorbell_request.
    std::atomic<std::int32_t> doorbells_fd;

    /// The number of messages that the owner has received; their cells and slots may be reused. In a cache line of its
    /// own, because the owner stores it for each message.
    alignas(64) std::atomic<std::uint32_t> num_taken;

    static constexpr std::uint64_t closed = UINT64_MAX; ///< a value of `connected_to`
};

static_assert(sizeof(QueuePairPage) == 256 && alignof(QueuePairPage) == 64);

/// The decoded connection details, by which a peer finds the head. They come from the program and are untrusted until
/// QueuePairMapping::open() has compared them with it.
struct ConnectionDetails : ExporterAddress {
    std::uint64_t queue_pair_id; ///< QueuePairPage::id
    Nonce nonce;
    std::int32_t head_fd;    ///< the descriptor number of the head's slab in the owner's process
    std::uint32_t head_slab; ///< the number of that slab
    std::uint32_t head_slot; ///< the head's index in it

    template <typename Self, typename Visitor>
    static void visit(Self &d, Visitor visitor)
    {
        visitor(d.pid);
        visitor(d.page_fd);
        visitor(d.start_time);
        visitor(d.pid_namespace);
        visitor(d.queue_pair_id);
        visitor(d.nonce);
        visitor(d.head_fd);
        visitor(d.head_slab);
        visitor(d.head_slot);
    }
};

} // namespace opendoca::soft
