// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <tbb/flow_graph.h>
#include <tbb/global_control.h>

#include "graph_shape.hpp"

namespace opendoca::tools {

namespace {

/// oneTBB's flow graph with the same nodes and edges. While it exists, oneTBB uses one thread, so both ways have the
/// same number of CPUs.
class TbbGraph final : public GraphRunner {
    using Message = tbb::flow::continue_msg;
    using Node = tbb::flow::continue_node<Message>;

public:
    explicit TbbGraph(const GraphShape &shape) : GraphRunner(shape.num_nodes())
    {
        for (std::uint32_t i = 0; i != shape.num_nodes(); ++i) {
            if (shape.is_copy(i))
                nodes_.push_back(std::make_unique<Node>(graph_, [this, i](const Message &) { work.copy(i); }));
            else
                nodes_.push_back(std::make_unique<Node>(graph_, [this, i](const Message &) { work.count(i); }));
        }
        for (const auto &[from, to] : shape.edges())
            tbb::flow::make_edge(*nodes_[from], *nodes_[to]);
    }

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            nodes_.front()->try_put(Message());
            graph_.wait_for_all();
        }
    }

private:
    /// Declared first: limits the threads before the graph starts any.
    tbb::global_control one_thread_{tbb::global_control::max_allowed_parallelism, 1};
    tbb::flow::graph graph_;
    std::vector<std::unique_ptr<Node>> nodes_;
};

} // namespace

std::unique_ptr<GraphRunner> make_tbb_graph(const GraphShape &shape)
{
    return std::make_unique<TbbGraph>(shape);
}

} // namespace opendoca::tools
