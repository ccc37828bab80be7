// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sha.hpp"

#include "../../core/dev.hpp"
#include "../../core/log.hpp"
#include "../../core/v2/workq.hpp"
#include "sha_jobs.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SHA);

using opendoca::guarded;

doca_error_t doca_sha::check_device(const doca_dev &dev, const std::vector<doca_dev *> &others) const
{
    if (!dev.function().can.sha_software) {
        LOG_ERR("device %s cannot do SHA", dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!others.empty()) {
        LOG_ERR("a SHA context takes one device, and has %s", others.front()->description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    return DOCA_SUCCESS;
}

bool doca_sha::can_be_event_driven(const std::vector<doca_dev *> &) const
{
    return true;
}

doca_error_t doca_sha::create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                    std::unique_ptr<opendoca::v2::JobQueue> &queue)
{
    const doca_dev &dev = *devices.front();
    const opendoca::Capabilities &can = dev.function().can;
    queue = std::make_unique<opendoca::v2::ShaJobs>(
        std::make_unique<opendoca::HashQueue>(
            workq.completions, dev.device(),
            opendoca::HashQueue::Limits{can.sha_max_list_elements, can.sha_max_size}),
        *this, workq);
    return DOCA_SUCCESS;
}

doca_error_t doca_sha_create(struct doca_sha **ctx)
{
    if (ctx == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] {
        *ctx = new doca_sha;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_sha_destroy(struct doca_sha *ctx)
{
    if (ctx == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (ctx->is_started()) {
        LOG_ERR("the SHA context is still started");
        return DOCA_ERROR_IN_USE;
    }
    delete ctx;
    return DOCA_SUCCESS;
}

struct doca_ctx *doca_sha_as_ctx(struct doca_sha *ctx)
{
    return ctx;
}

doca_error_t doca_sha_job_get_supported(const struct doca_devinfo *devinfo, enum doca_sha_job_type job_type)
{
    if (devinfo == nullptr || !opendoca::v2::is_sha_job(job_type))
        return DOCA_ERROR_INVALID_VALUE;
    return devinfo->function->can.sha_software ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_sha_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
                                                uint32_t *max_list_num_elem)
{
    if (devinfo == nullptr || max_list_num_elem == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    const opendoca::Capabilities &can = devinfo->function->can;
    if (!can.sha_software)
        return DOCA_ERROR_NOT_SUPPORTED;
    *max_list_num_elem = can.sha_max_list_elements;
    return DOCA_SUCCESS;
}

doca_error_t doca_sha_get_max_src_buffer_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size)
{
    if (devinfo == nullptr || max_buffer_size == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    const opendoca::Capabilities &can = devinfo->function->can;
    if (!can.sha_software)
        return DOCA_ERROR_NOT_SUPPORTED;
    *max_buffer_size = can.sha_max_size;
    return DOCA_SUCCESS;
}

doca_error_t doca_sha_get_min_dst_buffer_size(const struct doca_devinfo *devinfo,
                                              enum doca_sha_job_type job_type, uint32_t *min_buffer_size)
{
    if (devinfo == nullptr || min_buffer_size == nullptr || !opendoca::v2::is_sha_job(job_type))
        return DOCA_ERROR_INVALID_VALUE;
    if (!devinfo->function->can.sha_software)
        return DOCA_ERROR_NOT_SUPPORTED;
    *min_buffer_size = facts_of(opendoca::v2::sha_kind_of(job_type)).digest_size;
    return DOCA_SUCCESS;
}

doca_error_t doca_sha_get_hardware_supported(const struct doca_devinfo *devinfo)
{
    if (devinfo == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return devinfo->function->can.sha_hardware ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}
