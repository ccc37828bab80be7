// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

namespace opendoca::card {

/// Looks for what the card needs of the kernel, which the filters of containers may refuse, and says what it
/// does instead. False where there is nothing to do instead.
bool check_abilities();

} // namespace opendoca::card
