// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <vector>

namespace opendoca {

class GraphStructure;

enum class NodeKind : std::uint8_t { context, user, sub_graph };

/// What a node does.
union NodeAction {
    const void *context;    ///< see context_at()
    void (*callback)();     ///< of the type that the front end's are of
    GraphStructure *sub_graph;
};

/// The front end's context of a node whose action is @p context, which is what WeakAddress::share() has given; null once the
/// program has destroyed it.
template <typename Context>
[[nodiscard]] const Context *context_at(const void *context) noexcept
{
    return *static_cast<const Context *const *>(context);
}

/// A started graph, in flat arrays that its instances run from. Nodes are numbered in the order of their
/// creation.
struct Plan {
    struct Node {
        NodeAction action;
        std::uint32_t successors_begin;
        std::uint32_t successors_end;
        std::uint32_t job; ///< the number of a context node among its kind
        NodeKind kind;
    };

    explicit Plan(const GraphStructure &graph);

    [[nodiscard]] std::uint32_t num_nodes() const noexcept
    {
        return static_cast<std::uint32_t>(nodes.size());
    }

    std::vector<Node> nodes;
    std::vector<std::uint32_t> successors;    ///< of all nodes, one after the other
    std::vector<std::uint32_t> num_preceding; ///< of each node: how many it depends on
    std::vector<std::uint32_t> roots;         ///< context nodes first
    std::uint32_t num_context_roots = 0;
    std::uint32_t num_jobs = 0;            ///< context nodes
    std::vector<std::uint32_t> sub_graphs; ///< the sub-graph nodes
    // With those of sub-graphs:
    std::uint64_t num_all_jobs = 0; ///< counted no further than UINT32_MAX
    std::vector<const void *> contexts;
};

} // namespace opendoca
