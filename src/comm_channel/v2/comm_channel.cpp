// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions: each checks its pointers and makes one call.
#include <cstddef>
#include <cstdint>

#include <doca_comm_channel.h>

#include "../../core/log/log.hpp"
#include "../../core/v2/call.hpp"
#include "../limits.hpp"
#include "endpoint.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMM_CHANNEL_API);

using namespace opendoca::comm_channel;
using opendoca::v2::call;

namespace {

/// Returns a limit of a device in @p value, or NOT_SUPPORTED if the device lacks Comm Channel, or services where @p
/// of_services.
doca_error_t get_limit(const doca_devinfo *devinfo, std::uint32_t *value, std::uint32_t limit, bool of_services,
                       const char *public_function = __builtin_FUNCTION())
{
    const auto read = [&] {
        const auto &function = *devinfo->function;
        if (!function.can.comm_channel) {
            LOG_INFO("device %s: Comm Channel has no path to the other side: %s", function.name.c_str(),
                     function.reason_against(opendoca::Ability::message_channel).c_str());
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        if (of_services && !function.can.representors_net)
            return DOCA_ERROR_NOT_SUPPORTED;
        *value = limit;
        return DOCA_SUCCESS;
    };
    return call({devinfo, value}, read, public_function);
}

/// Calls @p body with the lock of @p endpoint held. Functions that may block take the lock themselves.
template <typename Body>
auto locked(const doca_comm_channel_ep_t &endpoint, Body &&body)
{
    const EndpointGuard guard(endpoint.lock);
    return body();
}

/// Returns a counter of a peer as of its last update.
doca_error_t get_counter(const doca_comm_channel_addr_t *peer, std::uint64_t *out,
                         std::uint64_t doca_comm_channel_addr_t::Counters::*counter,
                         const char *public_function = __builtin_FUNCTION())
{
    const auto read = [&] { return locked(peer->endpoint, [&] { *out = peer->counters.*counter; }); };
    return call({peer, out}, read, public_function);
}

} // namespace

doca_error_t doca_comm_channel_get_max_service_name_len(uint32_t *max_service_name_len)
{
    return call({max_service_name_len}, [&] { *max_service_name_len = max_service_name_size; });
}

doca_error_t doca_comm_channel_get_max_message_size(struct doca_devinfo *devinfo, uint32_t *size)
{
    return get_limit(devinfo, size, max_message_size, false);
}

doca_error_t doca_comm_channel_get_max_send_queue_size(struct doca_devinfo *devinfo, uint32_t *max_send_queue_size)
{
    return get_limit(devinfo, max_send_queue_size, max_queue_size, false);
}

doca_error_t doca_comm_channel_get_max_recv_queue_size(struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size)
{
    return get_limit(devinfo, max_recv_queue_size, max_queue_size, false);
}

doca_error_t doca_comm_channel_get_service_max_num_connections(struct doca_devinfo *devinfo,
                                                               uint32_t *max_num_connections)
{
    return get_limit(devinfo, max_num_connections, max_connections, true);
}

doca_error_t doca_comm_channel_ep_create(struct doca_comm_channel_ep_t **ep)
{
    return call({ep}, [&] { *ep = new doca_comm_channel_ep_t; });
}

doca_error_t doca_comm_channel_ep_get_device(struct doca_comm_channel_ep_t *ep, struct doca_dev **device)
{
    return call({ep, device}, [&] { return locked(*ep, [&] { *device = ep->device.get(); }); });
}

doca_error_t doca_comm_channel_ep_get_device_rep(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep **device_rep)
{
    return call({ep, device_rep}, [&] { return locked(*ep, [&] { *device_rep = ep->representor; }); });
}

doca_error_t doca_comm_channel_ep_get_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t *max_msg_size)
{
    return call({ep, max_msg_size}, [&] { return locked(*ep, [&] { *max_msg_size = ep->limits.message_size; }); });
}

doca_error_t doca_comm_channel_ep_get_send_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t *send_queue_size)
{
    return call({ep, send_queue_size}, [&] { return locked(*ep, [&] { *send_queue_size = ep->limits.send_queue; }); });
}

doca_error_t doca_comm_channel_ep_get_recv_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t *recv_queue_size)
{
    return call({ep, recv_queue_size}, [&] { return locked(*ep, [&] { *recv_queue_size = ep->limits.recv_queue; }); });
}

