// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of a sync event's tasks: each checks for null pointers and sets or reads one field. Values are
// checked when the task is submitted. Fields may be set only while the program owns the task.
#include <cstdint>

#include "../../core/v3/call.hpp"
#include "sync_event.hpp"

using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::call;

namespace {

constexpr std::uint32_t max_num_tasks = 65536; // of one type

} // namespace

// Get: reads the counter into memory of the program.
doca_error_t doca_sync_event_task_get_set_conf(doca_sync_event *event,
                                               doca_sync_event_task_get_completion_cb_t completion_cb,
                                               doca_sync_event_task_get_completion_cb_t error_cb, uint32_t num_tasks)
{
    return call({event}, [&] {
        return event->get.configure(completion_cb, error_cb, num_tasks, max_num_tasks, DOCA_ERROR_NOT_PERMITTED);
    });
}

doca_error_t doca_sync_event_task_get_alloc_init(doca_sync_event *event, uint64_t *ret_val_ptr, doca_data user_data,
                                                 doca_sync_event_task_get **task)
{
    return call({event, task}, [&] {
        const doca_error_t status = event->get.alloc(user_data, *task);
        if (status == DOCA_SUCCESS) {
            (*task)->value = ret_val_ptr;
        }
        return status;
    });
}

doca_task *doca_sync_event_task_get_as_doca_task(doca_sync_event_task_get *task)
{
    return task;
}

void doca_sync_event_task_get_set_ret_val_ptr(doca_sync_event_task_get *task, uint64_t *ret_val_ptr)
{
    apply_to(task, [&] { task->value = ret_val_ptr; });
}

uint64_t *doca_sync_event_task_get_get_ret_val_ptr(const doca_sync_event_task_get *task)
{
    return read_from(task, [&] { return task->value; });
}

// Notify set: stores a value.
doca_error_t doca_sync_event_task_notify_set_set_conf(doca_sync_event *event,
                                                      doca_sync_event_task_notify_set_completion_cb_t completion_cb,
                                                      doca_sync_event_task_notify_set_completion_cb_t error_cb,
                                                      uint32_t num_tasks)
{
    return call({event}, [&] {
        return event->notify_set.configure(completion_cb, error_cb, num_tasks, max_num_tasks, DOCA_ERROR_NOT_PERMITTED);
    });
}

doca_error_t doca_sync_event_task_notify_set_alloc_init(doca_sync_event *event, uint64_t set_val, doca_data user_data,
                                                        doca_sync_event_task_notify_set **task)
{
    return call({event, task}, [&] {
        const doca_error_t status = event->notify_set.alloc(user_data, *task);
        if (status == DOCA_SUCCESS) {
            (*task)->value = set_val;
        }
        return status;
    });
}

doca_task *doca_sync_event_task_notify_set_as_doca_task(doca_sync_event_task_notify_set *task)
{
    return task;
}

void doca_sync_event_task_notify_set_set_set_val(doca_sync_event_task_notify_set *task, uint64_t set_val)
{
    apply_to(task, [&] { task->value = set_val; });
}

uint64_t doca_sync_event_task_notify_set_get_set_val(const doca_sync_event_task_notify_set *task)
{
    return read_from(task, [&] { return task->value; });
}

// Notify add: adds modulo 2^64.
doca_error_t doca_sync_event_task_notify_add_set_conf(doca_sync_event *event,
                                                      doca_sync_event_task_notify_add_completion_cb_t completion_cb,
                                                      doca_sync_event_task_notify_add_completion_cb_t error_cb,
                                                      uint32_t num_tasks)
{
    return call({event}, [&] {
        return event->notify_add.configure(completion_cb, error_cb, num_tasks, max_num_tasks, DOCA_ERROR_NOT_PERMITTED);
    });
}

/// @p fetched_val_ptr may be null if the program does not need the value before the addition.
doca_error_t doca_sync_event_task_notify_add_alloc_init(doca_sync_event *event, uint64_t inc_val,
                                                        uint64_t *fetched_val_ptr, doca_data user_data,
                                                        doca_sync_event_task_notify_add **task)
{
    return call({event, task}, [&] {
        const doca_error_t status = event->notify_add.alloc(user_data, *task);
        if (status == DOCA_SUCCESS) {
            (*task)->value = inc_val;
            (*task)->fetched = fetched_val_ptr;
        }
        return status;
    });
}

doca_task *doca_sync_event_task_notify_add_as_doca_task(doca_sync_event_task_notify_add *task)
{
    return task;
}

void doca_sync_event_task_notify_add_set_inc_val(doca_sync_event_task_notify_add *task, uint64_t inc_val)
{
    apply_to(task, [&] { task->value = inc_val; });
}

