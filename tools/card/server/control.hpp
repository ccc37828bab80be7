// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The control protocol: one line of text requests a fault or the status, one line is the reply.
#pragma once

#include <string>
#include <string_view>

#include "card.hpp"

namespace opendoca::card {

/// Carries out a control line. Returns "ok", "ok ..." or "error: ...".
std::string run_control(Card &card, std::string_view line);

/// Returns one line of help for each control line.
std::string_view control_help();

/// Removes the folder of a card that ends. Returns false if a launcher holds the lock, which means that a program is
/// about to use the card.
bool release_folder(const std::string &folder);

} // namespace opendoca::card
