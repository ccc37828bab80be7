// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of tasks: the same for each of the four kinds. Buffers and matrices are checked by the submit, as
// they may change until then.
#include "../../core/v3/call.hpp"
#include "ec.hpp"

using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::call;

namespace {

/// Takes a task from its pool and fills in its members.
template <typename Type, typename Task>
doca_error_t alloc(Type &type, const doca_ec_matrix *matrix, const doca_buf *src, doca_buf *dst, doca_data user_data,
                   Task *&task) noexcept
{
    Task *taken = nullptr;
    const doca_error_t status = type.alloc(user_data, taken);
    if (status == DOCA_SUCCESS) {
        taken->matrix = matrix;
        taken->src = src;
        taken->dst = dst;
        task = taken;
    }
    return status;
}

} // namespace

doca_error_t doca_ec_task_galois_mul_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
                                                   const struct doca_buf *src_buf, struct doca_buf *dst_buf,
                                                   union doca_data user_data, struct doca_ec_task_galois_mul **task)
{
    return call({ec, coding_matrix, src_buf, dst_buf, task},
                [&] { return alloc(ec->galois_mul, coding_matrix, src_buf, dst_buf, user_data, *task); });
}

struct doca_task *doca_ec_task_galois_mul_as_task(struct doca_ec_task_galois_mul *task)
{
    return task;
}

void doca_ec_task_galois_mul_set_coding_matrix(struct doca_ec_task_galois_mul *task,
                                               const struct doca_ec_matrix *coding_matrix)
{
    apply_to(task, [&] { task->matrix = coding_matrix; });
}

const struct doca_ec_matrix *doca_ec_task_galois_mul_get_coding_matrix(const struct doca_ec_task_galois_mul *task)
{
    return read_from(task, [&] { return task->matrix; });
}

void doca_ec_task_galois_mul_set_src_buf(struct doca_ec_task_galois_mul *task, const struct doca_buf *src_buf)
{
    apply_to(task, [&] { task->src = src_buf; });
}

const struct doca_buf *doca_ec_task_galois_mul_get_src_buf(const struct doca_ec_task_galois_mul *task)
{
    return read_from(task, [&] { return task->src; });
}

void doca_ec_task_galois_mul_set_dst_buf(struct doca_ec_task_galois_mul *task, struct doca_buf *dst_buf)
{
    apply_to(task, [&] { task->dst = dst_buf; });
}

struct doca_buf *doca_ec_task_galois_mul_get_dst_buf(const struct doca_ec_task_galois_mul *task)
{
    return read_from(task, [&] { return task->dst; });
}

doca_error_t doca_ec_task_create_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
                                               const struct doca_buf *original_data_blocks,
                                               struct doca_buf *rdnc_blocks, union doca_data user_data,
                                               struct doca_ec_task_create **task)
{
    return call({ec, coding_matrix, original_data_blocks, rdnc_blocks, task},
                [&] { return alloc(ec->create, coding_matrix, original_data_blocks, rdnc_blocks, user_data, *task); });
}

struct doca_task *doca_ec_task_create_as_task(struct doca_ec_task_create *task)
{
    return task;
}

void doca_ec_task_create_set_coding_matrix(struct doca_ec_task_create *task, const struct doca_ec_matrix *coding_matrix)
{
    apply_to(task, [&] { task->matrix = coding_matrix; });
}

const struct doca_ec_matrix *doca_ec_task_create_get_coding_matrix(const struct doca_ec_task_create *task)
{
    return read_from(task, [&] { return task->matrix; });
}

void doca_ec_task_create_set_original_data_blocks(struct doca_ec_task_create *task,
                                                  const struct doca_buf *original_data_blocks)
{
    apply_to(task, [&] { task->src = original_data_blocks; });
}

const struct doca_buf *doca_ec_task_create_get_original_data_blocks(const struct doca_ec_task_create *task)
{
    return read_from(task, [&] { return task->src; });
}

