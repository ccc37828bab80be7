// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

struct doca_graph_node;

namespace opendoca {

/// Finds whether a node comes after another. Searches from both ends at once and is done when either has no
/// more to see: a node that is added at the end or at the beginning of what exists costs nothing, however
/// long that is.
class DependencySearch {
public:
    /// When a node was last seen from either end.
    struct Mark {
        std::uint64_t after = 0;
        std::uint64_t before = 0;
    };

    /// Whether @p to is @p from, or comes after it.
    [[nodiscard]] bool leads(doca_graph_node &from, doca_graph_node &to);

private:
    /// The nodes that were seen from one end, and how far their edges were followed.
    struct Frontier {
        std::vector<doca_graph_node *> nodes;
        std::size_t node = 0;
        std::size_t edge = 0;
    };
    enum class Step { goes_on, exhausted, met };
    template <typename Direction>
    [[nodiscard]] Step step(Frontier &frontier);

    std::uint64_t search_ = 0;
    Frontier after_;
    Frontier before_;
};

} // namespace opendoca
