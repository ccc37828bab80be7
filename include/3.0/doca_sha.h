// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_sha.h
 * SHA-1, SHA-256 and SHA-512 of buffers, in one task or piece by piece.
 *
 * A SHA object is a context (doca_sha_as_ctx()) with tasks of two kinds, and is used as doca_ctx.h and
 * doca_pe.h describe.
 *
 * The data sections of the source, a buffer or a list, are hashed. The raw digest (20, 32 or 64 bytes) is put
 * behind the data section of the destination's head, whose data length grows by as much; other buffers of the
 * destination are not written. opendoca: a destination without tailroom counts as empty, so that the digest
 * lands at its data address. Source and destination must not change until the callback.
 *
 * In several pieces: allocate a partial task with the first piece; submit it; in the callback, or later,
 * doca_sha_task_partial_hash_set_src() with the next one and submit again; before the last,
 * doca_sha_task_partial_hash_set_is_final_buf(). The task carries the state of the message. All pieces but
 * the last are multiples of the block (doca_sha_cap_get_partial_hash_block_size()); no piece is empty. After
 * the last one the task takes another message, after doca_sha_task_partial_hash_reset().
 *
 * opendoca: the device must have been added to the memory maps of source and destination, and both must be
 * memory of this process: copy imported memory by DMA first. On the software device OpenSSL 3 hashes in
 * doca_task_submit(), on the caller's CPU.
 *
 * A task ends with
 * - DOCA_ERROR_INVALID_VALUE: an empty piece, too short a destination, too long a source or list, a missing
 *   buffer, memory that the device does not know, a piece that is no multiple of the block.
 * - DOCA_ERROR_NOT_PERMITTED: imported memory, or a destination that may not be written.
 * - DOCA_ERROR_IO_FAILED: the engine broke (opendoca: does not occur).
 * - DOCA_ERROR_SHUTDOWN: flushed, because the context is stopping (opendoca).
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: as doca_ctx.h says for contexts; capabilities of a device: any.
 */
#ifndef DOCA_SHA_H_
#define DOCA_SHA_H_

#include <inttypes.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL < 20900
#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

/** A SHA object. */
struct doca_sha;

/** A task that hashes a message. */
struct doca_sha_task_hash;

/** A task that hashes a message piece by piece. */
struct doca_sha_task_partial_hash;

/** What to hash with. */
enum doca_sha_algorithm {
    DOCA_SHA_ALGORITHM_SHA1 = 0,   /**< SHA-1: 20 bytes, blocks of 64. */
    DOCA_SHA_ALGORITHM_SHA256 = 1, /**< SHA-256: 32 bytes, blocks of 64. */
    DOCA_SHA_ALGORITHM_SHA512 = 2, /**< SHA-512: 64 bytes, blocks of 128. */
};

