// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "provider.hpp"

#include <cerrno>
#include <cstring>

#include <doca_log.h>

#include "function.hpp"
#include "handle.hpp"

DOCA_LOG_REGISTER(DOCA_VERBS);

namespace opendoca::verbs {

doca_error_t list_functions(DeviceFunctions &functions)
{
    const DeviceList devices;
    for (ibv_device *const device : devices) {
        const Handle<ibv_context> context(ibv_open_device(device));
        if (context == nullptr) {
            DOCA_LOG_WARN("RDMA device %s can't be opened, and is not listed: %s",
                          ibv_get_device_name(device), std::strerror(errno));
            continue;
        }
        ibv_device_attr_ex attributes{};
        if (const int error = ibv_query_device_ex(context.get(), nullptr, &attributes); error != 0) {
            DOCA_LOG_WARN("RDMA device %s can't be queried, and is not listed: %s",
                          ibv_get_device_name(device), std::strerror(error));
            continue;
        }
        for (std::uint32_t port = 1; port <= attributes.orig_attr.phys_port_cnt; ++port)
            functions.push_back(std::make_shared<VerbsFunction>(*context, attributes, port));
    }
    return DOCA_SUCCESS;
}

} // namespace opendoca::verbs
