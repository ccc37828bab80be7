// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Another machine, or another device of this one, for the other processes of RDMA tests. The environment
// names them: OPENDOCA_TEST_PEER_HOST is "address:port" of a machine where the same executable runs with
// --serve <port>, and OPENDOCA_TEST_PEER_DEVICE is the device that peers use, there or here.
#pragma once

#include <string>

#include "child_process.hpp"

namespace doca_test {

/// The device that a peer of a test on @p device uses.
[[nodiscard]] std::string peer_device(const std::string &device);

/// The arguments of a ChildProcess that runs a program on the machine of the peers, which may be this one.
struct PeerProgram {
    explicit PeerProgram(const char *program);

    const char *name;
    ChildProcess::Variables variables;
    int kill_signal = SIGKILL; ///< another machine is asked to kill the program, and its end is waited for
};

/// For main(): with --serve <port> runs the children of another machine's tests and does not return; with
/// --release tells the machine that serves this one to end, and does not return either.
void serve_if_asked(int argc, char **argv);

} // namespace doca_test
