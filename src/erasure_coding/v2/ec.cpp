// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The context of DOCA 2.2, its capabilities, and their C functions. Those of matrices are in matrices_api.cpp.
#include "ec.hpp"

#include <memory>
#include <vector>

#include "../../core/log/log.hpp"
#include "../../core/objects/dev.hpp"
#include "../../core/v2/call.hpp"
#include "../../core/v2/workq.hpp"
#include "../galois.hpp"
#include "coding_jobs.hpp"

OPENDOCA_LOG_SOURCE(DOCA_EC);

using opendoca::v2::call;

namespace {

/// Returns whether the device's capabilities include erasure coding, and this build has ISA-L for it.
bool is_supported(const opendoca::DeviceFunction &function) noexcept
{
    return opendoca::galois::is_available && function.can.erasure_coding;
}

} // namespace

doca_error_t doca_ec::check_device(const doca_dev &dev, const std::vector<doca_dev *> &others) const
{
    if (!is_supported(dev.function())) {
        LOG_ERR("device %s cannot do erasure coding", dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!others.empty()) {
        LOG_ERR("an erasure coding context takes one device, and has %s", others.front()->description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    return DOCA_SUCCESS;
}

bool doca_ec::can_be_event_driven(const std::vector<doca_dev *> &) const
{
    // Operations complete within submit, or in slices while the work queue is polled: it does not block meanwhile.
    return true;
}

doca_error_t doca_ec::create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                   std::unique_ptr<opendoca::v2::JobQueue> &queue)
{
    const doca_dev &dev = *devices.front();
    const opendoca::Capabilities &can = dev.function().can;
    queue = std::make_unique<opendoca::v2::CodingJobs>(
        std::make_unique<opendoca::CodingQueue>(
            workq.completions, dev.device(),
            opendoca::CodingQueue::Limits{can.ec_max_list_elements, can.ec_max_block_size}),
        workq.completions);
    return DOCA_SUCCESS;
}

doca_error_t doca_ec_create(struct doca_ec **ec)
{
    return call({ec}, [&] {
        // Its matrices need no device, so this is what can refuse them.
        if (!opendoca::galois::is_available) {
            LOG_ERR("this build of the library has no ISA-L, and so no erasure coding");
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        *ec = new doca_ec;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_ec_destroy(struct doca_ec *ec)
{
    return call({ec}, [&] {
        if (ec->is_started()) {
            LOG_ERR("the erasure coding context is still started");
            return DOCA_ERROR_IN_USE;
        }
        delete ec;
        return DOCA_SUCCESS;
    });
}

struct doca_ctx *doca_ec_as_ctx(struct doca_ec *ctx)
{
    return ctx;
}

doca_error_t doca_ec_job_get_supported(struct doca_devinfo *devinfo, enum doca_ec_job_types job_type)
{
    return call({devinfo}, [&] {
        // The type is checked first: it is wrong on any device.
        if (!opendoca::v2::is_ec_job(static_cast<int>(job_type))) {
            LOG_ERR("job type %d is not one of erasure coding", static_cast<int>(job_type));
            return DOCA_ERROR_INVALID_VALUE;
        }
        return is_supported(*devinfo->function) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    });
}

doca_error_t doca_ec_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem)
{
    return call({devinfo, max_list_num_elem}, [&] {
        if (!is_supported(*devinfo->function))
            return DOCA_ERROR_NOT_SUPPORTED;
        *max_list_num_elem = devinfo->function->can.ec_max_list_elements;
        return DOCA_SUCCESS;
    });
}
