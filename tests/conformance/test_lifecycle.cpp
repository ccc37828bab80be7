// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Set-up and teardown in the orders that existing programs have, written as they write them. No handle cleans
// up here.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/dma_fixture.hpp"

using namespace doca_test;

namespace {

constexpr std::size_t size = 1024;

std::size_t num_open_descriptors()
{
    std::size_t count = 0;
    for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
        ++count;
    return count;
}

/// What the programs call their core objects.
struct Objects {
    doca_dev *dev = nullptr;
    doca_mmap *src_mmap = nullptr;
    doca_mmap *dst_mmap = nullptr;
    doca_buf_inventory *inventory = nullptr;
    doca_ctx *ctx = nullptr;
    doca_workq *workq = nullptr;
    doca_dma *dma = nullptr;
    doca_buf *src_buf = nullptr;
    doca_buf *dst_buf = nullptr;
    std::byte *src = nullptr;
    std::byte *dst = nullptr;

    void open(const std::string &ibdev)
    {
        doca_devinfo **list = nullptr;
        std::uint32_t count = 0;
        must(doca_devinfo_list_create(&list, &count));
        for (std::uint32_t i = 0; i < count && dev == nullptr; ++i) {
            if (ibdev_of(list[i]) == ibdev)
                must(doca_dev_open(list[i], &dev));
        }
        must(doca_devinfo_list_destroy(list));
    }

    void create_core_objects(std::uint32_t max_bufs = 2)
    {
        must(doca_mmap_create(nullptr, &src_mmap));
        must(doca_mmap_create(nullptr, &dst_mmap));
        must(doca_mmap_dev_add(src_mmap, dev));
        must(doca_mmap_dev_add(dst_mmap, dev));
        must(doca_buf_inventory_create(nullptr, max_bufs, DOCA_BUF_EXTENSION_NONE, &inventory));
        must(doca_buf_inventory_start(inventory));
    }

    void create_dma()
    {
        must(doca_dma_create(&dma));
        ctx = doca_dma_as_ctx(dma);
        must(doca_ctx_dev_add(ctx, dev));
    }

    void create_queue(std::uint32_t depth = 32)
    {
        must(doca_workq_create(depth, &workq));
        must(doca_ctx_workq_add(ctx, workq));
    }

    void allocate()
    {
        src = static_cast<std::byte *>(std::malloc(size));
        dst = static_cast<std::byte *>(std::malloc(size));
        fill({src, size}, 1);
        fill({dst, size}, 2);
    }

    void map_memory() const
    {
        must(doca_mmap_set_memrange(src_mmap, src, size));
        must(doca_mmap_set_memrange(dst_mmap, dst, size));
        must(doca_mmap_start(src_mmap));
        must(doca_mmap_start(dst_mmap));
    }

    void take_bufs()
    {
        must(doca_buf_inventory_buf_by_addr(inventory, src_mmap, src, size, &src_buf));
        must(doca_buf_inventory_buf_by_addr(inventory, dst_mmap, dst, size, &dst_buf));
        must(doca_buf_set_data(src_buf, src, size));
    }

    void copy() const
    {
        doca_dma_job_memcpy job; // user data is left uninitialised by these programs; here, all of it is
        std::memset(&job, 0x5a, sizeof(job));
        job.base.type = DOCA_DMA_JOB_MEMCPY;
        job.base.flags = DOCA_JOB_FLAGS_NONE;
        job.base.ctx = ctx;
        job.dst_buff = dst_buf;
        job.src_buff = src_buf;
        ASSERT_EQ(doca_workq_submit(workq, &job.base), DOCA_SUCCESS);
        doca_event event = {};
        ASSERT_EQ(wait_for(workq, event), DOCA_SUCCESS);
        ASSERT_EQ(event.result.u64, std::uint64_t{DOCA_SUCCESS});
        ASSERT_TRUE(is_filled({dst, size}, 1));
    }

    void release_bufs() const
    {
        EXPECT_EQ(doca_buf_refcount_rm(src_buf, nullptr), DOCA_SUCCESS);
        EXPECT_EQ(doca_buf_refcount_rm(dst_buf, nullptr), DOCA_SUCCESS);
    }

