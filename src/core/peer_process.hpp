// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <sys/types.h>

#include "fork.hpp"
#include "guard.hpp"

namespace opendoca {

/// The process at the other end of a Unix socket: the one that has connected, or that has called listen(). A socket
/// does not show its end where children of it have inherited the other end.
class OPENDOCA_INTERNAL PeerProcess {
public:
    /// Watches nothing where the process is in another PID namespace, or the socket is none of the Unix domain.
    void open(int socket) noexcept;

    /// Becomes readable at the end; -1 where nothing is watched, or the kernel gives no such descriptor.
    [[nodiscard]] int fd() const noexcept { return pidfd_.get(); }
    [[nodiscard]] bool is_watched() const noexcept { return pid_ > 0; }
    /// For certain. Costs a system call.
    [[nodiscard]] bool has_ended() const noexcept;

private:
    pid_t pid_ = 0;
    ProcessFd pidfd_;
};

} // namespace opendoca
