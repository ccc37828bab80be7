// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "provider.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "../../log/log.hpp"
#include "faults/fault_plan.hpp"
#include "state/device_state.hpp"
#include "strict/strict.hpp"
#include "topology/function.hpp"
#include "topology/topology.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT);

namespace opendoca::soft {

namespace {

/// The side of the PCIe on which this process runs: it sees the functions of that side. Both by default, so that one
/// machine can stand for a host and its DPU.
struct Role {
    bool sees_dpu = true;
    bool sees_host = true;

    [[nodiscard]] bool sees(Side side) const { return side == Side::dpu ? sees_dpu : sees_host; }
    [[nodiscard]] bool sees_both() const { return sees_dpu && sees_host; }
};

/// Reads the role from the environment. INVALID_VALUE, with a message, if it is none.
doca_error_t read_role(Role &role)
{
    const char *const text = std::getenv("DOCA_SOFT_ROLE");
    const std::string_view value = text != nullptr && *text != '\0' ? text : "all";
    if (value != "all" && value != "host" && value != "dpu") {
        LOG_ERR("DOCA_SOFT_ROLE is '%s': it can be host, dpu or all", text);
        return DOCA_ERROR_INVALID_VALUE;
    }
    role = {.sees_dpu = value != "host", .sees_host = value != "dpu"};
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t list_functions(DeviceFunctions &functions)
{
    Role role;
    if (const doca_error_t status = read_role(role); status != DOCA_SUCCESS)
        return status;
    // Read here as well, so that an invalid plan is an error of the listing and not of each device.
    std::shared_ptr<FaultPlan> faults;
    if (const doca_error_t status = FaultPlan::from_environment(faults); status != DOCA_SUCCESS)
        return status;
    if (faults != nullptr)
        LOG_WARN("software devices fail on purpose: DOCA_SOFT_FAULTS is '%s'", std::getenv("DOCA_SOFT_FAULTS"));
    bool is_strict = false;
    if (const doca_error_t status = read_strict_mode(is_strict); status != DOCA_SUCCESS)
        return status;
    std::uint64_t ignored_seed = 0;
    if (const doca_error_t status = read_strict_seed(ignored_seed); status != DOCA_SUCCESS)
        return status;
    Topology topology;
    if (const doca_error_t status = load_topology(topology); status != DOCA_SUCCESS)
        return status;
    DeviceStates *states = nullptr;
    if (const doca_error_t status = DeviceStates::find(topology, faults != nullptr, states); status != DOCA_SUCCESS)
        return status;
    for (std::size_t i = 0; i != topology.size(); ++i) {
        TopologyFunction &description = topology[i];
        description.is_strict |= is_strict;
        const bool is_removed = states != nullptr && states->of(i).is_removed();
        if (is_removed)
            LOG_WARN("device %s is not listed: it was removed, according to %s", description.name.c_str(),
                     states->origin().c_str());
        // Functions of the other side are hidden, as on a real host or DPU.
        if (description.exists() && role.sees(description.side) && !is_removed)
            functions.push_back(std::make_shared<SoftFunction>(description, topology, role.sees_both(), states));
    }
    return DOCA_SUCCESS;
}

std::string explain_missing(const std::string &pci_address, bool is_listed)
{
    Role role;
    Topology topology;
    if (read_role(role) != DOCA_SUCCESS || load_topology(topology) != DOCA_SUCCESS)
        return {};
    // Two hints: the address belongs to a function that this process does not see, and where the listed functions are
    // from.
    std::string text;
    const auto owner =
        std::ranges::find_if(topology, [&](const auto &function) { return function.has_address(pci_address); });
    if (owner != topology.end()) {
        text = std::string("; it is that of ") + (is_listed ? "" : "the software device ") + owner->name +
               (owner->side == Side::dpu ? " on the DPU" : " on the host") +
               (owner->parent.empty() ? "" : ", behind " + owner->parent);
        if (!is_listed)
            text += ", which DOCA_SOFT=1 lists";
        else if (!owner->exists())
            text += ", which has no functions in NIC mode";
        else if (!role.sees(owner->side))
            text += std::string(", which DOCA_SOFT_ROLE=") + std::getenv("DOCA_SOFT_ROLE") + " hides";
    }
    if (is_listed)
        text += "; the functions are those of " + topology_origin() +
                (std::getenv("DOCA_SOFT_TOPOLOGY") == nullptr ? ", which DOCA_SOFT_TOPOLOGY=FILE replaces" : "");
    return text;
}

} // namespace opendoca::soft
