// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Devices, memory maps, buffers, inventories and pools, where DOCA 3.0 has other rules than 2.2.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_buf_array.h>
#include <doca_buf_pool.h>
#include <doca_mmap_advise.h>
#include <doca_rdma_bridge.h>
#include <doca_uar.h>
#include <doca_umem.h>
#include <doca_version.h>

#include "../support/environment.hpp"
#include "../support/log_capture.hpp"
#include "dma_tasks.hpp"

using namespace doca_test;

namespace {

class MemoryV3 : public DmaTaskTest {
protected:
    [[nodiscard]] static std::uint32_t references(const doca_buf *buf)
    {
        std::uint16_t count = 0;
        EXPECT_EQ(doca_buf_get_refcount(buf, &count), DOCA_SUCCESS);
        return count;
    }
    [[nodiscard]] std::uint32_t num_free() const
    {
        std::uint32_t count = 0;
        EXPECT_EQ(doca_buf_inventory_get_num_free_elements(inventory, &count), DOCA_SUCCESS);
        return count;
    }
};

TEST_P(MemoryV3, ADeviceCountsHowOftenItIsOpen)
{
    const DevHandle again = open_device(GetParam());
    EXPECT_EQ(static_cast<doca_dev *>(again), static_cast<doca_dev *>(dev));
    // Its own description outlives every list.
    EXPECT_EQ(doca_dma_cap_task_memcpy_is_supported(doca_dev_as_devinfo(dev)), DOCA_SUCCESS);
}

TEST_P(MemoryV3, AMapAnswersWithTheCodesOf3)
{
    MmapHandle mmap;
    ASSERT_EQ(doca_mmap_create(mmap.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_rm_dev(mmap, dev), DOCA_ERROR_NOT_FOUND);
    EXPECT_EQ(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_add_dev(mmap, dev), DOCA_ERROR_ALREADY_EXIST);
    void *addr = nullptr;
    std::size_t len = 0;
    EXPECT_EQ(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_memrange(mmap, src_memory.data(), 64), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_set_user_data(mmap, {.u64 = 17}), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_permissions(mmap, 128), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(
        doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING),
        DOCA_SUCCESS);
    std::uint32_t mkey = 0;
    EXPECT_EQ(doca_mmap_get_mkey(mmap, dev, &mkey), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_set_user_data(mmap, {.u64 = 18}), DOCA_ERROR_BAD_STATE);
    doca_data data{};
    EXPECT_EQ(doca_mmap_get_user_data(mmap, &data), DOCA_SUCCESS);
    EXPECT_EQ(data.u64, 17u);
    EXPECT_EQ(doca_mmap_get_mkey(mmap, dev, &mkey), is_soft(GetParam()) ? DOCA_ERROR_NOT_SUPPORTED : DOCA_SUCCESS);
    const void *blob = nullptr;
    std::uint8_t can_export = 7;
    ASSERT_EQ(doca_mmap_cap_is_export_pci_supported(doca_dev_as_devinfo(dev), &can_export), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_export_pci(mmap, dev, &blob, &len),
              can_export != 0 ? DOCA_ERROR_NOT_PERMITTED : DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_mmap_enable_thread_safety(mmap), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_dev_get_dpa_handle(mmap, dev, &mkey), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_P(MemoryV3, AMapForThreadsDoesNotCount)
{
    MmapHandle mmap;
    ASSERT_EQ(doca_mmap_create(mmap.out()), DOCA_SUCCESS);
    ASSERT_EQ(doca_mmap_enable_thread_safety(mmap), DOCA_SUCCESS);
    ASSERT_EQ(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
    ASSERT_EQ(doca_mmap_set_memrange(mmap, src_memory.data(), 64), DOCA_SUCCESS);
    ASSERT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS);
    std::uint32_t count = 0;
    EXPECT_EQ(doca_mmap_get_num_bufs(mmap, &count), DOCA_ERROR_NOT_PERMITTED);
    BufHandle buf;
    ASSERT_EQ(doca_buf_inventory_buf_get_by_data(inventory, mmap, src_memory.data(), 64, buf.out()), DOCA_SUCCESS);
    mmap.reset(); // with a buffer out, which is given back later
    buf.reset();
    EXPECT_EQ(num_free(), 4096u);
}

TEST_P(MemoryV3, APciFlagLetsTheOwnDeviceWrite)
{
    const MmapHandle map = map_of(dev, dst_memory, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    DmaContext dma{dev, pe, 1};
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    const BufHandle src = source(0, 16);
    BufHandle dst;
    ASSERT_EQ(doca_buf_inventory_buf_get_by_addr(inventory, map, dst_memory.data(), 16, dst.out()), DOCA_SUCCESS);
    Copy copy;
    ASSERT_EQ(dma.alloc(copy, src, dst), DOCA_SUCCESS);
    ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    run_until([&] { return copy.has_ended(); });
    EXPECT_EQ(copy.num_succeeded, 1);
    doca_task_free(copy.as_task());
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_SUCCESS);
}

TEST_P(MemoryV3, ABufferCountsItsReferences)
{
    doca_buf *buf = nullptr;
    ASSERT_EQ(doca_buf_inventory_buf_get_by_data(inventory, src_map, src_memory.data(), 8, &buf), DOCA_SUCCESS);
    std::uint16_t before = 0;
    EXPECT_EQ(references(buf), 1u);
    EXPECT_EQ(doca_buf_inc_refcount(buf, &before), DOCA_SUCCESS);
    EXPECT_EQ(before, 1);
    EXPECT_EQ(doca_buf_inc_refcount(buf, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(references(buf), 3u);
    while (references(buf) != UINT16_MAX)
        ASSERT_EQ(doca_buf_inc_refcount(buf, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inc_refcount(buf, &before), DOCA_ERROR_TOO_BIG);
    EXPECT_EQ(num_free(), 4095u);
    while (references(buf) > 1)
        ASSERT_EQ(doca_buf_dec_refcount(buf, &before), DOCA_SUCCESS);
    EXPECT_EQ(before, 2);
    EXPECT_EQ(doca_buf_dec_refcount(buf, &before), DOCA_SUCCESS);
    EXPECT_EQ(before, 1);
    EXPECT_EQ(num_free(), 4096u);
    EXPECT_EQ(doca_buf_dec_refcount(buf, &before), DOCA_ERROR_BAD_STATE);
}

TEST_P(MemoryV3, OnlyOneReferenceBecomesALaterMember)
{
    doca_buf *const first = source(0, 8).release();
    doca_buf *const second = source(8, 8).release();
    ASSERT_EQ(doca_buf_inc_refcount(second, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_chain_list(first, second), DOCA_ERROR_NOT_PERMITTED);
    ASSERT_EQ(doca_buf_dec_refcount(second, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_chain_list_tail(first, second, second), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_chain_list_tail(first, first, second), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inc_refcount(second, nullptr), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_buf_dec_refcount(second, nullptr), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(references(second), 1u);
    std::uint32_t count = 0;
    EXPECT_EQ(doca_buf_get_list_len(second, &count), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_buf_get_list_len(first, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 2u);
    std::uint8_t is_last = 7;
    EXPECT_EQ(doca_buf_is_last_in_list(second, &is_last), DOCA_SUCCESS);
    EXPECT_EQ(is_last, 1);
    EXPECT_EQ(doca_buf_inc_refcount(first, nullptr), DOCA_SUCCESS); // that of the list
    EXPECT_EQ(doca_buf_dec_refcount(first, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(num_free(), 4094u);
    EXPECT_EQ(doca_buf_dec_refcount(first, nullptr), DOCA_SUCCESS); // gives the whole list back
    EXPECT_EQ(num_free(), 4096u);
}

TEST_P(MemoryV3, ABufferIsUsedAgainForAnotherRangeOfItsMap)
{
    const BufHandle buf = source(0, 8);
    ASSERT_EQ(doca_buf_inc_refcount(buf, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_buf_reuse_by_data(buf, &src_memory[100], 50), DOCA_SUCCESS);
    void *head = nullptr;
    EXPECT_EQ(doca_buf_get_head(buf, &head), DOCA_SUCCESS);
    EXPECT_EQ(head, &src_memory[100]);
    EXPECT_EQ(data_len_of(buf), 50u);
    EXPECT_EQ(references(buf), 2u);
    EXPECT_EQ(doca_buf_inventory_buf_reuse_by_addr(buf, &src_memory[size - 8], 9), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_get_head(buf, &head), DOCA_SUCCESS);
    EXPECT_EQ(head, &src_memory[100]);
    EXPECT_EQ(doca_buf_set_data_len(buf, 7), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(buf), 7u);
    ASSERT_EQ(doca_buf_dec_refcount(buf, nullptr), DOCA_SUCCESS);
}

TEST_P(MemoryV3, AnInventoryGrowsAndGoesOnlyWhenAllAreHome)
{
    doca_buf_inventory *small = nullptr;
    ASSERT_EQ(doca_buf_inventory_create(2, &small), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_expand(small, 3), DOCA_ERROR_BAD_STATE);
    BufHandle bufs[5];
    EXPECT_EQ(doca_buf_inventory_buf_dup(small, source(0, 8), bufs[0].out()), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_buf_inventory_set_user_data(small, {.u64 = 3}), DOCA_SUCCESS);
    ASSERT_EQ(doca_buf_inventory_start(small), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_set_user_data(small, {.u64 = 4}), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_buf_inventory_expand(small, 0), DOCA_ERROR_INVALID_VALUE);
    const auto take = [&](BufHandle &buf) {
        return doca_buf_inventory_buf_get_by_data(small, src_map, src_memory.data(), 8, buf.out());
    };
    ASSERT_EQ(take(bufs[0]), DOCA_SUCCESS);
    ASSERT_EQ(take(bufs[1]), DOCA_SUCCESS);
    EXPECT_EQ(take(bufs[2]), DOCA_ERROR_NO_MEMORY);
    ASSERT_EQ(doca_buf_inventory_expand(small, 3), DOCA_SUCCESS);
    for (int i = 2; i != 5; ++i)
        ASSERT_EQ(take(bufs[i]), DOCA_SUCCESS) << i;
    BufHandle none;
    EXPECT_EQ(take(none), DOCA_ERROR_NO_MEMORY);
    bufs[0].reset(); // an element of before the expansion
    ASSERT_EQ(take(bufs[0]), DOCA_SUCCESS);
    std::uint32_t count = 0;
    EXPECT_EQ(doca_buf_inventory_get_num_elements(small, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 5u);
    EXPECT_EQ(doca_buf_inventory_destroy(small), DOCA_ERROR_IN_USE);
    for (BufHandle &buf : bufs)
        buf.reset();
    EXPECT_EQ(doca_buf_inventory_destroy(small), DOCA_SUCCESS); // implies a stop
}

TEST_P(MemoryV3, APoolIsLaidOutAtItsStart)
{
    Handle<doca_buf_pool, doca_buf_pool_destroy> pool;
    ASSERT_EQ(doca_buf_pool_create(4, 100, src_map, pool.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_pool_set_element_alignment(pool, 3), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_pool_set_element_alignment(pool, size), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_pool_start(pool), DOCA_ERROR_INITIALIZATION); // does not fit
    EXPECT_EQ(doca_buf_pool_set_element_alignment(pool, 64), DOCA_SUCCESS);
    BufHandle bufs[4];
    BufHandle none;
    EXPECT_EQ(doca_buf_pool_buf_alloc(pool, none.out()), DOCA_ERROR_BAD_STATE);
    ASSERT_EQ(doca_buf_pool_start(pool), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_pool_set_element_alignment(pool, 1), DOCA_ERROR_BAD_STATE);
    for (BufHandle &buf : bufs) {
        ASSERT_EQ(doca_buf_pool_buf_alloc(pool, buf.out()), DOCA_SUCCESS);
        void *head = nullptr;
        EXPECT_EQ(doca_buf_get_head(buf, &head), DOCA_SUCCESS);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(head) % 64, 0u);
    }
    // A remark, once: the program may ask until one comes back.
    const std::uint32_t level = doca_log_level_get_global_sdk_limit();
    must(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DEBUG));
    const LogCapture log;
    EXPECT_EQ(doca_buf_pool_buf_alloc(pool, none.out()), DOCA_ERROR_EMPTY);
    EXPECT_LOGGED(log, "all 4 buffers of the pool are in use");
    const LogCapture later;
    EXPECT_EQ(doca_buf_pool_buf_alloc(pool, none.out()), DOCA_ERROR_EMPTY);
    EXPECT_EQ(later.text(), "");
    must(doca_log_level_set_global_sdk_limit(level));
    EXPECT_EQ(doca_buf_pool_stop(pool), DOCA_ERROR_IN_USE);
    for (BufHandle &buf : bufs)
        buf.reset();
    EXPECT_EQ(doca_buf_pool_stop(pool), DOCA_SUCCESS);
}

TEST_P(MemoryV3, CachesAreInvalidatedByATask)
{
    Handle<doca_mmap_advise, doca_mmap_advise_destroy> advise;
    ASSERT_EQ(doca_mmap_advise_cap_task_cache_invalidate_is_supported(doca_dev_as_devinfo(dev)), DOCA_SUCCESS);
    ASSERT_EQ(doca_mmap_advise_create(dev, advise.out()), DOCA_SUCCESS);
    using Task = doca_mmap_advise_task_invalidate_cache;
    const auto ended = [](Task *, doca_data task_data, doca_data) { ++*static_cast<int *>(task_data.ptr); };
    ASSERT_EQ(doca_mmap_advise_task_invalidate_cache_set_conf(advise, ended, ended, 2), DOCA_SUCCESS);
    doca_ctx *const ctx = doca_mmap_advise_as_ctx(advise);
    ASSERT_EQ(doca_pe_connect_ctx(pe, ctx), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_start(ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_advise_task_invalidate_cache_set_conf(advise, ended, ended, 3), DOCA_ERROR_NOT_PERMITTED);
    const BufHandle buf = source(0, 100);
    int num_ended = 0;
    Task *task = nullptr;
    ASSERT_EQ(doca_mmap_advise_task_invalidate_cache_alloc_init(advise, buf, {.ptr = &num_ended}, &task), DOCA_SUCCESS);
    doca_task *const base = doca_mmap_advise_task_invalidate_cache_as_doca_task(task);
    ASSERT_EQ(doca_task_submit(base), DOCA_SUCCESS);
    run_until([&] { return num_ended == 1; });
    EXPECT_EQ(doca_task_get_status(base), DOCA_SUCCESS);
    doca_mmap_advise_task_invalidate_cache_set_buf(task, nullptr);
    ASSERT_EQ(doca_task_submit(base), DOCA_SUCCESS);
    run_until([&] { return num_ended == 2; });
    EXPECT_EQ(doca_task_get_status(base), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(state_of(ctx), DOCA_CTX_STATE_RUNNING); // nothing that would end it
    doca_task_free(base);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(MemoryV3, TheBridgeGivesWhatLibibverbsHas)
{
    ibv_pd *pd = nullptr;
    std::uint32_t mkey = 0;
    const BufHandle buf = source(0, 8);
    if (is_soft(GetParam())) {
        EXPECT_EQ(doca_rdma_bridge_get_dev_pd(dev, &pd), DOCA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(doca_rdma_bridge_get_buf_mkey(buf, dev, &mkey), DOCA_ERROR_NOT_SUPPORTED);
        return;
    }
    ASSERT_EQ(doca_rdma_bridge_get_dev_pd(dev, &pd), DOCA_SUCCESS);
    ASSERT_EQ(doca_rdma_bridge_get_buf_mkey(buf, dev, &mkey), DOCA_SUCCESS);
    std::uint32_t of_map = 0;
    EXPECT_EQ(doca_mmap_get_mkey(src_map, dev, &of_map), DOCA_SUCCESS);
    EXPECT_EQ(of_map, mkey);
    EXPECT_EQ(doca_rdma_bridge_get_mmap_mkey_from_pd(src_map, pd, &of_map), DOCA_SUCCESS);
    EXPECT_EQ(of_map, mkey);
}

TEST_P(MemoryV3, ADeviceIsMadeOfAProtectionDomain)
{
    doca_dev *none = nullptr;
    EXPECT_EQ(doca_rdma_bridge_open_dev_from_pd(nullptr, &none), DOCA_ERROR_INVALID_VALUE);
    if (is_soft(GetParam()))
        return;
    ibv_pd *of_doca = nullptr, *pd = nullptr;
    must(doca_rdma_bridge_get_dev_pd(dev, &of_doca));
    EXPECT_EQ(doca_rdma_bridge_open_dev_from_pd(of_doca, &none), DOCA_ERROR_INVALID_VALUE);
    const std::unique_ptr<ibv_pd, int (*)(ibv_pd *)> own(ibv_alloc_pd(of_doca->context), ibv_dealloc_pd);
    ASSERT_NE(own, nullptr);
    DevHandle made;
    ASSERT_EQ(doca_rdma_bridge_open_dev_from_pd(own.get(), made.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_rdma_bridge_get_dev_pd(made, &pd), DOCA_SUCCESS);
    EXPECT_EQ(pd, own.get());
    // Its devinfo describes the function, and cannot be opened again. Soft-RoCE has no PCI address in either.
    doca_devinfo *const info = doca_dev_as_devinfo(made);
    char address[DOCA_DEVINFO_PCI_ADDR_SIZE] = {}, of_function[DOCA_DEVINFO_PCI_ADDR_SIZE] = {};
    const doca_error_t status = doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(dev), of_function);
    EXPECT_EQ(doca_devinfo_get_pci_addr_str(info, address), status);
    EXPECT_STREQ(address, of_function);
    EXPECT_EQ(doca_dev_open(info, &none), DOCA_ERROR_NOT_SUPPORTED);
    std::vector<std::byte> memory(4096);
    const MmapHandle map = map_of(made, memory);
    std::uint32_t mkey = 0, of_map = 0;
    EXPECT_EQ(doca_mmap_get_mkey(map, made, &mkey), DOCA_SUCCESS);
    EXPECT_EQ(doca_rdma_bridge_get_mmap_mkey_from_pd(map, own.get(), &of_map), DOCA_SUCCESS);
    EXPECT_EQ(of_map, mkey);
    doca_dma *dma = nullptr;
    EXPECT_EQ(doca_dma_create(made, &dma), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_P(MemoryV3, AMapOfADmabufHasItsBytes)
{
    // A memfd, which is no dmabuf but is mapped in the same way. No device has a say.
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const int fd = memfd_create("test", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(fd, static_cast<off_t>(2 * page)), 0);
    ASSERT_EQ(pwrite(fd, "here", 4, static_cast<off_t>(page)), 4);
    MmapHandle map;
    must(doca_mmap_create(map.out()));
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(map, fd, nullptr, page, page + 1), DOCA_ERROR_INVALID_VALUE);
    std::vector<std::byte> there(page);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(map, fd, there.data(), 2 * page, page), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(map, fd, nullptr, page, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(map, -1, nullptr, 0, page), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(doca_mmap_set_dmabuf_memrange(map, fd, nullptr, page, page), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(map, fd, nullptr, page, page), DOCA_ERROR_NOT_PERMITTED);
    close(fd);
    ASSERT_EQ(doca_mmap_start(map), DOCA_SUCCESS);
    void *start = nullptr;
    std::size_t length = 0;
    ASSERT_EQ(doca_mmap_get_memrange(map, &start, &length), DOCA_SUCCESS);
    EXPECT_EQ(length, page);
    EXPECT_EQ(std::memcmp(start, "here", 4), 0);

    must(doca_mmap_stop(map));
    must(doca_mmap_add_dev(map, dev));
    EXPECT_NE(doca_mmap_start(map), DOCA_SUCCESS) << "no device takes what is no dmabuf";
}

TEST_P(MemoryV3, AContextChoosesACompletionVectorThatThereIs)
{
    const PeHandle engine = [] {
        PeHandle made;
        must(doca_pe_create(made.out()));
        return made;
    }();
    const DmaContext dma(dev, engine, 16);
    std::uint32_t count = 0;
    must(doca_ctx_cap_get_num_completion_vectors(doca_dev_as_devinfo(dev), &count));
    EXPECT_EQ(doca_ctx_set_completion_vector(dma.ctx(), count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_ctx_set_completion_vector(dma.ctx(), count - 1), DOCA_SUCCESS);
    EXPECT_EQ(doca_dma_set_ordered_completions(dma.dma(), 1), DOCA_SUCCESS);
    EXPECT_EQ(doca_dma_set_ordered_completions(nullptr, 1), DOCA_ERROR_INVALID_VALUE);
    must(doca_ctx_start(dma.ctx()));
    EXPECT_EQ(doca_ctx_set_completion_vector(dma.ctx(), 0), DOCA_ERROR_BAD_STATE);

    // In order, as was asked for, though the first is the longest.
    std::array<Copy, 16> copies;
    std::vector<const Copy *> ends;
    const BufHandle whole = source(0, size), piece = source(0, 64), first = destination(0, size);
    std::vector<BufHandle> others;
    for (Copy &copy : copies) {
        copy.then = [&](Copy &ended) { ends.push_back(&ended); };
        if (&copy == &copies.front()) {
            must(dma.alloc(copy, whole, first));
            continue;
        }
        others.push_back(destination(0, 64));
        must(dma.alloc(copy, piece, others.back()));
    }
    for (const Copy &copy : copies)
        must(doca_task_submit(copy.as_task()));
    while (ends.size() != copies.size())
        (void)doca_pe_progress(engine);
    for (std::size_t i = 0; i != copies.size(); ++i) {
        EXPECT_EQ(ends[i], &copies[i]);
        doca_task_free(copies[i].as_task());
    }
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_SUCCESS);
}

/// tests/mlx5/test_v3_user_access.cpp has those that do give it.
TEST_P(MemoryV3, ASoftwareDeviceGivesNothingForQueuesOfTheProgramsOwn)
{
    doca_umem *umem = nullptr;
    doca_uar *uar = nullptr;
    EXPECT_EQ(doca_umem_create(dev, src_memory.data(), 0, 0, &umem), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_umem_create(dev, src_memory.data(), 64, 256, &umem), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_umem_create(dev, nullptr, 64, 0, &umem), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_umem_create(nullptr, src_memory.data(), 64, 0, &umem), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_umem_create(dev, src_memory.data(), 64, 0, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_uar_create(dev, no_value<doca_uar_allocation_type>(3), &uar), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_uar_create(nullptr, DOCA_UAR_ALLOCATION_TYPE_NONCACHE, &uar), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_uar_create(dev, DOCA_UAR_ALLOCATION_TYPE_NONCACHE, nullptr), DOCA_ERROR_INVALID_VALUE);
    if (is_soft(GetParam())) {
        LogCapture log;
        EXPECT_EQ(doca_umem_create(dev, src_memory.data(), 64, 0, &umem), DOCA_ERROR_NOT_SUPPORTED);
        EXPECT_LOGGED(log, "only mlx5 devices can");
        for (const auto type : {DOCA_UAR_ALLOCATION_TYPE_BLUEFLAME, DOCA_UAR_ALLOCATION_TYPE_NONCACHE,
                                DOCA_UAR_ALLOCATION_TYPE_NONCACHE_DEDICATED})
            EXPECT_EQ(doca_uar_create(dev, type, &uar), DOCA_ERROR_NOT_SUPPORTED);
    }
    EXPECT_EQ(umem, nullptr);
    EXPECT_EQ(uar, nullptr);
    std::uint32_t number = 0;
    void *address = nullptr;
    EXPECT_EQ(doca_umem_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_umem_get_id(nullptr, &number), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_umem_get_size(nullptr, &number), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_umem_get_address(nullptr, &address), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_uar_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_uar_id_get(nullptr, &number), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_uar_page_get(nullptr, &address), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_uar_reg_addr_get(nullptr, &address), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(MemoryV3, arrays_of_buffers_never_start)
{
    Handle<doca_buf_arr, doca_buf_arr_destroy> array;
    ASSERT_EQ(doca_buf_arr_create(8, array.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_arr_set_params(array, src_map, 64, 0), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_arr_start(array), DOCA_ERROR_BAD_STATE);
    std::uint32_t num_vectors = 0;
    EXPECT_EQ(doca_ctx_cap_get_num_completion_vectors(doca_dev_as_devinfo(dev), &num_vectors), DOCA_SUCCESS);
    EXPECT_EQ(num_vectors, 1u);
}

/// A process on the host: copies the text of the memory that the DPU has exported here, and one of its own there.
/// Returns the status of the second copy.
doca_error_t copy_from_and_to_the_dpu(std::span<const std::byte> blob, const char *device)
{
    std::vector<std::byte> memory(64);
    const DevHandle dev = open_device(device);
    MmapHandle remote;
    if (const doca_error_t status = doca_mmap_create_from_export(nullptr, blob.data(), blob.size(), dev, remote.out());
        status != DOCA_SUCCESS)
        return status;
    void *there = nullptr;
    std::size_t len = 0;
    must(doca_mmap_get_memrange(remote, &there, &len));
    const MmapHandle local = map_of(dev, memory);
    const InventoryHandle inventory = inventory_of(2);
    PeHandle pe;
    must(doca_pe_create(pe.out()));
    DmaContext context(dev, pe, 1);
    must(doca_ctx_start(context.ctx()));
    const auto copy = [&](const doca_buf *src, doca_buf *dst) {
        Copy one;
        must(context.alloc(one, src, dst));
        must(doca_task_submit(doca_dma_task_memcpy_as_task(one.task)));
        while (one.num_succeeded + one.num_failed == 0)
            (void)doca_pe_progress(pe);
        doca_task_free(doca_dma_task_memcpy_as_task(one.task));
        return one.status;
    };
    BufHandle theirs, own;
    must(doca_buf_inventory_buf_get_by_data(inventory, remote, there, 64, theirs.out()));
    must(doca_buf_inventory_buf_get_by_addr(inventory, local, memory.data(), 64, own.out()));
    must(copy(theirs, own));
    if (memory[0] != std::byte{3})
        return DOCA_ERROR_UNEXPECTED;
    memory[0] = std::byte{4};
    must(doca_buf_reset_data_len(theirs));
    const doca_error_t status = copy(own, theirs);
    if (doca_ctx_stop(context.ctx()) == DOCA_ERROR_IN_PROGRESS)
        (void)doca_pe_progress(pe);
    return status;
}

struct AcrossThePcie {
    const char *importer;
    std::uint32_t right;
    doca_error_t status;
    int value; ///< of the DPU's memory afterwards
};

class AcrossThePcieV3 : public testing::TestWithParam<AcrossThePcie> {};

TEST_P(AcrossThePcieV3, HostUsesMemoryThatTheDpuExports)
{
    if (!has_device("soft_pf0") || !has_device("soft_p0"))
        GTEST_SKIP() << "takes the software device's two sides";
    int to_child[2];
    ASSERT_EQ(pipe(to_child), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        close(to_child[1]); // so that the parent's end ends the read
        setenv("DOCA_SOFT_ROLE", "host", 1);
        std::byte blob[512];
        const ssize_t size = read(to_child[0], blob, sizeof(blob));
        int status = 255;
        try {
            status = copy_from_and_to_the_dpu({blob, static_cast<std::size_t>(std::max<ssize_t>(size, 0))},
                                              GetParam().importer);
        } catch (const std::exception &error) {
            (void)std::fprintf(stderr, "the child: %s\n", error.what());
        }
        _exit(status);
    }
    close(to_child[0]);
    std::vector<std::byte> memory(64, std::byte{3});
    {
        const Environment role("DOCA_SOFT_ROLE", "dpu");
        const DevHandle dpu = open_device("soft_p0");
        std::uint8_t can = 0;
        EXPECT_EQ(doca_mmap_cap_is_export_pci_supported(doca_dev_as_devinfo(dpu), &can), DOCA_SUCCESS);
        EXPECT_EQ(can, 1);
        const MmapHandle map = map_of(dpu, memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | GetParam().right);
        const void *blob = nullptr;
        std::size_t size = 0;
        EXPECT_EQ(doca_mmap_export_pci(map, dpu, &blob, &size), DOCA_SUCCESS);
        EXPECT_EQ(write(to_child[1], blob, size), static_cast<ssize_t>(size));
        close(to_child[1]);
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), GetParam().status);
    }
    EXPECT_EQ(memory[0], static_cast<std::byte>(GetParam().value));
}

INSTANTIATE_TEST_SUITE_P(
    rights, AcrossThePcieV3,
    testing::Values(AcrossThePcie{"soft_pf0", DOCA_ACCESS_FLAG_PCI_READ_WRITE, DOCA_SUCCESS, 4},
                    AcrossThePcie{"soft_pf0vf1", DOCA_ACCESS_FLAG_PCI_READ_ONLY, DOCA_ERROR_NOT_PERMITTED, 3},
                    AcrossThePcie{"soft_pf1", DOCA_ACCESS_FLAG_PCI_READ_WRITE, DOCA_ERROR_NOT_PERMITTED, 3}),
    [](const auto &test) { return std::string(test.param.importer); });

INSTANTIATE_FOR_COPYING_DEVICES(MemoryV3);

TEST(BasicsV3, ErrorsAndVersion)
{
    EXPECT_STREQ(doca_error_get_name(DOCA_ERROR_TOO_BIG), "DOCA_ERROR_TOO_BIG");
    EXPECT_STREQ(doca_error_get_name(DOCA_ERROR_DEVICE_FATAL_ERROR), "DOCA_ERROR_DEVICE_FATAL_ERROR");
    EXPECT_STREQ(doca_error_get_descr(no_value<doca_error_t>(32)), "unrecognized error code");
    EXPECT_STREQ(doca_version_runtime(), "3.0.0058");
    EXPECT_STREQ(doca_version(), doca_version_runtime());
    EXPECT_TRUE(DOCA_VERSION_LTE_CURRENT(2, 9, 0));
}

} // namespace
