// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DEVX: channels of events, what they are subscribed to, and the shared receive queues of DEVX, by calls of the real
// libmlx5.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "devx_queues.hpp"
#include "peer.hpp"
#include "verbs.hpp"

namespace card_test {
namespace {

// Numbers of events.
constexpr std::uint16_t completion = 0, cq_error = 4, fatal = 5, port_change = 9, request_error = 0x10,
                        access_error = 0x11, last_request = 0x13, below_limit = 0x14;

/// An event as a program reads it: the cookie, and the entry unless the channel omits it.
struct Event {
    std::uint64_t cookie = 0;
    std::uint8_t entry[64] = {};
    [[nodiscard]] std::uint16_t type() const { return entry[1]; }
    /// The number of a queue.
    [[nodiscard]] std::uint32_t number() const { return static_cast<std::uint32_t>(get_bits(entry, 56 * 8, 32)); }
};

class Channel {
public:
    explicit Channel(ibv_context &context, bool omits_data = false)
        : channel_(mlx5dv_devx_create_event_channel(
              &context, omits_data ? MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA
                                   : static_cast<mlx5dv_devx_create_event_channel_flags>(0))),
          bytes_(omits_data ? 8 : 72)
    {
    }
    ~Channel()
    {
        if (channel_ != nullptr)
            mlx5dv_devx_destroy_event_channel(channel_);
    }
    Channel(const Channel &) = delete;
    Channel &operator=(const Channel &) = delete;

    /// An errno, or 0.
    int subscribe(mlx5dv_devx_obj *object, std::vector<std::uint16_t> numbers, std::uint64_t cookie = 0)
    {
        return mlx5dv_devx_subscribe_devx_event(channel_, object, static_cast<std::uint16_t>(numbers.size() * 2),
                                                numbers.data(), cookie);
    }
    int redirect(int fd, mlx5dv_devx_obj *object, std::uint16_t number)
    {
        return mlx5dv_devx_subscribe_devx_event_fd(channel_, fd, object, number);
    }
    /// The next event, which has to come.
    Event next()
    {
        Event event;
        EXPECT_EQ(get(event), static_cast<ssize_t>(bytes_)) << std::strerror(errno);
        return event;
    }
    bool has_event() const
    {
        pollfd state{channel_->fd, POLLIN, 0};
        return ::poll(&state, 1, 0) == 1 && state.revents == POLLIN;
    }
    ssize_t get(Event &event)
    {
        return mlx5dv_devx_get_event(channel_, reinterpret_cast<mlx5dv_devx_async_event_hdr *>(&event), sizeof(event));
    }
    [[nodiscard]] int fd() const { return channel_->fd; }
    [[nodiscard]] bool exists() const { return channel_ != nullptr; }

private:
    mlx5dv_devx_event_channel *channel_;
    std::size_t bytes_;
};

/// Changes the port's state as often as that, which starts and ends up.
void change_port(int times)
{
    for (int i = 0; i < times; ++i)
        ASSERT_EQ(ask_card(i % 2 == 0 ? "port-down host 1" : "port-up host 1"), "ok");
}

/// A connection of verbs that sends, and a queue pair of DEVX that receives from a pool.
class DevxEvents : public testing::Test {
protected:
    void connect(std::uint64_t optional_rights = 0)
    {
        ASSERT_EQ(receiver.status(), 0);
        ASSERT_EQ(sender.connect_to(receiver.address(), {14, 7, 7, 1}), 0);
        ASSERT_EQ(receiver.connect_to(sender.address(), optional_rights), 0);
    }
    void send(ibv_wc_status expected = IBV_WC_SUCCESS)
    {
        sender.post(IBV_WR_SEND, *local.mr, 0, 0, 64);
        EXPECT_EQ(next_completion(*first.cq).status, expected);
    }

