// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: the receives of a context, and when reads, writes and atomics are carried out.
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <doca_rdma.h>

#include "../conformance/v3/rdma_instance.hpp"
#include "strict_fixture.hpp"

namespace doca_test {
namespace {

void ended(doca_rdma_task_receive *, doca_data, doca_data) {}

class StrictRdma : public StrictTest {
protected:
    /// Returns what the start of a context with @p num_receives receive tasks answers.
    [[nodiscard]] doca_error_t start(std::uint32_t num_receives) const
    {
        Handle<doca_rdma, doca_rdma_destroy> rdma;
        must(doca_rdma_create(dev, rdma.out()));
        must(doca_rdma_task_receive_set_conf(rdma, ended, ended, num_receives));
        must(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma)));
        const doca_error_t status = doca_ctx_start(doca_rdma_as_ctx(rdma));
        EXPECT_EQ(doca_ctx_stop(doca_rdma_as_ctx(rdma)), DOCA_SUCCESS);
        return status;
    }
};
INSTANTIATE_STRICT(StrictRdma);

/// Two instances with a connection, and memory of the second one that the first one accesses.
class StrictAccess : public StrictTest {
protected:
    void SetUp() override
    {
        a.start();
        b.start();
        const void *of_a = nullptr, *of_b = nullptr;
        std::size_t size_of_a = 0, size_of_b = 0;
        doca_rdma_connection *passive = nullptr;
        must(doca_rdma_export(a.get(), &of_a, &size_of_a, &connection));
        must(doca_rdma_export(b.get(), &of_b, &size_of_b, &passive));
        must(doca_rdma_connect(a.get(), of_b, size_of_b, connection));
        must(doca_rdma_connect(b.get(), of_a, size_of_a, passive));
        const void *descriptor = nullptr;
        std::size_t size = 0;
        must(doca_mmap_export_rdma(there_map, dev, &descriptor, &size));
        must(doca_mmap_create_from_export(nullptr, descriptor, size, dev, remote.out()));
        must(doca_buf_inventory_buf_get_by_data(inventory, here_map, here.data(), 8, local_buf.out()));
        must(doca_buf_inventory_buf_get_by_data(inventory, remote, there.data(), 8, remote_buf.out()));
    }
    /// Submits @p task, and expects that @p changed is changed late in strict mode only.
    void expect_late(doca_task *task, const std::vector<std::byte> &changed, const Outcome &outcome)
    {
        const std::vector<std::byte> before = changed;
        ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        EXPECT_EQ(changed != before, !is_strict()) << "a program that reads now relies on the software device";
        run_until_ended(outcome);
        EXPECT_EQ(outcome.status, DOCA_SUCCESS);
        EXPECT_NE(changed, before);
        expect_rule("late-destination");
    }
    void run_until_ended(const Outcome &outcome)
    {
        while (!outcome.has_ended()) {
            if (!a.progress())
                std::this_thread::yield();
        }
    }

    std::vector<std::byte> here = std::vector<std::byte>(8, std::byte{1});
    std::vector<std::byte> there = std::vector<std::byte>(8, std::byte{2});
    MmapHandle here_map = map_of(dev, here, rdma_rights), there_map = map_of(dev, there, rdma_rights);
    MmapHandle remote;
    InventoryHandle inventory = inventory_of(8);
    BufHandle local_buf, remote_buf;
    RdmaInstance a{dev}, b{dev};
    doca_rdma_connection *connection = nullptr;
};
INSTANTIATE_STRICT(StrictAccess);

TEST_P(StrictAccess, the_destination_of_a_write_is_written_at_completion)
{
    must(doca_buf_reset_data_len(remote_buf));
    Outcome outcome;
    doca_rdma_task_write *task = nullptr;
    must(doca_rdma_task_write_allocate_init(a.get(), connection, local_buf, remote_buf, {.ptr = &outcome}, &task));
    expect_late(doca_rdma_task_write_as_task(task), there, outcome);
    EXPECT_EQ(there, here);
}

TEST_P(StrictAccess, the_destination_of_a_read_is_written_at_completion)
{
    must(doca_buf_reset_data_len(local_buf));
    Outcome outcome;
    doca_rdma_task_read *task = nullptr;
    must(doca_rdma_task_read_allocate_init(a.get(), connection, remote_buf, local_buf, {.ptr = &outcome}, &task));
    expect_late(doca_rdma_task_read_as_task(task), here, outcome);
    EXPECT_EQ(there, here);
}

