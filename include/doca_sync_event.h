// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors

/**
 * @file doca_sync_event.h
 * Sync event: a 64-bit counter that one side updates and another reads or waits on.
 *
 * Life of an event: create, name exactly one publisher and one subscriber location, start, operate, stop,
 * destroy. Before start an event is made for one of two modes, and stays in it:
 *   synchronous   doca_sync_event_start; then doca_sync_event_get, _update_*, _wait_*
 *   asynchronous  doca_sync_event_as_ctx, doca_ctx_start (no device is added; opendoca: doca_ctx_dev_add
 *                 gives DOCA_ERROR_NOT_SUPPORTED), doca_ctx_workq_add; then jobs
 * To use it on the DPU: the host starts the event, exports it with doca_sync_event_export_to_dpu, and the DPU
 * calls doca_sync_event_create_from_export and starts the result. An imported event is not configured and not
 * exported. A stopped event can only be destroyed.
 *
 * Result of a job: doca_event::result.u64 holds its doca_error_t; doca_workq_progress_retrieve gives
 * DOCA_ERROR_IO_FAILED when that is not DOCA_SUCCESS. Submit answers DOCA_ERROR_INVALID_VALUE for an unknown
 * type, a NULL output, or a value or mask out of range (opendoca: none is, unless a software device is in strict
 * mode, DOCA_SOFT_STRICT=1), and DOCA_ERROR_NO_MEMORY when the work queue is full.
 *
 * opendoca: when the process that holds the counter has died or has destroyed the event, operations through
 * imported handles end with DOCA_ERROR_CONNECTION_RESET, in both modes. So does a wait in the process that
 * holds it, when the publisher is on the DPU and all processes with imported handles have died with them. A
 * wait whose value was reached before that succeeds.
 * opendoca: no device has a DPA or a GPU here. Functions for them answer DOCA_ERROR_NOT_SUPPORTED.
 *
 * Outputs are written only on success.
 * "Threads: any" below means that any threads may call at the same time, "Threads: one" that calls on the
 * same event must not overlap.
 */

#ifndef DOCA_SYNC_EVENT_H_
#define DOCA_SYNC_EVENT_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A handle of an event, on the host or on the DPU. Opaque. */
struct doca_sync_event;
/** Event as a DPA sees it. Opaque. */
struct doca_dpa_sync_event;
/** Event as a GPU sees it. Opaque. */
struct doca_gpu_sync_event;
/** A DPA. Opaque. */
struct doca_dpa;
/** A GPU. Opaque. */
struct doca_gpu;

/** Handle of an event for code on a DPA. */
typedef uint64_t doca_dpa_dev_sync_event_t;
/** Handle of an event for code on a GPU. */
typedef uint64_t doca_gpu_dev_sync_event_t;

/** What another node needs to reach an event; to be passed on as it is. */
struct doca_sync_event_remote {
    uint64_t data[2]; /**< Opaque. */
};
typedef struct doca_sync_event_remote doca_sync_event_remote_t;

/** Values of doca_job::type. */
enum doca_sync_event_job_types {
    /** struct doca_sync_event_job_wait */
    DOCA_SYNC_EVENT_JOB_WAIT_GT = DOCA_ACTION_SYNC_EVENT_FIRST + 1,
    /** struct doca_sync_event_job_get */
    DOCA_SYNC_EVENT_JOB_GET,
    /** struct doca_sync_event_job_update_set */
    DOCA_SYNC_EVENT_JOB_UPDATE_SET,
    /** struct doca_sync_event_job_update_add */
    DOCA_SYNC_EVENT_JOB_UPDATE_ADD,
};

/**
 * DOCA_SYNC_EVENT_JOB_WAIT_GT: complete once (counter & mask) > value.
 * Hardware wants value and counter in 0 to 254, and a mask of 1, 2, 4 or 8 neighbouring 0xFF bytes, or 0.
 * opendoca: every device takes any value and mask. In event-driven mode a waiter sleeps until an
 * update through this interface, from any process, reaches the value; a plain store to memory given with
 * doca_sync_event_set_addr wakes nobody. On software devices the event handle becomes readable once a second
 * while a wait is pending, mostly with nothing to retrieve. A wait that doca_ctx_workq_rm() has cancelled ends with
 * DOCA_ERROR_SHUTDOWN.
 */
