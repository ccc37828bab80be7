// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <memory>

#include <doca_rdma.h>

#include "../core/buf.hpp"
#include "../core/dev.hpp"
#include "../core/device/queue_pair.hpp"
#include "../core/job.hpp"

namespace opendoca {

/// RDMA for one work queue: checks a job as far as this side can, and hands it to the instance's queue pair.
class RdmaQueue final : public JobQueue {
public:
    /// @p is_there tells that the instance has a work queue, as long as this lives.
    [[nodiscard]] static doca_error_t create(const doca_dev &dev, const QueuePairSettings &settings,
                                             QueuePair &queue_pair, const std::atomic<doca_rdma_state> &state,
                                             std::atomic<bool> &is_there, doca_workq &workq,
                                             std::unique_ptr<JobQueue> &queue);
    ~RdmaQueue() override;

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override;
    void progress() noexcept override { queue_pair_.progress(); }
    [[nodiscard]] bool needs_progress() const noexcept override { return true; }
    [[nodiscard]] bool arm() noexcept override { return queue_pair_.arm(); }
    void disarm() noexcept override { queue_pair_.disarm(); }
    void cancel() noexcept override { queue_pair_.cancel(); }
    void write_result(std::uint64_t detail, doca_error_t result, doca_event &event) const noexcept override;

private:
    enum class Use : std::uint8_t { source, destination };

    RdmaQueue(const doca_dev &dev, const QueuePairSettings &settings, QueuePair &queue_pair,
              const std::atomic<doca_rdma_state> &state, std::atomic<bool> &is_there) noexcept;

    [[nodiscard]] doca_error_t receive(const doca_rdma_job_recv &job) noexcept;
    [[nodiscard]] doca_error_t send(const doca_rdma_job_send &job) noexcept;
    [[nodiscard]] doca_error_t read(const doca_rdma_job_read_write &job) noexcept;
    [[nodiscard]] doca_error_t write(const doca_rdma_job_read_write &job) noexcept;
    [[nodiscard]] doca_error_t update(const doca_rdma_job_atomic &job) noexcept;

    [[nodiscard]] doca_error_t plan_local(const doca_buf &list, Use use, std::uint32_t max_elements,
                                          TransferPlan &plan) const noexcept;
    [[gnu::cold]] [[nodiscard]] doca_error_t
    plan_list(const doca_buf &list, Use use, std::uint32_t max_elements, TransferPlan &plan) const noexcept;
    [[nodiscard]] doca_error_t check_local(const doca_buf &buf) const noexcept;
    [[nodiscard]] doca_error_t find_remote(const doca_buf *buf, MemoryKey *&key) const noexcept;
    [[nodiscard]] doca_error_t check_length(std::size_t length) const noexcept;

    const doca_dev &dev_;
    QueuePair &queue_pair_;
    const std::atomic<doca_rdma_state> &state_;
    std::atomic<bool> &is_there_;
    const std::uint32_t max_message_size_;
    const std::uint32_t max_chain_length_;
    const std::uint32_t recv_chain_length_;
    const bool has_atomics_;
};

} // namespace opendoca