    Device first{"mlx5_0"}, second{"mlx5_1"};
    Buffer local{first, 4096, all_rights, 'l'}, remote{second, 4096};
    Uar uar{*second.context};
    DevxCq cq{*second.context, uar};
    Pool pool{second, Topology::cyclic};
    DevxQp receiver{second, uar, cq, {1, pool.number()}};
    Connection sender{first};
    Channel channel{*second.context};
};

TEST_F(DevxEvents, ACompletionWakesTheSubscriberOfAnArmedQueueOnce)
{
    ASSERT_EQ(channel.subscribe(cq.object(), {completion}, 0x1122334455667788), 0);
    connect();
    for (int i = 0; i < 4; ++i)
        pool.post(*remote.mr, 64);
    send();
    EXPECT_FALSE(channel.has_event()) << "the queue is not armed";
    EXPECT_EQ(cq.poll(), 2);
    cq.arm();
    send();
    const Event event = channel.next();
    EXPECT_EQ(event.cookie, 0x1122334455667788u);
    EXPECT_EQ(event.type(), completion);
    EXPECT_EQ(event.number(), cq.number());
    send();
    EXPECT_FALSE(channel.has_event()) << "an arm is worth one event";
    EXPECT_EQ(cq.poll(), 2);
    cq.arm();
    EXPECT_EQ(channel.next().number(), cq.number()) << "there is an entry already";
    EXPECT_EQ(remote.bytes[63], 'l');
}

TEST_F(DevxEvents, AReadBlocksUntilTheEventComes)
{
    ASSERT_EQ(channel.subscribe(cq.object(), {completion}, 7), 0);
    connect();
    pool.post(*remote.mr, 64);
    cq.arm();
    Event event;
    std::thread reader([&] { event = channel.next(); });
    send();
    reader.join();
    EXPECT_EQ(event.cookie, 7u);
    ASSERT_EQ(fcntl(channel.fd(), F_SETFL, fcntl(channel.fd(), F_GETFL) | O_NONBLOCK), 0);
    EXPECT_EQ(channel.get(event), -1);
    EXPECT_EQ(errno, EAGAIN);
}

TEST_F(DevxEvents, EachSubscriptionGetsTheEvent)
{
    Channel other(*second.context, true);
    ASSERT_EQ(channel.subscribe(cq.object(), {completion}, 1), 0);
    ASSERT_EQ(channel.subscribe(cq.object(), {cq_error, completion}, 2), 0) << "one more of the same channel";
    ASSERT_EQ(other.subscribe(cq.object(), {completion}, 3), 0);
    connect();
    pool.post(*remote.mr, 64);
    cq.arm();
    send();
    EXPECT_EQ(channel.next().cookie, 1u);
    EXPECT_EQ(channel.next().cookie, 2u);
    const Event without_data = other.next();
    EXPECT_EQ(without_data.cookie, 3u);
    EXPECT_EQ(without_data.number(), 0u);
}

TEST_F(DevxEvents, AnOverflowOfACompletionQueueBreaksItsQueuePair)
{
    ASSERT_EQ(channel.subscribe(cq.object(), {cq_error}, 1), 0);
    ASSERT_EQ(channel.subscribe(receiver.object(), {fatal, last_request}, 2), 0);
    connect();
    for (std::uint32_t i = 0; i < DevxCq::entries; ++i) {
        pool.post(*remote.mr, 64);
        send();
    }
    pool.post(*remote.mr, 64);
    sender.post(IBV_WR_SEND, *local.mr, 0, 0, 64);
    const Event overrun = channel.next();
    EXPECT_EQ(overrun.cookie, 1u);
    EXPECT_EQ(overrun.type(), cq_error);
    EXPECT_EQ(get_bits(overrun.entry, 32 * 8, 32), cq.number());
    const Event broken = channel.next();
    EXPECT_EQ(broken.cookie, 2u);
    EXPECT_EQ(broken.type(), fatal);
    EXPECT_EQ(broken.number(), receiver.number());
    EXPECT_EQ(channel.next().type(), last_request);
    next_completion(*first.cq);
    EXPECT_EQ(next_event(*second.context, std::chrono::milliseconds(0)), -1) << "they are not events of verbs";
}

TEST_F(DevxEvents, AQueueThatIgnoresOverrunsIsOverwritten)
{
    DevxCq ignoring(*second.context, uar, true);
    DevxQp other(second, uar, ignoring, {1, pool.number()});
    ASSERT_EQ(sender.connect_to(other.address(), {14, 7, 7, 1}), 0);
    ASSERT_EQ(other.connect_to(sender.address()), 0);
    for (std::uint32_t i = 0; i < DevxCq::entries * 2 + 1; ++i) {
        pool.post(*remote.mr, 64);
        send();
    }
}

TEST_F(DevxEvents, APeerWithoutTheRightCausesARequestError)
{
    ASSERT_EQ(channel.subscribe(receiver.object(), {request_error, access_error}), 0);
    connect();
    sender.post(IBV_WR_RDMA_READ, *local.mr, remote.address(), remote.mr->rkey, 64);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_REM_INV_REQ_ERR);
    const Event event = channel.next();
    EXPECT_EQ(event.type(), request_error);
    EXPECT_EQ(event.number(), receiver.number());
}

TEST_F(DevxEvents, AWrongKeyCausesAnAccessErrorAndTheEndOfTheSharedRequests)
{
    ASSERT_EQ(channel.subscribe(receiver.object(), {request_error, access_error, last_request}), 0);
    connect();
    sender.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), remote.mr->rkey ^ 0x5500, 64);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(channel.next().type(), access_error);
    EXPECT_EQ(channel.next().type(), last_request);
}

