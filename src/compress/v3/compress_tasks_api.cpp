// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of compress tasks. A task may be changed only while the program owns it: between its allocation or
// completion and its submit.
#include <cstdint>

#include "../../core/v3/call.hpp"
#include "compress.hpp"

using opendoca::apply_to;
using opendoca::read_from;
using opendoca::v3::call;
using opendoca::v3::CompressTask;

namespace {

/// Takes a task from its pool. The buffers are checked when the task is submitted.
template <typename Task, typename Callback>
doca_error_t alloc(opendoca::v3::TaskType<Task, Callback> &type, opendoca::Lz4StreamFlags lz4, const doca_buf *src,
                   doca_buf *dst, doca_data user_data, Task *&task) noexcept
{
    Task *taken = nullptr;
    const doca_error_t status = type.alloc(user_data, taken);
    if (status == DOCA_SUCCESS) {
        taken->request = {Task::kind, lz4, opendoca::ChecksumSet::of_format, src, dst};
        taken->checksums = {};
        task = taken;
    }
    return status;
}

void set_src(CompressTask *task, const doca_buf *src, const char *function = __builtin_FUNCTION()) noexcept
{
    apply_to(
        task, [&] { task->request.source = src; }, function);
}

const doca_buf *get_src(const CompressTask *task, const char *function = __builtin_FUNCTION()) noexcept
{
    return read_from(
        task, [&] { return task->request.source; }, function);
}

void set_dst(CompressTask *task, doca_buf *dst, const char *function = __builtin_FUNCTION()) noexcept
{
    apply_to(
        task, [&] { task->request.destination = dst; }, function);
}

doca_buf *get_dst(const CompressTask *task, const char *function = __builtin_FUNCTION()) noexcept
{
    return read_from(
        task, [&] { return task->request.destination; }, function);
}

std::uint32_t get_crc(const CompressTask *task, const char *function = __builtin_FUNCTION()) noexcept
{
    return read_from(
        task, [&] { return task->checksums.crc32; }, function);
}

std::uint32_t get_adler(const CompressTask *task, const char *function = __builtin_FUNCTION()) noexcept
{
    return read_from(
        task, [&] { return task->checksums.adler32; }, function);
}

/// Cards return the checksum with its bytes reversed: programs compare it with htobe32() of a frame's checksum.
std::uint32_t get_xxh(const CompressTask *task, const char *function = __builtin_FUNCTION()) noexcept
{
    return read_from(
        task, [&] { return __builtin_bswap32(task->checksums.xxhash32); }, function);
}

} // namespace

doca_error_t doca_compress_task_compress_deflate_alloc_init(struct doca_compress *compress,
                                                            const struct doca_buf *src_buff, struct doca_buf *dst_buff,
                                                            union doca_data user_data,
                                                            struct doca_compress_task_compress_deflate **task)
{
    return call({compress, src_buff, dst_buff, task},
                [&] { return alloc(compress->compress_deflate, {}, src_buff, dst_buff, user_data, *task); });
}

struct doca_task *doca_compress_task_compress_deflate_as_task(struct doca_compress_task_compress_deflate *task)
{
    return task;
}

void doca_compress_task_compress_deflate_set_src(struct doca_compress_task_compress_deflate *task,
                                                 const struct doca_buf *src_buff)
{
    set_src(task, src_buff);
}

const struct doca_buf *
doca_compress_task_compress_deflate_get_src(const struct doca_compress_task_compress_deflate *task)
{
    return get_src(task);
}

void doca_compress_task_compress_deflate_set_dst(struct doca_compress_task_compress_deflate *task,
                                                 struct doca_buf *dst_buff)
{
    set_dst(task, dst_buff);
}

struct doca_buf *doca_compress_task_compress_deflate_get_dst(const struct doca_compress_task_compress_deflate *task)
{
    return get_dst(task);
}

uint32_t doca_compress_task_compress_deflate_get_crc_cs(const struct doca_compress_task_compress_deflate *task)
{
    return get_crc(task);
}

uint32_t doca_compress_task_compress_deflate_get_adler_cs(const struct doca_compress_task_compress_deflate *task)
{
    return get_adler(task);
}

doca_error_t doca_compress_task_decompress_deflate_alloc_init(struct doca_compress *compress,
                                                              const struct doca_buf *src_buff,
                                                              struct doca_buf *dst_buff, union doca_data user_data,
                                                              struct doca_compress_task_decompress_deflate **task)
{
    return call({compress, src_buff, dst_buff, task},
                [&] { return alloc(compress->decompress_deflate, {}, src_buff, dst_buff, user_data, *task); });
}

struct doca_task *doca_compress_task_decompress_deflate_as_task(struct doca_compress_task_decompress_deflate *task)
{
    return task;
}

void doca_compress_task_decompress_deflate_set_src(struct doca_compress_task_decompress_deflate *task,
                                                   const struct doca_buf *src_buff)
{
    set_src(task, src_buff);
}

const struct doca_buf *
doca_compress_task_decompress_deflate_get_src(const struct doca_compress_task_decompress_deflate *task)
{
    return get_src(task);
}

void doca_compress_task_decompress_deflate_set_dst(struct doca_compress_task_decompress_deflate *task,
                                                   struct doca_buf *dst_buff)
{
    set_dst(task, dst_buff);
}

