// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: the JSON of DOCA_SOFT_TOPOLOGY, and the text of DOCA_SOFT_FAULTS.
#include <memory>
#include <string>

#include "../../src/core/device/soft/faults/fault_plan.hpp"
#include "../../src/core/device/soft/topology/function.hpp"
#include "target.hpp"

using namespace opendoca::soft;

void test_input(Input input)
{
    const std::string text(reinterpret_cast<const char *>(input.data()), input.size());
    Topology topology;
    if (parse_topology(text, "the input", topology) == DOCA_SUCCESS) {
        for (const TopologyFunction &one : topology) {
            const SoftFunction function(one, topology, true, nullptr);
            require(function.representors().size() <= topology.size(), "no function is behind a port twice");
        }
    }
    std::shared_ptr<FaultPlan> plan;
    if (FaultPlan::parse(text, plan) == DOCA_SUCCESS) {
        for (int i = 0; i < 4; ++i)
            (void)plan->injects(Fault::job, Jobs::dma);
    }
}
