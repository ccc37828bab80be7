// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sync events across the PCIe. The counter is in memory of the process that exports it, possibly provided by the
// program, and that process reads it with plain loads. Other functions of the card reach it through an alias of its
// key, with RDMA reads, writes and atomics. RDMA atomics are atomic with respect to each other but not to atomics of
// the CPU. Therefore, once the counter is exported, its own process updates it through the device too.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "../../process/fork.hpp"
#include "../counter.hpp"
#include "commands.hpp"
#include "shared_key.hpp"
#include "word_queue_pair.hpp"

namespace opendoca::mlx5 {

/// A counter in memory of this process. Before its first export it is a local counter of the CPU; from then on all
/// updates go through the device, permanently. Reads and waits always use the memory directly. Thread-safe.
class SharedCounter final : public Counter {
public:
    [[nodiscard]] static doca_error_t create(const CounterSetup &setup, std::unique_ptr<Counter> &counter);
    explicit SharedCounter(std::unique_ptr<Counter> local) noexcept : local_(std::move(local)) {}

    [[nodiscard]] doca_error_t get(std::uint64_t &value) noexcept override { return local_->get(value); }
    [[nodiscard]] doca_error_t set(std::uint64_t value) noexcept override;
    [[nodiscard]] doca_error_t add(std::uint64_t value, std::uint64_t &fetched) noexcept override;
    [[nodiscard]] doca_error_t wait(const WaitCondition &condition, WhileWaiting how) noexcept override
    {
        return local_->wait(condition, how);
    }
    [[nodiscard]] doca_error_t create_waits(CompletionQueue &completions, std::unique_ptr<CounterWaits> &waits) override
    {
        return local_->create_waits(completions, waits);
    }
    [[nodiscard]] doca_error_t export_to_dpu(Device &device, std::vector<std::byte> &descriptor) override;
    [[nodiscard]] std::uint64_t *local_word() noexcept override { return local_->local_word(); }
    void expect_unnotified_changes() noexcept override { local_->expect_unnotified_changes(); }

private:
    /// The key of one export, by one device.
    struct Export {
        verbs::Handle<ibv_mr> region;
        SharedKey shared;
    };

    const std::unique_ptr<Counter> local_; ///< the counter as the CPU accesses it
    ObjectMutex lock_;                     ///< protects all members below
    std::uint64_t card_guid_ = 0;          ///< card of all devices that have exported the counter
    DeviceWord word_;                      // the counter as queue_pair_ accesses it: by the key of the first export
    std::vector<Export> exports_;
    std::unique_ptr<WordQueuePair> queue_pair_; ///< null before the first export
};

/// A handle of a counter on the other side of the PCIe, accessed by RDMA through an alias of its key. Thread-safe: one
/// operation at a time, each of which takes a round trip over the PCIe. A counter that has become unreachable never
/// becomes reachable again.
class RemoteCounter final : public Counter {
public:
    [[nodiscard]] static doca_error_t create(const Mlx5Device &device, std::span<const std::byte> descriptor,
                                             std::unique_ptr<Counter> &counter);
    explicit RemoteCounter(const Mlx5Device &device) noexcept : device_(device) {}

    [[nodiscard]] doca_error_t get(std::uint64_t &value) noexcept override;
    [[nodiscard]] doca_error_t set(std::uint64_t value) noexcept override;
    [[nodiscard]] doca_error_t add(std::uint64_t value, std::uint64_t &fetched) noexcept override;
    [[nodiscard]] doca_error_t wait(const WaitCondition &condition, WhileWaiting how) noexcept override;
    [[nodiscard]] doca_error_t create_waits(CompletionQueue &completions,
                                            std::unique_ptr<CounterWaits> &waits) override;

    [[nodiscard]] const DeviceWord &word() const noexcept { return word_; }
    /// Returns @p status. Logs the reason of the first CONNECTION_RESET, which is permanent.
    [[nodiscard]] doca_error_t checked(doca_error_t status) noexcept;

private:
    /// Executes @p operation under the lock, since the queue pair carries one operation at a time.
    template <typename Operation>
    [[nodiscard]] doca_error_t run_locked(Operation operation) noexcept;

    const Mlx5Device &device_;
    DeviceKey alias_; ///< must outlive the operations of queue_pair_ and of all RemoteWaits
    DeviceWord word_;
    std::atomic<bool> has_logged_reset_{false}; ///< relaxed: only limits logging
    ObjectMutex lock_;                          ///< protects queue_pair_
    WordQueuePair queue_pair_;
};

} // namespace opendoca::mlx5
