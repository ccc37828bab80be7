// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_compress.h
 * Compression and decompression of buffers: DEFLATE in both directions, LZ4 decompression.
 *
 * A compress object is a context (doca_compress_as_ctx()) with tasks of four kinds, and is used as doca_ctx.h
 * and doca_pe.h describe.
 *
 * - compress deflate: any bytes to one complete raw DEFLATE stream (RFC 1951).
 * - decompress deflate: one complete raw DEFLATE stream to its content.
 * - decompress LZ4 stream: the blocks of an LZ4 frame to their content.
 * - decompress LZ4 block: one LZ4 block, without its size, to its content.
 *
 * The DEFLATE streams have neither the zlib nor the gzip frame. opendoca: a stream to decompress ends with its
 * final block, and bytes behind it are ignored; a stream without a final block is corrupt.
 *
 * The source of an LZ4 stream is an LZ4 frame without its header (magic number and descriptor), end mark and
 * content checksum: blocks that each begin with their size in 4 bytes, little-endian, of which bit 31 marks a
 * block that is stored uncompressed. opendoca: an end mark (a size of 0) is accepted as the end of the source.
 * Dictionaries are not supported.
 *
 * Source and destination are buffers or lists of buffers. The data sections of the source's elements are one
 * sequence of bytes, cut anywhere. The result is put behind the data section of the destination, whose data length
 * grows by as much; a list is filled element by element, in the free space behind each element's data. Several
 * tasks may have the same source. opendoca: if source and destination overlap, the result is that of a source that
 * was copied before.
 *
 * The tasks of DEFLATE have a CRC-32 and an Adler-32, those of LZ4 a CRC-32 and an xxHash-32. All checksums are of
 * the uncompressed side: the source of a compression, the result of a decompression. They
 * are valid in and after the callback of a task that has succeeded, until it is submitted again or freed.
 *
 * opendoca: the device must have been added to the memory maps of source and destination. On the software device
 * both may also be memory that it has imported from another process (doca_mmap_create_from_export()). Elements that
 * are not adjacent in memory, and imported memory, pass through a buffer of the context.
 *
 * opendoca: libdeflate, liblz4 and libxxhash do the work on the CPU: up to 256 KiB within doca_task_submit(), more in a
 * thread of the library, which a running context has, so that a long task does not keep other contexts of the progress
 * engine waiting. Callbacks are called by doca_pe_progress() only. Tasks complete in the order of their submission, but
 * for those that are refused. doca_task_free() of a task that the thread has begun waits for its end, since the program
 * may release the buffers next.
 *
 * Devices: every software device supports all four tasks, with at most 128 MiB of source or result, unless `engines` of
 * its topology restricts it to what a card can do. RDMA devices support none, unless the variable DOCA_SOFT_ENGINES of
 * the environment is 1: then the CPU does the work in place of the card (opendoca). A library that was built without
 * one of the libraries named above does not support the tasks that need it.
 *
 * A task ends with
 * - DOCA_ERROR_INVALID_VALUE: a missing buffer, a source without data, too long a source or list, memory that the
 *   device does not know.
 * - DOCA_ERROR_NOT_PERMITTED: a destination that may not be written, a source that may not be read, imported memory
 *   on a device that is not a software device, memory whose export was revoked, or memory of a dmabuf, which the CPU
 *   cannot always access (opendoca): copy it by DMA first.
 * - DOCA_ERROR_CONNECTION_RESET: the process that has exported the memory has ended (opendoca).
 * - DOCA_ERROR_IO_FAILED: the source is not valid DEFLATE or LZ4 data, a block's checksum is wrong, the result does not
 *   fit into the free space of the destination, if there is any, or the exporter of imported memory has unmapped it
 *   (opendoca).
 * - DOCA_ERROR_OPERATING_SYSTEM: the kernel refuses access to imported memory (opendoca).
 * - DOCA_ERROR_NO_MEMORY: no memory to access imported memory (opendoca).
 * - DOCA_ERROR_SHUTDOWN: flushed, because the context is stopping (opendoca).
 *
 * The data length of the destination is then unchanged; the bytes of its free space are undefined. The context
 * continues to run, and the task can be submitted again (opendoca).
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: as doca_ctx.h says for contexts; capabilities of a device: any.
 */
