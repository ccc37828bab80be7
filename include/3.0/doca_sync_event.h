// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_sync_event.h
 * Sync event: a counter of 64 bits on which one side waits and which the other one changes.
 *
 * The side that changes it is the publisher, the one that waits the subscriber; either may do both. Each has
 * exactly one location: the CPU of this machine, the other side of the PCIe (remote_pci), or, for the
 * publisher, another node (remote_net). The counter is on the side that created the event. The other side of
 * the PCIe gets a handle: doca_sync_event_export_to_remote_pci(), carry the bytes over,
 * doca_sync_event_create_from_export(), start. The other node gets one by
 * doca_sync_event_export_to_remote_net() and doca_sync_event_remote_net_create_from_export(), and uses it in
 * RDMA tasks alone; opendoca: its updates are seen by those who poll, and wake nobody who sleeps.
 *
 * An event is used in one of two ways. Synchronously: doca_sync_event_start(), then functions that return
 * when the operation is done. Or as a context: doca_sync_event_as_ctx(), the set_conf functions of the tasks,
 * doca_pe_connect_ctx(), doca_ctx_start(), tasks.
 *
 * A wait compares (counter & mask) with a value. Hardware wants value and counter in 0 to 254, and a mask of
 * 1, 2, 4 or 8 neighbouring 0xFF bytes, or 0; a program that is to run elsewhere keeps to it. opendoca:
 * waits, by function and by task, take any value and mask, on every device; tasks of a software device in
 * strict mode (DOCA_SOFT_STRICT=1) end with DOCA_ERROR_INVALID_VALUE for what hardware does not take.
 *
 * A task ends with
 * - DOCA_ERROR_CONNECTION_RESET: the process that holds the counter has died, or has destroyed the event; a
 *   wait also when the publisher's process has.
 * - DOCA_ERROR_SHUTDOWN: flushed, because the context is stopping (opendoca).
 *
 * opendoca: no device has a DPA or a GPU here. Functions for them answer DOCA_ERROR_NOT_SUPPORTED.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: calls on one event must not overlap, but for those in synchronous mode (opendoca); as a context,
 * as doca_ctx.h says. Capabilities: any.
 */
#ifndef DOCA_SYNC_EVENT_H_
#define DOCA_SYNC_EVENT_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL < 20900
#include <doca_ctx.h>
#include <doca_pe.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

/** A DPA (data path accelerator). */
struct doca_dpa;

/** A GPU. */
struct doca_gpu;

/** A handle of an event. */
struct doca_sync_event;

/** A handle of an event of another node. */
struct doca_sync_event_remote_net;

/** A task that reads the counter. */
struct doca_sync_event_task_get;

/** A task that adds to the counter. */
struct doca_sync_event_task_notify_add;

/** A task that sets the counter. */
struct doca_sync_event_task_notify_set;

/** A task that waits until the counter has a value. */
struct doca_sync_event_task_wait_eq;

/** A task that waits until the counter has another value. */
struct doca_sync_event_task_wait_neq;

/** Handle of an event for code on a DPA. */
typedef uint64_t doca_dpa_dev_sync_event_t;

/** Handle of another node's event for code on a DPA. */
typedef uint64_t doca_dpa_dev_sync_event_remote_net_t;

/** Handle of an event for code on a GPU. */
typedef uint64_t doca_gpu_dev_sync_event_t;

/** Handle of another node's event for code on a GPU. */
typedef uint64_t doca_gpu_dev_sync_event_remote_net_t;