TEST_F(DevxEvents, AQueuePairThatIsSetToErrorHasTakenItsLastSharedRequest)
{
    ASSERT_EQ(channel.subscribe(receiver.object(), {fatal, last_request}, 5), 0);
    connect();
    EXPECT_EQ(receiver.fail(), 0);
    EXPECT_EQ(channel.next().type(), last_request);
    EXPECT_EQ(receiver.fail(), 0);
    EXPECT_FALSE(channel.has_event()) << "it was in that state";
}

TEST_F(DevxEvents, AFaultOfTheCardIsFatal)
{
    ASSERT_EQ(channel.subscribe(receiver.object(), {fatal}, 5), 0);
    connect();
    EXPECT_EQ(ask_card("qp-fatal host 1"), "ok");
    EXPECT_EQ(channel.next().type(), fatal);
}

TEST_F(DevxEvents, APoolReportsOnceThatItFallsBelowItsLimit)
{
    ASSERT_EQ(channel.subscribe(pool.object(), {below_limit}, 5), 0);
    EXPECT_EQ(pool.set_limit(Pool::entries), 3) << "bad parameter";
    EXPECT_EQ(pool.set_limit(2), 0);
    connect();
    for (int i = 0; i < 3; ++i)
        pool.post(*remote.mr, 64);
    send();
    EXPECT_FALSE(channel.has_event()) << "two are left";
    send();
    const Event event = channel.next();
    EXPECT_EQ(event.type(), below_limit);
    EXPECT_EQ(event.number(), pool.number());
    send();
    EXPECT_FALSE(channel.has_event());
}

TEST_F(DevxEvents, ThePortsStateIsAnEventOfTheDevice)
{
    ASSERT_EQ(channel.subscribe(nullptr, {port_change}, 9), 0);
    EXPECT_EQ(ask_card("port-down host 1"), "ok");
    EXPECT_EQ(ask_card("port-up host 1"), "ok");
    const Event down = channel.next(), up = channel.next();
    EXPECT_EQ(down.cookie, 9u);
    EXPECT_EQ(down.type(), port_change);
    EXPECT_EQ(down.entry[3], 1) << "subtype: down";
    EXPECT_EQ(down.entry[40], 0x10) << "port 1";
    EXPECT_EQ(up.entry[3], 4) << "subtype: active";
}

