// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_erasure_coding.h
 * Erasure coding: redundancy blocks from which lost blocks can be recovered.
 *
 * Order of use: doca_ec_create, doca_ec_as_ctx, doca_ctx_dev_add, doca_ctx_start, doca_ctx_workq_add, matrices, jobs;
 * then doca_ec_matrix_destroy, doca_ctx_workq_rm, doca_ctx_stop, doca_ec_destroy.
 *
 * With k data blocks and m redundancy blocks, all of one size, any m of the k + m blocks may be lost. Data blocks have
 * the indices 0 to k - 1, and redundancy blocks k to k + m - 1. The redundancy block k + j is the sum over all data
 * blocks i of a(i, j) times block i, byte by byte, in the field GF(2^8) (opendoca: of the polynomial 0x11d, the one of
 * ISA-L and jerasure). A coding matrix has the coefficients a(i, j).
 *
 * - create: source: the k data blocks. Destination: the m redundancy blocks. Matrix: doca_ec_matrix_create().
 * - update: source: each changed data block before and after the change, then the m redundancy blocks before it.
 *   Destination: the m redundancy blocks after it. Matrix: doca_ec_update_matrix_create().
 * - recover: source: the first k available blocks. Destination: the missing blocks. Matrix:
 *   doca_ec_recover_matrix_create().
 * - galois_mul: any of these.
 *
 * All four multiply the source's blocks by the matrix, and opendoca accepts every matrix in every type of job. The
 * matrix decides about the number of blocks on both sides: its inputs and outputs.
 *
 * Source and destination may each be a buffer or a list, given by its head. The data sections of a list are one
 * sequence of bytes, which may be split into buffers anywhere, also within a block. The size of a block is the length
 * of the source's data divided by the number of inputs. It must be a multiple of 64 bytes; programs fill up the last
 * data block with zeros. The blocks of the result follow each other in the destination's tailroom, buffer by buffer,
 * behind the data that is there, and each buffer's data length grows by what it got. Source and destination must not
 * change until the job was retrieved. opendoca: they may overlap only where a block of the destination is exactly a
 * block of the source, for example to update redundancy in place.
 *
 * opendoca: the device must have been added to the memory maps of source and destination. On software devices either
 * may be memory imported from another process; on others imported memory must be copied by DMA first. ISA-L computes
 * on the caller's CPU: up to 1 MiB of source in doca_workq_submit(), more in slices, one for each poll of the work
 * queue. Work queues can be event-driven.
 *
 * doca_workq_submit() refuses a job, and changes nothing, with
 * - DOCA_ERROR_INVALID_VALUE: the job type is unknown; a missing buffer or matrix; a buffer that is not the head of its
 *   list; a block larger than 128 MiB (opendoca); a list longer than doca_ec_get_max_list_buf_num_elem(); memory that
 *   the device does not know; a data section outside of its buffer; any other overlap than that above (opendoca: one
 *   that exists only because memory was imported is not detected).
 * - DOCA_ERROR_NOT_PERMITTED: a destination that may not be written, a source that may not be read, imported memory
 *   that the device cannot copy (opendoca), or memory of a dmabuf, which the CPU cannot always access (opendoca).
 * - what doca_ctx.h lists for it.
 *
 * doca_event::type is the job's. result.u64 is a doca_error_t: DOCA_SUCCESS, with the destination's data lengths up to
 * date; or, when doca_workq_progress_retrieve() gives DOCA_ERROR_IO_FAILED, with the data lengths as they were
 * (opendoca):
 * - DOCA_ERROR_IO_FAILED: the source has no data, or its length is no multiple of 64 bytes times the number of inputs,
 *   for example because blocks were left in that the matrix does not use; the destination has not enough room; or the
 *   exporter of imported memory has unmapped it (opendoca).
 * - DOCA_ERROR_NOT_PERMITTED: the exporter has stopped or destroyed its memory map.
 * - DOCA_ERROR_CONNECTION_RESET: the process that has exported the memory has ended.
 * - DOCA_ERROR_OPERATING_SYSTEM: the kernel refuses access to imported memory (opendoca).
 * - DOCA_ERROR_NO_MEMORY: no memory to access imported memory (opendoca).
 * - DOCA_ERROR_INVALID_VALUE: a job before this one has made a block larger than 128 MiB, or has made source and
 *   destination overlap (opendoca).
 * - DOCA_ERROR_SHUTDOWN: flushed by doca_ctx_workq_rm() (opendoca).
 * The room of the destination has changed only if imported memory could not be accessed, or if the job was flushed. A
 * failed job does not harm the context; other jobs go on.
 *
 * Outputs are written only on success.
 * "Threads: any" below means that any threads may call at the same time, "Threads: one" that calls on the
 * same object must not overlap.
 */

#ifndef DOCA_ERASURE_CODING_H_
#define DOCA_ERASURE_CODING_H_

#include <inttypes.h>
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

/** An erasure coding context. Opaque. */
struct doca_ec;

