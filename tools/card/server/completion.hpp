// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Completion queues: entries with their owner bit, and the events of armed queues.
#pragma once

#include <cstdint>
#include <optional>

#include "card.hpp"

namespace opendoca::card {

/// Opcodes of completion queue entries (MLX5_CQE_* of mlx5dv.h): the upper four bits of an entry's last byte.
enum class Entry : std::uint8_t {
    request = 0,
    receive_write_immediate = 1,
    receive = 2,
    receive_immediate = 3,
    receive_invalidate = 4,
    resize = 5,
    request_error = 13,
    receive_error = 14,
    invalid = 15,
};

/// Syndromes of error entries (MLX5_CQE_SYNDROME_* of mlx5dv.h), which libmlx5 maps to ibv_wc_status.
enum class Syndrome : std::uint8_t {
    none = 0,
    local_length = 1,
    local_operation = 2,
    local_protection = 4,
    flushed = 5,
    window_bind = 6,
    bad_response = 0x10,
    remote_invalid = 0x12,
    remote_access = 0x13,
    remote_operation = 0x14,
    retries_exceeded = 0x15,
    receiver_not_ready = 0x16,
};

/// Numbers of asynchronous events (ibv_event_type of verbs.h).
enum class Event : std::uint32_t {
    cq_error = 0,
    qp_fatal = 1,
    qp_request_error = 2,
    qp_access_error = 3,
    srq_limit = 15,
    last_request = 16,
};

/// What was in front of a datagram on Ethernet, as the service level of its completion: the type of the header of layer
/// three, and a bit for a UDP header (InfiniBand annex A17; a completion of InfiniBand has the service level there).
enum class DatagramHeader : std::uint8_t { grh = 0, ipv6_and_udp = 8 | 1, ipv4_and_udp = 8 | 2 };

/// A receive request that a message has completed: what the receiver's completion queue entry reports. Passed by value
/// from the request's execution to complete_receive().
struct Received {
    std::uint16_t index = 0; ///< index of the receive request
    std::uint32_t bytes = 0;
    std::uint32_t source_qp;
    std::uint32_t immediate; ///< immediate data or key, in the byte order of the wire
    bool is_solicited;
    DatagramHeader header = DatagramHeader::grh; ///< of unreliable datagrams only
};

/// Writes the completion of a successful send request.
void complete_request(QueuePair &qp, std::uint16_t index, std::uint8_t operation, std::uint32_t bytes);
/// Writes the completion of a successful receive request. `xrc_queue` is the shared receive queue that it is from, if
/// the queue pair is one of XRC: the completion is its own.
void complete_receive(QueuePair &qp, Entry kind, const Received &received,
                      const SharedReceiveQueue *xrc_queue = nullptr);
/// Writes an error completion, with the vendor syndrome that real cards add to `syndrome`. It names the queue pair's
/// user index, unless another one is given.
void complete_error(CompletionQueue &cq, QueuePair &qp, Entry kind, std::uint16_t index, std::uint8_t operation,
                    Syndrome syndrome, std::optional<std::uint32_t> user_index = std::nullopt);

/// Processes a queue's doorbell record: the consumer index, and the arm word (bits 0 to 23: consumer index, bit 24: set
/// for solicited entries only, bits 28 and 29: number of the arm). If the program has armed the queue since the last
/// call and an entry that it asks for is already present, sends the event at once.
void process_doorbell_record(CompletionQueue &cq, std::uint32_t consumed, std::uint32_t arm);
/// Initialises the arm word of a new queue to a value that no program writes, so that the first arm is a change.
[[nodiscard]] Access prepare_arm(const CompletionQueue &cq);
/// Continues in another buffer, after a last entry in the old one that announces the change. Returns false if the new
/// buffer is too small for the entries that the program has not consumed.
[[nodiscard]] bool resize(CompletionQueue &cq, std::uint64_t buffer, std::uint32_t entries, std::uint32_t entry_size);
/// Drops the delayed completions of a queue pair that is reset or destroyed, or of a shared receive queue of XRC.
void drop_delayed_entries(const QueuePair &qp);
void drop_delayed_entries(const SharedReceiveQueue &queue);
/// Sends the moderated events that are due. Returns false once none is pending.
bool send_moderated_events(Card &card, std::uint64_t now);
/// Writes the delayed completions that are due. Returns when the next is due, in nanoseconds, or 0 if none is left.
std::uint64_t write_delayed_entries(Card &card, std::uint64_t now);

} // namespace opendoca::card
