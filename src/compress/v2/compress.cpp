// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The context of DOCA 2.2, its capabilities and its C functions.
#include "compress.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../../core/log/log.hpp"
#include "../../core/objects/dev.hpp"
#include "../../core/v2/call.hpp"
#include "../../core/v2/workq.hpp"
#include "compress_jobs.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMPRESS);

using opendoca::CompressKind;
using opendoca::v2::call;
using opendoca::v2::compress_kind_of;

namespace {

bool can_compress_anything(const opendoca::Capabilities &can) noexcept
{
    return std::ranges::any_of(opendoca::v2::compress_kinds,
                               [&](CompressKind kind) { return can_compress(can, kind); });
}

/// Checks that @p job_type is one of the library's, which is wrong on any device, and that the device can do it.
doca_error_t check_support(const doca_devinfo &devinfo, doca_compress_job_types job_type) noexcept
{
    const std::optional<CompressKind> kind = compress_kind_of(static_cast<int>(job_type));
    if (!kind) {
        LOG_ERR("job type %d is not one of compress", static_cast<int>(job_type));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return can_compress(devinfo.function->can, *kind) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

} // namespace

doca_error_t doca_compress::check_device(const doca_dev &dev, const std::vector<doca_dev *> &others) const
{
    if (!can_compress_anything(dev.function().can)) {
        LOG_ERR("device %s supports no compression", dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!others.empty()) {
        LOG_ERR("a compress context takes one device, and has %s", others.front()->description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    return DOCA_SUCCESS;
}

bool doca_compress::can_be_event_driven(const std::vector<doca_dev *> &) const
{
    // A work queue blocks for long operations only, and their thread wakes it.
    return true;
}

doca_error_t doca_compress::create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                         std::unique_ptr<opendoca::v2::JobQueue> &queue)
{
    opendoca::Device &device = devices.front()->device();
    const opendoca::Capabilities &can = devices.front()->function().can;
    auto codecs = std::make_unique<opendoca::CompressQueue>(
        workq.completions, device,
        opendoca::CompressQueue::Limits{can.compress_max_list_elements, can.compress_max_size});
    if (const doca_error_t status = codecs->open(device); status != DOCA_SUCCESS)
        return status;
    // The types of a context's jobs are not known before they are submitted.
    for (const CompressKind kind : opendoca::v2::compress_kinds) {
        if (can_compress(can, kind))
            codecs->prepare(kind);
    }
    queue = std::make_unique<opendoca::v2::CompressJobs>(std::move(codecs), can);
    return DOCA_SUCCESS;
}

doca_error_t doca_compress_create(struct doca_compress **compress)
{
    return call({compress}, [&] { *compress = new doca_compress; });
}

doca_error_t doca_compress_destroy(struct doca_compress *compress)
{
    return call({compress}, [&] {
        if (compress->is_started()) {
            LOG_ERR("the compress context is still started");
            return DOCA_ERROR_IN_USE;
        }
        delete compress;
        return DOCA_SUCCESS;
    });
}

struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress)
{
    return compress;
}

doca_error_t doca_compress_job_get_supported(struct doca_devinfo *devinfo, enum doca_compress_job_types job_type)
{
    return call({devinfo}, [&] { return check_support(*devinfo, job_type); });
}

doca_error_t doca_compress_get_max_buf_size(const struct doca_devinfo *devinfo, enum doca_compress_job_types job_type,
                                            uint64_t *max_buffer_size)
{
    return call({devinfo, max_buffer_size}, [&] {
        const doca_error_t status = check_support(*devinfo, job_type);
        if (status == DOCA_SUCCESS)
            *max_buffer_size = devinfo->function->can.compress_max_size;
        return status;
    });
}

doca_error_t doca_compress_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem)
{
    return call({devinfo, max_list_num_elem}, [&] {
        const opendoca::Capabilities &can = devinfo->function->can;
        if (!can_compress_anything(can))
            return DOCA_ERROR_NOT_SUPPORTED;
        *max_list_num_elem = can.compress_max_list_elements;
        return DOCA_SUCCESS;
    });
}
