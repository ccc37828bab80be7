// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The wait for a greater value, a type of tasks that programs of DOCA 2.5 to 2.8 have: the private functions that
// opendoca/older/sync_event.h binds its names to. They stay part of the ABI.
#include <cstdint>

#include "../../core/v3/call.hpp"
#include "sync_event.hpp"

using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::call;

extern "C" {

DOCA_EXPERIMENTAL doca_error_t
opendoca_sync_event_cap_task_wait_gt_is_supported_2_5(const struct doca_devinfo *devinfo);
DOCA_EXPERIMENTAL doca_error_t opendoca_sync_event_task_wait_gt_set_conf_2_5(
    struct doca_sync_event *event, doca_sync_event_task_wait_gt_callback completion_cb,
    doca_sync_event_task_wait_gt_callback error_cb, uint32_t num_tasks);
DOCA_EXPERIMENTAL doca_error_t
opendoca_sync_event_task_wait_gt_alloc_init_2_5(struct doca_sync_event *event, uint64_t wait_val, uint64_t mask,
                                                union doca_data user_data, struct doca_sync_event_task_wait_gt **task);
DOCA_EXPERIMENTAL struct doca_task *
opendoca_sync_event_task_wait_gt_as_doca_task_2_5(struct doca_sync_event_task_wait_gt *task);
DOCA_EXPERIMENTAL void opendoca_sync_event_task_wait_gt_set_wait_val_2_5(struct doca_sync_event_task_wait_gt *task,
                                                                         uint64_t wait_val);
DOCA_EXPERIMENTAL uint64_t
opendoca_sync_event_task_wait_gt_get_wait_val_2_5(const struct doca_sync_event_task_wait_gt *task);
DOCA_EXPERIMENTAL void opendoca_sync_event_task_wait_gt_set_mask_2_5(struct doca_sync_event_task_wait_gt *task,
                                                                     uint64_t mask);
DOCA_EXPERIMENTAL uint64_t
opendoca_sync_event_task_wait_gt_get_mask_2_5(const struct doca_sync_event_task_wait_gt *task);

} // extern "C"

/// Waits need the same of a device.
doca_error_t opendoca_sync_event_cap_task_wait_gt_is_supported_2_5(const struct doca_devinfo *devinfo)
{
    return doca_sync_event_cap_task_wait_neq_is_supported(devinfo);
}

doca_error_t opendoca_sync_event_task_wait_gt_set_conf_2_5(struct doca_sync_event *event,
                                                           doca_sync_event_task_wait_gt_callback completion_cb,
                                                           doca_sync_event_task_wait_gt_callback error_cb,
                                                           uint32_t num_tasks)
{
    constexpr std::uint32_t max_num_tasks = 65536; // as of the other types
    return call(
        {event},
        [&] {
            return event->wait_gt.configure(completion_cb, error_cb, num_tasks, max_num_tasks,
                                            DOCA_ERROR_NOT_PERMITTED);
        },
        "doca_sync_event_task_wait_gt_set_conf");
}

doca_error_t opendoca_sync_event_task_wait_gt_alloc_init_2_5(struct doca_sync_event *event, uint64_t wait_val,
                                                             uint64_t mask, union doca_data user_data,
                                                             struct doca_sync_event_task_wait_gt **task)
{
    const auto alloc = [&] {
        const doca_error_t status = event->wait_gt.alloc(user_data, *task);
        if (status == DOCA_SUCCESS) {
            (*task)->value = wait_val;
            (*task)->mask = mask;
        }
        return status;
    };
    return call({event, task}, alloc, "doca_sync_event_task_wait_gt_alloc_init");
}

struct doca_task *opendoca_sync_event_task_wait_gt_as_doca_task_2_5(struct doca_sync_event_task_wait_gt *task)
{
    return task;
}

void opendoca_sync_event_task_wait_gt_set_wait_val_2_5(struct doca_sync_event_task_wait_gt *task, uint64_t wait_val)
{
    apply_to(task, [&] { task->value = wait_val; });
}

uint64_t opendoca_sync_event_task_wait_gt_get_wait_val_2_5(const struct doca_sync_event_task_wait_gt *task)
{
    return read_from(task, [&] { return task->value; });
}

void opendoca_sync_event_task_wait_gt_set_mask_2_5(struct doca_sync_event_task_wait_gt *task, uint64_t mask)
{
    apply_to(task, [&] { task->mask = mask; });
}

uint64_t opendoca_sync_event_task_wait_gt_get_mask_2_5(const struct doca_sync_event_task_wait_gt *task)
{
    return read_from(task, [&] { return task->mask; });
}