doca_error_t doca_comm_channel_ep_set_device(struct doca_comm_channel_ep_t *ep, struct doca_dev *device)
{
    return call({ep, device}, [&] { return locked(*ep, [&] { return ep->set_device(*device); }); });
}

doca_error_t doca_comm_channel_ep_set_device_rep(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep *device_rep)
{
    return call({ep, device_rep}, [&] { return locked(*ep, [&] { return ep->set_representor(*device_rep); }); });
}

doca_error_t doca_comm_channel_ep_set_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t max_msg_size)
{
    return call({ep}, [&] { return locked(*ep, [&] { return ep->set_message_size(max_msg_size); }); });
}

doca_error_t doca_comm_channel_ep_set_send_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t send_queue_size)
{
    return call({ep}, [&] { return locked(*ep, [&] { return ep->set_send_queue_size(send_queue_size); }); });
}

doca_error_t doca_comm_channel_ep_set_recv_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t recv_queue_size)
{
    return call({ep}, [&] { return locked(*ep, [&] { return ep->set_recv_queue_size(recv_queue_size); }); });
}

doca_error_t doca_comm_channel_ep_get_event_channel(struct doca_comm_channel_ep_t *local_ep,
                                                    doca_event_channel_t *send_event_channel,
                                                    doca_event_channel_t *recv_event_channel)
{
    if (send_event_channel == nullptr && recv_event_channel == nullptr)
        return opendoca::refuse_null();
    return call({local_ep}, [&] {
        return locked(*local_ep, [&] { return local_ep->get_event_channels(send_event_channel, recv_event_channel); });
    });
}

doca_error_t doca_comm_channel_ep_get_service_event_channel(struct doca_comm_channel_ep_t *local_ep,
                                                            doca_event_channel_t *service_event_channel)
{
    return call({local_ep, service_event_channel}, [&] {
        return locked(*local_ep, [&] { return local_ep->get_service_event_channel(*service_event_channel); });
    });
}

doca_error_t doca_comm_channel_ep_event_handle_arm_send(struct doca_comm_channel_ep_t *local_ep)
{
    return call({local_ep}, [&] { return locked(*local_ep, [&] { return local_ep->arm_send(); }); });
}

doca_error_t doca_comm_channel_ep_event_handle_arm_recv(struct doca_comm_channel_ep_t *local_ep)
{
    return call({local_ep}, [&] { return locked(*local_ep, [&] { return local_ep->arm_recv(); }); });
}

doca_error_t doca_comm_channel_ep_listen(struct doca_comm_channel_ep_t *local_ep, const char *name)
{
    return call({local_ep, name}, [&] { return locked(*local_ep, [&] { return local_ep->listen(name); }); });
}

doca_error_t doca_comm_channel_ep_connect(struct doca_comm_channel_ep_t *local_ep, const char *name,
                                          struct doca_comm_channel_addr_t **peer_addr)
{
    return call({local_ep, name, peer_addr}, [&] { return local_ep->connect(name, *peer_addr); });
}

doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep, const void *msg, size_t len,
                                         int flags, struct doca_comm_channel_addr_t *peer_addr)
{
    return call({local_ep, msg, peer_addr},
                [&] { return locked(*local_ep, [&] { return local_ep->send(msg, len, flags, peer_addr); }); });
}

doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg, size_t *len, int flags,
                                           struct doca_comm_channel_addr_t **peer_addr)
{
    // The length is written only on success: outputs are unchanged by a failed call.
    if (flags != DOCA_CC_MSG_FLAG_NONE)
        return DOCA_ERROR_INVALID_VALUE;
    return call({local_ep, msg, len, peer_addr}, [&] {
        std::size_t length = *len;
        const doca_error_t status = locked(*local_ep, [&] { return local_ep->receive(msg, length, *peer_addr); });
        if (status == DOCA_SUCCESS)
            *len = length;
        return status;
    });
}

doca_error_t doca_comm_channel_ep_disconnect(struct doca_comm_channel_ep_t *local_ep,
                                             struct doca_comm_channel_addr_t *peer_addr)
{
    return call({local_ep, peer_addr}, [&] { return local_ep->disconnect(peer_addr); });
}