#ifndef DOCA_COMPRESS_H_
#define DOCA_COMPRESS_H_

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

/** A compress object. */
struct doca_compress;

/** A task that compresses to DEFLATE. */
struct doca_compress_task_compress_deflate;

/** A task that decompresses DEFLATE. */
struct doca_compress_task_decompress_deflate;

/** A task that decompresses the blocks of an LZ4 frame. */
struct doca_compress_task_decompress_lz4_stream;

/** A task that decompresses one LZ4 block. */
struct doca_compress_task_decompress_lz4_block;

/**
 * Called when a task for DEFLATE compression has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_compress_task_compress_deflate_completion_cb_t)(struct doca_compress_task_compress_deflate *task,
                                                                    union doca_data task_user_data,
                                                                    union doca_data ctx_user_data);

/**
 * Called when a task for DEFLATE decompression has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_compress_task_decompress_deflate_completion_cb_t)(
    struct doca_compress_task_decompress_deflate *task, union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Called when a task for LZ4 stream decompression has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_compress_task_decompress_lz4_stream_completion_cb_t)(
    struct doca_compress_task_decompress_lz4_stream *task, union doca_data task_user_data,
    union doca_data ctx_user_data);

/**
 * Called when a task for LZ4 block decompression has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_compress_task_decompress_lz4_block_completion_cb_t)(
    struct doca_compress_task_decompress_lz4_block *task, union doca_data task_user_data,
    union doca_data ctx_user_data);

/**
 * Create a compress object. Its context is idle and connected to no progress engine.
 *
 * @param [in] dev The device; it must stay open until the object is destroyed.
 * @param [out] compress The object. Free it with doca_compress_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: the device supports none of the tasks.
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_create(struct doca_dev *dev, struct doca_compress **compress);

/**
 * Destroy a compress object and its context.
 *
 * State: context idle.
 *
 * @param [in] compress The object.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: compress is NULL.
 * - DOCA_ERROR_IN_USE: the context is not idle; nothing has changed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_destroy(struct doca_compress *compress);

/**
 * The context of a compress object. State: any.
 *
 * @param [in] compress The object.
 * @return The context, always the same one, which lives as long as the object; or NULL when compress is NULL.
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress);

/**
 * How many tasks of each kind an object can have at most. State: any.
 *
 * @param [in] compress The object.
 * @param [out] max_num_tasks The number of tasks.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_get_max_num_tasks(struct doca_compress *compress,
                                                                   uint32_t *max_num_tasks);

/**
 * Whether a device supports DEFLATE compression.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it does, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it does not.
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_task_compress_deflate_is_supported(const struct doca_devinfo *devinfo);

/**
 * How long the source, and how long the result, of one DEFLATE compression can be. On software devices 128 MiB
 * unless their topology restricts them.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buffer_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the task.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_compress_cap_task_compress_deflate_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size);

/**
 * How many buffers the lists of source and destination of one DEFLATE compression can each have.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buf_list_len The number; 1 when lists are not supported.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the task (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_list_len(
    const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Configure DEFLATE compression: the callbacks and the number of tasks. Needed before a task can be allocated; a second
 * call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] compress The object.
 * @param [in] task_completion_cb Called for a task that has succeeded.
 * @param [in] task_error_cb Called for a task that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; at most doca_compress_cap_get_max_num_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle (opendoca).
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the task (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_task_compress_deflate_set_conf(
    struct doca_compress *compress, doca_compress_task_compress_deflate_completion_cb_t task_completion_cb,
    doca_compress_task_compress_deflate_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Allocate a task for DEFLATE compression. The buffers are read when the task is submitted: their data may change until
 * then.
 *
 * State: context running.
 *
 * @param [in] compress The object.
 * @param [in] src_buff What is compressed.
 * @param [in] dst_buff Where the result goes.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running (opendoca).
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_task_compress_deflate_alloc_init(
    struct doca_compress *compress, const struct doca_buf *src_buff, struct doca_buf *dst_buff,
    union doca_data user_data, struct doca_compress_task_compress_deflate **task);

/**
 * The task as doca_pe.h and doca_graph.h use it. State: any.
 *
 * @param [in] task The task.
 * @return The same task, or NULL when task is NULL.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_compress_task_compress_deflate_as_task(struct doca_compress_task_compress_deflate *task);

/**
 * Set the source. Does nothing if task is NULL.
 *
 * State: task not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buff What is compressed.
 */
