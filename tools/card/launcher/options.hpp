// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace opendoca::card {

struct Options {
    std::string profile; ///< "" where none was given
    std::string side = "host";
    std::string card;                  ///< "" where none was given
    std::string calls = "extended";    ///< what libibverbs offers the program
    std::vector<std::string> requests; ///< lines for the card's control socket
    bool is_verbose = false;
    bool is_help = false;
    bool is_version = false;
    int command = 0; ///< index of the command's first word; argc where there is none
};

/// Reads the words before the command. Nothing, with a message on stderr, where they are wrong.
std::optional<Options> parse_options(int argc, char **argv);
void print_help();

} // namespace opendoca::card
