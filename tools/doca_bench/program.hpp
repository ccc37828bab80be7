// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Runs other programs next to this one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace opendoca::tools {

/// A program to run, with its arguments and environment.
struct Command {
    std::vector<std::string> argv;
    std::string package;                    ///< the Debian package that contains the program
    std::vector<std::string> environment{}; ///< NAME=VALUE, added to our environment
    std::string without{};                  ///< prefix of variables that are removed; empty for none
    int cpu = -1;                           ///< the CPU to pin it to; -1: not pinned
};

/// A running program. Owned by the caller; the destructor kills it if it still runs, and waits for its end.
class Program {
public:
    /// Starts the program. @p output is the descriptor that receives both its output streams, or -1 for none. Throws if
    /// it can't be run, naming its package.
    Program(const Command &command, int output);
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;
    ~Program();

    /// Waits for its end and returns the wait status.
    int wait();

private:
    pid_t pid_ = -1; ///< -1 after wait()
};

/// Runs a program to its end and returns its output, and whether it has succeeded.
[[nodiscard]] std::pair<std::string, bool> output_of(const Command &command);

/// Runs a server and then its client, and returns the client's output. The client is repeated until the server listens.
/// Throws, with the output, if it fails otherwise.
[[nodiscard]] std::string output_of_client(const Command &server, const Command &client);

/// Returns a TCP port that is free at the moment; another program may take it before it is used.
[[nodiscard]] int free_port();

} // namespace opendoca::tools
