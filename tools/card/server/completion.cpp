// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "completion.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include "big_endian.hpp"
#include "device_events.hpp"
#include "engine.hpp"
#include "work_request.hpp"

namespace opendoca::card {

namespace {

using EntryBytes = std::array<std::uint8_t, 64>;

// Offsets of fields within an entry (mlx5_cqe64 and, for the syndromes, mlx5_err_cqe of mlx5dv.h).
constexpr std::size_t at_flags_and_source = 24, at_user_index = 32, at_immediate = 36, at_byte_count = 44,
                      at_timestamp = 48, at_vendor_syndrome = 54, at_syndrome = 55, at_opcode_and_qpn = 56,
                      at_counter = 60, at_owner = 63;
constexpr std::uint32_t counter_mask = 0xffffff; // consumer indices have 24 bits
constexpr std::uint32_t solicited_only = 1 << 24;
constexpr std::uint32_t has_grh = 1 << 28; // the entry's payload starts with a GRH; unreliable datagrams only

bool is_error(Entry kind)
{
    return kind == Entry::request_error || kind == Entry::receive_error;
}

/// Returns the address of the entry with this index in the program's memory.
std::uint64_t address_of(const CompletionQueue &cq, std::uint32_t index)
{
    // In a slot of 128 bytes the entry occupies the last 64.
    return cq.buffer + static_cast<std::uint64_t>(index & (cq.entries - 1)) * cq.entry_size + cq.entry_size -
           sizeof(EntryBytes);
}

/// Reads the consumer index from the doorbell record. Returns false if the program has unmapped the record.
bool read_consumed(CompletionQueue &cq)
{
    if (cq.process->read(cq.doorbell_record, &cq.consumed, sizeof(cq.consumed)) != Access::done)
        return false;
    cq.consumed = swap_on_little_endian(cq.consumed);
    return true;
}

/// Returns the number of entries that the program has not consumed, as of the last consumer index that was read.
std::uint32_t unread(const CompletionQueue &cq)
{
    return (cq.produced - cq.consumed) & counter_mask;
}

/// Returns the index of the first entry that is worth an event: the index that the queue is armed for or the index
/// after the last event, whichever is later.
std::uint32_t first_to_notify(const CompletionQueue &cq)
{
    const std::uint32_t index = cq.arm & counter_mask;
    return ((cq.notified - index) & counter_mask) <= counter_mask / 2 ? cq.notified & counter_mask : index;
}

/// Returns whether an entry triggers an event: the queue is armed, for all entries or for solicited ones.
bool is_armed_for(const CompletionQueue &cq, bool is_solicited)
{
    return cq.is_armed && (is_solicited || (cq.arm & solicited_only) == 0);
}

// Event moderation: the event of a completed SEND is held back for this long, unless another event comes first. In a
// ping-pong the reply arrives within this time, so the program is woken once for both completions.
constexpr std::uint64_t moderation_ns = 40'000;

/// Returns whether an entry is the completion of a successful SEND.
bool is_sent_message(const EntryBytes &entry, std::uint8_t kind)
{
    const auto opcode = static_cast<Opcode>(entry[at_opcode_and_qpn]);
    return static_cast<Entry>(kind) == Entry::request && (opcode == Opcode::send || opcode == Opcode::send_immediate);
}

/// Schedules a moderated event, unless one is already pending.
void notify_later(CompletionQueue &cq)
{
    if (cq.moderated_until != 0)
        return;
    cq.moderated_until = now_ns() + moderation_ns;
    cq.file.card.moderated_queues.push_back(&cq);
}

/// Sends the completion event and disarms the queue.
void notify(CompletionQueue &cq)
{
    cq.is_armed = false;
    cq.notified = cq.produced;
    report_completions(cq);
}

/// Returns ibv_wc.vendor_err, which a real device's firmware adds to a syndrome. The values are those that users of
/// real cards report; none was confirmed on a real card by us.
std::uint8_t vendor_syndrome(Entry kind, Syndrome syndrome)
{
    switch (syndrome) {
    case Syndrome::flushed:
        return kind == Entry::receive_error ? 0xf9 : 0xf5;
    case Syndrome::local_protection:
        return 0x51;
    case Syndrome::local_operation:
        return 0x68;
    case Syndrome::retries_exceeded:
        return 0x81;
    case Syndrome::receiver_not_ready:
        return 0x87;
    case Syndrome::remote_access:
        return 0x88;
    case Syndrome::remote_operation:
        return 0x89;
    case Syndrome::remote_invalid:
        return 0x8a;
    case Syndrome::none:
    case Syndrome::local_length:
    case Syndrome::bad_response:
    case Syndrome::window_bind:
        break;
    }
    return 0; // no public report gives these
}

/// Handles an entry without room: the queue fails for good, and so does every connection that completes there. QP_FATAL
/// for queue pairs without requests in flight is an assumption (docs/card.md).
void overrun(CompletionQueue &cq)
{
    const auto uses = [&cq](const QueuePair &qp) {
        return (qp.send_cq.get() == &cq || qp.receive_cq.get() == &cq) && qp.state >= QpState::rtr &&
               qp.state != QpState::error;
    };
    cq.is_overrun = true;
    report_overrun(cq);
    // Queue pairs that use this queue are of the same file, but may belong to several processes (after a fork).
    for (const auto &process : cq.file.card.processes) {
        for (QueuePair *qp : process->queue_pairs) {
            if (uses(*qp))
                break_queue_pair(*qp, Event::qp_fatal);
        }
    }
}

/// Writes one entry, and sends or schedules the event if the queue is armed for it.
void write_entry(CompletionQueue &cq, EntryBytes &entry, std::uint8_t kind, bool is_solicited)
{
    if (cq.is_overrun || cq.file.function.is_dead)
        return;
    if (!cq.ignores_overrun && unread(cq) >= cq.entries && !read_consumed(cq))
        return; // the record is unmapped, so no program can consume the entry
    if (!cq.ignores_overrun && unread(cq) >= cq.entries) {
        overrun(cq);
        return;
    }
    const bool owner = (cq.produced & cq.entries) != 0;
    entry[at_owner] = static_cast<std::uint8_t>(kind << 4 | (is_solicited ? 2 : 0) | (owner ? 1 : 0));
    // The owner bit changes each time the ring wraps, so a program recognises a new entry without a shared counter. The
    // owner byte is written last: it hands the entry over to the program, which polls it before it reads the rest.
    const std::uint64_t address = address_of(cq, cq.produced);
    const std::span<std::uint8_t> bytes(entry);
    if (cq.process->write_in_order({{address, bytes.first(at_owner)}, {address + at_owner, bytes.subspan(at_owner)}}) !=
        Access::done)
        return;
    ++cq.produced;
    if (is_armed_for(cq, is_solicited || is_error(static_cast<Entry>(kind))) &&
        first_to_notify(cq) != (cq.produced & counter_mask)) {
        if (is_sent_message(entry, kind))
            notify_later(cq);
        else
            notify(cq);
    }
}

/// Applies the faults that lose or delay a completion, and writes the entry otherwise.
void put(CompletionQueue &cq, EntryBytes &entry, Entry kind, bool is_solicited)
{
    Card &card = cq.file.card;
    const auto opcode = static_cast<std::uint8_t>(kind);
    if (!is_error(kind)) // in an error entry these bytes hold the syndromes
        store_big(&entry[at_timestamp], now_ns());
    if (kind != Entry::resize && card.faults.take_completion_loss())
        return;
    const auto delay_ms = kind == Entry::resize ? std::nullopt : card.faults.take_completion_delay();
    if (!delay_ms && cq.delayed.empty())
        return write_entry(cq, entry, opcode, is_solicited);
    // A completion behind a delayed one is delayed as well, since a queue is in order.
    if (cq.delayed.empty())
        card.delayed_queues.push_back(&cq);
    cq.delayed.push_back({now_ns() + delay_ms.value_or(0) * std::uint64_t{1'000'000}, entry, opcode, is_solicited});
}

} // namespace

void complete_request(QueuePair &qp, std::uint16_t index, std::uint8_t operation, std::uint32_t bytes)
{
    EntryBytes entry{};
    store_big(&entry[at_user_index], qp.user_index);
    store_big(&entry[at_byte_count], bytes);
    store_big(&entry[at_opcode_and_qpn], static_cast<std::uint32_t>(operation) << 24 | qp.number());
    store_big(&entry[at_counter], index);
    put(*qp.send_cq, entry, Entry::request, false);
}

void complete_receive(QueuePair &qp, Entry kind, const Received &received, const SharedReceiveQueue *xrc_queue)
{
    EntryBytes entry{};
    const std::uint32_t flags = qp.type == QpType::ud ? has_grh | static_cast<std::uint32_t>(received.header) << 24 : 0;
    store_big(&entry[at_flags_and_source], flags | received.source_qp);
    store_big(&entry[at_user_index], xrc_queue != nullptr ? xrc_queue->user_index : qp.user_index);
    std::memcpy(&entry[at_immediate], &received.immediate, sizeof(received.immediate));
    store_big(&entry[at_byte_count], received.bytes);
    store_big(&entry[at_opcode_and_qpn], qp.number());
    store_big(&entry[at_counter], received.index);
    put(xrc_queue != nullptr ? *xrc_queue->cq : *qp.receive_cq, entry, kind, received.is_solicited);
}

void complete_error(CompletionQueue &cq, QueuePair &qp, Entry kind, std::uint16_t index, std::uint8_t operation,
                    Syndrome syndrome, std::optional<std::uint32_t> user_index)
{
    EntryBytes entry{};
    store_big(&entry[at_user_index], user_index.value_or(qp.user_index));
    entry[at_vendor_syndrome] = vendor_syndrome(kind, syndrome);
    entry[at_syndrome] = static_cast<std::uint8_t>(syndrome);
    store_big(&entry[at_opcode_and_qpn], static_cast<std::uint32_t>(operation) << 24 | qp.number());
    store_big(&entry[at_counter], index);
    put(cq, entry, kind, false);
}

// A program arms a queue by storing a word in the doorbell record: the consumer index that it has reached, and the
// number of events that it has received. It asks for an event at the first entry that is newer than this index and
// newer than the last event, since programs arm before they poll and must not get a second event for one completion. An
// unchanged word is the same arm, not a new one. After prepare_arm() the card never writes the arm word, so it cannot
// overwrite a concurrent arm.
void process_doorbell_record(CompletionQueue &cq, std::uint32_t consumed, std::uint32_t arm)
{
    cq.consumed = consumed;
    if (arm == cq.arm)
        return;
    cq.arm = arm;
    cq.is_armed = true;
    // Limited to the ring's size: an index that the program made up must not cause a longer search.
    const std::uint32_t waiting = std::min((cq.produced - first_to_notify(cq)) & counter_mask, cq.entries);
    bool is_solicited = false;
    if ((arm & solicited_only) != 0) {
        for (std::uint32_t i = cq.produced - waiting; i != cq.produced && !is_solicited; ++i) {
            std::uint8_t owner = 0;
            if (cq.process->read(address_of(cq, i) + at_owner, &owner, 1) != Access::done)
                return;
            is_solicited = (owner & 2) != 0 || is_error(static_cast<Entry>(owner >> 4));
        }
    }
    if (waiting != 0 && is_armed_for(cq, is_solicited))
        notify(cq);
}

Access prepare_arm(const CompletionQueue &cq)
{
    return cq.process->write(cq.doorbell_record + sizeof(cq.consumed), &not_armed, sizeof(not_armed));
}

bool resize(CompletionQueue &cq, std::uint64_t buffer, std::uint32_t entries, std::uint32_t entry_size)
{
    if (!read_consumed(cq) || unread(cq) >= entries)
        return false;
    EntryBytes entry{};
    write_entry(cq, entry, static_cast<std::uint8_t>(Entry::resize), false);
    cq.buffer = buffer;
    cq.entries = entries;
    cq.entry_size = entry_size;
    return true;
}

void drop_delayed_entries(const QueuePair &qp)
{
    // Delayed entries carry the number of their queue pair.
    constexpr std::uint32_t number_mask = 0xffffff;
    for (CompletionQueue *cq : {qp.send_cq.get(), qp.receive_cq.get()}) {
        if (cq == nullptr)
            continue;
        std::erase_if(cq->delayed, [&](const DelayedCompletion &late) {
            return (be32(&late.entry[at_opcode_and_qpn]) & number_mask) == qp.number();
        });
    }
}

void drop_delayed_entries(const SharedReceiveQueue &queue)
{
    std::erase_if(queue.cq->delayed,
                  [&](const DelayedCompletion &late) { return be32(&late.entry[at_user_index]) == queue.user_index; });
}

bool send_moderated_events(Card &card, std::uint64_t now)
{
    std::erase_if(card.moderated_queues, [now](CompletionQueue *cq) {
        // The event may be obsolete: another was sent meanwhile, or the program has consumed the entry and armed the
        // queue for the next.
        const bool is_due = is_armed_for(*cq, false) && first_to_notify(*cq) != (cq->produced & counter_mask);
        if (is_due && now < cq->moderated_until)
            return false;
        if (is_due)
            notify(*cq);
        cq->moderated_until = 0;
        return true;
    });
    return !card.moderated_queues.empty();
}

std::uint64_t write_delayed_entries(Card &card, std::uint64_t now)
{
    std::uint64_t next_due = 0;
    // By index: an entry that overruns its queue breaks queue pairs, which may delay completions of other queues.
    for (std::size_t i = 0; i < card.delayed_queues.size(); ++i) {
        CompletionQueue *const cq = card.delayed_queues[i];
        while (!cq->delayed.empty() && cq->delayed.front().due <= now) {
            DelayedCompletion &late = cq->delayed.front();
            write_entry(*cq, late.entry, late.opcode, late.is_solicited);
            cq->delayed.pop_front();
        }
        if (!cq->delayed.empty() && (next_due == 0 || cq->delayed.front().due < next_due))
            next_due = cq->delayed.front().due;
    }
    std::erase_if(card.delayed_queues, [](const CompletionQueue *cq) { return cq->delayed.empty(); });
    return next_due;
}

} // namespace opendoca::card
