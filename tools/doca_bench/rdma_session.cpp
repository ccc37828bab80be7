// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_session.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

namespace opendoca::tools {

namespace {

constexpr std::uint32_t rights = DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;
constexpr std::size_t line = 64;

/// Twice the depth, so that the sender finds one whatever the receiver has just taken.
std::uint32_t num_receives(const RdmaCase &what)
{
    return what.op == RdmaOp::send ? std::max(2 * what.depth, 16U) : 0;
}

} // namespace

std::string find_rdma_device(const std::string &ibdev)
{
    const DeviceList devices;
    std::string known;
    for (const doca_devinfo *const info : devices.infos()) {
        if (doca_rdma_job_get_supported(info, DOCA_RDMA_JOB_WRITE) != DOCA_SUCCESS)
            continue;
        const std::string name = ibdev_of(*info);
        if (ibdev.empty() || ibdev == name)
            return name;
        known += " " + name;
    }
    throw std::runtime_error(known.empty()
                                 ? "no device here can do RDMA"
                                 : "no device '" + ibdev + "' can do RDMA here; these can:" + known);
}

RdmaSession::Memory::Memory(MemoryKind kind, std::size_t wanted) : size(wanted)
{
    if (kind == MemoryKind::shared) {
        memfd = UniqueFd(memfd_create("doca_bench", MFD_CLOEXEC));
        if (!memfd.is_open() || ftruncate(memfd.get(), static_cast<off_t>(size)) != 0)
            throw std::runtime_error(std::string("creating a memfd: ") + std::strerror(errno));
    }
    void *const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              memfd.is_open() ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, memfd.get(), 0);
    if (mapped == MAP_FAILED)
        throw std::runtime_error(std::string("mapping memory: ") + std::strerror(errno));
    addr = static_cast<std::byte *>(mapped);
    std::memset(addr, 0, size);
}

RdmaSession::Memory::~Memory()
{
    munmap(addr, size);
}

RdmaSession::RdmaSession(const std::string &ibdev, const RdmaCase &what)
    : what_(what),
      size_((what.size + line - 1) / line * line),
      exposed_(what.memory, size_),
      local_(what.memory, 2 * size_),
      dev_(open_by_name(ibdev)),
      exposed_map_(map(exposed_, DOCA_ACCESS_LOCAL_READ_WRITE | rights)),
      local_map_(map(local_, DOCA_ACCESS_LOCAL_READ_WRITE))
{
    const std::uint32_t depth = what.depth + 1;
    doca_buf_inventory *inventory = nullptr;
    must(doca_buf_inventory_create(nullptr, 2 * depth + num_receives(what), 0, &inventory),
         "creating an inventory");
    inventory_.reset(inventory);
    must(doca_buf_inventory_start(inventory), "starting an inventory");
    doca_rdma *rdma = nullptr;
    must(doca_rdma_create(&rdma), "creating an RDMA instance");
    rdma_.reset(rdma);
    ctx_ = doca_rdma_as_ctx(rdma);
    must(doca_ctx_dev_add(ctx_, dev_.get()), "adding a device");
    must(doca_rdma_set_permissions(rdma, rights), "setting permissions");
    must(doca_rdma_set_send_queue_size(rdma, depth), "setting the send queue's size");
    must(doca_rdma_set_recv_queue_size(rdma, std::max(num_receives(what), 1U)),
         "setting the receive queue's size");
    must(doca_ctx_start(ctx_), "starting RDMA");
    doca_workq *workq = nullptr;
    must(doca_workq_create(depth + num_receives(what), &workq), "creating a work queue");
    workq_.reset(workq);
    if (what.waits_for_events) {
        must(doca_workq_set_event_driven_enable(workq, 1), "enabling events");
        must(doca_workq_get_event_handle(workq, &event_handle_), "getting the event handle");
        epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
        epoll_event event{};
        event.events = EPOLLIN;
        if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, event_handle_, &event) != 0)
            throw std::runtime_error(std::string("epoll: ") + std::strerror(errno));
    }
    must(doca_ctx_workq_add(ctx_, workq), "adding a work queue");
    has_workq_ = true;
}

