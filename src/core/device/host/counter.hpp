// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_error.h>

#include "../counter.hpp"

namespace opendoca {

/// Makes a counter that the CPU updates and that stays in this process: for devices that have none of their own.
/// NOT_SUPPORTED where @p setup's word can't be read and written.
[[nodiscard]] doca_error_t create_local_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter);

} // namespace opendoca
