// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include "../../../engine/completion_order.hpp"
#include "strict_random.hpp"

namespace opendoca::soft {

/// A random order, the same for the same seed.
class StrictOrder final : public CompletionOrder {
public:
    [[nodiscard]] std::uint32_t next(std::uint32_t count) noexcept override { return random_.below(count); }

private:
    StrictRandom random_ = StrictRandom::of_next_engine();
};

} // namespace opendoca::soft
