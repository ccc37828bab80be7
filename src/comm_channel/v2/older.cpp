// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Endpoints of programs of DOCA 1.3: created with their sizes, without a device, and with functions that block.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include <poll.h>

#include <doca_comm_channel.h>

#include "../../core/log/log.hpp"
#include "../../core/objects/dev_list.hpp"
#include "../../core/v2/call.hpp"
#include "../limits.hpp"
#include "endpoint.hpp"

OPENDOCA_LOG_SOURCE(DOCA_OLDER_COMM_CHANNEL);

using namespace opendoca::comm_channel;

namespace {

/// Layout of struct doca_comm_channel_init_attr of DOCA 1.3: part of the ABI. Zero means the default.
struct InitAttributes {
    std::uint32_t cookie;
    std::uint32_t flags;
    std::uint32_t maxmsgs;
    std::uint32_t msgsize;
    doca_event_channel_t event_channel;
};

/// A device that is opened for an endpoint and closed with it.
class FoundDevice {
public:
    FoundDevice() = default;
    FoundDevice(const FoundDevice &) = delete;
    FoundDevice &operator=(const FoundDevice &) = delete;
    ~FoundDevice()
    {
        rep.reset();
        if (dev != nullptr)
            (void)dev->close();
    }

    /// Opens the first capable device and, if @p for_service, its first representor. Leaves dev null if there is none.
    [[nodiscard]] doca_error_t open_first(bool for_service)
    {
        doca_devinfo **infos = nullptr;
        std::uint32_t count = 0;
        if (const doca_error_t status = opendoca::list_devices(infos, count); status != DOCA_SUCCESS)
            return status;
        const auto suits = [&](const doca_devinfo *info) {
            const auto &function = *info->function;
            return function.can.comm_channel &&
                   (for_service ? function.can.representors_net && !function.representors().empty()
                                : function.behind_port.has_value());
        };
        const auto first = std::find_if(infos, infos + count, suits);
        doca_error_t status = DOCA_SUCCESS;
        if (first != infos + count)
            status = doca_dev::open((*first)->function, dev);
        (void)opendoca::destroy_list(infos);
        return status == DOCA_SUCCESS && dev != nullptr && for_service ? open_representor() : status;
    }

    doca_dev *dev = nullptr;
    std::unique_ptr<doca_dev_rep> rep;

private:
    [[nodiscard]] doca_error_t open_representor()
    {
        doca_devinfo_rep **infos = nullptr;
        std::uint32_t count = 0;
        const doca_error_t status = opendoca::list_representors(*dev, opendoca::rep_filter_net, infos, count);
        if (status != DOCA_SUCCESS)
            return status;
        if (count != 0)
            rep = std::make_unique<doca_dev_rep>(*infos[0]);
        return opendoca::destroy_list(infos);
    }
};

/// An endpoint that finds its device itself. FoundDevice is the first base and so destroyed last: the endpoint's use of
/// the device ends before the device is closed.
class OlderEndpoint final : private FoundDevice, public doca_comm_channel_ep_t {
public:
    doca_error_t find_device(bool for_service) override
    {
        if (const doca_error_t status = open_first(for_service); status != DOCA_SUCCESS)
            return status;
        if (dev == nullptr)
            return DOCA_SUCCESS; // the caller reports the missing device
        if (const doca_error_t status = set_device(*dev); status != DOCA_SUCCESS)
            return status;
        LOG_INFO("the endpoint has no device and uses %s", dev->description().c_str());
        return rep != nullptr && representor == nullptr ? set_representor(*rep) : DOCA_SUCCESS;
    }

