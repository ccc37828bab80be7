// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "buf_array.hpp"

#include <doca_log.h>

#include "guard.hpp"

DOCA_LOG_REGISTER(DOCA_BUF_ARRAY);

doca_error_t doca_buf_arr_create(struct doca_mmap *mmap, struct doca_buf_arr **buf_arr)
{
    if (mmap == nullptr || buf_arr == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return opendoca::guarded([&] {
        *buf_arr = new doca_buf_arr;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler)
{
    if (buf_arr == nullptr || gpu_handler == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    DOCA_LOG_ERR("buffer arrays for a GPU are not supported");
    return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, size_t size, uint32_t num_elem, uint32_t)
{
    if (buf_arr == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (size == 0 || num_elem == 0) {
        DOCA_LOG_ERR("%u buffers of %zu bytes: at least 1 of at least 1 byte is needed", num_elem, size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr)
{
    if (buf_arr == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    DOCA_LOG_ERR("the buffer array has no target: it can't be started");
    return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_buf_arr_stop(struct doca_buf_arr *buf_arr)
{
    return buf_arr == nullptr ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *buf_arr)
{
    if (buf_arr == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    delete buf_arr;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *buf_arr,
                                         struct doca_gpu_buf_arr **gpu_buf_arr)
{
    if (buf_arr == nullptr || gpu_buf_arr == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    DOCA_LOG_ERR("the buffer array is not started");
    return DOCA_ERROR_BAD_STATE;
}
