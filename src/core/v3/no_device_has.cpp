// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Objects that no device here has: arrays of buffers for a GPU or a DPA. An array can be created, but it cannot be
// started, as it never gets a target.
#include <doca_buf_array.h>

#include "../log/log.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CORE);

using opendoca::v3::call;

namespace {

/// Refuses with NOT_SUPPORTED after the check for null pointers.
doca_error_t refuse(std::initializer_list<const void *> arguments, const char *what)
{
    return call(arguments, [&] {
        LOG_ERR("no device here has %s", what);
        return DOCA_ERROR_NOT_SUPPORTED;
    });
}

} // namespace

/// The opaque type of the C API; it has no state.
struct doca_buf_arr {};

static doca_error_t not_started()
{
    LOG_ERR("the buffer array is not started, and so has no handle");
    return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_buf_arr_create(size_t num_elem, struct doca_buf_arr **buf_arr)
{
    return num_elem == 0 ? opendoca::refuse_value("num_elem is 0, and an array has 1 buffer or more")
                         : call({buf_arr}, [&] { *buf_arr = new doca_buf_arr; });
}

doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler)
{
    return refuse({buf_arr, gpu_handler}, "a GPU");
}

doca_error_t doca_buf_arr_set_target_dpa(struct doca_buf_arr *buf_arr, struct doca_dpa *dpa_handler)
{
    return refuse({buf_arr, dpa_handler}, "a DPA");
}

doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, struct doca_mmap *mmap, size_t elem_size, uint64_t)
{
    return elem_size == 0 ? opendoca::refuse_value("elem_size is 0, and a buffer has 1 byte or more")
                          : call({buf_arr, mmap}, [] {});
}

doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr)
{
    return call({buf_arr}, [] {
        LOG_ERR("the buffer array has no target: that is a GPU or a DPA, which no device here has");
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
    return call({buf_arr, gpu_buf_arr}, not_started);
}

doca_error_t doca_buf_arr_get_dpa_handle(const struct doca_buf_arr *buf_arr, doca_dpa_dev_buf_arr_t *dpa_buf_arr)
{
    return call({buf_arr, dpa_buf_arr}, not_started);
}
