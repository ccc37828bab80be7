// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <vector>

namespace opendoca {

class GraphStructure;

/// What a node does when all nodes that it depends on have ended: submits a job or task, calls the program, or runs
/// another graph's instance.
enum class NodeKind : std::uint8_t { context, user, sub_graph };

/// The action of a node, selected by its kind.
union NodeAction {
    const void *context; ///< use context_at()
    void (*callback)();  ///< cast from and to the front end's type of callbacks
    GraphStructure *sub_graph;
};

/// Returns the front end's context for NodeAction::context, which WeakAddress::share() has returned; null once the
/// program has destroyed the context.
template <typename Context>
[[nodiscard]] const Context *context_at(const void *context) noexcept
{
    return *static_cast<const Context *const *>(context);
}

/// An immutable form of a started graph: flat arrays, which all of its instances read while they run. Owned by the
/// graph, from start to stop. Nodes are numbered in the order of their creation. Immutable, so any thread may read it.
struct Plan {
    /// A node; its successors are a range of Plan::successors.
    struct Node {
        NodeAction action;
        std::uint32_t successors_begin;
        std::uint32_t successors_end;
        std::uint32_t job; ///< the index of a context node among the context nodes
        NodeKind kind;
        std::uint32_t only_successor; ///< the only successor, if that depends on nothing else; else none
    };
    static constexpr std::uint32_t none = UINT32_MAX;

    explicit Plan(const GraphStructure &graph);

    [[nodiscard]] std::uint32_t num_nodes() const noexcept { return static_cast<std::uint32_t>(nodes.size()); }

    std::vector<Node> nodes;
    std::vector<std::uint32_t> successors;    ///< of all nodes, one after the other
    std::vector<std::uint32_t> num_preceding; ///< for each node, the number of nodes that it depends on
    /// Numbers of the nodes that depend on nothing: context nodes first, since submit starts those itself.
    std::vector<std::uint32_t> roots;
    std::uint32_t num_context_roots = 0;
    std::uint32_t num_jobs = 0;            ///< context nodes
    std::vector<std::uint32_t> sub_graphs; ///< the sub-graph nodes
    // Including sub-graphs, at any depth:
    std::uint64_t num_all_jobs = 0;     ///< saturates at UINT32_MAX, as graphs of graphs can multiply
    std::vector<const void *> contexts; ///< without duplicates; see context_at()
};

} // namespace opendoca
