// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The card made of software that a test was started on (docs/card.md): what it answers.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <sys/un.h>

#include "../../src/core/base/unique_fd.hpp"

namespace mlx5_test {

/// What the card answers to a line, as docs/card.md has them.
inline std::string ask_card(std::string_view line)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const char *const path = std::getenv("OPENDOCA_CARD_CONTROL");
    if (path == nullptr)
        throw std::runtime_error("this test is to be started by with_card");
    std::strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    const opendoca::UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    char answer[512] = {};
    if (connect(fd.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) != 0 ||
        send(fd.get(), line.data(), line.size(), 0) != static_cast<ssize_t>(line.size()) ||
        recv(fd.get(), answer, sizeof(answer) - 1, 0) <= 0)
        throw std::runtime_error("the card does not answer");
    return answer;
}

/// What the card has done so far: a number of its "status" line.
inline std::uint64_t card_count(std::string_view what)
{
    const std::string status = ask_card("status"), name = " " + std::string(what) + " ";
    const std::size_t at = status.find(name);
    if (at == std::string::npos)
        throw std::runtime_error("the card counts no '" + std::string(what) + "': " + status);
    return std::stoull(status.substr(at + name.size()));
}

} // namespace mlx5_test
