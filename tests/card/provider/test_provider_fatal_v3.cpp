// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// An RDMA context of DOCA 3.0 on a device that dies.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "../../conformance/v3/rdma_instance.hpp"
#include "../behaviour/verbs.hpp"

namespace doca_test {
namespace {

/// Two instances with a connection, of devices of their own.
class FatalDeviceV3 : public testing::Test {
protected:
    void SetUp() override
    {
        a.start();
        b.start();
        std::array<const void *, 2> details{};
        std::array<std::size_t, 2> sizes{};
        must(doca_rdma_export(a.get(), &details[0], &sizes[0], &of_a));
        must(doca_rdma_export(b.get(), &details[1], &sizes[1], &of_b));
        must(doca_rdma_connect(a.get(), details[1], sizes[1], of_a));
        must(doca_rdma_connect(b.get(), details[0], sizes[0], of_b));
        run_until([&] { return !a.connected.empty() && !b.connected.empty(); });
    }
    void run_until(const std::function<bool()> &is_done)
    {
        while (!is_done()) {
            const bool has_progressed = a.progress();
            if (!b.progress() && !has_progressed)
                std::this_thread::yield();
        }
    }
    /// After the loss of a's device.
    void expect_stop()
    {
        run_until([&] { return state_of(a.ctx()) == DOCA_CTX_STATE_IDLE; });
        EXPECT_TRUE(a.ends.empty()) << "the state is the report";
        EXPECT_EQ(state_of(b.ctx()), DOCA_CTX_STATE_RUNNING) << "another device";
    }

    DevHandle dev = open_device("mlx5_0"), other = open_device("mlx5_1");
    RdmaInstance a{dev}, b{other};
    doca_rdma_connection *of_a = nullptr, *of_b = nullptr;
};

TEST_F(FatalDeviceV3, StopsAnRdmaContext)
{
    ASSERT_EQ(card_test::ask_card("fatal host 0"), "ok");
    expect_stop();
}

/// The flushed receive ends the connection before the device's event was read.
TEST_F(FatalDeviceV3, StopsAnRdmaContextWhoseConnectionHasEndedBefore)
{
    std::vector<std::byte> memory(64);
    const MmapHandle map = map_of(dev, memory, rdma_rights);
    const InventoryHandle inventory = inventory_of(1);
    BufHandle buf;
    must(doca_buf_inventory_buf_get_by_addr(inventory, map, memory.data(), 64, buf.out()));
    Outcome received;
    doca_rdma_task_receive *task = nullptr;
    must(doca_rdma_task_receive_allocate_init(a.get(), buf, {.ptr = &received}, &task));
    must(doca_task_submit(doca_rdma_task_receive_as_task(task)));
    ASSERT_EQ(card_test::ask_card("qp-fatal host 0"), "ok");
    ASSERT_EQ(card_test::ask_card("fatal host 0"), "ok");
    expect_stop();
    EXPECT_EQ(received.num_failed, 1);
}

/// The connection that has noticed the loss is gone when the context looks.
TEST_F(FatalDeviceV3, StopsAnRdmaContextWhoseConnectionTheProgramHasEnded)
{
    ASSERT_EQ(card_test::ask_card("fatal host 0"), "ok");
    must(doca_rdma_connection_disconnect(of_a));
    expect_stop();
}

} // namespace
} // namespace doca_test