/**
 * Called when a task to read the counter has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_sync_event_task_get_completion_cb_t)(struct doca_sync_event_task_get *task,
                                                         union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Called when a task to set the counter has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_sync_event_task_notify_set_completion_cb_t)(struct doca_sync_event_task_notify_set *task,
                                                                union doca_data task_user_data,
                                                                union doca_data ctx_user_data);

/**
 * Called when a task to add to the counter has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_sync_event_task_notify_add_completion_cb_t)(struct doca_sync_event_task_notify_add *task,
                                                                union doca_data task_user_data,
                                                                union doca_data ctx_user_data);

/**
 * Called when a task to wait for a value has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_sync_event_task_wait_eq_completion_cb_t)(struct doca_sync_event_task_wait_eq *task,
                                                             union doca_data task_user_data,
                                                             union doca_data ctx_user_data);

/**
 * Called when a task to wait for another value has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_sync_event_task_wait_neq_completion_cb_t)(struct doca_sync_event_task_wait_neq *task,
                                                              union doca_data task_user_data,
                                                              union doca_data ctx_user_data);

/**
 * Create an event, with the counter at 0.
 *
 * @param [out] event The event. Free it with doca_sync_event_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_create(struct doca_sync_event **event);

/**
 * Make a handle of an event that the other side of the PCIe exported. It must be started before use.
 *
 * @param [in] dev The device that owns the representor of the exporting device.
 * @param [in] data What doca_sync_event_export_to_remote_pci() gave. The bytes are copied and not trusted.
 * @param [in] sz Their length in bytes; not 0.
 * @param [out] event The handle. Free it with doca_sync_event_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL or sz is 0; opendoca: the bytes are damaged, of a foreign
 *   version or no longer valid, or the exporter has gone.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 * - DOCA_ERROR_NOT_PERMITTED: this process may not reach the counter (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
                                                                  struct doca_sync_event **event);

/**
 * Whether a device can make handles by doca_sync_event_create_from_export(). Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_cap_is_create_from_export_supported(const struct doca_devinfo *devinfo);

/**
 * Make a handle of an event that another node exported, for the RDMA tasks that take one.
 *
 * @param [in] dev The device of the RDMA context that will use it.
 * @param [in] data What doca_sync_event_export_to_remote_net() gave. The bytes are copied and not trusted.
 * @param [in] sz Their length in bytes; not 0.
 * @param [out] event The handle. Free it with doca_sync_event_remote_net_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL or sz is 0; opendoca: the bytes are damaged, of a foreign
 *   version or no longer valid.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_remote_net_create_from_export(struct doca_dev *dev, const uint8_t *data,
                                                                             size_t sz,
                                                                             struct doca_sync_event_remote_net **event);

/**
 * Whether a device can make handles by doca_sync_event_remote_net_create_from_export(). Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_remote_net_is_create_from_export_supported(const struct doca_devinfo *devinfo);

/**
 * Destroy an event, its context, and whatever was exported from it. Handles elsewhere do not work any more;
 * nothing checks whether they are in use.
 *
 * State: not started, or stopped; as a context, idle. opendoca: an idle context can be started again, and its
 * counter is the same.
 *
 * @param [in] event The event.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: it is started.
 * - DOCA_ERROR_IN_USE: its context is not idle.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_destroy(struct doca_sync_event *event);

/**
 * Destroy a handle of another node's event. The event stays.
 *
 * State: in no task that is submitted.
 *
 * @param [in] event The handle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_remote_net_destroy(struct doca_sync_event_remote_net *event);

/*
 * Configuration. Start checks that each side has exactly one location. opendoca: a second one of a side is
 * taken by the functions below, whatever it is, and doca_sync_event_start() and doca_ctx_start() then answer
 * DOCA_ERROR_BAD_STATE: none can be taken back, the event can only be destroyed.
 */

