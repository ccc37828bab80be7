// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "../../../src/core/base/unique_fd.hpp"

namespace doca_test {

/// Of the system calls that the tests themselves need.
inline void ensure_call(bool holds, const char *what)
{
    if (!holds)
        throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

/// A network of this thread's own, whose loopback interface can be switched off.
class OwnNetwork {
public:
    OwnNetwork() : before_(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)), has_own_(unshare(CLONE_NEWNET) == 0)
    {
        if (has_own_)
            set_loopback(true);
    }
    OwnNetwork(const OwnNetwork &) = delete;
    OwnNetwork &operator=(const OwnNetwork &) = delete;
    ~OwnNetwork()
    {
        if (has_own_)
            ensure_call(setns(before_.get(), CLONE_NEWNET) == 0, "the way back to the network of before");
    }

    [[nodiscard]] bool is_there() const { return has_own_; }
    static void set_loopback(bool is_up)
    {
        const opendoca::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        ifreq of_loopback{};
        std::strcpy(of_loopback.ifr_name, "lo");
        ensure_call(ioctl(socket.get(), SIOCGIFFLAGS, &of_loopback) == 0, "the state of the interface");
        of_loopback.ifr_flags =
            static_cast<short>(is_up ? of_loopback.ifr_flags | IFF_UP : of_loopback.ifr_flags & ~IFF_UP);
        ensure_call(ioctl(socket.get(), SIOCSIFFLAGS, &of_loopback) == 0, "another state of the interface");
    }

private:
    const opendoca::UniqueFd before_;
    const bool has_own_;
};

} // namespace doca_test
