// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_session.hpp"

#include <cstring>

namespace opendoca::tools {

namespace {

constexpr std::size_t num_bufs = 4096;

bool can_copy(doca_devinfo &info)
{
    return doca_dma_job_get_supported(&info, DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS;
}

/// Inline, as in most programs: a call is a tenth of a job.
inline void retrieve(doca_workq &workq)
{
    doca_event event;
    doca_error_t status = DOCA_ERROR_AGAIN;
    do {
        status = doca_workq_progress_retrieve(&workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
    } while (status == DOCA_ERROR_AGAIN);
    if (status != DOCA_SUCCESS) [[unlikely]]
        throw_error(status == DOCA_ERROR_IO_FAILED ? static_cast<doca_error_t>(event.result.u64) : status,
                    "a job");
}

template <auto get>
bool has(const doca_devinfo &info)
{
    std::uint8_t value = 0;
    return get(&info, &value) == DOCA_SUCCESS && value != 0;
}

doca_devinfo &choose(const DeviceList &devices, const std::string &ibdev)
{
    doca_devinfo *second_best = nullptr;
    std::string known;
    for (doca_devinfo *const info : devices.infos()) {
        if (!can_copy(*info))
            continue;
        known += ' ' + ibdev_of(*info);
        if (!ibdev.empty() ? ibdev_of(*info) == ibdev
                           : has<doca_devinfo_get_is_mmap_from_export_dpu_supported>(*info))
            return *info;
        if (ibdev.empty() && second_best == nullptr)
            second_best = info;
    }
    if (second_best != nullptr)
        return *second_best;
    throw std::runtime_error(known.empty() ? "no device here can do DMA"
                                           : "no device '" + ibdev + "' can do DMA here; these can:" + known);
}

} // namespace

DmaSession::DmaSession(const std::string &ibdev, std::uint32_t depth)
{
    {
        const DeviceList devices;
        doca_devinfo &info = choose(devices, ibdev);
        ibdev_ = ibdev_of(info);
        must(doca_dma_get_max_buf_size(&info, &max_size_), "a device's limits");
        dev_ = open_device(info);
    }
    doca_dma *dma = nullptr;
    must(doca_dma_create(&dma), "creating a DMA object");
    dma_.reset(dma);
    doca_workq *workq = nullptr;
    must(doca_workq_create(depth, &workq), "creating a work queue");
    workq_.reset(workq);
    must(doca_ctx_dev_add(ctx(), dev_.get()), "adding a device");
    must(doca_ctx_start(ctx()), "starting DMA");
    must(doca_ctx_workq_add(ctx(), workq), "adding a work queue");
    doca_buf_inventory *inventory = nullptr;
    must(doca_buf_inventory_create(nullptr, num_bufs, 0, &inventory), "creating an inventory");
    inventory_.reset(inventory);
    must(doca_buf_inventory_start(inventory), "starting an inventory");
}

DmaSession::~DmaSession()
{
    (void)doca_ctx_workq_rm(ctx(), workq_.get());
    (void)doca_ctx_stop(ctx());
}

std::optional<std::string> DmaSession::find_exporter() const
{
    const doca_devinfo &own = *doca_dev_as_devinfo(dev_.get());
    if (!has<doca_devinfo_get_is_mmap_from_export_dpu_supported>(own) ||
        !has<doca_devinfo_rep_get_is_list_net_supported>(own))
        return std::nullopt;
    const DeviceList devices;
    const RepresentorList representors(*dev_, DOCA_DEV_REP_FILTER_NET);
    for (const doca_devinfo_rep *const rep : representors.infos()) {
        char address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = {};
        if (doca_devinfo_rep_get_pci_addr_str(rep, address) != DOCA_SUCCESS)
            continue;
        for (doca_devinfo *const info : devices.infos()) {
            std::uint8_t is_equal = 0;
            if (has<doca_devinfo_get_is_mmap_export_dpu_supported>(*info) &&
                doca_devinfo_get_is_pci_addr_equal(info, address, &is_equal) == DOCA_SUCCESS && is_equal != 0)
                return ibdev_of(*info);
        }
    }
    return std::nullopt;
}

MmapHandle DmaSession::map(std::span<std::byte> memory) const
{
    doca_mmap *map = nullptr;
    must(doca_mmap_create(nullptr, &map), "creating a memory map");
    MmapHandle handle(map);
    must(doca_mmap_set_memrange(map, memory.data(), memory.size()), "setting a memory range");
    must(doca_mmap_set_permissions(map, DOCA_ACCESS_LOCAL_READ_WRITE), "setting permissions");
    must(doca_mmap_dev_add(map, dev_.get()), "adding a device");
    must(doca_mmap_start(map), "starting a memory map");
    return handle;
}

MmapHandle DmaSession::import(std::span<const std::byte> descriptor) const
{
    doca_mmap *map = nullptr;
    must(doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev_.get(), &map),
         "importing memory");
    return MmapHandle(map);
}

doca_buf *DmaSession::take_buf(doca_mmap *map, std::byte *addr, std::size_t size) const
{
    doca_buf *buf = nullptr;
    must(doca_buf_inventory_buf_by_args(inventory_.get(), map, addr, size, addr, 0, &buf), "taking a buffer");
    return buf;
}

JobLoop::JobLoop(const DmaSession &session, JobSide dst, JobSide src, Walk walk, std::uint32_t depth,
                 bool resets)
    : workq_(session.workq()),
      dst_(dst.addr),
      src_(src.addr),
      walk_(walk),
      resets_(resets)
{
    const std::size_t region = walk.size() * walk.slots();
    for (std::uint32_t i = 0; i < depth; ++i) {
        Pair pair{
            session.take_buf(dst.map, dst.addr, region), session.take_buf(src.map, src.addr, region), {}};
        must(doca_buf_set_data(pair.src, src.addr, walk.size()), "setting the source's data");
        pair.job.base.type = DOCA_DMA_JOB_MEMCPY;
        pair.job.base.ctx = session.ctx();
        pair.job.base.user_data.u64 = i;
        pair.job.dst_buff = pair.dst;
        pair.job.src_buff = pair.src;
        pairs_.push_back(pair);
    }
}

JobLoop::~JobLoop()
{
    for (const Pair &pair : pairs_) {
        (void)doca_buf_refcount_rm(pair.dst, nullptr);
        (void)doca_buf_refcount_rm(pair.src, nullptr);
    }
}

void JobLoop::run(std::size_t count)
{
    if (walk_.slots() != 1)
        run_walking(count);
    else if (resets_)
        run_in_place<true>(count);
    else
        run_in_place<false>(count);
}

/// What a program does that copies the same buffers again and again.
template <bool resets>
void JobLoop::run_in_place(std::size_t count)
{
    for (std::size_t done = 0; done != count; done += pairs_.size()) {
        for (const Pair &pair : pairs_) {
            if constexpr (resets)
                must(doca_buf_reset_data_len(pair.dst), "resetting the destination");
            must(doca_workq_submit(workq_, &pair.job.base), "submitting a job");
        }
        for (std::size_t left = pairs_.size(); left != 0; --left)
            retrieve(*workq_);
    }
}

void JobLoop::run_walking(std::size_t count)
{
    for (std::size_t done = 0; done != count; done += pairs_.size()) {
        for (const Pair &pair : pairs_) {
            const std::size_t offset = walk_.next();
            must(doca_buf_set_data(pair.src, src_ + offset, walk_.size()), "setting the source's data");
            must(doca_buf_set_data(pair.dst, dst_ + offset, 0), "setting the destination's data");
            must(doca_workq_submit(workq_, &pair.job.base), "submitting a job");
        }
        for (std::size_t left = pairs_.size(); left != 0; --left)
            retrieve(*workq_);
    }
}

} // namespace opendoca::tools
