// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Advice on memory: a context with one type of tasks, which notifies the device's caches of changed memory. Every
// device here is coherent with the CPU's caches, so the tasks complete at once.
#include <cstdint>
#include <memory>

#include <doca_mmap_advise.h>

#include "../log/log.hpp"
#include "../objects/buf.hpp"
#include "call.hpp"
#include "ctx.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MMAP_ADVISE);

using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::call;

struct doca_mmap_advise_task_invalidate_cache : doca_task {
    doca_buf *buf;
};

namespace opendoca::v3 {

namespace {

constexpr std::uint32_t max_num_tasks = 65536;

/// The pool of invalidation tasks: each completes within its submit.
class InvalidateTasks final : public PoolOf<doca_mmap_advise_task_invalidate_cache> {
public:
    InvalidateTasks(doca_ctx &owner, const TaskConf &configuration, Source &source)
        : PoolOf(owner, configuration),
          source_(source)
    {
    }

    [[nodiscard]] doca_error_t submit(doca_task &task) noexcept override
    {
        ctx.completions().done(task.tag(), source_, check(task));
        return DOCA_SUCCESS;
    }
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        const auto &task = static_cast<const doca_mmap_advise_task_invalidate_cache &>(base);
        if (task.buf != nullptr && task.buf->mmap != nullptr)
            return DOCA_SUCCESS;
        LOG_ERR("the task has no buffer");
        return DOCA_ERROR_INVALID_VALUE;
    }

private:
    Source &source_;
};

} // namespace

} // namespace opendoca::v3

/// The context of mmap_advise. Owned by the program.
struct doca_mmap_advise final : doca_ctx {
    explicit doca_mmap_advise(doca_dev &dev) : doca_ctx(&dev) {}
    ~doca_mmap_advise() override = default;

    opendoca::v3::TaskType<doca_mmap_advise_task_invalidate_cache,
                           doca_mmap_advise_task_invalidate_cache_completion_cb_t>
        invalidate{*this};

protected:
    [[nodiscard]] doca_error_t on_start() override
    {
        if (invalidate.is_configured())
            invalidate.set_pool(std::make_unique<opendoca::v3::InvalidateTasks>(*this, invalidate.conf(), source_));
        return DOCA_SUCCESS;
    }
    void on_idle() noexcept override {}

private:
    opendoca::Source source_; ///< source of the completions; nothing is ever in flight
};

doca_error_t doca_mmap_advise_create(struct doca_dev *dev, struct doca_mmap_advise **mmap_advise)
{
    return call({dev, mmap_advise}, [&] { *mmap_advise = new doca_mmap_advise(*dev); });
}

doca_error_t doca_mmap_advise_destroy(struct doca_mmap_advise *mmap_advise)
{
    return call({mmap_advise}, [&] {
        const doca_error_t status = mmap_advise->check_idle(DOCA_ERROR_IN_USE);
        if (status == DOCA_SUCCESS)
            delete mmap_advise;
        return status;
    });
}

struct doca_ctx *doca_mmap_advise_as_ctx(struct doca_mmap_advise *mmap_advise)
{
    return mmap_advise;
}

doca_error_t doca_mmap_advise_cap_task_cache_invalidate_is_supported(const struct doca_devinfo *devinfo)
{
    return call({devinfo}, [] {});
}

doca_error_t doca_mmap_advise_task_cache_invalidate_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                     uint64_t *buf_size)
{
    return call({devinfo, buf_size}, [&] { *buf_size = UINT64_MAX; });
}

doca_error_t doca_mmap_advise_task_invalidate_cache_set_conf(
    struct doca_mmap_advise *mmap_advise, doca_mmap_advise_task_invalidate_cache_completion_cb_t completion_cb,
    doca_mmap_advise_task_invalidate_cache_completion_cb_t error_cb, uint32_t num_tasks)
{
    return call({mmap_advise}, [&] {
        return mmap_advise->invalidate.configure(completion_cb, error_cb, num_tasks, opendoca::v3::max_num_tasks,
                                                 DOCA_ERROR_NOT_PERMITTED);
    });
}

doca_error_t doca_mmap_advise_task_invalidate_cache_alloc_init(struct doca_mmap_advise *mmap_advise,
                                                               struct doca_buf *buf, union doca_data user_data,
                                                               struct doca_mmap_advise_task_invalidate_cache **task)
{
    return call({mmap_advise, buf, task}, [&] {
        const doca_error_t status = mmap_advise->invalidate.alloc(user_data, *task);
        if (status == DOCA_SUCCESS)
            (*task)->buf = buf;
        return status;
    });
}

struct doca_task *
doca_mmap_advise_task_invalidate_cache_as_doca_task(struct doca_mmap_advise_task_invalidate_cache *task)
{
    return task;
}

void doca_mmap_advise_task_invalidate_cache_set_buf(struct doca_mmap_advise_task_invalidate_cache *task,
                                                    struct doca_buf *buf)
{
    apply_to(task, [&] { task->buf = buf; });
}

struct doca_buf *
doca_mmap_advise_task_invalidate_cache_get_buf(const struct doca_mmap_advise_task_invalidate_cache *task)
{
    return read_from(task, [&] { return task->buf; });
}
