// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The context of DOCA 2.2, its capabilities and its C functions.
#include "sha.hpp"

#include <memory>
#include <vector>

#include "../../core/log/log.hpp"
#include "../../core/objects/dev.hpp"
#include "../../core/v2/call.hpp"
#include "../../core/v2/workq.hpp"
#include "sha_jobs.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SHA);

using opendoca::v2::call;

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
    // Operations complete within submit, so a work queue is never blocked for one.
    return true;
}

doca_error_t doca_sha::create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                    std::unique_ptr<opendoca::v2::JobQueue> &queue)
{
    const doca_dev &dev = *devices.front();
    const opendoca::Capabilities &can = dev.function().can;
    queue = std::make_unique<opendoca::v2::ShaJobs>(
        std::make_unique<opendoca::HashQueue>(workq.completions, dev.device(),
                                              opendoca::HashQueue::Limits{can.sha_max_list_elements, can.sha_max_size}),
        *this, workq);
    return DOCA_SUCCESS;
}

doca_error_t doca_sha_create(struct doca_sha **ctx)
{
    return call({ctx}, [&] { *ctx = new doca_sha; });
}

doca_error_t doca_sha_destroy(struct doca_sha *ctx)
{
    return call({ctx}, [&] {
        if (ctx->is_started()) {
            LOG_ERR("the SHA context is still started");
            return DOCA_ERROR_IN_USE;
        }
        delete ctx;
        return DOCA_SUCCESS;
    });
}

struct doca_ctx *doca_sha_as_ctx(struct doca_sha *ctx)
{
    return ctx;
}

namespace {

/// Checks a job type that a program passes to a query.
doca_error_t check_job_type(doca_sha_job_type job_type) noexcept
{
    if (opendoca::v2::is_sha_job(job_type))
        return DOCA_SUCCESS;
    LOG_ERR("job type %d is not one of SHA's", static_cast<int>(job_type));
    return DOCA_ERROR_INVALID_VALUE;
}

/// A device can hash if this process can; an engine for SHA is reported but not needed.
doca_error_t check_software(const doca_devinfo &devinfo) noexcept
{
    return devinfo.function->can.sha_software ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

} // namespace

doca_error_t doca_sha_job_get_supported(const struct doca_devinfo *devinfo, enum doca_sha_job_type job_type)
/// The type is checked first: it is wrong on any device.
{
    return call({devinfo}, [&] {
        const doca_error_t status = check_job_type(job_type);
        return status == DOCA_SUCCESS ? check_software(*devinfo) : status;
    });
}

doca_error_t doca_sha_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem)
{
    return call({devinfo, max_list_num_elem}, [&] {
        const doca_error_t status = check_software(*devinfo);
        if (status == DOCA_SUCCESS)
            *max_list_num_elem = devinfo->function->can.sha_max_list_elements;
        return status;
    });
}

doca_error_t doca_sha_get_max_src_buffer_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size)
{
    return call({devinfo, max_buffer_size}, [&] {
        const doca_error_t status = check_software(*devinfo);
        if (status == DOCA_SUCCESS)
            *max_buffer_size = devinfo->function->can.sha_max_size;
        return status;
    });
}

doca_error_t doca_sha_get_min_dst_buffer_size(const struct doca_devinfo *devinfo, enum doca_sha_job_type job_type,
                                              uint32_t *min_buffer_size)
{
    return call({devinfo, min_buffer_size}, [&] {
        if (const doca_error_t status = check_job_type(job_type); status != DOCA_SUCCESS)
            return status;
        const doca_error_t status = check_software(*devinfo);
        if (status == DOCA_SUCCESS)
            // The destination needs space for the digest only: it is never padded.
            *min_buffer_size = facts_of(opendoca::v2::sha_kind_of(job_type)).digest_size;
        return status;
    });
}

doca_error_t doca_sha_get_hardware_supported(const struct doca_devinfo *devinfo)
{
    return call({devinfo},
                [&] { return devinfo->function->can.sha_hardware ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED; });
}