DOCA_EXPERIMENTAL void doca_compress_task_compress_deflate_set_src(struct doca_compress_task_compress_deflate *task,
                                                                   const struct doca_buf *src_buff);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer that was set last, or NULL when task is NULL.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_compress_task_compress_deflate_get_src(const struct doca_compress_task_compress_deflate *task);

/**
 * Set the destination. Does nothing if task is NULL.
 *
 * State: task not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buff Where the result goes.
 */
DOCA_EXPERIMENTAL void doca_compress_task_compress_deflate_set_dst(struct doca_compress_task_compress_deflate *task,
                                                                   struct doca_buf *dst_buff);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer that was set last, or NULL when task is NULL.
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_compress_task_compress_deflate_get_dst(const struct doca_compress_task_compress_deflate *task);

/**
 * The CRC-32 of the source, as crc32() of zlib computes it.
 *
 * State: task has succeeded.
 *
 * @param [in] task The task.
 * @return The checksum, in the byte order of the CPU; 0 when task is NULL.
 */
DOCA_EXPERIMENTAL uint32_t
doca_compress_task_compress_deflate_get_crc_cs(const struct doca_compress_task_compress_deflate *task);

/**
 * The Adler-32 of the source, as adler32() of zlib computes it.
 *
 * State: task has succeeded.
 *
 * @param [in] task The task.
 * @return The checksum, in the byte order of the CPU; 0 when task is NULL.
 */
DOCA_EXPERIMENTAL uint32_t
doca_compress_task_compress_deflate_get_adler_cs(const struct doca_compress_task_compress_deflate *task);

/**
 * Whether a device supports DEFLATE decompression.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it does, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it does not.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_compress_cap_task_decompress_deflate_is_supported(const struct doca_devinfo *devinfo);

/**
 * How long the source, and how long the result, of one DEFLATE decompression can be. On software devices 128 MiB
 * unless their topology restricts them.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buffer_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the task.
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_size(
    const struct doca_devinfo *devinfo, uint64_t *max_buffer_size);

/**
 * How many buffers the lists of source and destination of one DEFLATE decompression can each have.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buf_list_len The number; 1 when lists are not supported.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the task (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_list_len(
    const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Configure DEFLATE decompression: the callbacks and the number of tasks. Needed before a task can be allocated; a
 * second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] compress The object.
 * @param [in] task_completion_cb Called for a task that has succeeded.
 * @param [in] task_error_cb Called for a task that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; at most doca_compress_cap_get_max_num_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle (opendoca).
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the task (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_task_decompress_deflate_set_conf(
    struct doca_compress *compress, doca_compress_task_decompress_deflate_completion_cb_t task_completion_cb,
    doca_compress_task_decompress_deflate_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Allocate a task for DEFLATE decompression. The buffers are read when the task is submitted: their data may change
 * until then.
 *
 * State: context running.
 *
 * @param [in] compress The object.
 * @param [in] src_buff A raw DEFLATE stream.
 * @param [in] dst_buff Where the result goes.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running (opendoca).
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_task_decompress_deflate_alloc_init(
    struct doca_compress *compress, const struct doca_buf *src_buff, struct doca_buf *dst_buff,
    union doca_data user_data, struct doca_compress_task_decompress_deflate **task);

/**
 * The task as doca_pe.h and doca_graph.h use it. State: any.
 *
 * @param [in] task The task.
 * @return The same task, or NULL when task is NULL.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_compress_task_decompress_deflate_as_task(struct doca_compress_task_decompress_deflate *task);

/**
 * Set the source. Does nothing if task is NULL.
 *
 * State: task not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buff A raw DEFLATE stream.
 */
