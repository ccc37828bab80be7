// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "provider.hpp"

#include <cstdlib>
#include <string_view>

#include <doca_log.h>

#include "topology/function.hpp"
#include "topology/topology.hpp"

DOCA_LOG_REGISTER(DOCA_SOFT);

namespace opendoca::soft {

namespace {

struct Role {
    bool sees_dpu = true;
    bool sees_host = true;
};

/// Which side of the PCIe this process is on.
doca_error_t read_role(Role &role)
{
    const char *const text = std::getenv("DOCA_SOFT_ROLE");
    const std::string_view value = text != nullptr && *text != '\0' ? text : "all";
    if (value != "all" && value != "host" && value != "dpu") {
        DOCA_LOG_ERR("DOCA_SOFT_ROLE is '%s': it can be host, dpu or all", text);
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
    Topology topology;
    if (const doca_error_t status = load_topology(topology); status != DOCA_SUCCESS)
        return status;
    for (const auto &description : topology) {
        if (description.side == Side::dpu ? role.sees_dpu : role.sees_host)
            functions.push_back(std::make_shared<SoftFunction>(description, topology));
    }
    return DOCA_SUCCESS;
}

} // namespace opendoca::soft
