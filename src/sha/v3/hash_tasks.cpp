// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "hash_tasks.hpp"

namespace opendoca::v3 {

namespace {

/// Returns the result of a submit: the task's own errors are reported by its completion. A full queue cannot occur: the
/// context's queue has a credit for each task.
doca_error_t end_unless_taken(doca_error_t status, doca_task &task, HashQueue &hashes) noexcept
{
    if (status != DOCA_SUCCESS)
        task.ctx->completions().done(task.tag(), hashes, status);
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t HashTasks::submit(doca_task &base) noexcept
{
    auto &task = static_cast<doca_sha_task_hash &>(base);
    return end_unless_taken(hashes_.hash(task.tag(), task.kind, task.src, task.dst), task, hashes_);
}

doca_error_t HashTasks::check(const doca_task &base) const noexcept
{
    const auto &task = static_cast<const doca_sha_task_hash &>(base);
    return hashes_.check(task.kind, task.src, task.dst);
}

doca_error_t PartialHashTasks::submit(doca_task &base) noexcept
{
    auto &task = static_cast<doca_sha_task_partial_hash &>(base);
    // From the last piece of another message.
    task.has_result = false;
    return end_unless_taken(hashes_.hash_piece(task.tag(), task.kind, task.src, task.dst, task.session, task.is_final),
                            task, hashes_);
}

doca_error_t PartialHashTasks::check(const doca_task &base) const noexcept
{
    const auto &task = static_cast<const doca_sha_task_partial_hash &>(base);
    return hashes_.check_piece(task.kind, task.src, task.dst, task.session, task.is_final);
}

doca_error_t PartialHashTasks::set_result(doca_task &base, const Ended &) noexcept
{
    auto &task = static_cast<doca_sha_task_partial_hash &>(base);
    // A failed piece leaves has_result as it was set by submit().
    task.has_result = task.is_final;
    return DOCA_SUCCESS;
}

} // namespace opendoca::v3
