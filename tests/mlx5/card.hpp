// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The card made of software that a test was started on (docs/card.md), and processes on its host's side.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include <sys/socket.h>
#include <sys/un.h>

#include "../../src/core/unique_fd.hpp"
#include "../conformance/support/environment.hpp"
#include "../conformance/support/remote_memory.hpp"

namespace mlx5_test {

using namespace doca_test;

/// What the card answers to a line, as docs/card.md has them.
inline std::string ask_card(std::string_view line)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const char *const path = std::getenv("OPENDOCA_CARD_CONTROL");
    must_hold(path != nullptr, "a start by with_card");
    std::strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    const opendoca::UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    char answer[512] = {};
    must_hold(connect(fd.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0 &&
                  send(fd.get(), line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()) &&
                  recv(fd.get(), answer, sizeof(answer) - 1, 0) > 0,
              "an answer of the card");
    return answer;
}

/// What the card has done so far: a number of its "status" line.
inline std::uint64_t card_count(std::string_view what)
{
    const std::string status = ask_card("status"), name = " " + std::string(what) + " ";
    const std::size_t at = status.find(name);
    must_hold(at != std::string::npos, "a count of this name");
    return std::stoull(status.substr(at + name.size()));
}

/// Copies of the DMA engine.
inline std::uint64_t dma_copies()
{
    return card_count("dma-copies");
}

/// Processes that are started while there is one are on the host's side of the card.
class HostSide {
private:
    [[nodiscard]] static std::string side()
    {
        const std::string own = std::getenv("OPENDOCA_CARD_SIDE");
        return own.substr(0, own.rfind('/') + 1) + "host";
    }
    const Environment environment_{"OPENDOCA_CARD_SIDE", side().c_str()};
};

/// Memory of a process on the host's side of the card, which exports it to the DPU.
inline std::unique_ptr<RemoteMemory> host_memory(const RemoteMemory::Options &options = {},
                                                 const char *device = "mlx5_0")
{
    const HostSide host_side;
    return std::make_unique<RemoteMemory>(DeviceParam{device, ""}, options);
}

} // namespace mlx5_test
