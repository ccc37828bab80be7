// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors

/**
 * @file doca_sha.h
 * SHA-1, SHA-256 and SHA-512 of buffers, in one job or piece by piece.
 *
 * Order of use: doca_sha_create, doca_sha_as_ctx, doca_ctx_dev_add, doca_ctx_start, doca_ctx_workq_add, jobs;
 * then doca_ctx_workq_rm, doca_ctx_stop, doca_sha_destroy.
 *
 * The data sections of the request chain are hashed. The raw digest (20, 32 or 64 bytes) is put behind the
 * data section of the response's head, whose data length grows by as much; other buffers of the response are
 * not written. opendoca: a response without tailroom counts as empty, so that the digest lands at its data
 * address. Request and response must not change until the job was retrieved.
 *
 * opendoca: the device must have been added to the memory maps of request and response, and both must be
 * memory of this process: copy imported memory by DMA first. On the software device OpenSSL 3 hashes in
 * doca_workq_submit(), on the caller's CPU; work queues can be event-driven.
 *
 * In several jobs: make a session, submit all pieces of one message with it, one after the other was
 * retrieved, the last one with DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL. All pieces but the last are multiples of
 * the block: 64 bytes for SHA-1 and SHA-256, 128 bytes for SHA-512; no piece is empty. What a response holds
 * before the last piece has no meaning (opendoca: it is not touched). opendoca: after the last piece the
 * session takes another message, of any of the three kinds.
 *
 * doca_workq_submit: DOCA_ERROR_NO_MEMORY if the work queue is full; DOCA_ERROR_INVALID_VALUE for an unknown
 * type, an undefined flag of a piece, an empty piece, too short a response, too long a request or chain, a missing
 * buffer or session, memory that the device does not know, a session of another context or work queue, a
 * piece that is no multiple of the block, or one of another kind than the message's first;
 * DOCA_ERROR_NOT_PERMITTED for imported memory, or a response that may not be written;
 * DOCA_ERROR_BAD_STATE if the context is broken, or (opendoca) the session has a job in flight.
 * doca_workq_progress_retrieve: DOCA_ERROR_IO_FAILED if the engine broke; context and work queue must be made
 * anew (opendoca: it is enough to take the work queue off the context and to add it again).
 * doca_event::type is the job's, and doca_event::result.u64 holds its doca_error_t.
 *
 * Outputs are written only on success.
 * "Threads: any" below means that any threads may call at the same time, "Threads: one" that calls on the
 * same object must not overlap.
 */

#ifndef DOCA_SHA_H_
#define DOCA_SHA_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Length in bytes of a SHA-1 digest. */
#define DOCA_SHA1_BYTE_COUNT 20
/** Length in bytes of a SHA-256 digest. */
#define DOCA_SHA256_BYTE_COUNT 32
/** Length in bytes of a SHA-512 digest. */
#define DOCA_SHA512_BYTE_COUNT 64

/** A SHA context. Opaque. */
struct doca_sha;
/** State of a message that is hashed in pieces. Opaque. */
struct doca_sha_partial_session;

/** Values of doca_job::type. */
enum doca_sha_job_type {
    DOCA_SHA_JOB_SHA1 = DOCA_ACTION_SHA_FIRST + 1, /**< struct doca_sha_job */
    DOCA_SHA_JOB_SHA256,                           /**< struct doca_sha_job */
    DOCA_SHA_JOB_SHA512,                           /**< struct doca_sha_job */
    DOCA_SHA_JOB_SHA1_PARTIAL,                     /**< struct doca_sha_partial_job */
    DOCA_SHA_JOB_SHA256_PARTIAL,                   /**< struct doca_sha_partial_job */
    DOCA_SHA_JOB_SHA512_PARTIAL,                   /**< struct doca_sha_partial_job */
};

/** Values of doca_sha_job::flags. */
enum doca_sha_job_flags {
    DOCA_SHA_JOB_FLAGS_NONE = 0,
    DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL = 1, /**< Last piece of a message; others are whole anyway. */
};

/** A message in one job. */
struct doca_sha_job {
    struct doca_job base;
    struct doca_buf *req_buf;  /**< What to hash: a chain; pieces have at least one byte of data. */
    struct doca_buf *resp_buf; /**< Where the digest goes; room for the whole digest in its head. */
    uint64_t flags;            /**< enum doca_sha_job_flags; ignored, unless the job is of a piece (opendoca) */
};

