// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the connections of an RDMA instance take of the system on software devices.
#include <cstddef>
#include <string>

#include "../support/footprint.hpp"
#include "rdma_instance.hpp"

using namespace doca_test;

namespace {

class RdmaFootprint : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RdmaFootprint);
INSTANTIATE_TEST_SUITE_P(device, RdmaFootprint, testing::ValuesIn(connecting_devices()), name_of_device);

void connect_details(const RdmaInstance &from, const RdmaInstance &to)
{
    const void *details[2];
    std::size_t sizes[2];
    doca_rdma_connection *ends[2];
    must(doca_rdma_export(from.get(), &details[0], &sizes[0], &ends[0]));
    must(doca_rdma_export(to.get(), &details[1], &sizes[1], &ends[1]));
    must(doca_rdma_connect(from.get(), details[1], sizes[1], ends[0]));
    must(doca_rdma_connect(to.get(), details[0], sizes[0], ends[1]));
}

TEST_P(RdmaFootprint, IdleConnectionTakesNoDescriptorAndAtMost8KiB)
{
    constexpr std::size_t some = 40, most = 640, few_fds = 6;
    if (!is_soft(GetParam()))
        GTEST_SKIP() << "each queue pair takes what its driver takes";
    const DevHandle dev = open_device(GetParam());
    RdmaInstance a(dev), b(dev);
    for (RdmaInstance *each : {&a, &b}) {
        must(doca_rdma_set_max_num_connections(each->get(), most));
        each->start();
    }
    const auto connect_until = [&](std::size_t count) {
        while (a.connected.size() != count) {
            connect_details(a, b);
            while (a.connected.size() != b.connected.size() || a.progress() || b.progress()) {
                // Until both sides have been told.
            }
        }
    };
    connect_until(some);
    const std::size_t descriptors = num_descriptors(), bytes = bytes_in_use();
    connect_until(most);
    EXPECT_LE(num_descriptors() - descriptors, few_fds);
    if (can_measure_memory()) {
        EXPECT_LE((bytes_in_use() - bytes) / (2 * (most - some)), std::size_t{8} << 10);
    }
}

} // namespace