/**
 * The publisher runs on this machine's CPU.
 *
 * State: before start.
 *
 * @param [in] event The event.
 * @param [in] dev The device to reach the counter with.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: started or imported.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_add_publisher_location_cpu(struct doca_sync_event *event,
                                                                          struct doca_dev *dev);

/**
 * The publisher runs on a DPA.
 *
 * State: before start.
 *
 * @param [in] event The event.
 * @param [in] dpa The DPA.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_add_publisher_location_dpa(struct doca_sync_event *event,
                                                                          struct doca_dpa *dpa);

/**
 * The publisher runs on a GPU.
 *
 * State: before start.
 *
 * @param [in] event The event.
 * @param [in] gpu The GPU.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_add_publisher_location_gpu(struct doca_sync_event *event,
                                                                          struct doca_gpu *gpu);

/**
 * The publisher is on the other side of the PCIe, with a handle made from the export of this event.
 *
 * State: before start.
 *
 * @param [in] event The event.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: started or imported.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_add_publisher_location_remote_pci(struct doca_sync_event *event);

/**
 * The publisher is on another node, with a handle made from the export of this event.
 *
 * State: before start.
 *
 * @param [in] event The event.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: started or imported.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_add_publisher_location_remote_net(struct doca_sync_event *event);

/**
 * The subscriber runs on this machine's CPU.
 *
 * State: before start.
 *
 * @param [in] event The event.
 * @param [in] dev The device to reach the counter with.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: started or imported.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_add_subscriber_location_cpu(struct doca_sync_event *event,
                                                                           struct doca_dev *dev);

/**
 * The subscriber runs on a DPA.
 *
 * State: before start.
 *
 * @param [in] event The event.
 * @param [in] dpa The DPA.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_add_subscriber_location_dpa(struct doca_sync_event *event,
                                                                           struct doca_dpa *dpa);

/**
 * The subscriber runs on a GPU.
 *
 * State: before start.
 *
 * @param [in] event The event.
 * @param [in] gpu The GPU.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_add_subscriber_location_gpu(struct doca_sync_event *event,
                                                                           struct doca_gpu *gpu);

/**
 * The subscriber is on the other side of the PCIe, with a handle made from the export of this event.
 *
 * State: before start.
 *
 * @param [in] event The event.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: started or imported.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_add_subscriber_location_remote_pci(struct doca_sync_event *event);

/**
 * Keep the counter in 8 bytes of the caller's. Optional: by default the library has its own. The counter
 * starts with what is there. The memory must outlive the event. A plain store to it is seen by those who
 * poll, and wakes nobody who sleeps.
 *
 * State: before start.
 *
 * @param [in] event The event.
 * @param [in] addr The counter, aligned to 8.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL. opendoca: or addr is not aligned.
 * - DOCA_ERROR_BAD_STATE: the event is started.
 * - DOCA_ERROR_NOT_SUPPORTED: a location is a DPA or GPU. opendoca: start tells when the device cannot reach
 *   that memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr);

/**
 * Keep the counter in the first 8 bytes of a buffer's data section; otherwise as doca_sync_event_set_addr().
 * The buffer's memory map must allow local and remote reads, writes and atomic operations. The buffer must
 * outlive the event.
 *
 * State: before start.
 *
 * @param [in] event The event.
 * @param [in] buf The buffer; its memory is this process's.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL. opendoca: or the data section is shorter than 8 bytes, or
 *   not aligned to 8.
 * - DOCA_ERROR_BAD_STATE: the event is started.
 * - DOCA_ERROR_NOT_PERMITTED: the memory map is imported (opendoca).
 * - DOCA_ERROR_NOT_SUPPORTED: a location is a DPA or GPU.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event, struct doca_buf *buf);

/**
 * Start an event in synchronous mode. It cannot be turned into a context any more.
 *
 * State: configured or imported, not started; or stopped by doca_sync_event_stop() (opendoca). Then the
 * counter is the one that it was, with its value, and so are exports; the configuration is final.
 *
 * @param [in] event The event.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: started, used as a context, or not exactly one publisher and one
 *   subscriber.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: a device cannot do it, or cannot reach the caller's 8 bytes.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_start(struct doca_sync_event *event);

/**
 * Stop an event in synchronous mode. It can then be destroyed, or started again (opendoca); it is no context
 * ever.
 *
 * State: started by doca_sync_event_start(), no call in progress.
 *
 * @param [in] event The event.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: not started, or used as a context.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_stop(struct doca_sync_event *event);

/**
 * Turn an event into a context. Always the same pointer; owned by the event.
 *
 * State: never started by doca_sync_event_start().
 *
 * @param [in] event The event.
 * @return The context; NULL if event is NULL or was started in synchronous mode.
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event);

/* Tasks. */

/**
 * Whether a device can read the counter in a task. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_cap_task_get_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure tasks that read the counter: the callbacks and the number. Needed before one can be allocated; a
 * second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] event The event.
 * @param [in] completion_cb Called for one that has succeeded.
 * @param [in] error_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_NOT_PERMITTED: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_get_set_conf(struct doca_sync_event *event,
                                                                 doca_sync_event_task_get_completion_cb_t completion_cb,
                                                                 doca_sync_event_task_get_completion_cb_t error_cb,
                                                                 uint32_t num_tasks);

/**
 * Allocate a task that reads the counter.
 *
 * State: context running.
 *
 * @param [in] event The event.
 * @param [in] ret_val_ptr Where the counter is put when the task has succeeded; valid until its callback.
 * NULL is allowed; the task is refused unless it has one when it is submitted.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_get_alloc_init(struct doca_sync_event *event, uint64_t *ret_val_ptr,
                                                                   union doca_data user_data,
                                                                   struct doca_sync_event_task_get **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_sync_event_task_get_as_doca_task(struct doca_sync_event_task_get *task);

/**
 * Change where the counter is put.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] ret_val_ptr Valid until the callback.
 */
