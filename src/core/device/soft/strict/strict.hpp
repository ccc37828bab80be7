// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: where the software device is more lenient than a card, a strict function behaves as a card. Its rules
// are listed in docs/strict.md.
#pragma once

#include <cstdint>

#include "../../device.hpp"

namespace opendoca::soft {

/// Reads DOCA_SOFT_STRICT from the environment, which makes all functions strict. INVALID_VALUE, with a message, if it
/// is neither 0 nor 1.
[[nodiscard]] doca_error_t read_strict_mode(bool &is_strict);

/// Reads DOCA_SOFT_STRICT_SEED from the environment, which chooses the order of completions; 1 if it is not set.
/// INVALID_VALUE, with a message, if it is no number.
[[nodiscard]] doca_error_t read_strict_seed(std::uint64_t &seed);

/// Lowers the limits of a function to those of a card.
void apply_strict_limits(Capabilities &can) noexcept;

/// Checks the size of a queue of shared receives. DRIVER, after a log line, if a card could not create it.
[[nodiscard]] doca_error_t check_strict_receives(std::uint32_t size, const DeviceFunction &function);

/// Returns the suffix that names @p rule in log messages.
[[nodiscard]] const char *suffix_of(StrictRule rule) noexcept;

} // namespace opendoca::soft
