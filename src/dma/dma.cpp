// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma.hpp"

#include <doca_log.h>

#include "../core/dev.hpp"
#include "../core/job.hpp"

DOCA_LOG_REGISTER(DOCA_DMA);

using opendoca::guarded;

doca_error_t doca_dma::check_device(const doca_dev &dev, const std::vector<doca_dev *> &others) const
{
    if (!dev.function().can.dma_memcpy) {
        DOCA_LOG_ERR("device %s cannot do DMA", dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!others.empty()) {
        DOCA_LOG_ERR("a DMA context takes one device, and has %s", others.front()->description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    return DOCA_SUCCESS;
}

bool doca_dma::can_be_event_driven(const std::vector<doca_dev *> &devices) const
{
    return devices.empty() || devices.front()->function().can.dma_event_driven;
}

doca_error_t doca_dma::create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                    std::shared_ptr<opendoca::JobQueue> &queue)
{
    return devices.front()->device().create_copy_queue(workq, *devices.front(), queue);
}

doca_error_t doca_dma_create(struct doca_dma **dma)
{
    if (dma == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] {
        *dma = new doca_dma;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_dma_destroy(struct doca_dma *dma)
{
    if (dma == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] {
        const doca_error_t status = dma->check_destroyable();
        if (status == DOCA_SUCCESS)
            delete dma;
        return status;
    });
}

struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma)
{
    return dma;
}

doca_error_t doca_dma_job_get_supported(struct doca_devinfo *devinfo, enum doca_dma_job_types job_type)
{
    if (devinfo == nullptr || job_type != DOCA_DMA_JOB_MEMCPY)
        return DOCA_ERROR_INVALID_VALUE;
    return devinfo->function->can.dma_memcpy ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_dma_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem)
{
    if (devinfo == nullptr || max_list_num_elem == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *max_list_num_elem = devinfo->function->can.dma_max_list_elements;
    return DOCA_SUCCESS;
}

doca_error_t doca_dma_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size)
{
    if (devinfo == nullptr || buf_size == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *buf_size = devinfo->function->can.dma_max_size;
    return DOCA_SUCCESS;
}
