// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Software devices that are reset, are removed, or whose port goes down while programs run: what contexts and tasks of
// DOCA 3.0 see of it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

#include "../support/controlled_devices.hpp"
#include "../support/log_capture.hpp"
#include "dma_tasks.hpp"
#include "rdma_instance.hpp"

using namespace doca_test;

namespace {

class DeviceChangesTest : public testing::Test {
protected:
    void command(const std::string &words) { ASSERT_EQ(ControlledDevices::command(words), 0) << words; }

    ControlledDevices devices;
};

/// Two instances of one device with a connection, and the receive of a message that does not come.
struct Connected {
    Connected()
    {
        a.start();
        b.start();
        std::array<const void *, 2> details{};
        std::array<std::size_t, 2> sizes{};
        must(doca_rdma_export(a.get(), &details[0], &sizes[0], &of_a));
        must(doca_rdma_export(b.get(), &details[1], &sizes[1], &of_b));
        must(doca_rdma_connect(a.get(), details[1], sizes[1], of_a));
        must(doca_rdma_connect(b.get(), details[0], sizes[0], of_b));
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, memory.data(), 64, dst.out()));
        must(doca_buf_inventory_buf_get_by_data(inventory, map, memory.data() + 64, 64, src.out()));
        doca_rdma_task_receive *task = nullptr;
        must(doca_rdma_task_receive_allocate_init(a.get(), dst, {.ptr = &received}, &task));
        must(doca_task_submit(doca_rdma_task_receive_as_task(task)));
    }
    void send_from_b()
    {
        doca_rdma_task_send *task = nullptr;
        must(doca_rdma_task_send_allocate_init(b.get(), of_b, src, {.ptr = &sent}, &task));
        must(doca_task_submit(doca_rdma_task_send_as_task(task)));
    }
    void run_until(const std::function<bool()> &is_done)
    {
        while (!is_done()) {
            if (!a.progress() && !b.progress())
                std::this_thread::yield();
        }
    }

    std::vector<std::byte> memory = std::vector<std::byte>(128);
    DevHandle dev_a = open_device("soft_a"), dev_b = open_device("soft_b");
    MmapHandle map = [this] {
        MmapHandle made;
        must(doca_mmap_create(made.out()));
        must(doca_mmap_add_dev(made, dev_a));
        must(doca_mmap_add_dev(made, dev_b));
        must(doca_mmap_set_memrange(made, memory.data(), memory.size()));
        must(doca_mmap_set_permissions(made, rdma_rights));
        must(doca_mmap_start(made));
        return made;
    }();
    InventoryHandle inventory = inventory_of(4);
    BufHandle dst, src;
    Outcome received, sent;
    RdmaInstance a{dev_a}, b{dev_b};
    doca_rdma_connection *of_a = nullptr, *of_b = nullptr;
};

TEST_F(DeviceChangesTest, a_reset_stops_a_context_which_starts_again)
{
    const DevHandle dev = open_device("soft_a");
    std::vector<std::byte> memory(128);
    const MmapHandle map = map_of(dev, memory);
    const InventoryHandle inventory = inventory_of(4);
    PeHandle pe;
    must(doca_pe_create(pe.out()));
    BufHandle src, dst;
    must(doca_buf_inventory_buf_get_by_data(inventory, map, memory.data(), 64, src.out()));
    must(doca_buf_inventory_buf_get_by_addr(inventory, map, memory.data() + 64, 64, dst.out()));
    DmaContext context(dev, pe, 2);
    for (const bool is_reset : {true, false}) {
        context.changes.clear();
        must(doca_ctx_start(context.ctx()));
        Copy copy;
        must(context.alloc(copy, src, dst));
        if (is_reset)
            command("reset a");
        must(doca_task_submit(copy.as_task()));
        while (!copy.has_ended())
            (void)doca_pe_progress(pe);
        EXPECT_EQ(copy.status, is_reset ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS);
        EXPECT_EQ(context.state(), is_reset ? DOCA_CTX_STATE_STOPPING : DOCA_CTX_STATE_RUNNING);
        doca_task_free(copy.as_task());
        if (!is_reset)
            (void)doca_ctx_stop(context.ctx());
        while (context.state() != DOCA_CTX_STATE_IDLE)
            (void)doca_pe_progress(pe);
        const std::vector<StateChange> unasked = {idle_to_running, running_to_stopping, stopping_to_idle};
        EXPECT_EQ(context.changes, is_reset ? unasked : std::vector({idle_to_running, running_to_idle}));
    }
}