DOCA_EXPERIMENTAL void doca_compress_task_decompress_deflate_set_src(struct doca_compress_task_decompress_deflate *task,
                                                                     const struct doca_buf *src_buff);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer that was set last, or NULL when task is NULL.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_compress_task_decompress_deflate_get_src(const struct doca_compress_task_decompress_deflate *task);

/**
 * Set the destination. Does nothing if task is NULL.
 *
 * State: task not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buff Where the result goes.
 */
DOCA_EXPERIMENTAL void doca_compress_task_decompress_deflate_set_dst(struct doca_compress_task_decompress_deflate *task,
                                                                     struct doca_buf *dst_buff);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer that was set last, or NULL when task is NULL.
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_compress_task_decompress_deflate_get_dst(const struct doca_compress_task_decompress_deflate *task);

/**
 * The CRC-32 of the result, as crc32() of zlib computes it.
 *
 * State: task has succeeded.
 *
 * @param [in] task The task.
 * @return The checksum, in the byte order of the CPU; 0 when task is NULL.
 */
DOCA_EXPERIMENTAL uint32_t
doca_compress_task_decompress_deflate_get_crc_cs(const struct doca_compress_task_decompress_deflate *task);

/**
 * The Adler-32 of the result, as adler32() of zlib computes it.
 *
 * State: task has succeeded.
 *
 * @param [in] task The task.
 * @return The checksum, in the byte order of the CPU; 0 when task is NULL.
 */
DOCA_EXPERIMENTAL uint32_t
doca_compress_task_decompress_deflate_get_adler_cs(const struct doca_compress_task_decompress_deflate *task);

/**
 * Whether a device supports LZ4 stream decompression.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it does, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it does not.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_compress_cap_task_decompress_lz4_stream_is_supported(const struct doca_devinfo *devinfo);

/**
 * How long the source, and how long the result, of one LZ4 stream decompression can be. On software devices 128 MiB
 * unless their topology restricts them.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buffer_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the task.
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size(
    const struct doca_devinfo *devinfo, uint64_t *max_buffer_size);

/**
 * How many buffers the lists of source and destination of one LZ4 stream decompression can each have.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buf_list_len The number; 1 when lists are not supported.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the task (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len(
    const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Configure LZ4 stream decompression: the callbacks and the number of tasks. Needed before a task can be allocated; a
 * second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] compress The object.
 * @param [in] task_completion_cb Called for a task that has succeeded.
 * @param [in] task_error_cb Called for a task that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; at most doca_compress_cap_get_max_num_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle (opendoca).
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the task (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_task_decompress_lz4_stream_set_conf(
    struct doca_compress *compress, doca_compress_task_decompress_lz4_stream_completion_cb_t task_completion_cb,
    doca_compress_task_decompress_lz4_stream_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Allocate a task for LZ4 stream decompression. The buffers are read when the task is submitted: their data may change
 * until then.
 *
 * State: context running.
 *
 * @param [in] compress The object.
 * @param [in] has_block_checksum 1 if each block is followed by the xxHash-32 of its compressed data, as bit 4 of
 * the frame's FLG byte says; 0 if not.
 * @param [in] are_blocks_independent 1 if no block refers to the content of earlier blocks, as bit 5 of the frame's
 * FLG byte says; 0 if blocks may refer to the last 64 KiB before them.
 * @param [in] src_buff The blocks of an LZ4 frame.
 * @param [in] dst_buff Where the result goes.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running (opendoca).
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_task_decompress_lz4_stream_alloc_init(
    struct doca_compress *compress, uint8_t has_block_checksum, uint8_t are_blocks_independent,
    const struct doca_buf *src_buff, struct doca_buf *dst_buff, union doca_data user_data,
    struct doca_compress_task_decompress_lz4_stream **task);

/**
 * The task as doca_pe.h and doca_graph.h use it. State: any.
 *
 * @param [in] task The task.
 * @return The same task, or NULL when task is NULL.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_compress_task_decompress_lz4_stream_as_task(struct doca_compress_task_decompress_lz4_stream *task);

/**
 * Set whether each block is followed by a checksum. Does nothing if task is NULL.
 *
 * State: task not submitted.
 *
 * @param [in] task The task.
 * @param [in] has_block_checksum 1 or 0; any other number counts as 1 (opendoca).
 */
