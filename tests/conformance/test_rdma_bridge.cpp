// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Our objects and plain libibverbs on one protection domain.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>

#include <doca_rdma.h>
#include <doca_rdma_bridge.h>
#include <doca_sync_event.h>

#include "support/dma_fixture.hpp"
#include "support/log_capture.hpp"
#include "support/plain_verbs.hpp"

using namespace doca_test;

namespace {

constexpr std::size_t half = 3000;
const int local_write = IBV_ACCESS_LOCAL_WRITE; // ibv_reg_mr() is a macro that mixes enumerations

bool has_none(doca_devinfo *info)
{
    return !has_protection_domain(info);
}

std::uint32_t mkey_of(const doca_buf *buf, doca_dev *dev)
{
    std::uint32_t key = 0;
    must(doca_buf_get_mkey(buf, dev, &key));
    return key;
}

/// Plain verbs copy the first half of a memory map to its second half, and fetch it into a third place.
void expect_that_plain_verbs_use(ibv_pd *pd, doca_dev *dev, const LocalMap &map, std::span<std::byte> memory)
{
    const Inventory inventory(2);
    const BufHandle first = inventory.full(map, memory.data(), half);
    const BufHandle second = inventory.empty(map, memory.data() + half, half);
    fill(memory.first(half), 1);
    fill(memory.subspan(half), 2);
    PlainQueuePair pair(pd);
    EXPECT_EQ(pair.run(IBV_WR_RDMA_WRITE, {memory.data(), mkey_of(first, dev)},
                       {memory.data() + half, mkey_of(second, dev)}, half),
              IBV_WC_SUCCESS);
    EXPECT_TRUE(is_filled(memory.subspan(half), 1));

    std::vector<std::byte> place(half);
    const VerbsHandle<ibv_mr> region(ibv_reg_mr(pd, place.data(), half, local_write));
    must_hold(region != nullptr, "ibv_reg_mr");
    EXPECT_EQ(
        pair.run(IBV_WR_RDMA_READ, {place.data(), region->lkey}, {memory.data() + half, mkey_of(second, dev)}, half),
        IBV_WC_SUCCESS);
    EXPECT_TRUE(is_filled(place, 1));
}

constexpr std::uint32_t all_rdma =
    DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;

} // namespace

/// A device of libibverbs, and a protection domain of the program's own beside it.
class RdmaBridgeTest : public DeviceTest {
protected:
    void SetUp() override
    {
        must(doca_dev_get_pd(dev, &pd));
        must_hold(own_pd != nullptr, "ibv_alloc_pd");
    }

    ibv_pd *pd = nullptr;
    std::vector<std::byte> memory = std::vector<std::byte>(2 * half);
    VerbsHandle<ibv_context> context = open_context(GetParam().ibdev);
    VerbsHandle<ibv_pd> own_pd{ibv_alloc_pd(context.get())};
};
INSTANTIATE_FOR_DEVICES(RdmaBridgeTest, has_protection_domain);

TEST_P(RdmaBridgeTest, plain_verbs_use_memory_maps_on_the_pd_of_a_device)
{
    const LocalMap map(dev, memory, all_rdma);
    expect_that_plain_verbs_use(pd, dev, map, memory);
    ibv_pd *again = nullptr;
    EXPECT_EQ(doca_dev_get_pd(dev, &again), DOCA_SUCCESS);
    EXPECT_EQ(again, pd);
}

TEST_P(RdmaBridgeTest, plain_verbs_use_memory_maps_on_their_own_pd)
{
    DevHandle bridge;
    must(doca_dev_open_from_pd(own_pd.get(), bridge.out()));
    ibv_pd *found = nullptr;
    EXPECT_EQ(doca_dev_get_pd(bridge, &found), DOCA_SUCCESS);
    EXPECT_EQ(found, own_pd.get());
    {
        const LocalMap map(bridge, memory, all_rdma);
        expect_that_plain_verbs_use(own_pd.get(), bridge, map, memory);
    }
    // One map on both: each protection domain has a key of its own, which the other does not take.
    const LocalMap map({dev, bridge}, memory, all_rdma);
    expect_that_plain_verbs_use(own_pd.get(), bridge, map, memory);
    expect_that_plain_verbs_use(pd, dev, map, memory);
    const Inventory inventory(1);
    const BufHandle buf = inventory.full(map, memory.data(), memory.size());
    EXPECT_NE(mkey_of(buf, dev), mkey_of(buf, bridge));
    EXPECT_EQ(PlainQueuePair(pd).run(IBV_WR_RDMA_WRITE, {memory.data(), mkey_of(buf, dev)},
                                     {memory.data() + half, mkey_of(buf, bridge)}, half),
              IBV_WC_REM_ACCESS_ERR);
}

