// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_error.h>

namespace opendoca::verbs {

class ReliableConnection;
class VerbsDevice;

/// Makes @p connection, which is in state INIT, its own peer: the first way that works, of those that its
/// port has.
[[nodiscard]] doca_error_t connect_to_itself(const VerbsDevice &device,
                                             ReliableConnection &connection) noexcept;

} // namespace opendoca::verbs
