// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cerrno>
#include <cstddef>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "../../src/core/base/unique_fd.hpp"

namespace opendoca::tools {

/// Throws the error of errno for the action @p what.
[[noreturn]] void fail(const char *what);

/// Returns both ends of a socket that keeps message boundaries, or of another @p type.
void make_socket_pair(UniqueFd &first, UniqueFd &second, int type = SOCK_SEQPACKET);

/// The second process of a benchmark, forked from this one and connected by a socket, its channel. Owned by the
/// benchmark; its destructor closes the channel, which ends the other process, and waits for it. The kernel kills the
/// other process if this one dies.
class OtherProcess {
public:
    /// Forks, so it must be constructed before the first DOCA object. The child is pinned to @p cpu unless that is -1.
    /// It runs @p serve with its end of the channel, until this end is closed. @p type is the channel's socket type.
    OtherProcess(int cpu, const std::function<void(int channel)> &serve, int type = SOCK_SEQPACKET);
    OtherProcess(const OtherProcess &) = delete;
    OtherProcess &operator=(const OtherProcess &) = delete;
    /// Waits until the process has ended.
    ~OtherProcess();

    [[nodiscard]] int channel() const noexcept { return channel_.get(); }
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

private:
    UniqueFd channel_; ///< this process's end
    pid_t pid_ = -1;
};

/// Objects in memory that is shared with child processes forked later. Zero-initialized. They must be usable across
/// processes: no pointers, and only lock-free atomics. Each process unmaps its own mapping.
template <typename Object, std::size_t count>
class SharedObjects {
public:
    SharedObjects()
    {
        void *const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED)
            fail("mmap");
        objects_ = new (mapped) Object[count]{};
    }
    SharedObjects(const SharedObjects &) = delete;
    SharedObjects &operator=(const SharedObjects &) = delete;
    ~SharedObjects() { munmap(objects_, size); }

    [[nodiscard]] Object *get() const noexcept { return objects_; }
    [[nodiscard]] Object &operator[](std::size_t i) const noexcept { return objects_[i]; }

private:
    static constexpr std::size_t size = count * sizeof(Object);

    Object *objects_ = nullptr;
};

/// Sends a message, a plain structure, as one packet. The receiver is a copy of the same program, so layouts agree.
template <typename Message>
void send_message(int channel, const Message &message)
{
    if (send(channel, &message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
        fail("talking to the other process");
}

/// Receives a message. Returns false if the peer has closed its end, or has sent something of another size.
template <typename Message>
[[nodiscard]] bool receive_message(int channel, Message &message)
{
    ssize_t size = 0;
    while ((size = recv(channel, &message, sizeof(message), 0)) < 0 && errno == EINTR) {
    }
    return size == sizeof(message);
}

/// Receives the answer of the other process, a structure with a member @c problem. Throws the problem if it is not
/// empty.
template <typename Reply>
[[nodiscard]] Reply await_reply(int channel)
{
    Reply reply;
    if (!receive_message(channel, reply))
        throw std::runtime_error("the other process has gone");
    if (reply.problem[0] != '\0')
        throw std::runtime_error(std::string("the other process: ") + reply.problem);
    return reply;
}

} // namespace opendoca::tools
