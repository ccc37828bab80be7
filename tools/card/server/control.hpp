// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Faults on request: one line of text, one line of answer.
#pragma once

#include <string>
#include <string_view>

#include "card.hpp"

namespace opendoca::card {

/// Does what a line asks for: "ok", "ok ..." or "error: ...".
std::string run_control(Card &card, std::string_view line);

/// The lines that there are, for help texts.
std::string_view control_help();

/// Removes the folder of a card that is not needed any more. False where a program is about to use it.
bool release_folder(const std::string &folder);

} // namespace opendoca::card
