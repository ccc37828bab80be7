// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "older.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>

#include "../../core/log/log.hpp"
#include "../../core/objects/buf.hpp"
#include "../../core/v2/call.hpp"
#include "dma.hpp"

OPENDOCA_LOG_SOURCE(DOCA_OLDER_DMA);

extern "C" __DOCA_EXPERIMENTAL doca_error_t opendoca_dma_create_1_3(struct doca_dma **dma);

namespace opendoca::v2 {

namespace {

/// The struct doca_dma_job_memcpy of DOCA 1.3 and 1.4, which had one more member at its end.
struct JobWithLength {
    doca_dma_job_memcpy job;
    std::uint64_t num_bytes_to_copy; ///< from the data address of the source on
};

/// Returns the number of bytes from the data address to the end of the buffer; 0 if the data address is outside of it.
std::size_t room_behind_data(const doca_buf &buf) noexcept
{
    const auto offset = static_cast<std::size_t>(buf.data - buf.head);
    return offset <= buf.len ? buf.len - offset : 0;
}

} // namespace

doca_error_t apply_length(const doca_job &base) noexcept
{
    if (base.type != DOCA_DMA_JOB_MEMCPY)
        return DOCA_SUCCESS;
    const auto &job = reinterpret_cast<const JobWithLength &>(base);
    auto *const source = const_cast<doca_buf *>(job.job.src_buff);
    if (source == nullptr)
        return DOCA_SUCCESS;
    // The length is distributed over the list only when it is certain to fit, so that a refusal changes nothing.
    std::uint64_t room = 0;
    for (const doca_buf *buf = source; buf != nullptr; buf = buf->next)
        room += room_behind_data(*buf);
    if (job.num_bytes_to_copy > room) {
        LOG_ERR("a copy of %" PRIu64 " bytes, but the source has space for %" PRIu64, job.num_bytes_to_copy, room);
        return DOCA_ERROR_INVALID_VALUE;
    }
    std::uint64_t left = job.num_bytes_to_copy;
    for (doca_buf *buf = source; buf != nullptr; buf = buf->next) {
        const std::size_t part = std::min<std::uint64_t>(left, room_behind_data(*buf));
        buf->set_data(buf->data, part);
        left -= part;
    }
    return DOCA_SUCCESS;
}

template <typename Submit>
[[gnu::always_inline]] inline doca_error_t OverwritingJobs::submit_full(const doca_job &base, Submit submit) noexcept
{
    const auto &job = reinterpret_cast<const doca_dma_job_memcpy &>(base);
    if (base.type != DOCA_DMA_JOB_MEMCPY || job.dst_buff == nullptr)
        return submit(); // which refuses the job and logs why
    // A list that is longer than lengths_ is longer than the device supports, so its submit refuses it.
    std::size_t count = 0;
    for (doca_buf *buf = job.dst_buff; buf != nullptr && count != lengths_.size(); buf = buf->next) {
        lengths_[count++] = buf->data_len;
        // The data section of a full buffer ends with the buffer. An invalid one is left for the check of the copy.
        if (buf->has_data_inside())
            buf->data_len = room_behind_data(*buf);
    }
    const doca_error_t status = submit();
    if (status != DOCA_SUCCESS) [[unlikely]] {
        doca_buf *buf = job.dst_buff;
        for (std::size_t i = 0; i != count; ++i, buf = buf->next)
            buf->data_len = lengths_[i];
    }
    return status;
}

doca_error_t OverwritingJobs::submit(const doca_job &job) noexcept
{
    return submit_full(job, [&] { return jobs_->submit(job); });
}

doca_error_t OverwritingJobs::submit_tagged(const doca_job &job, Tag tag) noexcept
{
    return submit_full(job, [&] { return jobs_->submit_tagged(job, tag); });
}

doca_error_t OverwritingJobs::submit_1_3(const doca_job &job) noexcept
{
    const doca_error_t status = apply_length(job);
    return status == DOCA_SUCCESS ? submit(job) : status;
}

} // namespace opendoca::v2

doca_error_t opendoca_dma_create_1_3(struct doca_dma **dma)
{
    return opendoca::v2::call({dma}, [&] { *dma = new doca_dma(doca_dma::Copies::overwrite); });
}
