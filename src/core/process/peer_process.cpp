// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "peer_process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../base/poll_one.hpp"
#include "registry.hpp"

namespace opendoca {

namespace {

/// SO_PEERPIDFD, since Linux 6.5: a pidfd that is certainly the peer's, even if its pid was reused. The value is the
/// same on all architectures that Linux distributions support today.
constexpr int so_peerpidfd = 77;

/// Returns a pidfd of the peer, or -1. On older kernels, one by @p pid, which may have been reused since.
int pidfd_of_peer(int socket, pid_t pid) noexcept
{
    int fd = -1;
    socklen_t size = sizeof(fd);
    if (getsockopt(socket, SOL_SOCKET, so_peerpidfd, &fd, &size) == 0) {
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC); // not set by all kernels
        return fd;
    }
    return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

/// Most users of one descriptor. Each may watch it with an epoll instance of its own, which is nested in that of its
/// engine, and that in those of the program. The kernel limits the number of ways from a descriptor to the outermost
/// epoll instances: to ten at the deepest nesting that it allows.
constexpr long max_users = 10;

class SharedProcess;
using Processes = Registry<pid_t, SharedProcess, LockRank::processes>;

/// A process that was alive when it was first found as a peer. An object that has had max_users is replaced in the
/// registry, and gets no further ones.
class SharedProcess final : public PeerProcess {
public:
    SharedProcess() = default;
    SharedProcess(const SharedProcess &) = delete;
    SharedProcess &operator=(const SharedProcess &) = delete;
    ~SharedProcess() { Processes::instance().remove(pid()); }
};

} // namespace

std::shared_ptr<const PeerProcess> PeerProcess::shared(int socket)
{
    const auto made = std::make_shared<SharedProcess>();
    made->open(socket);
    if (made->fd() < 0 || made->has_ended())
        return made;
    std::shared_ptr<SharedProcess> known; // declared before the guard: its destructor takes the lock
    const std::lock_guard guard(Processes::instance().lock);
    known = Processes::instance().find(made->pid());
    // If both are alive, they are one process. Otherwise the pid is used again.
    if (known != nullptr && known.use_count() <= max_users && !known->has_ended())
        return known;
    Processes::instance().add(made->pid(), made);
    return made;
}

void PeerProcess::open(int socket) noexcept
{
    ucred peer{};
    socklen_t size = sizeof(peer);
    int domain = 0;
    socklen_t domain_size = sizeof(domain);
    pidfd_.reset();
    pid_ = 0;
    // A pid of 0 stands for a process in another PID namespace.
    if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &domain_size) != 0 || domain != AF_UNIX ||
        getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0)
        return;
    pid_ = peer.pid;
    pidfd_ = UniqueFd(pidfd_of_peer(socket, pid_));
}

bool PeerProcess::has_ended() const noexcept
{
    if (!is_watched())
        return false;
    if (pidfd_.is_open())
        return poll_one(pidfd_.get(), POLLIN, std::chrono::milliseconds(0)) != 0;
    // Without a pidfd. A reused pid makes this miss the end, but never report one.
    return kill(pid_, 0) != 0 && errno == ESRCH;
}

} // namespace opendoca
