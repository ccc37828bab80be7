// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

namespace opendoca::card {

/// The library that programs are started with: beside this program in a build tree, in its own folder where
/// it is installed. "" with a message on stderr where it is in neither.
std::string preload_library();

} // namespace opendoca::card
