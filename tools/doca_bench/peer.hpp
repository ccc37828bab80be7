// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The second process of cases with two processes. It exports memory and then blocks, as the target of a one-sided copy
// does: it must not take part in the copies.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "other_process.hpp"

namespace opendoca::tools {

/// How another process can reach exported memory.
enum class MemoryKind : std::uint32_t {
    shared,  ///< in a memfd, which importers can map
    ordinary ///< from malloc
};

/// Memory that the peer has exported. It stays exported until the peer's process ends.
struct PeerMemory {
    std::vector<std::byte> descriptor;
    std::byte *addr; ///< its address in the peer
    int memfd;       ///< its descriptor in the peer, or -1
};

/// Handle of the second process: sends requests over the channel and waits for the answers. Owned by the benchmark and
/// used by its first thread. Apart from exporting memory, the peer measures the latency between the two CPUs.
class Peer {
public:
    /// Forks, so it must be constructed before the first DOCA object. The child is pinned to @p cpu, unless that is -1.
    explicit Peer(int cpu);
    Peer(const Peer &) = delete;
    Peer &operator=(const Peer &) = delete;
    ~Peer();

    [[nodiscard]] pid_t pid() const noexcept { return process_.pid(); }

    /// Lets the peer export @p size bytes of zeroed, populated memory to the DPU by the device @p ibdev.
    [[nodiscard]] PeerMemory export_memory(MemoryKind kind, std::size_t size, const std::string &ibdev);

    /// Returns the nanoseconds that a cache line takes from one process to the other, as half of a round trip. Both
    /// must be pinned to different CPUs. The latency shows whether a virtual machine's CPUs have moved between two
    /// measurements.
    [[nodiscard]] double one_way_latency();

private:
    /// A counter with a cache line of its own; 256 bytes, since some CPUs transfer lines in pairs.
    struct Line {
        alignas(256) std::atomic<std::uint32_t> value;
    };

    /// The main function of the second process.
    void serve(int channel);

    SharedObjects<Line, 2> lines_; ///< a counter for each direction
    OtherProcess process_;
};

} // namespace opendoca::tools
