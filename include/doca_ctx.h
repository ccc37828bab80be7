// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_ctx.h
 * Contexts and work queues: how jobs get to a library and how their ends come back.
 *
 * A context is an instance of a library (DMA, RDMA, SHA, ...) with the device that does its work. A work
 * queue takes jobs for any number of contexts and gives back one event per job. Jobs may end in another order
 * than submitted.
 *
 * Order: create the library's object, take its context (such as doca_dma_as_ctx()), doca_ctx_dev_add(),
 * doca_ctx_start(), doca_workq_create(), doca_ctx_workq_add(); submit and retrieve; doca_ctx_workq_rm(),
 * doca_workq_destroy(), doca_ctx_stop(), doca_ctx_dev_rm(), destroy the library's object, close the device. A
 * work queue can be created at any time before it is added.
 *
 * A started context takes no change but the adding and removing of work queues, which only a started one
 * takes.
 *
 * NULL: as doca_error.h says for all headers.
 * Outputs are written only on success, unless said otherwise.
 * Fork: objects belong to the process that made them. A forked child may create its own, and may destroy its copies of
 * its parent's, which has no effect on the parent; any other use of the copies is undefined.
 *
 * Threads: context functions may be called from any thread at any time. A work queue belongs to one thread:
 * calls on the same queue, also adding and removing it, must not overlap. Several queues, each with its
 * thread, may share a context if the library allows it.
 */
#ifndef DOCA_CTX_H_
#define DOCA_CTX_H_

#include <stdint.h>

#include <doca_compat.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A work queue. */
struct doca_workq;

/** A context. */
struct doca_ctx;

/** A GPU. */
struct doca_gpu;

/** Bits of a job type that number the jobs of one library; the bits above them number the library. */
#define DOCA_ACTION_SDK_RANGE 16

/** Where the job types of each library begin. The jobs' own numbers are in the library's header. */
enum doca_action_type {
    DOCA_ACTION_NONE = 0,
    DOCA_ACTION_DMA_FIRST = 1 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_DEVEMU_FIRST = 2 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_DEVEMU_PCI_FIRST = 3 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_VIRTIO_FS_FIRST = 4 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_VBLK_FIRST = 5 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_REGEX_FIRST = 6 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_NVME_FIRST = 7 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_APPSHIELD_FIRST = 8 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_SHA_FIRST = 9 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_COMPRESS_FIRST = 10 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_IPSEC_FIRST = 11 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_RMAX_FIRST = 12 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_RDMA_FIRST = 13 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_GRAPH_FIRST = 14 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_SYNC_EVENT_FIRST = 15 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_DPI_FIRST = 16 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_EC_FIRST = 17 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_NVRD_TRANSPORT_FIRST = 18 << DOCA_ACTION_SDK_RANGE,
#if OPENDOCA_LEVEL <= 10500
    DOCA_ACTION_DEVEMU_BLOCK_FIRST = 3 << DOCA_ACTION_SDK_RANGE,
    DOCA_ACTION_VIRTIO_FIRST = 4 << DOCA_ACTION_SDK_RANGE,
#endif
};

/** Flags of a job. */
enum doca_job_flags {
    DOCA_JOB_FLAGS_NONE = 0, /**< None; the only value. */
};

/** Flags of doca_workq_progress_retrieve(). */
enum doca_workq_retrieve_flags {
    DOCA_WORKQ_RETRIEVE_FLAGS_NONE = 0, /**< None; the only value. */
};

/** What every job begins with. The library's own job structure has it as its first member. */
struct doca_job {
    int type;                  /**< What to do; a job type of the library that the context belongs to. */
    int flags;                 /**< DOCA_JOB_FLAGS_NONE. */
    struct doca_ctx *ctx;      /**< The context that does it; not NULL. */
    union doca_data user_data; /**< Comes back in the event; not looked at. */
};

/** The end of a job. */
struct doca_event {
    int type;                  /**< The job's type. */
    union doca_data user_data; /**< The job's user data. */
    union doca_data result;    /**< u64, most often a doca_error_t, or ptr, by the job's type. */
};

#if OPENDOCA_LEVEL < 20200
#include <opendoca/older/ctx.h>
#endif

