// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include "guard.hpp"

namespace opendoca {

/// A number that no other existing Id has, as small as possible. For objects that can be added to a work queue, which
/// finds them by an index. Taken at construction, which may throw std::bad_alloc, and released at destruction.
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
