// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors

/**
 * @file doca_graph.h
 * Graph: jobs, callbacks and other graphs, run on a work queue in the order of their dependencies.
 *
 * Order of use:
 * -# doca_graph_create(), the functions that create nodes, doca_graph_add_dependency(), doca_graph_start(),
 *   doca_graph_workq_add().
 * -# For each instance: doca_graph_instance_create(), and the data of every node.
 * -# doca_workq_graph_submit(); doca_workq_progress_retrieve() until the instance comes back:
 *   doca_event::type is DOCA_GRAPH_JOB, result.u64 the instance's doca_error_t, user_data as submitted.
 * -# Destroy the instances, doca_graph_workq_rm(), doca_graph_stop(), doca_graph_destroy().
 *
 * Exactly one event comes per submitted instance; while only inner nodes end, retrieve gives
 * DOCA_ERROR_AGAIN. Instances and jobs of their own may be on the same work queue at the same time.
 *
 * A node starts when all nodes that it depends on have succeeded. Those without any are roots: their jobs
 * start in submit, everything else starts in retrieve (opendoca). Once a node fails no further node starts,
 * and the instance completes, failed, when those in flight have ended; retrieve then gives
 * DOCA_ERROR_IO_FAILED, and result.u64 is the error of the node that failed first (opendoca). A full context
 * only delays a node. Nothing is allocated between submit and completion.
 *
 * opendoca: a sub-graph is in flight as a job is: when a node beside it fails, it runs to its own end. It
 * fails its node when one of its own nodes fails.
 *
 * opendoca: in event-driven mode an armed handle also becomes readable when a node is ready to start;
 * retrieve until DOCA_ERROR_AGAIN and arm again, as always.
 *
 * Outputs are written only on success.
 * "Threads: any" below means that any threads may call at the same time, "Threads: one" that calls on the
 * same object must not overlap. An instance in flight belongs to the thread of its work queue.
 */

#ifndef DOCA_GRAPH_H_
#define DOCA_GRAPH_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A graph. Opaque. */
struct doca_graph;
/** A node of a graph, owned by it. Opaque. */
struct doca_graph_node;
/** One run of a graph, with the data of its nodes. Opaque. */
struct doca_graph_instance;

/** Values of doca_event::type. */
enum doca_graph_job_types {
    DOCA_GRAPH_JOB = DOCA_ACTION_GRAPH_FIRST + 1, /**< A graph instance has ended. */
};

/** State of a node in an instance. */
enum doca_graph_instance_node_state {
    DOCA_GRAPH_INSTANCE_NODE_STATE_NOT_STARTED = 0, /**< Waits for nodes, or the instance failed before it. */
    DOCA_GRAPH_INSTANCE_NODE_STATE_STARTED = 1,     /**< In flight: a job or sub-graph that has not ended. */
    DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED = 2,   /**< Ended with DOCA_SUCCESS. */
    DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR = 3,       /**< Ended with another result. */
};

/**
 * Callback of a user node. Runs inside doca_workq_progress_retrieve. opendoca: that of a root, too; it must
 * not call functions of the work queue, nor let an exception out; it may change the jobs of nodes that have
 * not started.
 *
 * @param [in] cookie What doca_graph_instance_set_user_node_data was given.
 * @param [in] ev Event given there, to be filled if wanted; NULL if none was.
 * @return Result of the node; anything but DOCA_SUCCESS fails it.
 */
typedef doca_error_t (*doca_graph_user_node_cb_t)(void *cookie, struct doca_event *ev);

/* Graph. State of the building functions: before start, and not yet a node of another graph (opendoca). */