/**
 * Create a work queue, in polling mode and on no context.
 *
 * @param [in] depth How many jobs can be in flight; 1 to 65536 (opendoca). Their slots are allocated here.
 * @param [out] workq The queue. Free it with doca_workq_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: workq is NULL, or depth is out of range.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq);

/**
 * Destroy a work queue. Its event handle is closed.
 *
 * State: removed from every context.
 *
 * @param [in] workq The queue.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: workq is NULL.
 * - DOCA_ERROR_IN_USE: the queue is still on a context; nothing has changed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_destroy(struct doca_workq *workq);

/**
 * Hand over a job. It is in flight from now until doca_workq_progress_retrieve() gives its event.
 *
 * The job structure is only read during the call. What it points to, such as buffers, belongs to the library
 * until the event. A failed submit changes nothing.
 *
 * State: job->ctx started and the queue added to it; formally undefined otherwise.
 *
 * @param [in] workq The queue.
 * @param [in] job The first member of a library's job structure. Its ctx is not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_NO_MEMORY: depth jobs are in flight already. opendoca: every job counts that was submitted and
 *   not yet retrieved, over all contexts. Retrieve, then try again.
 * - DOCA_ERROR_BAD_STATE: the context is stopped.
 * - DOCA_ERROR_NOT_FOUND: the queue is not on the context.
 * - DOCA_ERROR_INVALID_VALUE: workq or job is NULL, or the job has no context; or it is not acceptable to the
 *   library, which may answer with other codes as well: see its header.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_submit(struct doca_workq *workq, const struct doca_job *job);

/**
 * Ask for a signal: the event handle becomes readable as soon as a completion waits to be retrieved.
 *
 * opendoca: with a completion already waiting it becomes readable at once, so that no order of arm, submit
 * and completion loses a signal. One arm is good for one signal, and holds until
 * doca_workq_event_handle_clear(): doca_workq_progress_retrieve() may be called before the wait, and when it
 * gives DOCA_ERROR_AGAIN the handle is readable, or becomes so with the next completion. So "arm, check once
 * more, wait" works on every device. The handle may become readable for a completion that was retrieved in the
 * meantime.
 *
 * State: event-driven mode on; undefined otherwise. May be called before or after a submit.
 *
 * @param [in] workq The queue.
 * @return DOCA_SUCCESS.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq);

/**
 * Take the signal back: the handle is not readable any more and, opendoca, the queue is disarmed. Completions
 * stay and are retrieved as usual.
 *
 * The loop: arm, submit, wait, clear, retrieve until DOCA_ERROR_AGAIN, arm again.
 *
 * State: event-driven mode on; undefined otherwise.
 *
 * @param [in] workq The queue.
 * @param [in] handle The queue's handle, from doca_workq_get_event_handle().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: handle is not the queue's (opendoca).
 * - DOCA_ERROR_OPERATING_SYSTEM: a system call failed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle);

/**
 * Let the queue's jobs progress, and take the event of one that has ended. Does not wait.
 *
 * State: any. In both modes; in event-driven mode also without a signal.
 *
 * @param [in] workq The queue.
 * @param [in,out] ev Filled as said below, otherwise left as it is. For job types whose result is a structure, the
 * caller stores the structure's address in ev->result.ptr before the call (see doca_rdma.h).
 * @param [in] flags DOCA_WORKQ_RETRIEVE_FLAGS_NONE.
 * @return
 * - DOCA_SUCCESS: a job has ended well; ev is its event.
 * - DOCA_ERROR_AGAIN: no job has ended; ev is unchanged.
 * - DOCA_ERROR_IO_FAILED: a job has failed; ev is its event, with the cause in the result.
 * - DOCA_ERROR_INVALID_VALUE: the queue itself or one of its contexts is damaged; ev is unchanged.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev,
                                                              int flags);

/**
 * How many contexts a process can have at the same time.
 *
 * @param [out] max_num_ctx The number. opendoca: 512, a figure that is declared and not enforced.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: max_num_ctx is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ctx_get_max_num_ctx(uint32_t *max_num_ctx);

/**
 * The depth given at creation. State: any.
 *
 * @param [in] workq The queue.
 * @param [out] depth How many jobs can be in flight.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_get_depth(const struct doca_workq *workq, uint32_t *depth);

/**
 * Whether the queue is in event-driven mode. State: any.
 *
 * @param [in] workq The queue.
 * @param [out] enabled 1 when it is; 0, the default, in polling mode.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_get_event_driven_enable(struct doca_workq *workq, uint8_t *enabled);

/**
 * The handle that signals the queue's completions, see doca_workq_event_handle_arm().
 *
 * State: event-driven mode on.
 *
 * @param [in] workq The queue.
 * @param [out] handle A file descriptor for epoll, poll or select, to be waited on for reading and for
 * nothing else. The same one for the queue's whole life, which owns and closes it. opendoca: it becomes
 * readable when the queue is armed and has a completion to retrieve, and stays so until
 * doca_workq_event_handle_clear().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the queue is in polling mode.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_get_event_handle(struct doca_workq *workq, doca_event_handle_t *handle);

/**
 * Switch event-driven mode on or off. Setting what is set already succeeds.
 *
 * State: on no context.
 *
 * @param [in] workq The queue.
 * @param [in] enable 0 for off, anything else for on.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: workq is NULL.
 * - DOCA_ERROR_BAD_STATE: the queue is on a context.
 * - DOCA_ERROR_OPERATING_SYSTEM: the handle cannot be made.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable);

/**
 * Give the queue an event handle of the caller's making. For Windows only.
 *
 * @param [in] workq The queue.
 * @param [in] event_handle The handle.
 * @param [in] completion_key Value that comes with the handle's signals.
 * @return
 * - DOCA_ERROR_INVALID_VALUE: workq is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: this is not Windows.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_set_event_handle(struct doca_workq *workq, doca_event_handle_t event_handle,
                                                             uintptr_t completion_key);

/**
 * Give a context the device that does its work.
 *
 * State: not started. The device must stay open until it is removed.
 *
 * @param [in] ctx The context.
 * @param [in] dev An open device, suitable for the library's jobs (such as doca_dma_job_get_supported()).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is started.
 * - DOCA_ERROR_IN_USE: the device was added already.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not suit the library or came from doca_dev_open_from_pd();
 *   opendoca: the library takes no further device. DMA takes one.
 * - DOCA_ERROR_DRIVER: the device failed.
 * - DOCA_ERROR_UNEXPECTED: something inside failed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev);

/**
 * Undo doca_ctx_dev_add().
 *
 * State: not started.
 *
 * @param [in] ctx The context.
 * @param [in] dev A device that was added.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is started.
 * - DOCA_ERROR_NOT_FOUND: the device was not added.
 * - DOCA_ERROR_UNEXPECTED: something inside failed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev);

/**
 * End the configuration and make the context ready for work queues.
 *
 * State: not started, with a device (but a sync event's context takes none).
 *
 * @param [in] ctx The context.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL, or no device was added.
 * - DOCA_ERROR_BAD_STATE: the context is started already (opendoca).
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do what the context was configured for.
 * - DOCA_ERROR_INITIALIZATION: the device's resources cannot be set up.
 * - DOCA_ERROR_UNEXPECTED: something inside failed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/**
 * Return a context to its configuration; it can be started again.
 *
 * State: started, every job retrieved, every work queue removed.
 *
 * @param [in] ctx The context.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not started (opendoca).
 * - DOCA_ERROR_NOT_PERMITTED: jobs of the context are in flight.
 * - DOCA_ERROR_IN_USE: a work queue is still on the context.
 * - DOCA_ERROR_UNEXPECTED: something inside failed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/**
 * Let a work queue take jobs for this context.
 *
 * State: context started. What the jobs need is allocated here.
 *
 * @param [in] ctx The context.
 * @param [in] workq The queue; it may be on other contexts too.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not started.
 * - DOCA_ERROR_IN_USE: the queue is on the context already; or the library takes one queue only and has it.
 * - DOCA_ERROR_NOT_SUPPORTED: the queue is in event-driven mode and the context has none (opendoca; see
 *   doca_ctx_get_event_driven_supported()).
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_INITIALIZATION: the device's resources cannot be set up.
 * - DOCA_ERROR_UNEXPECTED: something inside failed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq);

/**
 * Undo doca_ctx_workq_add().
 *
 * State: context started, every job of this queue and this context retrieved.
 *
 * @param [in] ctx The context.
 * @param [in] workq A queue that was added.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not started.
 * - DOCA_ERROR_NOT_FOUND: the queue is not on the context.
 * - DOCA_ERROR_NOT_PERMITTED: jobs have not been retrieved. opendoca: a context whose jobs may wait for a
 *   peer, as those of RDMA and sync events do, or may take long, as those of compression and erasure coding
 *   do, begins to flush them with this call; retrieve them, then try again.
 * - DOCA_ERROR_UNEXPECTED: something inside failed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq);

/**
 * Whether the context can be used with queues in event-driven mode. State: any.
 *
 * @param [in] ctx The context.
 * @param [out] event_supported 1 when it can, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ctx_get_event_driven_supported(struct doca_ctx *ctx, uint8_t *event_supported);

/**
 * Let code on a GPU submit the context's jobs.
 *
 * opendoca: this release answers DOCA_ERROR_NOT_SUPPORTED.
 *
 * State: not started.
 *
 * @param [in] ctx The context.
 * @param [in] gpu_dev The GPU.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is started.
 * - DOCA_ERROR_NOT_SUPPORTED: the context cannot do this.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CTX_H_ */
