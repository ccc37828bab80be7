// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of SHA tasks. A task may be changed only while the program owns it: between its allocation or
// completion and its submit.
#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "sha.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SHA_TASK);

using opendoca::read_from;
using opendoca::ShaKind;
using opendoca::v3::call;
using opendoca::v3::kind_of;

namespace {

doca_error_t refuse_algorithm(doca_sha_algorithm algorithm) noexcept
{
    LOG_ERR("%d is none of the algorithms of doca_sha_algorithm", static_cast<int>(algorithm));
    return DOCA_ERROR_INVALID_VALUE;
}

/// Takes a task from its pool and fills in the members that both types have.
template <typename Type, typename Task>
doca_error_t alloc(Type &type, doca_sha_algorithm algorithm, const doca_buf *src, doca_buf *dst, doca_data user_data,
                   Task *&task) noexcept
{
    ShaKind kind{};
    if (!kind_of(algorithm, kind))
        return refuse_algorithm(algorithm);
    Task *taken = nullptr;
    const doca_error_t status = type.alloc(user_data, taken);
    if (status == DOCA_SUCCESS) {
        taken->kind = kind;
        taken->src = src;
        taken->dst = dst;
        task = taken;
    }
    return status;
}

/// Returns BAD_STATE, after a log line, unless the task is the program's.
doca_error_t check_not_submitted(const doca_task &task) noexcept
{
    if (task.state == opendoca::v3::TaskState::owned)
        return DOCA_SUCCESS;
    LOG_ERR("task %p is submitted", static_cast<const void *>(&task));
    return DOCA_ERROR_BAD_STATE;
}

/// Ends the message of the task, finished or not: the next piece begins another one.
void reset_message(doca_sha_task_partial_hash &task) noexcept
{
    task.session.message.reset();
    task.is_final = false;
    task.has_result = false;
}

} // namespace

doca_error_t doca_sha_task_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
                                           const struct doca_buf *src_buf, struct doca_buf *dst_buf,
                                           union doca_data user_data, struct doca_sha_task_hash **task)
{
    return call({sha, src_buf, dst_buf, task},
                [&] { return alloc(sha->hash, algorithm, src_buf, dst_buf, user_data, *task); });
}

doca_error_t doca_sha_task_partial_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
                                                   const struct doca_buf *src_buf, struct doca_buf *dst_buf,
                                                   union doca_data user_data, struct doca_sha_task_partial_hash **task)
{
    return call({sha, src_buf, dst_buf, task}, [&] {
        doca_sha_task_partial_hash *taken = nullptr;
        const doca_error_t status = alloc(sha->partial_hash, algorithm, src_buf, dst_buf, user_data, taken);
        if (status != DOCA_SUCCESS)
            return status;
        // A task that is taken again has the message of its last user.
        reset_message(*taken);
        *task = taken;
        return DOCA_SUCCESS;
    });
}

struct doca_task *doca_sha_task_hash_as_task(struct doca_sha_task_hash *task)
{
    return task;
}

doca_error_t doca_sha_task_hash_set_src(struct doca_sha_task_hash *task, const struct doca_buf *src_buf)
{
    // The buffers are validated by the submit, as they may change until then.
    return call({task, src_buf}, [&] { task->src = src_buf; });
}

const struct doca_buf *doca_sha_task_hash_get_src(const struct doca_sha_task_hash *task)
{
    return read_from(task, [&] { return task->src; });
}

doca_error_t doca_sha_task_hash_set_dst(struct doca_sha_task_hash *task, struct doca_buf *dst_buf)
{
    return call({task, dst_buf}, [&] { task->dst = dst_buf; });
}

const struct doca_buf *doca_sha_task_hash_get_dst(const struct doca_sha_task_hash *task)
{
    return read_from(task, [&] { return task->dst; });
}

doca_error_t doca_sha_task_hash_set_algorithm(struct doca_sha_task_hash *task, enum doca_sha_algorithm algorithm)
{
    ShaKind kind{};
    if (task == nullptr)
        return opendoca::refuse_null();
    if (!kind_of(algorithm, kind))
        return refuse_algorithm(algorithm);
    task->kind = kind;
    return DOCA_SUCCESS;
}

enum doca_sha_algorithm doca_sha_task_hash_get_algorithm(const struct doca_sha_task_hash *task)
{
    return read_from(task, [&] { return static_cast<doca_sha_algorithm>(task->kind); });
}

struct doca_task *doca_sha_task_partial_hash_as_task(struct doca_sha_task_partial_hash *task)
{
    return task;
}

doca_error_t doca_sha_task_partial_hash_reset(struct doca_sha_task_partial_hash *task)
{
    return call({task}, [&] {
        const doca_error_t status = check_not_submitted(*task);
        if (status == DOCA_SUCCESS)
            reset_message(*task);
        return status;
    });
}

doca_error_t doca_sha_task_partial_hash_set_src(struct doca_sha_task_partial_hash *task, const struct doca_buf *src_buf)
{
    return call({task, src_buf}, [&] { task->src = src_buf; });
}

const struct doca_buf *doca_sha_task_partial_hash_get_src(const struct doca_sha_task_partial_hash *task)
{
    return read_from(task, [&] { return task->src; });
}

doca_error_t doca_sha_task_partial_hash_set_dst(struct doca_sha_task_partial_hash *task, struct doca_buf *dst_buf)
{
    return call({task, dst_buf}, [&] { task->dst = dst_buf; });
}

const struct doca_buf *doca_sha_task_partial_hash_get_dst(const struct doca_sha_task_partial_hash *task)
{
    return read_from(task, [&] { return task->dst; });
}

doca_error_t doca_sha_task_partial_hash_set_algorithm(struct doca_sha_task_partial_hash *task,
                                                      enum doca_sha_algorithm algorithm)
{
    ShaKind kind{};
    if (task == nullptr)
        return opendoca::refuse_null();
    if (!kind_of(algorithm, kind))
        return refuse_algorithm(algorithm);
    if (const doca_error_t status = check_not_submitted(*task); status != DOCA_SUCCESS)
        return status;
    // The pieces so far were hashed with the present algorithm.
    if (task->session.message) {
        LOG_ERR("task %p is within a message: reset it before it gets another algorithm",
                static_cast<const void *>(task));
        return DOCA_ERROR_BAD_STATE;
    }
    task->kind = kind;
    return DOCA_SUCCESS;
}

enum doca_sha_algorithm doca_sha_task_partial_hash_get_algorithm(const struct doca_sha_task_partial_hash *task)
{
    return read_from(task, [&] { return static_cast<doca_sha_algorithm>(task->kind); });
}

doca_error_t doca_sha_task_partial_hash_set_is_final_buf(struct doca_sha_task_partial_hash *task)
{
    return call({task}, [&] {
        const doca_error_t status = check_not_submitted(*task);
        if (status == DOCA_SUCCESS)
            task->is_final = true;
        return status;
    });
}

uint8_t doca_sha_task_partial_hash_get_is_final(const struct doca_sha_task_partial_hash *task)
{
    return read_from(task, [&] { return task->is_final; });
}

uint8_t doca_sha_task_partial_hash_get_has_result(const struct doca_sha_task_partial_hash *task)
{
    return read_from(task, [&] { return task->has_result; });
}