struct doca_sync_event_job_wait {
    struct doca_job base;
    uint64_t value; /**< Threshold. */
    uint64_t mask;  /**< Bits of the counter that are compared. */
};

/** DOCA_SYNC_EVENT_JOB_GET: read the counter. */
struct doca_sync_event_job_get {
    struct doca_job base;
    uint64_t *value; /**< Written on success; not NULL, valid until the job was retrieved. */
};

/** DOCA_SYNC_EVENT_JOB_UPDATE_SET: set the counter. */
struct doca_sync_event_job_update_set {
    struct doca_job base;
    uint64_t value; /**< New value. */
};

/** DOCA_SYNC_EVENT_JOB_UPDATE_ADD: add to the counter, atomically. */
struct doca_sync_event_job_update_add {
    struct doca_job base;
    uint64_t value;    /**< What to add (modulo 2^64). */
    uint64_t *fetched; /**< Gets the old value; valid until the job was retrieved. opendoca: may be NULL. */
};

/** Result of any of the jobs above; the same value as doca_event::result.u64. */
struct doca_sync_event_result {
    doca_error_t result;
};

/* Life */

/**
 * Create an event, with the counter at 0.
 *
 * State: any. Threads: any.
 *
 * @param [out] event The new event; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_create(struct doca_sync_event **event);

/**
 * Make a handle of an event that the other side of the PCIe exported. It must be started before use.
 *
 * State: any. Threads: any.
 *
 * @param [in] dev The DPU's device that owns the representor of the exporting device, or (opendoca) a function behind
 *   the port of the DPU that exported; not NULL.
 * @param [in] data What doca_sync_event_export_to_dpu gave; not NULL. The bytes are copied and not trusted.
 * @param [in] sz Their length in bytes; not 0.
 * @param [out] event The new handle; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, the length is 0, or the bytes are damaged.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 * - DOCA_ERROR_NO_MEMORY: out of memory. opendoca: or 64 handles of the event exist.
 * - DOCA_ERROR_NOT_PERMITTED: opendoca: the exporting device is not behind this one, or the kernel keeps this
 *   process from the exporting one.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data,
                                                                    size_t sz, struct doca_sync_event **event);

/**
 * Whether doca_sync_event_create_from_export works on a device.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @return DOCA_SUCCESS: it does, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it does not.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_get_create_from_export_supported(const struct doca_devinfo *devinfo);

/**
 * Destroy an event, its context, and whatever was exported from it. Imported handles elsewhere do not work
 * any more; nothing checks whether they are in use.
 *
 * State: never started, or stopped. Threads: one.
 *
 * @param [in] event The event; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: it is started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_destroy(struct doca_sync_event *event);

/*
 * Configuration. Threads: one, for all of these. Start checks that each side has exactly one location: a
 * second one of a side is taken, and then start answers DOCA_ERROR_BAD_STATE (opendoca).
 */

