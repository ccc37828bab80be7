// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <memory>

#include "graph_shape.hpp"

namespace opendoca::tools {

// The variant of a build without oneTBB.
std::unique_ptr<GraphRunner> make_tbb_graph(const GraphShape &)
{
    return nullptr;
}

} // namespace opendoca::tools
