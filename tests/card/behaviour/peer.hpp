// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

namespace card_test {

/// What two processes of a test tell each other.
struct Message {
    std::uint64_t word[6];
    std::uint8_t bytes[32];
};

/// Another process, of this program, on a side of the card: it runs what main() calls for its role.
class Peer {
public:
    Peer(const char *side, const char *role);
    ~Peer(); ///< kills it
    Peer(const Peer &) = delete;
    Peer &operator=(const Peer &) = delete;

    void send(const Message &message) const;
    [[nodiscard]] Message receive() const;
    /// Its exit status, or minus the signal that ended it.
    int wait();
    void kill();
    [[nodiscard]] pid_t pid() const { return pid_; }

private:
    int socket_;
    pid_t pid_;
};

// For the other process.
void send_to_test(const Message &message);
Message receive_from_test();
/// The role that this process was started for, or "".
std::string role(int argc, char **argv);

} // namespace card_test
