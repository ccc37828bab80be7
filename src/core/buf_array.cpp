// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "buf_array.hpp"

#include <doca_log.h>

#include "guard.hpp"

DOCA_LOG_REGISTER(DOCA_BUF_ARRAY);

doca_error_t doca_buf_arr::set_params(std::size_t size, std::uint32_t num_elem,
                                      std::uint32_t start_offset) noexcept
{
    if (size == 0 || num_elem == 0) {
        DOCA_LOG_ERR("a buffer array has 1 or more buffers of 1 or more bytes, not %u of %zu", num_elem,
                     size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    element_size = size;
    num_elements = num_elem;
    offset = start_offset;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf_arr_create(struct doca_mmap *mmap, struct doca_buf_arr **buf_arr)
{
    if (mmap == nullptr || buf_arr == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return opendoca::guarded([&] {
        *buf_arr = new doca_buf_arr(*mmap);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler)
{
    if (buf_arr == nullptr || gpu_handler == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    DOCA_LOG_ERR("no device here has a GPU that could be the target of a buffer array");
    return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, size_t size, uint32_t num_elem,
                                     uint32_t start_offset)
{
    return buf_arr == nullptr ? DOCA_ERROR_INVALID_VALUE : buf_arr->set_params(size, num_elem, start_offset);
}

doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr)
{
    if (buf_arr == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    DOCA_LOG_ERR("the buffer array has no target");
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
