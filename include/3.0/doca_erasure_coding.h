// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_erasure_coding.h
 * Erasure coding: redundancy blocks from which lost blocks can be recovered.
 *
 * An erasure coding object is a context (doca_ec_as_ctx()) with tasks of four kinds, and is used as doca_ctx.h and
 * doca_pe.h describe.
 *
 * With k data blocks and m redundancy blocks, all of one size, any m of the k + m blocks may be lost. Data blocks have
 * the indices 0 to k - 1, and redundancy blocks k to k + m - 1. The redundancy block k + j is the sum over all data
 * blocks i of a(i, j) times block i, byte by byte, in the field GF(2^8) (opendoca: of the polynomial 0x11d, the one of
 * ISA-L and jerasure). A coding matrix has the coefficients a(i, j).
 *
 * - create: source: the k data blocks. Destination: the m redundancy blocks. Matrix: doca_ec_matrix_create().
 * - update: source: each changed data block before and after the change, then the m redundancy blocks before it.
 *   Destination: the m redundancy blocks after it. Matrix: doca_ec_matrix_create_update().
 * - recover: source: the first k available blocks. Destination: the missing blocks. Matrix:
 *   doca_ec_matrix_create_recover().
 * - galois_mul: any of these.
 *
 * All four multiply the source's blocks by the matrix, and every kind of task accepts every matrix. The matrix decides
 * about the number of blocks on both sides: its inputs and outputs.
 *
 * Source and destination may each be a buffer or a list, given by its head. The data sections of a list are one
 * sequence of bytes, which may be split into buffers anywhere, also within a block. The size of a block is the length
 * of the source's data divided by the number of inputs. It must be a multiple of 64 bytes; programs fill up the last
 * data block with zeros. The blocks of the result follow each other in the destination's tailroom, buffer by buffer,
 * behind the data that is there, and each buffer's data length grows by what it got. Source and destination must not
 * change until the callback. opendoca: they may overlap only where a block of the destination is exactly a block of
 * the source, for example to update redundancy in place.
 *
 * opendoca: the device must have been added to the memory maps of source and destination. On software devices either
 * may be memory imported from another process; on others imported memory must be copied by DMA first. Local read access
 * is enough for the source, and the destination needs local write access; of imported memory the exporter's rights
 * count.
 *
 * opendoca: ISA-L computes on the CPU of the progress engine's thread: up to 1 MiB of source within
 * doca_task_submit(), the rest in slices, one for each doca_pe_progress(), so that a long task does not keep other
 * contexts of the progress engine waiting. Tasks complete in the order of their submission, but for those that are
 * refused.
 *
 * A task ends with
 * - DOCA_ERROR_IO_FAILED: the source has no data, or its length is no multiple of 64 bytes times the number of inputs,
 *   for example because blocks were left in that the matrix does not use; the destination has not enough room; or
 *   imported memory was unmapped by its exporter (opendoca).
 * - DOCA_ERROR_INVALID_VALUE: a missing buffer or matrix; a buffer that is not the head of its list; a block larger
 *   than doca_ec_cap_get_max_block_size(); a list longer than doca_ec_cap_get_max_buf_list_len(); memory that the
 *   device does not know; a data section outside of its buffer; any other overlap than that above (opendoca: one that
 *   exists only because memory was imported is not detected).
 * - DOCA_ERROR_NOT_PERMITTED: a destination that may not be written; imported memory that the device cannot copy, or
 *   whose exporter has stopped or destroyed its memory map; opendoca: memory of a dmabuf, which the CPU cannot always
 *   access. Copy it by DMA first.
 * - DOCA_ERROR_CONNECTION_RESET: the process that has exported the memory has ended.
 * - DOCA_ERROR_OPERATING_SYSTEM: the kernel refuses access to imported memory (opendoca).
 * - DOCA_ERROR_NO_MEMORY: no memory to access imported memory (opendoca).
 * - DOCA_ERROR_SHUTDOWN: flushed, because the context is stopping (opendoca).
 *
 * A failed task leaves the destination's data lengths as they were, and the context stays running (opendoca). Its room
 * may have changed if imported memory could not be accessed, or if the task was flushed; otherwise it has not.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: as doca_ctx.h says for contexts; matrices: any, one at a time; capabilities of a device: any.
 */
#ifndef DOCA_ERASURE_CODING_H_
#define DOCA_ERASURE_CODING_H_

#include <inttypes.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL < 20900
#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dev.h>
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

/** An erasure coding object. */
struct doca_ec;

