// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

#include "../connection/queue_pair.hpp"
#include "../strict/late_requests.hpp"
#include "device_life.hpp"
#include "device_watch.hpp"
#include "fault_plan.hpp"

namespace opendoca::soft {

/// A connection with planned faults, on a device with resets and a port that can go down. A failed job ends the
/// connection, as on any device. Used by the thread of its completion queue; connect() may run in another thread.
///
/// While the port of either end is down, operations wait as if they were sent again and again. If one waits for longer
/// than a peer has to answer (DOCA_RDMA_TIMEOUT), the connection ends.
class FaultyQueuePair final : public SoftQueuePair, private WatchedObject {
public:
    FaultyQueuePair(const SoftDevice &device, const QueuePairSettings &settings, std::atomic<ConnectionState> &state,
                    const DeviceStates &states, std::size_t function, const std::shared_ptr<FaultPlan> &plan)
        : SoftQueuePair(device, settings, state),
          states_(states),
          life_(states.of(function), plan),
          late_(device)
    {
    }

    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details) override;
    [[nodiscard]] doca_error_t attach(CompletionQueue &completions) override;
    void detach() noexcept override;
    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept override;
    [[nodiscard]] doca_error_t post(Tag tag, const Request &request) noexcept override;
    void flush() noexcept override;

private:
    void check_device() noexcept override;
    /// Holds the connection while its port is down, and ends it when an operation has waited for too long.
    void check_port() noexcept;
    /// Calls @p submit unless a fault applies to the job.
    template <typename Submit>
    [[nodiscard]] doca_error_t unless_faulty(Tag tag, Submit submit) noexcept;

    /// Returns whether the port of the peer's function is down; false for a peer of no function of the topology.
    [[nodiscard]] bool is_peer_port_down() noexcept;

    const DeviceStates &states_;
    DeviceLife life_;
    LateRequests late_;
    std::shared_ptr<DeviceWatch> watch_; ///< set while attached
    bool has_peer_function_ = false;     ///< peer_function_ was searched for: after connect()
    const FunctionState *peer_function_ = nullptr;
    /// When the oldest operation began to wait for a port; zero if none does.
    std::chrono::steady_clock::time_point waits_since_{};
};

} // namespace opendoca::soft
