// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// An RDMA context of DOCA 3.0 on a device that dies.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <thread>

#include "../../conformance/v3/rdma_instance.hpp"
#include "../behaviour/verbs.hpp"

namespace doca_test {
namespace {

TEST(FatalDeviceV3, StopsAnRdmaContext)
{
    DevHandle dev = open_device("mlx5_0"), other = open_device("mlx5_1");
    RdmaInstance a(dev), b(other);
    a.start();
    b.start();
    std::array<const void *, 2> details{};
    std::array<std::size_t, 2> sizes{};
    doca_rdma_connection *of_a = nullptr, *of_b = nullptr;
    must(doca_rdma_export(a.get(), &details[0], &sizes[0], &of_a));
    must(doca_rdma_export(b.get(), &details[1], &sizes[1], &of_b));
    must(doca_rdma_connect(a.get(), details[1], sizes[1], of_a));
    must(doca_rdma_connect(b.get(), details[0], sizes[0], of_b));
    const auto run_until = [&](const std::function<bool()> &is_done) {
        while (!is_done()) {
            const bool has_progressed = a.progress();
            if (!b.progress() && !has_progressed)
                std::this_thread::yield();
        }
    };
    run_until([&] { return !a.connected.empty() && !b.connected.empty(); });
    ASSERT_EQ(card_test::ask_card("fatal host 0"), "ok");
    run_until([&] { return state_of(a.ctx()) == DOCA_CTX_STATE_IDLE; });
    EXPECT_TRUE(a.ends.empty()) << "the state is the report";
    EXPECT_EQ(state_of(b.ctx()), DOCA_CTX_STATE_RUNNING) << "another device";
}

} // namespace
} // namespace doca_test
