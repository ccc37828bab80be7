// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_crowd.hpp"

#include <algorithm>
#include <stdexcept>

#include "../machine.hpp"

namespace opendoca::tools {

namespace {

/// Access rights of the memory and of the instances.
constexpr std::uint32_t rights = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_WRITE;
constexpr std::size_t max_depth = 65536; ///< largest depth of a work queue
constexpr std::size_t word = 8;          ///< bytes of a WRITE

} // namespace

// All pairs use the same memory: it is imported once, as if from another process.
Crowd::Crowd(const std::string &ibdev, std::size_t max_pairs, std::uint32_t queue_size)
    : queue_size_(queue_size),
      dev_(open_by_name(ibdev))
{
    doca_mmap *map = nullptr;
    must(doca_mmap_create(nullptr, &map), "creating a memory map");
    map_.reset(map);
    must(doca_mmap_set_memrange(map, memory_, sizeof(memory_)), "setting a memory range");
    must(doca_mmap_set_permissions(map, rights), "setting permissions");
    must(doca_mmap_dev_add(map, dev_.get()), "adding a device");
    must(doca_mmap_start(map), "starting a memory map");
    const void *descriptor = nullptr;
    std::size_t size = 0;
    must(doca_mmap_export_rdma(map, dev_.get(), &descriptor, &size), "exporting memory");
    doca_mmap *remote = nullptr;
    must(doca_mmap_create_from_export(nullptr, descriptor, size, dev_.get(), &remote), "importing memory");
    remote_.reset(remote);
    doca_buf_inventory *inventory = nullptr;
    must(doca_buf_inventory_create(nullptr, 2, 0, &inventory), "creating an inventory");
    inventory_.reset(inventory);
    must(doca_buf_inventory_start(inventory), "starting an inventory");
    must(doca_buf_inventory_buf_by_args(inventory, map, memory_, word, memory_, word, &src_), "taking a buffer");
    std::byte *const to = memory_ + 64;
    must(doca_buf_inventory_buf_by_args(inventory, remote, to, word, to, word, &dst_), "taking a buffer");
    for (Side *const side : {&left_, &right_}) {
        doca_workq *workq = nullptr;
        // A receive for each pair may be posted at once.
        must(doca_workq_create(static_cast<std::uint32_t>(std::min(max_pairs + 64, max_depth)), &workq),
             "creating a work queue");
        side->workq.reset(workq);
        side->ends.reserve(max_pairs);
    }
}

Crowd::~Crowd()
{
    stop(right_); // receiving instances first, so that none waits for a peer that has stopped
    stop(left_);
    for (doca_buf *const buf : {src_, dst_})
        (void)doca_buf_refcount_rm(buf, nullptr);
}

double Crowd::add_pair()
{
    const double start_time = seconds_now();
    start(left_);
    start(right_);
    // Each end needs the other's details.
    connect(left_.ends.back(), right_.ends.back());
    connect(right_.ends.back(), left_.ends.back());
    return seconds_now() - start_time;
}

void Crowd::start(Side &side)
{
    End &end = side.ends.emplace_back();
    doca_rdma *rdma = nullptr;
    must(doca_rdma_create(&rdma), "creating an RDMA instance");
    end.rdma.reset(rdma);
    end.ctx = doca_rdma_as_ctx(rdma);
    must(doca_ctx_dev_add(end.ctx, dev_.get()), "adding a device");
    must(doca_rdma_set_permissions(rdma, rights), "setting permissions");
    if (queue_size_ != 0) {
        must(doca_rdma_set_send_queue_size(rdma, queue_size_), "setting the send queue's size");
        must(doca_rdma_set_recv_queue_size(rdma, queue_size_), "setting the receive queue's size");
    }
    must(doca_ctx_start(end.ctx), "starting RDMA");
    end.is_started = true;
    must(doca_ctx_workq_add(end.ctx, side.workq.get()), "adding a work queue");
    end.has_workq = true;
}

// Detaching fails while jobs are in flight; they are flushed, and must be retrieved before it succeeds.
void Crowd::stop(Side &side)
{
    for (End &end : side.ends) {
        while (end.has_workq && doca_ctx_workq_rm(end.ctx, side.workq.get()) == DOCA_ERROR_NOT_PERMITTED) {
            doca_event event{};
            while (doca_workq_progress_retrieve(side.workq.get(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE) !=
                   DOCA_ERROR_AGAIN) {
            }
        }
        if (end.is_started)
            (void)doca_ctx_stop(end.ctx);
    }
}

void Crowd::connect(const End &from, const End &to) const
{
    const void *details = nullptr;
    std::size_t size = 0;
    must(doca_rdma_export(to.rdma.get(), &details, &size), "exporting the connection");
    must(doca_rdma_connect(from.rdma.get(), details, size), "connecting");
}

void Crowd::submit(Side &side, const doca_job &job)
{
    must(doca_workq_submit(side.workq.get(), &job), "submitting a job");
}

void Crowd::wait(Side &side)
{
    doca_event event{};
    doca_error_t status = DOCA_SUCCESS;
    do
        status = doca_workq_progress_retrieve(side.workq.get(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
    while (status == DOCA_ERROR_AGAIN);
    must(status, "a job");
}

void Crowd::retrieve_nothing(std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) {
        doca_event event{};
        if (doca_workq_progress_retrieve(right_.workq.get(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE) !=
            DOCA_ERROR_AGAIN) [[unlikely]]
            throw std::runtime_error("something has ended that was never submitted");
    }
}

void Crowd::write(std::size_t number, std::size_t count)
{
    doca_rdma_job_read_write job{};
    job.base.type = DOCA_RDMA_JOB_WRITE;
    job.base.ctx = left_.ends[number].ctx;
    job.src_buff = src_;
    job.dst_buff = dst_; // full, which counts as empty, so it is overwritten
    for (std::size_t i = 0; i < count; ++i) {
        submit(left_, job.base);
        wait(left_);
    }
}

void Crowd::post_receives()
{
    for (const End &end : right_.ends) {
        doca_rdma_job_recv job{};
        job.base.type = DOCA_RDMA_JOB_RECV;
        job.base.ctx = end.ctx;
        submit(right_, job.base);
    }
}

void Crowd::send(std::size_t number, std::size_t count)
{
    doca_rdma_job_send sent{};
    sent.base.type = DOCA_RDMA_JOB_SEND;
    sent.base.ctx = left_.ends[number].ctx;
    // Messages are empty: no job has a buffer.
    doca_rdma_job_recv received{};
    received.base.type = DOCA_RDMA_JOB_RECV;
    received.base.ctx = right_.ends[number].ctx;
    for (std::size_t i = 0; i < count; ++i) {
        submit(left_, sent.base);
        wait(left_);
        wait(right_);
        submit(right_, received.base);
    }
}

} // namespace opendoca::tools
