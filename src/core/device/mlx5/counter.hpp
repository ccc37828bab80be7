// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sync events across the PCIe. The counter is in the memory of the process that has exported it, where its program may
// have put it, and is read there by loads. Other functions of the card reach it through an alias of its key: by RDMA
// reads, writes and atomics. Those are atomic among each other and not to the CPU's: so once the counter is exported its
// own process changes it by the device, too.
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "../counter.hpp"
#include "commands.hpp"
#include "shared_key.hpp"
#include "word_queue_pair.hpp"

namespace opendoca::mlx5 {

/// One of this process.
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
    [[nodiscard]] std::uint64_t *word_here() noexcept override { return local_->word_here(); }
    void expect_silent_changes() noexcept override { local_->expect_silent_changes(); }

private:
    /// By one device.
    struct Export {
        verbs::Handle<ibv_mr> region;
        SharedKey shared;
    };

    const std::unique_ptr<Counter> local_; ///< the same for the CPU
    std::mutex lock_;                      ///< of all that follows
    std::uint64_t card_guid_ = 0;          ///< of those that it was exported by
    DeviceWord word_;                      ///< for the own queue pair
    std::vector<Export> exports_;
    std::unique_ptr<WordQueuePair> queue_pair_; ///< from the first export on
};

/// A handle of one on the other side.
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
    /// Passes @p status on. Of CONNECTION_RESET, which is for good, the log says why once.
    [[nodiscard]] doca_error_t checked(doca_error_t status) noexcept;

private:
    template <typename Operation>
    [[nodiscard]] doca_error_t carry_out(Operation operation) noexcept;

    const Mlx5Device &device_;
    DeviceKey alias_;
    DeviceWord word_;
    std::atomic<bool> has_told_end_{false};
    std::mutex lock_; ///< of the queue pair
    WordQueuePair queue_pair_;
};

} // namespace opendoca::mlx5
