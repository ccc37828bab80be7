// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

namespace opendoca::card {

/// Returns the folder of this user's cards, and creates it with access for this user only. Returns "", with a message
/// on stderr, if that fails.
std::string cards_folder();

} // namespace opendoca::card