/**
 * The publisher runs on this machine's CPU.
 *
 * State: before start.
 *
 * @param [in] event The event; not NULL.
 * @param [in] dev The device to reach the counter with; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: started or imported.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_publisher_add_location_cpu(struct doca_sync_event *event,
                                                                            struct doca_dev *dev);

/**
 * The publisher runs on a DPA.
 *
 * State: before start.
 *
 * @param [in] event The event; not NULL.
 * @param [in] dpa The DPA; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_publisher_add_location_dpa(struct doca_sync_event *event,
                                                                            struct doca_dpa *dpa);

/**
 * The publisher runs on a GPU.
 *
 * State: before start.
 *
 * @param [in] event The event; not NULL.
 * @param [in] gpu The GPU; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_publisher_add_location_gpu(struct doca_sync_event *event,
                                                                            struct doca_gpu *gpu);

/**
 * The publisher runs on the DPU, with a handle made from the export of this event.
 *
 * State: before start.
 *
 * @param [in] event The event; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: started or imported.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_publisher_add_location_dpu(struct doca_sync_event *event);

/**
 * The subscriber runs on this machine's CPU.
 *
 * State: before start.
 *
 * @param [in] event The event; not NULL.
 * @param [in] dev The device to reach the counter with; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: started or imported.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_subscriber_add_location_cpu(struct doca_sync_event *event,
                                                                             struct doca_dev *dev);

/**
 * The subscriber runs on a DPA.
 *
 * State: before start.
 *
 * @param [in] event The event; not NULL.
 * @param [in] dpa The DPA; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_subscriber_add_location_dpa(struct doca_sync_event *event,
                                                                             struct doca_dpa *dpa);

/**
 * The subscriber runs on a GPU.
 *
 * State: before start.
 *
 * @param [in] event The event; not NULL.
 * @param [in] gpu The GPU; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_subscriber_add_location_gpu(struct doca_sync_event *event,
                                                                             struct doca_gpu *gpu);

/**
 * The subscriber runs on the DPU, with a handle made from the export of this event.
 *
 * State: before start.
 *
 * @param [in] event The event; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: started or imported.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_subscriber_add_location_dpu(struct doca_sync_event *event);

/**
 * Keep the counter in 8 bytes of the caller's, for events between CPU and DPU. Optional: by default the
 * library has its own. The counter starts with what is there. The memory must outlive the event. A plain store
 * to it is seen by those who poll, and wakes nobody who sleeps in event-driven mode.
 *
 * State: before start.
 *
 * @param [in] event The event; not NULL.
 * @param [in] addr The counter, aligned to 8; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL. opendoca: or addr is not aligned.
 * - DOCA_ERROR_BAD_STATE: the event is started.
 * - DOCA_ERROR_NOT_SUPPORTED: a location is a DPA or GPU. opendoca: start tells when the device cannot reach
 *   that memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr);

/**
 * Start an event in synchronous mode. It cannot be turned into a context any more.
 *
 * State: configured or imported, not started. Threads: one.
 *
 * @param [in] event The event; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: started before, used as a context, or not exactly one publisher and one
 *   subscriber.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: a device cannot do it, or cannot reach the caller's 8 bytes.
 * - DOCA_ERROR_NO_MEMORY: opendoca: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_start(struct doca_sync_event *event);

/**
 * Stop an event in synchronous mode. It can then only be destroyed.
 *
 * State: started by doca_sync_event_start, no call in progress. Threads: one.
 *
 * @param [in] event The event; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: opendoca: not started, or used as a context.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_stop(struct doca_sync_event *event);

/**
 * Turn an event into a context, for asynchronous mode. Of doca_ctx_*, start, stop, workq_add, workq_rm and
 * get_event_driven_supported apply. Always the same pointer; owned by the event.
 *
 * State: not started by doca_sync_event_start. Threads: one.
 *
 * @param [in] event The event.
 * @return The context; NULL if event is NULL or was started in synchronous mode.
 */
__DOCA_EXPERIMENTAL struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event);

/**
 * Whether a device can do a job type.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [in] type One of enum doca_sync_event_job_types.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL or the type is unknown.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_job_get_supported(struct doca_devinfo *devinfo,
                                                                   enum doca_sync_event_job_types type);

/* Export. State: started, not imported; otherwise DOCA_ERROR_BAD_STATE (opendoca). Threads: one. */

