// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Work requests in the format of send queues (segments of 16 bytes, as the mlx5_wqe_*_seg of mlx5dv.h lay them out),
// and their execution.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "access.hpp"
#include "card.hpp"
#include "completion.hpp"

namespace opendoca::card {

/// Opcodes of send requests (MLX5_OPCODE_* of mlx5dv.h).
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
    umr = 0x25,  ///< changes a memory key
    copy = 0x2f, ///< memory copy by the DMA engine (MMO)
};

// Offsets in a request of the fixed segments behind the control segment, where an opcode has them: the remote address
// segment (mlx5_wqe_raddr_seg: address, key) and the atomic segment (mlx5_wqe_atomic_seg: swap or add value, compare
// value).
inline constexpr std::size_t at_remote_address = 16, at_remote_key = 24, at_atomic_operand = 32, at_atomic_compare = 40;

/// Returns whether an opcode is one of the atomic operations.
[[nodiscard]] constexpr bool is_atomic(Opcode opcode)
{
    return opcode == Opcode::compare_swap || opcode == Opcode::fetch_add;
}

/// Returns whether requests of an opcode have a remote address segment.
[[nodiscard]] constexpr bool has_remote_address(Opcode opcode)
{
    return is_atomic(opcode) || opcode == Opcode::read || opcode == Opcode::write || opcode == Opcode::write_immediate;
}

/// Returns the offset of the data segments, which follow the fixed segments, in a request of a connection.
[[nodiscard]] constexpr std::size_t data_offset(Opcode opcode)
{
    return is_atomic(opcode) ? 48 : has_remote_address(opcode) ? 32 : 16;
}

inline constexpr std::size_t slot_bytes = 64;
inline constexpr std::size_t max_request_slots = 16; ///< the size field of a request counts up to 63 units of 16 bytes

/// A work request in consecutive memory. `bytes` refers to the card's copy of a part of the send ring, and is valid
/// while the request is carried out; the program cannot change it meanwhile. Created for each attempt.
struct WorkRequest {
    std::span<const std::uint8_t> bytes;
    Opcode opcode;
    std::uint8_t modifier;
    std::uint16_t index;     ///< counter of its first slot, which its completion reports
    std::uint32_t immediate; ///< in the byte order of the request
    bool is_signaled, is_solicited;

    /// Parses a request; `linear` has at least 16 bytes and all bytes of the request.
    static WorkRequest parse(std::span<const std::uint8_t> linear, std::uint16_t index);
    /// Returns the size of a request from its first slot, in bytes.
    static std::size_t bytes_of(std::span<const std::uint8_t> first_slot);
};

/// Result of carrying out a request. In the last two cases the request stays the first one of its queue pair.
enum class Outcome : std::uint8_t {
    done,    ///< complete, with or without an error; the next request follows
    more,    ///< part of a long request; continued in the next poll
    waiting, ///< no response of the peer yet; tried again in a later poll
};

/// Carries out a request, or a part of it.
Outcome execute(QueuePair &qp, const WorkRequest &request);

/// Completes a request with an error. Its queue pair breaks. The responder's queue pair breaks as well if it detects
/// this kind of error (pass null if it is not involved).
Outcome fail(QueuePair &qp, QueuePair *responder, const WorkRequest &request, Syndrome syndrome);
/// Completes a request successfully; writes a completion if the request is signaled.
Outcome finish(QueuePair &qp, const WorkRequest &request, std::uint64_t bytes);

/// Resolves the data segments from byte `at` on into `list`. Returns the syndrome of the first segment that the card
/// may not access.
Syndrome add_data_segments(const QueuePair &qp, const WorkRequest &request, std::size_t at, std::uint32_t rights,
                           SegmentList &list);

/// Copies the next part of a long transfer, up to the limit of one poll. Sets `is_complete` with the last part. A part
/// at the other end of the link takes several calls, of which all but the last return `pending`.
CopyResult copy_part(QueuePair &qp, const SegmentList &source, const SegmentList &destination, std::uint64_t length,
                     bool &is_complete);

