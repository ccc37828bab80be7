// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// docs/adding-a-provider.md, followed: a device that copies, some time after it was asked to, and can do nothing else.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <poll.h>

#include <gtest/gtest.h>

#include <doca_rdma.h>

#include "../../src/core/dev.hpp"
#include "../../src/core/device/copy_engine.hpp"
#include "../../src/core/device/counter.hpp"
#include "../../src/core/device/cursor.hpp"
#include "../conformance/support/dma_fixture.hpp"
#include "front_end.hpp"

using namespace doca_test;

namespace {

using opendoca::CompletionQueue;
using opendoca::CopyPlan;
using opendoca::Cursor;
using opendoca::KeyUse;
using opendoca::Operation;
using opendoca::Tag;

/// Copies when it is polled.
class ToyCopyEngine final : public opendoca::CopyEngine, public opendoca::Pollable {
public:
    explicit ToyCopyEngine(CompletionQueue &completions) : completions_(completions) { completions_.reserve_polled(); }
    ~ToyCopyEngine() override
    {
        completions_.stop_polling(*this);
        completions_.unreserve_polled();
    }

    [[nodiscard]] doca_error_t copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept override
    {
        if (completions_.is_full())
            return DOCA_ERROR_NO_MEMORY;
        Operation &operation = completions_.begin(tag, *this);
        operation.payload<Copy>() = {&dst, &src, plan};
        in_flight_.push_back(&operation);
        completions_.start_polling(*this);
        if (completions_.is_armed())
            completions_.wake();
        return DOCA_SUCCESS;
    }
    void progress() noexcept override
    {
        for (Operation *const operation : std::exchange(in_flight_, {})) {
            const auto [dst, src, plan] = operation->payload<Copy>();
            Cursor from = Cursor::over_data(*src), to = Cursor::over_destination(*dst, plan.overwrites);
            for (std::size_t left = plan.length; left != 0;) {
                from.skip_empty();
                to.skip_empty();
                const std::size_t part = std::min({left, from.left(), to.left()});
                std::memcpy(to.addr(), from.addr(), part);
                from.advance(part);
                to.advance(part);
                left -= part;
            }
            opendoca::extend_data(*dst, plan.length, plan.overwrites);
            completions_.done(*operation, DOCA_SUCCESS);
        }
    }
    [[nodiscard]] bool arm() noexcept override { return !in_flight_.empty(); }

private:
    struct Copy {
        doca_buf *dst;
        const doca_buf *src;
        CopyPlan plan;
    };

    CompletionQueue &completions_;
    std::deque<Operation *> in_flight_;
};

class ToyDevice final : public opendoca::Device {
public:
    using Device::Device;

    [[nodiscard]] doca_error_t register_memory(const opendoca::MemoryRange &, std::uint32_t access,
                                               std::unique_ptr<opendoca::MemoryKey> &key) override
    {
        key = std::make_unique<opendoca::MemoryKey>(KeyUse::of_own(access) &
                                                    (KeyUse::dma_source | KeyUse::dma_destination));
        return DOCA_SUCCESS;
    }
    [[nodiscard]] doca_error_t create_copy_engine(CompletionQueue &completions,
                                                  std::unique_ptr<opendoca::CopyEngine> &engine) override
    {
        engine = std::make_unique<ToyCopyEngine>(completions);
        return DOCA_SUCCESS;
    }
};

class ToyFunction final : public opendoca::DeviceFunction {
public:
    ToyFunction()
    {
        provider = "toy";
        name = ibdev_name = "toy0";
        pci_address = "0000:7f:00.0";
        can.dma_memcpy = true;
        can.dma_event_driven = true;
        can.dma_max_list_elements = 4;
        can.dma_max_size = 1000;
    }
    [[nodiscard]] doca_error_t open(std::unique_ptr<opendoca::Device> &device) const override
    {
        device = std::make_unique<ToyDevice>(*this);
        return DOCA_SUCCESS;
    }
};

DevHandle open_toy(doca_devinfo &info)
{
    DevHandle dev;
    must(doca_dev_open(&info, dev.out()));
    return dev;
}

class ToyProvider : public testing::Test {
protected:
    void SetUp() override { fill(from, 3); }

    doca_devinfo info{std::make_shared<ToyFunction>()};
    DevHandle dev{open_toy(info)};
    std::vector<std::byte> from = std::vector<std::byte>(4096);
    std::vector<std::byte> to = std::vector<std::byte>(4096);
    LocalMap from_map{dev, from};
    LocalMap to_map{dev, to};
    Inventory inventory{32};
};

TEST_F(ToyProvider, copies_for_programs)
{
    const DmaEngine engine(dev, 4);
    const BufHandle src = inventory.full(from_map, from.data(), 600);
    const BufHandle dst = inventory.empty(to_map, to.data(), 100);
    must(doca_buf_list_chain(dst, inventory.empty(to_map, &to[1000], 500).release()));
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(to).first(100), 3));
    EXPECT_TRUE(is_filled(std::span(to).subspan(1000, 500), 3, 100));
    EXPECT_EQ(data_len_of(dst), 100u);
    // Its limits are checked above it.
    const BufHandle long_src = inventory.full(from_map, from.data(), 1001);
    const BufHandle long_dst = inventory.empty(to_map, to.data(), 1001);
    EXPECT_EQ(engine.submit(long_dst, long_src), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(ToyProvider, wakes_who_sleeps)
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

TEST_F(ToyProvider, copies_for_tasks)
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

/// What was not overridden is the base class's.
TEST_F(ToyProvider, lacks_everything_else)
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
