// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Contexts of DOCA 2.2: devices, start and stop, and adding work queues; then the C functions.
#include "ctx.hpp"

#include <algorithm>
#include <cstdint>

#include "../log/log.hpp"
#include "../objects/dev.hpp"
#include "call.hpp"
#include "workq.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CTX);

using opendoca::v2::call;

namespace {

constexpr std::uint32_t max_num_ctx = 512; // what doca_ctx_get_max_num_ctx declares; more work as well

} // namespace

doca_ctx::doca_ctx() = default;

doca_ctx::~doca_ctx()
{
    for (doca_dev *dev : devices_)
        dev->release_use();
}

doca_error_t doca_ctx::on_start(const std::vector<doca_dev *> &devices)
{
    if (devices.empty()) {
        LOG_ERR("no device was added to the context");
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

void doca_ctx::on_stop() noexcept {}

doca_error_t doca_ctx::dev_add(doca_dev &dev)
{
    const std::lock_guard guard(lock_);
    // Under the lock, so that start() cannot run meanwhile.
    if (is_started()) {
        LOG_ERR("the context is started: no device can be added");
        return DOCA_ERROR_BAD_STATE;
    }
    if (std::ranges::find(devices_, &dev) != devices_.end()) {
        LOG_ERR("device %s was added to the context before", dev.description().c_str());
        return DOCA_ERROR_IN_USE;
    }
    if (const doca_error_t status = check_device(dev, devices_); status != DOCA_SUCCESS)
        return status;
    devices_.push_back(&dev);
    dev.take_use();
    return DOCA_SUCCESS;
}

doca_error_t doca_ctx::dev_rm(doca_dev &dev) noexcept
{
    const std::lock_guard guard(lock_);
    if (is_started()) {
        LOG_ERR("the context is started: no device can be removed");
        return DOCA_ERROR_BAD_STATE;
    }
    if (std::erase(devices_, &dev) == 0) {
        LOG_ERR("the device was not added to the context");
        return DOCA_ERROR_NOT_FOUND;
    }
    dev.release_use();
    return DOCA_SUCCESS;
}

doca_error_t doca_ctx::start()
{
    const std::lock_guard guard(lock_);
    if (is_started()) {
        LOG_ERR("the context is started already");
        return DOCA_ERROR_BAD_STATE;
    }
    if (const doca_error_t status = on_start(devices_); status != DOCA_SUCCESS)
        return status;
    // Release: pairs with the acquire load in is_started(), which is read without the lock.
    is_started_.store(true, std::memory_order_release);
    return DOCA_SUCCESS;
}

doca_error_t doca_ctx::stop() noexcept
{
    const std::lock_guard guard(lock_);
    if (!is_started()) {
        LOG_ERR("the context is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    for (const auto &service : services_) {
        if (!creator_.is_current())
            break; // a forked child's copy: its jobs never complete
        // num_outstanding() may be called by any thread, unlike the other functions of a completion queue.
        if (const std::uint32_t count = service.workq->completions.num_outstanding(service.queue->source());
            count != 0) {
            LOG_ERR("%u jobs of the context were not retrieved yet", count);
            return DOCA_ERROR_NOT_PERMITTED;
        }
    }
    if (!services_.empty()) {
        LOG_ERR("%zu work queues are still on the context", services_.size());
        return DOCA_ERROR_IN_USE;
    }
    on_stop();
    is_started_.store(false, std::memory_order_release);
    return DOCA_SUCCESS;
}

doca_error_t doca_ctx::workq_add(doca_workq &workq)
{
    const std::lock_guard guard(lock_);
    if (!is_started()) {
        LOG_ERR("the context is not started: no work queue can be added");
        return DOCA_ERROR_BAD_STATE;
    }
    if (std::ranges::find(services_, &workq, &Service::workq) != services_.end()) {
        LOG_ERR("the work queue is on the context already");
        return DOCA_ERROR_IN_USE;
    }
    if (workq.completions.is_event_driven() && !can_be_event_driven(devices_)) {
        LOG_ERR("the context does not support event-driven work queues");
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    std::unique_ptr<opendoca::v2::JobQueue> queue;
    if (const doca_error_t status = create_queue(devices_, workq, queue); status != DOCA_SUCCESS)
        return status;
    // Reserved before attach(), so that nothing fails after it.
    services_.reserve(services_.size() + 1);
    workq.attach(id_, *queue);
    // A completion with has_result leads by the source to the JobQueue that writes the result.
    queue->source().owner = queue.get();
    if (first_workq_.load(std::memory_order_relaxed) == no_workq) {
        first_queue_ = queue.get();
        first_workq_.store(reinterpret_cast<std::uintptr_t>(&workq), std::memory_order_relaxed);
    }
    services_.push_back({&workq, std::move(queue)});
    return DOCA_SUCCESS;
}

doca_error_t doca_ctx::workq_rm(doca_workq &workq) noexcept
{
    const std::lock_guard guard(lock_);
    if (!is_started()) {
        LOG_ERR("the context is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    const auto service = std::ranges::find(services_, &workq, &Service::workq);
    if (service == services_.end()) {
        LOG_ERR("the work queue is not on the context");
        return DOCA_ERROR_NOT_FOUND;
    }
    opendoca::Source &source = service->queue->source();
    // In a forked child's copy no job completes.
    if (const std::uint32_t count = workq.completions.num_outstanding(source); count != 0 && creator_.is_current()) {
        // How programs end jobs that never complete by themselves: they call this, retrieve the jobs, and call it
        // again.
        source.flush();
        LOG_DBG("%u jobs of the context on this work queue were not retrieved yet", count);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    // Another work queue is not made the first one: only its own thread may do that.
    if (serves_first(&workq))
        first_workq_.store(no_workq, std::memory_order_relaxed);
    workq.detach(id_);
    services_.erase(service);
    return DOCA_SUCCESS;
}

doca_error_t doca_ctx::set_datapath_on_gpu() noexcept
{
    if (is_started()) {
        LOG_ERR("the context is started: its data path can't be moved");
        return DOCA_ERROR_BAD_STATE;
    }
    LOG_ERR("a data path on a GPU is not supported");
    return DOCA_ERROR_NOT_SUPPORTED;
}

bool doca_ctx::is_event_driven_supported() const
{
    const std::lock_guard guard(lock_);
    return can_be_event_driven(devices_);
}

doca_error_t doca_ctx::check_destroyable() const
{
    const std::lock_guard guard(lock_);
    if (!services_.empty()) {
        LOG_ERR("%zu work queues are still on the context", services_.size());
        return DOCA_ERROR_IN_USE;
    }
    return DOCA_SUCCESS;
}

std::shared_ptr<const doca_ctx *const> doca_ctx::share_address() const
{
    const std::lock_guard guard(lock_);
    return address_.share(*this);
}

doca_error_t doca_ctx_get_max_num_ctx(uint32_t *max_num_ctx_out)
{
    return call({max_num_ctx_out}, [&] { *max_num_ctx_out = max_num_ctx; });
}

doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev)
{
    return call({ctx, dev}, [&] { return ctx->dev_add(*dev); });
}

doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev)
{
    return call({ctx, dev}, [&] { return ctx->dev_rm(*dev); });
}

doca_error_t doca_ctx_start(struct doca_ctx *ctx)
{
    return call({ctx}, [&] { return ctx->start(); });
}

doca_error_t doca_ctx_stop(struct doca_ctx *ctx)
{
    return call({ctx}, [&] { return ctx->stop(); });
}

doca_error_t doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq)
{
    return call({ctx, workq}, [&] { return ctx->workq_add(*workq); });
}

doca_error_t doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq)
{
    return call({ctx, workq}, [&] { return ctx->workq_rm(*workq); });
}

doca_error_t doca_ctx_get_event_driven_supported(struct doca_ctx *ctx, uint8_t *event_supported)
{
    return call({ctx, event_supported}, [&] { *event_supported = ctx->is_event_driven_supported(); });
}

doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev)
{
    return call({ctx, gpu_dev}, [&] { return ctx->set_datapath_on_gpu(); });
}