    [[nodiscard]] doca_error_t set_sizes(const InitAttributes &attributes)
    {
        const auto size = static_cast<std::uint16_t>(std::min<std::uint32_t>(attributes.msgsize, max_message_size));
        const auto queue = static_cast<std::uint16_t>(std::min<std::uint32_t>(attributes.maxmsgs, max_queue_size));
        doca_error_t status = size == 0 ? DOCA_SUCCESS : set_message_size(size);
        if (status == DOCA_SUCCESS && queue != 0)
            status = set_send_queue_size(queue);
        if (status == DOCA_SUCCESS && queue != 0)
            status = set_recv_queue_size(queue);
        return status;
    }
};

/// Repeats @p attempt until it returns something else than @p if_busy. Between two attempts it blocks until the channel
/// that @p arm arms is readable, or a second has passed; it returns AGAIN after a signal.
template <typename Attempt, typename Arm>
doca_error_t block(Attempt &&attempt, doca_error_t if_busy, Arm &&arm)
{
    // Milliseconds; then the attempt is repeated, for changes that raise no event.
    constexpr int max_wait = 1000;
    for (;;) {
        if (const doca_error_t status = attempt(); status != if_busy)
            return status;
        pollfd waiting = {-1, POLLIN, 0};
        if (const doca_error_t status = arm(waiting.fd); status != DOCA_SUCCESS)
            return status;
        if (poll(&waiting, 1, max_wait) >= 0)
            continue;
        if (errno != EINTR) {
            LOG_ERR("poll: %s", std::strerror(errno));
            return DOCA_ERROR_OPERATING_SYSTEM;
        }
        LOG_INFO("a signal ended the wait of a Comm Channel endpoint");
        return DOCA_ERROR_AGAIN;
    }
}

// Return functions that arm a channel and set its descriptor, for block().
auto arm_send_of(doca_comm_channel_ep_t *ep)
{
    return [ep](int &fd) {
        const doca_error_t status = doca_comm_channel_ep_get_event_channel(ep, &fd, nullptr);
        return status == DOCA_SUCCESS ? doca_comm_channel_ep_event_handle_arm_send(ep) : status;
    };
}

auto arm_receive_of(doca_comm_channel_ep_t *ep)
{
    return [ep](int &fd) {
        const doca_error_t status = doca_comm_channel_ep_get_event_channel(ep, nullptr, &fd);
        return status == DOCA_SUCCESS ? doca_comm_channel_ep_event_handle_arm_recv(ep) : status;
    };
}

} // namespace

extern "C" __DOCA_EXPERIMENTAL doca_error_t opendoca_comm_channel_ep_connect_1_3(
    struct doca_comm_channel_ep_t *local_ep, const char *name, struct doca_comm_channel_addr_t **peer_addr)
{
    if (peer_addr == nullptr)
        return opendoca::refuse_null();
    doca_comm_channel_addr_t *peer = nullptr;
    doca_error_t status = doca_comm_channel_ep_connect(local_ep, name, &peer);
    if (status != DOCA_SUCCESS)
        return status;
    status = block([&] { return doca_comm_channel_peer_addr_update_info(peer); }, DOCA_ERROR_CONNECTION_INPROGRESS,
                   arm_send_of(local_ep));
    if (status == DOCA_SUCCESS)
        *peer_addr = peer;
    else
        (void)doca_comm_channel_ep_disconnect(local_ep, peer);
    return status;
}

extern "C" __DOCA_EXPERIMENTAL doca_error_t
opendoca_comm_channel_ep_sendto_1_3(struct doca_comm_channel_ep_t *local_ep, const void *msg, size_t len, int flags,
                                    struct doca_comm_channel_addr_t *peer_addr)
{
    return block([&] { return doca_comm_channel_ep_sendto(local_ep, msg, len, flags, peer_addr); }, DOCA_ERROR_AGAIN,
                 arm_send_of(local_ep));
}

extern "C" __DOCA_EXPERIMENTAL doca_error_t
opendoca_comm_channel_ep_recvfrom_1_3(struct doca_comm_channel_ep_t *local_ep, void *msg, size_t *len, int flags,
                                      struct doca_comm_channel_addr_t **peer_addr)
{
    return block([&] { return doca_comm_channel_ep_recvfrom(local_ep, msg, len, flags, peer_addr); }, DOCA_ERROR_AGAIN,
                 arm_receive_of(local_ep));
}

extern "C" __DOCA_EXPERIMENTAL doca_error_t opendoca_comm_channel_ep_create_1_3(const void *attr,
                                                                                struct doca_comm_channel_ep_t **ep)
{
    return opendoca::v2::call({ep}, [&] {
        auto created = std::make_unique<OlderEndpoint>();
        const doca_error_t status =
            attr == nullptr ? DOCA_SUCCESS : created->set_sizes(*static_cast<const InitAttributes *>(attr));
        if (status == DOCA_SUCCESS)
            *ep = created.release();
        return status;
    });
}
