// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "wire.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

#include "../core/log/log.hpp"
#include "limits.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_WIRE);

namespace opendoca::comm_channel {

namespace {

constexpr std::size_t max_files = 2; ///< that a handshake message can carry

/// Space for a control message with descriptors, aligned as the kernel requires.
union ControlBuffer {
    char bytes[CMSG_SPACE(max_files * sizeof(int))];
    cmsghdr alignment;
};

bool is_queue(std::uint32_t messages) noexcept
{
    return messages >= min_queue_size && messages <= max_queue_size && (messages & (messages - 1)) == 0;
}

bool is_message_size(std::uint32_t size) noexcept
{
    return size >= min_message_size && size <= max_message_size;
}

} // namespace

RingShape ring_between(const Limits &sender, const Limits &receiver) noexcept
{
    RingShape shape = {std::min(sender.send_queue, receiver.recv_queue),
                       std::min(sender.message_size, receiver.message_size)};
    const std::uint16_t limit = std::min(sender.max_program_message(), receiver.max_program_message());
    if (limit < shape.message_size)
        shape.program_limit = limit;
    return shape;
}

bool are_valid(const Limits &limits) noexcept
{
    return is_queue(limits.send_queue) && is_queue(limits.recv_queue) && is_message_size(limits.message_size) &&
           limits.program_limit <= limits.message_size;
}

bool is_valid(const RingShape &shape) noexcept
{
    return is_queue(shape.messages) && is_message_size(shape.message_size) && shape.program_limit <= shape.message_size;
}

bool is_same_user(int socket)
{
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        LOG_ERR("the user of a peer cannot be determined: %s", std::strerror(errno));
        return false;
    }
    if (peer.uid != geteuid()) {
        LOG_ERR("process %d belongs to user %u, this one to user %u; software devices connect processes "
                "of one user",
                static_cast<int>(peer.pid), peer.uid, geteuid());
        return false;
    }
    return true;
}

bool send_message(int socket, std::span<const std::byte> bytes, std::span<const int> files) noexcept
{
    iovec part = {const_cast<std::byte *>(bytes.data()), bytes.size()};
    ControlBuffer control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!files.empty()) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(files.size_bytes());
        cmsghdr *const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(files.size_bytes());
        std::memcpy(CMSG_DATA(header), files.data(), files.size_bytes());
    }
    ssize_t sent = -1;
    do
        sent = sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(bytes.size());
}

Arrival receive_message(int socket, std::span<std::byte> bytes, std::span<UniqueFd> files) noexcept
{
    iovec part = {bytes.data(), bytes.size()};
    ControlBuffer control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof(control.bytes);
    const ssize_t size = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0 && is_temporary(errno))
        return Arrival::nothing;
    if (size <= 0)
        return Arrival::ended;
    UniqueFd arrived[max_files]; // unexpected descriptors are closed
    std::size_t count = 0;
    for (cmsghdr *header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        const std::size_t in_header = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < in_header && count < max_files; ++i, ++count) {
            int file;
            std::memcpy(&file, CMSG_DATA(header) + i * sizeof(int), sizeof(file));
            arrived[count] = UniqueFd(file);
        }
    }
    // MSG_CTRUNC with fewer descriptors than expected: the kernel could not install them in this process.
    if ((message.msg_flags & MSG_CTRUNC) != 0 && count < files.size())
        return Arrival::stripped;
    if (static_cast<std::size_t>(size) != bytes.size() || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ||
        count > files.size())
        return Arrival::malformed;
    std::ranges::move(std::span(arrived).first(count), files.begin());
    return Arrival::complete;
}

bool ring_doorbell(int socket) noexcept
{
    constexpr char bell = '!';
    ssize_t sent = -1;
    do
        sent = send(socket, &bell, sizeof(bell), MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    // A full socket already holds doorbells, and a closed one is detected elsewhere.
    return sent >= 0 || errno == EAGAIN || errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN;
}

bool drain_doorbells_of(int socket) noexcept
{
    constexpr int most = 64; // doorbells beyond this leave the socket readable
    char bells[16];
    for (int i = 0; i < most; ++i) {
        const ssize_t size = recv(socket, bells, sizeof(bells), MSG_DONTWAIT);
        if (size > 0)
            continue;
        return size < 0 && is_temporary(errno);
    }
    return true;
}

bool is_closed_by_peer(int socket) noexcept
{
    pollfd end = {.fd = socket, .events = POLLRDHUP, .revents = 0};
    return poll(&end, 1, 0) == 1;
}

} // namespace opendoca::comm_channel
