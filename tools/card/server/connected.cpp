// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Send requests of reliable (RC) and unreliable (UC) connections.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "big_endian.hpp"
#include "engine.hpp"
#include "limits.hpp"
#include "link_transfer.hpp"
#include "work_request.hpp"

namespace opendoca::card {

namespace {

/// What an opcode needs from the peer: the kind of access, whether it consumes a receive request, and the right that
/// the peer's connection and key must grant.
struct OpcodeTraits {
    bool is_read, is_atomic, consumes_receive;
    std::uint32_t remote_right;
};

OpcodeTraits traits_of(Opcode opcode)
{
    OpcodeTraits kind{};
    kind.is_read = opcode == Opcode::read;
    kind.is_atomic = is_atomic(opcode);
    kind.consumes_receive = !has_remote_address(opcode) || opcode == Opcode::write_immediate;
    kind.remote_right = kind.is_read ? right::remote_read : kind.is_atomic ? right::remote_atomic : right::remote_write;
    return kind;
}

/// Returns whether the peer's connection accepts such a request, regardless of the memory that it addresses. A
/// responder depth of 0 leaves no resource for reads and atomics.
bool accepts(const QueuePair &peer, const OpcodeTraits &kind)
{
    return (peer.attributes.access & kind.remote_right) != 0 &&
           (peer.attributes.max_reads_of_peer != 0 || !(kind.is_read || kind.is_atomic));
}

/// Returns the acknowledge timeout of one attempt: 4.096 us << timeout (InfiniBand specification).
std::uint64_t ack_timeout_ns(const QueuePair &qp)
{
    return std::uint64_t{4096} << qp.attributes.timeout;
}

/// Handles a peer that does not respond: the request waits for another attempt until the retries are exhausted. A
/// timeout of 0 retries without limit.
Outcome retry_after_timeout(QueuePair &qp, const WorkRequest &request)
{
    if (qp.type == QpType::uc)
        return finish(qp, request, 0); // UC has no acknowledgements, so the message is lost silently
    // No memory is held for a request that may wait for ever. An atomic is carried out once only.
    if (!is_atomic(request.opcode))
        qp.transfer.reset();
    if (qp.attributes.timeout != 0 &&
        !qp.timeout_attempts.should_retry(now_ns(), ack_timeout_ns(qp), qp.attributes.retry_count + 1u))
        return fail(qp, nullptr, request, Syndrome::retries_exceeded);
    return Outcome::waiting;
}

/// Handles a peer without a receive request: the request waits for the peer's RNR timer. An rnr_retry of 7 retries
/// without limit.
Outcome retry_after_rnr(QueuePair &qp, const QueuePair &peer, const WorkRequest &request)
{
    constexpr std::uint8_t unlimited_retries = 7; // value of rnr_retry
    if (qp.type == QpType::uc)
        return finish(qp, request, 0);
    if (qp.attributes.rnr_retry != unlimited_retries &&
        !qp.rnr_attempts.should_retry(now_ns(), rnr_timeout_ns(peer.attributes.rnr_timer),
                                      qp.attributes.rnr_retry + 1u))
        return fail(qp, nullptr, request, Syndrome::receiver_not_ready);
    return Outcome::waiting;
}

/// Returns the type of the queue pairs that a queue pair of this type can be connected to.
QpType type_of_peer(QpType type)
{
    return type == QpType::xrc_send ? QpType::xrc_receive : type == QpType::xrc_receive ? QpType::xrc_send : type;
}

/// Returns the queue pair that receives this queue pair's messages. Returns null if a message would not arrive: no such
/// queue pair, not connected to this one, unreachable, wrong partition key, or a requested fault.
QueuePair *peer_of(QueuePair &qp)
{
    Card &card = qp.file.card;
    auto *peer = card.objects.by_number<QueuePair>(qp.attributes.destination);
    const ib_uverbs_qp_dest &path = qp.attributes.path;
    if (peer == nullptr || peer->type != type_of_peer(qp.type) || !peer->is_responding() ||
        peer->attributes.destination != qp.number() || !is_reachable(qp.file.function, peer->file.function))
        return nullptr;
    if (qp.is_looped_back ? &peer->file.function != &qp.file.function
                          : !is_path_to(peer->file.function, path.is_global != 0, path.dgid, path.dlid))
        return nullptr;
    if (!has_partition_key(qp) || !has_partition_key(*peer) || now_ns() < qp.lost_until)
        return nullptr;
    // Only a request that has not begun counts as a message: each part of a long one comes here as well.
    if (qp.copied == 0 && qp.transfer == nullptr && card.faults.take_message_loss()) {
        constexpr std::uint64_t without_timeout = 1'000'000;
        qp.lost_until = now_ns() + (qp.attributes.timeout != 0 ? ack_timeout_ns(qp) : without_timeout);
        return nullptr;
    }
    return peer;
}

/// Fails a request that the responder refuses. A UC sender does not learn of it.
Outcome refuse(QueuePair &qp, QueuePair &peer, const WorkRequest &request, Syndrome syndrome)
{
    if (qp.type == QpType::uc)
        return finish(qp, request, 0);
    return fail(qp, &peer, request, syndrome);
}

/// Maps a copy that is not done to the request's outcome. `is_read` means that the source is the peer's memory.
Outcome end_failed_copy(QueuePair &qp, QueuePair &peer, const WorkRequest &request, CopyResult result, bool is_read)
{
    switch (result) {
    case CopyResult::pending:
        return Outcome::waiting;
    case CopyResult::source_gone:
    case CopyResult::destination_gone:
        return retry_after_timeout(qp, request);
    case CopyResult::source_fault:
        return is_read ? fail(qp, &peer, request, Syndrome::remote_access)
                       : fail(qp, nullptr, request, Syndrome::local_protection);
    case CopyResult::destination_fault:
    case CopyResult::done:
        break;
    }
    return is_read ? fail(qp, nullptr, request, Syndrome::local_protection)
                   : fail(qp, &peer, request, Syndrome::remote_access);
}

/// Carries out a compare-and-swap or a fetch-and-add. Atomic among the requests of this card only: all run in the event
/// loop's thread (IBV_ATOMIC_HCA) of the side that the memory is at.
Outcome execute_atomic(QueuePair &qp, QueuePair &peer, const WorkRequest &request, const SegmentList &local,
                       const SegmentList &remote)
{
    if (be64(&request.bytes[at_remote_address]) % sizeof(std::uint64_t) != 0 || local.length != sizeof(std::uint64_t) ||
        remote.segments.size() != 1)
        return fail(qp, &peer, request, Syndrome::remote_invalid);
    const LinkAtomic operation{request.opcode == Opcode::fetch_add, be64(&request.bytes[at_atomic_operand]),
                               be64(&request.bytes[at_atomic_compare])};
    CopyResult result = CopyResult::done;
    if (qp.file.card.link != nullptr && (is_at_other_side(remote) || is_at_other_side(local))) {
        result = swap_by_link(qp, remote, local, operation);
    } else {
        std::uint64_t old = 0;
        if (const Access access = swap_word(remote, operation, old); access != Access::done)
            return end_failed_copy(qp, peer, request,
                                   access == Access::gone ? CopyResult::source_gone : CopyResult::source_fault, true);
        SegmentList response;
        response.segments.push_back({nullptr, reinterpret_cast<std::uintptr_t>(&old), sizeof(old)});
        result = copy(response, local, 0, sizeof(old));
    }
    if (result != CopyResult::done)
        return end_failed_copy(qp, peer, request, result, true);
    return finish(qp, request, sizeof(std::uint64_t));
}

/// Returns the kind of the receiver's completion.
Entry entry_of(Opcode opcode)
{
    switch (opcode) {
    case Opcode::send_immediate:
        return Entry::receive_immediate;
    case Opcode::send_invalidate:
        return Entry::receive_invalidate;
    case Opcode::write_immediate:
        return Entry::receive_write_immediate;
    default:
        return Entry::receive;
    }
}

/// Takes the receive request for a message of @p qp into @p receive: that in which a part of the message is already, or
/// the next one. The former is also used for a new message if the sender has dropped the one that began in it, and is
/// flushed if the sender has changed its request to name another queue of XRC.
Take take_receive_for(QueuePair &qp, QueuePair &peer, Receive &receive, SharedReceiveQueue *xrc_queue)
{
    if (peer.receiving != nullptr && peer.receiving->xrc_queue != (xrc_queue != nullptr ? xrc_queue->number() : 0)) {
        const std::unique_ptr<Receive> begun = std::move(peer.receiving);
        complete_receive_error(peer, *begun, Syndrome::flushed);
    }
    if (peer.receiving == nullptr) {
        qp.copied = 0; // a part may be in a receive request that the peer has dropped
        qp.transfer.reset();
        return take_receive(peer, receive, xrc_queue);
    }
    receive = std::move(*peer.receiving);
    peer.receiving.reset();
    receive.is_valid = resolve_again(peer, receive);
    return Take::taken;
}

/// Carries out a request that consumes a receive request of the peer. A long message takes several calls.
Outcome execute_message(QueuePair &qp, QueuePair &peer, const WorkRequest &request, const SegmentList &local,
                        const SegmentList &remote, SharedReceiveQueue *xrc_queue)
{
    static Receive receive;
    switch (take_receive_for(qp, peer, receive, xrc_queue)) {
    case Take::taken:
        break;
    case Take::none:
        return retry_after_rnr(qp, peer, request);
    case Take::gone:
        return retry_after_timeout(qp, request);
    }
    qp.rnr_attempts = {};
    const bool goes_to_receive = request.opcode != Opcode::write_immediate;
    if (goes_to_receive && (!receive.is_valid || receive.list.length < local.length)) {
        complete_receive_error(peer, receive, receive.is_valid ? Syndrome::local_length : Syndrome::local_protection);
        return refuse(qp, peer, request, receive.is_valid ? Syndrome::remote_invalid : Syndrome::remote_operation);
    }
    bool is_complete = false;
    const CopyResult result = copy_part(qp, local, goes_to_receive ? receive.list : remote, local.length, is_complete);
    if (result != CopyResult::done || !is_complete)
        peer.receiving = std::make_unique<Receive>(std::move(receive));
    if (result != CopyResult::done)
        return end_failed_copy(qp, peer, request, result, false);
    if (!is_complete)
        return Outcome::more;
    const std::uint32_t key = swap_on_little_endian(request.immediate);
    if (request.opcode == Opcode::send_invalidate && !invalidate(peer, key, xrc_queue))
        return refuse(qp, peer, request, Syndrome::remote_access);
    // A queue pair that is connected to itself exchanges no messages with a peer.
    if (&qp != &peer) {
        ++qp.file.card.messages;
        qp.file.card.message_bytes += local.length;
    }
    complete_receive(
        peer, entry_of(request.opcode),
        {receive.index, static_cast<std::uint32_t>(local.length), qp.number(), request.immediate, request.is_solicited},
        xrc_queue);
    return finish(qp, request, local.length);
}

/// Carries out a request that is laid out as one of RC. A request of XRC also has the number of a shared receive queue
/// in the peer's domain. The protection domain of that queue counts, also for requests that receive nothing.
Outcome execute_at_peer(QueuePair &qp, const WorkRequest &request, std::optional<std::uint32_t> xrc_number)
{
    static SegmentList local, remote;
    const OpcodeTraits kind = traits_of(request.opcode);
    const bool writes_local = kind.is_read || kind.is_atomic;
    const Syndrome syndrome =
        add_data_segments(qp, request, data_offset(request.opcode), writes_local ? right::local_write : 0, local);
    if (syndrome != Syndrome::none)
        return fail(qp, nullptr, request, syndrome);
    if (local.length > max_message_bytes)
        return fail(qp, nullptr, request, Syndrome::local_length);
    // The specification has no status for an initiator depth of 0; this one is an assumption (docs/card.md).
    if (writes_local && qp.attributes.max_reads == 0)
        return fail(qp, nullptr, request, Syndrome::local_operation);
    QueuePair *peer = peer_of(qp);
    if (peer == nullptr)
        return retry_after_timeout(qp, request);
    SharedReceiveQueue *xrc_queue = nullptr;
    if (xrc_number) {
        xrc_queue = xrc_queue_of(*peer, *xrc_number);
        // No source has the status for a wrong number; this one is an assumption (docs/card.md).
        if (xrc_queue == nullptr)
            return refuse(qp, *peer, request, Syndrome::remote_invalid);
    }
    remote.clear();
    if (has_remote_address(request.opcode)) {
        const Purpose purpose{memory_domain_of(*peer, xrc_queue), kind.remote_right, peer->number()};
        // A NAK "invalid request", according to the InfiniBand specification; not confirmed on a real card.
        if (!accepts(*peer, kind))
            return refuse(qp, *peer, request, Syndrome::remote_invalid);
        if (local.length != 0 && !add_range(qp.file.card, remote, purpose, be32(&request.bytes[at_remote_key]),
                                            be64(&request.bytes[at_remote_address]), local.length))
            return refuse(qp, *peer, request, Syndrome::remote_access);
    }
    Outcome outcome = Outcome::done;
    if (kind.is_atomic) {
        outcome = execute_atomic(qp, *peer, request, local, remote);
    } else if (kind.consumes_receive) {
        outcome = execute_message(qp, *peer, request, local, remote, xrc_queue);
    } else {
        bool is_complete = false;
        const CopyResult result =
            copy_part(qp, kind.is_read ? remote : local, kind.is_read ? local : remote, local.length, is_complete);
        if (result != CopyResult::done)
            outcome = end_failed_copy(qp, *peer, request, result, kind.is_read);
        else
            outcome = is_complete ? finish(qp, request, local.length) : Outcome::more;
    }
    if (outcome != Outcome::waiting)
        qp.timeout_attempts = {};
    if (outcome == Outcome::done && !kind.consumes_receive)
        ++qp.file.card.remote_accesses;
    return outcome;
}

} // namespace

std::uint64_t rnr_timeout_ns(std::uint8_t code)
{
    static constexpr std::uint32_t tens_of_us[32] = {
        65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
        256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
    return tens_of_us[code & 31] * std::uint64_t{10'000};
}

bool invalidate(const QueuePair &receiver, std::uint32_t key, const SharedReceiveQueue *xrc_queue)
{
    MemoryKey *found = receiver.file.card.keys.find(key);
    if (found == nullptr || !found->is_indirect || found->pd_number != memory_domain_of(receiver, xrc_queue) ||
        (found->bound_to != 0 && found->bound_to != receiver.number()))
        return false;
    found->is_free = true;
    return true;
}

Outcome execute_connected(QueuePair &qp, const WorkRequest &request)
{
    if (qp.type == QpType::ud ||
        (qp.type == QpType::uc && traits_of(request.opcode).remote_right != right::remote_write))
        return fail(qp, nullptr, request, Syndrome::local_operation);
    if (qp.type != QpType::xrc_send)
        return execute_at_peer(qp, request, std::nullopt);
    // A segment that names the shared receive queue precedes the others (mlx5_wqe_xrc_seg).
    constexpr std::size_t xrc_segment_bytes = 16, at_xrc_segment = 16;
    constexpr std::uint32_t number_mask = 0xffffff;
    if (request.bytes.size() < xrc_segment_bytes + data_offset(request.opcode))
        return fail(qp, nullptr, request, Syndrome::local_operation);
    WorkRequest rest = request;
    rest.bytes = request.bytes.subspan(xrc_segment_bytes);
    return execute_at_peer(qp, rest, be32(&request.bytes[at_xrc_segment]) & number_mask);
}

} // namespace opendoca::card
