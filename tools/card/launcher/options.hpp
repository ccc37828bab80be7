// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../server/addresses.hpp"
#include "../server/link.hpp"

namespace opendoca::card {

/// The options before the command. Filled and checked by parse_options(); constant afterwards.
struct Options {
    std::string profile; ///< "" if absent
    std::string side = "host";
    std::string card;                  ///< "" if absent
    std::string calls = "extended";    ///< form of the calls that libibverbs offers to the program
    std::vector<std::string> requests; ///< control lines for the card
    std::vector<AssignedAddress> addresses;
    std::optional<LinkSettings> link; ///< how the other side of the card is reached, if it is at another place
    bool is_verbose = false;
    bool is_help = false;
    bool is_version = false;
    int command = 0; ///< index of the command's first word; argc if there is none
};

/// Parses the words before the command. Returns nothing, with a message on stderr, if they are invalid.
std::optional<Options> parse_options(int argc, char **argv);
void print_help();

} // namespace opendoca::card
