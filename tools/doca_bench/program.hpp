// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Other programs that run beside ours.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace opendoca::tools {

struct Command {
    std::vector<std::string> argv;
    std::string package;                    ///< of Debian, where the program is
    std::vector<std::string> environment{}; ///< NAME=VALUE, added to ours
    std::string without{};                  ///< variables whose names begin so are left out; empty: none
    int cpu = -1;                           ///< where it is to stay; -1: anywhere
};

/// A program that is gone at the end, whatever happens.
class Program {
public:
    /// @p output takes what it prints, or is -1. Throws when it can't be run.
    Program(const Command &command, int output);
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;
    ~Program();

    /// The wait status.
    int wait();

private:
    pid_t pid_ = -1;
};

/// What it prints, and whether it has ended well.
[[nodiscard]] std::pair<std::string, bool> output_of(const Command &command);

/// What the client of a pair prints on success. The server is started first; the client is repeated until the
/// server listens. Throws with the output when it fails otherwise.
[[nodiscard]] std::string output_of_client(const Command &server, const Command &client);

/// A TCP port that nobody uses now.
[[nodiscard]] int free_port();

} // namespace opendoca::tools
