// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "last_bytes.hpp"

#include <cerrno>
#include <span>
#include <utility>

#include <sys/socket.h>

#include "message.hpp"

namespace opendoca::card {

std::size_t write_first(const UniqueFd &socket, std::vector<std::uint8_t> &bytes, bool &is_deaf)
{
    std::size_t taken = 0;
    while (taken < bytes.size() && !is_deaf) {
        const std::span rest = std::span(bytes).subspan(taken);
        const ssize_t count = send(socket.get(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count > 0)
            taken += static_cast<std::size_t>(count);
        else if (is_temporary(errno))
            break;
        else
            is_deaf = true; // it has gone; what it has sent before can still be read
    }
    if (is_deaf)
        taken = bytes.size();
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(taken));
    return taken;
}

void LastBytes::add(UniqueFd socket, UniqueFd process, std::vector<std::uint8_t> bytes)
{
    all_.push_back({std::move(socket), std::move(process), std::move(bytes)});
}

bool LastBytes::deliver()
{
    bool has_written = false;
    std::erase_if(all_, [&](One &one) {
        bool is_deaf = false;
        has_written |= write_first(one.socket, one.bytes, is_deaf) != 0;
        return one.bytes.empty() || has_ended(one.process);
    });
    return has_written;
}

} // namespace opendoca::card