/**
 * A matrix over GF(2^8): the coefficients of a number of input blocks for each of a number of output blocks. Opaque and
 * constant: any number of jobs may use it at a time. It must exist until the jobs that use it were retrieved.
 */
struct doca_matrix;

/** Values of doca_job::type. */
enum doca_ec_job_types {
    DOCA_EC_JOB_GALOIS_MUL = DOCA_ACTION_EC_FIRST + 1, /**< struct doca_ec_job */
    DOCA_EC_JOB_CREATE,                                /**< struct doca_ec_job_create */
    DOCA_EC_JOB_UPDATE,                                /**< struct doca_ec_job_update */
    DOCA_EC_JOB_RECOVER,                               /**< struct doca_ec_job_recover */
};

/** The kinds of coding matrices. */
enum doca_ec_matrix_types {
    /**
     * Cauchy: a(i, j) = 1 / (i + (k + j)), where + is the exclusive or. Every loss of up to m blocks can be recovered.
     * At most 256 blocks, data and redundancy together.
     */
    DOCA_CODING_MATRIX_CAUCHY = 1,
    /**
     * Vandermonde: a(i, j) = 2^(i * (j + 1)), where + and * are the usual ones. Not the Vandermonde matrix of DOCA 3.0:
     * redundancy of one cannot be used with the other. With four redundancy blocks or more, some losses of m blocks
     * cannot be recovered.
     */
    DOCA_CODING_MATRIX_VANDERMONDE = 2,
};

/** Blocks to their products with a matrix. */
struct doca_ec_job {
    struct doca_job base;
    struct doca_matrix *coding_matrix; /**< Any matrix. */
    const struct doca_buf *src_buff;   /**< One block for each input of the matrix. */
    struct doca_buf *dst_buff;         /**< Receives one block for each output of the matrix. */
};

/** Data blocks to their redundancy blocks. */
struct doca_ec_job_create {
    struct doca_job base;
    struct doca_matrix *create_matrix;             /**< The coding matrix. */
    const struct doca_buf *src_original_data_buff; /**< The data blocks, in the order of their indices. */
    struct doca_buf *dst_rdnc_buff; /**< Receives the redundancy blocks, in the order of their indices. */
};

/** A change of data blocks to the redundancy blocks after it. */
struct doca_ec_job_update {
    struct doca_job base;
    struct doca_matrix *update_matrix; /**< From doca_ec_update_matrix_create(). */
    /**
     * For each changed data block, in the order of their indices, the block before and the block after the change; then
     * all redundancy blocks before the change.
     */
    const struct doca_buf *src_data_rdnc_buff;
    struct doca_buf *dst_updated_rdnc_buff; /**< Receives the redundancy blocks, in the order of their indices. */
};

/** Available blocks to the missing ones. */
struct doca_ec_job_recover {
    struct doca_job base;
    struct doca_matrix *recover_matrix; /**< From doca_ec_recover_matrix_create(). */
    /** The first k available blocks, in the order of their indices, data before redundancy. */
    const struct doca_buf *src_remaining_data_buff;
    struct doca_buf *dst_recovered_data_buff; /**< Receives the missing blocks, in the order of their indices. */
};

/**
 * Create an erasure coding context.
 *
 * State: any. Threads: any.
 *
 * @param [out] ec The new context; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 * - DOCA_ERROR_INITIALIZATION: the context cannot be set up (opendoca: it always can).
 * - DOCA_ERROR_NOT_SUPPORTED: this build has no ISA-L (opendoca).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ec_create(struct doca_ec **ec);

/**
 * Destroy an erasure coding context. opendoca: matrices that are left remain valid until doca_ec_matrix_destroy().
 *
 * State: stopped. Threads: one.
 *
 * @param [in] ec The context; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ec is NULL.
 * - DOCA_ERROR_IN_USE: it is still started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ec_destroy(struct doca_ec *ec);

/**
 * The doca_ctx of an erasure coding context, for doca_ctx_* and doca_job::ctx. Owned by it; always the same pointer.
 *
 * State: any. Threads: any.
 *
 * @param [in] ctx The context.
 * @return The doca_ctx; NULL if ctx is NULL.
 */
__DOCA_EXPERIMENTAL struct doca_ctx *doca_ec_as_ctx(struct doca_ec *ctx);