/**
 * Create an empty graph.
 *
 * State: any. Threads: any.
 *
 * @param [out] graph The new graph; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph is NULL.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_create(struct doca_graph **graph);

/**
 * Destroy a graph with its nodes.
 *
 * State: without instances, on no work queue. Threads: one.
 *
 * @param [in] graph The graph; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: it has instances, or is on a work queue. opendoca: or is a node of a graph.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_destroy(struct doca_graph *graph);

/**
 * Add a node that submits a job to a context.
 *
 * State: before start. Threads: one.
 *
 * @param [in] graph The graph; not NULL.
 * @param [in] job_type doca_job::type of the jobs that the node will be given.
 * @param [in] ctx Their context; not NULL. Once it is destroyed, it counts as one that is not started.
 * @param [out] node The new node, a root until it is made to depend on another; not NULL. Owned by the graph.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_BAD_STATE: the graph is started. opendoca: or a node of another graph.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_ctx_node_create(struct doca_graph *graph, int job_type,
                                                            const struct doca_ctx *ctx, struct doca_graph_node **node);

/**
 * Add a node that calls a function.
 *
 * State: before start. Threads: one.
 *
 * @param [in] graph The graph; not NULL.
 * @param [in] cb The function; not NULL.
 * @param [out] node The new node, a root until it is made to depend on another; not NULL. Owned by the graph.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the graph is started. opendoca: or a node of another graph.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_user_node_create(struct doca_graph *graph, doca_graph_user_node_cb_t cb,
                                                             struct doca_graph_node **node);

/**
 * Add a node that runs an instance of another graph.
 *
 * State: before start. Threads: one.
 *
 * @param [in] graph The graph; not NULL.
 * @param [in] sub_graph The other graph, started; not NULL. Must outlive this one. opendoca: nothing can be
 *   added to it any more, also when it is stopped.
 * @param [out] node The new node, a root until it is made to depend on another; not NULL. Owned by the graph.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the graph is started, or the sub-graph is not. opendoca: or the graph is a node of
 *   another.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 * - DOCA_ERROR_NOT_PERMITTED: the graph would contain itself.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_sub_graph_node_create(struct doca_graph *graph,
                                                                  struct doca_graph *sub_graph,
                                                                  struct doca_graph_node **node);

/**
 * Let a node start only after another has succeeded. opendoca: saying so twice has no further effect.
 *
 * State: before start. Threads: one.
 *
 * @param [in] graph The graph; not NULL.
 * @param [in] from The node that comes first; not NULL, of this graph.
 * @param [in] to The node that waits; not NULL, of this graph.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL or a node is of another graph.
 * - DOCA_ERROR_BAD_STATE: the graph is started. opendoca: or a node of another graph.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 * - DOCA_ERROR_NOT_PERMITTED: it would close a circle.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from,
                                                           struct doca_graph_node *to);

/**
 * Start a graph: nothing can be added to it any more. It needs at least one context node, which may be in a
 * sub-graph, and all contexts of its nodes started; opendoca: its sub-graphs, too.
 *
 * State: not started. Threads: one.
 *
 * @param [in] graph The graph; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph is NULL. opendoca: or it has no context node.
 * - DOCA_ERROR_BAD_STATE: a context is not started. opendoca: or a sub-graph, or the graph already is.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_start(struct doca_graph *graph);

/**
 * Stop a graph. Nodes and dependencies stay, and may be added to.
 *
 * State: started, without instances, on no work queue. Threads: one.
 *
 * @param [in] graph The graph; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: it has instances, or is on a work queue.
 * - DOCA_ERROR_BAD_STATE: opendoca: it is not started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_stop(struct doca_graph *graph);

/**
 * Add a graph to a work queue, so that its instances can be submitted there. Its sub-graphs need no adding.
 *
 * State: started, and all contexts of its nodes added to the work queue. Threads: any, on different work
 * queues.
 *
 * @param [in] graph The graph; not NULL.
 * @param [in] workq The work queue; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: not started, or a context is not on the work queue.
 * - DOCA_ERROR_IN_USE: opendoca: the graph is already on it.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_workq_add(struct doca_graph *graph, struct doca_workq *workq);

/**
 * Remove a graph from a work queue, which can't be destroyed before.
 *
 * State: started, no instance in flight there. Threads: any, on different work queues.
 *
 * @param [in] graph The graph; not NULL.
 * @param [in] workq The work queue; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_IN_USE: an instance is in flight there.
 * - DOCA_ERROR_BAD_STATE: not started, or not on that work queue.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_workq_rm(struct doca_graph *graph, struct doca_workq *workq);

/* Instance */