TEST_F(DevxEvents, AnEventfdIsSignalledInPlaceOfTheChannel)
{
    const int fd = eventfd(0, EFD_CLOEXEC);
    ASSERT_EQ(channel.redirect(fd, cq.object(), completion), 0);
    connect();
    pool.post(*remote.mr, 64);
    pool.post(*remote.mr, 64);
    cq.arm();
    send();
    std::uint64_t count = 0;
    EXPECT_EQ(read(fd, &count, sizeof(count)), 8);
    EXPECT_EQ(count, 1u);
    EXPECT_FALSE(channel.has_event());
    close(fd);
}

TEST_F(DevxEvents, AnEventfdWithAFullCounterDoesNotStopTheCard)
{
    const int fd = eventfd(0, EFD_CLOEXEC);
    ASSERT_EQ(channel.redirect(fd, nullptr, port_change), 0);
    const std::uint64_t full = ~std::uint64_t{1};
    ASSERT_EQ(write(fd, &full, sizeof(full)), 8);
    change_port(2);
    // The program empties the counter just before each event, and another thread fills it again at once, so that the
    // card may find room that is gone when it writes.
    std::atomic<bool> is_done = false;
    std::thread writer([&] {
        while (!is_done)
            EXPECT_EQ(write(fd, &full, sizeof(full)), 8);
    });
    std::uint64_t count = 0;
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(read(fd, &count, sizeof(count)), 8);
        change_port(2);
    }
    is_done = true;
    EXPECT_EQ(read(fd, &count, sizeof(count)), 8);
    writer.join();
    close(fd);
    connect();
    pool.post(*remote.mr, 64);
    send();
}

TEST_F(DevxEvents, EventsOfAnObjectThatIsDestroyedStay)
{
    constexpr std::uint64_t old_cookie = 4, new_cookie = 5;
    const auto cause_event = [&](std::uint64_t cookie) {
        DevxCq other(*second.context, uar);
        DevxQp of_other(second, uar, other, {1, pool.number()});
        Connection its_sender(first);
        ASSERT_EQ(channel.subscribe(other.object(), {completion}, cookie), 0);
        ASSERT_EQ(its_sender.connect_to(of_other.address(), {14, 7, 7, 1}), 0);
        ASSERT_EQ(of_other.connect_to(its_sender.address()), 0);
        pool.post(*remote.mr, 64);
        other.arm();
        its_sender.post(IBV_WR_SEND, *local.mr, 0, 0, 64);
        EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    };
    cause_event(old_cookie);
    // The card may have the new queue where it had the old one.
    for (int i = 0; i < 8; ++i)
        cause_event(new_cookie);
    EXPECT_EQ(channel.next().cookie, old_cookie);
    for (int i = 0; i < 8; ++i)
        EXPECT_EQ(channel.next().cookie, new_cookie) << "the subscription has ended with its queue";
    EXPECT_FALSE(channel.has_event());
}

TEST_F(DevxEvents, WrongSubscriptionsAreRefused)
{
    Device other("mlx5_1");
    Channel of_other(*other.context);
    EXPECT_EQ(channel.subscribe(cq.object(), {port_change}), EINVAL) << "an event of the device";
    EXPECT_EQ(channel.subscribe(nullptr, {completion}), EINVAL) << "an event of an object";
    EXPECT_EQ(channel.subscribe(nullptr, {0x08}), EINVAL);
    EXPECT_EQ(channel.subscribe(cq.object(), {0x77}), EINVAL);
    EXPECT_EQ(channel.subscribe(cq.object(), {0x100}), EINVAL);
    EXPECT_EQ(channel.subscribe(cq.object(), {completion, 0x77}), EINVAL);
    EXPECT_EQ(channel.subscribe(cq.object(), {}), EINVAL);
    EXPECT_EQ(channel.subscribe(cq.object(), std::vector<std::uint16_t>(17, cq_error)), EINVAL);
    EXPECT_EQ(of_other.subscribe(cq.object(), {completion}), EINVAL) << "an object of another file";
    EXPECT_EQ(channel.redirect(-1, cq.object(), completion), EBADF);
    EXPECT_EQ(channel.redirect(9999, cq.object(), completion), EBADF);
    EXPECT_EQ(channel.redirect(channel.fd(), cq.object(), completion), EINVAL) << "no eventfd";
    // Nothing of these has become a subscription.
    connect();
    pool.post(*remote.mr, 64);
    cq.arm();
    send();
    EXPECT_FALSE(channel.has_event());
}

