// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

namespace opendoca::soft {

/// Random numbers for the order in which an engine of a strict device completes its operations. A value, used by the
/// thread of the engine. Depends on the seed and on how many engines the process has created before, and on nothing
/// else.
class StrictRandom {
public:
    StrictRandom() noexcept = default;
    /// Returns the numbers of an engine that is created now. Thread-safe.
    [[nodiscard]] static StrictRandom of_next_engine() noexcept;
    /// Returns DOCA_SOFT_STRICT_SEED; 1 if it is not set or no number.
    [[nodiscard]] static std::uint64_t seed() noexcept;

    /// Returns a number from 0 to @p limit - 1.
    [[nodiscard]] std::uint32_t below(std::uint32_t limit) noexcept;

private:
    explicit StrictRandom(std::uint64_t state) noexcept : state_(state) {}

    std::uint64_t state_ = 0;
};

} // namespace opendoca::soft
