// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

struct doca_graph_node;

namespace opendoca {

/// Decides whether a path of dependencies leads from one node to another. It searches from both ends in turns and stops
/// as soon as either side is exhausted, so a node that is added at the beginning or at the end of a long chain is found
/// in constant time. Owned by a graph; used by the thread that builds it.
class DependencySearch {
public:
    /// The number of the last search that has reached a node, from either end. Kept in the node, so that a search needs
    /// no set of visited nodes and no reset.
    struct Mark {
        std::uint64_t after = 0;
        std::uint64_t before = 0;
    };

    /// Returns whether @p to is @p from, or depends on it. Follows at most about twice as many edges as the smaller
    /// side has.
    [[nodiscard]] bool leads(doca_graph_node &from, doca_graph_node &to);

private:
    /// The nodes reached from one end, in the order in which they were reached, and the position of the next edge to
    /// follow.
    struct Frontier {
        std::vector<doca_graph_node *> nodes;
        std::size_t node = 0;
        std::size_t edge = 0;
    };
    /// Result of following one edge: not decided yet, no edge left on this side, or a node that the other side has
    /// reached.
    enum class Step { undecided, exhausted, met };
    template <typename Direction>
    [[nodiscard]] Step step(Frontier &frontier);

    std::uint64_t search_ = 0; ///< number of the current search
    Frontier after_;           ///< from @p from of leads(), along successors
    Frontier before_;          ///< from @p to of leads(), along predecessors
};

} // namespace opendoca
