// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "../../buf.hpp"
#include "../copy_queue.hpp"
#include "copier.hpp"
#include "device.hpp"

namespace opendoca::soft {

/// The copy engine of one work queue. A job is carried out when it is submitted, or with DOCA_SOFT_DEFER=1
/// when it is retrieved, so that programs which read the destination too early are found out.
class SoftCopyQueue final : public CopyQueue {
public:
    SoftCopyQueue(doca_workq &workq, const doca_dev &dev);

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override;
    void progress() noexcept override;
    [[nodiscard]] bool needs_progress() const noexcept override { return is_deferring_; }
    [[nodiscard]] bool arm() noexcept override { return num_deferred_ != 0; }

private:
    [[nodiscard]] bool fits_at_once(const doca_buf &dst, const doca_buf &src,
                                    std::size_t &before) const noexcept;
    template <Hazard::Side side>
    [[nodiscard]] doca_error_t submit_remote(const doca_dma_job_memcpy &job) noexcept;
    template <Hazard::Side side>
    [[nodiscard]] doca_error_t submit_and_find_route(const doca_dma_job_memcpy &job, Route &route) noexcept;
    [[nodiscard]] doca_error_t copy(const doca_dma_job_memcpy &job, CopyPlan plan, MemoryKey &dst,
                                    MemoryKey &src) noexcept override;
    [[nodiscard]] doca_error_t execute(const CopyPayload &copy, const SoftKey &dst_key,
                                       const SoftKey &src_key) noexcept;
    [[nodiscard]] doca_error_t execute_list(const CopyPayload &copy) noexcept;
    [[nodiscard]] const SoftKey &key_of(const doca_buf &buf) const noexcept;

    doca_workq &workq_;
    const bool is_deferring_;
    const std::uint64_t longest_simple_; ///< bytes that submit() may copy at once; 0 where it may not
    static constexpr std::size_t num_routes = 8;
    Copier copier_;
    std::array<std::array<Route, num_routes>, 2> routes_; ///< of each side, by the number of the memory
    std::vector<JobSlot *> deferred_;                     ///< a ring of the queue's depth
    std::size_t first_deferred_ = 0;
    std::size_t num_deferred_ = 0;
};

} // namespace opendoca::soft
