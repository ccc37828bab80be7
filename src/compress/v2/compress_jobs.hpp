// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Jobs are read in submit and not kept: programs may change or free them when it has returned.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <doca_compress.h>

#include "../../core/v2/job_queue.hpp"
#include "../compress_queue.hpp"

namespace opendoca::v2 {

/// What the jobs do, in the order of their types. An LZ4 job is a stream: its source must begin with 4 bytes, which is
/// the size of the first block.
inline constexpr CompressKind compress_kinds[] = {CompressKind::compress_deflate, CompressKind::decompress_deflate,
                                                  CompressKind::decompress_lz4_stream};

/// Returns what jobs of @p type do; nothing if it is not one of the library's types, which are consecutive.
[[nodiscard]] constexpr std::optional<CompressKind> compress_kind_of(int type) noexcept
{
    if (type < DOCA_COMPRESS_DEFLATE_JOB || type > DOCA_DECOMPRESS_LZ4_JOB)
        return std::nullopt;
    return compress_kinds[type - DOCA_COMPRESS_DEFLATE_JOB];
}

/// The compress jobs of one work queue. Owned by the context; used by the work queue's thread.
class CompressJobs final : public JobQueue {
public:
    /// @p can: those of the device, which outlives the object.
    CompressJobs(std::unique_ptr<CompressQueue> codecs, const Capabilities &can) noexcept
        : codecs_(std::move(codecs)),
          can_(can)
    {
    }

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override { return submit_tagged(job, tag_of(job)); }
    [[nodiscard]] doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept override;
    [[nodiscard]] Source &source() noexcept override { return *codecs_; }

private:
    /// Checks what DOCA demands of the source of an LZ4 job beyond the demands on any source.
    [[nodiscard]] doca_error_t check_lz4(const CompressRequest &request) const noexcept;

    std::unique_ptr<CompressQueue> codecs_; ///< the source of all completions
    const Capabilities &can_;
};

} // namespace opendoca::v2
