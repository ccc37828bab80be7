// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

#include "../../../src/core/base/unique_fd.hpp"
#include "options.hpp"

namespace opendoca::card {

/// A running card that a program was attached to. The process that runs the program inherits the lease, so the card
/// runs at least as long as the program.
struct Joined {
    UniqueFd lease; ///< connection to the control socket; the card runs at least until it is closed
    std::string folder;
    bool has_dpu = false;
    bool is_linked = false;   ///< the other side of the card is at another place
    bool has_address = false; ///< a function of this side has an address, at which packets reach it
};

/// Returns the directory of a card with a link for the connections of its programs.
std::string services_folder(const std::string &folder);

/// Attaches to the card that the options name, and starts it if it does not run. The lease is not open, with a message
/// on stderr, if that failed.
Joined join_card(const Options &options);

/// Sends one control line. Returns the card's reply, or "error: ...".
std::string send_control_line(const UniqueFd &lease, const std::string &line);

} // namespace opendoca::card
