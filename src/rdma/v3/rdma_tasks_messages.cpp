// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of the tasks receive, send and send_imm, which carry messages: each checks for null pointers and sets
// or reads one field. Values are validated when the task is submitted. Fields of a task may be set only while the
// program owns it, that is, before its submit and in its callback.
#include "task_api.hpp"

using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::allocate;
using opendoca::v3::is_supported;
using opendoca::v3::set_conf;

// Receive: waits for a message of any connection.
doca_error_t doca_rdma_cap_task_receive_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, &opendoca::RdmaCapabilities::reliable_connection);
}

doca_error_t doca_rdma_task_receive_set_conf(struct doca_rdma *rdma,
                                             doca_rdma_task_receive_completion_cb_t successful_task_completion_cb,
                                             doca_rdma_task_receive_completion_cb_t error_task_completion_cb,
                                             uint32_t num_tasks)
{
    return set_conf(rdma, &doca_rdma::receive, successful_task_completion_cb, error_task_completion_cb, num_tasks);
}

/// @p dst_buf may be null for messages without data.
doca_error_t doca_rdma_task_receive_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
                                                  union doca_data user_data, struct doca_rdma_task_receive **task)
{
    return allocate(rdma, &doca_rdma::receive, user_data, task, [&](auto &fresh) {
        fresh.dst = dst_buf;
        fresh.result_length = 0;
    });
}

struct doca_task *doca_rdma_task_receive_as_task(struct doca_rdma_task_receive *task)
{
    return task;
}

void doca_rdma_task_receive_set_dst_buf(struct doca_rdma_task_receive *task, struct doca_buf *dst_buf)
{
    apply_to(task, [&] { task->dst = dst_buf; });
}

struct doca_buf *doca_rdma_task_receive_get_dst_buf(const struct doca_rdma_task_receive *task)
{
    return read_from(task, [&] { return task->dst; });
}

/// The results of a receive are valid in its success callback and until the task is submitted again.
enum doca_rdma_opcode doca_rdma_task_receive_get_result_opcode(const struct doca_rdma_task_receive *task)
{
    return read_from(task, [&] { return static_cast<doca_rdma_opcode>(task->received); });
}

/// Bytes of the message. They are behind the data section that the buffer had, which has grown by them.
uint32_t doca_rdma_task_receive_get_result_len(const struct doca_rdma_task_receive *task)
{
    return read_from(task, [&] { return task->result_length; });
}

/// Valid if the opcode is one with immediate data.
doca_be32_t doca_rdma_task_receive_get_result_immediate_data(const struct doca_rdma_task_receive *task)
{
    return read_from(task, [&] { return task->immediate; });
}

const struct doca_rdma_connection *
doca_rdma_task_receive_get_result_rdma_connection(const struct doca_rdma_task_receive *task)
{
    return read_from(task, [&] { return task->connection; });
}

// Send: a message without immediate data.
doca_error_t doca_rdma_cap_task_send_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, &opendoca::RdmaCapabilities::reliable_connection);
}

doca_error_t doca_rdma_task_send_set_conf(struct doca_rdma *rdma,
                                          doca_rdma_task_send_completion_cb_t successful_task_completion_cb,
                                          doca_rdma_task_send_completion_cb_t error_task_completion_cb,
                                          uint32_t num_tasks)
{
    return set_conf(rdma, &doca_rdma::send, successful_task_completion_cb, error_task_completion_cb, num_tasks);
}

/// @p src_buf may be null for a message without data.
doca_error_t doca_rdma_task_send_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
                                               const struct doca_buf *src_buf, union doca_data user_data,
                                               struct doca_rdma_task_send **task)
{
    return allocate(rdma, &doca_rdma::send, user_data, task, [&](auto &fresh) {
        fresh.connection = rdma_connection;
        fresh.src = src_buf;
    });
}

struct doca_task *doca_rdma_task_send_as_task(struct doca_rdma_task_send *task)
{
    return task;
}

void doca_rdma_task_send_set_src_buf(struct doca_rdma_task_send *task, const struct doca_buf *src_buf)
{
    apply_to(task, [&] { task->src = src_buf; });
}

const struct doca_buf *doca_rdma_task_send_get_src_buf(const struct doca_rdma_task_send *task)
{
    return read_from(task, [&] { return task->src; });
}

void doca_rdma_task_send_set_rdma_connection(struct doca_rdma_task_send *task,
                                             struct doca_rdma_connection *rdma_connection)
{
    apply_to(task, [&] { task->connection = rdma_connection; });
}

const struct doca_rdma_connection *doca_rdma_task_send_get_rdma_connection(const struct doca_rdma_task_send *task)
{
    return read_from(task, [&] { return task->connection; });
}

// Send with immediate data: 4 bytes that the receive task of the peer reports.
doca_error_t doca_rdma_cap_task_send_imm_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, &opendoca::RdmaCapabilities::reliable_connection);
}

doca_error_t doca_rdma_task_send_imm_set_conf(struct doca_rdma *rdma,
                                              doca_rdma_task_send_imm_completion_cb_t successful_task_completion_cb,
                                              doca_rdma_task_send_imm_completion_cb_t error_task_completion_cb,
                                              uint32_t num_tasks)
{
    return set_conf(rdma, &doca_rdma::send_imm, successful_task_completion_cb, error_task_completion_cb, num_tasks);
}

/// @p immediate_data is passed on as it is, in network byte order.
doca_error_t doca_rdma_task_send_imm_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
                                                   const struct doca_buf *src_buf, doca_be32_t immediate_data,
                                                   union doca_data user_data, struct doca_rdma_task_send_imm **task)
{
    return allocate(rdma, &doca_rdma::send_imm, user_data, task, [&](auto &fresh) {
        fresh.connection = rdma_connection;
        fresh.src = src_buf;
        fresh.immediate = immediate_data;
    });
}

struct doca_task *doca_rdma_task_send_imm_as_task(struct doca_rdma_task_send_imm *task)
{
    return task;
}

void doca_rdma_task_send_imm_set_src_buf(struct doca_rdma_task_send_imm *task, const struct doca_buf *src_buf)
{
    apply_to(task, [&] { task->src = src_buf; });
}

const struct doca_buf *doca_rdma_task_send_imm_get_src_buf(const struct doca_rdma_task_send_imm *task)
{
    return read_from(task, [&] { return task->src; });
}

void doca_rdma_task_send_imm_set_immediate_data(struct doca_rdma_task_send_imm *task, doca_be32_t immediate_data)
{
    apply_to(task, [&] { task->immediate = immediate_data; });
}

doca_be32_t doca_rdma_task_send_imm_get_immediate_data(const struct doca_rdma_task_send_imm *task)
{
    return read_from(task, [&] { return task->immediate; });
}

void doca_rdma_task_send_imm_set_rdma_connection(struct doca_rdma_task_send_imm *task,
                                                 struct doca_rdma_connection *rdma_connection)
{
    apply_to(task, [&] { task->connection = rdma_connection; });
}

const struct doca_rdma_connection *
doca_rdma_task_send_imm_get_rdma_connection(const struct doca_rdma_task_send_imm *task)
{
    return read_from(task, [&] { return task->connection; });
}
