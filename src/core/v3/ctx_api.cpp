// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of contexts, independent of the library.
#include <doca_ctx.h>

#include "../log/log.hpp"
#include "call.hpp"
#include "ctx.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CTX);

using opendoca::v3::call;

namespace {

/// Refuses a data path that is not on the CPU.
doca_error_t refuse_datapath(const doca_ctx &ctx, const char *where)
{
    const doca_error_t status = ctx.check_idle(DOCA_ERROR_BAD_STATE);
    if (status != DOCA_SUCCESS)
        return status;
    LOG_ERR("a data path on a %s is not supported", where);
    return DOCA_ERROR_NOT_SUPPORTED;
}

} // namespace

doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
    return call({ctx}, [&] { return ctx->start(); });
}

doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
    return call({ctx}, [&] { return ctx->stop(); });
}

doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx, size_t *num_inflight_tasks)
{
    return call({ctx, num_inflight_tasks}, [&] { *num_inflight_tasks = ctx->num_in_flight(); });
}

doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev)
{
    return call({ctx, gpu_dev}, [&] { return refuse_datapath(*ctx, "GPU"); });
}

doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev)
{
    return call({ctx, dpa_dev}, [&] { return refuse_datapath(*ctx, "DPA"); });
}

doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data)
{
    return call({ctx}, [&] { ctx->user_data = user_data; });
}

doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data)
{
    return call({ctx, user_data}, [&] { *user_data = ctx->user_data; });
}

doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx, doca_ctx_state_changed_callback_t cb)
{
    return call({ctx}, [&] { ctx->state_changed = cb; }); // NULL removes the callback
}

doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state)
{
    return call({ctx, state}, [&] { *state = ctx->state(); });
}

void doca_ctx_flush_tasks(struct doca_ctx *) {} // every task is posted by its submit

doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo, uint32_t *num_comp_vectors)
{
    // Contexts have one completion queue each, so there is one vector, number 0.
    return call({devinfo, num_comp_vectors}, [&] { *num_comp_vectors = 1; });
}

doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector)
{
    return call({ctx}, [&] {
        const doca_error_t status = ctx->check_idle(DOCA_ERROR_BAD_STATE);
        if (status != DOCA_SUCCESS || comp_vector == 0)
            return status;
        LOG_ERR("there is 1 completion vector, 0, and not %u", comp_vector);
        return DOCA_ERROR_INVALID_VALUE;
    });
}
