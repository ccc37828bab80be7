// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Arrays of buffers for a GPU. They can be created and configured, but not started: no device here has a GPU that could
// be their target.
#include <doca_buf_array.h>

#include "../log/log.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_BUF_ARRAY);

using opendoca::v2::call;

/// The opaque type of the C API; it has no state.
struct doca_buf_arr {};

doca_error_t doca_buf_arr_create(struct doca_mmap *mmap, struct doca_buf_arr **buf_arr)
{
    return call({mmap, buf_arr}, [&] { *buf_arr = new doca_buf_arr; });
}

doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler)
{
    return call({buf_arr, gpu_handler}, [&] {
        LOG_ERR("no device here has a GPU that could be the target of a buffer array");
        return DOCA_ERROR_NOT_SUPPORTED;
    });
}

doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, size_t size, uint32_t num_elem, uint32_t)
{
    return call({buf_arr}, [&] {
        if (size != 0 && num_elem != 0)
            return DOCA_SUCCESS;
        LOG_ERR("a buffer array has 1 or more buffers of 1 or more bytes, not %u of %zu", num_elem, size);
        return DOCA_ERROR_INVALID_VALUE;
    });
}

doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr)
{
    return call({buf_arr}, [&] {
        LOG_ERR("the buffer array has no target");
        return DOCA_ERROR_BAD_STATE;
    });
}

doca_error_t doca_buf_arr_stop(struct doca_buf_arr *buf_arr)
{
    return call({buf_arr}, [] {});
}

doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *buf_arr)
{
    return call({buf_arr}, [&] { delete buf_arr; });
}

doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *buf_arr, struct doca_gpu_buf_arr **gpu_buf_arr)
{
    return call({buf_arr, gpu_buf_arr}, [&] {
        LOG_ERR("the buffer array is not started");
        return DOCA_ERROR_BAD_STATE;
    });
}
