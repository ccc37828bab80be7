// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "guard.hpp"

namespace opendoca {

/// Whether one more line of the log may be about those who reach a port of this process: anybody may, as often as he
/// likes. True twenty times a minute.
[[nodiscard]] OPENDOCA_INTERNAL bool may_tell_of_strangers() noexcept;

} // namespace opendoca
