// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "common_api.hpp"

#include "../../core/log/log.hpp"
#include "../../core/objects/dev.hpp"
#include "../../core/v3/call.hpp"
#include "control.hpp"
#include "data_connection.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH);

namespace opendoca::comch {

using opendoca::v3::call;

/// A parameter, since a capability query of a device without Comch is no error, and creating an object is one.
doca_error_t check_device(const DeviceFunction &function, std::uint32_t level)
{
    if (function.can.comm_channel)
        return DOCA_SUCCESS;
    LOG_AT(level, "device %s: comch has no path to the other side: %s", function.name.c_str(),
           function.reason_against(Ability::message_channel).c_str());
    return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t answer_query(const doca_devinfo *devinfo, std::uint32_t *out, std::uint32_t value)
{
    return call({devinfo, out}, [&] {
        const doca_error_t status = check_device(*devinfo->function, LogLevel::info);
        if (status == DOCA_SUCCESS)
            *out = value;
        return status;
    });
}

doca_error_t check_fast_path(const doca_comch_connection &connection)
{
    if (connection.link.state() != doca_comch_connection::Link::State::connected) {
        LOG_ERR("the connection is not established");
        return DOCA_ERROR_BAD_STATE;
    }
    const doca_dev &dev = *connection.control.device();
    if (!dev.function().can.queue_pairs_reach_peers) {
        LOG_ERR("device %s: consumers and producers need packets between both sides of the card, which "
                "DOCA_COMM_CHANNEL_DATA=stream excludes; on a card with --link, give both sides an --address",
                dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!has_fast_path(dev.function())) {
        LOG_ERR("device %s does not support shared receive queues, which consumers and producers need",
                dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!connection.link.has_control_messages()) {
        LOG_ERR("the peer of '%s' uses Comm Channel, which has no consumers and producers",
                connection.control.name().c_str());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

/// Null pointers are still reported as such: programs see the same order of checks as with a DPA.
doca_error_t not_on_the_dpa(std::initializer_list<const void *> objects)
{
    return call(objects, [] {
        LOG_ERR("data paths on the DPA are not supported");
        return DOCA_ERROR_NOT_SUPPORTED;
    });
}

} // namespace opendoca::comch
