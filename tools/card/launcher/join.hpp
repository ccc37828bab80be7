// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

#include "../../../src/core/unique_fd.hpp"
#include "options.hpp"

namespace opendoca::card {

/// A card to run a program on.
struct Joined {
    UniqueFd lease; ///< a connection to the card's control socket: the card stays as long as it is open
    std::string folder;
    bool has_dpu = false;
};

/// Joins the card that the options name, and starts it where it does not run. The lease is not open, with a
/// message on stderr, where that failed.
Joined join_card(const Options &options);

/// Asks for one line: the card's answer, or "error: ...".
std::string ask(const UniqueFd &lease, const std::string &line);

} // namespace opendoca::card
