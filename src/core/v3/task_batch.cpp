// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Batches of tasks. No library here creates one, so no program can have one to pass to these functions.
#include <doca_pe.h>

#include "../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_TASK_BATCH);

namespace {

doca_error_t refuse() noexcept
{
    LOG_ERR("no library here gives out batches of tasks");
    return DOCA_ERROR_NOT_SUPPORTED;
}

} // namespace

doca_error_t doca_task_batch_submit(struct doca_task_batch *)
{
    return refuse();
}

doca_error_t doca_task_batch_try_submit(struct doca_task_batch *)
{
    return refuse();
}

void doca_task_batch_free(struct doca_task_batch *) {}

doca_error_t doca_task_batch_get_status(const struct doca_task_batch *)
{
    return refuse();
}

void doca_task_batch_set_user_data(struct doca_task_batch *, union doca_data) {}

union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *)
{
    return {};
}

struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *)
{
    return nullptr;
}

union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *)
{
    return {};
}

uint16_t doca_task_batch_get_tasks_num(struct doca_task_batch *)
{
    return 0;
}
