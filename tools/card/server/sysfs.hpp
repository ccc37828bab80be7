// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

#include "card.hpp"

namespace opendoca::card {

/// Writes the files of a card below `folder`: for each side (host, dpu) a tree sys/ with the files that sysfs would
/// show, and an empty folder dev/ for the sockets. Returns false, with a message on stderr, if it cannot.
bool write_sysfs(const Card &card, const std::string &folder);

} // namespace opendoca::card
