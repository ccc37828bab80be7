// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The other process of two-process cases. It exports memory and then sleeps, as the peer of a one-sided copy
// does.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "other_process.hpp"

namespace opendoca::tools {

enum class MemoryKind : std::uint32_t {
    shared,  ///< of a memfd, which importers can map
    ordinary ///< what malloc gives
};

/// Memory that the peer has exported.
struct PeerMemory {
    std::vector<std::byte> descriptor;
    std::byte *addr; ///< there
    int memfd;       ///< its number there, or -1
};

class Peer {
public:
    /// Forks, and so is to be made before the first DOCA object. @p cpu is where it stays, or -1.
    explicit Peer(int cpu);
    Peer(const Peer &) = delete;
    Peer &operator=(const Peer &) = delete;
    ~Peer();

    [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }

    /// Memory of @p size bytes, all zero and present, exported to the DPU by the device @p ibdev.
    [[nodiscard]] PeerMemory export_memory(MemoryKind kind, std::size_t size, const std::string &ibdev);

    /// Nanoseconds that a cache line takes from one process to the other. Both must be pinned, to different
    /// CPUs.
    [[nodiscard]] double one_way_latency();

private:
    struct Line {
        alignas(256) std::atomic<std::uint32_t> value;
    };

    void serve(int channel);

    SharedObjects<Line, 2> lines_;
    OtherProcess process_;
};

} // namespace opendoca::tools
