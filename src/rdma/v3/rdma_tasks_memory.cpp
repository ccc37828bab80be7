// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of the tasks read, write and write_imm, which transfer to or from the peer's memory without a task of
// the peer's (write_imm takes one receive there): each checks for null pointers and sets or reads one field. Values are
// validated when the task is submitted.
#include "task_api.hpp"

using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::allocate;
using opendoca::v3::is_supported;
using opendoca::v3::set_conf;

// Read: from remote memory to a local buffer.
doca_error_t doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, &opendoca::RdmaCapabilities::reliable_connection);
}

doca_error_t doca_rdma_task_read_set_conf(struct doca_rdma *rdma,
                                          doca_rdma_task_read_completion_cb_t successful_task_completion_cb,
                                          doca_rdma_task_read_completion_cb_t error_task_completion_cb,
                                          uint32_t num_tasks)
{
    return set_conf(rdma, &doca_rdma::read, successful_task_completion_cb, error_task_completion_cb, num_tasks);
}

/// @p src_buf is a buffer of an imported memory map: the bytes of its data section are read.
doca_error_t doca_rdma_task_read_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
                                               const struct doca_buf *src_buf, struct doca_buf *dst_buf,
                                               union doca_data user_data, struct doca_rdma_task_read **task)
{
    return allocate(rdma, &doca_rdma::read, user_data, task, [&](auto &fresh) {
        fresh.connection = rdma_connection;
        fresh.src = src_buf;
        fresh.dst = dst_buf;
        fresh.result_length = 0;
    });
}

struct doca_task *doca_rdma_task_read_as_task(struct doca_rdma_task_read *task)
{
    return task;
}

void doca_rdma_task_read_set_src_buf(struct doca_rdma_task_read *task, const struct doca_buf *src_buf)
{
    apply_to(task, [&] { task->src = src_buf; });
}

const struct doca_buf *doca_rdma_task_read_get_src_buf(const struct doca_rdma_task_read *task)
{
    return read_from(task, [&] { return task->src; });
}

void doca_rdma_task_read_set_dst_buf(struct doca_rdma_task_read *task, struct doca_buf *dst_buf)
{
    apply_to(task, [&] { task->dst = dst_buf; });
}

struct doca_buf *doca_rdma_task_read_get_dst_buf(const struct doca_rdma_task_read *task)
{
    return read_from(task, [&] { return task->dst; });
}

/// Bytes that a read has moved; valid if it has succeeded.
uint32_t doca_rdma_task_read_get_result_len(const struct doca_rdma_task_read *task)
{
    return read_from(task, [&] { return task->result_length; });
}

void doca_rdma_task_read_set_rdma_connection(struct doca_rdma_task_read *task,
                                             struct doca_rdma_connection *rdma_connection)
{
    apply_to(task, [&] { task->connection = rdma_connection; });
}

const struct doca_rdma_connection *doca_rdma_task_read_get_rdma_connection(const struct doca_rdma_task_read *task)
{
    return read_from(task, [&] { return task->connection; });
}

// Write: from a local buffer to remote memory, unnoticed by the peer.
doca_error_t doca_rdma_cap_task_write_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, &opendoca::RdmaCapabilities::reliable_connection);
}

doca_error_t doca_rdma_task_write_set_conf(struct doca_rdma *rdma,
                                           doca_rdma_task_write_completion_cb_t successful_task_completion_cb,
                                           doca_rdma_task_write_completion_cb_t error_task_completion_cb,
                                           uint32_t num_tasks)
{
    return set_conf(rdma, &doca_rdma::write, successful_task_completion_cb, error_task_completion_cb, num_tasks);
}

/// @p dst_buf is a buffer of an imported memory map. On success its data section, which is a local object, has grown
/// by the bytes written.
doca_error_t doca_rdma_task_write_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
                                                const struct doca_buf *src_buf, struct doca_buf *dst_buf,
                                                union doca_data user_data, struct doca_rdma_task_write **task)
{
    return allocate(rdma, &doca_rdma::write, user_data, task, [&](auto &fresh) {
        fresh.connection = rdma_connection;
        fresh.src = src_buf;
        fresh.dst = dst_buf;
    });
}

struct doca_task *doca_rdma_task_write_as_task(struct doca_rdma_task_write *task)
{
    return task;
}