/**
 * A matrix over GF(2^8): the coefficients of a number of input blocks for each of a number of output blocks. Constant:
 * any number of tasks may use it at a time. It must exist as long as a task that uses it is submitted.
 */
struct doca_ec_matrix;

/** A task that multiplies blocks by a matrix. */
struct doca_ec_task_galois_mul;

/** A task that computes redundancy blocks from data blocks. */
struct doca_ec_task_create;

/** A task that computes redundancy blocks anew after a change of data blocks. */
struct doca_ec_task_update;

/** A task that recovers missing blocks from available ones. */
struct doca_ec_task_recover;

/** The kinds of coding matrices. */
enum doca_ec_matrix_type {
    /**
     * Cauchy: a(i, j) = 1 / (i + (k + j)), where + is the exclusive or. Every loss of up to m blocks can be recovered.
     * At most 256 blocks, data and redundancy together.
     */
    DOCA_EC_MATRIX_TYPE_CAUCHY = 1,
    /**
     * Vandermonde: a(i, j) = (i + 1)^j, where + is the usual one, so that the first redundancy block is the exclusive
     * or of all data blocks. With four redundancy blocks or more, some losses of m blocks cannot be recovered.
     */
    DOCA_EC_MATRIX_TYPE_VANDERMONDE = 2,
};

