// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include "../verbs/reliable_connection.hpp"

namespace opendoca::mlx5 {

class Mlx5Device;

/// A word of 8 bytes, aligned, as the device knows it: memory of this function, or by an alias of another one of the
/// card.
struct DeviceWord {
    std::uint32_t key = 0;
    std::uint64_t address = 0;
};

/// Reads and changes words by a queue pair that is its own peer. Not thread-safe; one operation at a time.
class WordQueuePair {
public:
    [[nodiscard]] doca_error_t open(const Mlx5Device &device);

    [[nodiscard]] doca_error_t read(const DeviceWord &word, std::uint64_t &value) noexcept;
    [[nodiscard]] doca_error_t write(const DeviceWord &word, std::uint64_t value) noexcept;
    [[nodiscard]] doca_error_t add(const DeviceWord &word, std::uint64_t value, std::uint64_t &fetched) noexcept;

    // The same without waiting for the end.
    [[nodiscard]] doca_error_t begin_read(const DeviceWord &word) noexcept;
    [[nodiscard]] bool is_busy() const noexcept { return is_busy_; }
    /// True when what was begun has ended, by @p status. CONNECTION_RESET: the word is not there any more, and so is the
    /// answer to all that follows.
    [[nodiscard]] bool has_ended(doca_error_t &status) noexcept;
    /// What was read, after a good end.
    [[nodiscard]] std::uint64_t result() const noexcept { return word_; }

private:
    [[nodiscard]] doca_error_t post(ibv_send_wr &request) noexcept;
    [[nodiscard]] doca_error_t finish() noexcept;

    alignas(64) std::uint64_t word_ = 0; ///< where the device puts what it reads, and gets what it writes
    bool is_busy_ = false;
    bool is_gone_ = false; ///< the word
    verbs::FailureCheckBudget idle_polls_;
    verbs::Handle<ibv_mr> region_;
    verbs::VerbsCompletions completions_;
    verbs::ReliableConnection connection_; ///< after what it uses
};

} // namespace opendoca::mlx5
