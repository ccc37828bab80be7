// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of the tasks compare_and_swap and fetch_and_add, each on 8 aligned bytes of the peer's memory: each
// checks for null pointers and sets or reads one field. All values are in host byte order. They are atomic with regard
// to other atomic tasks of the same device only, unless the device provides more.
#include "task_api.hpp"

using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::allocate;
using opendoca::v3::is_supported;
using opendoca::v3::set_conf;

// Compare-and-swap: stores swap_data if the remote word equals cmp_data.
doca_error_t doca_rdma_cap_task_atomic_cmp_swp_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, &opendoca::RdmaCapabilities::atomics_of_connections);
}

doca_error_t doca_rdma_task_atomic_cmp_swp_set_conf(
    struct doca_rdma *rdma, doca_rdma_task_atomic_cmp_swp_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_atomic_cmp_swp_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
    return set_conf(rdma, &doca_rdma::compare_and_swap, successful_task_completion_cb, error_task_completion_cb,
                    num_tasks);
}

/// @p result_buf receives the old value, in either case: the program compares it with @p cmp_data to find out whether
/// the swap has taken place.
doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(struct doca_rdma *rdma,
                                                         struct doca_rdma_connection *rdma_connection,
                                                         struct doca_buf *dst_buf, struct doca_buf *result_buf,
                                                         uint64_t cmp_data, uint64_t swap_data,
                                                         union doca_data user_data,
                                                         struct doca_rdma_task_atomic_cmp_swp **task)
{
    return allocate(rdma, &doca_rdma::compare_and_swap, user_data, task, [&](auto &fresh) {
        fresh.connection = rdma_connection;
        fresh.dst = dst_buf;
        fresh.result = result_buf;
        fresh.compare = cmp_data;
        fresh.operand = swap_data;
    });
}

struct doca_task *doca_rdma_task_atomic_cmp_swp_as_task(struct doca_rdma_task_atomic_cmp_swp *task)
{
    return task;
}

void doca_rdma_task_atomic_cmp_swp_set_dst_buf(struct doca_rdma_task_atomic_cmp_swp *task, struct doca_buf *dst_buf)
{
    apply_to(task, [&] { task->dst = dst_buf; });
}

struct doca_buf *doca_rdma_task_atomic_cmp_swp_get_dst_buf(const struct doca_rdma_task_atomic_cmp_swp *task)
{
    return read_from(task, [&] { return task->dst; });
}

void doca_rdma_task_atomic_cmp_swp_set_result_buf(struct doca_rdma_task_atomic_cmp_swp *task,
                                                  struct doca_buf *result_buf)
{
    apply_to(task, [&] { task->result = result_buf; });
}

struct doca_buf *doca_rdma_task_atomic_cmp_swp_get_result_buf(const struct doca_rdma_task_atomic_cmp_swp *task)
{
    return read_from(task, [&] { return task->result; });
}

void doca_rdma_task_atomic_cmp_swp_set_cmp_data(struct doca_rdma_task_atomic_cmp_swp *task, uint64_t cmp_data)
{
    apply_to(task, [&] { task->compare = cmp_data; });
}

uint64_t doca_rdma_task_atomic_cmp_swp_get_cmp_data(const struct doca_rdma_task_atomic_cmp_swp *task)
{
    return read_from(task, [&] { return task->compare; });
}

void doca_rdma_task_atomic_cmp_swp_set_swap_data(struct doca_rdma_task_atomic_cmp_swp *task, uint64_t swap_data)
{
    apply_to(task, [&] { task->operand = swap_data; });
}

uint64_t doca_rdma_task_atomic_cmp_swp_get_swap_data(const struct doca_rdma_task_atomic_cmp_swp *task)
{
    return read_from(task, [&] { return task->operand; });
}

void doca_rdma_task_atomic_cmp_swp_set_rdma_connection(struct doca_rdma_task_atomic_cmp_swp *task,
                                                       struct doca_rdma_connection *rdma_connection)
{
    apply_to(task, [&] { task->connection = rdma_connection; });
}

const struct doca_rdma_connection *
doca_rdma_task_atomic_cmp_swp_get_rdma_connection(const struct doca_rdma_task_atomic_cmp_swp *task)
{
    return read_from(task, [&] { return task->connection; });
}

// Fetch-and-add: adds add_data to the remote word, modulo 2^64.
doca_error_t doca_rdma_cap_task_atomic_fetch_add_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, &opendoca::RdmaCapabilities::atomics_of_connections);
}

doca_error_t doca_rdma_task_atomic_fetch_add_set_conf(
    struct doca_rdma *rdma, doca_rdma_task_atomic_fetch_add_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_atomic_fetch_add_completion_cb_t error_task_completion_cb, uint32_t num_tasks)
{
    return set_conf(rdma, &doca_rdma::fetch_and_add, successful_task_completion_cb, error_task_completion_cb,
                    num_tasks);
}

/// @p result_buf receives the value before the addition.
doca_error_t doca_rdma_task_atomic_fetch_add_allocate_init(struct doca_rdma *rdma,
                                                           struct doca_rdma_connection *rdma_connection,
                                                           struct doca_buf *dst_buf, struct doca_buf *result_buf,
                                                           uint64_t add_data, union doca_data user_data,
                                                           struct doca_rdma_task_atomic_fetch_add **task)
{
    return allocate(rdma, &doca_rdma::fetch_and_add, user_data, task, [&](auto &fresh) {
        fresh.connection = rdma_connection;
        fresh.dst = dst_buf;
        fresh.result = result_buf;
        fresh.operand = add_data;
    });
}

struct doca_task *doca_rdma_task_atomic_fetch_add_as_task(struct doca_rdma_task_atomic_fetch_add *task)
{
    return task;
}

void doca_rdma_task_atomic_fetch_add_set_dst_buf(struct doca_rdma_task_atomic_fetch_add *task, struct doca_buf *dst_buf)
{
    apply_to(task, [&] { task->dst = dst_buf; });
}

struct doca_buf *doca_rdma_task_atomic_fetch_add_get_dst_buf(const struct doca_rdma_task_atomic_fetch_add *task)
{
    return read_from(task, [&] { return task->dst; });
}

void doca_rdma_task_atomic_fetch_add_set_result_buf(struct doca_rdma_task_atomic_fetch_add *task,
                                                    struct doca_buf *result_buf)
{
    apply_to(task, [&] { task->result = result_buf; });
}

struct doca_buf *doca_rdma_task_atomic_fetch_add_get_result_buf(const struct doca_rdma_task_atomic_fetch_add *task)
{
    return read_from(task, [&] { return task->result; });
}

void doca_rdma_task_atomic_fetch_add_set_add_data(struct doca_rdma_task_atomic_fetch_add *task, uint64_t add_data)
{
    apply_to(task, [&] { task->operand = add_data; });
}

uint64_t doca_rdma_task_atomic_fetch_add_get_add_data(const struct doca_rdma_task_atomic_fetch_add *task)
{
    return read_from(task, [&] { return task->operand; });
}

void doca_rdma_task_atomic_fetch_add_set_rdma_connection(struct doca_rdma_task_atomic_fetch_add *task,
                                                         struct doca_rdma_connection *rdma_connection)
{
    apply_to(task, [&] { task->connection = rdma_connection; });
}

const struct doca_rdma_connection *
doca_rdma_task_atomic_fetch_add_get_rdma_connection(const struct doca_rdma_task_atomic_fetch_add *task)
{
    return read_from(task, [&] { return task->connection; });
}
