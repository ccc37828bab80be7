// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "../device.hpp"
#include "../state/device_state.hpp"
#include "fault_plan.hpp"

namespace opendoca::soft {

/// The software device with the faults that DOCA_SOFT_FAULTS requests. It can be reset and removed, and its port
/// can go down. The objects that it creates derive from those of the software device; each operation consults the plan
/// and the states first. Without DOCA_SOFT_FAULTS and DOCA_SOFT_CONTROL none of these classes is used, so the common
/// path costs nothing.
class FaultyDevice final : public SoftDevice {
public:
    /// @p index: of @p function in the topology of @p states.
    FaultyDevice(const DeviceFunction &function, bool is_strict, std::shared_ptr<FaultPlan> plan,
                 const DeviceStates &states, std::size_t index) noexcept
        : SoftDevice(function, is_strict),
          plan_(std::move(plan)),
          states_(states),
          index_(index)
    {
    }

    [[nodiscard]] doca_error_t register_memory(const MemoryRange &range, std::uint32_t access,
                                               std::unique_ptr<MemoryKey> &key) override;
    [[nodiscard]] doca_error_t import_memory(std::span<const std::byte> descriptor, MemoryRange &range,
                                             std::unique_ptr<MemoryKey> &key) override;
    [[nodiscard]] doca_error_t create_copy_engine(CompletionQueue &completions,
                                                  std::unique_ptr<CopyEngine> &engine) override;
    [[nodiscard]] doca_error_t create_queue_pair(const QueuePairSettings &settings, std::atomic<ConnectionState> &state,
                                                 std::unique_ptr<QueuePair> &queue_pair) override;
    [[nodiscard]] doca_error_t create_receive_queue(CompletionQueue &completions, std::uint32_t size,
                                                    std::uint32_t chain_length,
                                                    std::unique_ptr<ReceiveQueue> &queue) override;
    [[nodiscard]] doca_error_t create_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter) override;
    [[nodiscard]] doca_error_t import_counter(std::span<const std::byte> descriptor,
                                              std::unique_ptr<Counter> &counter) override;

private:
    /// Returns INITIALIZATION, logged, if the device was removed after it was opened.
    [[nodiscard]] doca_error_t check_present() const;

    const std::shared_ptr<FaultPlan> plan_;
    const DeviceStates &states_;
    const std::size_t index_;
};

} // namespace opendoca::soft