TEST_P(StrictAccess, the_counter_of_an_atomic_is_changed_at_completion)
{
    Outcome outcome;
    doca_rdma_task_atomic_fetch_add *task = nullptr;
    must(doca_rdma_task_atomic_fetch_add_allocate_init(a.get(), connection, remote_buf, local_buf, 3, {.ptr = &outcome},
                                                       &task));
    expect_late(doca_rdma_task_atomic_fetch_add_as_task(task), there, outcome);
}

TEST_P(StrictAccess, requests_are_carried_out_in_the_order_of_submission)
{
    // Each byte that is written is read back by the next request.
    std::vector<std::byte> values(8), results(8);
    const MmapHandle value_map = map_of(dev, values, rdma_rights), result_map = map_of(dev, results, rdma_rights);
    const InventoryHandle many = inventory_of(64);
    std::vector<BufHandle> bufs;
    std::vector<Outcome> outcomes(16);
    for (std::size_t i = 0; i != 8; ++i) {
        values[i] = static_cast<std::byte>(i + 10);
        bufs.resize(bufs.size() + 4);
        BufHandle *const of_this = &bufs[bufs.size() - 4];
        must(doca_buf_inventory_buf_get_by_data(many, value_map, &values[i], 1, of_this[0].out()));
        must(doca_buf_inventory_buf_get_by_addr(many, remote, there.data(), 1, of_this[1].out()));
        must(doca_buf_inventory_buf_get_by_data(many, remote, there.data(), 1, of_this[2].out()));
        must(doca_buf_inventory_buf_get_by_addr(many, result_map, &results[i], 1, of_this[3].out()));
        doca_rdma_task_write *write = nullptr;
        doca_rdma_task_read *read = nullptr;
        must(doca_rdma_task_write_allocate_init(a.get(), connection, of_this[0], of_this[1], {.ptr = &outcomes[2 * i]},
                                                &write));
        must(doca_task_submit(doca_rdma_task_write_as_task(write)));
        must(doca_rdma_task_read_allocate_init(a.get(), connection, of_this[2], of_this[3],
                                               {.ptr = &outcomes[2 * i + 1]}, &read));
        must(doca_task_submit(doca_rdma_task_read_as_task(read)));
    }
    for (const Outcome &outcome : outcomes) {
        run_until_ended(outcome);
        EXPECT_EQ(outcome.status, DOCA_SUCCESS);
    }
    for (std::size_t i = 0; i != 8; ++i)
        EXPECT_EQ(results[i], values[i]) << i;
}

TEST_P(StrictAccess, a_message_after_a_request_that_fails_is_flushed)
{
    std::vector<std::byte> message(8);
    const MmapHandle message_map = map_of(dev, message, rdma_rights);
    BufHandle from, to;
    must(doca_buf_inventory_buf_get_by_data(inventory, here_map, here.data(), 8, from.out()));
    must(doca_buf_inventory_buf_get_by_addr(inventory, message_map, message.data(), 8, to.out()));
    Outcome written, sent, received;
    doca_rdma_task_receive *receiving = nullptr;
    must(doca_rdma_task_receive_allocate_init(b.get(), to, {.ptr = &received}, &receiving));
    must(doca_task_submit(doca_rdma_task_receive_as_task(receiving)));
    must(doca_buf_reset_data_len(remote_buf));
    doca_rdma_task_write *writing = nullptr;
    must(doca_rdma_task_write_allocate_init(a.get(), connection, local_buf, remote_buf, {.ptr = &written}, &writing));
    doca_rdma_task_send *sending = nullptr;
    must(doca_rdma_task_send_allocate_init(a.get(), connection, from, {.ptr = &sent}, &sending));
    must(doca_mmap_stop(there_map)); // the key of the write is no longer valid
    must(doca_task_submit(doca_rdma_task_write_as_task(writing)));
    must(doca_task_submit(doca_rdma_task_send_as_task(sending)));
    run_until_ended(written);
    run_until_ended(sent);
    EXPECT_EQ(written.num_failed, 1);
    EXPECT_EQ(sent.status, DOCA_ERROR_SHUTDOWN);
    b.stop();
    EXPECT_EQ(received.num_succeeded, 0);
    EXPECT_EQ(message, std::vector<std::byte>(8));
}

TEST_P(StrictRdma, a_context_has_as_many_receives_as_a_shared_receive_queue)
{
    EXPECT_EQ(start(32767), DOCA_SUCCESS);
    EXPECT_FALSE(log.has("strict: ")) << log.text();
    EXPECT_EQ(start(32768), is_strict() ? DOCA_ERROR_DRIVER : DOCA_SUCCESS);
    expect_rule("max-receives");
}

} // namespace
} // namespace doca_test
