// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_error.h>

namespace opendoca::verbs {

class ReliableConnection;
class VerbsDevice;

/// Connects @p connection, which must be in state INIT, to itself, by the first address of its port that works.
[[nodiscard]] doca_error_t connect_to_itself(const VerbsDevice &device, ReliableConnection &connection) noexcept;

} // namespace opendoca::verbs
