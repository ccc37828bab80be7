// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "work_request.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "big_endian.hpp"
#include "engine.hpp"
#include "link_transfer.hpp"

namespace opendoca::card {

namespace {

constexpr std::uint64_t max_bytes_per_poll = 4 << 20; // afterwards other processes are polled
constexpr std::uint32_t is_inline = 0x80000000;       // bit of a segment's first word (MLX5_INLINE_SEG)
constexpr std::size_t control_bytes = 16;             // mlx5_wqe_ctrl_seg

/// An opcode, and the function that carries it out: an entry of a constant table. The function may read `min_bytes` of
/// the request without a check.
struct Operation {
    Opcode opcode;
    std::size_t min_bytes; ///< minimum size, with all fixed segments
    Outcome (*execute)(QueuePair &qp, const WorkRequest &request);
};

Outcome execute_nop(QueuePair &qp, const WorkRequest &request)
{
    return finish(qp, request, 0);
}

/// Carries out a SEND, which connections and datagrams have in common.
Outcome execute_send(QueuePair &qp, const WorkRequest &request)
{
    return qp.type == QpType::ud ? execute_datagram(qp, request) : execute_connected(qp, request);
}

constexpr Operation operations[] = {
    {Opcode::nop, control_bytes, execute_nop},
    {Opcode::send_invalidate, control_bytes, execute_connected},
    {Opcode::write, control_bytes + 16, execute_connected},
    {Opcode::write_immediate, control_bytes + 16, execute_connected},
    {Opcode::send, control_bytes, execute_send},
    {Opcode::send_immediate, control_bytes, execute_send},
    {Opcode::read, control_bytes + 16, execute_connected},
    {Opcode::compare_swap, control_bytes + 32, execute_connected},
    {Opcode::fetch_add, control_bytes + 32, execute_connected},
    {Opcode::umr, control_bytes + 48 + 64, execute_umr},
    {Opcode::copy, control_bytes + 48, execute_copy},
};

} // namespace

std::size_t WorkRequest::bytes_of(std::span<const std::uint8_t> first_slot)
{
    // The low six bits of the second word count units of 16 bytes. A size of 0, which is invalid, is taken as 1: each
    // request must take up a slot.
    return std::max<std::size_t>(be32(&first_slot[4]) & 0x3f, 1) * 16;
}

WorkRequest WorkRequest::parse(std::span<const std::uint8_t> linear, std::uint16_t index)
{
    constexpr std::uint8_t completion_mask = 0x0c, completion_always = 0x08, solicited = 0x02;
    // The control segment: opcode and modifier, size, completion flags (byte 11), immediate.
    const std::uint32_t head = be32(&linear[0]);
    WorkRequest request{};
    request.bytes = linear.first(bytes_of(linear));
    request.opcode = static_cast<Opcode>(head & 0xff);
    request.modifier = static_cast<std::uint8_t>(head >> 24);
    request.index = index;
    std::memcpy(&request.immediate, &linear[12], sizeof(request.immediate));
    request.is_signaled = (linear[11] & completion_mask) == completion_always;
    request.is_solicited = (linear[11] & solicited) != 0;
    return request;
}

Outcome execute(QueuePair &qp, const WorkRequest &request)
{
    const auto found = std::ranges::find(operations, request.opcode, &Operation::opcode);
    if (qp.file.card.is_verbose)
        std::fprintf(stderr, "qp %#x: request %u opcode %#x of %zu bytes\n", qp.number(), request.index,
                     static_cast<unsigned>(request.opcode), request.bytes.size());
    if (found == std::ranges::end(operations) || request.bytes.size() < found->min_bytes)
        return fail(qp, nullptr, request, Syndrome::local_operation);
    return found->execute(qp, request);
}

Outcome fail(QueuePair &qp, QueuePair *responder, const WorkRequest &request, Syndrome syndrome)
{
    if (qp.file.card.is_verbose)
        std::fprintf(stderr, "qp %#x: request %u opcode %#x fails with syndrome %#x\n", qp.number(), request.index,
                     static_cast<unsigned>(request.opcode), static_cast<unsigned>(syndrome));
    complete_error(*qp.send_cq, qp, Entry::request_error, request.index, static_cast<std::uint8_t>(request.opcode),
                   syndrome);
    break_queue_pair(qp, std::nullopt);
    // An error that the responder detects breaks its queue pair as well, each with its own event.
    if (responder == nullptr)
        return Outcome::done;
    if (syndrome == Syndrome::remote_access)
        break_queue_pair(*responder, Event::qp_access_error);
    else if (syndrome == Syndrome::remote_invalid)
        break_queue_pair(*responder, Event::qp_request_error);
    else if (syndrome == Syndrome::remote_operation)
        break_queue_pair(*responder, Event::qp_fatal);
    return Outcome::done;
}

Outcome finish(QueuePair &qp, const WorkRequest &request, std::uint64_t bytes)
{
    qp.copied = 0; // also of a message that is lost in the middle
    qp.transfer.reset();
    if (request.is_signaled)
        complete_request(qp, request.index, static_cast<std::uint8_t>(request.opcode),
                         static_cast<std::uint32_t>(bytes));
    return Outcome::done;
}

Syndrome add_data_segments(const QueuePair &qp, const WorkRequest &request, std::size_t at, std::uint32_t rights,
                           SegmentList &list)
{
    constexpr std::size_t segment_bytes = 16, inline_header = 4;
    list.clear();
    while (at + inline_header <= request.bytes.size()) {
        const std::uint32_t head = be32(&request.bytes[at]);
        // Inline data: a length in four bytes and the data, padded to 16 bytes.
        if ((head & is_inline) != 0) {
            if (rights != 0)
                return Syndrome::local_protection; // data in the request cannot be written
            const std::uint32_t length = head & ~is_inline;
            if (length > request.bytes.size() - at - inline_header)
                return Syndrome::local_length;
            list.segments.push_back(
                {nullptr, reinterpret_cast<std::uintptr_t>(&request.bytes[at]) + inline_header, length});
            list.length += length;
            at += (inline_header + length + segment_bytes - 1) / segment_bytes * segment_bytes;
            continue;
        }
        if (at + segment_bytes > request.bytes.size())
            break;
        // A segment of 0 bytes needs no valid key.
        const Purpose purpose{qp.pd->number(), rights, qp.number()};
        if (head != 0 &&
            !add_range(qp.file.card, list, purpose, be32(&request.bytes[at + 4]), be64(&request.bytes[at + 8]), head))
            return Syndrome::local_protection;
        at += segment_bytes;
    }
    return Syndrome::none;
}

CopyResult copy_part(QueuePair &qp, const SegmentList &source, const SegmentList &destination, std::uint64_t length,
                     bool &is_complete)
{
    is_complete = false;
    const std::uint64_t done =
        std::min(qp.copied, length); // the program may have shortened the request since the last part
    const bool uses_link = qp.file.card.link != nullptr && (is_at_other_side(source) || is_at_other_side(destination));
    const std::uint64_t part = std::min(length - done, uses_link ? max_bytes_per_transfer : max_bytes_per_poll);
    if (!uses_link)
        qp.transfer.reset(); // the program has changed the request meanwhile
    const CopyResult result =
        uses_link ? copy_by_link(qp, source, destination, done, part) : copy(source, destination, done, part);
    if (result != CopyResult::done)
        return result;
    qp.copied = done + part;
    is_complete = qp.copied == length;
    if (is_complete)
        qp.copied = 0;
    return result;
}

bool is_reachable(const Function &from, const Function &to)
{
    return from.is_port_up && to.is_port_up && !from.is_dead && !to.is_dead && !from.is_unreachable &&
           !to.is_unreachable;
}

bool has_partition_key(const QueuePair &qp)
{
    return qp.attributes.pkey_index == 0;
}

bool is_path_to(const Function &to, bool is_global, std::span<const std::uint8_t, 16> gid, std::uint16_t lid)
{
    if (to.profile.lid != 0 && lid != to.profile.lid)
        return false;
    // On InfiniBand the LID is the address; a GID, if there is one, must match as well.
    if (!is_global)
        return to.profile.lid != 0;
    return std::ranges::any_of(to.profile.gids,
                               [&](const Gid &own) { return own.is_set() && std::ranges::equal(own.raw, gid); });
}

} // namespace opendoca::card
