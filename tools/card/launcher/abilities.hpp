// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

namespace opendoca::card {

/// Checks for the kernel features that the card needs and that a container's filter may refuse, and reports on stderr
/// what replaces a missing one. Returns false if there is no replacement.
bool check_kernel_features();

} // namespace opendoca::card