DOCA_EXPERIMENTAL void
doca_compress_task_decompress_lz4_stream_set_has_block_checksum(struct doca_compress_task_decompress_lz4_stream *task,
                                                                uint8_t has_block_checksum);

/**
 * Whether each block is followed by a checksum. State: any.
 *
 * @param [in] task The task.
 * @return 1 or 0; 0 when task is NULL.
 */
DOCA_EXPERIMENTAL uint8_t doca_compress_task_decompress_lz4_stream_get_has_block_checksum(
    const struct doca_compress_task_decompress_lz4_stream *task);

/**
 * Set whether no block refers to the content of earlier blocks. Does nothing if task is NULL.
 *
 * State: task not submitted.
 *
 * @param [in] task The task.
 * @param [in] are_blocks_independent 1 or 0; any other number counts as 1 (opendoca).
 */
DOCA_EXPERIMENTAL void doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(
    struct doca_compress_task_decompress_lz4_stream *task, uint8_t are_blocks_independent);

/**
 * Whether no block refers to the content of earlier blocks. State: any.
 *
 * @param [in] task The task.
 * @return 1 or 0; 0 when task is NULL.
 */
DOCA_EXPERIMENTAL uint8_t doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(
    const struct doca_compress_task_decompress_lz4_stream *task);

/**
 * Set the source. Does nothing if task is NULL.
 *
 * State: task not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buff The blocks of an LZ4 frame.
 */
DOCA_EXPERIMENTAL void
doca_compress_task_decompress_lz4_stream_set_src(struct doca_compress_task_decompress_lz4_stream *task,
                                                 const struct doca_buf *src_buff);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer that was set last, or NULL when task is NULL.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_compress_task_decompress_lz4_stream_get_src(const struct doca_compress_task_decompress_lz4_stream *task);

/**
 * Set the destination. Does nothing if task is NULL.
 *
 * State: task not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buff Where the result goes.
 */
DOCA_EXPERIMENTAL void
doca_compress_task_decompress_lz4_stream_set_dst(struct doca_compress_task_decompress_lz4_stream *task,
                                                 struct doca_buf *dst_buff);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer that was set last, or NULL when task is NULL.
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_compress_task_decompress_lz4_stream_get_dst(const struct doca_compress_task_decompress_lz4_stream *task);

/**
 * The CRC-32 of the result, as crc32() of zlib computes it.
 *
 * State: task has succeeded.
 *
 * @param [in] task The task.
 * @return The checksum, in the byte order of the CPU; 0 when task is NULL.
 */
DOCA_EXPERIMENTAL uint32_t
doca_compress_task_decompress_lz4_stream_get_crc_cs(const struct doca_compress_task_decompress_lz4_stream *task);

/**
 * The xxHash-32 of the result, with seed 0, and with its bytes in reverse order: equal to htobe32() of the 4 bytes of
 * an LZ4 frame's content checksum, read on a little-endian CPU.
 *
 * State: task has succeeded.
 *
 * @param [in] task The task.
 * @return The checksum with its bytes reversed; 0 when task is NULL.
 */
DOCA_EXPERIMENTAL uint32_t
doca_compress_task_decompress_lz4_stream_get_xxh_cs(const struct doca_compress_task_decompress_lz4_stream *task);

