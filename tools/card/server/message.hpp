// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages of the card's sockets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "../../../src/core/unique_fd.hpp"
#include "../wire.hpp"

namespace opendoca::card {

struct Incoming {
    bool is_closed = false; ///< by the other side
    std::optional<Request> request;
    pid_t sender = 0; ///< as the kernel says
    uid_t user = 0;
    std::vector<UniqueFd> descriptors;
};

/// Takes one message without waiting.
Incoming receive_request(int socket);
/// Sends a reply without waiting. Who does not take it goes without.
void send_reply(int socket, const Reply &reply, const UniqueFd &descriptor);
/// The user at the other end of a connection.
std::optional<uid_t> peer_user(int socket);
/// Is it a userfaultfd? One that is not could make the card wait.
bool is_userfaultfd(int fd);

} // namespace opendoca::card
