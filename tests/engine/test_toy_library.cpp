// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// docs/adding-a-library.md, followed: a library of DOCA 2.2 whose jobs turn the bits of a buffer's data.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "../../src/core/checks/buffer_check.hpp"
#include "../../src/core/log/log.hpp"
#include "../../src/core/objects/dev.hpp"
#include "../../src/core/v2/call.hpp"
#include "../../src/core/v2/ctx.hpp"
#include "../../src/core/v2/workq.hpp"
#include "../conformance/support/graph_fixture.hpp"
#include "front_end.hpp"

using namespace doca_test;

OPENDOCA_LOG_SOURCE(DOCA_TOY);

// What its public header would declare.

constexpr int DOCA_TOY_JOB_TURN = (1 << 20) + 1;

struct doca_toy_job_turn {
    doca_job base;
    doca_buf *buf;
};

namespace {

using opendoca::CompletionQueue;
using opendoca::Tag;
using opendoca::v2::call;

/// The work, done by the CPU: knows no API.
class Turner final : public opendoca::Source {
public:
    Turner(CompletionQueue &completions, const opendoca::Device &device) : completions_(completions), device_(device) {}

    [[nodiscard]] doca_error_t turn(Tag tag, doca_buf &buf) noexcept
    {
        if (const doca_error_t status = check_buffer(buf, device_); status != DOCA_SUCCESS)
            return status;
        if (completions_.is_full())
            return DOCA_ERROR_NO_MEMORY;
        std::for_each(buf.data, buf.data + buf.data_len, [](std::byte &byte) { byte = ~byte; });
        completions_.done(tag, *this, DOCA_SUCCESS);
        return DOCA_SUCCESS;
    }

private:
    CompletionQueue &completions_;
    const opendoca::Device &device_;
};

/// Its jobs of one work queue.
class TurnJobs final : public opendoca::v2::JobQueue {
public:
    TurnJobs(CompletionQueue &completions, const opendoca::Device &device) : turner_(completions, device) {}

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override
    {
        return submit_tagged(job, opendoca::v2::tag_of(job));
    }
    [[nodiscard]] doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept override
    {
        if (job.type != DOCA_TOY_JOB_TURN) {
            LOG_ERR("job type %d is not one of the toy's", job.type);
            return DOCA_ERROR_INVALID_VALUE;
        }
        return turner_.turn(tag, *reinterpret_cast<const doca_toy_job_turn &>(job).buf);
    }
    [[nodiscard]] opendoca::Source &source() noexcept override { return turner_; }

private:
    Turner turner_;
};

} // namespace

struct doca_toy final : doca_ctx {
protected:
    [[nodiscard]] doca_error_t check_device(const doca_dev &, const std::vector<doca_dev *> &others) const override
    {
        return others.empty() ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    }
    [[nodiscard]] bool can_be_event_driven(const std::vector<doca_dev *> &) const override { return true; }
    [[nodiscard]] doca_error_t create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                            std::unique_ptr<opendoca::v2::JobQueue> &queue) override
    {
        queue = std::make_unique<TurnJobs>(workq.completions, devices.front()->device());
        return DOCA_SUCCESS;
    }
};

static doca_error_t doca_toy_create(doca_toy **toy)
{
    return call({toy}, [&] { *toy = new doca_toy; });
}

static doca_error_t doca_toy_destroy(doca_toy *toy)
{
    return call({toy}, [&] {
        const doca_error_t status = toy->check_destroyable();
        if (status == DOCA_SUCCESS)
            delete toy;
        return status;
    });
}

namespace {

/// Beside DMA, on its device and its work queue.
class ToyLibrary : public DeviceTest {
protected:
    void SetUp() override
    {
        ASSERT_EQ(doca_toy_create(nullptr), DOCA_ERROR_INVALID_VALUE);
        must(doca_toy_create(toy.out()));
        must(doca_ctx_dev_add(ctx(), dev));
        must(doca_ctx_start(ctx()));
        must(doca_ctx_workq_add(ctx(), dma.workq()));
        fill(memory, 4);
    }
    void TearDown() override
    {
        EXPECT_EQ(doca_toy_destroy(toy), DOCA_ERROR_IN_USE);
        must(doca_ctx_workq_rm(ctx(), dma.workq()));
        must(doca_ctx_stop(ctx()));
    }
    [[nodiscard]] doca_ctx *ctx() const { return toy; }
    [[nodiscard]] doca_toy_job_turn turn(doca_buf *buf) const
    {
        return {{.type = DOCA_TOY_JOB_TURN, .flags = DOCA_JOB_FLAGS_NONE, .ctx = ctx(), .user_data = {.u64 = 7}}, buf};
    }

    DmaEngine dma{dev};
    Handle<doca_toy, doca_toy_destroy> toy;
    std::vector<std::byte> memory = std::vector<std::byte>(256);
    LocalMap map{dev, memory};
    Inventory inventory{4};
};
INSTANTIATE_FOR_FEW_DEVICES(ToyLibrary, can_copy);

TEST_P(ToyLibrary, has_jobs_with_events)
{
    const std::byte before = memory[0];
    const BufHandle buf = inventory.full(map, memory.data(), 1);
    const doca_toy_job_turn job = turn(buf);
    must(doca_workq_submit(dma.workq(), &job.base));
    doca_event event = {};
    EXPECT_EQ(wait_for(dma.workq(), event), DOCA_SUCCESS);
    EXPECT_EQ(event.type, DOCA_TOY_JOB_TURN);
    EXPECT_EQ(event.user_data.u64, 7u);
    EXPECT_EQ(memory[0], ~before);
    must(doca_buf_set_data(buf, &memory[1], 1)); // behind its end
    EXPECT_EQ(doca_workq_submit(dma.workq(), &job.base), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(ToyLibrary, has_nodes_in_graphs)
{
    const std::byte before = memory[0];
    const BufHandle src = inventory.full(map, memory.data(), 1), dst = inventory.empty(map, &memory[128], 1);
    doca_toy_job_turn first = turn(src);
    doca_dma_job_memcpy second = memcpy_job(dma.ctx(), dst, src);
    TestGraph graph;
    doca_graph_node *turned = nullptr;
    must(doca_graph_ctx_node_create(graph, DOCA_TOY_JOB_TURN, ctx(), &turned));
    doca_graph_node *const copied = graph.add_copy(dma.ctx());
    graph.order(turned, copied);
    graph.start_on(dma.workq());
    const InstanceHandle instance = graph.instance();
    must(doca_graph_instance_set_ctx_node_data(instance, turned, &first.base, nullptr));
    must(doca_graph_instance_set_ctx_node_data(instance, copied, &second.base, nullptr));
    must(submit(dma.workq(), instance));
    doca_event event = {};
    EXPECT_EQ(wait_for(dma.workq(), event), DOCA_SUCCESS);
    EXPECT_EQ(event.type, DOCA_GRAPH_JOB);
    EXPECT_EQ(memory[128], ~before);
}

/// Its source serves other front ends as it is.
TEST_P(ToyLibrary, works_for_tasks)
{
    doca_dev *const device = dev;
    TaskEngine tasks(1);
    Turner turner(tasks.completions, device->device());
    const std::byte before = memory[0];
    const BufHandle buf = inventory.full(map, memory.data(), 1);
    Task task;
    ASSERT_EQ(turner.turn(task.tag(), *buf), DOCA_SUCCESS);
    EXPECT_EQ(turner.turn(task.tag(), *buf), DOCA_ERROR_NO_MEMORY);
    tasks.run(task);
    EXPECT_EQ(memory[0], ~before);
}

} // namespace
