// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The skeleton provider (src/core/device/skeleton/), under the front ends of the library.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <poll.h>

#include <gtest/gtest.h>

#include <doca_rdma.h>

#include "../../src/core/device/copy_engine.hpp"
#include "../../src/core/device/counter.hpp"
#include "../../src/core/device/skeleton/provider.hpp"
#include "../../src/core/objects/dev.hpp"
#include "../conformance/support/dma_fixture.hpp"
#include "front_end.hpp"

using namespace doca_test;

namespace {

std::shared_ptr<const opendoca::DeviceFunction> skeleton_function()
{
    opendoca::DeviceFunctions functions;
    opendoca::skeleton::list_functions(functions);
    return functions.at(0);
}

DevHandle open_listed(doca_devinfo &info)
{
    DevHandle dev;
    must(doca_dev_open(&info, dev.out()));
    return dev;
}

class SkeletonProvider : public testing::Test {
protected:
    void SetUp() override { fill(from, 3); }

    doca_devinfo info{skeleton_function()};
    DevHandle dev{open_listed(info)};
    std::vector<std::byte> from = std::vector<std::byte>(4096);
    std::vector<std::byte> to = std::vector<std::byte>(4096);
    LocalMap from_map{dev, from};
    LocalMap to_map{dev, to};
    Inventory inventory{32};
};

TEST_F(SkeletonProvider, CopiesForJobs)
{
    const DmaEngine engine(dev, 4);
    const BufHandle src = inventory.full(from_map, from.data(), 600);
    const BufHandle dst = inventory.empty(to_map, to.data(), 100);
    must(doca_buf_list_chain(dst, inventory.empty(to_map, &to[1000], 500).release()));
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(to).first(100), 3));
    EXPECT_TRUE(is_filled(std::span(to).subspan(1000, 500), 3, 100));
    EXPECT_EQ(data_len_of(dst), 100u);
    // The library checks the limits of the device before it calls the provider.
    const BufHandle long_src = inventory.full(from_map, from.data(), 1001);
    const BufHandle long_dst = inventory.empty(to_map, to.data(), 1001);
    EXPECT_EQ(engine.submit(long_dst, long_src), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(SkeletonProvider, WakesAnEventDrivenProgram)
{
    const DmaEngine engine(dev, 4, true);
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(engine.workq(), &handle));
    const BufHandle src = inventory.full(from_map, from.data(), 64);
    for (const bool arms_first : {false, true}) {
        const BufHandle dst = inventory.empty(to_map, to.data(), 64);
        if (arms_first)
            must(doca_workq_event_handle_arm(engine.workq()));
        must(engine.submit(dst, src));
        if (!arms_first)
            must(doca_workq_event_handle_arm(engine.workq()));
        pollfd readable{.fd = handle, .events = POLLIN, .revents = 0};
        EXPECT_EQ(poll(&readable, 1, 0), 1);
        must(doca_workq_event_handle_clear(engine.workq(), handle));
        doca_event event = {};
        EXPECT_EQ(engine.retrieve(event), DOCA_SUCCESS);
    }
}

TEST_F(SkeletonProvider, CopiesForTasks)
{
    TaskEngine tasks(4);
    doca_dev *const device = dev;
    std::unique_ptr<opendoca::CopyEngine> engine;
    ASSERT_EQ(device->device().create_copy_engine(tasks.completions, engine), DOCA_SUCCESS);
    const BufHandle src = inventory.full(from_map, from.data(), 64);
    const BufHandle dst = inventory.empty(to_map, to.data(), 64);
    Task task;
    ASSERT_EQ(engine->copy(task.tag(), *dst, *src, {64, false, false}), DOCA_SUCCESS);
    EXPECT_FALSE(task.has_ended());
    tasks.run(task);
    EXPECT_EQ(task.status(), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(to).first(64), 3));
}

/// What the skeleton does not override is answered by the base classes.
TEST_F(SkeletonProvider, LacksEverythingElse)
{
    EXPECT_EQ(doca_rdma_job_get_supported(&info, DOCA_RDMA_JOB_SEND), DOCA_ERROR_NOT_SUPPORTED);
    Handle<doca_rdma, doca_rdma_destroy> rdma;
    must(doca_rdma_create(rdma.out()));
    EXPECT_EQ(doca_ctx_dev_add(doca_rdma_as_ctx(rdma), dev), DOCA_ERROR_NOT_SUPPORTED);
    std::uint8_t can_export = 77;
    EXPECT_EQ(doca_devinfo_get_is_mmap_export_dpu_supported(&info, &can_export), DOCA_SUCCESS);
    EXPECT_EQ(can_export, 0);
    doca_dev *const device = dev;
    std::unique_ptr<opendoca::Counter> counter;
    EXPECT_EQ(device->device().import_counter({}, counter), DOCA_ERROR_NOT_SUPPORTED);
}

} // namespace