/**
 * Called when a multiplication has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_ec_task_galois_mul_completion_cb_t)(struct doca_ec_task_galois_mul *task,
                                                        union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Called when the computation of redundancy has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_ec_task_create_completion_cb_t)(struct doca_ec_task_create *task, union doca_data task_user_data,
                                                    union doca_data ctx_user_data);

/**
 * Called when an update of redundancy has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_ec_task_update_completion_cb_t)(struct doca_ec_task_update *task, union doca_data task_user_data,
                                                    union doca_data ctx_user_data);

/**
 * Called when a recovery has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_ec_task_recover_completion_cb_t)(struct doca_ec_task_recover *task, union doca_data task_user_data,
                                                     union doca_data ctx_user_data);

/**
 * Create an erasure coding object. Its context is idle and connected to no progress engine.
 *
 * @param [in] dev The device that computes; it must stay open until the object is destroyed.
 * @param [out] ec The object. Free it with doca_ec_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not do erasure coding (opendoca: or this build has no ISA-L).
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_create(struct doca_dev *dev, struct doca_ec **ec);

/**
 * Destroy an erasure coding object and its context. opendoca: matrices that are left remain valid until
 * doca_ec_matrix_destroy().
 *
 * State: context idle.
 *
 * @param [in] ec The object.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle; nothing has changed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_destroy(struct doca_ec *ec);

/**
 * The context of an erasure coding object. State: any.
 *
 * @param [in] ec The object.
 * @return The context, always the same one, which lives as long as the object; or NULL when ec is NULL.
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_ec_as_ctx(struct doca_ec *ec);

/**
 * How large a block can be.
 *
 * @param [in] devinfo The device.
 * @param [out] max_block_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not do erasure coding.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_cap_get_max_block_size(const struct doca_devinfo *devinfo,
                                                              uint64_t *max_block_size);

/**
 * How many buffers the list of a source, and that of a destination, can have.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buf_list_len The number; 1 when lists are not supported.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not do erasure coding (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
                                                                uint32_t *max_buf_list_len);

/**
 * Create a coding matrix.
 *
 * State: any.
 *
 * @param [in] ec The object.
 * @param [in] type Its kind.
 * @param [in] data_block_count k: the number of data blocks, 1 to 255 (opendoca).
 * @param [in] rdnc_block_count m: the number of redundancy blocks, 1 to 255 (opendoca).
 * @param [out] matrix The matrix. Free it with doca_ec_matrix_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, there is no such kind, or a number of blocks is out of
 * range: for Cauchy also if there are more than 256 blocks together.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_matrix_create(struct doca_ec *ec, enum doca_ec_matrix_type type,
                                                     size_t data_block_count, size_t rdnc_block_count,
                                                     struct doca_ec_matrix **matrix);

/**
 * Create a coding matrix of given coefficients.
 *
 * State: any.
 *
 * @param [in] ec The object.
 * @param [in] data data_block_count times rdnc_block_count coefficients, those of the first data block
 * first: data[i * rdnc_block_count + j] is a(i, j). This is the transpose of what ISA-L and jerasure use.
 * They are copied.
 * @param [in] data_block_count k: the number of data blocks, 1 to 255 (opendoca).
 * @param [in] rdnc_block_count m: the number of redundancy blocks, 1 to 255 (opendoca).
 * @param [out] matrix The matrix. Free it with doca_ec_matrix_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or a number of blocks is out of range.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_matrix_create_from_raw(struct doca_ec *ec, uint8_t *data,
                                                              size_t data_block_count, size_t rdnc_block_count,
                                                              struct doca_ec_matrix **matrix);

/**
 * Create a matrix for an update of the redundancy after a change of some data blocks. It has 2 n_updates +
 * m inputs and m outputs.
 *
 * State: any.
 *
 * @param [in] ec The object.
 * @param [in] coding_matrix The matrix that the redundancy was computed by.
 * @param [in] update_indices The indices of the changed data blocks, each larger than the one before.
 * @param [in] n_updates The number of indices, 1 to k.
 * @param [out] matrix The matrix. Free it with doca_ec_matrix_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL; n_updates is out of range; an index is that of no data
 * block, or not larger than the one before.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_matrix_create_update(struct doca_ec *ec,
                                                            const struct doca_ec_matrix *coding_matrix,
                                                            uint32_t update_indices[], size_t n_updates,
                                                            struct doca_ec_matrix **matrix);

/**
 * Create a matrix for the recovery of missing blocks, data or redundancy. It has k inputs, which are the
 * first k blocks that are not missing, and n_missing outputs. A redundancy block that is left out among the
 * first k available blocks must be named as missing; those behind them need not be available.
 *
 * State: any.
 *
 * @param [in] ec The object.
 * @param [in] coding_matrix The matrix that the redundancy was computed by.
 * @param [in] missing_indices The indices of the missing blocks, each larger than the one before: 0 to k -
 * 1 for data, k to k + m - 1 for redundancy.
 * @param [in] n_missing The number of indices, 1 to m.
 * @param [out] matrix The matrix. Free it with doca_ec_matrix_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL; n_missing is out of range, also because more blocks are
 * missing than there is redundancy; an index is that of no block, or not larger than the one before; these
 * blocks cannot be recovered by this matrix (opendoca).
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_matrix_create_recover(struct doca_ec *ec,
                                                             const struct doca_ec_matrix *coding_matrix,
                                                             uint32_t missing_indices[], size_t n_missing,
                                                             struct doca_ec_matrix **matrix);

/**
 * Destroy a matrix. No task that uses it may be in flight.
 *
 * @param [in] matrix The matrix.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: matrix is NULL.
 * - DOCA_ERROR_IN_USE: a task in flight has yet to use it (opendoca); nothing has changed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_matrix_destroy(struct doca_ec_matrix *matrix);

/**
 * Whether a device can multiply blocks by a matrix. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_cap_task_galois_mul_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure multiplications: the callbacks and the number. Needed before one can be allocated; a second
 * call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] ec The object.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time, at most 65536 (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_task_galois_mul_set_conf(
    struct doca_ec *ec, doca_ec_task_galois_mul_completion_cb_t successful_task_completion_cb,
    doca_ec_task_galois_mul_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a multiplication. The data of the buffers is not looked at before the task is submitted.
 *
 * State: context running.
 *
 * @param [in] ec The object.
 * @param [in] coding_matrix The matrix: any.
 * @param [in] src_buf The blocks to multiply, as many as the matrix has inputs.
 * @param [in] dst_buf Receives the products, one block for each output of the matrix, behind its data.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running (opendoca).
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_task_galois_mul_allocate_init(
    struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix, const struct doca_buf *src_buf,
    struct doca_buf *dst_buf, union doca_data user_data, struct doca_ec_task_galois_mul **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_ec_task_galois_mul_as_task(struct doca_ec_task_galois_mul *task);

/**
 * Change the matrix.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] coding_matrix The matrix: any.
 */
DOCA_EXPERIMENTAL void doca_ec_task_galois_mul_set_coding_matrix(struct doca_ec_task_galois_mul *task,
                                                                 const struct doca_ec_matrix *coding_matrix);

/**
 * The matrix. State: any.
 *
 * @param [in] task The task.
 * @return The one that was set last.
 */
DOCA_EXPERIMENTAL const struct doca_ec_matrix *
doca_ec_task_galois_mul_get_coding_matrix(const struct doca_ec_task_galois_mul *task);

/**
 * Change the source.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buf The blocks to multiply, as many as the matrix has inputs.
 */
