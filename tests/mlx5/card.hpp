// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The card made of software that a test was started on (docs/card.md), and processes on its host's side.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "../conformance/support/environment.hpp"
#include "../conformance/support/remote_memory.hpp"
#include "card_control.hpp"

namespace mlx5_test {

using namespace doca_test;

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
