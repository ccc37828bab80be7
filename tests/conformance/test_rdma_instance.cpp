// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA instances: capabilities, properties, states, connection details.
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/rdma_fixture.hpp"

namespace {

using namespace doca_test;

class RdmaCapabilities : public DeviceTest {};
INSTANTIATE_FOR_DEVICES(RdmaCapabilities, can_connect);

TEST_P(RdmaCapabilities, AreTold)
{
    for (int type = DOCA_RDMA_JOB_RECV; type <= DOCA_RDMA_JOB_ATOMIC_FETCH_ADD; ++type) {
        const auto job = static_cast<doca_rdma_job_types>(type);
        EXPECT_EQ(doca_rdma_job_get_supported(info, job), DOCA_SUCCESS);
        std::uint32_t longest = 0;
        EXPECT_EQ(doca_rdma_get_max_buf_chain_len(info, job, DOCA_RDMA_TRANSPORT_RC, &longest), DOCA_SUCCESS);
        EXPECT_GE(longest, 1U);
        EXPECT_EQ(doca_rdma_get_max_buf_chain_len(info, job, DOCA_RDMA_TRANSPORT_DC, &longest),
                  DOCA_ERROR_INVALID_VALUE);
    }
    const auto unknown = static_cast<doca_rdma_job_types>(DOCA_RDMA_JOB_ATOMIC_FETCH_ADD + 1);
    EXPECT_EQ(doca_rdma_job_get_supported(info, unknown), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_job_get_supported(nullptr, DOCA_RDMA_JOB_SEND), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_get_transport_type_supported(info, DOCA_RDMA_TRANSPORT_RC), DOCA_SUCCESS);
    EXPECT_EQ(doca_rdma_get_transport_type_supported(info, DOCA_RDMA_TRANSPORT_DC), DOCA_ERROR_NOT_SUPPORTED);
    for (const auto get :
         {doca_rdma_get_max_recv_queue_size, doca_rdma_get_max_send_queue_size, doca_rdma_get_max_message_size}) {
        std::uint32_t value = 0;
        EXPECT_EQ(get(info, &value), DOCA_SUCCESS);
        EXPECT_GE(value, 1024U);
        EXPECT_EQ(get(info, nullptr), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(get(nullptr, &value), DOCA_ERROR_INVALID_VALUE);
    }
}

TEST_P(RdmaCapabilities, GidsAreInATable)
{
    std::uint32_t size = 0;
    ASSERT_EQ(doca_rdma_get_gid_table_size(info, &size), DOCA_SUCCESS);
    ASSERT_GE(size, 1U);
    EXPECT_EQ(doca_rdma_get_gid_table_size(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    std::vector<doca_rdma_gid> gids(size), last(1);
    EXPECT_EQ(doca_rdma_get_gid(info, 0, size, gids.data()), DOCA_SUCCESS);
    EXPECT_EQ(doca_rdma_get_gid(info, size - 1, 1, last.data()), DOCA_SUCCESS);
    EXPECT_EQ(std::memcmp(last.data(), &gids.back(), sizeof(doca_rdma_gid)), 0);
    const doca_rdma_gid none = {};
    EXPECT_NE(std::memcmp(&gids.front(), &none, sizeof(none)), 0);
    EXPECT_EQ(doca_rdma_get_gid(info, 0, 0, gids.data()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_get_gid(info, 1, size, gids.data()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_get_gid(info, UINT32_MAX, 2, gids.data()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_get_gid(info, 0, 1, nullptr), DOCA_ERROR_INVALID_VALUE);
}

class RdmaInstance : public DeviceTest {
protected:
    void SetUp() override
    {
        must(doca_rdma_create(rdma.out()));
        ctx = doca_rdma_as_ctx(rdma);
    }
    void TearDown() override
    {
        if (state() != DOCA_RDMA_STATE_RESET) {
            EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
        }
    }
    [[nodiscard]] doca_rdma_state state() const
    {
        doca_rdma_state now = DOCA_RDMA_STATE_RESET;
        (void)doca_rdma_get_state(rdma, &now);
        return now;
    }
    /// What a getter gives.
    template <typename T, typename Get>
    [[nodiscard]] T value(Get get) const
    {
        T value{};
        EXPECT_EQ(get(rdma, &value), DOCA_SUCCESS);
        return value;
    }

    RdmaHandle rdma;
    doca_ctx *ctx = nullptr;
};
INSTANTIATE_FOR_FEW_DEVICES(RdmaInstance, can_connect);

TEST_P(RdmaInstance, HasDefaultsThatCanBeChanged)
{
    std::uint32_t number = 77;
    EXPECT_EQ(doca_rdma_get_send_queue_size(rdma, &number), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(number, 77U);
    must(doca_ctx_dev_add(ctx, dev));
    EXPECT_EQ(value<std::uint32_t>(doca_rdma_get_send_queue_size), 1024U);
    EXPECT_EQ(value<std::uint32_t>(doca_rdma_get_recv_queue_size), 1024U);
    EXPECT_EQ(value<doca_rdma_transport_type>(doca_rdma_get_transport_type), DOCA_RDMA_TRANSPORT_RC);
    EXPECT_EQ(value<std::uint32_t>(doca_rdma_get_permissions), std::uint32_t{DOCA_ACCESS_LOCAL_READ_WRITE});
    EXPECT_EQ(value<bool>(doca_rdma_get_grh_enabled), true);
    EXPECT_EQ(value<std::uint32_t>(doca_rdma_get_gid_index), 0U);
    EXPECT_EQ(value<std::uint32_t>(doca_rdma_get_recv_buf_chain_len), 1U);
    EXPECT_EQ(value<std::uint32_t>(doca_rdma_get_sl), 0U);
    EXPECT_EQ(value<doca_rdma_state>(doca_rdma_get_state), DOCA_RDMA_STATE_RESET);

    EXPECT_EQ(doca_rdma_set_send_queue_size(rdma, 100), DOCA_SUCCESS);
    EXPECT_EQ(value<std::uint32_t>(doca_rdma_get_send_queue_size), 128U);
    EXPECT_EQ(doca_rdma_set_recv_queue_size(rdma, 1), DOCA_SUCCESS);
    EXPECT_EQ(value<std::uint32_t>(doca_rdma_get_recv_queue_size), 1U);
    EXPECT_EQ(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_512_BYTES), DOCA_SUCCESS);
    EXPECT_EQ(value<doca_mtu_size>(doca_rdma_get_mtu), DOCA_MTU_SIZE_512_BYTES);
    EXPECT_EQ(doca_rdma_set_permissions(rdma, exposed), DOCA_SUCCESS);
    EXPECT_EQ(value<std::uint32_t>(doca_rdma_get_permissions), exposed);
    EXPECT_EQ(doca_rdma_set_grh_enabled(rdma, true), DOCA_SUCCESS);
    EXPECT_EQ(doca_rdma_set_gid_index(rdma, 1), DOCA_SUCCESS);
    EXPECT_EQ(value<std::uint32_t>(doca_rdma_get_gid_index), 1U);
    EXPECT_EQ(doca_rdma_set_recv_buf_chain_len(rdma, 3), DOCA_SUCCESS);
    EXPECT_GE(value<std::uint32_t>(doca_rdma_get_recv_buf_chain_len), 3U);
    EXPECT_EQ(doca_rdma_set_sl(rdma, 15), DOCA_SUCCESS);
    EXPECT_EQ(value<std::uint32_t>(doca_rdma_get_sl), 15U);
    EXPECT_EQ(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_RC), DOCA_SUCCESS);
    must(doca_ctx_start(ctx));
    EXPECT_EQ(value<doca_mtu_size>(doca_rdma_get_mtu), DOCA_MTU_SIZE_512_BYTES);
}

TEST_P(RdmaInstance, RefusesWhatIsOutOfRange)
{
    EXPECT_EQ(doca_rdma_set_permissions(rdma, exposed), DOCA_ERROR_BAD_STATE); // no device yet
    EXPECT_EQ(doca_rdma_set_grh_enabled(rdma, true), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_set_gid_index(rdma, 0), DOCA_ERROR_BAD_STATE);
    must(doca_ctx_dev_add(ctx, dev));
    EXPECT_EQ(doca_ctx_dev_add(ctx, dev), DOCA_ERROR_IN_USE);
    std::uint32_t largest = 0, gids = 0, longest = 0;
    must(doca_rdma_get_max_send_queue_size(info, &largest));
    EXPECT_EQ(doca_rdma_set_send_queue_size(rdma, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_set_send_queue_size(rdma, largest), DOCA_SUCCESS);
    EXPECT_EQ(doca_rdma_set_send_queue_size(rdma, largest + 1), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(value<std::uint32_t>(doca_rdma_get_send_queue_size), largest);
    must(doca_rdma_get_max_recv_queue_size(info, &largest));
    EXPECT_EQ(doca_rdma_set_recv_queue_size(rdma, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_set_recv_queue_size(rdma, UINT32_MAX), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_DC), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_RAW_ETHERNET), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_rdma_set_mtu(rdma, static_cast<doca_mtu_size>(6)), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_set_permissions(rdma, DOCA_ACCESS_DPU_READ_ONLY), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_set_permissions(rdma, 1U << 20), DOCA_ERROR_INVALID_VALUE);
    must(doca_rdma_get_gid_table_size(info, &gids));
    EXPECT_EQ(doca_rdma_set_gid_index(rdma, gids), DOCA_ERROR_INVALID_VALUE);
    must(doca_rdma_get_max_buf_chain_len(info, DOCA_RDMA_JOB_RECV, DOCA_RDMA_TRANSPORT_RC, &longest));
    EXPECT_EQ(doca_rdma_set_recv_buf_chain_len(rdma, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_set_recv_buf_chain_len(rdma, longest + 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_set_sl(rdma, 16), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_set_send_queue_size(nullptr, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_get_sl(rdma, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_get_state(nullptr, nullptr), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(RdmaInstance, IsFixedWhileStarted)
{
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_ctx_start(ctx));
    EXPECT_EQ(state(), DOCA_RDMA_STATE_INIT);
    EXPECT_EQ(doca_rdma_set_send_queue_size(rdma, 8), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_set_recv_queue_size(rdma, 8), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_RC), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_1K_BYTES), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_set_permissions(rdma, 0), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_set_grh_enabled(rdma, true), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_set_gid_index(rdma, 0), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_set_recv_buf_chain_len(rdma, 2), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_set_sl(rdma, 1), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_destroy(rdma), DOCA_ERROR_BAD_STATE);
    must(doca_ctx_stop(ctx));
    EXPECT_EQ(state(), DOCA_RDMA_STATE_RESET);
}

TEST_P(RdmaInstance, TakesOneWorkQueue)
{
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_ctx_start(ctx));
    WorkqHandle first, second;
    must(doca_workq_create(4, first.out()));
    must(doca_workq_create(4, second.out()));
    EXPECT_EQ(doca_ctx_workq_add(ctx, first), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_add(ctx, first), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_ctx_workq_add(ctx, second), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, first), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_add(ctx, second), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, second), DOCA_SUCCESS);
}

TEST_P(RdmaInstance, DetailsAreThereFromStartToStop)
{
    const void *details = nullptr;
    std::size_t size = 0;
    must(doca_ctx_dev_add(ctx, dev));
    EXPECT_EQ(doca_rdma_export(rdma, &details, &size), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_connect(rdma, "x", 1), DOCA_ERROR_BAD_STATE);
    must(doca_ctx_start(ctx));
    EXPECT_EQ(doca_rdma_export(nullptr, &details, &size), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_export(rdma, nullptr, &size), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_export(rdma, &details, nullptr), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(doca_rdma_export(rdma, &details, &size), DOCA_SUCCESS);
    EXPECT_LE(size, 256U);
    const std::vector<std::byte> first = to_vector(details, size);
    ASSERT_EQ(doca_rdma_export(rdma, &details, &size), DOCA_SUCCESS);
    EXPECT_EQ(to_vector(details, size), first);
    must(doca_ctx_stop(ctx));
    must(doca_ctx_start(ctx));
    ASSERT_EQ(doca_rdma_export(rdma, &details, &size), DOCA_SUCCESS);
    EXPECT_NE(to_vector(details, size), first);
    EXPECT_EQ(doca_rdma_connect(rdma, details, size), DOCA_SUCCESS);
    EXPECT_EQ(doca_rdma_connect(rdma, details, size), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(state(), DOCA_RDMA_STATE_CONNECTED);
}

TEST_P(RdmaInstance, DetailsOfAnEarlierStartAreRefused)
{
    RdmaEnd peer(dev);
    const std::vector<std::byte> first = peer.details();
    peer.stop();
    peer.start();
    const RdmaEnd end(dev);
    EXPECT_EQ(end.connect(first), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_EQ(end.state(), DOCA_RDMA_STATE_INIT);
    EXPECT_EQ(end.connect(peer.details()), DOCA_SUCCESS);
}

TEST_P(RdmaInstance, DamagedDetailsAreRefused)
{
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_ctx_start(ctx));
    const RdmaEnd peer(dev);
    const std::vector<std::byte> good = peer.details();
    EXPECT_EQ(doca_rdma_connect(nullptr, good.data(), good.size()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_connect(rdma, nullptr, good.size()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_connect(rdma, good.data(), 0), DOCA_ERROR_INVALID_VALUE);
    for (std::size_t length = 1; length < good.size(); ++length)
        EXPECT_EQ(doca_rdma_connect(rdma, good.data(), length), DOCA_ERROR_CONNECTION_ABORTED);
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        std::vector<std::byte> bad = good;
        bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        EXPECT_EQ(doca_rdma_connect(rdma, bad.data(), bad.size()), DOCA_ERROR_CONNECTION_ABORTED) << bit;
    }
    std::vector<std::byte> longer = good;
    longer.resize(300);
    EXPECT_EQ(doca_rdma_connect(rdma, longer.data(), longer.size()), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_EQ(state(), DOCA_RDMA_STATE_INIT);
    EXPECT_EQ(doca_rdma_connect(rdma, good.data(), good.size()), DOCA_SUCCESS);
}

TEST_P(RdmaInstance, TheSmallerMtuWins)
{
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_256_BYTES));
    must(doca_ctx_start(ctx));
    const void *details = nullptr;
    std::size_t size = 0;
    must(doca_rdma_export(rdma, &details, &size));
    const RdmaEnd peer(dev);
    must(peer.connect(to_vector(details, size)));
    doca_mtu_size mtu{};
    must(doca_rdma_get_mtu(peer.rdma(), &mtu));
    EXPECT_EQ(mtu, DOCA_MTU_SIZE_256_BYTES);
}

TEST_P(RdmaInstance, LargestQueuesWork)
{
    std::uint32_t size = 0, length = 0;
    must(doca_rdma_get_max_recv_queue_size(info, &size));
    must(doca_rdma_get_max_buf_chain_len(info, DOCA_RDMA_JOB_RECV, DOCA_RDMA_TRANSPORT_RC, &length));
    const RdmaEnd end(dev,
                      {.depth = 65536, .send_queue_size = size, .recv_queue_size = size, .recv_chain_length = length});
    must(end.connect(end.details()));
    for (std::uint32_t i = 0; i < size; ++i)
        ASSERT_EQ(end.receive(nullptr), DOCA_SUCCESS);
    EXPECT_EQ(end.receive(nullptr), DOCA_ERROR_NO_MEMORY);
    for (std::uint32_t i = 0; i < size; ++i)
        ASSERT_EQ(end.send(nullptr), DOCA_SUCCESS);
    for (std::uint32_t i = 0; i < 2 * size; ++i)
        ASSERT_EQ(end.result(), DOCA_SUCCESS);
}

TEST(RdmaNull, IsRefused)
{
    EXPECT_EQ(doca_rdma_create(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_as_ctx(nullptr), nullptr);
}

} // namespace