/**
 * Whether a device can do a job type. opendoca: software devices can do all of them, unless their topology gives them
 * the engines of a card without erasure coding; RDMA devices can do none, unless the variable DOCA_SOFT_ENGINES of the
 * environment is 1.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [in] job_type One of enum doca_ec_job_types.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL or the type is unknown.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot (opendoca: or this build has no ISA-L).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ec_job_get_supported(struct doca_devinfo *devinfo,
                                                           enum doca_ec_job_types job_type);

/**
 * Most bytes of a buffer of a job on a device. The library does not have this function, as that of DOCA 2.2 does not: a
 * program that calls it cannot be linked.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [in] job_type One of enum doca_ec_job_types.
 * @param [out] max_buffer_size Bytes; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL or the type is unknown.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do the job type.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ec_get_max_buffer_size(const struct doca_devinfo *devinfo,
                                                             enum doca_ec_job_types job_type,
                                                             uint32_t *max_buffer_size);

/**
 * Most buffers that the list of a source, and that of a destination, can have on a device; 1 means no lists.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [out] max_list_num_elem Number of buffers; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does no erasure coding.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ec_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
                                                                   uint32_t *max_list_num_elem);

/**
 * Create a coding matrix.
 *
 * State: any (opendoca: the context need not be started). Threads: any.
 *
 * @param [in] ctx The context; not NULL.
 * @param [in] type Its kind.
 * @param [in] data_block_count k: the number of data blocks, 1 to 255 (opendoca).
 * @param [in] rdnc_block_count m: the number of redundancy blocks, 1 to 255 (opendoca).
 * @param [out] matrix The matrix; not NULL. Free it with doca_ec_matrix_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, there is no such kind, or a number of blocks is out of
 *   range: for Cauchy also if there are more than 256 blocks together.
 * - DOCA_ERROR_NO_MEMORY: out of memory (opendoca).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ec_matrix_create(struct doca_ec *ctx, enum doca_ec_matrix_types type,
                                                       size_t data_block_count, size_t rdnc_block_count,
                                                       struct doca_matrix **matrix);

/**
 * Create a coding matrix of given coefficients.
 *
 * State: any (opendoca: the context need not be started). Threads: any.
 *
 * @param [in] ctx The context; not NULL.
 * @param [in] data data_block_count times rdnc_block_count coefficients, those of the first data block
 * first: data[i * rdnc_block_count + j] is a(i, j). This is the transpose of what ISA-L and jerasure use.
 * They are copied. Not NULL.
 * @param [in] data_block_count k: the number of data blocks, 1 to 255 (opendoca).
 * @param [in] rdnc_block_count m: the number of redundancy blocks, 1 to 255 (opendoca).
 * @param [out] matrix The matrix; not NULL. Free it with doca_ec_matrix_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or a number of blocks is out of range.
 * - DOCA_ERROR_NO_MEMORY: out of memory (opendoca).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ec_matrix_from_raw(struct doca_ec *ctx, uint8_t *data, size_t data_block_count,
                                                         size_t rdnc_block_count, struct doca_matrix **matrix);

/**
 * Create a matrix for an update of the redundancy after a change of some data blocks. It has 2 n_updates + m
 * inputs and m outputs.
 *
 * State: any (opendoca: the context need not be started). Threads: any.
 *
 * @param [in] coding_matrix The matrix that the redundancy was computed by; not NULL.
 * @param [in] ctx The context; not NULL.
 * @param [in] update_indices The indices of the changed data blocks, each larger than the one before; not NULL.
 * @param [in] n_updates The number of indices, 1 to k.
 * @param [out] matrix The matrix; not NULL. Free it with doca_ec_matrix_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL; n_updates is out of range; an index is that of no data
 *   block, or not larger than the one before.
 * - DOCA_ERROR_NO_MEMORY: out of memory (opendoca).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ec_update_matrix_create(const struct doca_matrix *coding_matrix,
                                                              struct doca_ec *ctx, uint32_t update_indices[],
                                                              size_t n_updates, struct doca_matrix **matrix);

/**
 * Create a matrix for the recovery of missing blocks, data or redundancy. It has k inputs, which are the
 * first k blocks that are not missing, and n_missing outputs. A redundancy block that is left out among the
 * first k available blocks must be named as missing; those behind them need not be available.
 *
 * State: any (opendoca: the context need not be started). Threads: any.
 *
 * @param [in] coding_matrix The matrix that the redundancy was computed by; not NULL.
 * @param [in] ctx The context; not NULL.
 * @param [in] missing_indices The indices of the missing blocks, each larger than the one before: 0 to k - 1
 * for data, k to k + m - 1 for redundancy; not NULL.
 * @param [in] n_missing The number of indices, 1 to m.
 * @param [out] matrix The matrix; not NULL. Free it with doca_ec_matrix_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL; n_missing is out of range, also because more blocks are
 *   missing than there is redundancy; an index is that of no block, or not larger than the one before; these
 *   blocks cannot be recovered by this matrix (opendoca).
 * - DOCA_ERROR_NO_MEMORY: out of memory (opendoca).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ec_recover_matrix_create(const struct doca_matrix *coding_matrix,
                                                               struct doca_ec *ctx, uint32_t missing_indices[],
                                                               size_t n_missing, struct doca_matrix **matrix);

/**
 * Destroy a matrix.
 *
 * State: no job that uses it is in flight; the context may have been stopped. Threads: one.
 *
 * @param [in] matrix The matrix; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: matrix is NULL.
 * - DOCA_ERROR_IN_USE: a job in flight uses it (opendoca).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_ec_matrix_destroy(struct doca_matrix *matrix);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ERASURE_CODING_H_ */