RdmaSession::~RdmaSession()
{
    while (has_workq_ && doca_ctx_workq_rm(ctx_, workq_.get()) == DOCA_ERROR_NOT_PERMITTED) {
        doca_event event{};
        while (doca_workq_progress_retrieve(workq_.get(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE) !=
               DOCA_ERROR_AGAIN) {
        }
    }
    for (doca_buf *const buf : bufs_)
        (void)doca_buf_refcount_rm(buf, nullptr);
    if (ctx_ != nullptr)
        (void)doca_ctx_stop(ctx_);
}

RdmaDetails RdmaSession::details() const
{
    RdmaDetails details{};
    const void *bytes = nullptr;
    must(doca_rdma_export(rdma_.get(), &bytes, &details.details_size), "exporting the connection");
    if (details.details_size > sizeof(details.details))
        throw std::runtime_error("the connection details are too long");
    std::memcpy(details.details, bytes, details.details_size);
    must(doca_mmap_export_rdma(exposed_map_.get(), dev_.get(), &bytes, &details.descriptor_size),
         "exporting memory");
    if (details.descriptor_size > sizeof(details.descriptor))
        throw std::runtime_error("the export descriptor is too long");
    std::memcpy(details.descriptor, bytes, details.descriptor_size);
    return details;
}

void RdmaSession::connect(const RdmaDetails &peer)
{
    must(doca_rdma_connect(rdma_.get(), peer.details, peer.details_size), "connecting");
    doca_mmap *map = nullptr;
    must(doca_mmap_create_from_export(nullptr, peer.descriptor, peer.descriptor_size, dev_.get(), &map),
         "importing memory");
    remote_map_.reset(map);
    void *remote = nullptr;
    std::size_t remote_size = 0;
    must(doca_mmap_get_memrange(map, &remote, &remote_size), "the range of imported memory");
    if (remote_size < size_)
        throw std::runtime_error("the imported memory is too small");
    remote_ = static_cast<std::byte *>(remote);
    make_jobs();
}

RdmaSession::MapHandle RdmaSession::map(const Memory &memory, std::uint32_t permissions) const
{
    doca_mmap *map = nullptr;
    must(doca_mmap_create(nullptr, &map), "creating a memory map");
    MapHandle handle(map);
    must(doca_mmap_set_memrange(map, memory.addr, memory.size), "setting a memory range");
    must(doca_mmap_set_permissions(map, permissions), "setting permissions");
    must(doca_mmap_dev_add(map, dev_.get()), "adding a device");
    must(doca_mmap_start(map), "starting a memory map");
    return handle;
}

doca_buf *RdmaSession::take_buf(doca_mmap *map, std::byte *addr, std::size_t size, std::size_t data_len)
{
    doca_buf *buf = nullptr;
    must(doca_buf_inventory_buf_by_args(inventory_.get(), map, addr, size, addr, data_len, &buf),
         "taking a buffer");
    bufs_.push_back(buf);
    return buf;
}

void RdmaSession::make_jobs()
{
    doca_mmap *const local = local_map_.get();
    doca_mmap *const remote = remote_map_.get();
    for (std::uint32_t i = 0; i < what_.depth; ++i) {
        Job job{};
        doca_buf *filled = nullptr;
        switch (what_.op) {
        case RdmaOp::write:
            job.base.type = DOCA_RDMA_JOB_WRITE;
            job.read_write.src_buff = take_buf(local, source(), what_.size, what_.size);
            job.read_write.dst_buff = filled = take_buf(remote, remote_, what_.size, 0);
            break;
        case RdmaOp::read:
            job.base.type = DOCA_RDMA_JOB_READ;
            job.read_write.src_buff = take_buf(remote, remote_, what_.size, what_.size);
            job.read_write.dst_buff = filled = take_buf(local, destination(), what_.size, 0);
            break;
        case RdmaOp::send:
            job.base.type = DOCA_RDMA_JOB_SEND;
            job.send.src_buff = take_buf(local, source(), what_.size, what_.size);
            break;
        case RdmaOp::fetch_add:
            job.base.type = DOCA_RDMA_JOB_ATOMIC_FETCH_ADD;
            job.atomic.cmp_or_add_dest_buff = take_buf(remote, remote_, 8, 8);
            job.atomic.result_buff = take_buf(local, destination(), 8, 0);
            job.atomic.swap_or_add_data = 1;
            break;
        }
        job.base.ctx = ctx_;
        jobs_.push_back(job);
        filled_.push_back(filled);
    }
    for (std::uint32_t i = 0; i < num_receives(what_); ++i) {
        Job job{};
        job.base.type = DOCA_RDMA_JOB_RECV;
        job.base.ctx = ctx_;
        job.base.user_data.u64 = i + 1;
        job.receive.dst_buff = take_buf(local, destination(), what_.size, 0);
        receives_.push_back(job);
    }
}

void RdmaSession::post_receives()
{
    for (const Job &job : receives_)
        submit(job);
}

} // namespace opendoca::tools
