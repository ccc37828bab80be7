// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the connections of an RDMA instance take of the system on software devices.
#include <cstddef>
#include <cstdint>
#include <string>

#include "../support/footprint.hpp"
#include "rdma_instance.hpp"

using namespace doca_test;

namespace {

class RdmaFootprint : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RdmaFootprint);
INSTANTIATE_TEST_SUITE_P(device, RdmaFootprint, testing::ValuesIn(connecting_devices()), name_of_device);

/// An instance that sends and receives, on an engine of its own.
class Talker {
public:
    Talker(doca_dev *dev, std::uint16_t num_connections)
    {
        must(doca_pe_create(pe_.out()));
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

    Handle<doca_pe, doca_pe_destroy> pe_;
    RdmaHandle rdma_;
};

void connect_talkers(const Talker &from, const Talker &to)
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
    if (!is_soft(GetParam()))
        GTEST_SKIP() << "each queue pair takes what its driver takes";
    constexpr std::uint16_t some = 40, most = 640, few_fds = 6;
    const bool measures_memory = can_measure_memory();
    const DevHandle dev = open_device(GetParam());
    const Talker a(dev, most), b(dev, most);
    const auto connect_more = [&](std::size_t count) {
        for (std::size_t i = 0; i != count; ++i)
            connect_talkers(a, b);
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

} // namespace
