// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What no device here has: user memory and doorbell pages for programs that drive a device's queues themselves, the
// device's clock, and descriptions of buffers for a GPU or a DPA. None of these objects can be made, but for an array
// of buffers, which is never given a target: so there is nothing that could be done with one.
#include <doca_buf_array.h>
#include <doca_clock.h>
#include <doca_uar.h>
#include <doca_umem.h>

#include "../log.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CORE);

using opendoca::v3::call;

namespace {

doca_error_t refuse(std::initializer_list<const void *> arguments, const char *what)
{
    return call(arguments, [&] {
        LOG_ERR("no device here has %s", what);
        return DOCA_ERROR_NOT_SUPPORTED;
    });
}

constexpr char umem[] = "user memory objects";
constexpr char uar[] = "doorbell pages to give";
constexpr char hw_clock[] = "a clock that can be read";

bool is_clock(uint64_t type)
{
    return type >= DOCA_CLOCK_NIC_FREE_RUNNING && type <= DOCA_CLOCK_HOST_MONOTONIC_RAW && (type & (type - 1)) == 0;
}

} // namespace

doca_error_t doca_umem_create(const struct doca_dev *dev, void *address, size_t size, uint32_t,
                              struct doca_umem **umem_obj)
{
    return size == 0 ? opendoca::refuse_value("a size of 0") : refuse({dev, address, umem_obj}, umem);
}

doca_error_t doca_umem_dpa_create(struct doca_dpa *dpa, uint64_t, size_t size, uint32_t, struct doca_umem **umem_obj)
{
    return size == 0 ? opendoca::refuse_value("a size of 0") : refuse({dpa, umem_obj}, umem);
}

doca_error_t doca_umem_gpu_create(struct doca_gpu *gpu, struct doca_dev *dev, void *address, size_t size, uint32_t,
                                  struct doca_umem **umem_obj)
{
    return size == 0 ? opendoca::refuse_value("a size of 0") : refuse({gpu, dev, address, umem_obj}, umem);
}

doca_error_t doca_umem_destroy(struct doca_umem *umem_obj)
{
    return refuse({umem_obj}, umem);
}

doca_error_t doca_umem_get_id(const struct doca_umem *umem_obj, uint32_t *umem_id)
{
    return refuse({umem_obj, umem_id}, umem);
}

doca_error_t doca_umem_get_size(const struct doca_umem *umem_obj, uint32_t *umem_size)
{
    return refuse({umem_obj, umem_size}, umem);
}

doca_error_t doca_umem_get_address(const struct doca_umem *umem_obj, void **umem_addr)
{
    return refuse({umem_obj, umem_addr}, umem);
}

doca_error_t doca_uar_create(const struct doca_dev *dev, enum doca_uar_allocation_type allocation_type,
                             struct doca_uar **uar_obj)
{
    return allocation_type > DOCA_UAR_ALLOCATION_TYPE_NONCACHE_DEDICATED
               ? opendoca::refuse_value("no such allocation_type")
               : refuse({dev, uar_obj}, uar);
}

doca_error_t doca_uar_dpa_create(struct doca_dpa *dpa, struct doca_uar **uar_obj)
{
    return refuse({dpa, uar_obj}, uar);
}

doca_error_t doca_uar_destroy(struct doca_uar *uar_obj)
{
    return refuse({uar_obj}, uar);
}

doca_error_t doca_uar_id_get(const struct doca_uar *uar_obj, uint32_t *id)
{
    return refuse({uar_obj, id}, uar);
}

doca_error_t doca_uar_page_get(const struct doca_uar *uar_obj, void **page)
{
    return refuse({uar_obj, page}, uar);
}

doca_error_t doca_uar_reg_addr_get(const struct doca_uar *uar_obj, void **reg)
{
    return refuse({uar_obj, reg}, uar);
}

doca_error_t doca_clock_create(struct doca_dev *dev, struct doca_clock **clock)
{
    return refuse({dev, clock}, hw_clock);
}

doca_error_t doca_clock_destroy(struct doca_clock *clock)
{
    return refuse({clock}, hw_clock);
}

doca_error_t doca_clock_cap_nic_free_running_is_supported(const struct doca_devinfo *devinfo)
{
    return devinfo == nullptr ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_clock_cap_nic_real_time_is_supported(const struct doca_devinfo *devinfo)
{
    return devinfo == nullptr ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_clock_cap_nic_dpa_timer_is_supported(const struct doca_devinfo *devinfo)
{
    return devinfo == nullptr ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock, uint64_t clock_type,
                                      union doca_clock_timespec_t *timestamp)
{
    return is_clock(clock_type) ? refuse({clock, timestamp}, hw_clock) : opendoca::refuse_value("no such clock_type");
}

doca_error_t doca_clock_get_crosstimestamp(const struct doca_clock *clock, uint64_t primary_clock, uint64_t nic_clock,
                                           union doca_clock_timespec_t *primary_timestamp,
                                           union doca_clock_timespec_t *nic_timestamp, uint64_t *accuracy)
{
    return is_clock(primary_clock) && is_clock(nic_clock)
               ? refuse({clock, primary_timestamp, nic_timestamp, accuracy}, hw_clock)
               : opendoca::refuse_value("no such clock");
}

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
