// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "engine.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "big_endian.hpp"
#include "device_events.hpp"
#include "roce_network.hpp"
#include "work_request.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t record_bytes = 8; // receive counter or consumer index, then send counter or arm word
static_assert(window_slots >= max_request_slots && sizeof(SlotWindow) == window_slots * slot_bytes);

/// Carries out the posted requests of a queue pair, until one has to wait or the window ends.
void run_send_queue(QueuePair &qp, std::uint16_t produced, Progress &progress)
{
    if (qp.roce != nullptr && qp.state == QpState::rts)
        return qp.roce->requester.post(produced, progress);
    static SlotWindow window;
    const auto ready = static_cast<std::uint16_t>(produced - qp.send_consumed);
    if (ready > qp.send_slots)
        return; // the program has overwritten requests that are not done: its queue is invalid
    const std::uint32_t slots = std::min<std::uint32_t>(ready, window_slots);
    // A living program has unmapped its ring, which is fatal for the queue pair.
    if (!read_slots(qp, qp.send_consumed, slots, window)) {
        if (!qp.process->is_dead())
            break_queue_pair(qp, Event::qp_fatal);
        return;
    }
    // The window begins with the first request that is not complete.
    for (std::size_t at = 0; at < slots;) {
        const std::span<const std::uint8_t> rest =
            std::span(window).subspan(at * slot_bytes, (slots - at) * slot_bytes);
        const std::size_t request_slots = (WorkRequest::bytes_of(rest) + slot_bytes - 1) / slot_bytes;
        if (request_slots > slots - at) {
            if (ready > window_slots && at != 0)
                break;                             // the request continues beyond the window; the next poll reads it
            break_queue_pair(qp, Event::qp_fatal); // the request extends beyond the last posted slot
            return;
        }
        const WorkRequest request = WorkRequest::parse(rest, qp.send_consumed);
        // A broken queue pair flushes its requests in their order.
        if (qp.state == QpState::error) {
            complete_error(*qp.send_cq, qp, Entry::request_error, request.index,
                           static_cast<std::uint8_t>(request.opcode), Syndrome::flushed);
        } else if (qp.state != QpState::rts) {
            return;
        } else {
            const Outcome outcome = execute(qp, request);
            if (outcome == Outcome::waiting) {
                progress.is_waiting = true;
                return;
            }
            if (outcome == Outcome::more) {
                ++progress.done;
                return;
            }
        }
        at += request_slots;
        qp.send_consumed = static_cast<std::uint16_t>(qp.send_consumed + request_slots);
        ++progress.done;
    }
}

/// Returns whether the doorbell record of this queue pair is polled.
bool has_doorbell(const QueuePair &qp)
{
    return qp.state >= QpState::rts && qp.type != QpType::xrc_receive && !qp.file.function.is_dead;
}

} // namespace

bool read_slots(const QueuePair &qp, std::uint16_t first, std::uint32_t slots, SlotWindow &window)
{
    const std::uint32_t start = first & (qp.send_slots - 1);
    const std::uint32_t before_end = std::min(slots, qp.send_slots - start);
    return qp.process->read(qp.send_buffer + std::uint64_t{start} * slot_bytes, window.data(),
                            before_end * slot_bytes) == Access::done &&
           qp.process->read(qp.send_buffer, window.data() + before_end * slot_bytes,
                            (slots - before_end) * slot_bytes) == Access::done;
}

Progress poll_process(Process &process)
{
    // The lists are copied. Work requests neither create nor destroy queues, so the pointers stay valid during this
    // call.
    static std::vector<QueuePair *> queue_pairs;
    static std::vector<CompletionQueue *> completion_queues;
    static std::vector<std::uint64_t> addresses;
    static std::vector<std::uint8_t> records;
    queue_pairs.clear();
    completion_queues.clear();
    addresses.clear();
    for (QueuePair *qp : process.queue_pairs) {
        if (has_doorbell(*qp)) {
            queue_pairs.push_back(qp);
            addresses.push_back(qp->doorbell_record);
        }
    }
    for (CompletionQueue *cq : process.completion_queues) {
        if (has_listener(*cq)) {
            completion_queues.push_back(cq);
            addresses.push_back(cq->doorbell_record);
        }
    }
    const std::size_t count = addresses.size();
    records.resize(count * record_bytes);
    const auto is_read = std::make_unique<bool[]>(count);
    process.read_pieces(addresses, record_bytes, records.data(), {is_read.get(), count});
    // Arm words are processed before requests are carried out: they were read in the same pass, so an arm that the
    // program made before it posted a request takes effect before that request completes.
    for (std::size_t i = queue_pairs.size(); i < count; ++i) {
        if (is_read[i])
            process_doorbell_record(*completion_queues[i - queue_pairs.size()], be32(&records[i * record_bytes]),
                                    be32(&records[i * record_bytes + 4]));
    }
    Progress progress;
    for (std::size_t i = 0; i < queue_pairs.size(); ++i) {
        if (!is_read[i])
            continue;
        const std::uint8_t *record = &records[i * record_bytes];
        QueuePair &qp = *queue_pairs[i];
        const auto sent = static_cast<std::uint16_t>(be32(record + 4));
        qp.receive_posted = static_cast<std::uint16_t>(be32(record));
        if (sent != qp.send_consumed)
            run_send_queue(qp, sent, progress);
        if (qp.state == QpState::error && qp.receiving != nullptr)
            flush_receives(qp);
        if (qp.state == QpState::error && !qp.srq) {
            if (qp.receive_posted != qp.receive_consumed)
                flush_receives(qp);
            progress.is_waiting = true; // receive requests are posted without a doorbell, and must still be flushed
        }
    }
    return progress;
}

void set_state_of(QueuePair &qp, QpState state)
{
    if (state == QpState::error) {
        break_queue_pair(qp, std::nullopt);
    } else {
        const QpState before = qp.state;
        qp.state = state;
        if (state == QpState::reset) {
            qp.send_consumed = qp.receive_consumed = qp.receive_posted = 0;
            qp.reset_first_request();
            qp.receiving.reset();
            qp.is_mmo_enabled = false;
            qp.roce.reset();
            drop_delayed_entries(qp);
        } else if (state == QpState::rtr && qp.file.card.network != nullptr && !qp.is_xrc()) {
            qp.file.card.network->connect(qp);
        } else if (state == QpState::rts && qp.roce != nullptr && before == QpState::rtr) {
            qp.roce->requester.start();
        }
    }
    qp.file.card.request_polls(); // both its own requests and those of waiting peers may proceed
}

void break_queue_pair(QueuePair &qp, std::optional<Event> event)
{
    if (event)
        report_event(qp, *event);
    if (qp.srq && qp.state != QpState::error)
        report_event(qp, Event::last_request);
    qp.state = QpState::error;
    qp.reset_first_request();
    if (qp.roce != nullptr)
        qp.roce->stop();
    if (qp.type == QpType::xrc_receive)
        flush_receives(qp);        // it has no doorbell that is polled
    qp.process->needs_poll = true; // the next poll flushes the posted requests
}

void break_queue_pairs_of(Card &card, const Function &function)
{
    for (const auto &process : card.processes) {
        for (QueuePair *qp : process->queue_pairs) {
            if (&qp->file.function == &function && (qp->state == QpState::rtr || qp->state == QpState::rts))
                break_queue_pair(*qp, Event::qp_fatal);
        }
    }
}

} // namespace opendoca::card
