// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "compress_jobs.hpp"

#include <cstddef>
#include <cstdint>

#include "../../core/log/log.hpp"
#include "../../core/objects/mmap.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMPRESS_JOBS);

namespace opendoca::v2 {

namespace {

constexpr std::size_t min_lz4_start = 4; // bytes of data in the first buffer of a source

// Both structures are read as the first one.
static_assert(offsetof(doca_compress_deflate_job, dst_buff) == offsetof(doca_compress_lz4_job, dst_buff));
static_assert(offsetof(doca_compress_deflate_job, src_buff) == offsetof(doca_compress_lz4_job, src_buff));
static_assert(offsetof(doca_compress_deflate_job, output_chksum) == offsetof(doca_compress_lz4_job, output_chksum));

} // namespace

doca_error_t CompressJobs::submit_tagged(const doca_job &base, Tag tag) noexcept
{
    const std::optional<CompressKind> kind = compress_kind_of(base.type);
    if (!kind) {
        LOG_ERR("job type %d is not one of compress", base.type);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (!can_compress(can_, *kind)) {
        LOG_ERR("the device does not support jobs of type %d", base.type);
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    const auto &job = reinterpret_cast<const doca_compress_deflate_job &>(base);
    const CompressRequest request{*kind,
                                  {},
                                  job.output_chksum == nullptr ? ChecksumSet::none : ChecksumSet::crc_and_adler,
                                  job.src_buff,
                                  job.dst_buff};
    if (*kind == CompressKind::decompress_lz4_stream) {
        if (const doca_error_t status = check_lz4(request); status != DOCA_SUCCESS)
            return status;
    }
    return codecs_->run(tag, request, job.output_chksum);
}

doca_error_t CompressJobs::check_lz4(const CompressRequest &request) const noexcept
{
    // First what holds for any source: its list can then be walked.
    if (const doca_error_t status = codecs_->check(request); status != DOCA_SUCCESS)
        return status;
    if (request.source->data_len < min_lz4_start) {
        LOG_ERR("the first buffer of the source has %zu bytes of data, and that of an LZ4 job has %zu or more",
                request.source->data_len, min_lz4_start);
        return DOCA_ERROR_INVALID_VALUE;
    }
    for (const doca_buf *buf = request.source; buf != nullptr; buf = buf->next) {
        if (buf->mmap->is_imported()) {
            LOG_ERR("buffer %p is imported memory, and the source of an LZ4 job is local: copy it by DMA first",
                    static_cast<const void *>(buf));
            return DOCA_ERROR_NOT_PERMITTED;
        }
    }
    return DOCA_SUCCESS;
}

} // namespace opendoca::v2
