// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A compress context for tests, with one function for a task of each type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doca_compress.h>

#include "../compress_data.hpp"
#include "objects.hpp"

namespace doca_test {

using CompressHandle = Handle<doca_compress, doca_compress_destroy>;
enum class Kind { compress, decompress, lz4_stream, lz4_block };

inline constexpr Kind all_kinds[] = {Kind::compress, Kind::decompress, Kind::lz4_stream, Kind::lz4_block};

inline bool supports(const doca_devinfo *info, Kind kind)
{
    const auto query = kind == Kind::compress     ? doca_compress_cap_task_compress_deflate_is_supported
                       : kind == Kind::decompress ? doca_compress_cap_task_decompress_deflate_is_supported
                       : kind == Kind::lz4_stream ? doca_compress_cap_task_decompress_lz4_stream_is_supported
                                                  : doca_compress_cap_task_decompress_lz4_block_is_supported;
    return query(info) == DOCA_SUCCESS;
}

/// The devices that support all tasks: the first software device, and every other.
inline std::vector<std::string> compressing_devices()
{
    std::vector<std::string> names;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        const bool can = std::ranges::all_of(all_kinds, [&](Kind kind) { return supports(info, kind); });
        if (can && !(is_soft(ibdev_of(info)) && !names.empty()))
            names.push_back(ibdev_of(info));
    }
    return names;
}

/// The outcome of a task.
struct Outcome {
    doca_error_t status;
    std::uint32_t crc = 0;
    std::uint32_t second = 0; ///< Adler-32 or xxHash-32
};

/// A running compress context with @p num_tasks of each type.
class CompressContext {
public:
    CompressContext(doca_dev *dev, doca_pe *pe, std::uint32_t num_tasks) : pe_(pe)
    {
        must(doca_compress_create(dev, compress.out()));
        must(doca_compress_task_compress_deflate_set_conf(compress, ended<true>, ended<false>, num_tasks));
        must(doca_compress_task_decompress_deflate_set_conf(compress, ended<true>, ended<false>, num_tasks));
        must(doca_compress_task_decompress_lz4_stream_set_conf(compress, ended<true>, ended<false>, num_tasks));
        must(doca_compress_task_decompress_lz4_block_set_conf(compress, ended<true>, ended<false>, num_tasks));
        must(doca_ctx_set_user_data(ctx(), {.ptr = this}));
        must(doca_pe_connect_ctx(pe, ctx()));
        must(doca_ctx_start(ctx()));
    }
    CompressContext(const CompressContext &) = delete;
    CompressContext &operator=(const CompressContext &) = delete;
    ~CompressContext()
    {
        if (state_of(ctx()) == DOCA_CTX_STATE_IDLE)
            return;
        const doca_error_t status = doca_ctx_stop(ctx());
        EXPECT_TRUE(status == DOCA_SUCCESS || status == DOCA_ERROR_IN_PROGRESS);
        while (state_of(ctx()) != DOCA_CTX_STATE_IDLE && !testing::Test::HasFatalFailure())
            (void)doca_pe_progress(pe_);
    }

    [[nodiscard]] doca_ctx *ctx() const { return doca_compress_as_ctx(compress); }

    /// Allocates a task, of a stream whose blocks are linked and have no checksums.
    doca_task *alloc(Kind kind, const doca_buf *src, doca_buf *dst)
    {
        const auto task_of = [&](auto alloc_init, auto as_task, auto... flags) -> doca_task * {
            return allocated(alloc_init, as_task, src, dst, flags...);
        };
        switch (kind) {
        case Kind::compress:
            return task_of(doca_compress_task_compress_deflate_alloc_init, doca_compress_task_compress_deflate_as_task);
        case Kind::decompress:
            return task_of(doca_compress_task_decompress_deflate_alloc_init,
                           doca_compress_task_decompress_deflate_as_task);
        case Kind::lz4_stream:
            return task_of(doca_compress_task_decompress_lz4_stream_alloc_init,
                           doca_compress_task_decompress_lz4_stream_as_task, std::uint8_t{0}, std::uint8_t{0});
        case Kind::lz4_block:
            break;
        }
        return task_of(doca_compress_task_decompress_lz4_block_alloc_init,
                       doca_compress_task_decompress_lz4_block_as_task);
    }

    /// Submits @p task and progresses until it has ended.
    doca_error_t run(doca_task *task)
    {
        const int before = num_ended;
        EXPECT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        EXPECT_EQ(num_ended, before) << "a callback was called in a submit";
        while (num_ended == before)
            (void)doca_pe_progress(pe_); // 0 while a long task is in work
        EXPECT_EQ(last_succeeded, doca_task_get_status(task) == DOCA_SUCCESS);
        return doca_task_get_status(task);
    }

    /// Returns the checksums of a task that has succeeded.
    static Outcome outcome_of(Kind kind, doca_task *task)
    {
        Outcome outcome{doca_task_get_status(task)};
        const auto read = [&](auto *typed, auto get_crc, auto get_second) {
            outcome.crc = get_crc(typed);
            outcome.second = get_second(typed);
        };
        switch (kind) {
        case Kind::compress:
            read(reinterpret_cast<doca_compress_task_compress_deflate *>(task),
                 doca_compress_task_compress_deflate_get_crc_cs, doca_compress_task_compress_deflate_get_adler_cs);
            break;
        case Kind::decompress:
            read(reinterpret_cast<doca_compress_task_decompress_deflate *>(task),
                 doca_compress_task_decompress_deflate_get_crc_cs, doca_compress_task_decompress_deflate_get_adler_cs);
            break;
        case Kind::lz4_stream:
            read(reinterpret_cast<doca_compress_task_decompress_lz4_stream *>(task),
                 doca_compress_task_decompress_lz4_stream_get_crc_cs,
                 doca_compress_task_decompress_lz4_stream_get_xxh_cs);
            break;
        case Kind::lz4_block:
            read(reinterpret_cast<doca_compress_task_decompress_lz4_block *>(task),
                 doca_compress_task_decompress_lz4_block_get_crc_cs,
                 doca_compress_task_decompress_lz4_block_get_xxh_cs);
        }
        return outcome;
    }

    /// Allocates a task, runs it, reads its checksums and frees it.
    Outcome run(Kind kind, const doca_buf *src, doca_buf *dst)
    {
        doca_task *const task = alloc(kind, src, dst);
        (void)run(task);
        const Outcome outcome = outcome_of(kind, task);
        doca_task_free(task);
        return outcome;
    }

    CompressHandle compress;
    int num_ended = 0;
    bool last_succeeded = false;
    std::vector<doca_task *> ended_tasks; ///< in the order of their callbacks

private:
    template <typename AllocInit, typename Task, typename... Flags>
    doca_task *allocated(AllocInit alloc_init, doca_task *(*as_task)(Task *), const doca_buf *src, doca_buf *dst,
                         Flags... flags)
    {
        Task *task = nullptr;
        must(alloc_init(compress, flags..., src, dst, {.u64 = 7}, &task));
        return as_task(task);
    }

    template <bool Succeeded, typename Task>
    static void ended(Task *task, doca_data task_data, doca_data ctx_data)
    {
        EXPECT_EQ(task_data.u64, 7u);
        auto *const self = static_cast<CompressContext *>(ctx_data.ptr);
        ++self->num_ended;
        self->last_succeeded = Succeeded;
        self->ended_tasks.push_back(reinterpret_cast<doca_task *>(task)); // a task begins with its doca_task
    }

    doca_pe *pe_;
};

} // namespace doca_test