// Implementations by kind of request.
Outcome execute_connected(QueuePair &qp, const WorkRequest &request);
Outcome execute_datagram(QueuePair &qp, const WorkRequest &request);
Outcome execute_copy(QueuePair &qp, const WorkRequest &request);
Outcome execute_umr(QueuePair &qp, const WorkRequest &request);

/// A receive request that was taken from its queue, with its keys resolved. It is consumed even if the message then
/// fails. Reused between messages; valid while one work request is carried out.
struct Receive {
    /// A data segment of the request.
    struct Part {
        std::uint32_t key, length;
        std::uint64_t address;
    };

    SegmentList list;
    std::vector<Part> parts;
    std::uint16_t index = 0;     ///< counter of the request, or its ring index in a shared receive queue
    std::uint32_t xrc_queue = 0; ///< number of the shared receive queue of XRC that it is from; 0: none
    bool is_valid = true;        ///< all keys of its data segments are valid
};
/// Result of taking a receive request; `gone` means that the process is dead.
enum class Take : std::uint8_t { taken, none, gone };
/// Takes the next receive request of a queue pair, from its own or its shared queue, or from the queue of XRC that a
/// message names.
Take take_receive(QueuePair &qp, Receive &receive, SharedReceiveQueue *xrc_queue = nullptr);
/// Returns the shared receive queue with this number in the domain of a receiving queue pair of XRC, or null.
[[nodiscard]] SharedReceiveQueue *xrc_queue_of(const QueuePair &receiver, std::uint32_t number);
/// Completes a receive request with an error.
void complete_receive_error(QueuePair &qp, const Receive &receive, Syndrome syndrome);
/// Resolves the keys of a receive request once more: they may have been destroyed since it was taken. Returns whether
/// all are valid.
[[nodiscard]] bool resolve_again(const QueuePair &qp, Receive &receive);
/// Size of the network header (GRH), which precedes the payload of every received datagram.
inline constexpr std::size_t datagram_header_bytes = 40;
/// Delivers a datagram to the next receive request of a queue pair, and completes it with `kind` and the sender's part
/// of `received`. Drops the datagram if there is no receive request. Breaks the queue pair if the buffer is too short
/// or not accessible by its keys.
void deliver_datagram(QueuePair &receiver, std::span<const std::uint8_t, datagram_header_bytes> header,
                      const SegmentList &payload, Entry kind, Received received);
/// Completes all receive requests of a broken queue pair as flushed. Those of a shared receive queue stay there, except
/// one that a part of a message is in.
void flush_receives(QueuePair &qp);

/// Invalidates the key of a SEND with invalidate. Returns false if the receiver has no such window or indirect key, or
/// it is bound to another queue pair.
[[nodiscard]] bool invalidate(const QueuePair &receiver, std::uint32_t key,
                              const SharedReceiveQueue *xrc_queue = nullptr);
/// Returns the number of the protection domain of the memory that messages to a queue pair may name: its own, or that
/// of the shared receive queue of XRC.
[[nodiscard]] std::uint32_t memory_domain_of(const QueuePair &receiver, const SharedReceiveQueue *xrc_queue);
/// Decodes an RNR NAK timer (IBTA 9.7.5.2.8).
[[nodiscard]] std::uint64_t rnr_timeout_ns(std::uint8_t code);

/// Returns whether the wire connects two functions: both ports are up, and neither function is dead or silent.
bool is_reachable(const Function &from, const Function &to);
/// Returns whether the queue pair's partition key is set, which only the first entry of the table is.
bool has_partition_key(const QueuePair &qp);
/// Returns whether a path with this GID or LID ends at the function's port.
bool is_path_to(const Function &to, bool is_global, std::span<const std::uint8_t, 16> gid, std::uint16_t lid);

} // namespace opendoca::card
