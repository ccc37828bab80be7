// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The context of DOCA 3.0, its capabilities and the configuration of its tasks. The functions of tasks are in
// compress_tasks_api.cpp.
#include "compress.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "../../core/device/device.hpp"
#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "compress_tasks.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMPRESS);

using opendoca::CompressKind;
using opendoca::v3::call;

namespace {

constexpr std::uint32_t max_num_tasks = 65536; // of one type in one context

constexpr CompressKind kinds[] = {CompressKind::compress_deflate, CompressKind::decompress_deflate,
                                  CompressKind::decompress_lz4_stream, CompressKind::decompress_lz4_block};

/// Answers a capability query by @p body. Returns NOT_SUPPORTED if the device does not support tasks of @p kind.
template <typename Body>
doca_error_t query(const doca_devinfo *devinfo, const void *output, CompressKind kind, Body &&body) noexcept
{
    return call({devinfo, output}, [&] {
        const opendoca::Capabilities &can = devinfo->function->can;
        if (!can_compress(can, kind))
            return DOCA_ERROR_NOT_SUPPORTED;
        body(can);
        return DOCA_SUCCESS;
    });
}

doca_error_t is_supported(const doca_devinfo *devinfo, CompressKind kind) noexcept
{
    return query(devinfo, devinfo, kind, [](const opendoca::Capabilities &) {});
}

doca_error_t get_max_buf_size(const doca_devinfo *devinfo, CompressKind kind, std::uint64_t *size) noexcept
{
    return query(devinfo, size, kind, [&](const opendoca::Capabilities &can) { *size = can.compress_max_size; });
}

doca_error_t get_max_buf_list_len(const doca_devinfo *devinfo, CompressKind kind, std::uint32_t *length) noexcept
{
    return query(devinfo, length, kind,
                 [&](const opendoca::Capabilities &can) { *length = can.compress_max_list_elements; });
}

/// Implements the set_conf functions.
template <typename Task, typename Callback>
doca_error_t configure(doca_compress &compress, opendoca::v3::TaskType<Task, Callback> &type, Callback succeeded,
                       Callback failed, std::uint32_t num_tasks) noexcept
{
    if (!compress.can(Task::kind)) {
        LOG_ERR("the device does not support this kind of task");
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    return type.configure(succeeded, failed, num_tasks, max_num_tasks, DOCA_ERROR_BAD_STATE);
}

/// Creates the pool of a type of tasks, if the type is configured.
template <typename Task, typename Callback>
void create_pool(doca_compress &compress, opendoca::v3::TaskType<Task, Callback> &type, opendoca::CompressQueue &queue)
{
    if (!type.is_configured())
        return;
    queue.prepare(Task::kind);
    type.set_pool(std::make_unique<opendoca::v3::CompressTasks<Task>>(compress, type.conf(), queue));
}

} // namespace

doca_error_t doca_compress::on_start()
{
    const opendoca::Capabilities &can = dev()->function().can;
    queue_ = std::make_unique<opendoca::CompressQueue>(
        completions(), dev()->device(),
        opendoca::CompressQueue::Limits{can.compress_max_list_elements, can.compress_max_size});
    if (const doca_error_t status = queue_->open(dev()->device()); status != DOCA_SUCCESS)
        return status;
    create_pool(*this, compress_deflate, *queue_);
    create_pool(*this, decompress_deflate, *queue_);
    create_pool(*this, decompress_lz4_stream, *queue_);
    create_pool(*this, decompress_lz4_block, *queue_);
    request_progress_while_own(queue_->is_waiting());
    return DOCA_SUCCESS;
}

doca_error_t doca_compress::on_stop() noexcept
{
    queue_->flush();
    return DOCA_SUCCESS;
}

doca_error_t doca_compress_create(struct doca_dev *dev, struct doca_compress **compress)
{
    return call({dev, compress}, [&] {
        if (std::ranges::none_of(kinds, [&](CompressKind kind) { return can_compress(dev->function().can, kind); })) {
            LOG_ERR("device %s supports no compression", dev->description().c_str());
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        *compress = new doca_compress(*dev);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_compress_destroy(struct doca_compress *compress)
{
    return call({compress}, [&] {
        const doca_error_t status = compress->check_idle(DOCA_ERROR_IN_USE);
        if (status == DOCA_SUCCESS)
            delete compress;
        return status;
    });
}

struct doca_ctx *doca_compress_as_ctx(struct doca_compress *compress)
{
    return compress;
}

doca_error_t doca_compress_cap_get_max_num_tasks(struct doca_compress *compress, uint32_t *max_num)
{
    return call({compress, max_num}, [&] { *max_num = max_num_tasks; });
}

doca_error_t doca_compress_cap_task_compress_deflate_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, CompressKind::compress_deflate);
}

doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                      uint64_t *max_buffer_size)
{
    return get_max_buf_size(devinfo, CompressKind::compress_deflate, max_buffer_size);
}

doca_error_t doca_compress_cap_task_compress_deflate_get_max_buf_list_len(const struct doca_devinfo *devinfo,
                                                                          uint32_t *max_buf_list_len)
{
    return get_max_buf_list_len(devinfo, CompressKind::compress_deflate, max_buf_list_len);
}

doca_error_t doca_compress_task_compress_deflate_set_conf(
    struct doca_compress *compress, doca_compress_task_compress_deflate_completion_cb_t task_completion_cb,
    doca_compress_task_compress_deflate_completion_cb_t task_error_cb, uint32_t num_tasks)
{
    return call({compress}, [&] {
        return configure(*compress, compress->compress_deflate, task_completion_cb, task_error_cb, num_tasks);
    });
}

doca_error_t doca_compress_cap_task_decompress_deflate_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, CompressKind::decompress_deflate);
}

doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                        uint64_t *max_buffer_size)
{
    return get_max_buf_size(devinfo, CompressKind::decompress_deflate, max_buffer_size);
}

doca_error_t doca_compress_cap_task_decompress_deflate_get_max_buf_list_len(const struct doca_devinfo *devinfo,
                                                                            uint32_t *max_buf_list_len)
{
    return get_max_buf_list_len(devinfo, CompressKind::decompress_deflate, max_buf_list_len);
}

doca_error_t doca_compress_task_decompress_deflate_set_conf(
    struct doca_compress *compress, doca_compress_task_decompress_deflate_completion_cb_t task_completion_cb,
    doca_compress_task_decompress_deflate_completion_cb_t task_error_cb, uint32_t num_tasks)
{
    return call({compress}, [&] {
        return configure(*compress, compress->decompress_deflate, task_completion_cb, task_error_cb, num_tasks);
    });
}

doca_error_t doca_compress_cap_task_decompress_lz4_stream_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, CompressKind::decompress_lz4_stream);
}

doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                           uint64_t *max_buffer_size)
{
    return get_max_buf_size(devinfo, CompressKind::decompress_lz4_stream, max_buffer_size);
}

doca_error_t doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len(const struct doca_devinfo *devinfo,
                                                                               uint32_t *max_buf_list_len)
{
    return get_max_buf_list_len(devinfo, CompressKind::decompress_lz4_stream, max_buf_list_len);
}

doca_error_t doca_compress_task_decompress_lz4_stream_set_conf(
    struct doca_compress *compress, doca_compress_task_decompress_lz4_stream_completion_cb_t task_completion_cb,
    doca_compress_task_decompress_lz4_stream_completion_cb_t task_error_cb, uint32_t num_tasks)
{
    return call({compress}, [&] {
        return configure(*compress, compress->decompress_lz4_stream, task_completion_cb, task_error_cb, num_tasks);
    });
}

doca_error_t doca_compress_cap_task_decompress_lz4_block_is_supported(const struct doca_devinfo *devinfo)
{
    return is_supported(devinfo, CompressKind::decompress_lz4_block);
}

doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                          uint64_t *max_buffer_size)
{
    return get_max_buf_size(devinfo, CompressKind::decompress_lz4_block, max_buffer_size);
}

doca_error_t doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len(const struct doca_devinfo *devinfo,
                                                                              uint32_t *max_buf_list_len)
{
    return get_max_buf_list_len(devinfo, CompressKind::decompress_lz4_block, max_buf_list_len);
}

doca_error_t doca_compress_task_decompress_lz4_block_set_conf(
    struct doca_compress *compress, doca_compress_task_decompress_lz4_block_completion_cb_t task_completion_cb,
    doca_compress_task_decompress_lz4_block_completion_cb_t task_error_cb, uint32_t num_tasks)
{
    return call({compress}, [&] {
        return configure(*compress, compress->decompress_lz4_block, task_completion_cb, task_error_cb, num_tasks);
    });
}