DOCA_EXPERIMENTAL void doca_sync_event_task_get_set_ret_val_ptr(struct doca_sync_event_task_get *task,
                                                                uint64_t *ret_val_ptr);

/**
 * Where the counter is put. State: any.
 *
 * @param [in] task The task.
 * @return The address.
 */
DOCA_EXPERIMENTAL uint64_t *doca_sync_event_task_get_get_ret_val_ptr(const struct doca_sync_event_task_get *task);

/**
 * Whether a device can set the counter in a task. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_cap_task_notify_set_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure tasks that set the counter: the callbacks and the number. Needed before one can be allocated; a
 * second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] event The event.
 * @param [in] completion_cb Called for one that has succeeded.
 * @param [in] error_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_NOT_PERMITTED: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_notify_set_set_conf(
    struct doca_sync_event *event, doca_sync_event_task_notify_set_completion_cb_t completion_cb,
    doca_sync_event_task_notify_set_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Allocate a task that sets the counter.
 *
 * State: context running.
 *
 * @param [in] event The event.
 * @param [in] set_val The new value.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_task_notify_set_alloc_init(struct doca_sync_event *event, uint64_t set_val, union doca_data user_data,
                                           struct doca_sync_event_task_notify_set **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_sync_event_task_notify_set_as_doca_task(struct doca_sync_event_task_notify_set *task);

/**
 * Change the new value.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] set_val The value.
 */
DOCA_EXPERIMENTAL void doca_sync_event_task_notify_set_set_set_val(struct doca_sync_event_task_notify_set *task,
                                                                   uint64_t set_val);

/**
 * The new value. State: any.
 *
 * @param [in] task The task.
 * @return The value.
 */
DOCA_EXPERIMENTAL uint64_t
doca_sync_event_task_notify_set_get_set_val(const struct doca_sync_event_task_notify_set *task);

/**
 * Whether a device can add to the counter in a task. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_cap_task_notify_add_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure tasks that add to the counter: the callbacks and the number. Needed before one can be allocated;
 * a second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] event The event.
 * @param [in] completion_cb Called for one that has succeeded.
 * @param [in] error_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_NOT_PERMITTED: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_notify_add_set_conf(
    struct doca_sync_event *event, doca_sync_event_task_notify_add_completion_cb_t completion_cb,
    doca_sync_event_task_notify_add_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Allocate a task that adds to the counter, atomically.
 *
 * State: context running.
 *
 * @param [in] event The event.
 * @param [in] inc_val What to add (modulo 2^64).
 * @param [in] fetched_val_ptr Where the old value is put; valid until the callback. opendoca: may be NULL.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_task_notify_add_alloc_init(struct doca_sync_event *event, uint64_t inc_val, uint64_t *fetched_val_ptr,
                                           union doca_data user_data, struct doca_sync_event_task_notify_add **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_sync_event_task_notify_add_as_doca_task(struct doca_sync_event_task_notify_add *task);

/**
 * Change what is added.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] inc_val What to add (modulo 2^64).
 */
DOCA_EXPERIMENTAL void doca_sync_event_task_notify_add_set_inc_val(struct doca_sync_event_task_notify_add *task,
                                                                   uint64_t inc_val);

/**
 * What is added. State: any.
 *
 * @param [in] task The task.
 * @return The value.
 */
DOCA_EXPERIMENTAL uint64_t
doca_sync_event_task_notify_add_get_inc_val(const struct doca_sync_event_task_notify_add *task);

/**
 * Change where the old value is put.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] fetched_val_ptr Valid until the callback. opendoca: may be NULL.
 */
DOCA_EXPERIMENTAL void doca_sync_event_task_notify_add_set_fetched_val_ptr(struct doca_sync_event_task_notify_add *task,
                                                                           uint64_t *fetched_val_ptr);

