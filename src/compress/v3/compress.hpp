// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_compress.h>

#include "../../core/v3/ctx.hpp"
#include "../compress_queue.hpp"

namespace opendoca::v3 {

/// What the tasks of all types have in common. The program sets the request by functions.
struct CompressTask : doca_task {
    CompressRequest request;
    Checksums checksums; ///< of the last submit that has succeeded
};

} // namespace opendoca::v3

// The types of tasks. Owned by their pools.
struct doca_compress_task_compress_deflate : opendoca::v3::CompressTask {
    static constexpr opendoca::CompressKind kind = opendoca::CompressKind::compress_deflate;
};
struct doca_compress_task_decompress_deflate : opendoca::v3::CompressTask {
    static constexpr opendoca::CompressKind kind = opendoca::CompressKind::decompress_deflate;
};
struct doca_compress_task_decompress_lz4_stream : opendoca::v3::CompressTask {
    static constexpr opendoca::CompressKind kind = opendoca::CompressKind::decompress_lz4_stream;
};
struct doca_compress_task_decompress_lz4_block : opendoca::v3::CompressTask {
    static constexpr opendoca::CompressKind kind = opendoca::CompressKind::decompress_lz4_block;
};

/// The compress library's object of 3.0: a context on one device. Owned by the program; used by the thread of its
/// engine. Bad data fails a task and has no effect on the context.
struct doca_compress final : doca_ctx {
    explicit doca_compress(doca_dev &dev) : doca_ctx(&dev) {}
    ~doca_compress() override = default;

    /// Returns whether the device supports tasks of @p kind.
    [[nodiscard]] bool can(opendoca::CompressKind kind) const noexcept
    {
        return can_compress(dev()->function().can, kind);
    }

    // One pool for each type of tasks, from start on.
    opendoca::v3::TaskType<doca_compress_task_compress_deflate, doca_compress_task_compress_deflate_completion_cb_t>
        compress_deflate{*this};
    opendoca::v3::TaskType<doca_compress_task_decompress_deflate, doca_compress_task_decompress_deflate_completion_cb_t>
        decompress_deflate{*this};
    opendoca::v3::TaskType<doca_compress_task_decompress_lz4_stream,
                           doca_compress_task_decompress_lz4_stream_completion_cb_t>
        decompress_lz4_stream{*this};
    opendoca::v3::TaskType<doca_compress_task_decompress_lz4_block,
                           doca_compress_task_decompress_lz4_block_completion_cb_t>
        decompress_lz4_block{*this};

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override { queue_.reset(); }
    [[nodiscard]] bool on_progress() noexcept override { return queue_->take_progress(); }

private:
    std::unique_ptr<opendoca::CompressQueue> queue_; ///< exists from start until the context is idle
};
