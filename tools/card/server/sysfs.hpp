// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

#include "card.hpp"

namespace opendoca::card {

/// Writes the files of a card below `folder`: host/sys, dpu/sys, as sysfs would show them, and dev/ for the
/// sockets. False with a message on stderr where it cannot.
bool write_sysfs(const Card &card, const std::string &folder);

} // namespace opendoca::card
