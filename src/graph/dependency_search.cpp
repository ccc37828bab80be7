// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dependency_search.hpp"

#include "structure.hpp"

namespace opendoca {

namespace {

/// The two directions of a search: which edges it follows, and which of a node's marks are its own.
struct After {
    static constexpr auto edges = &doca_graph_node::successors;
    static constexpr auto own = &DependencySearch::Mark::after;
    static constexpr auto other = &DependencySearch::Mark::before;
};

struct Before {
    static constexpr auto edges = &doca_graph_node::predecessors;
    static constexpr auto own = &DependencySearch::Mark::before;
    static constexpr auto other = &DependencySearch::Mark::after;
};

} // namespace

/// Follows one edge of a side. Returns whether the two sides have met, or this side has no edges left.
template <typename Direction>
DependencySearch::Step DependencySearch::step(Frontier &frontier)
{
    // Nodes whose edges are all followed are skipped; each call follows one edge only, so that both sides advance
    // equally.
    while (frontier.node != frontier.nodes.size()) {
        const std::vector<doca_graph_node *> &edges = frontier.nodes[frontier.node]->*Direction::edges;
        if (frontier.edge == edges.size()) {
            ++frontier.node;
            frontier.edge = 0;
            continue;
        }
        doca_graph_node &next = *edges[frontier.edge++];
        if (next.mark.*Direction::other == search_)
            return Step::met;
        if (next.mark.*Direction::own != search_) {
            next.mark.*Direction::own = search_;
            frontier.nodes.push_back(&next);
        }
        return Step::undecided;
    }
    return Step::exhausted;
}

bool DependencySearch::leads(doca_graph_node &from, doca_graph_node &to)
{
    if (&from == &to)
        return true;
    // Marks of earlier searches have smaller numbers, and so count as not reached.
    ++search_;
    after_ = {{&from}};
    before_ = {{&to}};
    from.mark.after = search_;
    to.mark.before = search_;
    for (;;) {
        if (const Step result = step<After>(after_); result != Step::undecided)
            return result == Step::met;
        if (const Step result = step<Before>(before_); result != Step::undecided)
            return result == Step::met;
    }
}

} // namespace opendoca
