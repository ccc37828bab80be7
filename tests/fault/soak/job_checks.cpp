// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What must be true of a job that was reported, and of memory at the end of an epoch.
#include "jobs.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>

namespace soak {

namespace {

bool is_atomic(Kind kind)
{
    return kind == Kind::cmp_swp || kind == Kind::fetch_add;
}

std::size_t data_len_of(const doca_buf *buf)
{
    std::size_t len = 0;
    must(doca_buf_get_data_len(buf, &len), "a data length");
    return len;
}

} // namespace

doca_error_t Jobs::retrieve()
{
    doca_rdma_result filled;
    std::memset(&filled, 0x77, sizeof(filled));
    const bool is_asked = !random_.one_in(16);
    doca_event event{};
    event.result.ptr = is_asked ? &filled : nullptr;
    const doca_error_t status =
        doca_workq_progress_retrieve(instance_->workq(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
    if (status == DOCA_ERROR_AGAIN) {
        expect(event.result.ptr == (is_asked ? &filled : nullptr), "AGAIN, and the event was changed");
        return status;
    }
    expect(status == DOCA_SUCCESS || status == DOCA_ERROR_IO_FAILED,
           std::string("retrieve gives ") + doca_get_error_name(status));
    const std::uint64_t slot = event.user_data.u64 & 0xffffffff;
    expect(slot < max_jobs, "an event with user data of no job");
    Job &job = jobs_[slot];
    expect(job.is_in_flight && job.generation == event.user_data.u64 >> 32, "reported twice: " + text_of(job));
    expect(event.type == base_of(job.kind, nullptr).type, "the type in the event is not that of " + text_of(job));
    job.is_in_flight = false;
    --(job.kind == Kind::receive ? num_receives_ : num_sends_);

    const std::optional<doca_rdma_result> result = is_asked ? std::optional(filled) : std::nullopt;
    if (status == DOCA_SUCCESS) {
        check(job, result);
        clear_unknown(job);
        release(job);
        mine_.succeeded.fetch_add(1, std::memory_order_relaxed);
        mine_.bytes.fetch_add(job.size, std::memory_order_relaxed);
        return DOCA_SUCCESS;
    }
    release(job);
    mine_.failed.fetch_add(1, std::memory_order_relaxed);
    if (!is_asked)
        return DOCA_ERROR_IO_FAILED;
    switch (filled.result) {
    case DOCA_ERROR_FULL:
        expect(control_.plan.fault == Fault::short_receive, "FULL from " + text_of(job));
        break;
    case DOCA_ERROR_CONNECTION_RESET: // the peer may be the first to leave, when all is done
        expect(control_.plan.fault != Fault::none ||
                   (job.kind == Kind::receive && mine_.quiet.load(std::memory_order_relaxed) == epoch_),
               "CONNECTION_RESET from " + text_of(job));
        break;
    case DOCA_ERROR_NOT_PERMITTED:
        expect(control_.plan.fault != Fault::none, "NOT_PERMITTED from " + text_of(job));
        break;
    case DOCA_ERROR_SHUTDOWN: // receives are cancelled at the end of each epoch
        expect(control_.plan.fault != Fault::none || job.kind == Kind::receive, "SHUTDOWN from " + text_of(job));
        break;
    default:
        throw Wrong(std::string(doca_get_error_name(filled.result)) + " from " + text_of(job));
    }
    return filled.result;
}

void Jobs::check(Job &job, const std::optional<doca_rdma_result> &result)
{
    if (result)
        expect(result->result == DOCA_SUCCESS, "SUCCESS with an error in the result: " + text_of(job));
    if (job.kind == Kind::receive) {
        check_receive(job, result);
    } else if (job.kind == Kind::read) {
        check_destination(job, job.is_overtaken ? bytes_of(job) : job.expected);
    } else if (is_atomic(job.kind)) {
        std::uint64_t old = 0;
        std::memcpy(&old, job.pieces[0].head, 8);
        expect(old == job.old_word, "an atomic returned " + std::to_string(old) + ", and not " +
                                        std::to_string(job.old_word) + ": " + text_of(job));
        expect(job.pieces[0].head[8] == canary && job.pieces[0].head[-1] == canary,
               "bytes around an atomic's result were changed: " + text_of(job));
    } else if (job.remote != nullptr) {
        expect(data_len_of(job.remote) == job.size, "the destination's data length is wrong: " + text_of(job));
    }
}

void Jobs::check_receive(Job &job, const std::optional<doca_rdma_result> &result)
{
    expect(job.message == received_,
           "messages are out of order: " + text_of(job) + " when message " + std::to_string(received_) + " was due");
    ++received_;
    const Message message = message_of(control_.seed, epoch_, 1 - me_, job.message);
    expect(!job.is_short, "a receive that is too small has succeeded: " + text_of(job));
    if (result) {
        const doca_rdma_opcode_t opcode = message.kind == Kind::send       ? DOCA_RDMA_OPCODE_RECV_SEND
                                          : message.kind == Kind::send_imm ? DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM
                                                                           : DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM;
        expect(result->opcode == opcode, "opcode " + std::to_string(result->opcode) + " in " + text_of(job));
        expect(result->length == message.size, "length " + std::to_string(result->length) + ", not " +
                                                   std::to_string(message.size) + ", in " + text_of(job));
        if (message.kind != Kind::send)
            expect(result->immediate_data == htonl(message.immediate), "wrong immediate in " + text_of(job));
    }
    scratch_.resize(job.size);
    Random(message.content).fill(scratch_);
    check_destination(job, scratch_);
}

/// What a READ has brought.
std::vector<std::byte> Jobs::bytes_of(const Job &job)
{
    std::vector<std::byte> bytes;
    for (const Piece &piece : job.pieces) {
        const std::byte *const from = piece.head + piece.prefix;
        bytes.insert(bytes.end(), from, from + std::min(piece.room, job.size - bytes.size()));
    }
    return bytes;
}

/// The bytes fill the pieces one after another; everything else is as it was.
void Jobs::check_destination(const Job &job, std::span<const std::byte> bytes) const
{
    const auto is_canary = [](const std::byte *from, std::size_t size) {
        return std::all_of(from, from + size, [](std::byte b) { return b == canary; });
    };
    doca_buf *buf = job.local;
    for (const Piece &piece : job.pieces) {
        const std::size_t here = std::min(piece.room, bytes.size());
        expect(here == 0 || std::memcmp(piece.head + piece.prefix, bytes.data(), here) == 0,
               "wrong bytes in " + text_of(job));
        expect(is_canary(piece.head - gap, gap + piece.prefix) &&
                   is_canary(piece.head + piece.prefix + piece.room, gap),
               "bytes around a buffer were changed by " + text_of(job));
        expect(data_len_of(buf) == piece.prefix + here, "data length " + std::to_string(data_len_of(buf)) + ", not " +
                                                            std::to_string(piece.prefix + here) + ", in " +
                                                            text_of(job));
        bytes = bytes.subspan(here);
        must(doca_buf_list_next(buf, &buf), "the next buffer");
    }
    expect(bytes.empty(), "bytes without a place: " + text_of(job));
}

void Jobs::check_exposed() const
{
    // Where nobody knows, nothing is compared.
    std::vector<std::pair<std::size_t, std::size_t>> unknown;
    for (const Unknown &range : peers_.unknown) {
        const std::size_t size = range.size.load(std::memory_order_relaxed);
        const std::size_t offset = range.offset.load(std::memory_order_relaxed);
        if (size > 0)
            unknown.emplace_back(offset, offset + size);
    }
    unknown.emplace_back(exposed_size, exposed_size);
    std::sort(unknown.begin(), unknown.end());
    const std::byte *const memory = instance_->exposed().data();
    std::size_t from = 0;
    for (const auto &[begin, end] : unknown) {
        if (begin > from && std::memcmp(memory + from, peers_.shadow + from, begin - from) != 0) {
            std::size_t wrong = from;
            while (memory[wrong] == peers_.shadow[wrong])
                ++wrong;
            throw Wrong("byte " + std::to_string(wrong) +
                        " of the memory is not what the peer's jobs have written (fault " +
                        std::to_string(static_cast<int>(control_.plan.fault)) + ")");
        }
        from = std::max(from, end);
    }
}

} // namespace soak
