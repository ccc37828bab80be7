// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "jobs.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include <arpa/inet.h>

namespace soak {

namespace {

constexpr std::size_t max_prefix = 32; ///< of a piece
constexpr std::size_t slack = 4096;    ///< that a destination may be larger than what comes
constexpr std::size_t arena_size = max_size + slack + max_pieces * (2 * gap + 2 * max_prefix);

} // namespace

doca_job Jobs::base_of(Kind kind, doca_ctx *ctx)
{
    constexpr int types[] = {
        DOCA_RDMA_JOB_RECV,  DOCA_RDMA_JOB_SEND,      DOCA_RDMA_JOB_SEND_IMM,       DOCA_RDMA_JOB_READ,
        DOCA_RDMA_JOB_WRITE, DOCA_RDMA_JOB_WRITE_IMM, DOCA_RDMA_JOB_ATOMIC_CMP_SWP, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD};
    doca_job base{};
    base.type = types[static_cast<std::size_t>(kind)];
    base.ctx = ctx;
    return base;
}

Jobs::Jobs(Control &control, int me, std::uint64_t incarnation)
    : control_(control),
      mine_(control.sides[me]),
      peers_(control.sides[1 - me]),
      me_(me),
      random_(mix(control.seed, me, incarnation, 1)),
      jobs_(max_jobs)
{
    scratch_.reserve(max_size);
}

std::size_t Jobs::local_size()
{
    return max_jobs * arena_size;
}

std::byte *Jobs::arena_of(const Job &job) const
{
    return instance_->local() + slot_of(job) * arena_size;
}

std::string Jobs::text_of(const Job &job) const
{
    return std::string(kind_names[static_cast<std::size_t>(job.kind)]) + " of " + std::to_string(job.size) +
           " bytes in " + std::to_string(job.pieces.size()) + " pieces at offset " + std::to_string(job.offset) +
           " (slot " + std::to_string(slot_of(job)) + ", message " + std::to_string(job.message) + ")";
}

void Jobs::begin(Instance &instance, std::uint32_t epoch)
{
    instance_ = &instance;
    epoch_ = epoch;
    expect(num_sends_ == 0 && num_receives_ == 0, "jobs of the last epoch were never reported");
    next_message_ = next_receive_ = received_ = 0;
    for (Unknown &unknown : mine_.unknown)
        unknown.size.store(0, std::memory_order_relaxed);
    std::memset(mine_.shadow, 0, sizeof(mine_.shadow));
    std::memset(instance.exposed().data(), 0, exposed_size);
}

Job &Jobs::claim(Kind kind)
{
    const std::size_t first = kind == Kind::receive ? max_sends : 0;
    const std::size_t last = kind == Kind::receive ? max_jobs : max_sends;
    const std::size_t start = random_.below(last - first);
    for (std::size_t i = 0; i < last - first; ++i) {
        Job &job = jobs_[first + (start + i) % (last - first)];
        if (job.is_in_flight)
            continue;
        job.kind = kind;
        job.size = job.offset = 0;
        job.is_short = job.is_overtaken = false;
        job.message = job.old_word = 0;
        job.pieces.clear();
        job.local = job.remote = nullptr;
        return job;
    }
    throw Wrong("more jobs in flight than there are slots");
}

bool Jobs::submit(Job &job, doca_job &base)
{
    ++job.generation;
    base.user_data.u64 = std::uint64_t{job.generation} << 32 | slot_of(job);
    job.is_in_flight = true;
    mine_.submitted[static_cast<std::size_t>(job.kind)].fetch_add(1, std::memory_order_relaxed);
    const doca_error_t status = doca_workq_submit(instance_->workq(), &base);
    if (status == DOCA_SUCCESS) {
        ++(job.kind == Kind::receive ? num_receives_ : num_sends_);
        return true;
    }
    job.is_in_flight = false;
    mine_.submitted[static_cast<std::size_t>(job.kind)].fetch_sub(1, std::memory_order_relaxed);
    release(job);
    expect(status == DOCA_ERROR_BAD_STATE, "submitting a " + text_of(job) + ": " + doca_get_error_name(status));
    expect(control_.plan.fault != Fault::none || mine_.quiet.load(std::memory_order_relaxed) == epoch_,
           "BAD_STATE from submit, and nothing has failed");
    return false;
}

void Jobs::release(Job &job)
{
    if (job.local != nullptr)
        must(doca_buf_refcount_rm(job.local, nullptr), "giving a chain back");
    if (job.remote != nullptr)
        must(doca_buf_refcount_rm(job.remote, nullptr), "giving a remote buffer back");
    job.local = job.remote = nullptr;
}

/// Cuts @p total bytes into a chain in the job's arena. A destination of 0 bytes is NULL, a source may be.
void Jobs::lay_out(Job &job, std::size_t total, bool is_source, std::uint64_t content)
{
    if (total == 0 && (!is_source || random_.one_in(2)))
        return;
    const std::size_t count = random_.one_in(2) ? 1 : 1 + random_.below(max_pieces);
    std::byte *place = arena_of(job);
    for (std::size_t i = 0, left = total; i < count; ++i) {
        const std::size_t room = i + 1 == count ? left : random_.below(left + 1);
        left -= room;
        const std::size_t prefix = room == 0 ? 1 : random_.below(max_prefix + 1); // no buffer has 0 bytes
        const std::size_t behind = is_source ? random_.below(max_prefix + 1) : 0;
        std::memset(place, static_cast<int>(canary), gap + prefix);
        std::byte *const head = place + gap;
        if (!is_source) // what an earlier job has left must not pass for what this one brings
            std::memset(head + prefix, 0, room);
        std::memset(head + prefix + room, static_cast<int>(canary), behind + gap);
        job.pieces.push_back({head, prefix, room});
        doca_buf *const buf = is_source ? instance_->take_local(head, prefix + room + behind, head + prefix, room)
                                        : instance_->take_local(head, prefix + room, head, prefix);
        if (job.local == nullptr)
            job.local = buf;
        else
            must(doca_buf_list_chain(job.local, buf), "chaining");
        place = head + prefix + room + behind + gap;
    }
    if (is_source)
        fill_source(job, content);
}

void Jobs::fill_source(Job &job, std::uint64_t content)
{
    scratch_.resize(job.size);
    Random(content).fill(scratch_);
    const std::byte *from = scratch_.data();
    for (const Piece &piece : job.pieces) {
        std::memcpy(piece.head + piece.prefix, from, piece.room);
        from += piece.room;
    }
}

void Jobs::set_unknown(const Job &job, std::size_t offset, std::size_t size)
{
    Unknown &unknown = mine_.unknown[slot_of(job)];
    unknown.offset.store(offset, std::memory_order_relaxed);
    unknown.size.store(size, std::memory_order_relaxed);
    // The worker may be killed at any instruction: what it writes next must not be seen without this. The
    // kill orders what the processor has done; this keeps the compiler in order.
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

void Jobs::clear_unknown(const Job &job)
{
    std::atomic_signal_fence(std::memory_order_seq_cst);
    mine_.unknown[slot_of(job)].size.store(0, std::memory_order_relaxed);
}

/// What a WRITE will have made of the peer's memory. scratch_ holds the bytes.
void Jobs::model_write(Job &job)
{
    set_unknown(job, job.offset, job.size);
    std::memcpy(mine_.shadow + job.offset, scratch_.data(), job.size);
    if (!instance_->may_read_again())
        return;
    for (Job &read : jobs_) {
        if (read.is_in_flight && read.kind == Kind::read && read.offset < job.offset + job.size &&
            job.offset < read.offset + read.size)
            read.is_overtaken = true;
    }
}

bool Jobs::submit()
{
    const std::uint64_t choice = random_.below(10);
    if (choice < 4) {
        const Message message = message_of(control_.seed, epoch_, me_, next_message_);
        return submit_message(claim(message.kind));
    }
    if (choice < 8)
        return submit_read_or_write(claim(random_.one_in(2) ? Kind::read : Kind::write));
    return submit_atomic(claim(random_.one_in(2) ? Kind::cmp_swp : Kind::fetch_add));
}

bool Jobs::submit_message(Job &job)
{
    const Message message = message_of(control_.seed, epoch_, me_, next_message_);
    job.size = message.size;
    job.message = next_message_;
    lay_out(job, job.size, true, message.content);
    bool is_submitted = false;
    if (job.kind == Kind::write_imm) {
        doca_rdma_job_read_write write{};
        write.base = base_of(job.kind, instance_->ctx());
        write.src_buff = job.local;
        write.immediate_data = htonl(message.immediate);
        job.offset = random_.below(write_area - job.size + 1);
        if (job.local != nullptr || random_.one_in(2))
            job.remote = instance_->take_remote(job.offset, std::max<std::size_t>(job.size, 1), 0);
        write.dst_buff = job.remote;
        if (job.size > 0)
            model_write(job);
        is_submitted = submit(job, write.base);
    } else {
        doca_rdma_job_send send{};
        send.base = base_of(job.kind, instance_->ctx());
        send.src_buff = job.local;
        send.immediate_data = htonl(message.immediate);
        is_submitted = submit(job, send.base);
    }
    if (is_submitted)
        ++next_message_;
    return is_submitted;
}

bool Jobs::submit_read_or_write(Job &job)
{
    doca_rdma_job_read_write base{};
    base.base = base_of(job.kind, instance_->ctx());
    job.size = random_.log_up_to(max_size);
    job.offset = random_.below(write_area - job.size + 1);
    if (job.kind == Kind::write) {
        lay_out(job, job.size, true, random_.next());
        if (job.local != nullptr || random_.one_in(2))
            job.remote = instance_->take_remote(job.offset, std::max<std::size_t>(job.size, 1), 0);
        if (job.size > 0)
            model_write(job);
        base.dst_buff = job.remote;
        base.src_buff = job.local;
        return submit(job, base.base);
    }
    // The source may be longer than the destination's room: then only so much is read.
    const std::size_t source = job.size;
    if (source > 1 && random_.one_in(8))
        job.size = 1 + random_.below(source - 1);
    const std::size_t room = job.size < source || random_.one_in(2) ? job.size : job.size + random_.below(slack);
    lay_out(job, room, false, 0);
    if (source > 0)
        job.remote = instance_->take_remote(job.offset, source, source);
    if (job.size > 0)
        job.expected.assign(mine_.shadow + job.offset, mine_.shadow + job.offset + job.size);
    else
        job.expected.clear();
    base.dst_buff = job.local;
    base.src_buff = job.remote;
    return submit(job, base.base);
}

bool Jobs::submit_atomic(Job &job)
{
    job.size = 8;
    const std::size_t word = random_.below(num_words);
    job.offset = write_area + 8 * word;
    std::uint64_t value = 0;
    std::memcpy(&value, mine_.shadow + job.offset, 8);
    job.old_word = value;

    doca_rdma_job_atomic atomic{};
    atomic.base = base_of(job.kind, instance_->ctx());
    atomic.swap_or_add_data = random_.next();
    atomic.cmp_data = random_.one_in(4) ? value + 1 : value;
    if (job.kind == Kind::fetch_add)
        value += atomic.swap_or_add_data;
    else if (atomic.cmp_data == value)
        value = atomic.swap_or_add_data;
    std::byte *const place = arena_of(job);
    std::memset(place, static_cast<int>(canary), 2 * gap + 16);
    std::byte *const head = place + gap + random_.below(8);
    job.pieces.push_back({head, 0, 8});
    job.local = instance_->take_local(head, 8, head, 0);
    job.remote = instance_->take_remote(job.offset, 8, 0);
    atomic.cmp_or_add_dest_buff = job.remote;
    atomic.result_buff = job.local;
    set_unknown(job, job.offset, 8);
    std::memcpy(mine_.shadow + job.offset, &value, 8);
    return submit(job, atomic.base);
}

bool Jobs::submit_receive(bool may_be_short, bool &was_short)
{
    const Message message = message_of(control_.seed, epoch_, 1 - me_, next_receive_);
    Job &job = claim(Kind::receive);
    job.message = next_receive_;
    const bool takes_bytes = message.kind != Kind::write_imm;
    job.size = takes_bytes ? message.size : 0;
    job.is_short = may_be_short && job.size > 0;
    lay_out(job, job.is_short ? random_.below(job.size) : job.size + (random_.one_in(2) ? 0 : random_.below(slack)),
            false, 0);
    doca_rdma_job_recv receive{};
    receive.base = base_of(Kind::receive, instance_->ctx());
    receive.dst_buff = job.local;
    const bool is_short = job.is_short;
    if (!submit(job, receive.base))
        return false;
    was_short = is_short;
    ++next_receive_;
    return true;
}

} // namespace soak