/**
 * Where the old value is put. State: any.
 *
 * @param [in] task The task.
 * @return The address.
 */
DOCA_EXPERIMENTAL uint64_t *
doca_sync_event_task_notify_add_get_fetched_val_ptr(const struct doca_sync_event_task_notify_add *task);

/**
 * Whether a device can wait for a value in a task. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_cap_task_wait_eq_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure tasks that wait for a value: the callbacks and the number. Needed before one can be allocated; a
 * second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] event The event.
 * @param [in] completion_cb Called for one that has succeeded.
 * @param [in] error_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_NOT_PERMITTED: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_wait_eq_set_conf(
    struct doca_sync_event *event, doca_sync_event_task_wait_eq_completion_cb_t completion_cb,
    doca_sync_event_task_wait_eq_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Allocate a task that ends once (counter & mask) == wait_val. There is no time-out; a stop of the context
 * ends it.
 *
 * opendoca: a waiter that sleeps is woken by an update through this interface, from any process; a plain
 * store to memory given with doca_sync_event_set_addr() wakes nobody. On software devices the engine's handle
 * becomes readable once a second while a wait is pending, mostly with nothing to progress.
 *
 * State: context running.
 *
 * @param [in] event The event.
 * @param [in] wait_val The value.
 * @param [in] mask Bits of the counter that are compared; UINT64_MAX for all.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_wait_eq_alloc_init(struct doca_sync_event *event, uint64_t wait_val,
                                                                       uint64_t mask, union doca_data user_data,
                                                                       struct doca_sync_event_task_wait_eq **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_sync_event_task_wait_eq_as_doca_task(struct doca_sync_event_task_wait_eq *task);

/**
 * Change the value.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] wait_val The value.
 */
DOCA_EXPERIMENTAL void doca_sync_event_task_wait_eq_set_wait_val(struct doca_sync_event_task_wait_eq *task,
                                                                 uint64_t wait_val);

/**
 * The value waited for. State: any.
 *
 * @param [in] task The task.
 * @return The value.
 */
DOCA_EXPERIMENTAL uint64_t doca_sync_event_task_wait_eq_get_wait_val(const struct doca_sync_event_task_wait_eq *task);

/**
 * Change the mask.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] mask Bits of the counter that are compared.
 */
DOCA_EXPERIMENTAL void doca_sync_event_task_wait_eq_set_mask(struct doca_sync_event_task_wait_eq *task, uint64_t mask);

/**
 * The mask. State: any.
 *
 * @param [in] task The task.
 * @return Bits of the counter that are compared.
 */
DOCA_EXPERIMENTAL uint64_t doca_sync_event_task_wait_eq_get_mask(const struct doca_sync_event_task_wait_eq *task);

/**
 * Whether a device can wait for another value in a task. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_cap_task_wait_neq_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure tasks that wait for another value: the callbacks and the number. Needed before one can be
 * allocated; a second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] event The event.
 * @param [in] completion_cb Called for one that has succeeded.
 * @param [in] error_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_NOT_PERMITTED: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_wait_neq_set_conf(
    struct doca_sync_event *event, doca_sync_event_task_wait_neq_completion_cb_t completion_cb,
    doca_sync_event_task_wait_neq_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Allocate a task that ends once (counter & mask) != wait_val. There is no time-out; a stop of the context
 * ends it.
 *
 * opendoca: a waiter that sleeps is woken by an update through this interface, from any process; a plain
 * store to memory given with doca_sync_event_set_addr() wakes nobody. On software devices the engine's handle
 * becomes readable once a second while a wait is pending, mostly with nothing to progress.
 *
 * State: context running.
 *
 * @param [in] event The event.
 * @param [in] wait_val The value.
 * @param [in] mask Bits of the counter that are compared; UINT64_MAX for all.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_task_wait_neq_alloc_init(struct doca_sync_event *event,
                                                                        uint64_t wait_val, uint64_t mask,
                                                                        union doca_data user_data,
                                                                        struct doca_sync_event_task_wait_neq **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_sync_event_task_wait_neq_as_doca_task(struct doca_sync_event_task_wait_neq *task);

/**
 * Change the value.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] wait_val The value.
 */
DOCA_EXPERIMENTAL void doca_sync_event_task_wait_neq_set_wait_val(struct doca_sync_event_task_wait_neq *task,
                                                                  uint64_t wait_val);

