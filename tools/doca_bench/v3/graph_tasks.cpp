// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Graphs on a progress engine of DOCA 3.0: what graph_shape.hpp leaves to the generation.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include <doca_graph.h>

#include "dma_tasks.hpp"

namespace opendoca::tools {

namespace {

/// The callback of nodes that count. @p cookie is the node's counter.
doca_error_t count_node(void *cookie)
{
    ++*static_cast<std::uint64_t *>(cookie);
    return DOCA_SUCCESS;
}

/// A graph with one instance, which runs again and again. Owned by the benchmark and used by its only thread, which
/// also runs the callbacks.
class TaskGraph final : public GraphRunner {
public:
    TaskGraph(const GraphShape &shape, DmaTasks &session)
        : TaskGraph(shape.num_nodes(), session) // delegates, so that an exception below still frees the tasks
    {
        doca_graph *graph = nullptr;
        must(doca_graph_create(pe_, &graph), "creating a graph");
        graph_.reset(graph);
        std::vector<doca_graph_node *> nodes(shape.num_nodes());
        for (std::uint32_t i = 0; i != nodes.size(); ++i) {
            must(shape.is_copy(i) ? doca_graph_node_create_from_ctx(graph, doca_dma_as_ctx(session.dma()), &nodes[i])
                                  : doca_graph_node_create_from_user(graph, count_node, &nodes[i]),
                 "creating a node");
        }
        for (const auto &[from, to] : shape.edges())
            must(doca_graph_add_dependency(graph, nodes[from], nodes[to]), "adding a dependency");
        must(doca_graph_set_conf(graph, ended, failed, 1), "configuring a graph");
        must(doca_graph_set_user_data(graph, doca_data{.ptr = this}), "setting a graph's user data");
        must(doca_graph_start(graph), "starting a graph");
        doca_graph_instance *instance = nullptr;
        must(doca_graph_instance_create(graph, &instance), "creating an instance");
        instance_.reset(instance);
        for (std::uint32_t i = 0; i != nodes.size(); ++i) {
            must(shape.is_copy(i) ? doca_graph_instance_set_ctx_node_data(instance, nodes[i], add_copy(i, session))
                                  : doca_graph_instance_set_user_node_data(instance, nodes[i], &work.counts[i]),
                 "setting a node's data");
        }
    }
    TaskGraph(const TaskGraph &) = delete;
    TaskGraph &operator=(const TaskGraph &) = delete;
    ~TaskGraph() override
    {
        // The instance before its tasks, and the tasks before their buffers.
        instance_.reset();
        for (doca_task *const task : tasks_)
            doca_task_free(task);
        (void)doca_graph_stop(graph_.get());
        for (doca_buf *const buf : bufs_)
            (void)api::drop_buf(buf, nullptr);
    }

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            is_running_ = true;
            must(doca_graph_instance_submit(instance_.get()), "submitting an instance");
            while (is_running_)
                (void)doca_pe_progress(pe_);
            if (has_failed_) [[unlikely]]
                throw_failure();
        }
    }

private:
    TaskGraph(std::uint32_t num_nodes, const DmaTasks &session)
        : GraphRunner(num_nodes),
          pe_(session.engine().pe()),
          map_(session.map(work.memory))
    {
    }

    /// Callbacks of the instance.
    static void ended(doca_graph_instance *, doca_data, doca_data graph_data)
    {
        static_cast<TaskGraph *>(graph_data.ptr)->is_running_ = false;
    }
    static void failed(doca_graph_instance *instance, doca_data instance_data, doca_data graph_data)
    {
        static_cast<TaskGraph *>(graph_data.ptr)->has_failed_ = true;
        ended(instance, instance_data, graph_data);
    }

    /// Throws the status of the task that has failed; nodes that count can't fail.
    [[noreturn]] void throw_failure() const
    {
        for (doca_task *const task : tasks_)
            must(doca_task_get_status(task), "running an instance");
        throw std::runtime_error("running an instance has failed");
    }

    /// Allocates the copy of a node.
    doca_task *add_copy(std::uint32_t node, DmaTasks &session)
    {
        doca_buf *const src = bufs_.emplace_back(session.take_buf(map_.get(), work.src(), graph_copy_size));
        doca_buf *const dst = bufs_.emplace_back(session.take_buf(map_.get(), work.dst(node), graph_copy_size));
        must(doca_buf_set_data(src, work.src(), graph_copy_size), "setting the source's data");
        doca_dma_task_memcpy *task = nullptr;
        must(doca_dma_task_memcpy_alloc_init(session.dma(), src, dst, doca_data{}, &task), "allocating a task");
        return tasks_.emplace_back(doca_dma_task_memcpy_as_task(task));
    }

    doca_pe *pe_;
    MmapHandle map_;
    std::vector<doca_buf *> bufs_;
    std::vector<doca_task *> tasks_;
    Handle<doca_graph, doca_graph_destroy> graph_;
    Handle<doca_graph_instance, doca_graph_instance_destroy> instance_;
    bool is_running_ = false; ///< from submission to the instance's callback
    bool has_failed_ = false;
};

} // namespace

std::unique_ptr<GraphRunner> make_task_graph(const GraphShape &shape, DmaTasks &session)
{
    return std::make_unique<TaskGraph>(shape, session);
}

} // namespace opendoca::tools
