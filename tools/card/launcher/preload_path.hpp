// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

namespace opendoca::card {

/// Returns the path of the preloaded library: next to this program in a build tree, in a folder of its own when
/// installed. Returns "", with a message on stderr, if it is in neither place.
std::string preload_library();

} // namespace opendoca::card