    void free_memory() const
    {
        std::free(src);
        std::free(dst);
    }
};

} // namespace

class LifecycleTest : public testing::TestWithParam<DeviceParam> {
protected:
    void SetUp() override
    {
        // Whatever is opened once and for all, such as files for random numbers, is open after a first life.
        run_sample_common(Objects());
        num_descriptors_ = num_open_descriptors();
    }
    void TearDown() override
    {
        EXPECT_EQ(num_open_descriptors(), num_descriptors_);
        // All closed: this open is a new one, and its close the last.
        const DevHandle dev = open_device(GetParam());
    }

    /// samples/common.c of 2.2.
    void run_sample_common(Objects o, bool with_memory = true) const
    {
        o.open(GetParam().ibdev);
        o.create_core_objects();
        o.create_dma();
        must(doca_ctx_start(o.ctx));
        o.create_queue();
        o.allocate();
        if (with_memory) {
            o.map_memory();
            o.take_bufs();
            o.copy();
            o.release_bufs();
        }
        EXPECT_EQ(doca_ctx_workq_rm(o.ctx, o.workq), DOCA_SUCCESS);
        EXPECT_EQ(doca_workq_destroy(o.workq), DOCA_SUCCESS);
        EXPECT_EQ(doca_buf_inventory_destroy(o.inventory), DOCA_SUCCESS); // no stop
        EXPECT_EQ(doca_mmap_destroy(o.dst_mmap), DOCA_SUCCESS);           // no stop, device still a member
        EXPECT_EQ(doca_mmap_destroy(o.src_mmap), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_stop(o.ctx), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_dev_rm(o.ctx, o.dev), DOCA_SUCCESS);
        EXPECT_EQ(doca_dev_close(o.dev), DOCA_SUCCESS);
        EXPECT_EQ(doca_dma_destroy(o.dma), DOCA_SUCCESS); // after the device
        o.free_memory();
    }

private:
    std::size_t num_descriptors_ = 0;
};
INSTANTIATE_FOR_DEVICES(LifecycleTest, can_copy);

TEST_P(LifecycleTest, samples)
{
    run_sample_common(Objects());
}

TEST_P(LifecycleTest, samples_that_give_up_before_they_map_memory)
{
    run_sample_common(Objects(), false);
}

TEST_P(LifecycleTest, samples_run_over_and_over)
{
    for (int i = 0; i < 50; ++i)
        run_sample_common(Objects());
}