/**
 * Create an instance of a graph. All that it needs to run is allocated here.
 *
 * State: graph started. Threads: one (on the graph).
 *
 * @param [in] graph The graph; not NULL.
 * @param [out] graph_instance The new instance; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the graph is not started.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_create(const struct doca_graph *graph,
                                                            struct doca_graph_instance **graph_instance);

/**
 * Destroy an instance.
 *
 * State: not in flight, not the data of another instance's node. Threads: one (on the graph).
 *
 * @param [in] graph_instance The instance; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph_instance is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: it is in flight, or set as another's sub-graph instance.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance);

/**
 * Give a context node its job. The job is read when the node starts, so that earlier nodes may still change
 * it.
 *
 * State: not in flight. Threads: one.
 *
 * @param [in] graph_instance The instance; not NULL.
 * @param [in] node A context node of its graph; not NULL.
 * @param [in] job The job, of the node's type and context; not NULL. Must outlive the instance.
 * @param [in] ev Gets a copy of the job's event; NULL if not wanted. Must outlive the instance.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer other than ev is NULL.
 * - DOCA_ERROR_BAD_STATE: the instance is in flight.
 * - DOCA_ERROR_NOT_PERMITTED: the node is no context node of this graph, or the job's type or context
 *   differs.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance,
                                                                       struct doca_graph_node *node,
                                                                       struct doca_job *job, struct doca_event *ev);

/**
 * Give a user node its cookie.
 *
 * State: not in flight. Threads: one.
 *
 * @param [in] graph_instance The instance; not NULL.
 * @param [in] node A user node of its graph; not NULL.
 * @param [in] cookie First argument of the callback; may be NULL.
 * @param [in] ev Second argument of the callback; NULL if not wanted. Must outlive the instance.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: graph_instance or node is NULL.
 * - DOCA_ERROR_BAD_STATE: the instance is in flight.
 * - DOCA_ERROR_NOT_PERMITTED: the node is no user node of this graph.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance,
                                                                        struct doca_graph_node *node, void *cookie,
                                                                        struct doca_event *ev);

/**
 * Give a sub-graph node the instance that it runs.
 *
 * State: not in flight. Threads: one.
 *
 * @param [in] graph_instance The instance; not NULL.
 * @param [in] node A sub-graph node of its graph; not NULL.
 * @param [in] sub_graph_instance An instance of the node's sub-graph, with its data set; not NULL. Must
 *   outlive the instance. opendoca: it can be the data of several nodes, if no two of them run at the same
 *   time: a node whose instance is in flight already fails with DOCA_ERROR_IN_USE.
 * @param [in] ev Gets the sub-graph's event, in which user_data is 0; NULL if not wanted. Must outlive the
 *   instance.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer other than ev is NULL.
 * - DOCA_ERROR_BAD_STATE: the instance is in flight.
 * - DOCA_ERROR_NOT_PERMITTED: the node is no sub-graph node of this graph, or the instance is of another
 *   graph.
 */
__DOCA_EXPERIMENTAL doca_error_t
doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *graph_instance, struct doca_graph_node *node,
                                            struct doca_graph_instance *sub_graph_instance, struct doca_event *ev);

/**
 * Submit an instance. Until it has been retrieved, it takes the room on the work queue of as many jobs as it
 * has context nodes, those of sub-graphs included, and one more. It may then be submitted again.
 *
 * State: not in flight. Threads: the work queue's.
 *
 * @param [in] workq The work queue, with the graph added; not NULL.
 * @param [in] graph_instance The instance, data of all nodes set; not NULL.
 * @param [in] user_data Comes back in doca_event::user_data.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL. opendoca: or a node has no data, also in a sub-graph.
 * - DOCA_ERROR_IN_USE: the instance is in flight.
 * - DOCA_ERROR_NO_MEMORY: the work queue has no room for all nodes.
 * - DOCA_ERROR_NOT_FOUND: opendoca: the graph is not on the work queue.
 * - any error that doca_workq_submit gives for the job of a root. opendoca: that of the first root; nothing
 *   has been done then. Once a root's job has been taken, what another is refused for fails the instance.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_graph_submit(struct doca_workq *workq,
                                                         struct doca_graph_instance *graph_instance,
                                                         union doca_data user_data);

/* Once an instance was retrieved, until it is submitted again. Threads: one. */

/**
 * Number of nodes that failed; those of sub-graphs count in their own instances.
 *
 * @param [in] graph_instance The instance; not NULL.
 * @param [out] num_failed_nodes The number; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t
doca_graph_instance_get_num_failed_nodes(const struct doca_graph_instance *graph_instance, uint32_t *num_failed_nodes);

/**
 * Nodes that failed.
 *
 * @param [in] graph_instance The instance; not NULL.
 * @param [out] failed_nodes Room for *num_failed_nodes nodes; not NULL.
 * @param [in,out] num_failed_nodes In: the room; out: how many nodes were written, at most the room. Not
 *   NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_get_failed_nodes(const struct doca_graph_instance *graph_instance,
                                                                      const struct doca_graph_node **failed_nodes,
                                                                      uint32_t *num_failed_nodes);

/**
 * State of a node.
 *
 * @param [in] graph_instance The instance; not NULL.
 * @param [in] node A node of its graph; not NULL.
 * @param [out] state The state; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: the node is of another graph.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_node_get_state(const struct doca_graph_instance *graph_instance,
                                                                    const struct doca_graph_node *node,
                                                                    enum doca_graph_instance_node_state *state);

/**
 * Result of a node: doca_event::result of its job, or the callback's or sub-graph's doca_error_t in u64.
 *
 * @param [in] graph_instance The instance; not NULL.
 * @param [in] node A node of its graph; not NULL.
 * @param [out] result The result; not NULL. Valid if the node has ended. opendoca: where a job's result is a
 *   structure, and no event was given, the doca_error_t.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: the node is of another graph.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_graph_instance_node_get_result(const struct doca_graph_instance *graph_instance,
                                                                     const struct doca_graph_node *node,
                                                                     union doca_data *result);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_GRAPH_H_ */
