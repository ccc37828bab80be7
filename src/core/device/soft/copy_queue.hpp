// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <vector>

#include "../../buf.hpp"
#include "../../job.hpp"
#include "../device.hpp"
#include "device.hpp"

namespace opendoca::soft {

/// The copy engine of one work queue. A job is carried out when it is submitted, or with DOCA_SOFT_DEFER=1 when it is
/// retrieved, so that programs which read the destination too early are found out.
class SoftCopyQueue final : public CopyQueue {
public:
    SoftCopyQueue(doca_workq &workq, const doca_dev &dev, JobQueue &owner);
    ~SoftCopyQueue() override;

    [[nodiscard]] doca_error_t copy(const doca_dma_job_memcpy &job, CopyPlan plan, MemoryKey &dst,
                                    MemoryKey &src) noexcept override;
    void progress() noexcept override;
    [[nodiscard]] bool needs_progress() const noexcept override { return is_deferring_; }
    [[nodiscard]] bool arm() noexcept override { return num_deferred_ != 0; }

private:
    /// This queue's hazard pointer in the page of one exporter.
    struct Reader {
        std::shared_ptr<ExporterProcess> process;
        ReaderSlot *slot;
    };

    // Kept out of copy(), which needs no stack without them.
    [[gnu::noinline]] [[nodiscard]] doca_error_t copy_any(const doca_dma_job_memcpy &job, CopyPlan plan, const SoftKey &dst,
                                        const SoftKey &src) noexcept;
    [[nodiscard]] doca_error_t execute(const CopyPayload &copy, const SoftKey &dst_key,
                                       const SoftKey &src_key) noexcept;
    [[nodiscard]] doca_error_t execute_list(const CopyPayload &copy) noexcept;
    [[nodiscard]] doca_error_t copy_segment(const SoftKey &dst_key, std::byte *dst, const SoftKey &src_key,
                                            std::byte *src, std::size_t length, std::size_t total) noexcept;
    [[nodiscard]] doca_error_t copy_guarded(const RemoteMemory *dst_memory, std::byte *dst,
                                            const RemoteMemory *src_memory, std::byte *src, std::size_t length,
                                            std::size_t total) noexcept;
    [[nodiscard]] doca_error_t copy_by_kernel(const RemoteMemory *dst_memory, std::byte *dst,
                                              const RemoteMemory *src_memory, std::byte *src,
                                              std::size_t length) noexcept;
    [[nodiscard]] ReaderSlot *reader_for(const RemoteMemory &memory) noexcept;
    [[gnu::cold]] [[nodiscard]] ReaderSlot *add_reader(const RemoteMemory &memory) noexcept;
    [[nodiscard]] const SoftKey &key_of(const doca_buf &buf) const noexcept;

    doca_workq &workq_;
    const doca_dev &dev_;
    JobQueue &owner_;
    std::vector<Reader> readers_;
    std::unique_ptr<std::byte[]> bounce_; ///< between the memories of two other processes
    bool is_deferring_;
    std::vector<JobSlot *> deferred_; ///< a ring of the queue's depth
    std::size_t first_deferred_ = 0;
    std::size_t num_deferred_ = 0;
};

} // namespace opendoca::soft