/// What libmlx5 never passes: a call with these attributes, of up to 8 bytes.
int call(const ibv_context &context, std::uint16_t object, std::uint16_t method,
         const std::vector<std::pair<unsigned, std::uint64_t>> &attributes)
{
    std::vector<std::uint8_t> image(sizeof(ib_uverbs_ioctl_hdr) + attributes.size() * sizeof(ib_uverbs_attr));
    ib_uverbs_ioctl_hdr header;
    std::memset(&header, 0, sizeof(header));
    header.length = static_cast<std::uint16_t>(image.size());
    header.object_id = object;
    header.method_id = method;
    header.num_attrs = static_cast<std::uint16_t>(attributes.size());
    std::memcpy(image.data(), &header, sizeof(header));
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        ib_uverbs_attr attribute{};
        attribute.attr_id = static_cast<std::uint16_t>(attributes[i].first);
        // A list of events is as long as one.
        const bool is_list = method == MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT &&
                             attribute.attr_id == MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST;
        attribute.len = is_list ? 2 : 8;
        attribute.data = attributes[i].second;
        std::memcpy(image.data() + sizeof(header) + i * sizeof(attribute), &attribute, sizeof(attribute));
    }
    return ioctl(context.cmd_fd, RDMA_VERBS_IOCTL, image.data()) == 0 ? 0 : errno;
}

TEST_F(DevxEvents, CallsThatLibmlx5DoesNotMakeAreRefused)
{
    const auto fd = static_cast<std::uint64_t>(channel.fd());
    constexpr unsigned of_channel = MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE,
                       of_object = MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE,
                       numbers = MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST,
                       cookie = MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE,
                       eventfd_number = MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM;
    const auto subscribe = [&](const std::vector<std::pair<unsigned, std::uint64_t>> &attributes) {
        return call(*second.context, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, attributes);
    };
    EXPECT_EQ(subscribe({{of_channel, fd}, {numbers, port_change}}), 0);
    EXPECT_EQ(subscribe({{numbers, port_change}}), EBADF) << "no channel";
    EXPECT_EQ(subscribe({{of_channel, 0}, {numbers, port_change}}), EBADF) << "no channel";
    EXPECT_EQ(subscribe({{of_channel, fd}}), EINVAL) << "no event";
    EXPECT_EQ(subscribe({{of_channel, fd}, {of_object, second.pd->handle}, {numbers, completion}}), EINVAL)
        << "an object that DEVX has not created";
    EXPECT_EQ(subscribe({{of_channel, fd}, {numbers, port_change}, {cookie, 1}, {eventfd_number, fd}}), EINVAL)
        << "an eventfd has no cookie";
    EXPECT_EQ(
        call(*second.context, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
             {{MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 0}, {MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 2}}),
        EINVAL)
        << "an undefined flag";
}

TEST_F(DevxEvents, AChannelWithoutDataHoldsOneEventOfASubscription)
{
    Channel other(*second.context, true);
    ASSERT_EQ(other.subscribe(nullptr, {port_change}, 1), 0);
    ASSERT_EQ(other.subscribe(nullptr, {port_change}, 2), 0);
    change_port(10);
    EXPECT_EQ(other.next().cookie, 1u);
    change_port(2);
    EXPECT_EQ(other.next().cookie, 2u);
    EXPECT_EQ(other.next().cookie, 1u) << "it was read, so that another one could come";
    EXPECT_FALSE(other.has_event());
}

