// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comm Channel of programs that know nothing of each other yet: clients on a port of the DPU, and services to which
// nobody comes.
#include <chrono>
#include <cstddef>
#include <string>

#include "support/comm_channel.hpp"
#include "support/environment.hpp"
#include "support/log_capture.hpp"
#include "support/topology_file.hpp"

using namespace doca_test;

class FirstClientTest : public testing::TestWithParam<DevicePair> {
protected:
    DevHandle dpu{open_device(GetParam().importer)};
    RepHandle rep{open_representor(dpu, GetParam().exporter.pci)};
    const std::string name = service_name();
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FirstClientTest);
INSTANTIATE_TEST_SUITE_P(pair, FirstClientTest, testing::ValuesIn(comm_channel_pairs()), pair_name);

TEST_P(FirstClientTest, a_port_connects_as_the_first_pf_behind_it)
{
    if (!GetParam().importer.is_soft())
        GTEST_SKIP() << "only of the software device";
    const EpHandle service = make_service(dpu, rep, name);
    const EpHandle client = make_endpoint(dpu);
    Address *peer = nullptr;
    ASSERT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_SUCCESS);
    ASSERT_EQ(receive(service).status, DOCA_ERROR_AGAIN) << "this takes the client in";
    ASSERT_EQ(await_connection(peer), DOCA_SUCCESS);
    must(send_text(client, peer, "from the port"));
    EXPECT_EQ(await_message(service).text, "from the port");
}

TEST(FirstClient, a_port_connects_to_nothing_where_it_acts_for_no_pf)
{
    const Environment soft("DOCA_SOFT", "1");
    const TopologyFile only_a_vf(R"({"functions": [
        {"name": "p0",  "side": "dpu",  "type": "pf", "pci": "03:00.0"},
        {"name": "vf0", "side": "host", "type": "vf", "pci": "0b:00.2", "parent": "p0"}
    ]})");
    for (const bool is_role : {true, false}) {
        const Environment role("DOCA_SOFT_ROLE", is_role ? "dpu" : nullptr);
        const Environment topology("DOCA_SOFT_TOPOLOGY", is_role ? nullptr : only_a_vf.path().c_str());
        const DevHandle port = open_device("soft_p0");
        const EpHandle client = make_endpoint(port);
        Address *peer = untouched<Address>();
        const LogCapture log;
        EXPECT_EQ(doca_comm_channel_ep_connect(client, service_name().c_str(), &peer), DOCA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(peer, untouched<Address>());
        EXPECT_LOGGED(log, "acts for no function of the host");
    }
}

// A service to which nobody comes

class LonelyServiceTest : public FirstClientTest {
protected:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] std::size_t num_told() const
    {
        const std::string text = log.text(), part = "service '" + name + "' on ";
        std::size_t count = 0;
        for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
            ++count;
        return count;
    }
    void poll_for(std::chrono::milliseconds time) const
    {
        for (const auto end = Clock::now() + time; Clock::now() < end;)
            EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    }

    const LogCapture log;
    const EpHandle service = make_service(dpu, rep, name);
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LonelyServiceTest);
INSTANTIATE_TEST_SUITE_P(pair, LonelyServiceTest, testing::ValuesIn(one_comm_channel_pair()), pair_name);

TEST_P(LonelyServiceTest, says_after_a_second_that_none_has_come)
{
    const auto start = Clock::now();
    while (num_told() == 0 && Clock::now() < start + std::chrono::minutes(1))
        EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_GE(Clock::now() - start, std::chrono::seconds(1));
    EXPECT_LOGGED(log, "(" + GetParam().exporter.pci + ") waits for a client: none has come yet");
    poll_for(std::chrono::milliseconds(1100));
    EXPECT_EQ(num_told(), 1u) << "once";
}

TEST_P(LonelyServiceTest, says_a_second_after_the_last_client_that_it_has_gone)
{
    const DevHandle host = open_device(GetParam().exporter);
    EpHandle client = make_endpoint(host);
    Address *peer = nullptr;
    ASSERT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_SUCCESS);
    poll_for(std::chrono::milliseconds(1100));
    EXPECT_EQ(num_told(), 0u) << "there is a client";
    client.reset();
    const auto start = Clock::now();
    while (num_told() == 0 && Clock::now() < start + std::chrono::minutes(1))
        EXPECT_EQ(doca_comm_channel_ep_update_service_state_info(service), DOCA_SUCCESS) << "polled otherwise";
    EXPECT_GE(Clock::now() - start, std::chrono::seconds(1));
    EXPECT_LOGGED(log, "the last one has gone");
}
