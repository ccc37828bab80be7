// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Software devices that are reset, are removed, or whose port goes down while programs run: by doca_soft_device, and by
// DOCA_SOFT_FAULTS.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/controlled_devices.hpp"
#include "support/log_capture.hpp"
#include "support/rdma_fixture.hpp"

using namespace doca_test;

namespace {

constexpr std::uint32_t exposed = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE;

bool is_listed(const std::string &name)
{
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (ibdev_of(info) == "soft_" + name)
            return true;
    }
    return false;
}

class DeviceChangesTest : public testing::Test {
protected:
    void command(const std::string &words) { ASSERT_EQ(ControlledDevices::command(words), 0) << words; }

    ControlledDevices devices;
};

/// A device, memory, and a DMA context that can be made anew.
struct Copies {
    explicit Copies(const std::string &name) : dev(open_device("soft_" + name)), map(dev, memory), engine(dev) {}

    doca_error_t copy() { return copy(*engine); }
    doca_error_t copy(const DmaEngine &with)
    {
        return with.copy(inventory.empty(map, memory.data() + 64, 64), inventory.full(map, memory.data(), 64));
    }

    std::vector<std::byte> memory = std::vector<std::byte>(128);
    DevHandle dev;
    LocalMap map;
    Inventory inventory{8};
    std::optional<DmaEngine> engine;
};

TEST_F(DeviceChangesTest, ResetEndsCopiesUntilTheWorkQueueIsAddedAnew)
{
    Copies of_a("a"), of_b("b");
    EXPECT_EQ(of_a.copy(), DOCA_SUCCESS);
    command("reset a");
    EXPECT_EQ(of_a.copy(), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(of_a.copy(), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(of_b.copy(), DOCA_SUCCESS) << "another device";
    must(doca_ctx_workq_rm(of_a.engine->ctx(), of_a.engine->workq()));
    must(doca_ctx_stop(of_a.engine->ctx()));
    must(doca_ctx_start(of_a.engine->ctx()));
    must(doca_ctx_workq_add(of_a.engine->ctx(), of_a.engine->workq()));
    EXPECT_EQ(of_a.copy(), DOCA_SUCCESS);
}

TEST_F(DeviceChangesTest, ResetReachesOtherPrograms)
{
    int running[2];
    ASSERT_EQ(pipe(running), 0);
    const pid_t child = fork();
    if (child == 0) {
        Copies copies("a");
        doca_error_t status = copies.copy();
        (void)!write(running[1], "", 1);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (status == DOCA_SUCCESS && std::chrono::steady_clock::now() < end)
            status = copies.copy();
        _exit(status);
    }
    char byte = 0;
    ASSERT_EQ(read(running[0], &byte, 1), 1);
    command("reset soft_a"); // by the name of the RDMA device as well
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), DOCA_ERROR_IO_FAILED);
    close(running[0]);
    close(running[1]);
}