/** A piece of a message. */
struct doca_sha_partial_job {
    struct doca_sha_job sha_job;
    struct doca_sha_partial_session *session; /**< The same for all pieces of a message. */
};

/**
 * Create a SHA context.
 *
 * State: any. Threads: any.
 *
 * @param [out] ctx The new context; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 * - DOCA_ERROR_NOT_SUPPORTED: there is neither a hardware nor a software engine (opendoca: there always is).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sha_create(struct doca_sha **ctx);

/**
 * Destroy a SHA context.
 *
 * State: stopped. Threads: one.
 *
 * @param [in] ctx The context; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL.
 * - DOCA_ERROR_IN_USE: it is still started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sha_destroy(struct doca_sha *ctx);

/**
 * Whether a device can do a job type, in hardware or in software.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [in] job_type One of enum doca_sha_job_type.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL or the type is unknown.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sha_job_get_supported(const struct doca_devinfo *devinfo,
                                                            enum doca_sha_job_type job_type);

/**
 * Most buffers that a request's chain can have on a device; 1 means no chains.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [out] max_list_num_elem Number of buffers; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does no SHA.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sha_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
                                                                    uint32_t *max_list_num_elem);

/**
 * Most bytes that one job can hash on a device.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [out] max_buffer_size Bytes; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does no SHA.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sha_get_max_src_buffer_size(const struct doca_devinfo *devinfo,
                                                                  uint64_t *max_buffer_size);

/**
 * Room that a job needs in its response.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [in] job_type One of enum doca_sha_job_type.
 * @param [out] min_buffer_size Bytes: 20, 32 or 64; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL or the type is unknown.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do the job type.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sha_get_min_dst_buffer_size(const struct doca_devinfo *devinfo,
                                                                  enum doca_sha_job_type job_type,
                                                                  uint32_t *min_buffer_size);

/**
 * Whether a device hashes in hardware. opendoca: PFs of the software device say so, as the card that they stand
 * for would, and emulate it by OpenSSL.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @return DOCA_SUCCESS: in hardware, or by that emulation, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: in software (OpenSSL), on the CPU.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sha_get_hardware_supported(const struct doca_devinfo *devinfo);

/**
 * The doca_ctx of a SHA context, for doca_ctx_* and doca_job::ctx. Owned by it; always the same pointer.
 *
 * State: any. Threads: any.
 *
 * @param [in] ctx The context.
 * @return The doca_ctx; NULL if ctx is NULL.
 */
__DOCA_EXPERIMENTAL struct doca_ctx *doca_sha_as_ctx(struct doca_sha *ctx);

/**
 * Make a session for a message in pieces.
 *
 * State: ctx started, workq added to it. Threads: the work queue's.
 *
 * @param [in] ctx The context; not NULL.
 * @param [in] workq The work queue that the pieces will be submitted to; not NULL.
 * @param [out] session The new session; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or workq is not on ctx.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sha_partial_session_create(struct doca_sha *ctx, struct doca_workq *workq,
                                                                 struct doca_sha_partial_session **session);

/**
 * Destroy a session. Every session needs it, also after its last piece.
 *
 * State: no piece in flight; the work queue may have been taken off the context. Threads: the work queue's.
 *
 * @param [in] ctx The context; not NULL.
 * @param [in] workq The work queue; not NULL.
 * @param [in] session The session, made for these two; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the session is of another context or work queue.
 *   opendoca: or a piece is in flight.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sha_partial_session_destroy(struct doca_sha *ctx, struct doca_workq *workq,
                                                                  struct doca_sha_partial_session *session);

/**
 * Copy the state of a session, to hash several messages with the same beginning.
 *
 * State: no piece of either in flight. Threads: the work queue's.
 *
 * @param [in] ctx The context; not NULL.
 * @param [in] workq The work queue; not NULL.
 * @param [in] from_session The session to copy, made for these two; not NULL.
 * @param [in] to_session The session whose state is replaced, made for these two; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or a session is of another context or work queue.
 *   opendoca: or a piece of one is in flight.
 * - DOCA_ERROR_UNEXPECTED: the engine could not copy (opendoca: it always can).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_sha_partial_session_copy(struct doca_sha *ctx, struct doca_workq *workq,
                                                               const struct doca_sha_partial_session *from_session,
                                                               struct doca_sha_partial_session *to_session);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_SHA_H_ */
