// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "message.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace opendoca::card {

namespace {

/// Returns whether the text of a descriptor's link identifies it as this kind. A file cannot have such a text, since
/// its name begins with '/'.
bool is_of_kind(int fd, const char *kind)
{
    std::array<char, 64> target{};
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    return readlink(path.c_str(), target.data(), target.size() - 1) > 0 && std::strcmp(target.data(), kind) == 0;
}

} // namespace

Incoming receive_request(int socket)
{
    Incoming incoming;
    Request request{};
    alignas(cmsghdr) std::array<char, 256> control;
    iovec part{&request, sizeof(request)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    // Exactly one message is read: the socket keeps message boundaries, and the event loop calls again for the next.
    // An error of the connection ends it, as if the peer had closed it.
    if (got <= 0) {
        incoming.is_closed = got == 0 || (errno != EAGAIN && errno != EINTR);
        return incoming;
    }
    for (cmsghdr *header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        const std::uint8_t *data = CMSG_DATA(header);
        const std::size_t size = header->cmsg_len - CMSG_LEN(0);
        if (header->cmsg_level != SOL_SOCKET)
            continue;
        // The kernel adds the credentials (SO_PASSCRED of the listening socket, which its connections inherit).
        if (header->cmsg_type == SCM_CREDENTIALS && size >= sizeof(ucred)) {
            ucred credentials{};
            std::memcpy(&credentials, data, sizeof(credentials));
            incoming.sender = credentials.pid;
            incoming.user = credentials.uid;
        } else if (header->cmsg_type == SCM_RIGHTS) {
            // All descriptors are taken, also superfluous ones: a descriptor that is not taken would stay open.
            for (std::size_t at = 0; at + sizeof(int) <= size; at += sizeof(int)) {
                int fd = -1;
                std::memcpy(&fd, data + at, sizeof(fd));
                incoming.descriptors.emplace_back(fd);
            }
        }
    }
    // Messages of another size are ignored. Their descriptors are closed with `incoming`.
    if (got == static_cast<ssize_t>(sizeof(request)) && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
        incoming.request = request;
    return incoming;
}

void send_reply(int socket, const Reply &reply, const UniqueFd &descriptor)
{
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    iovec part{const_cast<Reply *>(&reply), sizeof(reply)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor.is_open()) {
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        const int fd = descriptor.get();
        std::memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    // The program may have ended, and its socket may be of any kind: the call must neither block nor raise SIGPIPE.
    sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

UniqueFd open_peer_process(int socket)
{
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return {};
    return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0))); // EINVAL: in another namespace
}

bool is_temporary(int error)
{
    return error == EAGAIN || error == EINTR || error == ENOMEM || error == ENOBUFS;
}

bool has_ended(const UniqueFd &process)
{
    pollfd state{process.get(), POLLIN, 0};
    return process.is_open() && poll(&state, 1, 0) > 0;
}

std::optional<uid_t> peer_user(int socket)
{
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
        return std::nullopt;
    return credentials.uid;
}

bool is_userfaultfd(int fd)
{
    return is_of_kind(fd, "anon_inode:[userfaultfd]") && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

bool is_eventfd(int fd)
{
    return is_of_kind(fd, "anon_inode:[eventfd]");
}

} // namespace opendoca::card