/**
 * The value not waited for. State: any.
 *
 * @param [in] task The task.
 * @return The value.
 */
DOCA_EXPERIMENTAL uint64_t doca_sync_event_task_wait_neq_get_wait_val(const struct doca_sync_event_task_wait_neq *task);

/**
 * Change the mask.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] mask Bits of the counter that are compared.
 */
DOCA_EXPERIMENTAL void doca_sync_event_task_wait_neq_set_mask(struct doca_sync_event_task_wait_neq *task,
                                                              uint64_t mask);

/**
 * The mask. State: any.
 *
 * @param [in] task The task.
 * @return Bits of the counter that are compared.
 */
DOCA_EXPERIMENTAL uint64_t doca_sync_event_task_wait_neq_get_mask(const struct doca_sync_event_task_wait_neq *task);

/* Exports. */

/**
 * Export an event, one of whose locations is remote_pci, to the other side of the PCIe.
 *
 * State: started, or its context running; not imported.
 *
 * @param [in] event The event.
 * @param [in] dev This side's device that the other side has a representor of, or one that acts as it.
 * @param [out] data The bytes for doca_sync_event_create_from_export(). Owned by the event, valid until it is
 * destroyed.
 * @param [out] sz Their length; opendoca: at most 256.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: not started, stopped or imported.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it, or a location is a DPA or GPU.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_export_to_remote_pci(struct doca_sync_event *event, struct doca_dev *dev,
                                                                    const uint8_t **data, size_t *sz);

/**
 * Whether a device can be given to doca_sync_event_export_to_remote_pci(). Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_is_export_to_remote_pci_supported(const struct doca_devinfo *devinfo);

/**
 * The handle of an event for code on a DPA.
 *
 * @param [in] event The event.
 * @param [in] dpa The DPA.
 * @param [out] dpa_dev_se_handle The handle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_get_dpa_handle(struct doca_sync_event *event, struct doca_dpa *dpa,
                                                              doca_dpa_dev_sync_event_t *dpa_dev_se_handle);

/**
 * Whether a device can give a DPA a handle (opendoca: none can). Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_cap_is_export_to_dpa_supported(const struct doca_devinfo *devinfo);

/**
 * The handle of an event for code on a GPU.
 *
 * @param [in] event The event.
 * @param [in] gpu The GPU.
 * @param [out] gpu_dev_se The handle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_get_gpu_handle(struct doca_sync_event *event, struct doca_gpu *gpu,
                                                              doca_gpu_dev_sync_event_t **gpu_dev_se);

/**
 * Whether a device can give a GPU a handle (opendoca: none can). Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_cap_is_export_to_gpu_supported(const struct doca_devinfo *devinfo);

/**
 * Export an event whose publisher is remote_net to another node.
 *
 * State: started, or its context running; not imported.
 *
 * @param [in] event The event.
 * @param [out] data The bytes for doca_sync_event_remote_net_create_from_export(). Owned by the event, valid
 * until it is destroyed.
 * @param [out] sz Their length; opendoca: at most 512.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: not started, stopped or imported.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it, or the publisher is not remote_net; opendoca: or the
 *   subscriber has no device.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_export_to_remote_net(struct doca_sync_event *event, const uint8_t **data,
                                                                    size_t *sz);

/**
 * Whether a device can export an event to another node. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_is_export_to_remote_net_supported(const struct doca_devinfo *devinfo);

/**
 * The handle of another node's event for code on a DPA.
 *
 * @param [in] event The handle of this process.
 * @param [in] dpa The DPA.
 * @param [out] dpa_remote_event The handle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_remote_net_get_dpa_handle(struct doca_sync_event_remote_net *event, struct doca_dpa *dpa,
                                          doca_dpa_dev_sync_event_remote_net_t *dpa_remote_event);

/**
 * Whether a device can give a DPA a handle of another node's event (opendoca: none can). Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_remote_net_is_export_to_dpa_supported(const struct doca_devinfo *devinfo);

/**
 * The handle of another node's event for code on a GPU.
 *
 * @param [in] event The handle of this process.
 * @param [in] gpu The GPU.
 * @param [out] gpu_remote_event The handle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_remote_net_get_gpu_handle(struct doca_sync_event_remote_net *event, struct doca_gpu *gpu,
                                          doca_gpu_dev_sync_event_remote_net_t *gpu_remote_event);

/**
 * Whether a device can give a GPU a handle of another node's event (opendoca: none can). Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sync_event_cap_remote_net_is_export_to_gpu_supported(const struct doca_devinfo *devinfo);

/*
 * Operations in synchronous mode: they return when the operation is done. State: started by
 * doca_sync_event_start(). Threads: any (opendoca).
 */