struct doca_buf *doca_compress_task_decompress_deflate_get_dst(const struct doca_compress_task_decompress_deflate *task)
{
    return get_dst(task);
}

uint32_t doca_compress_task_decompress_deflate_get_crc_cs(const struct doca_compress_task_decompress_deflate *task)
{
    return get_crc(task);
}

uint32_t doca_compress_task_decompress_deflate_get_adler_cs(const struct doca_compress_task_decompress_deflate *task)
{
    return get_adler(task);
}

doca_error_t doca_compress_task_decompress_lz4_stream_alloc_init(struct doca_compress *compress,
                                                                 uint8_t has_block_checksum,
                                                                 uint8_t are_blocks_independent,
                                                                 const struct doca_buf *src_buff,
                                                                 struct doca_buf *dst_buff, union doca_data user_data,
                                                                 struct doca_compress_task_decompress_lz4_stream **task)
{
    return call({compress, src_buff, dst_buff, task}, [&] {
        return alloc(compress->decompress_lz4_stream, {has_block_checksum != 0, are_blocks_independent != 0}, src_buff,
                     dst_buff, user_data, *task);
    });
}

struct doca_task *
doca_compress_task_decompress_lz4_stream_as_task(struct doca_compress_task_decompress_lz4_stream *task)
{
    return task;
}

void doca_compress_task_decompress_lz4_stream_set_has_block_checksum(
    struct doca_compress_task_decompress_lz4_stream *task, uint8_t has_block_checksum)
{
    apply_to(task, [&] { task->request.lz4.has_block_checksum = has_block_checksum != 0; });
}

uint8_t doca_compress_task_decompress_lz4_stream_get_has_block_checksum(
    const struct doca_compress_task_decompress_lz4_stream *task)
{
    return read_from(task, [&] { return static_cast<uint8_t>(task->request.lz4.has_block_checksum); });
}

void doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(
    struct doca_compress_task_decompress_lz4_stream *task, uint8_t are_blocks_independent)
{
    apply_to(task, [&] { task->request.lz4.are_blocks_independent = are_blocks_independent != 0; });
}

uint8_t doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(
    const struct doca_compress_task_decompress_lz4_stream *task)
{
    return read_from(task, [&] { return static_cast<uint8_t>(task->request.lz4.are_blocks_independent); });
}

void doca_compress_task_decompress_lz4_stream_set_src(struct doca_compress_task_decompress_lz4_stream *task,
                                                      const struct doca_buf *src_buff)
{
    set_src(task, src_buff);
}

const struct doca_buf *
doca_compress_task_decompress_lz4_stream_get_src(const struct doca_compress_task_decompress_lz4_stream *task)
{
    return get_src(task);
}

void doca_compress_task_decompress_lz4_stream_set_dst(struct doca_compress_task_decompress_lz4_stream *task,
                                                      struct doca_buf *dst_buff)
{
    set_dst(task, dst_buff);
}

struct doca_buf *
doca_compress_task_decompress_lz4_stream_get_dst(const struct doca_compress_task_decompress_lz4_stream *task)
{
    return get_dst(task);
}

uint32_t
doca_compress_task_decompress_lz4_stream_get_crc_cs(const struct doca_compress_task_decompress_lz4_stream *task)
{
    return get_crc(task);
}

uint32_t
doca_compress_task_decompress_lz4_stream_get_xxh_cs(const struct doca_compress_task_decompress_lz4_stream *task)
{
    return get_xxh(task);
}

doca_error_t doca_compress_task_decompress_lz4_block_alloc_init(struct doca_compress *compress,
                                                                const struct doca_buf *src_buff,
                                                                struct doca_buf *dst_buff, union doca_data user_data,
                                                                struct doca_compress_task_decompress_lz4_block **task)
{
    return call({compress, src_buff, dst_buff, task},
                [&] { return alloc(compress->decompress_lz4_block, {}, src_buff, dst_buff, user_data, *task); });
}

struct doca_task *doca_compress_task_decompress_lz4_block_as_task(struct doca_compress_task_decompress_lz4_block *task)
{
    return task;
}

void doca_compress_task_decompress_lz4_block_set_src(struct doca_compress_task_decompress_lz4_block *task,
                                                     const struct doca_buf *src_buff)
{
    set_src(task, src_buff);
}

const struct doca_buf *
doca_compress_task_decompress_lz4_block_get_src(const struct doca_compress_task_decompress_lz4_block *task)
{
    return get_src(task);
}

void doca_compress_task_decompress_lz4_block_set_dst(struct doca_compress_task_decompress_lz4_block *task,
                                                     struct doca_buf *dst_buff)
{
    set_dst(task, dst_buff);
}

struct doca_buf *
doca_compress_task_decompress_lz4_block_get_dst(const struct doca_compress_task_decompress_lz4_block *task)
{
    return get_dst(task);
}

uint32_t doca_compress_task_decompress_lz4_block_get_crc_cs(const struct doca_compress_task_decompress_lz4_block *task)
{
    return get_crc(task);
}

uint32_t doca_compress_task_decompress_lz4_block_get_xxh_cs(const struct doca_compress_task_decompress_lz4_block *task)
{
    return get_xxh(task);
}