TEST_P(RdmaBridgeTest, keys_allow_what_the_permissions_of_the_map_allow)
{
    const VerbsHandle<ibv_mr> region(ibv_reg_mr(pd, memory.data(), half, local_write));
    must_hold(region != nullptr, "ibv_reg_mr");
    const bool has_atomics = doca_rdma_job_get_supported(info, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD) == DOCA_SUCCESS;
    const Inventory inventory(1);
    for (const std::uint32_t access :
         {std::uint32_t{DOCA_ACCESS_LOCAL_READ_ONLY}, std::uint32_t{DOCA_ACCESS_LOCAL_READ_WRITE},
          std::uint32_t{DOCA_ACCESS_RDMA_READ}, std::uint32_t{DOCA_ACCESS_RDMA_WRITE},
          std::uint32_t{DOCA_ACCESS_RDMA_ATOMIC}, all_rdma}) {
        SCOPED_TRACE("access " + std::to_string(access));
        const std::span target = std::span(memory).subspan((half + 7) / 8 * 8, half / 8 * 8);
        const LocalMap map(dev, target, access);
        const BufHandle buf = inventory.full(map, target.data(), target.size());
        const PlainSide ours = {target.data(), mkey_of(buf, dev)};
        const PlainSide theirs = {memory.data(), region->lkey};
        const auto remote = [&](std::uint32_t right) {
            return (access & right) != 0 ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR;
        };
        EXPECT_EQ(PlainQueuePair(pd).run(IBV_WR_RDMA_READ, theirs, ours, 8), remote(DOCA_ACCESS_RDMA_READ));
        EXPECT_EQ(PlainQueuePair(pd).run(IBV_WR_RDMA_WRITE, theirs, ours, 8), remote(DOCA_ACCESS_RDMA_WRITE));
        if (has_atomics) {
            EXPECT_EQ(PlainQueuePair(pd).run(IBV_WR_ATOMIC_FETCH_AND_ADD, theirs, ours, 8),
                      remote(DOCA_ACCESS_RDMA_ATOMIC));
        }
        // As the local side: a source always, and a destination where the CPU may write.
        const LocalMap peer(dev, std::span(memory).first(half), all_rdma);
        const Inventory inventory_of_peer(1);
        const BufHandle at_peer = inventory_of_peer.full(peer, memory.data(), half);
        const PlainSide far = {memory.data(), mkey_of(at_peer, dev)};
        EXPECT_EQ(PlainQueuePair(pd).run(IBV_WR_RDMA_WRITE, ours, far, 8), IBV_WC_SUCCESS);
        if (access == DOCA_ACCESS_LOCAL_READ_ONLY || access == DOCA_ACCESS_RDMA_READ) {
            EXPECT_EQ(PlainQueuePair(pd).run(IBV_WR_RDMA_READ, ours, far, 8), IBV_WC_LOC_PROT_ERR);
        } else {
            EXPECT_EQ(PlainQueuePair(pd).run(IBV_WR_RDMA_READ, ours, far, 8), IBV_WC_SUCCESS);
        }
    }
}

TEST_P(RdmaBridgeTest, imported_memory_has_the_key_of_its_exporter)
{
    const LocalMap map(dev, memory, all_rdma);
    const void *descriptor = nullptr;
    std::size_t size = 0;
    must(doca_mmap_export_rdma(map, dev, &descriptor, &size));
    MmapHandle imported;
    must(doca_mmap_create_from_export(nullptr, descriptor, size, dev, imported.out()));
    const Inventory inventory(2);
    const BufHandle local = inventory.full(map, memory.data(), half);
    const BufHandle remote = inventory.full(imported, memory.data() + half, half);
    fill(memory, 3);
    EXPECT_EQ(PlainQueuePair(pd).run(IBV_WR_RDMA_WRITE, {memory.data(), mkey_of(local, dev)},
                                     {memory.data() + half, mkey_of(remote, dev)}, half),
              IBV_WC_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(memory).subspan(half), 3));
}

