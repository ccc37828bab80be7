// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The graphs of the graph benchmark and the ways to run them. All ways do the same work with the same dependencies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"

namespace opendoca::tools {

/// The number of bytes that a DMA node copies.
inline constexpr std::size_t graph_copy_size = 64;

/// Nodes in layers. If either of two adjacent layers has one node, all nodes are linked to all; otherwise each node is
/// linked to two of the next layer.
struct GraphShape {
    std::string name;
    std::vector<std::uint32_t> layers; ///< the number of nodes in each layer
    bool copies = false; ///< whether each node copies; otherwise the first one copies and all others count

    [[nodiscard]] std::uint32_t num_nodes() const;
    [[nodiscard]] bool is_copy(std::uint32_t node) const noexcept { return copies || node == 0; }
    [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> edges() const;
};

/// Returns the shapes that are measured.
[[nodiscard]] std::vector<GraphShape> graph_shapes();

/// The counters of the nodes and the memory that they copy.
struct GraphWork {
    explicit GraphWork(std::uint32_t num_nodes);

    /// Does the copy of @p node.
    void copy(std::uint32_t node) noexcept;
    void count(std::uint32_t node) noexcept;
    [[nodiscard]] std::byte *src() noexcept { return memory.data(); }
    [[nodiscard]] std::byte *dst(std::uint32_t node) noexcept { return &memory[(node + 1) * graph_copy_size]; }

    std::vector<std::byte> memory; ///< one source, and a destination for each node
    std::vector<std::uint64_t> counts;
};

/// A way to run a graph a given number of times.
struct GraphRunner : Variant {
    GraphWork work;
    explicit GraphRunner(std::uint32_t num_nodes) : work(num_nodes) {}
};

/// Makes the baseline: a list of ready nodes over flat arrays, without any library.
[[nodiscard]] std::unique_ptr<GraphRunner> make_static_graph(const GraphShape &shape);
/// Makes oneTBB's flow graph on one thread; null if doca_bench was built without oneTBB.
[[nodiscard]] std::unique_ptr<GraphRunner> make_tbb_graph(const GraphShape &shape);

} // namespace opendoca::tools