DOCA_EXPERIMENTAL void doca_ec_task_galois_mul_set_src_buf(struct doca_ec_task_galois_mul *task,
                                                           const struct doca_buf *src_buf);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The one that was set last.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_ec_task_galois_mul_get_src_buf(const struct doca_ec_task_galois_mul *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buf Receives the products, one block for each output of the matrix, behind its data.
 */
DOCA_EXPERIMENTAL void doca_ec_task_galois_mul_set_dst_buf(struct doca_ec_task_galois_mul *task,
                                                           struct doca_buf *dst_buf);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The one that was set last.
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_ec_task_galois_mul_get_dst_buf(const struct doca_ec_task_galois_mul *task);

/**
 * Whether a device can compute redundancy blocks. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_cap_task_create_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure tasks that compute redundancy: the callbacks and the number. Needed before one can be
 * allocated; a second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] ec The object.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time, at most 65536 (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t
doca_ec_task_create_set_conf(struct doca_ec *ec, doca_ec_task_create_completion_cb_t successful_task_completion_cb,
                             doca_ec_task_create_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a task that computes redundancy. The data of the buffers is not looked at before the task is
 * submitted.
 *
 * State: context running.
 *
 * @param [in] ec The object.
 * @param [in] coding_matrix The coding matrix.
 * @param [in] original_data_blocks The data blocks, in the order of their indices.
 * @param [in] rdnc_blocks Receives the redundancy blocks, in the order of their indices, behind its data.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running (opendoca).
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_task_create_allocate_init(
    struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix, const struct doca_buf *original_data_blocks,
    struct doca_buf *rdnc_blocks, union doca_data user_data, struct doca_ec_task_create **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_ec_task_create_as_task(struct doca_ec_task_create *task);

/**
 * Change the coding matrix.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] coding_matrix The coding matrix.
 */
DOCA_EXPERIMENTAL void doca_ec_task_create_set_coding_matrix(struct doca_ec_task_create *task,
                                                             const struct doca_ec_matrix *coding_matrix);

/**
 * The coding matrix. State: any.
 *
 * @param [in] task The task.
 * @return The one that was set last.
 */
DOCA_EXPERIMENTAL const struct doca_ec_matrix *
doca_ec_task_create_get_coding_matrix(const struct doca_ec_task_create *task);

/**
 * Change the data blocks.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] original_data_blocks The data blocks, in the order of their indices.
 */
DOCA_EXPERIMENTAL void doca_ec_task_create_set_original_data_blocks(struct doca_ec_task_create *task,
                                                                    const struct doca_buf *original_data_blocks);

/**
 * The data blocks. State: any.
 *
 * @param [in] task The task.
 * @return The one that was set last.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_ec_task_create_get_original_data_blocks(const struct doca_ec_task_create *task);

/**
 * Change the destination of the redundancy blocks.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] rdnc_blocks Receives the redundancy blocks, in the order of their indices, behind its data.
 */
DOCA_EXPERIMENTAL void doca_ec_task_create_set_rdnc_blocks(struct doca_ec_task_create *task,
                                                           struct doca_buf *rdnc_blocks);

/**
 * The destination of the redundancy blocks. State: any.
 *
 * @param [in] task The task.
 * @return The one that was set last.
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_ec_task_create_get_rdnc_blocks(const struct doca_ec_task_create *task);

/**
 * Whether a device can update redundancy blocks. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_cap_task_update_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure tasks that update redundancy: the callbacks and the number. Needed before one can be allocated;
 * a second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] ec The object.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time, at most 65536 (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t
doca_ec_task_update_set_conf(struct doca_ec *ec, doca_ec_task_update_completion_cb_t successful_task_completion_cb,
                             doca_ec_task_update_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a task that updates redundancy. The data of the buffers is not looked at before the task is
 * submitted.
 *
 * State: context running.
 *
 * @param [in] ec The object.
 * @param [in] update_matrix A matrix of doca_ec_matrix_create_update().
 * @param [in] original_updated_and_rdnc_blocks For each changed data block, in the order of their indices,
 * the block before and the block after the change; then all redundancy blocks before the change.
 * @param [in] updated_rdnc_blocks Receives the redundancy blocks after the change, in the order of their
 * indices, behind its data.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running (opendoca).
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_task_update_allocate_init(
    struct doca_ec *ec, const struct doca_ec_matrix *update_matrix,
    const struct doca_buf *original_updated_and_rdnc_blocks, struct doca_buf *updated_rdnc_blocks,
    union doca_data user_data, struct doca_ec_task_update **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_ec_task_update_as_task(struct doca_ec_task_update *task);

/**
 * Change the update matrix.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] update_matrix A matrix of doca_ec_matrix_create_update().
 */
DOCA_EXPERIMENTAL void doca_ec_task_update_set_update_matrix(struct doca_ec_task_update *task,
                                                             const struct doca_ec_matrix *update_matrix);

/**
 * The update matrix. State: any.
 *
 * @param [in] task The task.
 * @return The one that was set last.
 */
DOCA_EXPERIMENTAL const struct doca_ec_matrix *
doca_ec_task_update_get_update_matrix(const struct doca_ec_task_update *task);

/**
 * Change the blocks before and after the change.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] original_updated_and_rdnc_blocks For each changed data block, in the order of their indices,
 * the block before and the block after the change; then all redundancy blocks before the change.
 */
DOCA_EXPERIMENTAL void
doca_ec_task_update_set_original_updated_and_rdnc_blocks(struct doca_ec_task_update *task,
                                                         const struct doca_buf *original_updated_and_rdnc_blocks);

/**
 * The blocks before and after the change. State: any.
 *
 * @param [in] task The task.
 * @return The one that was set last.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_ec_task_update_get_original_updated_and_rdnc_blocks(const struct doca_ec_task_update *task);

/**
 * Change the destination of the redundancy blocks.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] updated_rdnc_blocks Receives the redundancy blocks after the change, in the order of their
 * indices, behind its data.
 */
DOCA_EXPERIMENTAL void doca_ec_task_update_set_updated_rdnc_blocks(struct doca_ec_task_update *task,
                                                                   struct doca_buf *updated_rdnc_blocks);

/**
 * The destination of the redundancy blocks. State: any.
 *
 * @param [in] task The task.
 * @return The one that was set last.
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_ec_task_update_get_updated_rdnc_blocks(const struct doca_ec_task_update *task);

/**
 * Whether a device can recover missing blocks. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_cap_task_recover_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure tasks that recover blocks: the callbacks and the number. Needed before one can be allocated; a
 * second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] ec The object.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time, at most 65536 (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t
doca_ec_task_recover_set_conf(struct doca_ec *ec, doca_ec_task_recover_completion_cb_t successful_task_completion_cb,
                              doca_ec_task_recover_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Allocate a task that recovers blocks. The data of the buffers is not looked at before the task is
 * submitted.
 *
 * State: context running.
 *
 * @param [in] ec The object.
 * @param [in] recover_matrix A matrix of doca_ec_matrix_create_recover().
 * @param [in] available_blocks The available blocks, in the order of their indices, data before redundancy,
 * as many as there are data blocks.
 * @param [in] recovered_data_blocks Receives the missing blocks, in the order of their indices, behind its
 * data.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running (opendoca).
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ec_task_recover_allocate_init(
    struct doca_ec *ec, const struct doca_ec_matrix *recover_matrix, const struct doca_buf *available_blocks,
    struct doca_buf *recovered_data_blocks, union doca_data user_data, struct doca_ec_task_recover **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_ec_task_recover_as_task(struct doca_ec_task_recover *task);

/**
 * Change the recover matrix.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] recover_matrix A matrix of doca_ec_matrix_create_recover().
 */
DOCA_EXPERIMENTAL void doca_ec_task_recover_set_recover_matrix(struct doca_ec_task_recover *task,
                                                               const struct doca_ec_matrix *recover_matrix);

/**
 * The recover matrix. State: any.
 *
 * @param [in] task The task.
 * @return The one that was set last.
 */
DOCA_EXPERIMENTAL const struct doca_ec_matrix *
doca_ec_task_recover_get_recover_matrix(const struct doca_ec_task_recover *task);

/**
 * Change the available blocks.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] available_blocks The available blocks, in the order of their indices, data before redundancy,
 * as many as there are data blocks.
 */
DOCA_EXPERIMENTAL void doca_ec_task_recover_set_available_blocks(struct doca_ec_task_recover *task,
                                                                 const struct doca_buf *available_blocks);

/**
 * The available blocks. State: any.
 *
 * @param [in] task The task.
 * @return The one that was set last.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_ec_task_recover_get_available_blocks(const struct doca_ec_task_recover *task);

/**
 * Change the destination of the recovered blocks.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] recovered_data_blocks Receives the missing blocks, in the order of their indices, behind its
 * data.
 */
DOCA_EXPERIMENTAL void doca_ec_task_recover_set_recovered_data_blocks(struct doca_ec_task_recover *task,
                                                                      struct doca_buf *recovered_data_blocks);

/**
 * The destination of the recovered blocks. State: any.
 *
 * @param [in] task The task.
 * @return The one that was set last.
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_ec_task_recover_get_recovered_data(const struct doca_ec_task_recover *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ERASURE_CODING_H_ */