TEST_F(DevxEvents, EventsThatThePipeHasNoRoomForCome)
{
    ASSERT_EQ(channel.subscribe(nullptr, {port_change}, 9), 0);
    change_port(500);
    for (int i = 0; i < 500; ++i) {
        const Event event = channel.next();
        EXPECT_EQ(event.cookie, 9u);
        ASSERT_EQ(event.entry[3], i % 2 == 0 ? 1 : 4) << "in their order";
    }
    EXPECT_FALSE(channel.has_event());
}

TEST_F(DevxEvents, AChannelThatIsNotReadLosesTheNewestEvents)
{
    constexpr int subscriptions = 100, held = 4096;
    for (int i = 0; i < subscriptions; ++i)
        ASSERT_EQ(channel.subscribe(nullptr, {port_change}, static_cast<std::uint64_t>(i)), 0);
    change_port(100); // 10,000 events
    for (int i = 0; i < held; ++i)
        ASSERT_EQ(channel.next().cookie, static_cast<std::uint64_t>(i % subscriptions));
    constexpr std::uint64_t other = 1000;
    ASSERT_EQ(channel.subscribe(nullptr, {port_change}, other), 0);
    change_port(2);
    int more = 0;
    while (channel.next().cookie != other)
        ++more;
    EXPECT_LT(more, 1000) << "what had no room is lost";
}

TEST_F(DevxEvents, TheChannelsOfAFileHoldALimitedNumberOfEvents)
{
    constexpr std::size_t channels = 5;
    constexpr int subscriptions = 100, held = 3200; // 16,384 for all, after whole rounds
    std::vector<std::unique_ptr<Channel>> all;
    for (std::size_t i = 0; i < channels; ++i) {
        all.push_back(std::make_unique<Channel>(*second.context));
        for (int n = 0; n < subscriptions; ++n)
            ASSERT_EQ(all.back()->subscribe(nullptr, {port_change}), 0);
    }
    change_port(60); // 6,000 events for each, which would hold 4,096
    for (const auto &one : all) {
        for (int i = 0; i < held; ++i)
            ASSERT_EQ(one->next().cookie, 0u);
    }
    constexpr std::uint64_t last = 1000;
    for (const auto &one : all)
        ASSERT_EQ(one->subscribe(nullptr, {port_change}, last), 0);
    change_port(2);
    for (const auto &one : all) {
        int more = 0;
        while (one->next().cookie != last)
            ++more;
        EXPECT_LT(more, 5 * subscriptions) << "what had no room is lost";
    }
}

TEST_F(DevxEvents, AFileHasALimitedNumberOfSubscriptions)
{
    constexpr int most = 4096, in_a_call = 16;
    {
        Channel other(*second.context);
        for (int i = 0; i < most / in_a_call; ++i)
            ASSERT_EQ(other.subscribe(cq.object(), std::vector<std::uint16_t>(in_a_call, cq_error)), 0) << i;
        EXPECT_EQ(channel.subscribe(nullptr, {port_change}, 9), ENOMEM);
    }
    EXPECT_EQ(channel.subscribe(nullptr, {port_change}, 9), 0) << "a channel that is closed makes room";
    const int fd = eventfd(0, EFD_CLOEXEC);
    for (int i = 0; i < 1024; ++i)
        ASSERT_EQ(channel.redirect(fd, cq.object(), cq_error), 0) << i;
    EXPECT_EQ(channel.redirect(fd, cq.object(), cq_error), EMFILE);
    close(fd);
    change_port(2);
    EXPECT_EQ(channel.next().cookie, 9u);
}

TEST_F(DevxEvents, ChannelsThatAreClosedMakeRoom)
{
    for (int i = 0; i < 1100; ++i) {
        Channel other(*second.context, true);
        ASSERT_TRUE(other.exists()) << i;
        ASSERT_EQ(other.subscribe(cq.object(), {completion}), 0);
        ASSERT_EQ(other.subscribe(nullptr, {port_change}), 0);
    }
    change_port(2);
    connect();
    pool.post(*remote.mr, 64);
    cq.arm();
    send();
}