TEST_P(RdmaBridgeTest, a_device_of_a_pd_registers_memory_and_does_nothing_else)
{
    DevHandle bridge, another;
    must(doca_dev_open_from_pd(own_pd.get(), bridge.out()));
    EXPECT_EQ(doca_dev_as_devinfo(bridge), nullptr);
    EXPECT_EQ(doca_dev_open_from_pd(own_pd.get(), another.out()), DOCA_SUCCESS);
    EXPECT_NE(bridge.get(), another.get());

    const LocalMap map({dev, bridge}, memory, all_rdma | DOCA_ACCESS_DPU_READ_WRITE);
    const void *descriptor = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(doca_mmap_export_rdma(map, bridge, &descriptor, &size), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_mmap_export_dpu(map, bridge, &descriptor, &size), DOCA_ERROR_NOT_SUPPORTED);
    must(doca_mmap_export_rdma(map, dev, &descriptor, &size));
    doca_mmap *imported = untouched<doca_mmap>();
    EXPECT_EQ(doca_mmap_create_from_export(nullptr, descriptor, size, bridge, &imported), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(imported, untouched<doca_mmap>());

    doca_devinfo_rep **list = untouched<doca_devinfo_rep *>();
    std::uint32_t count = 77;
    EXPECT_EQ(doca_devinfo_rep_list_create(bridge, DOCA_DEV_REP_FILTER_ALL, &list, &count), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(list, untouched<doca_devinfo_rep *>());

    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    const LogCapture log;
    EXPECT_EQ(doca_ctx_dev_add(doca_dma_as_ctx(dma), bridge), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "doca_dev_open_from_pd()");

    Handle<doca_sync_event, doca_sync_event_destroy> event;
    must(doca_sync_event_create(event.out()));
    must(doca_sync_event_publisher_add_location_cpu(event, bridge));
    must(doca_sync_event_subscriber_add_location_cpu(event, bridge));
    EXPECT_EQ(doca_sync_event_start(event), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_P(RdmaBridgeTest, a_device_of_a_pd_is_closed_after_what_uses_it_and_before_the_pd)
{
    DevHandle bridge;
    must(doca_dev_open_from_pd(own_pd.get(), bridge.out()));
    {
        const LocalMap map(bridge, memory);
        EXPECT_EQ(doca_dev_close(bridge), DOCA_ERROR_IN_USE);
        const Inventory inventory(1);
        const BufHandle buf = inventory.full(map, memory.data(), half);
        EXPECT_NE(mkey_of(buf, bridge), 0u);
        EXPECT_EQ(ibv_dealloc_pd(own_pd.get()), EBUSY); // the registration is on it
    }
    EXPECT_EQ(doca_dev_close(bridge.release()), DOCA_SUCCESS);
    // The protection domain is still there, and can be made a device again.
    must(doca_dev_open_from_pd(own_pd.get(), bridge.out()));
    const LocalMap map(bridge, memory, all_rdma);
    expect_that_plain_verbs_use(own_pd.get(), bridge, map, memory);
}

TEST_P(RdmaBridgeTest, a_pd_of_ours_makes_no_device)
{
    const LogCapture log;
    doca_dev *made = untouched<doca_dev>();
    EXPECT_EQ(doca_dev_open_from_pd(pd, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, GetParam().ibdev);
    EXPECT_EQ(doca_dev_open_from_pd(nullptr, &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_dev_open_from_pd(own_pd.get(), nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(made, untouched<doca_dev>());
}

TEST_P(RdmaBridgeTest, a_pd_whose_device_has_gone_makes_no_device)
{
    // As the kernel answers for a device that was removed: no command of the context works.
    const int commands = dup(context->cmd_fd);
    const int dead = open("/dev/null", O_RDONLY | O_CLOEXEC);
    must_hold(dup2(dead, context->cmd_fd) >= 0, "dup2");
    const LogCapture log;
    doca_dev *made = untouched<doca_dev>();
    EXPECT_EQ(doca_dev_open_from_pd(own_pd.get(), &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(made, untouched<doca_dev>());
    EXPECT_LOGGED(log, "can't be queried");
    must_hold(dup2(commands, context->cmd_fd) >= 0, "dup2");
    close(commands);
    close(dead);
}

TEST_P(RdmaBridgeTest, only_devices_of_the_map_have_a_key)
{
    DevHandle bridge;
    must(doca_dev_open_from_pd(own_pd.get(), bridge.out()));
    const LocalMap map(dev, memory);
    const Inventory inventory(1);
    const BufHandle buf = inventory.full(map, memory.data(), half);
    std::uint32_t key = 77;
    const LogCapture log;
    EXPECT_EQ(doca_buf_get_mkey(buf, bridge, &key), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "was not added");
    EXPECT_EQ(key, 77u);
}

class NoRdmaBridgeTest : public DeviceTest {};
INSTANTIATE_FOR_DEVICES(NoRdmaBridgeTest, has_none);

TEST_P(NoRdmaBridgeTest, a_device_that_is_none_of_libibverbs_has_neither_pd_nor_keys)
{
    ibv_pd *pd = untouched<ibv_pd>();
    const LogCapture log;
    EXPECT_EQ(doca_dev_get_pd(dev, &pd), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(pd, untouched<ibv_pd>());
    EXPECT_LOGGED(log, "not a libibverbs device");

    std::vector<std::byte> memory(100);
    const LocalMap map(dev, memory);
    const Inventory inventory(1);
    const BufHandle buf = inventory.full(map, memory.data(), memory.size());
    std::uint32_t key = 77;
    EXPECT_EQ(doca_buf_get_mkey(buf, dev, &key), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(key, 77u);
    EXPECT_LOGGED(log, "key for rdma-core");
}

TEST_P(NoRdmaBridgeTest, null_is_refused)
{
    ibv_pd *pd = nullptr;
    EXPECT_EQ(doca_dev_get_pd(nullptr, &pd), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_dev_get_pd(dev, nullptr), DOCA_ERROR_INVALID_VALUE);
}