TEST_P(LifecycleTest, dma_copy_application)
{
    Objects o;
    o.open(GetParam().ibdev);
    o.create_core_objects();
    o.create_dma();
    must(doca_workq_create(1, &o.workq)); // before the start
    must(doca_ctx_start(o.ctx));
    must(doca_ctx_workq_add(o.ctx, o.workq));
    o.allocate();
    o.map_memory();
    o.take_bufs();
    o.copy();
    o.release_bufs();
    o.free_memory(); // before the maps

    EXPECT_EQ(doca_ctx_workq_rm(o.ctx, o.workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(o.ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_dev_rm(o.ctx, o.dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_workq_destroy(o.workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_dma_destroy(o.dma), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_destroy(o.inventory), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_destroy(o.src_mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_destroy(o.dst_mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(o.dev), DOCA_SUCCESS);
}

/// The order of the RDMA samples: maps are stopped and the memory is freed before they are destroyed, and the
/// inventory outlives the device.
TEST_P(LifecycleTest, rdma_samples)
{
    Objects o;
    o.open(GetParam().ibdev);
    must(doca_mmap_create(nullptr, &o.src_mmap));
    must(doca_mmap_create(nullptr, &o.dst_mmap));
    o.allocate();
    for (doca_mmap *mmap : {o.src_mmap, o.dst_mmap}) {
        must(doca_mmap_set_permissions(mmap, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ));
        must(doca_mmap_set_memrange(mmap, mmap == o.src_mmap ? o.src : o.dst, size));
        must(doca_mmap_dev_add(mmap, o.dev));
        must(doca_mmap_start(mmap));
    }
    o.create_dma();
    must(doca_ctx_start(o.ctx));
    o.create_queue(10);
    must(doca_buf_inventory_create(nullptr, 2, DOCA_BUF_EXTENSION_NONE, &o.inventory));
    must(doca_buf_inventory_start(o.inventory));
    o.take_bufs();
    o.copy();
    o.release_bufs();

    EXPECT_EQ(doca_ctx_workq_rm(o.ctx, o.workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_workq_destroy(o.workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(o.ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_dev_rm(o.ctx, o.dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_dma_destroy(o.dma), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_stop(o.src_mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_stop(o.dst_mmap), DOCA_SUCCESS);
    o.free_memory();
    EXPECT_EQ(doca_mmap_destroy(o.src_mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_destroy(o.dst_mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(o.dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_stop(o.inventory), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_destroy(o.inventory), DOCA_SUCCESS);
}

/// Programs of the 1.5 era take the device out of the started map, without looking at the answer.
TEST_P(LifecycleTest, samples_of_1_5)
{
    Objects o;
    o.open(GetParam().ibdev);
    o.create_core_objects();
    o.create_dma();
    must(doca_ctx_start(o.ctx));
    o.create_queue();
    o.allocate();
    o.map_memory();
    o.take_bufs();
    o.copy();
    o.release_bufs();

    EXPECT_EQ(doca_ctx_workq_rm(o.ctx, o.workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_workq_destroy(o.workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_destroy(o.inventory), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_dev_rm(o.dst_mmap, o.dev), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_dev_rm(o.src_mmap, o.dev), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_destroy(o.dst_mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_destroy(o.src_mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(o.ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_dev_rm(o.ctx, o.dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_dma_destroy(o.dma), DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(o.dev), DOCA_SUCCESS);
    o.free_memory();
}

/// The order of the graph sample, with two contexts on the queue.
TEST_P(LifecycleTest, graph_sample)
{
    Objects o;
    o.open(GetParam().ibdev);
    o.create_core_objects();
    o.create_dma();
    doca_dma *other = nullptr;
    must(doca_dma_create(&other));
    doca_ctx *const other_ctx = doca_dma_as_ctx(other);
    must(doca_ctx_dev_add(other_ctx, o.dev));
    must(doca_ctx_start(o.ctx));
    must(doca_ctx_start(other_ctx));
    must(doca_workq_create(32, &o.workq));
    must(doca_workq_set_event_driven_enable(o.workq, false));
    must(doca_ctx_workq_add(o.ctx, o.workq));
    must(doca_ctx_workq_add(other_ctx, o.workq));
    o.allocate();
    o.map_memory();
    o.take_bufs();
    o.copy();
    o.release_bufs();

    for (doca_ctx *ctx : {o.ctx, other_ctx}) {
        EXPECT_EQ(doca_ctx_workq_rm(ctx, o.workq), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_dev_rm(ctx, o.dev), DOCA_SUCCESS);
    }
    EXPECT_EQ(doca_workq_destroy(o.workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_dma_destroy(o.dma), DOCA_SUCCESS);
    EXPECT_EQ(doca_dma_destroy(other), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_stop(o.inventory), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_destroy(o.inventory), DOCA_SUCCESS);
    for (doca_mmap *mmap : {o.src_mmap, o.dst_mmap}) {
        EXPECT_EQ(doca_mmap_stop(mmap), DOCA_SUCCESS);
        EXPECT_EQ(doca_mmap_destroy(mmap), DOCA_SUCCESS);
    }
    EXPECT_EQ(doca_dev_close(o.dev), DOCA_SUCCESS);
    o.free_memory();
}

/// As the SHA samples, which let the map free the destination.
TEST_P(LifecycleTest, free_callback_frees_the_destination)
{
    Objects o;
    o.open(GetParam().ibdev);
    o.create_core_objects();
    o.create_dma();
    must(doca_ctx_start(o.ctx));
    o.create_queue();
    o.allocate();
    int freed = 0;
    const auto free_destination = [](void *addr, std::size_t, void *cookie) {
        std::free(addr);
        ++*static_cast<int *>(cookie);
    };
    must(doca_mmap_set_free_cb(o.dst_mmap, free_destination, &freed));
    o.map_memory();
    o.take_bufs();
    o.copy();
    o.release_bufs();

    EXPECT_EQ(doca_ctx_workq_rm(o.ctx, o.workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_workq_destroy(o.workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_destroy(o.inventory), DOCA_SUCCESS);
    EXPECT_EQ(freed, 0);
    EXPECT_EQ(doca_mmap_destroy(o.dst_mmap), DOCA_SUCCESS);
    EXPECT_EQ(freed, 1);
    EXPECT_EQ(doca_mmap_destroy(o.src_mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(o.ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_dev_rm(o.ctx, o.dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(o.dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_dma_destroy(o.dma), DOCA_SUCCESS);
    std::free(o.src);
}

TEST_P(LifecycleTest, context_restarts_with_another_queue)
{
    Objects o;
    o.open(GetParam().ibdev);
    o.create_core_objects();
    o.create_dma();
    o.allocate();
    o.map_memory();
    for (int i = 0; i < 3; ++i) {
        must(doca_ctx_start(o.ctx));
        o.create_queue();
        o.take_bufs();
        fill({o.dst, size}, 2);
        o.copy();
        o.release_bufs();
        EXPECT_EQ(doca_ctx_workq_rm(o.ctx, o.workq), DOCA_SUCCESS);
        EXPECT_EQ(doca_workq_destroy(o.workq), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_stop(o.ctx), DOCA_SUCCESS);
    }
    EXPECT_EQ(doca_buf_inventory_destroy(o.inventory), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_destroy(o.dst_mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_destroy(o.src_mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_dma_destroy(o.dma), DOCA_SUCCESS); // takes the device out
    EXPECT_EQ(doca_dev_close(o.dev), DOCA_SUCCESS);
    o.free_memory();
}

TEST_P(LifecycleTest, what_comes_too_early_is_refused_and_can_be_repeated)
{
    Objects o;
    o.open(GetParam().ibdev);
    o.create_core_objects();
    o.create_dma();
    must(doca_ctx_start(o.ctx));
    o.create_queue();
    o.allocate();
    o.map_memory();
    o.take_bufs();

    EXPECT_EQ(doca_dev_close(o.dev), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_dma_destroy(o.dma), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_ctx_stop(o.ctx), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_ctx_dev_rm(o.ctx, o.dev), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_workq_destroy(o.workq), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_buf_inventory_destroy(o.inventory), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_stop(o.src_mmap), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_destroy(o.src_mmap), DOCA_ERROR_NOT_PERMITTED);
    o.copy(); // all of it still works

    o.release_bufs();
    EXPECT_EQ(doca_buf_inventory_destroy(o.inventory), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_destroy(o.src_mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_destroy(o.dst_mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(o.dev), DOCA_ERROR_IN_USE); // the context has it
    EXPECT_EQ(doca_ctx_workq_rm(o.ctx, o.workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_workq_destroy(o.workq), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(o.ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_dev_rm(o.ctx, o.dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(o.dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_dma_destroy(o.dma), DOCA_SUCCESS);
    o.free_memory();
}

/// A program that ends and leaves everything to the system, buffers included.
static void leave_everything(Channel &parent)
{
    static Objects objects; // reachable for the leak checker, as everything that is behind it
    DeviceParam device;
    const std::vector<std::byte> name = parent.receive_bytes();
    device.ibdev.assign(reinterpret_cast<const char *>(name.data()), name.size());
    objects.open(device.ibdev);
    objects.create_core_objects();
    objects.create_dma();
    must(doca_ctx_start(objects.ctx));
    objects.create_queue();
    objects.allocate();
    objects.map_memory();
    objects.take_bufs();
    objects.copy();
    must_hold(!testing::Test::HasFailure(), "the copy");
    const doca_dma_job_memcpy job = memcpy_job(objects.ctx, objects.dst_buf, objects.src_buf);
    must(doca_workq_submit(objects.workq, &job.base)); // and a job in flight
}
static const ChildProgram leaver("leave-everything", leave_everything);

TEST_P(LifecycleTest, program_that_exits_without_any_teardown)
{
    ChildProcess child("leave-everything");
    child.channel().send_bytes(std::as_bytes(std::span(GetParam().ibdev)));
    EXPECT_EQ(child.wait(), 0);
}