/**
 * Whether a device supports LZ4 block decompression.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it does, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it does not.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_compress_cap_task_decompress_lz4_block_is_supported(const struct doca_devinfo *devinfo);

/**
 * How long the source, and how long the result, of one LZ4 block decompression can be. On software devices 128 MiB
 * unless their topology restricts them.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buffer_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the task.
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_size(
    const struct doca_devinfo *devinfo, uint64_t *max_buffer_size);

/**
 * How many buffers the lists of source and destination of one LZ4 block decompression can each have.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buf_list_len The number; 1 when lists are not supported.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the task (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len(
    const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/**
 * Configure LZ4 block decompression: the callbacks and the number of tasks. Needed before a task can be allocated; a
 * second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] compress The object.
 * @param [in] task_completion_cb Called for a task that has succeeded.
 * @param [in] task_error_cb Called for a task that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; at most doca_compress_cap_get_max_num_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle (opendoca).
 * - DOCA_ERROR_NOT_SUPPORTED: the device does not support the task (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_task_decompress_lz4_block_set_conf(
    struct doca_compress *compress, doca_compress_task_decompress_lz4_block_completion_cb_t task_completion_cb,
    doca_compress_task_decompress_lz4_block_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Allocate a task for LZ4 block decompression. The buffers are read when the task is submitted: their data may change
 * until then.
 *
 * State: context running.
 *
 * @param [in] compress The object.
 * @param [in] src_buff An LZ4 block.
 * @param [in] dst_buff Where the result goes.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running (opendoca).
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_compress_task_decompress_lz4_block_alloc_init(
    struct doca_compress *compress, const struct doca_buf *src_buff, struct doca_buf *dst_buff,
    union doca_data user_data, struct doca_compress_task_decompress_lz4_block **task);

/**
 * The task as doca_pe.h and doca_graph.h use it. State: any.
 *
 * @param [in] task The task.
 * @return The same task, or NULL when task is NULL.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_compress_task_decompress_lz4_block_as_task(struct doca_compress_task_decompress_lz4_block *task);

/**
 * Set the source. Does nothing if task is NULL.
 *
 * State: task not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buff An LZ4 block.
 */
DOCA_EXPERIMENTAL void
doca_compress_task_decompress_lz4_block_set_src(struct doca_compress_task_decompress_lz4_block *task,
                                                const struct doca_buf *src_buff);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer that was set last, or NULL when task is NULL.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_compress_task_decompress_lz4_block_get_src(const struct doca_compress_task_decompress_lz4_block *task);

/**
 * Set the destination. Does nothing if task is NULL.
 *
 * State: task not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buff Where the result goes.
 */
DOCA_EXPERIMENTAL void
doca_compress_task_decompress_lz4_block_set_dst(struct doca_compress_task_decompress_lz4_block *task,
                                                struct doca_buf *dst_buff);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer that was set last, or NULL when task is NULL.
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_compress_task_decompress_lz4_block_get_dst(const struct doca_compress_task_decompress_lz4_block *task);

/**
 * The CRC-32 of the result, as crc32() of zlib computes it.
 *
 * State: task has succeeded.
 *
 * @param [in] task The task.
 * @return The checksum, in the byte order of the CPU; 0 when task is NULL.
 */
DOCA_EXPERIMENTAL uint32_t
doca_compress_task_decompress_lz4_block_get_crc_cs(const struct doca_compress_task_decompress_lz4_block *task);

/**
 * The xxHash-32 of the result, with seed 0, and with its bytes in reverse order: equal to htobe32() of the 4 bytes of
 * an LZ4 frame's content checksum, read on a little-endian CPU.
 *
 * State: task has succeeded.
 *
 * @param [in] task The task.
 * @return The checksum with its bytes reversed; 0 when task is NULL.
 */
DOCA_EXPERIMENTAL uint32_t
doca_compress_task_decompress_lz4_block_get_xxh_cs(const struct doca_compress_task_decompress_lz4_block *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMPRESS_H_ */