/**
 * Called when a hash has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_sha_task_hash_completion_cb_t)(struct doca_sha_task_hash *task, union doca_data task_user_data,
                                                   union doca_data ctx_user_data);

/**
 * Called when a piece of a message has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_sha_task_partial_hash_completion_cb_t)(struct doca_sha_task_partial_hash *task,
                                                           union doca_data task_user_data,
                                                           union doca_data ctx_user_data);

/**
 * Create a SHA object. Its context is idle and connected to no progress engine.
 *
 * @param [in] dev The device that hashes; it must stay open until the object is destroyed.
 * @param [out] sha The object. Free it with doca_sha_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot hash (opendoca: or OpenSSL, as it is configured here, lacks
 *   one of the three).
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_create(struct doca_dev *dev, struct doca_sha **sha);

/**
 * Destroy a SHA object and its context.
 *
 * State: context idle.
 *
 * @param [in] sha The object.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: sha is NULL.
 * - DOCA_ERROR_IN_USE: the context is not idle; nothing has changed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_destroy(struct doca_sha *sha);

/**
 * The context of a SHA object. State: any.
 *
 * @param [in] sha The object.
 * @return The context, always the same one, which lives as long as the object; or NULL when sha is NULL.
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_sha_as_ctx(struct doca_sha *sha);

/**
 * Whether a device can hash.
 *
 * @param [in] devinfo The device.
 * @param [in] algorithm With what.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL, or there is no such algorithm.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_task_hash_get_supported(const struct doca_devinfo *devinfo,
                                                                    enum doca_sha_algorithm algorithm);

/**
 * Whether a device can hash piece by piece.
 *
 * @param [in] devinfo The device.
 * @param [in] algorithm With what.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL, or there is no such algorithm.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_task_partial_hash_get_supported(const struct doca_devinfo *devinfo,
                                                                            enum doca_sha_algorithm algorithm);

/**
 * How many buffers the source's list can have.
 *
 * @param [in] devinfo The device.
 * @param [out] max_list_buf_num_elem The number; 1 when lists are not supported.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot hash.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
                                                                      uint32_t *max_list_buf_num_elem);

/**
 * How much one task can hash.
 *
 * @param [in] devinfo The device.
 * @param [out] max_src_buf_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot hash.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_get_max_src_buf_size(const struct doca_devinfo *devinfo,
                                                                 uint64_t *max_src_buf_size);

/**
 * How much room the destination needs: the length of the digest.
 *
 * @param [in] devinfo The device.
 * @param [in] algorithm With what.
 * @param [out] min_dst_buf_size Bytes: 20, 32 or 64.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or there is no such algorithm.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot hash with it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_get_min_dst_buf_size(const struct doca_devinfo *devinfo,
                                                                 enum doca_sha_algorithm algorithm,
                                                                 uint32_t *min_dst_buf_size);

/**
 * Of what all pieces of a message but the last are multiples.
 *
 * @param [in] devinfo The device.
 * @param [in] algorithm With what.
 * @param [out] partial_block_size Bytes: 64 or 128.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or there is no such algorithm.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot hash piece by piece with it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_get_partial_hash_block_size(const struct doca_devinfo *devinfo,
                                                                        enum doca_sha_algorithm algorithm,
                                                                        uint32_t *partial_block_size);

/**
 * How many tasks of each kind an object can have at most. State: any.
 *
 * @param [in] sha The object.
 * @param [out] max_num_tasks The number of tasks (not its logarithm).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_get_max_num_tasks(struct doca_sha *sha, uint32_t *max_num_tasks);

/**
 * Configure hashes: the callbacks and the number. Needed before one can be allocated; a second call replaces
 * the first.
 *
 * State: context idle.
 *
 * @param [in] sha The object.
 * @param [in] task_completion_cb Called for one that has succeeded.
 * @param [in] task_error_cb Called for one that has failed; may be the same.
 * @param [in] log_num_tasks How many can be allocated at a time, as the base-2 logarithm: 3 stands for 8. At
 * most that of doca_sha_cap_get_max_num_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or log_num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_hash_set_conf(struct doca_sha *sha,
                                                           doca_sha_task_hash_completion_cb_t task_completion_cb,
                                                           doca_sha_task_hash_completion_cb_t task_error_cb,
                                                           uint8_t log_num_tasks);

/**
 * Allocate a hash.
 *
 * State: context running.
 *
 * @param [in] sha The object.
 * @param [in] algorithm With what.
 * @param [in] src_buf What to hash.
 * @param [in] dst_buf Where the digest goes.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or there is no such algorithm.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot hash with it.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
                                                             const struct doca_buf *src_buf, struct doca_buf *dst_buf,
                                                             union doca_data user_data,
                                                             struct doca_sha_task_hash **task);

/**
 * Change the source.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buf What to hash.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_hash_set_src(struct doca_sha_task_hash *task,
                                                          const struct doca_buf *src_buf);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL const struct doca_buf *doca_sha_task_hash_get_src(const struct doca_sha_task_hash *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buf Where the digest goes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_hash_set_dst(struct doca_sha_task_hash *task, struct doca_buf *dst_buf);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL const struct doca_buf *doca_sha_task_hash_get_dst(const struct doca_sha_task_hash *task);

/**
 * Change the algorithm.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] algorithm With what.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: task is NULL, or there is no such algorithm.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot hash with it (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_hash_set_algorithm(struct doca_sha_task_hash *task,
                                                                enum doca_sha_algorithm algorithm);

/**
 * The algorithm. State: any.
 *
 * @param [in] task The task.
 * @return The algorithm.
 */
