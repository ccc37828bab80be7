// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Completion queues: entries with their owner bit, and the events of those that are armed.
#pragma once

#include <cstdint>

#include "card.hpp"

namespace opendoca::card {

/// Kinds of completion queue entries.
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

/// Why a request failed, as an entry says it.
enum class Syndrome : std::uint8_t {
    none = 0,
    local_length = 1,
    local_operation = 2,
    local_protection = 4,
    flushed = 5,
    window_bind = 6,
    remote_invalid = 0x12,
    remote_access = 0x13,
    remote_operation = 0x14,
    retries_spent = 0x15,
    receiver_not_ready = 0x16,
};

/// Numbers of asynchronous events, as ib_event_type.
enum class Event : std::uint32_t {
    cq_error = 0,
    qp_fatal = 1,
    qp_request_error = 2,
    qp_access_error = 3,
    srq_limit = 15,
    last_request = 16,
};

struct Received {
    std::uint16_t index; ///< of the receive request
    std::uint32_t bytes;
    std::uint32_t source_qp;
    std::uint32_t immediate; ///< as it came
    bool is_solicited;
};

void complete_request(QueuePair &qp, std::uint16_t index, std::uint8_t operation, std::uint32_t bytes);
void complete_receive(QueuePair &qp, Entry kind, const Received &received);
void complete_error(CompletionQueue &cq, QueuePair &qp, Entry kind, std::uint16_t index,
                    std::uint8_t operation, Syndrome syndrome);

/// Takes a queue's doorbell record as it is now. If the program has armed the queue, and for entries that are
/// there, it gets its event.
void take_record(CompletionQueue &cq, std::uint32_t consumed, std::uint32_t arm);
/// Marks a new queue's doorbell record so that the first arm can be seen.
[[nodiscard]] Access prepare_arm(const CompletionQueue &cq);
/// Goes on in another buffer. False where that is too small for what the program has not taken.
[[nodiscard]] bool resize(CompletionQueue &cq, std::uint64_t buffer, std::uint32_t entries,
                          std::uint32_t entry_size);
/// Drops the entries of a queue pair that are held back: there are none once it was reset or destroyed.
void forget_late_entries(const QueuePair &qp);
/// Sends the events that were held back until now. False where none is held back any more.
bool send_moderated_events(Card &card, std::uint64_t now);
/// Writes the entries that were held back until now. When the next is due, or 0.
std::uint64_t write_late_entries(Card &card, std::uint64_t now);

} // namespace opendoca::card