/**
 * Read the counter.
 *
 * @param [in] event The event.
 * @param [out] value The counter.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: not started in synchronous mode (opendoca).
 * - DOCA_ERROR_CONNECTION_RESET: the process that holds the counter has died, or the event was destroyed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value);

/**
 * Add to the counter, atomically.
 *
 * @param [in] event The event.
 * @param [in] value What to add (modulo 2^64).
 * @param [out] fetched The old value. opendoca: may be NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: not started in synchronous mode (opendoca).
 * - DOCA_ERROR_CONNECTION_RESET: the process that holds the counter has died, or the event was destroyed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value,
                                                          uint64_t *fetched);

/**
 * Set the counter.
 *
 * @param [in] event The event.
 * @param [in] value New value.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: not started in synchronous mode (opendoca).
 * - DOCA_ERROR_CONNECTION_RESET: the process that holds the counter has died, or the event was destroyed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value);

/**
 * Wait until (counter & mask) > value, without giving up the CPU. There is no time-out.
 *
 * @param [in] event The event.
 * @param [in] value The value compared with.
 * @param [in] mask Bits of the counter that are compared; UINT64_MAX for all.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: not started in synchronous mode (opendoca).
 * - DOCA_ERROR_CONNECTION_RESET: the process that holds the counter, or the publisher's, has died, or the
 *   event was destroyed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask);

/**
 * As doca_sync_event_wait_gt(), giving other threads the CPU (sched_yield) after each look at the counter.
 *
 * @param [in] event The event.
 * @param [in] value The value compared with.
 * @param [in] mask Bits of the counter that are compared; UINT64_MAX for all.
 * @return As doca_sync_event_wait_gt().
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value,
                                                             uint64_t mask);

/**
 * Wait until (counter & mask) == value, without giving up the CPU. There is no time-out.
 *
 * @param [in] event The event.
 * @param [in] value The value compared with.
 * @param [in] mask Bits of the counter that are compared; UINT64_MAX for all.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: not started in synchronous mode (opendoca).
 * - DOCA_ERROR_CONNECTION_RESET: the process that holds the counter, or the publisher's, has died, or the
 *   event was destroyed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_eq(struct doca_sync_event *event, uint64_t value, uint64_t mask);

/**
 * As doca_sync_event_wait_eq(), giving other threads the CPU (sched_yield) after each look at the counter.
 *
 * @param [in] event The event.
 * @param [in] value The value compared with.
 * @param [in] mask Bits of the counter that are compared; UINT64_MAX for all.
 * @return As doca_sync_event_wait_eq().
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_eq_yield(struct doca_sync_event *event, uint64_t value,
                                                             uint64_t mask);

/**
 * Wait until (counter & mask) != value, without giving up the CPU. There is no time-out.
 *
 * @param [in] event The event.
 * @param [in] value The value compared with.
 * @param [in] mask Bits of the counter that are compared; UINT64_MAX for all.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: not started in synchronous mode (opendoca).
 * - DOCA_ERROR_CONNECTION_RESET: the process that holds the counter, or the publisher's, has died, or the
 *   event was destroyed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_neq(struct doca_sync_event *event, uint64_t value, uint64_t mask);

/**
 * As doca_sync_event_wait_neq(), giving other threads the CPU (sched_yield) after each look at the counter.
 *
 * @param [in] event The event.
 * @param [in] value The value compared with.
 * @param [in] mask Bits of the counter that are compared; UINT64_MAX for all.
 * @return As doca_sync_event_wait_neq().
 */
DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_neq_yield(struct doca_sync_event *event, uint64_t value,
                                                              uint64_t mask);

#if OPENDOCA_LEVEL < 20900
#include <opendoca/older/sync_event.h>
#endif

#ifdef __cplusplus
}
#endif

#endif /* DOCA_SYNC_EVENT_H_ */