void doca_ec_task_create_set_rdnc_blocks(struct doca_ec_task_create *task, struct doca_buf *rdnc_blocks)
{
    apply_to(task, [&] { task->dst = rdnc_blocks; });
}

struct doca_buf *doca_ec_task_create_get_rdnc_blocks(const struct doca_ec_task_create *task)
{
    return read_from(task, [&] { return task->dst; });
}

doca_error_t doca_ec_task_update_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *update_matrix,
                                               const struct doca_buf *original_updated_and_rdnc_blocks,
                                               struct doca_buf *updated_rdnc_blocks, union doca_data user_data,
                                               struct doca_ec_task_update **task)
{
    return call({ec, update_matrix, original_updated_and_rdnc_blocks, updated_rdnc_blocks, task}, [&] {
        return alloc(ec->update, update_matrix, original_updated_and_rdnc_blocks, updated_rdnc_blocks, user_data,
                     *task);
    });
}

struct doca_task *doca_ec_task_update_as_task(struct doca_ec_task_update *task)
{
    return task;
}

void doca_ec_task_update_set_update_matrix(struct doca_ec_task_update *task, const struct doca_ec_matrix *update_matrix)
{
    apply_to(task, [&] { task->matrix = update_matrix; });
}

const struct doca_ec_matrix *doca_ec_task_update_get_update_matrix(const struct doca_ec_task_update *task)
{
    return read_from(task, [&] { return task->matrix; });
}

void doca_ec_task_update_set_original_updated_and_rdnc_blocks(struct doca_ec_task_update *task,
                                                              const struct doca_buf *original_updated_and_rdnc_blocks)
{
    apply_to(task, [&] { task->src = original_updated_and_rdnc_blocks; });
}

const struct doca_buf *doca_ec_task_update_get_original_updated_and_rdnc_blocks(const struct doca_ec_task_update *task)
{
    return read_from(task, [&] { return task->src; });
}

void doca_ec_task_update_set_updated_rdnc_blocks(struct doca_ec_task_update *task, struct doca_buf *updated_rdnc_blocks)
{
    apply_to(task, [&] { task->dst = updated_rdnc_blocks; });
}

struct doca_buf *doca_ec_task_update_get_updated_rdnc_blocks(const struct doca_ec_task_update *task)
{
    return read_from(task, [&] { return task->dst; });
}

doca_error_t doca_ec_task_recover_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *recover_matrix,
                                                const struct doca_buf *available_blocks,
                                                struct doca_buf *recovered_data_blocks, union doca_data user_data,
                                                struct doca_ec_task_recover **task)
{
    return call({ec, recover_matrix, available_blocks, recovered_data_blocks, task}, [&] {
        return alloc(ec->recover, recover_matrix, available_blocks, recovered_data_blocks, user_data, *task);
    });
}

struct doca_task *doca_ec_task_recover_as_task(struct doca_ec_task_recover *task)
{
    return task;
}

void doca_ec_task_recover_set_recover_matrix(struct doca_ec_task_recover *task,
                                             const struct doca_ec_matrix *recover_matrix)
{
    apply_to(task, [&] { task->matrix = recover_matrix; });
}

const struct doca_ec_matrix *doca_ec_task_recover_get_recover_matrix(const struct doca_ec_task_recover *task)
{
    return read_from(task, [&] { return task->matrix; });
}

void doca_ec_task_recover_set_available_blocks(struct doca_ec_task_recover *task,
                                               const struct doca_buf *available_blocks)
{
    apply_to(task, [&] { task->src = available_blocks; });
}

const struct doca_buf *doca_ec_task_recover_get_available_blocks(const struct doca_ec_task_recover *task)
{
    return read_from(task, [&] { return task->src; });
}

void doca_ec_task_recover_set_recovered_data_blocks(struct doca_ec_task_recover *task,
                                                    struct doca_buf *recovered_data_blocks)
{
    apply_to(task, [&] { task->dst = recovered_data_blocks; });
}

struct doca_buf *doca_ec_task_recover_get_recovered_data(const struct doca_ec_task_recover *task)
{
    return read_from(task, [&] { return task->dst; });
}
