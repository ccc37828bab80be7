// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Services and clients of Comm Channel, in this process and in others.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <doca_comm_channel.h>

#include "device.hpp"
#include "environment.hpp"

namespace doca_test {

using EpHandle = Handle<doca_comm_channel_ep_t, doca_comm_channel_ep_destroy>;
using Address = doca_comm_channel_addr_t;

constexpr std::size_t longest_message = 4080;

inline bool has_comm_channel(doca_devinfo *info)
{
    std::uint32_t size = 0;
    return doca_comm_channel_get_max_message_size(info, &size) == DOCA_SUCCESS;
}

/// Host functions, and the DPU's ports that have a representor of them.
inline std::vector<DevicePair> comm_channel_pairs()
{
    std::vector<DevicePair> pairs;
    const std::vector<DeviceParam> able = devices_that(has_comm_channel);
    for (const DevicePair &pair : few_device_pairs()) {
        const auto is_able = [&](const DeviceParam &device) {
            return std::ranges::any_of(able, [&](const DeviceParam &one) { return one.ibdev == device.ibdev; });
        };
        if (is_able(pair.exporter) && is_able(pair.importer))
            pairs.push_back(pair);
    }
    // A card's own side has such a pair: the function that has the representors, and a subfunction behind one of them.
    for (const DeviceParam &port :
         devices_that([](doca_devinfo *info) { return has_comm_channel(info) && has_representors(info); })) {
        if (port.is_soft())
            continue;
        const DevHandle dev = open_device(port);
        const RepList reps(dev);
        for (const DeviceParam &function : able) {
            const bool is_behind =
                std::ranges::any_of(reps, [&](doca_devinfo_rep *rep) { return pci_of(rep) == function.pci; });
            if (function.ibdev != port.ibdev && is_behind)
                pairs.push_back({function, port});
        }
    }
    return pairs;
}

inline std::vector<DevicePair> one_comm_channel_pair()
{
    std::vector<DevicePair> pairs = comm_channel_pairs();
    pairs.resize(std::min<std::size_t>(pairs.size(), 1));
    return pairs;
}

inline RepHandle open_representor(doca_dev *dev, const std::string &pci)
{
    const RepList list(dev);
    for (doca_devinfo_rep *info : list) {
        if (pci_of(info) != pci)
            continue;
        RepHandle rep;
        must(doca_dev_rep_open(info, rep.out()));
        return rep;
    }
    throw std::runtime_error("no representor of " + pci);
}

/// A name that no other test uses at this time.
inline std::string service_name()
{
    static int count = 0;
    return "test " + std::to_string(getpid()) + "." + std::to_string(++count);
}

struct Sizes {
    std::uint16_t message = longest_message;
    std::uint16_t queue = 8;
};

inline EpHandle make_endpoint(doca_dev *dev, const Sizes &sizes = {})
{
    EpHandle ep;
    must(doca_comm_channel_ep_create(ep.out()));
    must(doca_comm_channel_ep_set_device(ep, dev));
    must(doca_comm_channel_ep_set_max_msg_size(ep, sizes.message));
    must(doca_comm_channel_ep_set_send_queue_size(ep, sizes.queue));
    must(doca_comm_channel_ep_set_recv_queue_size(ep, sizes.queue));
    return ep;
}

inline EpHandle make_service(doca_dev *dev, doca_dev_rep *rep, const std::string &name, const Sizes &sizes = {})
{
    EpHandle ep = make_endpoint(dev, sizes);
    must(doca_comm_channel_ep_set_device_rep(ep, rep));
    must(doca_comm_channel_ep_listen(ep, name.c_str()));
    return ep;
}

/// Calls until the answer is another than @p not_yet.
template <typename Call>
doca_error_t until_not(doca_error_t not_yet, Call call)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    doca_error_t status = call();
    while (status == not_yet && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
        status = call();
    }
    return status;
}

inline doca_error_t send_text(doca_comm_channel_ep_t *ep, Address *to, const std::string &text)
{
    return doca_comm_channel_ep_sendto(ep, text.data(), text.size(), DOCA_CC_MSG_FLAG_NONE, to);
}

struct Received {
    doca_error_t status;
    std::string text;
    Address *from;
};

inline Received receive(doca_comm_channel_ep_t *ep, std::size_t room = longest_message)
{
    Received got{DOCA_SUCCESS, std::string(room, '\0'), nullptr};
    std::size_t length = room;
    got.status = doca_comm_channel_ep_recvfrom(ep, got.text.data(), &length, DOCA_CC_MSG_FLAG_NONE, &got.from);
    EXPECT_TRUE(got.status == DOCA_SUCCESS || length == room) << "the length changed";
    got.text.resize(got.status == DOCA_SUCCESS ? length : 0);
    return got;
}

inline Received await_message(doca_comm_channel_ep_t *ep)
{
    Received got{};
    (void)until_not(DOCA_ERROR_AGAIN, [&] {
        got = receive(ep);
        return got.status;
    });
    return got;
}

inline doca_error_t await_connection(Address *peer)
{
    return until_not(DOCA_ERROR_CONNECTION_INPROGRESS, [&] { return doca_comm_channel_peer_addr_update_info(peer); });
}

inline bool is_readable(int fd, int milliseconds = 0)
{
    pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&entry, 1, milliseconds) == 1;
}

/// For what has to come: fails the test only after a minute.
inline void await_readable(int fd)
{
    must_hold(is_readable(fd, 60'000), "the event channel becomes readable");
}

/// For an event channel of an endpoint that has been armed and has nothing to receive. Where messages go by queue
/// pairs, the two sides tell each other for a while how, which wakes, too: a receive takes it, and then there is
/// silence.
inline void await_silence(doca_comm_channel_ep_t *ep, int fd)
{
    must(until_not(DOCA_ERROR_AGAIN, [&] {
        EXPECT_EQ(receive(ep).status, DOCA_ERROR_AGAIN);
        return is_readable(fd) ? DOCA_ERROR_AGAIN : DOCA_SUCCESS;
    }));
}

/// A directory of this test's own, where services are looked for first.
class RuntimeDirectory {
public:
    RuntimeDirectory() : path_(mkdtemp(text_)), variable_("XDG_RUNTIME_DIR", path_.c_str()) {}
    ~RuntimeDirectory() { std::filesystem::remove_all(path_); }

    [[nodiscard]] std::filesystem::path place() const { return path_ / "opendoca"; }
    [[nodiscard]] const std::filesystem::path &path() const { return path_; }
    /// Of the one service that is there.
    [[nodiscard]] std::filesystem::path socket_path() const
    {
        for (const auto &entry : std::filesystem::directory_iterator(place())) {
            if (entry.is_socket())
                return entry.path();
        }
        throw std::runtime_error("no service");
    }
    /// Connects to it and says nothing.
    [[nodiscard]] int connect_raw() const
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        socket_path().string().copy(address.sun_path, sizeof(address.sun_path) - 1);
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        must_hold(connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0, "the connection");
        return fd;
    }

private:
    char text_[32] = "/tmp/opendoca-test-XXXXXX";
    std::filesystem::path path_;
    Environment variable_;
};

} // namespace doca_test