TEST_F(DeviceChangesTest, ResetEndsAConnectionThatOnlyWaits)
{
    const DevHandle a = open_device("soft_a"), b = open_device("soft_b");
    std::vector<std::byte> memory(256);
    const LocalMap map({a, b}, memory, exposed);
    const Inventory inventory(8);
    RdmaEnd left(a), right(b);
    must(left.connect(right.details()));
    must(right.connect(left.details()));
    for (std::uint64_t i = 0; i != 2; ++i)
        must(left.receive(inventory.empty(map, memory.data() + 64 * i, 64), i));
    must(right.receive(inventory.empty(map, memory.data() + 128, 64)));
    command("reset a");
    EXPECT_EQ(left.result(), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(left.result(), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(left.state(), DOCA_RDMA_STATE_ERROR);
    EXPECT_EQ(right.result(), DOCA_ERROR_CONNECTION_RESET) << "the other side hears of it";
    // Both begin anew.
    left.stop();
    right.stop();
    left.start();
    right.start();
    must(left.connect(right.details()));
    must(right.connect(left.details()));
    const BufHandle dst = inventory.empty(map, memory.data() + 128, 64);
    must(right.receive(dst));
    must(left.send(inventory.full(map, memory.data(), 64)));
    EXPECT_EQ(left.result(), DOCA_SUCCESS);
    EXPECT_EQ(right.result(), DOCA_SUCCESS);
}

TEST_F(DeviceChangesTest, ResetWakesAProgramThatIsBlocked)
{
    const DevHandle a = open_device("soft_a");
    std::vector<std::byte> memory(128);
    const LocalMap map(a, memory, exposed);
    const Inventory inventory(8);
    RdmaOptions options;
    options.is_event_driven = true;
    RdmaEnd left(a, options), right(a, options);
    must(left.connect(right.details()));
    must(right.connect(left.details()));
    must(left.receive(inventory.empty(map, memory.data(), 64)));
    doca_event_handle_t handle = 0;
    must(doca_workq_get_event_handle(left.workq(), &handle));
    must(doca_workq_event_handle_arm(left.workq()));
    doca_event event = {};
    EXPECT_EQ(doca_workq_progress_retrieve(left.workq(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE), DOCA_ERROR_AGAIN);
    command("reset a");
    pollfd waiting = {.fd = handle, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&waiting, 1, 30'000), 1);
    must(doca_workq_event_handle_clear(left.workq(), handle));
    EXPECT_EQ(left.result(), DOCA_ERROR_IO_FAILED);
}

TEST_F(DeviceChangesTest, RemovalHidesTheDeviceAndEndsItsWork)
{
    Copies of_a("a");
    DevinfoList before;
    command("remove a");
    EXPECT_EQ(of_a.copy(), DOCA_ERROR_IO_FAILED);
    EXPECT_FALSE(is_listed("a"));
    EXPECT_TRUE(is_listed("b"));
    const LogCapture log;
    must(doca_ctx_workq_rm(of_a.engine->ctx(), of_a.engine->workq()));
    EXPECT_EQ(doca_ctx_workq_add(of_a.engine->ctx(), of_a.engine->workq()), DOCA_ERROR_INITIALIZATION);
    EXPECT_LOGGED(log, "device a (0000:03:00.0) was removed");
    command("remove b");
    for (doca_devinfo *info : before) {
        DevHandle dev;
        if (ibdev_of(info) == "soft_b") {
            EXPECT_EQ(doca_dev_open(info, dev.out()), DOCA_ERROR_NOT_CONNECTED);
        }
    }
    command("add a");
    EXPECT_TRUE(is_listed("a"));
    must(doca_ctx_workq_add(of_a.engine->ctx(), of_a.engine->workq()));
    EXPECT_EQ(of_a.copy(), DOCA_SUCCESS);
}

TEST_F(DeviceChangesTest, RemovedFunctionsHaveNoRepresentor)
{
    command("remove h");
    const DevHandle a = open_device("soft_a");
    EXPECT_EQ(RepList(a).size(), 0u);
}

TEST_F(DeviceChangesTest, PortThatIsDownForAWhileOnlyDelays)
{
    const DevHandle a = open_device("soft_a"), b = open_device("soft_b");
    std::vector<std::byte> memory(256);
    const LocalMap map({a, b}, memory, exposed);
    const Inventory inventory(8);
    RdmaEnd left(a), right(b);
    must(left.connect(right.details()));
    must(right.connect(left.details()));
    const BufHandle src = inventory.full(map, memory.data() + 128, 64);
    for (const char *const port : {"a", "b"}) { // either end
        const BufHandle dst = inventory.empty(map, memory.data(), 64);
        must(right.receive(dst));
        command(std::string("port-down ") + port);
        must(left.send(src));
        EXPECT_EQ(left.try_retrieve().status, DOCA_ERROR_AGAIN);
        EXPECT_EQ(right.try_retrieve().status, DOCA_ERROR_AGAIN);
        command(std::string("port-up ") + port);
        EXPECT_EQ(left.result(), DOCA_SUCCESS);
        EXPECT_EQ(right.result(), DOCA_SUCCESS);
    }
}

TEST_F(DeviceChangesTest, PortThatStaysDownEndsTheConnection)
{
    Copies copies("a");
    RdmaEnd left(copies.dev), right(copies.dev), late(copies.dev);
    must(left.connect(right.details()));
    must(right.connect(left.details()));
    command("port-down a");
    const BufHandle src = copies.inventory.full(copies.map, copies.memory.data(), 64);
    const LogCapture log;
    must(left.send(src));
    must(left.send(src));
    EXPECT_EQ(left.result(), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(left.result(), DOCA_ERROR_SHUTDOWN);
    EXPECT_EQ(left.state(), DOCA_RDMA_STATE_ERROR);
    EXPECT_LOGGED(log, "has been down for 3 s");
    EXPECT_EQ(copies.copy(), DOCA_SUCCESS) << "no copy goes by the port";
    EXPECT_EQ(late.connect(right.details()), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_LOGGED(log, "has a port that is down");
}

TEST_F(DeviceChangesTest, VariableThatCantBeUnderstood)
{
    const Environment control("DOCA_SOFT_CONTROL", "yes");
    const LogCapture log;
    doca_devinfo **list = nullptr;
    std::uint32_t size = 0;
    EXPECT_EQ(doca_devinfo_list_create(&list, &size), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "DOCA_SOFT_CONTROL is 'yes'");
}

TEST_F(DeviceChangesTest, WithoutTheVariableNothingIsShared)
{
    const Environment control("DOCA_SOFT_CONTROL", nullptr);
    Copies copies("a");
    command("remove a");
    EXPECT_EQ(copies.copy(), DOCA_SUCCESS);
    EXPECT_TRUE(is_listed("a"));
}

TEST_F(DeviceChangesTest, CommandsThatAreWrong)
{
    for (const char *const words : {"", "list a", "reset", "reset a b", "restart a", "--nothing"})
        EXPECT_EQ(ControlledDevices::command(std::string(words) + " 2> /dev/null"), 2) << words;
    EXPECT_EQ(ControlledDevices::command("reset nobody 2> /dev/null"), 1);
    EXPECT_EQ(ControlledDevices::command("--help > /dev/null"), 0);
    EXPECT_EQ(ControlledDevices::command("list | grep -q '^b .*present  port up'"), 0);
    command("port-down b");
    command("remove b");
    EXPECT_EQ(ControlledDevices::command("list | grep -q '^b .*removed  port down  resets 1'"), 0);
}

// By DOCA_SOFT_FAULTS: of this process, or of all with DOCA_SOFT_CONTROL=1.

TEST_F(DeviceChangesTest, FaultsResetTheDevice)
{
    const Environment control("DOCA_SOFT_CONTROL", nullptr);
    const Environment faults("DOCA_SOFT_FAULTS", "reset:dma=2");
    Copies copies("a");
    RdmaEnd waiting(copies.dev), peer(copies.dev);
    must(waiting.connect(peer.details()));
    must(peer.connect(waiting.details()));
    must(waiting.receive(copies.inventory.empty(copies.map, copies.memory.data(), 64)));
    EXPECT_EQ(copies.copy(), DOCA_SUCCESS);
    EXPECT_EQ(copies.copy(), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(waiting.result(), DOCA_ERROR_IO_FAILED) << "an object of another library";
    copies.engine.reset();
    EXPECT_EQ(copies.copy(copies.engine.emplace(copies.dev)), DOCA_SUCCESS);
}

TEST_F(DeviceChangesTest, FaultsRemoveTheDevice)
{
    const Environment control("DOCA_SOFT_CONTROL", nullptr);
    const Environment faults("DOCA_SOFT_FAULTS", "remove=1");
    {
        Copies copies("a");
        EXPECT_EQ(copies.copy(), DOCA_ERROR_IO_FAILED);
    }
    EXPECT_FALSE(is_listed("a"));
    EXPECT_TRUE(is_listed("b"));
}

TEST_F(DeviceChangesTest, FaultsTakeThePortDownForAllPrograms)
{
    const Environment faults("DOCA_SOFT_FAULTS", "port_down:rdma=2");
    Copies copies("a");
    RdmaEnd left(copies.dev), right(copies.dev);
    must(left.connect(right.details()));
    must(right.connect(left.details()));
    must(right.receive(copies.inventory.empty(copies.map, copies.memory.data(), 64)));
    must(left.send(copies.inventory.full(copies.map, copies.memory.data() + 64, 64)));
    EXPECT_EQ(left.result(), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(ControlledDevices::command("list | grep -q '^a .*port down'"), 0);
}

TEST_F(DeviceChangesTest, FaultsThatCantBeUnderstood)
{
    for (const char *const text :
         {"reset", "reset=0", "remove:sha=1", "port_down:sync_event=1", "port_up=1", "reset:=1", "portdown=1"}) {
        const Environment variable("DOCA_SOFT_FAULTS", text);
        const LogCapture log;
        doca_devinfo **list = nullptr;
        std::uint32_t size = 0;
        EXPECT_EQ(doca_devinfo_list_create(&list, &size), DOCA_ERROR_INVALID_VALUE) << text;
        EXPECT_LOGGED(log, "port_down=WHEN");
    }
}

} // namespace
