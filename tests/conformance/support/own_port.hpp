// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Ports for tests that listen, of which several run at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include <sys/socket.h>
#include <sys/un.h>

#include "../../../src/core/base/unique_fd.hpp"

namespace doca_test {

/// A range of ports that no other PortBlock of this network has. It holds the range by an abstract address of Unix
/// sockets: these belong to a network namespace, as ports do, and end with their process.
class PortBlock {
public:
    static constexpr unsigned size = 32;

    PortBlock()
    {
        for (unsigned number = 0; number != num_blocks; ++number) {
            if (claim(number)) {
                first_ = first_port + number * size;
                return;
            }
        }
        throw std::runtime_error("all blocks of ports are in use");
    }

    [[nodiscard]] std::uint16_t operator[](unsigned index) const { return static_cast<std::uint16_t>(first_ + index); }

private:
    // Below the range from which the kernel takes ports by itself.
    static constexpr unsigned first_port = 21000, num_blocks = 240;

    [[nodiscard]] bool claim(unsigned number)
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        // An abstract address begins with a zero byte.
        const int length =
            std::snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "opendoca-test-ports-%u", number);
        const auto size_of_all = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + unsigned(length));
        return bind(claim_.get(), reinterpret_cast<const sockaddr *>(&address), size_of_all) == 0;
    }

    const opendoca::UniqueFd claim_{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    unsigned first_ = 0;
};

/// Returns port @p index of this process, which no other process of this network has that uses this function.
inline std::uint16_t own_port(unsigned index)
{
    static const PortBlock block;
    return block[index];
}

} // namespace doca_test
