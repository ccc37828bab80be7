// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_error.h>

#include "../counter.hpp"

namespace opendoca {

/// Creates a counter that the CPU updates and that only this process can use, for devices without counters of their
/// own. NOT_SUPPORTED if the memory at @p setup's word is not readable and writable.
[[nodiscard]] doca_error_t create_local_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter);

} // namespace opendoca
