// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Graphs on a work queue of DOCA 2.2: what graph_shape.hpp leaves to the generation.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doca_graph.h>

#include "dma_jobs.hpp"

namespace opendoca::tools {

namespace {

/// The callback of nodes that count. @p cookie is the node's counter.
doca_error_t count_node(void *cookie, doca_event *)
{
    ++*static_cast<std::uint64_t *>(cookie);
    return DOCA_SUCCESS;
}

/// A graph with one instance, which runs again and again. Owned by the benchmark and used by its only thread.
class JobGraph final : public GraphRunner {
public:
    JobGraph(const GraphShape &shape, const DmaJobs &session)
        : GraphRunner(shape.num_nodes()),
          workq_(session.workq()),
          map_(session.map(work.memory)),
          jobs_(shape.num_nodes())
    {
        doca_graph *graph = nullptr;
        must(doca_graph_create(&graph), "creating a graph");
        graph_.reset(graph);
        std::vector<doca_graph_node *> nodes(shape.num_nodes());
        for (std::uint32_t i = 0; i != nodes.size(); ++i) {
            must(shape.is_copy(i) ? doca_graph_ctx_node_create(graph, DOCA_DMA_JOB_MEMCPY, session.ctx(), &nodes[i])
                                  : doca_graph_user_node_create(graph, count_node, &nodes[i]),
                 "creating a node");
        }
        for (const auto &[from, to] : shape.edges())
            must(doca_graph_add_dependency(graph, nodes[from], nodes[to]), "adding a dependency");
        must(doca_graph_start(graph), "starting a graph");
        must(doca_graph_workq_add(graph, workq_), "adding a graph to a work queue");
        doca_graph_instance *instance = nullptr;
        must(doca_graph_instance_create(graph, &instance), "creating an instance");
        instance_.reset(instance);
        for (std::uint32_t i = 0; i != nodes.size(); ++i) {
            if (shape.is_copy(i))
                set_job(i, nodes[i], session);
            else
                must(doca_graph_instance_set_user_node_data(instance, nodes[i], &work.counts[i], nullptr),
                     "setting a node's data");
        }
    }
    JobGraph(const JobGraph &) = delete;
    JobGraph &operator=(const JobGraph &) = delete;
    ~JobGraph() override
    {
        // The instance before its graph, and buffers after the jobs that use them.
        instance_.reset();
        (void)doca_graph_workq_rm(graph_.get(), workq_);
        (void)doca_graph_stop(graph_.get());
        for (const doca_dma_job_memcpy &job : jobs_) {
            if (job.src_buff == nullptr)
                continue;
            (void)doca_buf_refcount_rm(job.dst_buff, nullptr);
            (void)doca_buf_refcount_rm(const_cast<doca_buf *>(job.src_buff), nullptr);
        }
    }

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            must(doca_workq_graph_submit(workq_, instance_.get(), {}), "submitting an instance");
            doca_event event;
            doca_error_t status = DOCA_ERROR_AGAIN;
            // One event for the whole instance.
            while (status == DOCA_ERROR_AGAIN)
                status = doca_workq_progress_retrieve(workq_, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
            must(status, "running an instance");
        }
    }

private:
    /// Builds the copy of a node and attaches it to the instance.
    void set_job(std::uint32_t number, doca_graph_node *node, const DmaJobs &session)
    {
        doca_dma_job_memcpy &job = jobs_[number];
        doca_buf *const src = session.take_buf(map_.get(), work.src(), graph_copy_size);
        job.src_buff = src;
        job.dst_buff = session.take_buf(map_.get(), work.dst(number), graph_copy_size);
        must(doca_buf_set_data(src, work.src(), graph_copy_size), "setting the source's data");
        job.base.type = DOCA_DMA_JOB_MEMCPY;
        job.base.ctx = session.ctx();
        must(doca_graph_instance_set_ctx_node_data(instance_.get(), node, &job.base, nullptr), "setting a node's data");
    }

    doca_workq *workq_;
    MmapHandle map_;
    std::vector<doca_dma_job_memcpy> jobs_; ///< by node; empty for nodes that count
    Handle<doca_graph, doca_graph_destroy> graph_;
    Handle<doca_graph_instance, doca_graph_instance_destroy> instance_;
};

} // namespace

std::unique_ptr<GraphRunner> make_job_graph(const GraphShape &shape, DmaJobs &session)
{
    return std::make_unique<JobGraph>(shape, session);
}

} // namespace opendoca::tools
