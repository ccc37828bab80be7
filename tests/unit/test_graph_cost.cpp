// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Once instances were created, running them allocates and locks nothing, and asks the kernel for nothing.
#include <cstddef>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "../conformance/support/child_process.hpp"
#include "../conformance/support/graph_fixture.hpp"
#include "../conformance/support/sanitizers.hpp"
#include "cost_counters.hpp"

namespace {

using namespace doca_test;

struct Report {
    bool is_trapping;
    bool has_succeeded;
    Costs costs;
};

/// Layers of nodes, each after all of the layer before; one in three is a copy. Before them a sub-graph.
class Layers {
public:
    explicit Layers(DmaEngine &engine, doca_job &job)
    {
        doca_graph_node *const in_job = inner_.add_copy(engine.ctx());
        doca_graph_node *const in_user = inner_.add_user();
        inner_.order(in_job, in_user);
        inner_.start();
        std::vector<doca_graph_node *> before = {graph_.add_graph(inner_)};
        doca_graph_node *const sub_node = before.front();
        std::vector<doca_graph_node *> nodes;
        for (int layer = 0; layer < 4; ++layer) {
            std::vector<doca_graph_node *> now;
            for (int i = 0; i < 6; ++i) {
                now.push_back(i % 3 == 0 ? graph_.add_copy(engine.ctx()) : graph_.add_user());
                for (doca_graph_node *const node : before)
                    graph_.order(node, now.back());
            }
            nodes.insert(nodes.end(), now.begin(), now.end());
            before = now;
        }
        graph_.start_on(engine.workq());
        for (int k = 0; k < 3; ++k) {
            subs_.push_back(inner_.instance());
            must(doca_graph_instance_set_ctx_node_data(subs_[k], in_job, &job, nullptr));
            must(doca_graph_instance_set_user_node_data(subs_[k], in_user, &step_, nullptr));
            instances_.push_back(graph_.instance());
            must(doca_graph_instance_set_sub_graph_node_data(instances_[k], sub_node, subs_[k], nullptr));
            for (doca_graph_node *const node : nodes) {
                if (doca_graph_instance_set_ctx_node_data(instances_[k], node, &job, nullptr) != DOCA_SUCCESS)
                    must(doca_graph_instance_set_user_node_data(instances_[k], node, &step_, nullptr));
            }
        }
    }

    /// All instances, many times.
    bool run(doca_workq *workq)
    {
        for (int i = 0; i < 1000; ++i) {
            for (const InstanceHandle &instance : instances_) {
                if (submit(workq, instance) != DOCA_SUCCESS)
                    return false;
            }
            for (std::size_t ended = 0; ended != instances_.size();) {
                doca_event event;
                const doca_error_t status = doca_workq_progress_retrieve(workq, &event, 0);
                if (status != DOCA_SUCCESS && status != DOCA_ERROR_AGAIN)
                    return false;
                ended += status == DOCA_SUCCESS;
            }
        }
        return true;
    }

private:
    TestGraph inner_;
    TestGraph graph_;
    Step step_;
    std::vector<InstanceHandle> subs_;
    std::vector<InstanceHandle> instances_;
};

TEST(GraphCost, OfRunningIsNothing)
{
    if (is_sanitized)
        GTEST_SKIP() << "a sanitizer allocates, locks and calls the kernel on its own";
    const std::vector<GraphParam> params = graph_params();
    for (const GraphParam &param : params) {
        if (!param.device.is_soft())
            continue;
        void *const shared = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(shared, MAP_FAILED);
        auto &report = *static_cast<Report *>(shared);
        const int status = in_forked_child([&] {
            const Environment defer("DOCA_SOFT_DEFER", param.is_deferred ? "1" : nullptr);
            const DevHandle dev = open_device(param.device);
            std::vector<std::byte> memory(200);
            const LocalMap map(dev, memory);
            const Inventory inventory(2);
            const BufHandle src = inventory.full(map, &memory[0], 64);
            const BufHandle dst = inventory.full(map, &memory[100], 64);
            DmaEngine engine(dev, 64);
            doca_dma_job_memcpy job = memcpy_job(engine.ctx(), dst, src);
            Layers layers(engine, job.base);
            (void)layers.run(engine.workq());
            report.is_trapping = trap_system_calls();
            if (!report.is_trapping)
                return 0;
            begin_counting();
            report.has_succeeded = layers.run(engine.workq());
            report.costs = end_counting();
            _exit(0); // nothing else works any more
        });
        EXPECT_EQ(status, 0);
        const Report result = report;
        munmap(shared, sizeof(Report));
        if (!result.is_trapping)
            GTEST_SKIP() << "the kernel does not let this process filter its system calls";
        EXPECT_TRUE(result.has_succeeded) << param;
        EXPECT_EQ(result.costs, Costs{}) << param;
    }
}

} // namespace
