// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "plan.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "structure.hpp"

namespace opendoca {

/// Sub-graphs are started, and so have plans of their own, which are merged into the totals.
Plan::Plan(const GraphStructure &graph)
{
    const auto all = graph.nodes();
    std::size_t num_successors = 0;
    for (const auto &node : all)
        num_successors += node->successors.size();
    nodes.reserve(all.size());
    num_preceding.reserve(all.size());
    successors.reserve(num_successors);

    for (const auto &node : all) {
        const auto begin = static_cast<std::uint32_t>(successors.size());
        for (const doca_graph_node *successor : node->successors)
            successors.push_back(successor->number);
        const bool is_in_chain = node->successors.size() == 1 && node->successors[0]->predecessors.size() == 1;
        nodes.push_back({node->action, begin, static_cast<std::uint32_t>(successors.size()), num_jobs, node->kind,
                         is_in_chain ? node->successors[0]->number : none});
        num_preceding.push_back(static_cast<std::uint32_t>(node->predecessors.size()));
        if (node->predecessors.empty())
            roots.push_back(node->number);
        switch (node->kind) {
        case NodeKind::context:
            ++num_jobs;
            contexts.push_back(node->action.context);
            break;
        case NodeKind::sub_graph: {
            sub_graphs.push_back(node->number);
            const Plan &sub = *node->action.sub_graph->plan();
            num_all_jobs = std::min<std::uint64_t>(num_all_jobs + sub.num_all_jobs, UINT32_MAX);
            contexts.insert(contexts.end(), sub.contexts.begin(), sub.contexts.end());
            break;
        }
        case NodeKind::user:
            break;
        }
    }
    std::ranges::sort(contexts, std::less<>());
    contexts.erase(std::unique(contexts.begin(), contexts.end()), contexts.end());
    num_all_jobs = std::min<std::uint64_t>(num_all_jobs + num_jobs, UINT32_MAX);
    // Stable, so that nodes start in the order of their creation.
    const auto other_roots = std::stable_partition(
        roots.begin(), roots.end(), [&](std::uint32_t root) { return nodes[root].kind == NodeKind::context; });
    num_context_roots = static_cast<std::uint32_t>(other_roots - roots.begin());
}

} // namespace opendoca
