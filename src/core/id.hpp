// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include "guard.hpp"

namespace opendoca {

/// Small, and unique among the living: what can be added to a work queue is found there by its number.
/// Thread-safe.
class OPENDOCA_INTERNAL Id {
public:
    Id();
    Id(const Id &) = delete;
    Id &operator=(const Id &) = delete;
    ~Id();

    operator std::uint32_t() const noexcept { return number_; }

private:
    std::uint32_t number_;
};

} // namespace opendoca
