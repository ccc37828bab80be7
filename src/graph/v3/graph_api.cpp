// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of graphs and their instances.
#include "../../core/v3/call.hpp"
#include "instance.hpp"

using opendoca::NodeKind;
using opendoca::v3::call;

doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph)
{
    return call({pe, graph}, [&] { *graph = new doca_graph(*pe); });
}

doca_error_t doca_graph_destroy(struct doca_graph *graph)
{
    return call({graph}, [&] {
        const doca_error_t status = graph->check_destroyable();
        if (status == DOCA_SUCCESS)
            delete graph;
        return status;
    });
}

doca_error_t doca_graph_set_conf(struct doca_graph *graph, doca_graph_completion_cb_t graph_completion_cb,
                                 doca_graph_completion_cb_t graph_error_cb, uint32_t num_instances)
{
    return call(
        {graph, reinterpret_cast<const void *>(graph_completion_cb), reinterpret_cast<const void *>(graph_error_cb)},
        [&] { return graph->set_conf(graph_completion_cb, graph_error_cb, num_instances); });
}

doca_error_t doca_graph_set_user_data(struct doca_graph *graph, union doca_data user_data)
{
    return call({graph}, [&] { graph->user_data = user_data; });
}

doca_error_t doca_graph_get_user_data(const struct doca_graph *graph, union doca_data *user_data)
{
    return call({graph, user_data}, [&] { *user_data = graph->user_data; });
}

doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph, const struct doca_ctx *ctx,
                                             struct doca_graph_node **node)
{
    return call({graph, ctx, node}, [&] { return graph->add_context_node(ctx->share_address(), 0, *node); });
}

doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph, doca_graph_user_node_cb_t cb,
                                              struct doca_graph_node **node)
{
    return call({graph, reinterpret_cast<const void *>(cb), node}, [&] {
        return graph->add_node(NodeKind::user, {.callback = reinterpret_cast<void (*)()>(cb)}, 0, *node);
    });
}

doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph, struct doca_graph *sub_graph,
                                               struct doca_graph_node **node)
{
    return call({graph, sub_graph, node}, [&] { return graph->add_sub_graph(*sub_graph, *node); });
}

doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from,
                                       struct doca_graph_node *to)
{
    return call({graph, from, to}, [&] { return graph->add_dependency(*from, *to, DOCA_ERROR_INVALID_VALUE); });
}

doca_error_t doca_graph_start(struct doca_graph *graph)
{
    return call({graph}, [&] { return graph->start(); });
}

doca_error_t doca_graph_stop(struct doca_graph *graph)
{
    return call({graph}, [&] { return graph->stop(); });
}

doca_error_t doca_graph_instance_create(const struct doca_graph *graph, struct doca_graph_instance **graph_instance)
{
    return call({graph, graph_instance}, [&] {
        const doca_error_t status = graph->check_instantiable();
        if (status == DOCA_SUCCESS) // the cast: instances change the graph, which the program created as not const
            *graph_instance = new doca_graph_instance(const_cast<doca_graph &>(*graph));
        return status;
    });
}

doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance)
{
    return call({graph_instance}, [&] {
        const doca_error_t status = graph_instance->check_unused();
        if (status == DOCA_SUCCESS)
            delete graph_instance;
        return status;
    });
}

doca_error_t doca_graph_instance_set_user_data(struct doca_graph_instance *graph_instance, union doca_data user_data)
{
    return call({graph_instance}, [&] {
        const doca_error_t status = graph_instance->check_not_submitted();
        if (status == DOCA_SUCCESS)
            graph_instance->user_data = user_data;
        return status;
    });
}

doca_error_t doca_graph_instance_get_user_data(const struct doca_graph_instance *graph_instance,
                                               union doca_data *user_data)
{
    return call({graph_instance, user_data}, [&] { *user_data = graph_instance->user_data; });
}

doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance,
                                                   struct doca_graph_node *node, struct doca_task *task)
{
    return call({graph_instance, node, task}, [&] { return graph_instance->set_task(*node, *task); });
}

doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance,
                                                    struct doca_graph_node *node, void *cookie)
{
    return call({graph_instance, node}, [&] { return graph_instance->set_cookie(*node, cookie); });
}

doca_error_t doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *graph_instance,
                                                         struct doca_graph_node *node,
                                                         struct doca_graph_instance *sub_graph_instance)
{
    return call({graph_instance, node, sub_graph_instance},
                [&] { return graph_instance->set_sub_instance(*node, *sub_graph_instance); });
}

doca_error_t doca_graph_instance_submit(struct doca_graph_instance *graph_instance)
{
    return call({graph_instance}, [&] { return graph_instance->submit(); });
}
