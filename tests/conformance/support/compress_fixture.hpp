// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A device with compression, memory for its jobs, and one function for a job of each type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <doca_compress.h>

#include "../compress_data.hpp"
#include "../reference_codecs.hpp"
#include "job_engine.hpp"

namespace doca_test {

using CompressHandle = Handle<doca_compress, doca_compress_destroy>;

constexpr doca_compress_job_types compress_job_types[] = {DOCA_COMPRESS_DEFLATE_JOB, DOCA_DECOMPRESS_DEFLATE_JOB,
                                                          DOCA_DECOMPRESS_LZ4_JOB};

/// A predicate for devices_that(): all job types.
inline bool can_compress(doca_devinfo *info)
{
    return std::ranges::all_of(compress_job_types, [&](doca_compress_job_types type) {
        return doca_compress_job_get_supported(info, type) == DOCA_SUCCESS;
    });
}

/// A job of any type: each structure begins with a doca_job.
struct CompressJob {
    doca_compress_deflate_job deflate = {};
    doca_compress_lz4_job lz4 = {};
    bool is_lz4 = false;

    [[nodiscard]] const doca_job &base() const { return is_lz4 ? lz4.base : deflate.base; }
};

/// What a job leaves in its output_chksum for content of an uncompressed side.
inline std::uint64_t checksums_of(std::span<const std::byte> content)
{
    return std::uint64_t{zlib_adler(content)} << 32 | zlib_crc(content);
}

class CompressEngine
    : public JobEngine<doca_compress, doca_compress_create, doca_compress_destroy, doca_compress_as_ctx> {
public:
    using JobEngine::JobEngine;

    [[nodiscard]] CompressJob job(int type, const doca_buf *src, doca_buf *dst, std::uint64_t *checksums) const
    {
        CompressJob made;
        made.is_lz4 = type == DOCA_DECOMPRESS_LZ4_JOB;
        made.deflate = {base(type), dst, src, checksums};
        made.lz4 = {base(type), dst, src, checksums};
        return made;
    }
    using JobEngine::run;
    [[nodiscard]] doca_error_t run(int type, const doca_buf *src, doca_buf *dst,
                                   std::uint64_t *checksums = nullptr) const
    {
        return run(job(type, src, dst, checksums).base());
    }
};

/// Data of tests in the forms in which jobs take it.
struct CompressSample {
    explicit CompressSample(Bytes content)
        : plain(std::move(content)),
          stream(deflated(plain)),
          blocks(lz4_frame(plain, false, false).blocks)
    {
    }

    [[nodiscard]] const Bytes &source_of(int type) const
    {
        return type == DOCA_COMPRESS_DEFLATE_JOB ? plain : type == DOCA_DECOMPRESS_DEFLATE_JOB ? stream : blocks;
    }
    /// Checks what a job has written, and its checksums.
    void check(int type, const Bytes &result, std::uint64_t checksums) const
    {
        EXPECT_TRUE((type == DOCA_COMPRESS_DEFLATE_JOB ? inflated(result, plain.size()) : result) == plain);
        EXPECT_EQ(checksums, checksums_of(plain));
    }

    Bytes plain;
    Bytes stream;
    Bytes blocks;
};

/// Memory of one device, mapped, with an engine and an inventory. Memory is handed out from the beginning; tests call
/// reset_memory() to begin again.
class CompressTest : public DeviceTest {
protected:
    static constexpr std::size_t size = std::size_t{4} << 20;
    static constexpr std::byte canary{0xa5};

    void SetUp() override { reset_memory(); }

    void reset_memory()
    {
        used = 0;
        std::ranges::fill(memory, canary);
    }
    /// Returns the memory of the next @p length bytes, with a gap before it so that it is not adjacent to other
    /// buffers.
    std::byte *take(std::size_t length)
    {
        must_hold(length + 64 <= size - used, "the memory of the test suffices");
        used += 64;
        return &memory[std::exchange(used, used + length)];
    }
    BufHandle source(std::span<const std::byte> data)
    {
        std::byte *const at = take(data.size());
        std::ranges::copy(data, at);
        return inventory.full(map, at, data.size());
    }
    BufHandle room(std::size_t length) { return inventory.empty(map, take(length), length); }

    Bytes memory = Bytes(size);
    std::size_t used = 0;
    LocalMap map{dev, memory};
    Inventory inventory{4096};
    CompressEngine engine{dev};
};

} // namespace doca_test
