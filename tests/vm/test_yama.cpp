// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Who may import what, as kernel.yama.ptrace_scope has it. Exporter and importer are brothers: Yama lets a
// process into its own children. To be run by a user without the capability SYS_PTRACE, which Yama does not
// keep out of anything.
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../conformance/support/remote_importer.hpp"
#include "../conformance/support/remote_memory.hpp"

namespace {

using namespace doca_test;
using Direction = RemoteImporter::Direction;

bool has_ptrace_capability()
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("CapEff:"))
            return (std::stoull(line.substr(7), nullptr, 16) >> CAP_SYS_PTRACE & 1) != 0;
    }
    return false;
}

class YamaTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (!(std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope))
            GTEST_SKIP() << "the kernel is without Yama";
        if (has_ptrace_capability())
            GTEST_SKIP() << "this process has the capability SYS_PTRACE";
        const std::vector<DevicePair> pairs = one_device_pair();
        if (pairs.empty() || !pairs.front().importer.is_soft())
            GTEST_SKIP() << "there is no software device";
        pair = pairs.front();
    }

    void expect_both_ways(RemoteMemory &remote) const
    {
        RemoteImporter peer(pair.importer, remote.descriptor(), {.size = remote.size()});
        ASSERT_EQ(peer.status(), DOCA_SUCCESS) << peer.log();
        EXPECT_EQ(peer.copy(Direction::from_export), DOCA_SUCCESS);
        EXPECT_TRUE(peer.has(1));
        peer.fill(2);
        EXPECT_EQ(peer.copy(Direction::to_export), DOCA_SUCCESS);
        EXPECT_TRUE(remote.has(2));
        EXPECT_EQ(remote.stop(), DOCA_SUCCESS);
        EXPECT_EQ(peer.copy(Direction::to_export), DOCA_ERROR_NOT_PERMITTED);
    }

    /// What the log has to say where Yama keeps @p peer out.
    void expect_kept_out(const RemoteImporter &peer) const
    {
        EXPECT_EQ(peer.status(), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_NE(peer.log().find("Yama"), std::string::npos) << peer.log();
        EXPECT_NE(peer.log().find("ptrace_scope = " + std::to_string(scope)), std::string::npos) << peer.log();
    }

    DevicePair pair;
    int scope = -1;
};

TEST_F(YamaTest, ScopeIsWhatTheCallerSet)
{
    const char *const expected = std::getenv("OPENDOCA_TEST_YAMA_SCOPE");
    if (expected == nullptr)
        GTEST_SKIP() << "nobody has set it";
    EXPECT_EQ(std::to_string(scope), expected);
}

TEST_F(YamaTest, SharedMemoryIsAlwaysReached)
{
    RemoteMemory remote(pair.exporter, {.kind = MemoryKind::memfd, .size = 70'000});
    ASSERT_EQ(remote.status(), DOCA_SUCCESS);
    expect_both_ways(remote);
}

TEST_F(YamaTest, OrdinaryMemoryIsReachedUpToScope1)
{
    // By both ways of the kernel.
    for (const std::size_t size : {std::size_t{4096}, std::size_t{70'000}}) {
        RemoteMemory remote(pair.exporter, {.kind = MemoryKind::heap, .size = size});
        ASSERT_EQ(remote.status(), DOCA_SUCCESS);
        if (scope <= 1)
            expect_both_ways(remote);
        else
            expect_kept_out(RemoteImporter(pair.importer, remote.descriptor(), {}));
    }
}

/// An exporter of shared memory opens itself to nobody.
TEST_F(YamaTest, ExportOfSharedMemoryPermitsNoAccessToTheProcess)
{
    if (scope != 1)
        GTEST_SKIP() << "only scope 1 asks the exporter";
    RemoteMemory shared(pair.exporter, {.kind = MemoryKind::memfd});
    RemoteMemory ordinary(pair.exporter, {.kind = MemoryKind::heap});
    const auto can_read = [](pid_t pid) {
        // A child of ours is the exporter's brother, and not its forefather as we are.
        return in_forked_child([pid] {
                   const std::string path = "/proc/" + std::to_string(pid) + "/mem";
                   return open(path.c_str(), O_RDONLY | O_CLOEXEC) >= 0 ? 0 : 1;
               }) == 0;
    };
    EXPECT_FALSE(can_read(shared.process().pid()));
    EXPECT_TRUE(can_read(ordinary.process().pid()));
}

/// A program whose parent has exported, and which then exports itself: PR_SET_PTRACER is not inherited.
void export_in_forked_child(Channel &parent)
{
    const std::string device = [&] {
        const std::vector<std::byte> name = parent.receive_bytes();
        return std::string(reinterpret_cast<const char *>(name.data()), name.size());
    }();
    const auto export_memory = [&](std::span<std::byte> memory) {
        const DevHandle dev = open_device(device);
        const LocalMap map(dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
        const void *descriptor = nullptr;
        std::size_t size = 0;
        must(doca_mmap_export_dpu(map, dev, &descriptor, &size));
        parent.send_bytes({static_cast<const std::byte *>(descriptor), size});
        (void)parent.receive<bool>();
    };
    std::vector<std::byte> memory(4096);
    fill(memory, 1);
    export_memory(memory);
    const int status = in_forked_child([&] {
        export_memory(memory);
        return 0;
    });
    parent.send(status);
    (void)parent.receive<bool>();
}

const ChildProgram forking_program("export-in-forked-child", export_in_forked_child);

TEST_F(YamaTest, ForkedChildOfAnExporterIsReachedLikeItsParent)
{
    ChildProcess exporter("export-in-forked-child");
    exporter.channel().send_bytes(std::as_bytes(std::span(pair.exporter.ibdev)));
    for (int generation = 0; generation < 2; ++generation) {
        const std::vector<std::byte> descriptor = exporter.channel().receive_bytes();
        RemoteImporter peer(pair.importer, descriptor, {.size = 4096});
        if (scope <= 1) {
            EXPECT_EQ(peer.status(), DOCA_SUCCESS) << peer.log();
            EXPECT_EQ(peer.copy(Direction::from_export), DOCA_SUCCESS);
            EXPECT_TRUE(peer.has(1));
        } else {
            expect_kept_out(peer);
        }
        exporter.channel().send(true);
    }
    EXPECT_EQ(exporter.channel().receive<int>(), 0);
}

} // namespace
