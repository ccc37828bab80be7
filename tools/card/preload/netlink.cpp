// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "netlink.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "names.hpp"

namespace opendoca::card {

namespace {

// Set once a connection is open. Relaxed: the store precedes the return of open_socket(), and a thread that uses the
// descriptor received it after that.
std::atomic<bool> has_opened_one;

constexpr char generic[] = "netlink", rdma[] = "rdma_netlink"; // names of the sockets

/// Sets the address of a socket of this side. Returns false without a card, or if it is too long.
bool set_path(sockaddr_un &address, const char *name)
{
    address = {};
    address.sun_family = AF_UNIX;
    const int length = std::snprintf(address.sun_path, sizeof(address.sun_path), "%s/dev/%s", side_folder(), name);
    return *side_folder() != '\0' && static_cast<std::size_t>(length) < sizeof(address.sun_path);
}

/// Returns whether the address is that of this socket.
bool is_path_of(const sockaddr_un &address, const char *name)
{
    sockaddr_un expected;
    return set_path(expected, name) && std::strcmp(address.sun_path, expected.sun_path) == 0;
}

} // namespace

bool has_netlink()
{
    sockaddr_un address;
    const int saved = errno;
    const bool found = set_path(address, generic) && syscall(SYS_faccessat, AT_FDCWD, address.sun_path, F_OK) == 0;
    errno = saved;
    return found;
}

namespace {

/// Connects to a socket of the card, with the flags of the socket that the program asked for.
int open_socket(int type, const char *name)
{
    sockaddr_un address;
    const int flags = type & (SOCK_CLOEXEC | SOCK_NONBLOCK);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | flags, 0);
    if (fd < 0)
        return -1;
    if (!set_path(address, name) || connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0) {
        close(fd);
        // As from a kernel without this protocol.
        errno = EPROTONOSUPPORT;
        return -1;
    }
    has_opened_one.store(true, std::memory_order_relaxed);
    return fd;
}

} // namespace

int open_netlink(int type)
{
    return open_socket(type, generic);
}

int open_rdma_netlink(int type)
{
    return open_socket(type, rdma);
}

bool is_netlink(int fd)
{
    sockaddr_un address{};
    socklen_t size = sizeof(address);
    if (!has_opened_one.load(std::memory_order_relaxed))
        return false;
    const int saved = errno;
    const bool is_ours = getpeername(fd, reinterpret_cast<sockaddr *>(&address), &size) == 0 &&
                         address.sun_family == AF_UNIX && (is_path_of(address, generic) || is_path_of(address, rdma));
    errno = saved;
    return is_ours;
}

void store_netlink_address(unsigned port, void *address, socklen_t *size)
{
    sockaddr_nl own{};
    own.nl_family = AF_NETLINK;
    own.nl_pid = port;
    if (address != nullptr)
        std::memcpy(address, &own, std::min<std::size_t>(*size, sizeof(own)));
    *size = sizeof(own);
}

} // namespace opendoca::card