TEST_F(DeviceChangesTest, a_reset_ends_receives_and_connections)
{
    Connected ends;
    command("reset a");
    ends.run_until([&] { return ends.received.has_ended(); });
    EXPECT_EQ(ends.received.status, DOCA_ERROR_IO_FAILED);
    ends.run_until([&] { return state_of(ends.a.ctx()) == DOCA_CTX_STATE_IDLE; });
    EXPECT_TRUE(ends.a.ends.empty()) << "the state is the report";
    ends.send_from_b();
    ends.run_until([&] { return ends.sent.has_ended(); });
    EXPECT_EQ(ends.sent.status, DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(state_of(ends.b.ctx()), DOCA_CTX_STATE_RUNNING) << "its device was not reset";
    // The instance works again once it was started anew.
    ends.a.start();
    Outcome again;
    doca_rdma_task_receive *task = nullptr;
    must(doca_rdma_task_receive_allocate_init(ends.a.get(), ends.dst, {.ptr = &again}, &task));
    must(doca_task_submit(doca_rdma_task_receive_as_task(task)));
    for (int i = 0; i != 1000; ++i)
        (void)ends.a.progress();
    EXPECT_FALSE(again.has_ended());
}

TEST_F(DeviceChangesTest, a_reset_stops_an_instance_that_has_connections_alone)
{
    Connected ends;
    for (const char *const change : {"reset b", "remove b"}) {
        command(change);
        ends.run_until([&] { return state_of(ends.b.ctx()) == DOCA_CTX_STATE_IDLE; });
        EXPECT_TRUE(ends.b.ends.empty());
        EXPECT_EQ(doca_ctx_start(ends.b.ctx()),
                  std::string(change) == "remove b" ? DOCA_ERROR_INITIALIZATION : DOCA_SUCCESS);
        if (state_of(ends.b.ctx()) == DOCA_CTX_STATE_RUNNING) {
            const void *details = nullptr;
            std::size_t size = 0;
            must(doca_rdma_export(ends.b.get(), &details, &size, &ends.of_b));
            doca_rdma_connection *other = nullptr;
            const void *of_other = nullptr;
            std::size_t size_of_other = 0;
            must(doca_rdma_export(ends.a.get(), &of_other, &size_of_other, &other));
            must(doca_rdma_connect(ends.b.get(), of_other, size_of_other, ends.of_b));
        }
    }
}

TEST_F(DeviceChangesTest, a_reset_stops_a_context_with_the_task_that_fails)
{
    Connected ends;
    std::vector<doca_ctx_states> states;
    ends.sent.then = [&](doca_task *) { states.push_back(state_of(ends.b.ctx())); };
    command("reset b");
    ends.send_from_b();
    ends.run_until([&] { return ends.sent.has_ended(); });
    EXPECT_EQ(ends.sent.status, DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(states, std::vector{DOCA_CTX_STATE_STOPPING}) << "in the callback";
    ends.run_until([&] { return state_of(ends.b.ctx()) == DOCA_CTX_STATE_IDLE; });
}

TEST_F(DeviceChangesTest, a_reset_wakes_a_program_that_is_blocked)
{
    Connected ends;
    doca_notification_handle_t handle = 0;
    must(doca_pe_get_notification_handle(ends.a.pe(), &handle));
    must(doca_pe_request_notification(ends.a.pe()));
    while (ends.a.progress()) {
    }
    command("reset a");
    pollfd waiting = {.fd = handle, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&waiting, 1, 30'000), 1);
    must(doca_pe_clear_notification(ends.a.pe(), handle));
    ends.run_until([&] { return ends.received.has_ended(); });
    EXPECT_EQ(ends.received.status, DOCA_ERROR_IO_FAILED);
}

TEST_F(DeviceChangesTest, a_removed_device_is_not_listed_and_starts_nothing)
{
    const DevHandle dev = open_device("soft_a");
    PeHandle pe;
    must(doca_pe_create(pe.out()));
    const DmaContext context(dev, pe, 1);
    const DevinfoList before;
    command("remove a");
    EXPECT_FALSE(has_device("soft_a"));
    const LogCapture log;
    EXPECT_EQ(doca_ctx_start(context.ctx()), DOCA_ERROR_INITIALIZATION);
    EXPECT_LOGGED(log, "device a (0000:03:00.0) was removed");
    command("remove b");
    for (doca_devinfo *info : before) {
        DevHandle opened;
        if (ibdev_of(info) == "soft_b") {
            EXPECT_EQ(doca_dev_open(info, opened.out()), DOCA_ERROR_NOT_CONNECTED);
        }
    }
    command("add a");
    EXPECT_TRUE(has_device("soft_a"));
    EXPECT_EQ(doca_ctx_start(context.ctx()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS);
}

TEST_F(DeviceChangesTest, a_port_that_is_down_delays_and_reports_no_rate)
{
    Connected ends;
    command("port-down a");
    ends.send_from_b();
    for (int i = 0; i != 1000; ++i) {
        (void)ends.a.progress();
        (void)ends.b.progress();
    }
    EXPECT_FALSE(ends.sent.has_ended());
    EXPECT_FALSE(ends.received.has_ended());
    std::uint64_t rate = 0;
    for (const auto &[port, status] : {std::pair("a", DOCA_ERROR_NOT_SUPPORTED), std::pair("b", DOCA_SUCCESS)}) {
        const DevinfoList list;
        for (doca_devinfo *info : list) {
            if (ibdev_of(info) == std::string("soft_") + port) {
                EXPECT_EQ(doca_devinfo_get_active_rate(info, &rate), status) << port;
            }
        }
    }
    command("port-up a");
    ends.run_until([&] { return ends.received.has_ended() && ends.sent.has_ended(); });
    EXPECT_EQ(ends.received.status, DOCA_SUCCESS);
    EXPECT_EQ(ends.sent.status, DOCA_SUCCESS);
}

TEST_F(DeviceChangesTest, a_port_that_stays_down_ends_the_connection)
{
    Connected ends;
    command("port-down b");
    ends.send_from_b();
    ends.run_until([&] { return ends.sent.has_ended(); });
    EXPECT_EQ(ends.sent.status, DOCA_ERROR_CONNECTION_RESET);
}

TEST_F(DeviceChangesTest, a_fault_resets_the_device)
{
    const Environment control("DOCA_SOFT_CONTROL", nullptr);
    const Environment faults("DOCA_SOFT_FAULTS", "reset:rdma=2");
    Connected ends;
    ends.send_from_b(); // the first job of b
    ends.run_until([&] { return ends.received.has_ended() && ends.sent.has_ended(); });
    EXPECT_EQ(ends.sent.status, DOCA_SUCCESS);
    ends.sent = {};
    ends.send_from_b();
    ends.run_until([&] { return ends.sent.has_ended(); });
    EXPECT_EQ(ends.sent.status, DOCA_ERROR_IO_FAILED);
    ends.run_until([&] { return state_of(ends.b.ctx()) == DOCA_CTX_STATE_IDLE; });
    EXPECT_EQ(state_of(ends.a.ctx()), DOCA_CTX_STATE_RUNNING) << "the fault counts jobs of each device";
}

} // namespace
