// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The graphs of the graph benchmark and the ways to run them. All ways do the same work with the same dependencies, so
// their times differ only by the cost of scheduling nodes.
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

/// The shape of a graph: nodes in layers, numbered layer by layer. If either of two adjacent layers has one node, all
/// nodes are linked to all; otherwise each node is linked to two of the next layer. Node 0 is the only root.
struct GraphShape {
    std::string name;
    std::vector<std::uint32_t> layers; ///< the number of nodes in each layer
    bool copies = false; ///< whether each node copies; otherwise the first one copies and all others count

    /// Returns the number of nodes of all layers.
    [[nodiscard]] std::uint32_t num_nodes() const;
    [[nodiscard]] bool is_copy(std::uint32_t node) const noexcept { return copies || node == 0; }
    /// Returns the edges, each from a node of a layer to one of the next layer.
    [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> edges() const;
};

/// Returns the shapes that are measured.
[[nodiscard]] std::vector<GraphShape> graph_shapes();

/// The counters of the nodes and the memory that they copy. Owned by a GraphRunner. Each node writes only its own
/// counter and destination, so nodes need no synchronization among themselves.
struct GraphWork {
    explicit GraphWork(std::uint32_t num_nodes);

    /// Does the copy of @p node.
    void copy(std::uint32_t node) noexcept;
    /// Does the work of a node that does not copy.
    void count(std::uint32_t node) noexcept;
    [[nodiscard]] std::byte *src() noexcept { return memory.data(); }
    [[nodiscard]] std::byte *dst(std::uint32_t node) noexcept { return &memory[(node + 1) * graph_copy_size]; }

    std::vector<std::byte> memory;     ///< one source, and a destination for each node
    std::vector<std::uint64_t> counts; ///< number of runs of each node that counts
};

/// A way to run a graph a given number of times: one run after the other, each complete before the next begins.
struct GraphRunner : Variant {
    GraphWork work;
    explicit GraphRunner(std::uint32_t num_nodes) : work(num_nodes) {}
};

/// Makes the baseline: a list of ready nodes over flat arrays, without any library.
[[nodiscard]] std::unique_ptr<GraphRunner> make_static_graph(const GraphShape &shape);
/// Makes oneTBB's flow graph on one thread; null if doca_bench was built without oneTBB.
[[nodiscard]] std::unique_ptr<GraphRunner> make_tbb_graph(const GraphShape &shape);

} // namespace opendoca::tools
