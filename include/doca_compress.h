// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_compress.h
 * Compression and decompression of buffers: DEFLATE in both directions, LZ4 decompression.
 *
 * Order of use: doca_compress_create, doca_compress_as_ctx, doca_ctx_dev_add, doca_ctx_start, doca_ctx_workq_add,
 * jobs; then doca_ctx_workq_rm, doca_ctx_stop, doca_compress_destroy.
 *
 * The DEFLATE streams are raw (RFC 1951): they have neither the zlib nor the gzip frame. A job is one complete stream.
 * opendoca: a stream to decompress ends with its final block, and bytes behind it are ignored; a stream without a final
 * block is corrupt.
 *
 * The source of an LZ4 job is, opendoca, an LZ4 frame without its header (magic number and descriptor), end mark and
 * content checksum: blocks that each begin with their size in 4 bytes, little-endian, of which bit 31 marks a block
 * that is stored uncompressed. The blocks may refer to the ones before them, and have no checksums of their own. An end
 * mark (a size of 0) is accepted as the end of the source. Dictionaries are not supported.
 *
 * Source and destination are buffers or lists of buffers, given by their heads. The data sections of the source's
 * elements are one sequence of bytes, cut anywhere. The result is put behind the data section of the destination, whose
 * data length grows by as much; a list is filled element by element, in the free space behind each element's data.
 * Neither may change until the job was retrieved. opendoca: if source and destination overlap, the result is that of a
 * source that was copied before.
 *
 * opendoca: the device must have been added to the memory maps of source and destination. On the software device the
 * destination, and the source of a job of DEFLATE, may also be memory that it has imported from another process. The
 * work is done by libdeflate and liblz4: of up to 256 KiB in doca_workq_submit(), on the caller's CPU, of more by a
 * thread of the context, while the jobs behind it wait. Work queues can be event-driven.
 *
 * doca_workq_submit() refuses a job, and changes nothing, with
 * - DOCA_ERROR_INVALID_VALUE: the job type is unknown; a buffer is missing or is not the head of its list; the source
 * has no data; too long a source or list; memory that the device does not know; the first buffer of an LZ4 source has
 * less than 4 bytes of data.
 * - DOCA_ERROR_NOT_PERMITTED: a destination that may not be written; a source that may not be read; imported memory
 *   that is the source of an LZ4 job, or on a device that is not a software device (opendoca); memory of a dmabuf,
 *   which the CPU cannot always access (opendoca).
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do the job type (opendoca).
 * - what doca_ctx.h lists for it.
 *
 * doca_event::type is the job's. result.u64 is a doca_error_t: DOCA_SUCCESS, with the destination's data lengths and
 * output_chksum up to date; or, when doca_workq_progress_retrieve() gives DOCA_ERROR_IO_FAILED, with both as they were
 * and the bytes of the destination's free space undefined (opendoca):
 * - DOCA_ERROR_IO_FAILED: the source is not valid DEFLATE or LZ4 data, the result does not fit into the free space of
 *   the destination, if there is any, or the exporter of imported memory has unmapped it (opendoca).
 * - DOCA_ERROR_NOT_PERMITTED: the exporter has stopped or destroyed its memory map.
 * - DOCA_ERROR_CONNECTION_RESET: the process that has exported the memory has ended.
 * - DOCA_ERROR_OPERATING_SYSTEM: the kernel refuses access to imported memory (opendoca).
 * - DOCA_ERROR_NO_MEMORY: no memory to access imported memory (opendoca).
 * - DOCA_ERROR_INVALID_VALUE: a job before this one has made its source too long (opendoca).
 * - DOCA_ERROR_SHUTDOWN: flushed by doca_ctx_workq_rm() (opendoca).
 * A failed job does not harm the context; other jobs go on (opendoca).
 *
 * Outputs are written only on success.
 * "Threads: any" below means that any threads may call at the same time, "Threads: one" that calls on the
 * same object must not overlap.
 */

#ifndef DOCA_COMPRESS_H_
#define DOCA_COMPRESS_H_

#include <inttypes.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A compress context. Opaque. */
struct doca_compress;

/** Values of doca_job::type. */
enum doca_compress_job_types {
    DOCA_COMPRESS_DEFLATE_JOB = DOCA_ACTION_COMPRESS_FIRST + 1, /**< struct doca_compress_deflate_job */
    DOCA_DECOMPRESS_DEFLATE_JOB,                                /**< struct doca_compress_deflate_job */
    DOCA_DECOMPRESS_LZ4_JOB,                                    /**< struct doca_compress_lz4_job */
};

/** Any bytes to one complete DEFLATE stream, or one complete DEFLATE stream to its content. */
struct doca_compress_deflate_job {
    struct doca_job base;
    struct doca_buf *dst_buff;       /**< Where the result goes: has free space behind its data. */
    const struct doca_buf *src_buff; /**< What to compress or decompress: at least one byte. */
    /**
     * Checksums of the uncompressed side, which is the source of a compression and the result of a decompression: its
     * CRC-32 in the low 32 bits and its Adler-32 in the high 32 bits, both as zlib's functions return them. NULL: none
     * are wanted. Must remain valid until the job was retrieved.
     */
    uint64_t *output_chksum;
};

/** The blocks of an LZ4 frame to their content. */
struct doca_compress_lz4_job {
    struct doca_job base;
    struct doca_buf *dst_buff;       /**< Where the result goes: has free space behind its data. */
    const struct doca_buf *src_buff; /**< What to decompress: local memory; its first buffer has at least 4 bytes. */
    uint64_t *output_chksum;         /**< The same checksums as those of a DEFLATE decompression; may be NULL. */
};

/**
 * Create a compress context.
 *
 * State: any. Threads: any.
 *
 * @param [out] compress The new context; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: compress is NULL.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 * - DOCA_ERROR_INITIALIZATION: the context cannot be set up (opendoca: it always can).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_compress_create(struct doca_compress **compress);

/**
 * Destroy a compress context.
 *
 * State: stopped. Threads: one.
 *
 * @param [in] compress The context; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: compress is NULL.
 * - DOCA_ERROR_IN_USE: it is still started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_compress_destroy(struct doca_compress *compress);

/**
 * Whether a device can do a job type. opendoca: every software device can do all of them, unless its topology gives
 * it the engines of one card; RDMA devices can do none, unless the variable DOCA_SOFT_ENGINES of the environment is 1.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [in] job_type One of enum doca_compress_job_types.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL or the type is unknown.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot (opendoca: or this build has no library for the format).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_compress_job_get_supported(struct doca_devinfo *devinfo,
                                                                 enum doca_compress_job_types job_type);

/**
 * Most bytes of the source, and of the result, of a job on a device.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [in] job_type One of enum doca_compress_job_types.
 * @param [out] max_buffer_size Bytes; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL or the type is unknown.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do the job type.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_compress_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                enum doca_compress_job_types job_type,
                                                                uint64_t *max_buffer_size);

/**
 * Most buffers that the list of a source, and that of a destination, can have on a device; 1 means no lists.
 *
 * State: any. Threads: any.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [out] max_list_num_elem Number of buffers; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device can do no job of this library (opendoca).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_compress_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
                                                                         uint32_t *max_list_num_elem);

/**
 * The doca_ctx of a compress context, for doca_ctx_* and doca_job::ctx. Owned by it; always the same pointer.
 *
 * State: any. Threads: any.
 *
 * @param [in] compress The context.
 * @return The doca_ctx; NULL if compress is NULL.
 */
__DOCA_EXPERIMENTAL struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMPRESS_H_ */