TEST_F(DevxEvents, TheEndOfAProcessEndsItsChannels)
{
    const int files = card_count("files"), objects = card_count("objects");
    const std::size_t descriptors = card_descriptors();
    ASSERT_GT(descriptors, 0u);
    {
        Peer victim("host", "victim");
        EXPECT_EQ(victim.receive().word[0], 1u) << "has subscribed";
        change_port(100); // fills its channels
        EXPECT_GT(card_count("objects"), objects);
        EXPECT_GT(card_descriptors(), descriptors + 8);
        victim.kill();
    }
    EXPECT_TRUE(card_count_becomes("files", files));
    EXPECT_TRUE(card_count_becomes("objects", objects));
    // The card closes the connections for its status as it gets to them, and opens a descriptor now and then.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::size_t left = card_descriptors();
    for (; left > descriptors && std::chrono::steady_clock::now() < end; left = card_descriptors())
        std::this_thread::yield();
    EXPECT_LE(left, descriptors);
    ASSERT_EQ(channel.subscribe(nullptr, {port_change}, 9), 0);
    change_port(2);
    EXPECT_EQ(channel.next().cookie, 9u);
}

TEST_F(DevxEvents, APoolIsNotDestroyedWhileAQueuePairUsesIt)
{
    EXPECT_NE(mlx5dv_devx_obj_destroy(pool.object()), 0);
    connect();
    pool.post(*remote.mr, 64);
    send();
    EXPECT_EQ(cq.poll(), 2);
}

TEST_F(DevxEvents, WrongPoolsAreRefused)
{
    constexpr unsigned queue = 0x180, bad_parameter = 3, bad_resource = 5;
    EXPECT_EQ(create_wrong_pool(second, 0x08, 4, 3), bad_parameter) << "a state other than ready";
    EXPECT_EQ(create_wrong_pool(second, 0x20, 1, 1), bad_parameter) << "entries without a link";
    EXPECT_EQ(create_wrong_pool(second, queue, 4, 2), bad_parameter) << "strides";
    EXPECT_EQ(create_wrong_pool(second, queue + 0x10c, 4, 4), bad_parameter) << "entries of 16 bytes";
    EXPECT_EQ(create_wrong_pool(second, queue + 0x10c, 4, 10), bad_parameter) << "entries of 1 KiB";
    EXPECT_EQ(create_wrong_pool(second, queue + 0x11b, 5, 16), bad_parameter) << "65,536 entries";
    EXPECT_EQ(create_wrong_pool(second, queue + 0x11b, 5, 15), bad_resource) << "beyond the user memory";
    EXPECT_EQ(create_wrong_pool(second, queue + 0x48, 24, 0xffff), bad_resource) << "another protection domain";
    EXPECT_EQ(create_wrong_pool(second, queue + 0x80, 64, 2 * 4096 - 4), bad_resource) << "a record beyond the memory";
    EXPECT_EQ(create_wrong_pool(second, queue + 0x160, 32, 0), bad_resource) << "no user memory";
    EXPECT_EQ(create_wrong_pool(second, queue + 0x180, 64, 2 * 4096 - 64), bad_resource) << "a ring beyond the memory";
    EXPECT_EQ(create_wrong_pool(second, queue + 0x180, 64, ~std::uint64_t{63}), bad_resource) << "an offset that wraps";
}

TEST_F(DevxEvents, ThePoolsRingMayBeginAnywhereInItsMemory)
{
    connect();
    Pool later(second, Topology::cyclic, 1024);
    DevxQp of_later(second, uar, cq, {1, later.number()});
    Connection to_later(first);
    ASSERT_EQ(to_later.connect_to(of_later.address(), {14, 7, 7, 1}), 0);
    ASSERT_EQ(of_later.connect_to(to_later.address()), 0);
    later.post(*remote.mr, 64);
    to_later.post(IBV_WR_SEND, *local.mr, 0, 0, 64);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(cq.poll(), 2);
    EXPECT_EQ(remote.bytes[63], 'l');
}

