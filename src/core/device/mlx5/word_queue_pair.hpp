// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include "../verbs/reliable_connection.hpp"

namespace opendoca::mlx5 {

class Mlx5Device;

/// An aligned 8-byte word that the device can address: in memory of this function or, by an alias, of another function
/// of the card.
struct DeviceWord {
    std::uint32_t key = 0; ///< rkey, or the alias of one
    std::uint64_t address = 0;
};

/// Reads and updates words by RDMA, with a queue pair that is its own peer. One signaled work request at a time, with
/// word_ as its local buffer. Not thread-safe. After a word has become unreachable, all operations fail.
class WordQueuePair {
public:
    [[nodiscard]] doca_error_t open(const Mlx5Device &device);

    /// These block until the operation has completed.
    [[nodiscard]] doca_error_t read(const DeviceWord &word, std::uint64_t &value) noexcept;
    [[nodiscard]] doca_error_t write(const DeviceWord &word, std::uint64_t value) noexcept;
    [[nodiscard]] doca_error_t add(const DeviceWord &word, std::uint64_t value, std::uint64_t &fetched) noexcept;

    // Starts a read without blocking; has_completed() polls for its completion.
    [[nodiscard]] doca_error_t post_read(const DeviceWord &word) noexcept;
    [[nodiscard]] bool is_busy() const noexcept { return is_busy_; }
    /// Returns true, and sets @p status, once the operation has completed. CONNECTION_RESET: the word is no longer
    /// reachable, and all later operations fail the same way.
    [[nodiscard]] bool has_completed(doca_error_t &status) noexcept;
    /// Returns the value of the last successful read.
    [[nodiscard]] std::uint64_t result() const noexcept { return word_; }

private:
    [[nodiscard]] doca_error_t post(ibv_send_wr &request) noexcept;
    [[nodiscard]] doca_error_t wait_for_completion() noexcept;

    alignas(64) std::uint64_t word_ = 0; ///< local buffer of the operation in flight
    bool is_busy_ = false;               ///< a work request is in flight
    bool is_unreachable_ = false;        ///< the word is no longer reachable
    verbs::FailureCheckBudget idle_polls_;
    verbs::Handle<ibv_mr> region_; ///< of word_
    verbs::VerbsCompletions completions_;
    verbs::ReliableConnection connection_; ///< declared after the members that it uses
};

} // namespace opendoca::mlx5
