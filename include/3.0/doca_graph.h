// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_graph.h
 * Graph: tasks, callbacks and other graphs, run on a progress engine in the order of their dependencies.
 *
 * Order of use:
 * - doca_graph_create(), the nodes, doca_graph_add_dependency(), doca_graph_set_conf(), doca_graph_start();
 * - for each instance doca_graph_instance_create(), and the data of every node;
 * - doca_graph_instance_submit(), and doca_pe_progress() until one of the graph's two callbacks tells that
 *   the instance has ended; it may be submitted again, with the same data or with other;
 * - destroy the instances, doca_graph_stop(), doca_graph_destroy(). The tasks are the program's and outlive
 *   the instances.
 *
 * A node starts when all nodes that it depends on have succeeded. Those without any are roots. Nodes start
 * within doca_graph_instance_submit() or doca_pe_progress(), callbacks of user nodes within the latter alone
 * (opendoca). Once a node fails no further node starts, and the instance has failed when those in flight have
 * ended. A full context only delays a node.
 *
 * The callbacks of a task are not called when it runs in a graph; doca_task_get_status() tells how it has
 * ended.
 *
 * opendoca: a sub-graph is in flight as a task is: when a node beside it fails, it runs to its own end. It
 * fails its node when one of its own nodes fails.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: a graph, its instances and its progress engine belong to one thread at a time.
 */
#ifndef DOCA_GRAPH_H_
#define DOCA_GRAPH_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL == 20500
#include <stdbool.h>
#endif
#if OPENDOCA_LEVEL < 20900
#include <doca_ctx.h>
#include <doca_pe.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_pe;
struct doca_task;

/** A graph. */
struct doca_graph;

/** One run of a graph, with the data of its nodes. */
struct doca_graph_instance;

/** A node of a graph, owned by it. */
struct doca_graph_node;

/**
 * Called within doca_pe_progress() when an instance has ended. It may submit the instance again, or destroy
 * it.
 *
 * @param [in] instance The instance, which is the program's again.
 * @param [in] instance_user_data The instance's word.
 * @param [in] graph_user_data The graph's word.
 */
typedef void (*doca_graph_completion_cb_t)(struct doca_graph_instance *instance, union doca_data instance_user_data,
                                           union doca_data graph_user_data);

/**
 * Callback of a user node. Called within doca_pe_progress(). opendoca: it must not let an exception out; it
 * may change the data of nodes that have not started.
 *
 * @param [in] cookie What doca_graph_instance_set_user_node_data() was given.
 * @return Result of the node; anything but DOCA_SUCCESS fails it.
 */
typedef doca_error_t (*doca_graph_user_node_cb_t)(void *cookie);

