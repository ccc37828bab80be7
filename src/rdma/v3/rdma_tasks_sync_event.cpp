// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of the tasks on another node's sync event: each checks for null pointers and sets or reads one field.
// The remote side of the operation is the event's counter, described at the submit: see RemoteEventTask.
#include "task_api.hpp"

using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::allocate;
using opendoca::v3::is_supported;
using opendoca::v3::set_conf;

// Get: reads the counter, so it needs no atomics.
doca_error_t doca_rdma_cap_task_remote_net_sync_event_get_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, &opendoca::RdmaCapabilities::reliable_connection);
}

doca_error_t doca_rdma_task_remote_net_sync_event_get_set_conf(
    struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_get_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_remote_net_sync_event_get_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
    return set_conf(rdma, &doca_rdma::event_get, successful_task_completion_cb, error_task_completion_cb, num_tasks);
}

/// The value is appended to the data section of @p dst_buf, 8 bytes in the byte order of the event's node.
doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(
    struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
    const struct doca_sync_event_remote_net *event, struct doca_buf *dst_buf, union doca_data user_data,
    struct doca_rdma_task_remote_net_sync_event_get **task)
{
    return allocate(rdma, &doca_rdma::event_get, user_data, task, [&](auto &fresh) {
        fresh.set_event(event);
        fresh.connection = rdma_connection;
        fresh.dst = dst_buf;
        fresh.result_length = 0;
    });
}

struct doca_task *
doca_rdma_task_remote_net_sync_event_get_as_task(struct doca_rdma_task_remote_net_sync_event_get *task)
{
    return task;
}

void doca_rdma_task_remote_net_sync_event_get_set_sync_event(struct doca_rdma_task_remote_net_sync_event_get *task,
                                                             const struct doca_sync_event_remote_net *event)
{
    apply_to(task, [&] { task->set_event(event); });
}

const struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_get_get_sync_event(const struct doca_rdma_task_remote_net_sync_event_get *task)
{
    return read_from(task, [&] { return task->event; });
}

void doca_rdma_task_remote_net_sync_event_get_set_dst_buf(struct doca_rdma_task_remote_net_sync_event_get *task,
                                                          struct doca_buf *dst_buf)
{
    apply_to(task, [&] { task->dst = dst_buf; });
}

struct doca_buf *
doca_rdma_task_remote_net_sync_event_get_get_dst_buf(const struct doca_rdma_task_remote_net_sync_event_get *task)
{
    return read_from(task, [&] { return task->dst; });
}

uint32_t
doca_rdma_task_remote_net_sync_event_get_get_result_len(const struct doca_rdma_task_remote_net_sync_event_get *task)
{
    return read_from(task, [&] { return task->result_length; });
}

void doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(struct doca_rdma_task_remote_net_sync_event_get *task,
                                                                  struct doca_rdma_connection *rdma_connection)
{
    apply_to(task, [&] { task->connection = rdma_connection; });
}

const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(
    const struct doca_rdma_task_remote_net_sync_event_get *task)
{
    return read_from(task, [&] { return task->connection; });
}

// Notify set: writes the counter.
doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, &opendoca::RdmaCapabilities::reliable_connection);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
    struct doca_rdma *rdma,
    doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
    return set_conf(rdma, &doca_rdma::event_set, successful_task_completion_cb, error_task_completion_cb, num_tasks);
}

/// @p src_buf has the new value as its data, 8 bytes.
doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
    struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_sync_event_remote_net *event,
    const struct doca_buf *src_buf, union doca_data user_data,
    struct doca_rdma_task_remote_net_sync_event_notify_set **task)
{
    return allocate(rdma, &doca_rdma::event_set, user_data, task, [&](auto &fresh) {
        fresh.set_event(event);
        fresh.connection = rdma_connection;
        fresh.src = src_buf;
        fresh.result_length = 0;
    });
}

struct doca_task *
doca_rdma_task_remote_net_sync_event_notify_set_as_task(struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
    return task;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(
    struct doca_rdma_task_remote_net_sync_event_notify_set *task, struct doca_sync_event_remote_net *event)
{
    apply_to(task, [&] { task->set_event(event); });
}

struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(
    const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
    // The cast is safe: the program has set the event by a pointer to a non-constant object.
    return read_from(task, [&] { return const_cast<doca_sync_event_remote_net *>(task->event); });
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
    struct doca_rdma_task_remote_net_sync_event_notify_set *task, struct doca_rdma_connection *rdma_connection)
{
    apply_to(task, [&] { task->connection = rdma_connection; });
}

const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
    const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
    return read_from(task, [&] { return task->connection; });
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(
    struct doca_rdma_task_remote_net_sync_event_notify_set *task, const struct doca_buf *src_buf)
{
    apply_to(task, [&] { task->src = src_buf; });
}

const struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(
    const struct doca_rdma_task_remote_net_sync_event_notify_set *task)
{
    return read_from(task, [&] { return task->src; });
}

// Notify add: a fetch-and-add of the counter, so it needs a device with atomics.
doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, &opendoca::RdmaCapabilities::atomics_of_connections);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
    struct doca_rdma *rdma,
    doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
    return set_conf(rdma, &doca_rdma::event_add, successful_task_completion_cb, error_task_completion_cb, num_tasks);
}

/// @p result_buf receives the value before the addition.
doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
    struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_sync_event_remote_net *event,
    struct doca_buf *result_buf, uint64_t add_data, union doca_data user_data,
    struct doca_rdma_task_remote_net_sync_event_notify_add **task)
{
    return allocate(rdma, &doca_rdma::event_add, user_data, task, [&](auto &fresh) {
        fresh.set_event(event);
        fresh.connection = rdma_connection;
        fresh.result = result_buf;
        fresh.operand = add_data;
        fresh.result_length = 0;
    });
}

struct doca_task *
doca_rdma_task_remote_net_sync_event_notify_add_as_task(struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
    return task;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(
    struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_sync_event_remote_net *event)
{
    apply_to(task, [&] { task->set_event(event); });
}

struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(
    const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
    // The cast is safe: the program has set the event by a pointer to a non-constant object.
    return read_from(task, [&] { return const_cast<doca_sync_event_remote_net *>(task->event); });
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(
    struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_buf *result_buf)
{
    apply_to(task, [&] { task->result = result_buf; });
}

struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(
    const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
    return read_from(task, [&] { return task->result; });
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(
    struct doca_rdma_task_remote_net_sync_event_notify_add *task, uint64_t add_data)
{
    apply_to(task, [&] { task->operand = add_data; });
}

uint64_t doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(
    const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
    return read_from(task, [&] { return task->operand; });
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
    struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_rdma_connection *rdma_connection)
{
    apply_to(task, [&] { task->connection = rdma_connection; });
}

const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
    const struct doca_rdma_task_remote_net_sync_event_notify_add *task)
{
    return read_from(task, [&] { return task->connection; });
}
