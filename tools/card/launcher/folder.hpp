// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

namespace opendoca::card {

/// The folder that this user's cards are in, which belongs to this user alone. "" with a message on stderr
/// where there can be none.
std::string cards_folder();

} // namespace opendoca::card
