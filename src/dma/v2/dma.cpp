// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma.hpp"

#include <memory>
#include <vector>

#include "../../core/device/small_copies.hpp"
#include "../../core/log/log.hpp"
#include "../../core/v2/call.hpp"
#include "dma_jobs.hpp"
#include "older.hpp"

OPENDOCA_LOG_SOURCE(DOCA_DMA);

using opendoca::v2::call;

namespace opendoca::v2 {

/// The general path: any type of job, list or buffer. The first condition avoids the full check for the common case;
/// the full check logs why a job is invalid.
template <typename Engine>
doca_error_t DmaJobs<Engine>::submit_any(const doca_dma_job_memcpy &job, Tag tag) noexcept
{
    if (job.base.type != DOCA_DMA_JOB_MEMCPY) {
        LOG_ERR("job type %d is not one of DMA's", job.base.type);
        return DOCA_ERROR_INVALID_VALUE;
    }
    CopyPlan plan{};
    if (job.src_buff != nullptr && job.dst_buff != nullptr && check_.has_fast_path(*job.dst_buff, *job.src_buff, plan))
        [[likely]]
        return owned_->copy(tag, *job.dst_buff, *job.src_buff, plan);
    const doca_error_t status = check_.check(job.dst_buff, job.src_buff, plan);
    return status == DOCA_SUCCESS ? owned_->copy(tag, *job.dst_buff, *job.src_buff, plan) : status;
}

/// Submits a job in the form of DOCA 1.3 and 1.4.
template <typename Engine>
doca_error_t DmaJobs<Engine>::submit_1_3(const doca_job &job) noexcept
{
    const doca_error_t status = apply_length(job);
    return status == DOCA_SUCCESS ? submit(job) : status;
}

} // namespace opendoca::v2

/// Called when the program adds a device: one device, which supports copies.
doca_error_t doca_dma::check_device(const doca_dev &dev, const std::vector<doca_dev *> &others) const
{
    if (!dev.function().can.dma_memcpy) {
        LOG_ERR("device %s cannot do DMA", dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!others.empty()) {
        LOG_ERR("a DMA context takes one device, and has %s", others.front()->description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    return DOCA_SUCCESS;
}

bool doca_dma::can_be_event_driven(const std::vector<doca_dev *> &devices) const
{
    return devices.empty() || devices.front()->function().can.dma_event_driven;
}

doca_error_t doca_dma::create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                    std::unique_ptr<opendoca::v2::JobQueue> &queue)
{
    doca_dev &dev = *devices.front();
    std::unique_ptr<opendoca::CopyEngine> engine;
    if (const doca_error_t status = dev.device().create_copy_engine(workq.completions, engine); status != DOCA_SUCCESS)
        return status;
    // Concrete types of engines may rely on a completion queue that is never armed, that is, not event-driven.
    const bool is_never_armed = !workq.completions.is_event_driven();
    opendoca::visit_engine(*engine, is_never_armed, [&]<typename Engine>(Engine &own) {
        queue = std::make_unique<opendoca::v2::DmaJobs<Engine>>(std::move(engine), own, dev, workq);
    });
    // A decorator, so that programs of DOCA 2.2 do not pay for the older meaning.
    if (copies_ == Copies::overwrite)
        queue =
            std::make_unique<opendoca::v2::OverwritingJobs>(std::move(queue), dev.function().can.dma_max_list_elements);
    return DOCA_SUCCESS;
}

doca_error_t doca_dma_create(struct doca_dma **dma)
{
    return call({dma}, [&] { *dma = new doca_dma; });
}

doca_error_t doca_dma_destroy(struct doca_dma *dma)
{
    return call({dma}, [&] {
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
    return call({devinfo}, [&] {
        if (job_type != DOCA_DMA_JOB_MEMCPY) {
            LOG_ERR("job type %d is not one of DMA's", static_cast<int>(job_type));
            return DOCA_ERROR_INVALID_VALUE;
        }
        return devinfo->function->can.dma_memcpy ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    });
}

/// Buffers of a list, on either side of a copy.
doca_error_t doca_dma_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem)
{
    return call({devinfo, max_list_num_elem},
                [&] { *max_list_num_elem = devinfo->function->can.dma_max_list_elements; });
}

/// Bytes of one copy.
doca_error_t doca_dma_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size)
{
    return call({devinfo, buf_size}, [&] { *buf_size = devinfo->function->can.dma_max_size; });
}
