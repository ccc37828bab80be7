// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "provider.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "../../log/log.hpp"
#include "device.hpp"
#include "function.hpp"
#include "handle.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS);

namespace opendoca::verbs {

NewFunctions find_functions(MakeFunction &make_derived)
{
    NewFunctions functions;
    const DeviceList devices;
    for (ibv_device *const device : devices) {
        // Opened only to query it: listing keeps no device open.
        const Handle<ibv_context> context(ibv_open_device(device));
        if (context == nullptr) {
            LOG_WARN("RDMA device %s can't be opened, and is not listed: %s", ibv_get_device_name(device),
                     std::strerror(errno));
            continue;
        }
        ibv_device_attr_ex attributes{};
        if (const int error = ibv_query_device_ex(context.get(), nullptr, &attributes); error != 0) {
            LOG_WARN("RDMA device %s can't be queried, and is not listed: %s", ibv_get_device_name(device),
                     std::strerror(error));
            continue;
        }
        for (std::uint32_t port = 1; port <= attributes.orig_attr.phys_port_cnt; ++port) {
            std::shared_ptr<VerbsFunction> function = make_derived(*context, attributes, port);
            // A more specific provider has not claimed the port.
            if (function == nullptr)
                function = std::make_shared<VerbsFunction>(*context, attributes, port);
            // In switchdev mode a device has a port for each representor, which supports raw packets only.
            if (port == 1 || !function->can.rdma.is_ethernet || !function->iface_name.empty())
                functions.push_back(std::move(function));
        }
    }
    return functions;
}

doca_error_t open_from_pd(ibv_pd &pd, std::shared_ptr<const DeviceFunction> &function, std::unique_ptr<Device> &device)
{
    ibv_context *const context = pd.context;
    ibv_device_attr_ex attributes{};
    if (const int error = context == nullptr ? EINVAL : ibv_query_device_ex(context, nullptr, &attributes);
        error != 0) {
        LOG_ERR("the device of protection domain %p can't be queried: %s", static_cast<void *>(&pd),
                std::strerror(error));
        return DOCA_ERROR_INVALID_VALUE;
    }
    // The port number is irrelevant, since such a device only registers memory.
    auto found = std::make_shared<VerbsFunction>(*context, attributes, 1);
    // Without the events of the device, which the program reads, failures could not be detected. Therefore no queues
    // are created on such a device.
    found->can = {};
    device = std::make_unique<VerbsDevice>(*found, pd);
    function = std::move(found);
    return DOCA_SUCCESS;
}

} // namespace opendoca::verbs
