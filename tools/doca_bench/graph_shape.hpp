// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The graphs of the graph benchmark, and the ways to run them. All ways do the same work in the same order of
// dependencies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"

namespace opendoca::tools {

/// Bytes that a DMA node copies.
inline constexpr std::size_t graph_copy_size = 64;

/// Nodes in layers. Nodes of a layer are linked to those of the next: all to all where either layer is one
/// node, else each to two.
struct GraphShape {
    std::string name;
    std::vector<std::uint32_t> layers; ///< their widths
    bool copies = false;               ///< each node copies; else the first one does, and all others count

    [[nodiscard]] std::uint32_t num_nodes() const;
    [[nodiscard]] bool is_copy(std::uint32_t node) const noexcept { return copies || node == 0; }
    [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> edges() const;
};

/// Those that are measured.
[[nodiscard]] std::vector<GraphShape> graph_shapes();

/// Where nodes count and what they copy.
struct GraphWork {
    explicit GraphWork(std::uint32_t num_nodes);

    /// Copies for @p node.
    void copy(std::uint32_t node) noexcept;
    void count(std::uint32_t node) noexcept;
    [[nodiscard]] std::byte *src() noexcept { return memory.data(); }
    [[nodiscard]] std::byte *dst(std::uint32_t node) noexcept
    {
        return &memory[(node + 1) * graph_copy_size];
    }

    std::vector<std::byte> memory; ///< a source, and a destination for each node
    std::vector<std::uint64_t> counts;
};

/// A way to run a graph, as often as it is told.
struct GraphRunner : Variant {
    GraphWork work;
    explicit GraphRunner(std::uint32_t num_nodes) : work(num_nodes) {}
};

/// A list of ready nodes over flat arrays, and nothing else: what is hard to beat.
[[nodiscard]] std::unique_ptr<GraphRunner> make_static_graph(const GraphShape &shape);
/// oneTBB's flow graph on one thread. Null where doca_bench was built without.
[[nodiscard]] std::unique_ptr<GraphRunner> make_tbb_graph(const GraphShape &shape);

} // namespace opendoca::tools