doca_error_t doca_comm_channel_ep_destroy(struct doca_comm_channel_ep_t *local_ep)
{
    // DOCA's code for a null endpoint here, unlike that of the other functions.
    if (local_ep == nullptr) {
        opendoca::report_null(__func__);
        return DOCA_ERROR_NOT_CONNECTED;
    }
    delete local_ep;
    return DOCA_SUCCESS;
}

doca_error_t doca_comm_channel_peer_addr_get_user_data(struct doca_comm_channel_addr_t *peer_addr, uint64_t *user_data)
{
    return call({peer_addr, user_data},
                [&] { return locked(peer_addr->endpoint, [&] { *user_data = peer_addr->user_data; }); });
}

doca_error_t doca_comm_channel_peer_addr_set_user_data(struct doca_comm_channel_addr_t *peer_addr,
                                                       uint64_t user_context)
{
    return call({peer_addr}, [&] { return locked(peer_addr->endpoint, [&] { peer_addr->user_data = user_context; }); });
}

doca_error_t doca_comm_channel_peer_addr_update_info(struct doca_comm_channel_addr_t *peer_addr)
{
    return call({peer_addr}, [&] {
        return locked(peer_addr->endpoint, [&] { return peer_addr->endpoint.update_peer(*peer_addr); });
    });
}

doca_error_t doca_comm_channel_peer_addr_get_send_messages(const struct doca_comm_channel_addr_t *peer_addr,
                                                           uint64_t *send_messages)
{
    return get_counter(peer_addr, send_messages, &doca_comm_channel_addr_t::Counters::send_messages);
}

doca_error_t doca_comm_channel_peer_addr_get_send_bytes(const struct doca_comm_channel_addr_t *peer_addr,
                                                        uint64_t *send_bytes)
{
    return get_counter(peer_addr, send_bytes, &doca_comm_channel_addr_t::Counters::send_bytes);
}

doca_error_t doca_comm_channel_peer_addr_get_recv_messages(const struct doca_comm_channel_addr_t *peer_addr,
                                                           uint64_t *recv_messages)
{
    return get_counter(peer_addr, recv_messages, &doca_comm_channel_addr_t::Counters::recv_messages);
}

doca_error_t doca_comm_channel_peer_addr_get_recv_bytes(const struct doca_comm_channel_addr_t *peer_addr,
                                                        uint64_t *recv_bytes)
{
    return get_counter(peer_addr, recv_bytes, &doca_comm_channel_addr_t::Counters::recv_bytes);
}

doca_error_t doca_comm_channel_peer_addr_get_send_in_flight_messages(const struct doca_comm_channel_addr_t *peer_addr,
                                                                     uint64_t *send_in_flight_messages)
{
    return get_counter(peer_addr, send_in_flight_messages, &doca_comm_channel_addr_t::Counters::send_in_flight);
}

doca_error_t doca_comm_channel_ep_update_service_state_info(struct doca_comm_channel_ep_t *local_ep)
{
    return call({local_ep}, [&] { return locked(*local_ep, [&] { return local_ep->update_service_state(); }); });
}

// The array belongs to the endpoint: it is valid until the next update of the service's state.
doca_error_t doca_comm_channel_ep_get_peer_addr_list(const struct doca_comm_channel_ep_t *local_ep,
                                                     struct doca_comm_channel_addr_t ***peer_addr_array,
                                                     uint32_t *peer_addr_array_len)
{
    return call({local_ep, peer_addr_array, peer_addr_array_len}, [&] {
        const EndpointGuard guard(local_ep->lock);
        const doca_error_t status = local_ep->check_service();
        if (status == DOCA_SUCCESS) {
            *peer_addr_array = const_cast<doca_comm_channel_addr_t **>(local_ep->clients().listed().data());
            *peer_addr_array_len = static_cast<std::uint32_t>(local_ep->clients().listed().size());
        }
        return status;
    });
}

doca_error_t doca_comm_channel_ep_get_pending_connections(const struct doca_comm_channel_ep_t *local_ep,
                                                          uint32_t *pending_connections)
{
    return call({local_ep, pending_connections}, [&] {
        const EndpointGuard guard(local_ep->lock);
        const doca_error_t status = local_ep->check_service();
        if (status == DOCA_SUCCESS)
            *pending_connections = local_ep->clients().num_pending();
        return status;
    });
}
