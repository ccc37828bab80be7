// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Functions of core in the form that DOCA 2.5 and 2.6 have: the private symbols that opendoca/older/dev.h and
// buf_array.h bind their names to. They stay part of the ABI. Each is named for the oldest release with this form.
#include <cstddef>
#include <cstdint>

#include <doca_buf_array.h>
#include <doca_dev.h>

#include "call.hpp"

using opendoca::v3::call;

extern "C" {

DOCA_EXPERIMENTAL doca_error_t opendoca_devinfo_get_active_rate_2_6(const struct doca_devinfo *devinfo,
                                                                    double *active_rate);
DOCA_EXPERIMENTAL doca_error_t opendoca_buf_arr_create_2_5(struct doca_mmap *mmap, struct doca_buf_arr **buf_arr);
DOCA_EXPERIMENTAL doca_error_t opendoca_buf_arr_set_params_2_5(struct doca_buf_arr *buf_arr, size_t elem_size,
                                                               uint32_t num_elem, uint32_t start_offset);
DOCA_EXPERIMENTAL doca_error_t opendoca_buf_arr_get_dpa_handle_2_5(const struct doca_buf_arr *buf_arr,
                                                                   void **dpa_buf_arr);

} // extern "C"

doca_error_t opendoca_devinfo_get_active_rate_2_6(const struct doca_devinfo *devinfo, double *active_rate)
{
    const auto read = [&] {
        std::uint64_t rate = 0;
        const doca_error_t status = doca_devinfo_get_active_rate(devinfo, &rate);
        if (status == DOCA_SUCCESS)
            *active_rate = static_cast<double>(rate);
        return status;
    };
    return call({devinfo, active_rate}, read, "doca_devinfo_get_active_rate");
}

doca_error_t opendoca_buf_arr_create_2_5(struct doca_mmap *mmap, struct doca_buf_arr **buf_arr)
{
    // The number of buffers follows in opendoca_buf_arr_set_params_2_5(). It matters to no array: none can be started.
    return call(
        {mmap, buf_arr}, [&] { return doca_buf_arr_create(1, buf_arr); }, "doca_buf_arr_create");
}

doca_error_t opendoca_buf_arr_set_params_2_5(struct doca_buf_arr *buf_arr, size_t elem_size, uint32_t num_elem,
                                             uint32_t)
{
    constexpr char name[] = "doca_buf_arr_set_params";
    if (elem_size == 0 || num_elem == 0)
        return opendoca::refuse_value("elem_size or num_elem is 0", name);
    return call(
        {buf_arr}, [] {}, name);
}

doca_error_t opendoca_buf_arr_get_dpa_handle_2_5(const struct doca_buf_arr *buf_arr, void **dpa_buf_arr)
{
    doca_dpa_dev_buf_arr_t handle = 0;
    return call(
        {buf_arr, dpa_buf_arr}, [&] { return doca_buf_arr_get_dpa_handle(buf_arr, &handle); },
        "doca_buf_arr_get_dpa_handle");
}