/**
 * Create an empty graph.
 *
 * @param [in] pe The progress engine that it will run on; it must outlive the graph.
 * @param [out] graph The graph. Free it with doca_graph_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_create(struct doca_pe *pe, struct doca_graph **graph);

/**
 * Destroy a graph with its nodes.
 *
 * State: stopped, or never started; not a node of another graph.
 *
 * @param [in] graph The graph.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph is NULL.
 * - DOCA_ERROR_BAD_STATE: it is started, or a node of a graph.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_destroy(struct doca_graph *graph);

/**
 * Configure the instances: their callbacks and their number. Needed before the start.
 *
 * State: before start.
 *
 * @param [in] graph The graph.
 * @param [in] graph_completion_cb Called for an instance that has succeeded.
 * @param [in] graph_error_cb Called for one that has failed; may be the same.
 * @param [in] num_instances How many can exist at a time; 1 or more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_instances is 0.
 * - DOCA_ERROR_BAD_STATE: the graph is started.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_set_conf(struct doca_graph *graph,
                                                   doca_graph_completion_cb_t graph_completion_cb,
                                                   doca_graph_completion_cb_t graph_error_cb, uint32_t num_instances);

/**
 * Set the word that the graph's callbacks get. State: any.
 *
 * @param [in] graph The graph.
 * @param [in] user_data The word.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_set_user_data(struct doca_graph *graph, union doca_data user_data);

/**
 * The word set by doca_graph_set_user_data(). State: any.
 *
 * @param [in] graph The graph.
 * @param [out] user_data The word; zero if none was set.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_get_user_data(const struct doca_graph *graph, union doca_data *user_data);

/**
 * Add a node that submits a task of a context.
 *
 * State: before start.
 *
 * @param [in] graph The graph.
 * @param [in] ctx The context, of the same progress engine. Once it is destroyed, it counts as one that does not run.
 * @param [out] node The node, a root until it is made to depend on another. Owned by the graph.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the graph is started, or (opendoca) a node of another one.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_node_create_from_ctx(struct doca_graph *graph, const struct doca_ctx *ctx,
                                                               struct doca_graph_node **node);

/**
 * Add a node that calls a function.
 *
 * State: before start.
 *
 * @param [in] graph The graph.
 * @param [in] cb The function.
 * @param [out] node The node, a root until it is made to depend on another. Owned by the graph.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the graph is started, or (opendoca) a node of another one.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_node_create_from_user(struct doca_graph *graph, doca_graph_user_node_cb_t cb,
                                                                struct doca_graph_node **node);

/**
 * Add a node that runs an instance of another graph.
 *
 * State: before start.
 *
 * @param [in] graph The graph.
 * @param [in] sub_graph The other graph, of the same progress engine, started. Must outlive the graph.
 * @param [out] node The node, a root until it is made to depend on another. Owned by the graph.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, both graphs are the same, or one would contain itself;
 *   opendoca: or they are on different progress engines.
 * - DOCA_ERROR_BAD_STATE: the graph is started, or (opendoca) a node of another one, or the sub-graph is not
 *   (opendoca).
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_node_create_from_graph(struct doca_graph *graph, struct doca_graph *sub_graph,
                                                                 struct doca_graph_node **node);

/**
 * Let a node wait for another one. opendoca: to say so twice is the same as once.
 *
 * State: before start.
 *
 * @param [in] graph The graph.
 * @param [in] from The node that has to succeed first.
 * @param [in] to The node that then starts.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, a node is of another graph, or both are the same;
 *   opendoca: or it would close a circle.
 * - DOCA_ERROR_BAD_STATE: the graph is started.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from,
                                                         struct doca_graph_node *to);

/**
 * Start a graph: its nodes are final.
 *
 * State: not started, set_conf done, with at least one context node (its own, or a sub-graph's); the contexts
 * of its nodes running.
 *
 * @param [in] graph The graph.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph is NULL.
 * - DOCA_ERROR_BAD_STATE: it is started, lacks set_conf or a context node, or a context is not running, or
 *   (opendoca) on another progress engine.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_start(struct doca_graph *graph);

/**
 * Stop a graph, which can then be changed and started again.
 *
 * State: without instances. opendoca: of a graph that is not started nothing changes.
 *
 * @param [in] graph The graph.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph is NULL.
 * - DOCA_ERROR_IN_USE: it has instances.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_stop(struct doca_graph *graph);

/**
 * Create an instance.
 *
 * State: graph started.
 *
 * @param [in] graph The graph.
 * @param [out] graph_instance The instance. Free it with doca_graph_instance_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the graph is not started.
 * - DOCA_ERROR_NO_MEMORY: as many as doca_graph_set_conf() has said exist, or no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_create(const struct doca_graph *graph,
                                                          struct doca_graph_instance **graph_instance);

/**
 * Destroy an instance. Its tasks stay.
 *
 * State: not submitted.
 *
 * @param [in] graph_instance The instance.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph_instance is NULL.
 * - DOCA_ERROR_IN_USE: it is submitted, or (opendoca) the data of a node of another one.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance);

/**
 * Set the word that the graph's callbacks get for this instance.
 *
 * State: not submitted.
 *
 * @param [in] graph_instance The instance.
 * @param [in] user_data The word.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph_instance is NULL.
 * - DOCA_ERROR_IN_USE: it is submitted.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_set_user_data(struct doca_graph_instance *graph_instance,
                                                                 union doca_data user_data);

/**
 * The word set by doca_graph_instance_set_user_data(). State: any.
 *
 * @param [in] graph_instance The instance.
 * @param [out] user_data The word; zero if none was set.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_get_user_data(const struct doca_graph_instance *graph_instance,
                                                                 union doca_data *user_data);

/**
 * Set the task of a context node.
 *
 * State: instance not submitted.
 *
 * @param [in] graph_instance The instance.
 * @param [in] node The node.
 * @param [in] task The task, of the node's context, not submitted. It stays the program's, and must not be
 * freed while an instance has it.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or node is not of the instance's graph.
 * - DOCA_ERROR_NOT_PERMITTED: the node is no context node, or the task is of another context.
 * - DOCA_ERROR_BAD_STATE: the instance is submitted.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance,
                                                                     struct doca_graph_node *node,
                                                                     struct doca_task *task);

/**
 * Set what the callback of a user node gets.
 *
 * State: instance not submitted.
 *
 * @param [in] graph_instance The instance.
 * @param [in] node The node.
 * @param [in] cookie The cookie; NULL is allowed.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: another argument is NULL, or node is not of the instance's graph.
 * - DOCA_ERROR_NOT_PERMITTED: the node is no user node.
 * - DOCA_ERROR_BAD_STATE: the instance is submitted.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance,
                                                                      struct doca_graph_node *node, void *cookie);

/**
 * Set the instance that a sub-graph node runs.
 *
 * State: instance not submitted.
 *
 * @param [in] graph_instance The instance.
 * @param [in] node The node.
 * @param [in] sub_graph_instance An instance of the node's graph.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or node is not of the instance's graph.
 * - DOCA_ERROR_NOT_PERMITTED: the node is no sub-graph node, or the sub-instance is of another graph.
 * - DOCA_ERROR_BAD_STATE: the instance is submitted.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
                                            struct doca_graph_instance *sub_graph_instance);

/**
 * Run an instance. One of the graph's callbacks tells of its end.
 *
 * State: instance not submitted, every node has its data (of user nodes NULL counts); graph started.
 *
 * @param [in] graph_instance The instance.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph_instance is NULL, or a node lacks its data. What lacks in an instance
 *   that it runs as a sub-graph, or that this one is submitted itself, fails the node (opendoca).
 * - DOCA_ERROR_IN_USE: it is submitted.
 * - whatever the submit of a root's task gave; nothing was submitted.
 */
DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_submit(struct doca_graph_instance *graph_instance);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_GRAPH_H_ */