void doca_rdma_task_write_set_src_buf(struct doca_rdma_task_write *task, const struct doca_buf *src_buf)
{
    apply_to(task, [&] { task->src = src_buf; });
}

const struct doca_buf *doca_rdma_task_write_get_src_buf(const struct doca_rdma_task_write *task)
{
    return read_from(task, [&] { return task->src; });
}

void doca_rdma_task_write_set_dst_buf(struct doca_rdma_task_write *task, struct doca_buf *dst_buf)
{
    apply_to(task, [&] { task->dst = dst_buf; });
}

struct doca_buf *doca_rdma_task_write_get_dst_buf(const struct doca_rdma_task_write *task)
{
    return read_from(task, [&] { return task->dst; });
}

void doca_rdma_task_write_set_rdma_connection(struct doca_rdma_task_write *task,
                                              struct doca_rdma_connection *rdma_connection)
{
    apply_to(task, [&] { task->connection = rdma_connection; });
}

const struct doca_rdma_connection *doca_rdma_task_write_get_rdma_connection(const struct doca_rdma_task_write *task)
{
    return read_from(task, [&] { return task->connection; });
}

// Write with immediate data: completes a receive task of the peer, without use of its buffer.
doca_error_t doca_rdma_cap_task_write_imm_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, &opendoca::RdmaCapabilities::reliable_connection);
}

doca_error_t doca_rdma_task_write_imm_set_conf(struct doca_rdma *rdma,
                                               doca_rdma_task_write_imm_completion_cb_t successful_task_completion_cb,
                                               doca_rdma_task_write_imm_completion_cb_t error_task_completion_cb,
                                               uint32_t num_tasks)
{
    return set_conf(rdma, &doca_rdma::write_imm, successful_task_completion_cb, error_task_completion_cb, num_tasks);
}

doca_error_t doca_rdma_task_write_imm_allocate_init(struct doca_rdma *rdma,
                                                    struct doca_rdma_connection *rdma_connection,
                                                    const struct doca_buf *src_buf, struct doca_buf *dst_buf,
                                                    doca_be32_t immediate_data, union doca_data user_data,
                                                    struct doca_rdma_task_write_imm **task)
{
    return allocate(rdma, &doca_rdma::write_imm, user_data, task, [&](auto &fresh) {
        fresh.connection = rdma_connection;
        fresh.src = src_buf;
        fresh.dst = dst_buf;
        fresh.immediate = immediate_data;
    });
}

struct doca_task *doca_rdma_task_write_imm_as_task(struct doca_rdma_task_write_imm *task)
{
    return task;
}

void doca_rdma_task_write_imm_set_src_buf(struct doca_rdma_task_write_imm *task, const struct doca_buf *src_buf)
{
    apply_to(task, [&] { task->src = src_buf; });
}

const struct doca_buf *doca_rdma_task_write_imm_get_src_buf(const struct doca_rdma_task_write_imm *task)
{
    return read_from(task, [&] { return task->src; });
}

void doca_rdma_task_write_imm_set_dst_buf(struct doca_rdma_task_write_imm *task, struct doca_buf *dst_buf)
{
    apply_to(task, [&] { task->dst = dst_buf; });
}

struct doca_buf *doca_rdma_task_write_imm_get_dst_buf(const struct doca_rdma_task_write_imm *task)
{
    return read_from(task, [&] { return task->dst; });
}

void doca_rdma_task_write_imm_set_immediate_data(struct doca_rdma_task_write_imm *task, doca_be32_t immediate_data)
{
    apply_to(task, [&] { task->immediate = immediate_data; });
}

doca_be32_t doca_rdma_task_write_imm_get_immediate_data(const struct doca_rdma_task_write_imm *task)
{
    return read_from(task, [&] { return task->immediate; });
}

void doca_rdma_task_write_imm_set_rdma_connection(struct doca_rdma_task_write_imm *task,
                                                  struct doca_rdma_connection *rdma_connection)
{
    apply_to(task, [&] { task->connection = rdma_connection; });
}

const struct doca_rdma_connection *
doca_rdma_task_write_imm_get_rdma_connection(const struct doca_rdma_task_write_imm *task)
{
    return read_from(task, [&] { return task->connection; });
}
