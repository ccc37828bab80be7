// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <sys/types.h>

#include "../base/guard.hpp"
#include "fork.hpp"

namespace opendoca {

/// Detects the end of the process at the other end of a Unix socket: the one that has connected, or that has called
/// listen(). The socket itself does not show it if children of that process have inherited the other end. Any thread
/// may call the const functions.
class OPENDOCA_INTERNAL PeerProcess {
public:
    /// Returns the peer of @p socket, as open() finds it. Up to ten connections with one process may share the object,
    /// and with it the descriptor. Throws std::bad_alloc.
    [[nodiscard]] static std::shared_ptr<const PeerProcess> shared(int socket);

    /// Begins to watch the peer of @p socket instead of an earlier one. Watches nothing if the peer is in another PID
    /// namespace, or if it is not a Unix socket.
    void open(int socket) noexcept;

    /// Returns a descriptor that becomes readable when the peer ends; -1 if nothing is watched, or if there is no
    /// pidfd.
    [[nodiscard]] int fd() const noexcept { return pidfd_.get(); }
    [[nodiscard]] bool is_watched() const noexcept { return pid_ > 0; }
    /// Returns the peer's process id, or 0 if nothing is watched.
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    /// Returns true only if the peer has certainly ended. Makes a system call.
    [[nodiscard]] bool has_ended() const noexcept;

private:
    pid_t pid_ = 0; ///< 0 if nothing is watched
    ProcessFd pidfd_;
};

} // namespace opendoca