DOCA_EXPERIMENTAL enum doca_sha_algorithm doca_sha_task_hash_get_algorithm(const struct doca_sha_task_hash *task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_sha_task_hash_as_task(struct doca_sha_task_hash *task);

/**
 * Configure partial hashes: the callbacks and the number. Needed before one can be allocated; a second call
 * replaces the first.
 *
 * State: context idle.
 *
 * @param [in] sha The object.
 * @param [in] task_completion_cb Called for one that has succeeded.
 * @param [in] task_error_cb Called for one that has failed; may be the same.
 * @param [in] log_num_tasks How many can be allocated at a time, as the base-2 logarithm: 3 stands for 8. At
 * most that of doca_sha_cap_get_max_num_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or log_num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_sha_task_partial_hash_set_conf(struct doca_sha *sha, doca_sha_task_partial_hash_completion_cb_t task_completion_cb,
                                    doca_sha_task_partial_hash_completion_cb_t task_error_cb, uint8_t log_num_tasks);

/**
 * Allocate a partial hash.
 *
 * State: context running.
 *
 * @param [in] sha The object.
 * @param [in] algorithm With what.
 * @param [in] src_buf What to hash: the first piece.
 * @param [in] dst_buf Where the digest goes.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or there is no such algorithm.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot hash with it.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_partial_hash_alloc_init(
    struct doca_sha *sha, enum doca_sha_algorithm algorithm, const struct doca_buf *src_buf, struct doca_buf *dst_buf,
    union doca_data user_data, struct doca_sha_task_partial_hash **task);

/**
 * Forget the pieces that were hashed, so that another message can begin: within a message, after its last
 * piece, and after a failure.
 *
 * State: not submitted. opendoca: in flight the task is the device's, which reads what this would change; its
 * callback may reset it.
 *
 * @param [in] task The task.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: task is NULL.
 * - DOCA_ERROR_BAD_STATE: it is submitted (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_partial_hash_reset(struct doca_sha_task_partial_hash *task);

/**
 * Change the source to the next piece.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buf What to hash.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_partial_hash_set_src(struct doca_sha_task_partial_hash *task,
                                                                  const struct doca_buf *src_buf);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_sha_task_partial_hash_get_src(const struct doca_sha_task_partial_hash *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buf Where the digest goes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_partial_hash_set_dst(struct doca_sha_task_partial_hash *task,
                                                                  struct doca_buf *dst_buf);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_sha_task_partial_hash_get_dst(const struct doca_sha_task_partial_hash *task);

/**
 * Change the algorithm.
 *
 * State: not submitted, and no message has begun.
 *
 * @param [in] task The task.
 * @param [in] algorithm With what.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: task is NULL, or there is no such algorithm.
 * - DOCA_ERROR_BAD_STATE: pieces of a message were hashed: reset first.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot hash with it (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_partial_hash_set_algorithm(struct doca_sha_task_partial_hash *task,
                                                                        enum doca_sha_algorithm algorithm);

/**
 * The algorithm. State: any.
 *
 * @param [in] task The task.
 * @return The algorithm.
 */
DOCA_EXPERIMENTAL enum doca_sha_algorithm
doca_sha_task_partial_hash_get_algorithm(const struct doca_sha_task_partial_hash *task);

/**
 * Say that the source is the last piece, with which the digest is given. opendoca: it may also be the first.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: task is NULL.
 * - DOCA_ERROR_BAD_STATE: it is submitted.
 */
DOCA_EXPERIMENTAL doca_error_t doca_sha_task_partial_hash_set_is_final_buf(struct doca_sha_task_partial_hash *task);

/**
 * Whether the source is the last piece. State: any.
 *
 * @param [in] task The task.
 * @return 1 when it was said so, else 0.
 */
DOCA_EXPERIMENTAL uint8_t doca_sha_task_partial_hash_get_is_final(const struct doca_sha_task_partial_hash *task);

/**
 * Whether the destination has the digest. State: any.
 *
 * @param [in] task The task.
 * @return 1 after the last piece has succeeded, else 0.
 */
DOCA_EXPERIMENTAL uint8_t doca_sha_task_partial_hash_get_has_result(const struct doca_sha_task_partial_hash *task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_sha_task_partial_hash_as_task(struct doca_sha_task_partial_hash *task);

#if OPENDOCA_LEVEL < 20900
#include <opendoca/older/sha.h>
#endif

#ifdef __cplusplus
}
#endif

#endif /* DOCA_SHA_H_ */
