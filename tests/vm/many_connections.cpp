// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What connections of an RDMA device cost that are on one work queue, to which they came before anybody had asked for
// their details: objects of the kernel, and memory. Prints both, as `rdma resource show` and the process's status have
// them.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "../conformance/support/rdma_crowd.hpp"
#include "../conformance/support/verbs_objects.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t num_connections = 200;

std::uint64_t resident_kib()
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word != "VmRSS:")
            continue;
        std::uint64_t kib = 0;
        status >> kib;
        return kib;
    }
    throw std::runtime_error("/proc/self/status has no VmRSS");
}

std::size_t count_descriptors()
{
    const std::filesystem::directory_iterator entries("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

class ManyConnections : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(, ManyConnections, testing::Bool(), [](const auto &mode) {
    return mode.param ? std::string("event_driven") : std::string("polled");
});

TEST_P(ManyConnections, HaveOneCompletionQueue)
{
    const DevHandle dev(open_device(devices_that(can_connect).front()));
    const std::string name = ibdev_of(doca_dev_as_devinfo(dev)) + ' ';
    const VerbsObjects objects_before = count_verbs_objects();
    const std::uint64_t kib_before = resident_kib();
    const auto descriptors_before = count_descriptors();
    Crowd crowd(dev, GetParam());
    // Each is connected with its neighbour.
    for (std::size_t i = 0; i != num_connections; i += 2)
        add_pair(crowd, crowd);
    for (std::size_t i = 0; i != num_connections; ++i) {
        const std::size_t peer = i ^ 1;
        crowd.receive(peer);
        crowd.send(i);
        for (int left = 2; left != 0; --left) {
            const RdmaEnded ended = crowd.wait();
            ASSERT_EQ(ended.result.result, DOCA_SUCCESS);
            EXPECT_EQ(ended.user_data, ended.type == DOCA_RDMA_JOB_RECV ? peer : i);
        }
    }
    const std::uint64_t kib = resident_kib() - kib_before;
    VerbsObjects objects = count_verbs_objects();
    std::printf("%zu connections: RSS %lu KiB, %lu KiB each; %zu descriptors\n", num_connections,
                static_cast<unsigned long>(kib), static_cast<unsigned long>(kib / num_connections),
                count_descriptors() - descriptors_before);
    std::fflush(stdout);
    EXPECT_EQ(std::system("rdma resource show"), 0);
    VerbsObjects before = objects_before;
    EXPECT_EQ(objects[name + "qp"] - before[name + "qp"], num_connections);
    EXPECT_EQ(objects[name + "cq"] - before[name + "cq"], 1U);
    // The completion channel, and what a failure of the device is told by.
    EXPECT_LE(count_descriptors() - descriptors_before, GetParam() ? 5U : 0U);
    // With queues of 16 of each; an entry has room for 16 segments.
    EXPECT_LE(kib / num_connections, 64U);
    EXPECT_NE(kib, 0U);
}

} // namespace
