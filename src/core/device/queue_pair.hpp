// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The provider contract of RDMA: one end of a reliable connection.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <doca_rdma.h>

#include "../buf.hpp"
#include "../dev.hpp"
#include "../job.hpp"
#include "../mmap.hpp"

struct doca_workq;

namespace opendoca {

/// What a queue pair is made with. Sizes are powers of two, and all of it is within the device's
/// capabilities.
struct QueuePairSettings {
    std::uint32_t send_queue_size;
    std::uint32_t recv_queue_size;
    std::uint32_t recv_chain_length; ///< most buffers of a receive
    std::uint32_t permissions;       ///< what the peer may do: enum doca_access_flags
    doca_mtu_size mtu;
    bool is_mtu_fixed; ///< the program has set it
    bool has_grh;
    std::uint32_t gid_index;
    bool is_gid_fixed; ///< the program has set it
    std::uint32_t service_level;
};

/// What was found out about the local side of a job when it was checked. Passed in registers.
struct TransferPlan {
    std::uint32_t length; ///< bytes to be moved; of a receive, its room
    bool is_list;         ///< the local side has more than one buffer
    bool overwrites;      ///< the destination has no tailroom at all and counts as empty
};

/// How a job has ended, besides its doca_error_t.
struct RdmaOutcome {
    std::uint32_t length;
    doca_be32_t immediate;
    std::uint32_t opcode; ///< enum doca_rdma_opcode_t, of a receive
};

/// Fills the caller's doca_rdma_result, if there is one.
inline void write_rdma_result(const RdmaOutcome &outcome, doca_error_t status, doca_event &event) noexcept
{
    auto *const result = static_cast<doca_rdma_result *>(event.result.ptr);
    if (result == nullptr)
        return;
    result->result = status;
    result->opcode = static_cast<doca_rdma_opcode_t>(outcome.opcode);
    result->length = outcome.length;
    result->rdma_peer_addr = nullptr;
    result->immediate_data = outcome.immediate;
}

/// One end of a reliable connection, from the start of a context to its stop. At most one work queue at a
/// time has its jobs carried out; this is what it submits to. A job is checked here as far as the caller's
/// side can know, and handed to what the provider derives from this.
class OPENDOCA_INTERNAL QueuePair : public JobQueue {
public:
    /// @p state is the instance's.
    QueuePair(const doca_dev &dev, const QueuePairSettings &settings,
              std::atomic<doca_rdma_state> &state) noexcept;

    /// What the peer needs to connect; constant, at most 256 bytes.
    [[nodiscard]] virtual std::span<const std::byte> details() const noexcept = 0;
    /// Called once, in state INIT. Does not wait for the peer. CONNECTION_ABORTED when it fails.
    [[nodiscard]] virtual doca_error_t connect(std::span<const std::byte> details) = 0;
    [[nodiscard]] virtual doca_mtu_size mtu() const noexcept = 0;

    /// From now on jobs on @p workq are carried out, by the work queue's thread.
    [[nodiscard]] virtual doca_error_t attach(doca_workq &workq) = 0;
    virtual void detach() noexcept = 0;
    [[nodiscard]] bool is_attached() const noexcept { return workq_ != nullptr; }

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override;
    [[nodiscard]] bool needs_progress() const noexcept override { return true; }
    void write_result(std::uint64_t detail, doca_error_t result, doca_event &event) const noexcept override;

protected:
    // A job that is handed over is right as far as the caller's side can know: its buffers, their local
    // rights, their sizes. Each function says DOCA_SUCCESS, and the job ends once, in
    // doca_workq::complete_with() with its length as the detail, or in doca_workq::complete() with a slot
    // whose write_result fills doca_rdma_result; or it says NO_MEMORY (the work queue or the queue of the
    // job's kind is full) and has changed nothing. A failed job ends the connection: the state becomes ERROR,
    // and all that is in flight ends with SHUTDOWN.

    [[nodiscard]] virtual doca_error_t receive(const doca_rdma_job_recv &job, TransferPlan plan) noexcept = 0;
    [[nodiscard]] virtual doca_error_t send(const doca_rdma_job_send &job, TransferPlan plan) noexcept = 0;
    // With a plan of 0 bytes the remote key may be null.
    [[nodiscard]] virtual doca_error_t read(const doca_rdma_job_read_write &job, TransferPlan plan,
                                            MemoryKey *remote) noexcept = 0;
    [[nodiscard]] virtual doca_error_t write(const doca_rdma_job_read_write &job, TransferPlan plan,
                                             MemoryKey *remote) noexcept = 0;
    [[nodiscard]] virtual doca_error_t update(const doca_rdma_job_atomic &job,
                                              MemoryKey &remote) noexcept = 0;

    // What most jobs have on either side: a single buffer, of memory that the device is the first one of.

    [[nodiscard]] bool is_plain_local(const doca_buf &buf) const noexcept
    {
        return buf.is_alone() && buf.mmap->is_rdma_local(&dev_);
    }
    [[nodiscard]] bool is_plain_remote(const doca_buf &buf) const noexcept
    {
        return buf.is_alone() && buf.mmap->is_rdma_remote(&dev_);
    }

    [[nodiscard]] bool is_connected() const noexcept
    {
        // Acquire: pairs with set_state() in connect().
        return state_.load(std::memory_order_acquire) == DOCA_RDMA_STATE_CONNECTED;
    }
    /// Release: who reads CONNECTED sees what connect() has set.
    void set_state(doca_rdma_state state) noexcept { state_.store(state, std::memory_order_release); }

    [[nodiscard]] const doca_dev &dev() const noexcept { return dev_; }
    [[nodiscard]] std::uint32_t max_message_size() const noexcept { return max_message_size_; }

    doca_workq *workq_ = nullptr; ///< from attach() to detach()

private:
    enum class Use : std::uint8_t { source, destination };

    [[nodiscard]] doca_error_t submit_receive(const doca_rdma_job_recv &job) noexcept;
    [[nodiscard]] doca_error_t submit_send(const doca_rdma_job_send &job) noexcept;
    [[nodiscard]] doca_error_t submit_read(const doca_rdma_job_read_write &job) noexcept;
    [[nodiscard]] doca_error_t submit_write(const doca_rdma_job_read_write &job) noexcept;
    [[nodiscard]] doca_error_t submit_update(const doca_rdma_job_atomic &job) noexcept;

    [[nodiscard]] doca_error_t plan_local(const doca_buf &list, Use use, std::uint32_t max_elements,
                                          TransferPlan &plan) const noexcept;
    [[gnu::cold]] [[nodiscard]] doca_error_t
    plan_list(const doca_buf &list, Use use, std::uint32_t max_elements, TransferPlan &plan) const noexcept;
    [[nodiscard]] doca_error_t check_local(const doca_buf &buf) const noexcept;
    [[nodiscard]] doca_error_t find_remote(const doca_buf *buf, MemoryKey *&key) const noexcept;
    [[nodiscard]] doca_error_t check_length(std::size_t length) const noexcept;

    std::atomic<doca_rdma_state> &state_; ///< of the instance, which any thread may ask for
    const doca_dev &dev_;
    const std::uint32_t max_message_size_;
    const std::uint32_t max_chain_length_;
    const std::uint32_t recv_chain_length_;
    const bool has_atomics_;
};

} // namespace opendoca
