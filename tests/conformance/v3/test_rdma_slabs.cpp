// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the connections of an RDMA instance take of the system on software devices.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "../support/footprint.hpp"
#include "rdma_instance.hpp"

using namespace doca_test;

namespace {

class RdmaFootprint : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RdmaFootprint);
INSTANTIATE_TEST_SUITE_P(device, RdmaFootprint, testing::ValuesIn(connecting_devices()), name_of_device);

/// An instance that sends and receives.
class Talker {
public:
    /// On @p others, or on an engine of its own.
    Talker(doca_dev *dev, std::uint16_t num_connections, doca_pe *others = nullptr)
    {
        if (others == nullptr)
            must(doca_pe_create(own_pe_.out()));
        pe_ = others != nullptr ? others : own_pe_;
        must(doca_rdma_create(dev, rdma_.out()));
        must(doca_rdma_set_max_num_connections(rdma_, num_connections));
        must(doca_rdma_task_receive_set_conf(rdma_, ended<doca_rdma_task_receive>, ended<doca_rdma_task_receive>, 64));
        must(doca_rdma_task_send_set_conf(rdma_, ended<doca_rdma_task_send>, ended<doca_rdma_task_send>, 64));
        must(doca_pe_connect_ctx(pe_, doca_rdma_as_ctx(rdma_)));
        must(doca_ctx_start(doca_rdma_as_ctx(rdma_)));
    }
    Talker(const Talker &) = delete;
    Talker &operator=(const Talker &) = delete;
    ~Talker()
    {
        (void)doca_ctx_stop(doca_rdma_as_ctx(rdma_));
        while (state_of(doca_rdma_as_ctx(rdma_)) != DOCA_CTX_STATE_IDLE)
            (void)doca_pe_progress(pe_);
    }

    [[nodiscard]] doca_rdma *get() const { return rdma_; }
    [[nodiscard]] doca_pe *pe() const { return pe_; }
    /// As often as it takes that all connections have been looked at.
    void progress(std::size_t times) const
    {
        for (; times != 0; --times)
            (void)doca_pe_progress(pe_);
    }

private:
    template <typename Task>
    static void ended(Task * /*task*/, doca_data /*of_task*/, doca_data /*of_context*/)
    {
    }

    Handle<doca_pe, doca_pe_destroy> own_pe_;
    doca_pe *pe_ = nullptr;
    RdmaHandle rdma_;
};

/// Returns the end of @p from.
doca_rdma_connection *connect_ends(doca_rdma *from, doca_rdma *to)
{
    const void *details[2];
    std::size_t sizes[2];
    doca_rdma_connection *ends[2];
    must(doca_rdma_export(from, &details[0], &sizes[0], &ends[0]));
    must(doca_rdma_export(to, &details[1], &sizes[1], &ends[1]));
    must(doca_rdma_connect(from, details[1], sizes[1], ends[0]));
    must(doca_rdma_connect(to, details[0], sizes[0], ends[1]));
    return ends[0];
}

TEST_P(RdmaFootprint, IdleConnectionTakesNoDescriptorAndAtMost8KiB)
{
    if (!is_soft(GetParam()))
        GTEST_SKIP() << "each queue pair takes what its driver takes";
    constexpr std::uint16_t some = 40, most = 640, few_fds = 6;
    const bool measures_memory = can_measure_memory();
    const DevHandle dev = open_device(GetParam());
    const Talker a(dev, most), b(dev, most);
    const auto connect_more = [&](std::size_t count) {
        for (std::size_t i = 0; i != count; ++i)
            connect_ends(a.get(), b.get());
        a.progress(2 * most);
        b.progress(2 * most);
    };
    connect_more(some);
    const std::size_t descriptors = num_descriptors(), bytes = bytes_in_use();
    connect_more(most - some);
    EXPECT_LE(num_descriptors() - descriptors, few_fds);
    if (measures_memory) {
        EXPECT_LE((bytes_in_use() - bytes) / std::size_t{2 * (most - some)}, std::size_t{8} << 10);
    }
}

TEST_P(RdmaFootprint, ContextsOfAnEngineShareItsDescriptors)
{
    if (!is_soft(GetParam()))
        GTEST_SKIP() << "each queue pair takes what its driver takes";
    constexpr std::uint16_t some = 40, most = 1000, few_fds = 6;
    const DevHandle dev = open_device(GetParam());
    const Talker peer(dev, most);
    const std::size_t before = num_descriptors();
    PeHandle engine;
    must(doca_pe_create(engine.out()));
    std::deque<Talker> talkers;
    const auto count_with = [&](std::size_t contexts) {
        while (talkers.size() != contexts) {
            const Talker &talker = talkers.emplace_back(dev, 1, engine);
            connect_ends(peer.get(), talker.get());
        }
        // All have been polled, and the program is about to block.
        peer.progress(2 * contexts);
        talkers.front().progress(2 * contexts);
        for (doca_pe *const pe : {peer.pe(), static_cast<doca_pe *>(engine)})
            must(doca_pe_request_notification(pe));
        const std::size_t descriptors = num_descriptors();
        for (doca_pe *const pe : {peer.pe(), static_cast<doca_pe *>(engine)})
            must(doca_pe_clear_notification(pe, 0));
        return descriptors;
    };
    // The engine's handle, eventfd, doorbells and pipe, with the other end of each pipe, and a slab.
    constexpr std::size_t fds_of_engine = 16;
    EXPECT_LE(count_with(1) - before, fds_of_engine);
    const std::size_t with_some = count_with(some);
    EXPECT_LE(count_with(most) - with_some, few_fds);
}

// Once none of many contexts has had anything to do for long, none is polled any more.
TEST_P(RdmaFootprint, MessageReachesAnIdleOneOfManyContexts)
{
    constexpr std::size_t contexts = 12, polls_until_parked = 20'000;
    const DevHandle dev = open_device(GetParam());
    PeHandle engine;
    must(doca_pe_create(engine.out()));
    std::deque<RdmaInstance> ends;
    RdmaInstance peer(dev);
    peer.start();
    for (std::size_t i = 0; i != contexts; ++i) {
        RdmaInstance &end = ends.emplace_back(dev, 1, engine);
        end.start();
        doca_rdma_connection *const from = connect_ends(peer.get(), end.get());
        for (const std::size_t idle_polls : {std::size_t{0}, polls_until_parked}) {
            for (std::size_t left = idle_polls; left != 0; --left)
                (void)end.progress();
            Outcome sent, received;
            doca_rdma_task_receive *receive = nullptr;
            must(doca_rdma_task_receive_allocate_init(end.get(), nullptr, {.ptr = &received}, &receive));
            must(doca_task_submit(doca_rdma_task_receive_as_task(receive)));
            for (std::size_t left = idle_polls; left != 0; --left)
                ASSERT_FALSE(end.progress()) << "the receive waits";
            doca_rdma_task_send *send = nullptr;
            must(doca_rdma_task_send_allocate_init(peer.get(), from, nullptr, {.ptr = &sent}, &send));
            must(doca_task_submit(doca_rdma_task_send_as_task(send)));
            while (!sent.has_ended() || !received.has_ended()) {
                (void)peer.progress();
                (void)end.progress();
            }
            EXPECT_EQ(received.num_succeeded, 1);
        }
    }
}

} // namespace