uint64_t doca_sync_event_task_notify_add_get_inc_val(const doca_sync_event_task_notify_add *task)
{
    return read_from(task, [&] { return task->value; });
}

void doca_sync_event_task_notify_add_set_fetched_val_ptr(doca_sync_event_task_notify_add *task,
                                                         uint64_t *fetched_val_ptr)
{
    apply_to(task, [&] { task->fetched = fetched_val_ptr; });
}

uint64_t *doca_sync_event_task_notify_add_get_fetched_val_ptr(const doca_sync_event_task_notify_add *task)
{
    return read_from(task, [&] { return task->fetched; });
}

// Wait for equality: completes when (counter & mask) == value.
doca_error_t doca_sync_event_task_wait_eq_set_conf(doca_sync_event *event,
                                                   doca_sync_event_task_wait_eq_completion_cb_t completion_cb,
                                                   doca_sync_event_task_wait_eq_completion_cb_t error_cb,
                                                   uint32_t num_tasks)
{
    return call({event}, [&] {
        return event->wait_eq.configure(completion_cb, error_cb, num_tasks, max_num_tasks, DOCA_ERROR_NOT_PERMITTED);
    });
}

/// A @p wait_val with bits outside of @p mask is never met; the task then completes when the context stops.
doca_error_t doca_sync_event_task_wait_eq_alloc_init(doca_sync_event *event, uint64_t wait_val, uint64_t mask,
                                                     doca_data user_data, doca_sync_event_task_wait_eq **task)
{
    return call({event, task}, [&] {
        const doca_error_t status = event->wait_eq.alloc(user_data, *task);
        if (status == DOCA_SUCCESS) {
            (*task)->value = wait_val;
            (*task)->mask = mask;
        }
        return status;
    });
}

doca_task *doca_sync_event_task_wait_eq_as_doca_task(doca_sync_event_task_wait_eq *task)
{
    return task;
}

void doca_sync_event_task_wait_eq_set_wait_val(doca_sync_event_task_wait_eq *task, uint64_t wait_val)
{
    apply_to(task, [&] { task->value = wait_val; });
}

uint64_t doca_sync_event_task_wait_eq_get_wait_val(const doca_sync_event_task_wait_eq *task)
{
    return read_from(task, [&] { return task->value; });
}

void doca_sync_event_task_wait_eq_set_mask(doca_sync_event_task_wait_eq *task, uint64_t mask)
{
    apply_to(task, [&] { task->mask = mask; });
}

uint64_t doca_sync_event_task_wait_eq_get_mask(const doca_sync_event_task_wait_eq *task)
{
    return read_from(task, [&] { return task->mask; });
}

// Wait for inequality: completes when (counter & mask) != value.
doca_error_t doca_sync_event_task_wait_neq_set_conf(doca_sync_event *event,
                                                    doca_sync_event_task_wait_neq_completion_cb_t completion_cb,
                                                    doca_sync_event_task_wait_neq_completion_cb_t error_cb,
                                                    uint32_t num_tasks)
{
    return call({event}, [&] {
        return event->wait_neq.configure(completion_cb, error_cb, num_tasks, max_num_tasks, DOCA_ERROR_NOT_PERMITTED);
    });
}

doca_error_t doca_sync_event_task_wait_neq_alloc_init(doca_sync_event *event, uint64_t wait_val, uint64_t mask,
                                                      doca_data user_data, doca_sync_event_task_wait_neq **task)
{
    return call({event, task}, [&] {
        const doca_error_t status = event->wait_neq.alloc(user_data, *task);
        if (status == DOCA_SUCCESS) {
            (*task)->value = wait_val;
            (*task)->mask = mask;
        }
        return status;
    });
}

doca_task *doca_sync_event_task_wait_neq_as_doca_task(doca_sync_event_task_wait_neq *task)
{
    return task;
}

void doca_sync_event_task_wait_neq_set_wait_val(doca_sync_event_task_wait_neq *task, uint64_t wait_val)
{
    apply_to(task, [&] { task->value = wait_val; });
}

uint64_t doca_sync_event_task_wait_neq_get_wait_val(const doca_sync_event_task_wait_neq *task)
{
    return read_from(task, [&] { return task->value; });
}

void doca_sync_event_task_wait_neq_set_mask(doca_sync_event_task_wait_neq *task, uint64_t mask)
{
    apply_to(task, [&] { task->mask = mask; });
}

uint64_t doca_sync_event_task_wait_neq_get_mask(const doca_sync_event_task_wait_neq *task)
{
    return read_from(task, [&] { return task->mask; });
}