TEST_F(DevxEvents, ReceiveRequestsOfACycleAreCountedAndThoseOfAListAreNamed)
{
    connect();
    Pool list(second, Topology::list);
    DevxQp of_list(second, uar, cq, {1, list.number()});
    Connection to_list(first);
    ASSERT_EQ(to_list.connect_to(of_list.address(), {14, 7, 7, 1}), 0);
    ASSERT_EQ(of_list.connect_to(to_list.address()), 0);
    for (std::uint32_t i = 0; i < Pool::entries * 2; ++i) {
        pool.post(*remote.mr, 64);
        send();
        EXPECT_EQ(cq.poll(), 2);
        EXPECT_EQ(cq.counter(), i);
        list.post(*remote.mr, 64);
        to_list.post(IBV_WR_SEND, *local.mr, 0, 0, 64);
        EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
        EXPECT_EQ(cq.poll(), 2);
        EXPECT_EQ(cq.counter(), (Pool::entries * 2 - i) % Pool::entries) << "backwards from 0";
    }
}

TEST_F(DevxEvents, AQueuePairTakesRightsWithItsConnection)
{
    constexpr std::uint64_t read_and_atomic = 1 << 1 | 1 << 2;
    connect(read_and_atomic);
    sender.post(IBV_WR_RDMA_READ, *local.mr, remote.address(), remote.mr->rkey, 64);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    const std::vector<std::uint8_t> context = receiver.query();
    EXPECT_EQ(get_bits(context.data(), 0, 4), 3u) << "ready to send";
    EXPECT_EQ(get_bits(context.data(), 0xa8, 24), sender.address().number);
    EXPECT_EQ(get_bits(context.data(), 0x490, 3), 7u) << "the rights";
    EXPECT_EQ(get_bits(context.data(), 0x568, 24), pool.number());
}

TEST_F(DevxEvents, AQueuePairNeedsAReceiveQueueOfItsFile)
{
    Device other("mlx5_1");
    Pool of_other(other, Topology::list);
    EXPECT_EQ(DevxQp(second, uar, cq, {1, of_other.number()}).status(), 3);
    EXPECT_EQ(DevxQp(second, uar, cq, {1, 0xabcdef}).status(), 3);
    EXPECT_EQ(DevxQp(second, uar, cq, {2, pool.number()}).status(), 3) << "no such kind";
}

/// Subscribes to all that there is, and waits to be killed.
int be_victim()
{
    Device device("mlx5_1");
    const Uar uar(*device.context);
    DevxCq cq(*device.context, uar);
    Pool pool(device, Topology::cyclic);
    DevxQp qp(device, uar, cq, {1, pool.number()});
    Channel channel(*device.context), other(*device.context, true);
    const int fd = eventfd(0, EFD_CLOEXEC);
    std::vector<std::unique_ptr<Channel>> full;
    bool is_done = true;
    for (int i = 0; i < 8; ++i) {
        full.push_back(std::make_unique<Channel>(*device.context));
        is_done = is_done && full.back()->subscribe(nullptr, {port_change}) == 0;
    }
    is_done = is_done && channel.subscribe(cq.object(), {completion, cq_error}) == 0 &&
              other.subscribe(nullptr, {port_change}) == 0 &&
              channel.subscribe(qp.object(), {fatal, last_request}) == 0 &&
              channel.redirect(fd, cq.object(), completion) == 0;
    send_to_test({{is_done ? 1u : 0u}, {}});
    receive_from_test();
    return 0;
}

} // namespace
} // namespace card_test

int main(int argc, char **argv)
{
    if (card_test::role(argc, argv) == "victim")
        return card_test::be_victim();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
