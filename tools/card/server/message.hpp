// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages on the card's sockets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "../../../src/core/base/unique_fd.hpp"
#include "../wire.hpp"

namespace opendoca::card {

/// A message from a preloaded library, or what happened in place of one: without a request it was malformed, or there
/// was none. Sender and user come from the kernel (SCM_CREDENTIALS), so a program cannot forge them. Owns the received
/// descriptors; those that are not moved out are closed with it.
struct Incoming {
    bool is_closed = false; ///< the peer has closed the connection
    std::optional<Request> request;
    pid_t sender = 0; ///< process that sent it, verified by the kernel
    uid_t user = 0;
    std::vector<UniqueFd> descriptors;
};

/// Receives one message without blocking.
Incoming receive_request(int socket);
/// Sends a reply without blocking. The reply is dropped if the socket is full, which happens only to a client that does
/// not use a new socket for each request.
void send_reply(int socket, const Reply &reply, const UniqueFd &descriptor);
/// Returns a descriptor (pidfd) that becomes readable when the process at the other end of a Unix socket ends: the one
/// that has connected, or that has called listen(). Not open, with errno, if there is none: ESRCH if it has ended.
UniqueFd open_peer_process(int socket);
/// Returns whether a call that failed with this number in errno may succeed later.
bool is_temporary(int error);
/// Returns whether the process of a pidfd has ended.
bool has_ended(const UniqueFd &process);
/// Returns the user at the other end of a connection.
std::optional<uid_t> peer_user(int socket);
/// Returns whether the descriptor is a userfaultfd, and makes it non-blocking. Any other kind of descriptor could block
/// the card.
bool is_userfaultfd(int fd);
/// Returns whether the descriptor is an eventfd.
bool is_eventfd(int fd);

} // namespace opendoca::card
