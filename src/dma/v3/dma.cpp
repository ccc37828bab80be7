// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma.hpp"

#include <cstdint>

#include "../../core/device/small_copies.hpp"
#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "memcpy_tasks.hpp"

OPENDOCA_LOG_SOURCE(DOCA_DMA);

using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::call;
using opendoca::v3::no_buffer;

namespace {

constexpr std::uint32_t max_num_tasks = 65536; // of one context

} // namespace

namespace opendoca::v3 {

/// no_buffer becomes null again, which the check of a copy reports as such. A task without bytes to copy is an error
/// here, unlike a job of DOCA 2.2.
template <typename Engine>
doca_error_t MemcpyTasks<Engine>::check(const doca_dma_task_memcpy &task, CopyPlan &plan) const noexcept
{
    const doca_buf *const dst = task.dst != &no_buffer ? task.dst : nullptr;
    const doca_buf *const src = task.src != &no_buffer ? task.src : nullptr;
    const doca_error_t status = check_.check(dst, src, plan);
    if (status == DOCA_SUCCESS && plan.length == 0) {
        LOG_ERR("source %p has no data", static_cast<const void *>(task.src));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return status;
}

/// has_fast_path is false from the first failure on: the check is then skipped and the task completes with SHUTDOWN.
template <typename Engine>
doca_error_t MemcpyTasks<Engine>::submit_any(doca_dma_task_memcpy &task) noexcept
{
    CopyPlan plan{};
    const doca_error_t status = has_fast_path ? check(task, plan) : DOCA_ERROR_SHUTDOWN;
    if (status == DOCA_SUCCESS) {
        const doca_error_t submitted = generic_engine_.copy(task.tag(), *task.dst, *task.src, plan);
        return submitted == DOCA_ERROR_NO_MEMORY ? DOCA_ERROR_AGAIN : submitted;
    }
    // Before the completion, so that no later task takes the short path and copies after a failed one.
    has_fast_path = is_on_fast_path = false;
    completions_.done(task.tag(), engine_, status);
    return DOCA_SUCCESS;
}

} // namespace opendoca::v3

/// Creates the engine and, for its concrete type, the pool. The short path is taken only while the completion queue is
/// not armed, since a pool is then off its fast path.
doca_error_t doca_dma::on_start()
{
    doca_dev &device = *dev();
    const doca_error_t status = device.device().create_copy_engine(completions(), engine_);
    if (status == DOCA_SUCCESS)
        engine_->set_ordered(is_ordered_);
    if (status == DOCA_SUCCESS && memcpy.is_configured()) {
        opendoca::visit_engine(*engine_, true, [&]<typename Engine>(Engine &own) {
            memcpy.set_pool(
                std::make_unique<opendoca::v3::MemcpyTasks<Engine>>(*this, memcpy.conf(), *engine_, own, device));
        });
    }
    return status;
}

/// Copies in flight complete with SHUTDOWN unless they have been carried out.
doca_error_t doca_dma::on_stop() noexcept
{
    engine_->flush();
    return DOCA_SUCCESS;
}

doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma)
{
    return call({dev, dma}, [&] {
        if (!dev->function().can.dma_memcpy) {
            LOG_ERR("device %s cannot do DMA", dev->description().c_str());
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        *dma = new doca_dma(*dev);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_dma_destroy(struct doca_dma *dma)
{
    return call({dma}, [&] {
        const doca_error_t status = dma->check_idle(DOCA_ERROR_IN_USE);
        if (status == DOCA_SUCCESS)
            delete dma;
        return status;
    });
}

struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma)
{
    return dma;
}

/// Has an effect on strict software devices only: on all others copies complete in the order of submission in either
/// setting. The one exception are tasks after a failed one, which docs/generations.md describes.
doca_error_t doca_dma_set_ordered_completions(struct doca_dma *dma, uint8_t ordered_completions)
{
    return call({dma}, [&] { dma->set_ordered(ordered_completions != 0); });
}

doca_error_t doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo)
{
    return call({devinfo}, [&] { return devinfo->function->can.dma_memcpy ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED; });
}

/// The limit is one of memory, not of the device.
doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma, uint32_t *num_tasks)
{
    return call({dma, num_tasks}, [&] { *num_tasks = max_num_tasks; });
}

doca_error_t doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *devinfo,
                                                           uint32_t *max_buf_list_len)
{
    return call({devinfo, max_buf_list_len}, [&] { *max_buf_list_len = devinfo->function->can.dma_max_list_elements; });
}

/// Bytes of one copy.
doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size)
{
    return call({devinfo, buf_size}, [&] { *buf_size = devinfo->function->can.dma_max_size; });
}

doca_error_t doca_dma_task_memcpy_set_conf(struct doca_dma *dma,
                                           doca_dma_task_memcpy_completion_cb_t task_completion_cb,
                                           doca_dma_task_memcpy_completion_cb_t task_error_cb,
                                           uint32_t num_memcpy_tasks)
{
    return call({dma}, [&] {
        return dma->memcpy.configure(task_completion_cb, task_error_cb, num_memcpy_tasks, max_num_tasks,
                                     DOCA_ERROR_BAD_STATE);
    });
}

/// The buffers are checked when the task is submitted.
doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src, struct doca_buf *dst,
                                             union doca_data user_data, struct doca_dma_task_memcpy **task)
{
    return call({dma, task}, [&] {
        const doca_error_t status = dma->memcpy.alloc(user_data, *task);
        if (status == DOCA_SUCCESS) {
            doca_dma_task_memcpy_set_src(*task, src);
            doca_dma_task_memcpy_set_dst(*task, dst);
        }
        return status;
    });
}

struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task)
{
    return task;
}

void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task, const struct doca_buf *src)
{
    apply_to(task, [&] { task->src = src != nullptr ? src : &no_buffer; });
}

const struct doca_buf *doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task)
{
    return read_from(task, [&] { return task->src != &no_buffer ? task->src : nullptr; });
}

void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task, struct doca_buf *dst)
{
    apply_to(task, [&] { task->dst = dst != nullptr ? dst : &no_buffer; });
}

struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task)
{
    return read_from(task, [&] { return task->dst != &no_buffer ? task->dst : nullptr; });
}

doca_error_t doca_dma_get_gpu_handle(struct doca_dma *dma, struct doca_gpu_dma **gpu_dma)
{
    return call({dma, gpu_dma}, [] {
        LOG_ERR("the DMA context's data path is not on a GPU");
        return DOCA_ERROR_BAD_STATE;
    });
}
