// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "graph_shape.hpp"

#include <cstring>
#include <numeric>

namespace opendoca::tools {

namespace {

/// The baseline: counts down the unfinished predecessors of each node and lists the nodes that are ready. Flat arrays,
/// built once; a run allocates nothing. Used by one thread.
class StaticGraph final : public GraphRunner {
public:
    explicit StaticGraph(const GraphShape &shape)
        : GraphRunner(shape.num_nodes()),
          actions_(shape.num_nodes()),
          begins_(shape.num_nodes() + 1),
          num_preceding_(shape.num_nodes()),
          num_waits_(shape.num_nodes()),
          ready_(shape.num_nodes())
    {
        for (std::uint32_t node = 0; node != shape.num_nodes(); ++node)
            // Successors in compressed form: those of node n are at begins_[n] up to begins_[n + 1].
            actions_[node] = shape.is_copy(node) ? &GraphWork::copy : &GraphWork::count;
        const auto edges = shape.edges();
        for (const auto &[from, to] : edges) {
            ++begins_[from + 1];
            ++num_preceding_[to];
        }
        std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
        successors_.resize(edges.size());
        std::vector<std::uint32_t> at(begins_.begin(), begins_.end() - 1);
        for (const auto &[from, to] : edges)
            successors_[at[from]++] = to;
    }

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            // The list holds each node once, so its length bounds it.
            std::memcpy(num_waits_.data(), num_preceding_.data(), num_waits_.size() * sizeof(num_waits_[0]));
            ready_[0] = 0;
            for (std::uint32_t head = 0, tail = 1; head != tail; ++head) {
                const std::uint32_t node = ready_[head];
                (work.*actions_[node])(node);
                for (std::uint32_t i = begins_[node]; i != begins_[node + 1]; ++i) {
                    if (--num_waits_[successors_[i]] == 0)
                        ready_[tail++] = successors_[i];
                }
            }
        }
    }

private:
    std::vector<void (GraphWork::*)(std::uint32_t) noexcept> actions_; ///< what each node does
    std::vector<std::uint32_t> begins_;                                ///< first successor of each node, and the end
    std::vector<std::uint32_t> successors_;
    std::vector<std::uint32_t> num_preceding_; ///< number of predecessors
    std::vector<std::uint32_t> num_waits_;     ///< number of unfinished predecessors in this run
    std::vector<std::uint32_t> ready_;         ///< nodes in the order in which they became ready
};

} // namespace

std::uint32_t GraphShape::num_nodes() const
{
    return std::accumulate(layers.begin(), layers.end(), std::uint32_t{0});
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> GraphShape::edges() const
{
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    std::uint32_t begin = 0;
    for (std::size_t layer = 0; layer + 1 < layers.size(); ++layer) {
        const std::uint32_t here = layers[layer], next = layers[layer + 1];
        for (std::uint32_t i = 0; i < here; ++i) {
            for (std::uint32_t j = 0; j < next; ++j) {
                if (here == 1 || next == 1 || j == i || j == (i + 1) % next)
                    edges.emplace_back(begin + i, begin + here + j);
            }
        }
        begin += here;
    }
    return edges;
}

std::vector<GraphShape> graph_shapes()
{
    const auto chain = [](std::size_t length) { return std::vector<std::uint32_t>(length, 1); };
    std::vector<std::uint32_t> layered(10, 10);
    layered.insert(layered.begin(), 1); // the root, on which all others depend
    std::vector<GraphShape> shapes;
    for (const bool copies : {false, true}) {
        shapes.push_back({"chain of 3", chain(3), copies});
        shapes.push_back({"chain of 16", chain(16), copies});
        shapes.push_back({"chain of 100", chain(100), copies});
        shapes.push_back({"fan 1-8-1", {1, 8, 1}, copies});
        shapes.push_back({"10 layers of 10", layered, copies});
    }
    return shapes;
}

GraphWork::GraphWork(std::uint32_t num_nodes) : memory((num_nodes + 1) * graph_copy_size), counts(num_nodes)
{
    for (std::size_t i = 0; i < graph_copy_size; ++i)
        memory[i] = static_cast<std::byte>(i + 1);
}

void GraphWork::copy(std::uint32_t node) noexcept
{
    std::memcpy(dst(node), src(), graph_copy_size);
}

void GraphWork::count(std::uint32_t node) noexcept
{
    ++counts[node];
}

std::unique_ptr<GraphRunner> make_static_graph(const GraphShape &shape)
{
    return std::make_unique<StaticGraph>(shape);
}

} // namespace opendoca::tools