/**
 * Export an event, whose two locations are CPU or DPU, from the host to the DPU, or (opendoca) from the DPU to the
 * host.
 *
 * @param [in] event The event; not NULL.
 * @param [in] dev The host's device that the DPU has a representor of, or a port of the DPU; not NULL.
 * @param [out] data The blob for doca_sync_event_create_from_export; not NULL. Owned by the event, valid
 *   until it is destroyed.
 * @param [out] sz Its length in bytes; not NULL. opendoca: at most 256.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it, or a location is a DPA or GPU.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_export_to_dpu(struct doca_sync_event *event, struct doca_dev *dev,
                                                               const uint8_t **data, size_t *sz);

/**
 * Whether doca_sync_event_export_to_dpu works on a device. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @return DOCA_SUCCESS: it does, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it does not.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_get_export_to_dpu_supported(const struct doca_devinfo *devinfo);

/**
 * Export an event to a DPA.
 *
 * @param [in] event The event; not NULL.
 * @param [in] dpa The DPA; not NULL.
 * @param [out] dpa_dev_se_handle The handle for code on the DPA; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_export_to_dpa(struct doca_sync_event *event, struct doca_dpa *dpa,
                                                               doca_dpa_dev_sync_event_t *dpa_dev_se_handle);

/**
 * Whether doca_sync_event_export_to_dpa works on a device. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_get_export_to_dpa_supported(const struct doca_devinfo *devinfo);

/**
 * Export an event to a GPU.
 *
 * @param [in] event The event; not NULL.
 * @param [in] gpu The GPU; not NULL.
 * @param [out] gpu_dev_se Address, on the GPU, of the handle for its code; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_export_to_gpu(struct doca_sync_event *event, struct doca_gpu *gpu,
                                                               doca_gpu_dev_sync_event_t **gpu_dev_se);

/**
 * Whether doca_sync_event_export_to_gpu works on a device. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_get_export_to_gpu_supported(const struct doca_devinfo *devinfo);

/**
 * Export an event to another node.
 *
 * @param [in] event The event; not NULL.
 * @param [out] handle What that node needs; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_export_remote(struct doca_sync_event *event,
                                                               doca_sync_event_remote_t *handle);

/*
 * Operations in synchronous mode: they return when the operation is done. State: started by
 * doca_sync_event_start; otherwise DOCA_ERROR_BAD_STATE (opendoca). Threads: any (opendoca).
 */

/**
 * Read the counter.
 *
 * @param [in] event The event; not NULL.
 * @param [out] value The counter; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: not started in synchronous mode.
 * - DOCA_ERROR_CONNECTION_RESET: the process that holds the counter has died, or has destroyed the event.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value);

/**
 * Add to the counter, atomically.
 *
 * @param [in] event The event; not NULL.
 * @param [in] value What to add (modulo 2^64).
 * @param [out] fetched The old value. opendoca: may be NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: not started in synchronous mode.
 * - DOCA_ERROR_CONNECTION_RESET: the process that holds the counter has died, or has destroyed the event.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value,
                                                            uint64_t *fetched);

/**
 * Set the counter.
 *
 * @param [in] event The event; not NULL.
 * @param [in] value New value.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: not started in synchronous mode.
 * - DOCA_ERROR_CONNECTION_RESET: the process that holds the counter has died, or has destroyed the event.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value);

/**
 * Wait until (counter & mask) > value, without giving up the CPU. There is no time-out.
 *
 * @param [in] event The event; not NULL.
 * @param [in] value Threshold.
 * @param [in] mask Bits of the counter that are compared; UINT64_MAX for all.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: not started in synchronous mode.
 * - DOCA_ERROR_CONNECTION_RESET: the process that holds the counter, or the publisher's, has died, or the event
 *   was destroyed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask);

/**
 * As doca_sync_event_wait_gt, giving other threads the CPU (sched_yield) after each look at the counter.
 *
 * @param [in] event The event; not NULL.
 * @param [in] value Threshold.
 * @param [in] mask Bits of the counter that are compared; UINT64_MAX for all.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: event is NULL.
 * - DOCA_ERROR_BAD_STATE: not started in synchronous mode.
 * - DOCA_ERROR_CONNECTION_RESET: the process that holds the counter, or the publisher's, has died, or the event
 *   was destroyed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value,
                                                               uint64_t mask);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_SYNC_EVENT_H_ */
