// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What happens when exporters stop, end, and take their memory away, and when importers do.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "support/environment.hpp"
#include "support/export_peers.hpp"
#include "support/forged_export.hpp"
#include "support/log_capture.hpp"
#include "support/process_traits.hpp"
#include "support/sanitizers.hpp"

namespace {

using namespace doca_test;
using Direction = RemoteImporter::Direction;

constexpr std::size_t mib = std::size_t{1} << 20;
/// Takes several steps of 8 MiB.
constexpr std::size_t large = 9 * mib + 5;

/// Takes one step, and one system call where the kernel copies.
std::size_t size_of_a_step(MemoryKind kind)
{
    return kind == MemoryKind::heap ? 16 << 10 : 8 * mib;
}

using FaultParam = std::tuple<DevicePair, MemoryKind, Direction>;

/// Faults that both kinds of memory meet, in both directions.
class ExportFaultTest : public testing::TestWithParam<FaultParam> {
protected:
    const DevicePair &pair = std::get<0>(GetParam());
    const MemoryKind kind = std::get<1>(GetParam());
    const Direction direction = std::get<2>(GetParam());
};

TEST_P(ExportFaultTest, NothingIsWrittenAfterAStop)
{
    for (const std::size_t size : {large, size_of_a_step(kind)}) {
        SCOPED_TRACE(std::to_string(size) + " bytes");
        Peers peers(pair, {.kind = kind, .size = size});
        for (int round = 0; round < runs(3); ++round) {
            const std::uint32_t seed = 10 + static_cast<std::uint32_t>(round);
            fill(peers.memory, 100);
            ASSERT_EQ(peers.copy(direction), DOCA_SUCCESS);
            peers.remote.begin_stop(seed);
            EXPECT_EQ(peers.copy_until_failure(direction), DOCA_ERROR_NOT_PERMITTED);
            const RemoteMemory::StopReply reply = peers.remote.end_stop();
            EXPECT_EQ(reply.status, DOCA_SUCCESS);
            EXPECT_FALSE(reply.was_changed_after);
            EXPECT_TRUE(peers.remote.has(seed)) << "written after the stop had returned";
            EXPECT_EQ(peers.copy(direction), DOCA_ERROR_NOT_PERMITTED) << "and it stays so";

            ASSERT_EQ(peers.remote.export_again(), DOCA_SUCCESS);
            EXPECT_EQ(peers.copy(direction), DOCA_ERROR_NOT_PERMITTED) << "also when the memory is exported anew";
            EXPECT_TRUE(peers.remote.has(seed));
            peers.import();
            EXPECT_EQ(peers.copy(direction), DOCA_SUCCESS) << "with the new descriptor it works again";
        }
        EXPECT_EQ(peers.remote.process().finish(), 0);
    }
}

/// Stops the export while the importer is stopped: at any moment, so most often in the middle of a copy, and for longer
/// than an exporter waits before it asks whether the importer lives.
void expect_that_a_stop_waits(RemoteMemory &remote, RemoteImporter &peer, Direction direction)
{
    static std::minstd_rand random;
    peer.begin_copying(direction);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
    kill(peer.process().pid(), SIGSTOP);
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(peer.process().pid()), &info, WSTOPPED | WNOWAIT), 0);
    remote.begin_stop(9);
    // Where it was stopped between two copies, nobody has to wait.
    std::optional<RemoteMemory::StopReply> reply;
    if (remote.stops_within(std::chrono::milliseconds(20)))
        reply = remote.end_stop();
    kill(peer.process().pid(), SIGCONT);
    EXPECT_EQ(peer.end_copying(), DOCA_ERROR_NOT_PERMITTED);
    if (!reply)
        reply = remote.end_stop();
    EXPECT_EQ(reply->status, DOCA_SUCCESS);
    EXPECT_FALSE(reply->was_changed_after);
    EXPECT_TRUE(remote.has(9)) << "written after the stop had returned";
}

/// That the exporter can't find out whether an importer lives is no reason to go on without it: neither then, nor later
/// when nothing lacks any more.
TEST_P(ExportFaultTest, NothingIsWrittenAfterAStopInWant)
{
    for (const RemoteMemory::Want want : {RemoteMemory::Want::descriptors, RemoteMemory::Want::quiet}) {
        for (int round = 0; round < runs(3) && !HasFailure(); ++round) {
            RemoteMemory remote(pair.exporter, {.kind = kind, .size = large});
            RemoteImporter peer(pair.importer, remote.descriptor(), {.size = large});
            ASSERT_EQ(peer.status(), DOCA_SUCCESS);
            remote.starve(want);
            expect_that_a_stop_waits(remote, peer, direction);
            remote.starve(RemoteMemory::Want::nothing);
            ASSERT_EQ(remote.export_again(), DOCA_SUCCESS);
            ASSERT_EQ(peer.import(remote.descriptor()), DOCA_SUCCESS);
            expect_that_a_stop_waits(remote, peer, direction);
        }
    }
}

/// A zombie keeps its number, so that only a descriptor can tell.
TEST_P(ExportFaultTest, StopReturnsWithoutDescriptorsWhenTheImporterIsKilled)
{
    for (int round = 0; round < runs(6); ++round) {
        RemoteMemory remote(pair.exporter, {.kind = kind, .size = large});
        RemoteImporter peer(pair.importer, remote.descriptor(), {.size = large});
        ASSERT_EQ(peer.status(), DOCA_SUCCESS);
        remote.starve(RemoteMemory::Want::descriptors);
        peer.begin_copying(direction);
        peer.process().kill();
        if (round % 2 == 0)
            peer.process().wait_for_end();
        else
            peer.process().wait();
        EXPECT_EQ(remote.stop(), DOCA_SUCCESS); // or this test hangs
    }
}

TEST_P(ExportFaultTest, KilledExporterResetsTheConnection)
{
    for (int round = 0; round < runs(6); ++round) {
        Peers peers(pair, {.kind = kind, .size = round % 2 == 0 ? large : size_of_a_step(kind)});
        ASSERT_EQ(peers.copy(direction), DOCA_SUCCESS);
        std::thread killer([&] { peers.remote.process().kill(); });
        EXPECT_EQ(peers.copy_until_failure(direction), DOCA_ERROR_CONNECTION_RESET);
        killer.join();
        EXPECT_EQ(peers.copy(direction), DOCA_ERROR_CONNECTION_RESET) << "while it is a zombie";
        peers.remote.process().wait();
        EXPECT_EQ(peers.copy(direction), DOCA_ERROR_CONNECTION_RESET) << "when it is gone";
    }
}

/// From now on pidfd_open answers ENOSYS, as before Linux 5.3 and under tools such as valgrind.
bool refuse_pidfds()
{
    std::array filter = {sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
                         sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                         sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_P(ExportFaultTest, WithoutPidfdsTheEndIsSeenAllTheSame)
{
    EXPECT_EQ(in_forked_child([&] {
                  if (!refuse_pidfds())
                      return 1;
                  Peers peers(pair, {.kind = kind, .size = large});
                  if (peers.copy(direction) != DOCA_SUCCESS)
                      return 2;
                  std::thread killer([&] { peers.remote.process().kill(); });
                  const doca_error_t status = peers.copy_until_failure(direction);
                  killer.join();
                  if (status != DOCA_ERROR_CONNECTION_RESET)
                      return 3;
                  peers.remote.process().wait();
                  return peers.copy(direction) == DOCA_ERROR_CONNECTION_RESET ? 0 : 4;
              }),
              0);
}

TEST_P(ExportFaultTest, EndOfAnExporterIsSeenBySmallCopies)
{
    Peers peers(pair, {.kind = kind, .size = 8});
    ASSERT_EQ(peers.copy(direction), DOCA_SUCCESS);
    EXPECT_EQ(peers.remote.process().finish(), 0);
    const LogCapture log;
    EXPECT_EQ(peers.copy(direction), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_LOGGED(log, "has ended");
}

TEST_P(ExportFaultTest, EndOfTheExportingThreadIsNotTheEnd)
{
    Peers peers(pair, {.kind = kind, .size = mib, .from_a_thread = true});
    fill(peers.memory, 1);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(peers.copy(direction), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(peers.memory, 1));
    EXPECT_TRUE(peers.remote.has(1));
    peers.remote.process().kill();
    peers.remote.process().wait_for_end();
    EXPECT_EQ(peers.copy(direction), DOCA_ERROR_CONNECTION_RESET);
}

/// Such a process looks like a zombie in /proc, and copies all the same.
TEST_P(ExportFaultTest, StopWaitsForAnImporterWithoutMainThread)
{
    if (is_sanitized)
        GTEST_SKIP() << "sanitizers want a main thread";
    for (std::uint32_t round = 0; round < 3; ++round) {
        RemoteMemory remote(pair.exporter, {.kind = kind, .size = large});
        RemoteImporter peer(pair.importer, remote.descriptor(), {.size = large, .main_thread_ends = true});
        ASSERT_EQ(peer.status(), DOCA_SUCCESS);
        peer.begin_copying(direction);
        remote.begin_stop(9);
        EXPECT_EQ(peer.end_copying(), DOCA_ERROR_NOT_PERMITTED);
        const RemoteMemory::StopReply reply = remote.end_stop();
        EXPECT_EQ(reply.status, DOCA_SUCCESS);
        EXPECT_FALSE(reply.was_changed_after);
        EXPECT_TRUE(remote.has(9)) << "written after the stop had returned";
    }
}

TEST_P(ExportFaultTest, StopReturnsWhenTheImporterIsKilled)
{
    for (int round = 0; round < runs(6); ++round) {
        const std::size_t size = round % 2 == 0 ? large : size_of_a_step(kind);
        RemoteMemory remote(pair.exporter, {.kind = kind, .size = size});
        RemoteImporter peer(pair.importer, remote.descriptor(), {.size = size});
        ASSERT_EQ(peer.status(), DOCA_SUCCESS);
        peer.begin_copying(direction);
        peer.process().kill();
        remote.begin_stop(9);
        const RemoteMemory::StopReply reply = remote.end_stop();
        EXPECT_EQ(reply.status, DOCA_SUCCESS);
        EXPECT_FALSE(reply.was_changed_after);
        peer.process().wait();
        EXPECT_TRUE(remote.has(9)) << "written after the stop had returned";
        EXPECT_EQ(remote.process().finish(), 0);
    }
}

TEST_P(ExportFaultTest, StopReturnsWhenTheImporterWasKilledBefore)
{
    RemoteMemory remote(pair.exporter, {.kind = kind, .size = large});
    RemoteImporter peer(pair.importer, remote.descriptor(), {.size = large});
    peer.begin_copying(direction);
    peer.process().kill();
    peer.process().wait(); // nothing is left that could wake the exporter
    EXPECT_EQ(remote.stop(), DOCA_SUCCESS);
}

TEST_P(ExportFaultTest, StoppedProcessInTheMiddleOfACopyIsWaitedFor)
{
    RemoteMemory remote(pair.exporter, {.kind = kind, .size = large});
    RemoteImporter peer(pair.importer, remote.descriptor(), {.size = large});
    expect_that_a_stop_waits(remote, peer, direction);
}

TEST_P(ExportFaultTest, StoppedIdleProcessDoesNotDelayAStop)
{
    RemoteMemory remote(pair.exporter, {.kind = kind});
    RemoteImporter peer(pair.importer, remote.descriptor(), {});
    ASSERT_EQ(peer.copy(direction), DOCA_SUCCESS);
    kill(peer.process().pid(), SIGSTOP);
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(peer.process().pid()), &info, WSTOPPED | WNOWAIT), 0);
    EXPECT_EQ(remote.stop(), DOCA_SUCCESS); // or this test hangs
    kill(peer.process().pid(), SIGCONT);
    EXPECT_EQ(peer.copy(direction), DOCA_ERROR_NOT_PERMITTED);
}

/// One-sided means that the peer does nothing.
TEST_P(ExportFaultTest, StoppedExporterIsReached)
{
    Peers peers(pair, {.kind = kind, .size = 70'000});
    kill(peers.remote.process().pid(), SIGSTOP);
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(peers.remote.process().pid()), &info, WSTOPPED | WNOWAIT), 0);
    fill(peers.memory, 1);
    EXPECT_EQ(peers.copy(direction), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(peers.memory, 1));
    kill(peers.remote.process().pid(), SIGCONT);
    EXPECT_TRUE(peers.remote.has(1));
}

TEST_P(ExportFaultTest, DestroyedMapIsRevokedToo)
{
    Peers peers(pair, {.kind = kind});
    RemoteImporter peer(pair.importer, peers.remote.descriptor(), {});
    peers.mmap.reset(); // the import's end does nothing to the other importer
    EXPECT_EQ(peer.copy(direction), DOCA_SUCCESS);
    EXPECT_EQ(peers.remote.process().finish(), 0);
    EXPECT_EQ(peer.copy(direction), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(peer.process().finish(), 0);
}

TEST_P(ExportFaultTest, ForkedChildOfTheExporterRevokesNothing)
{
    Peers peers(pair, {.kind = kind});
    ASSERT_EQ(peers.copy(direction), DOCA_SUCCESS);
    peers.remote.fork_and_exit();
    EXPECT_EQ(peers.copy(direction), DOCA_SUCCESS);
    EXPECT_EQ(peers.remote.stop(), DOCA_SUCCESS);
    EXPECT_EQ(peers.copy(direction), DOCA_ERROR_NOT_PERMITTED);
}

/// The process goes on, with the same number, but the program that exported is gone.
TEST_P(ExportFaultTest, ExporterThatExecutesAnotherProgramHasEnded)
{
    if (is_sanitized)
        GTEST_SKIP() << "a sanitizer's memory may lie where the first program's was";
    const MemoryKind mapped_by_page = kind == MemoryKind::heap ? MemoryKind::anonymous : kind;
    for (const std::size_t size : {std::size_t{64}, mib}) {
        Peers peers(pair, {.kind = mapped_by_page, .size = size});
        ASSERT_EQ(peers.copy(direction), DOCA_SUCCESS);
        fill(peers.memory, 5);
        peers.remote.exec(6);
        EXPECT_EQ(peers.copy(direction), DOCA_ERROR_CONNECTION_RESET) << size << " bytes";
        EXPECT_TRUE(peers.remote.has(6)) << "wrote into the memory of another program";
        EXPECT_TRUE(is_filled(peers.memory, 5)) << "read the memory of another program";
        doca_mmap *mmap = untouched<doca_mmap>();
        EXPECT_EQ(peers.remote.import(peers.dev, &mmap), DOCA_ERROR_INVALID_VALUE);
    }
}

/// Carried out when it is retrieved, a job meets what has happened since it was submitted.
TEST_P(ExportFaultTest, DeferredJobIsRevoked)
{
    const Environment defer("DOCA_SOFT_DEFER", "1");
    if (!pair.importer.is_soft())
        GTEST_SKIP() << "only the software device defers";
    Peers peers(pair, {.kind = kind});
    const BufHandle src = peers.source(direction);
    const BufHandle dst = peers.destination(direction);
    ASSERT_EQ(peers.engine.submit(dst, src, 77), DOCA_SUCCESS);
    ASSERT_EQ(peers.remote.stop(), DOCA_SUCCESS);
    doca_event event{};
    EXPECT_EQ(peers.engine.retrieve(event), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(event.result.u64, DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(event.user_data.u64, 77u);
    EXPECT_EQ(data_len_of(dst), 0u);
}

/// A job that fails harms no other.
TEST_P(ExportFaultTest, FailedJobLeavesTheContextAlone)
{
    Peers peers(pair, {.kind = kind});
    RemoteMemory living(pair.exporter, {.kind = kind, .seed = 8});
    const MmapHandle living_map = living.import(peers.dev);
    ASSERT_EQ(peers.copy(direction), DOCA_SUCCESS);
    peers.remote.process().kill();
    peers.remote.process().wait_for_end();
    std::vector<std::byte> memory(3 * living.size());
    const LocalMap map(peers.dev, memory);
    const BufHandle src = peers.source(direction);
    const BufHandle dst = peers.destination(direction);
    const BufHandle good_src = peers.inventory.full(living_map, living.addr(), living.size());
    for (std::uint64_t i = 0; i < 3; ++i) {
        ASSERT_EQ(peers.engine.submit(dst, src, i), DOCA_SUCCESS);
        const BufHandle good_dst = peers.inventory.empty(map, memory.data() + i * living.size(), living.size());
        ASSERT_EQ(peers.engine.submit(good_dst, good_src, 100 + i), DOCA_SUCCESS);
        doca_event event{};
        EXPECT_EQ(wait_for(peers.engine.workq(), event), DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(event.user_data.u64, i);
        EXPECT_EQ(event.result.u64, DOCA_ERROR_CONNECTION_RESET);
        EXPECT_EQ(wait_for(peers.engine.workq(), event), DOCA_SUCCESS);
        EXPECT_EQ(event.user_data.u64, 100 + i);
        EXPECT_TRUE(is_filled(std::span(memory).subspan(i * living.size(), living.size()), 8));
    }
}

std::string fault_name(const testing::TestParamInfo<FaultParam> &info)
{
    const auto &[pair, kind, direction] = info.param;
    return as_test_name(pair.exporter.ibdev + "_to_" + pair.importer.ibdev + "_" + name_of(kind) +
                        (direction == Direction::from_export ? "_read" : "_written"));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExportFaultTest);
INSTANTIATE_TEST_SUITE_P(fault, ExportFaultTest,
                         testing::Combine(testing::ValuesIn(one_device_pair()),
                                          testing::Values(MemoryKind::heap, MemoryKind::memfd),
                                          testing::Values(Direction::from_export, Direction::to_export)),
                         fault_name);

class ExportLifeTest : public testing::TestWithParam<DevicePair> {
protected:
    const DeviceParam &exporter = GetParam().exporter;
    const DeviceParam &importer = GetParam().importer;
};

TEST_P(ExportLifeTest, UnmappedMemoryFailsTheJobAndNoMore)
{
    for (const std::size_t size : {std::size_t{4096}, 4 * mib}) { // both ways of asking the kernel
        Peers peers(GetParam(), {.kind = MemoryKind::anonymous, .size = size});
        ASSERT_EQ(peers.copy(Direction::from_export), DOCA_SUCCESS);
        peers.remote.free();
        const LogCapture log;
        EXPECT_EQ(peers.copy(Direction::from_export), DOCA_ERROR_IO_FAILED) << size << " bytes";
        EXPECT_EQ(peers.copy(Direction::to_export), DOCA_ERROR_IO_FAILED) << size << " bytes";
        EXPECT_LOGGED(log, "has no memory at");
        EXPECT_EQ(peers.remote.stop(), DOCA_SUCCESS);
        EXPECT_EQ(peers.copy(Direction::to_export), DOCA_ERROR_NOT_PERMITTED);
    }
}

/// As with a device that has registered it: what the owner's own pages are protected from is its matter alone.
TEST_P(ExportLifeTest, ProtectionOfTheOwnersPagesDoesNotMatter)
{
    if (!importer.is_soft())
        GTEST_SKIP() << "how the software device reaches memory";
    for (const std::size_t size : {std::size_t{64}, std::size_t{4096}, 4 * mib}) { // all ways
        Peers peers(GetParam(), {.kind = MemoryKind::anonymous, .size = size});
        for (const int protection : {PROT_NONE, PROT_READ}) {
            peers.remote.protect(protection);
            fill(peers.memory, 3);
            EXPECT_EQ(peers.copy(Direction::to_export), DOCA_SUCCESS) << size << " bytes";
            fill(peers.memory, 4);
            EXPECT_EQ(peers.copy(Direction::from_export), DOCA_SUCCESS) << size << " bytes";
            EXPECT_TRUE(is_filled(peers.memory, 3));
        }
        peers.remote.protect(PROT_READ | PROT_WRITE);
        EXPECT_TRUE(peers.remote.has(3));
    }
}

/// The exporter's mapping of a shared object may go: the object stays.
TEST_P(ExportLifeTest, UnmappedSharedObjectIsStillReached)
{
    Peers peers(GetParam(), {.kind = MemoryKind::shared_file});
    peers.remote.free();
    EXPECT_EQ(peers.copy(Direction::from_export), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(peers.memory, 1));
}

TEST_P(ExportLifeTest, ManyImportersAndQueues)
{
    for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::memfd}) {
        RemoteMemory remote(exporter, {.kind = kind});
        std::vector<std::unique_ptr<RemoteImporter>> peers;
        for (std::uint32_t i = 0; i < 4; ++i)
            peers.push_back(std::make_unique<RemoteImporter>(importer, remote.descriptor(),
                                                             RemoteImporter::Options{.num_queues = 30}));
        for (const auto &peer : peers) {
            EXPECT_EQ(peer->copy(Direction::from_export), DOCA_SUCCESS);
            EXPECT_TRUE(peer->has(1));
        }
        for (const auto &peer : peers)
            peer->begin_copying(Direction::to_export);
        remote.begin_stop(9);
        for (const auto &peer : peers)
            EXPECT_EQ(peer->end_copying(), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(remote.end_stop().status, DOCA_SUCCESS);
        EXPECT_TRUE(remote.has(9)) << "written after the stop had returned";
        for (const auto &peer : peers)
            EXPECT_EQ(peer->process().finish(), 0);
        EXPECT_EQ(remote.process().finish(), 0);
    }
}

/// The end of the thread that exported costs the copies of others no system calls.
TEST_P(ExportLifeTest, EndOfTheExportingThreadCostsLittle)
{
    if (!importer.is_soft() || is_sanitized)
        GTEST_SKIP() << "times the software device";
    const auto cost = [&](bool from_a_thread) {
        Peers peers(GetParam(), {.kind = MemoryKind::memfd, .size = 64, .from_a_thread = from_a_thread});
        auto best = std::chrono::nanoseconds::max();
        for (int i = 0; i < 200; ++i) {
            const auto start = std::chrono::steady_clock::now();
            for (int copy = 0; copy < 20; ++copy)
                EXPECT_EQ(peers.copy(Direction::to_export), DOCA_SUCCESS);
            best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
        }
        return best;
    };
    // In turns, so that both have a quiet moment of the machine.
    auto with = std::chrono::nanoseconds::max(), without = with;
    for (int round = 0; round != 5; ++round) {
        with = std::min(with, cost(true));
        without = std::min(without, cost(false));
    }
    EXPECT_LT(with, 3 * without);
}

TEST_P(ExportLifeTest, LimitForFilesIsAnErrorAndNoSignal)
{
    if (!exporter.is_soft())
        GTEST_SKIP() << "what the software device shares";
    const DevHandle dev = open_device(exporter);
    EXPECT_EQ(in_forked_child([&] {
                  std::vector<std::byte> memory(64);
                  const LocalMap map(dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
                  const rlimit limit = {1 << 20, 1 << 20}; // log files are files, too
                  must_hold(setrlimit(RLIMIT_FSIZE, &limit) == 0, "files are limited");
                  const void *descriptor = nullptr;
                  std::size_t size = 0;
                  return doca_mmap_export_dpu(map, dev, &descriptor, &size) == DOCA_ERROR_NO_MEMORY ? 0 : 1;
              }),
              0);
}

TEST_P(ExportLifeTest, EverythingIsGivenBack)
{
    const auto use = [&] {
        for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::memfd, MemoryKind::shared_file}) {
            Peers normal(GetParam(), {.kind = kind});
            EXPECT_EQ(normal.copy(Direction::from_export), DOCA_SUCCESS);
            Peers stopped(GetParam(), {.kind = kind});
            EXPECT_EQ(stopped.copy(Direction::to_export), DOCA_SUCCESS);
            EXPECT_EQ(stopped.remote.stop(), DOCA_SUCCESS);
            EXPECT_EQ(stopped.copy(Direction::to_export), DOCA_ERROR_NOT_PERMITTED);
            Peers killed(GetParam(), {.kind = kind});
            killed.remote.process().kill();
            EXPECT_EQ(killed.copy_until_failure(Direction::from_export), DOCA_ERROR_CONNECTION_RESET);
            Peers unused(GetParam(), {.kind = kind});
        }
    };
    use();
    const Resources before = resources_in_use();
    for (int i = 0; i < 3; ++i)
        use();
    EXPECT_EQ(resources_in_use(), before);
}

/// A process that exports keeps its page of exports, and nothing for each export.
TEST_P(ExportLifeTest, ExporterGivesEverythingBackToo)
{
    const DevHandle dev = open_device(exporter);
    const auto use = [&] {
        for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::memfd, MemoryKind::shared_file}) {
            const Memory memory(kind, 4096);
            const LocalMap map(dev, memory.bytes(), DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
            const void *descriptor = nullptr;
            std::size_t size = 0;
            must(doca_mmap_export_dpu(map, dev, &descriptor, &size));
            RemoteImporter peer(importer, {static_cast<const std::byte *>(descriptor), size}, {});
            EXPECT_EQ(peer.copy(Direction::to_export), DOCA_SUCCESS);
            EXPECT_EQ(doca_mmap_stop(map), DOCA_SUCCESS);
            EXPECT_EQ(peer.copy(Direction::to_export), DOCA_ERROR_NOT_PERMITTED);
        }
    };
    use();
    const Resources before = resources_in_use();
    for (int i = 0; i < 3; ++i)
        use();
    EXPECT_EQ(resources_in_use(), before);
}

/// The number of exports is limited at a time, not for ever.
TEST_P(ExportLifeTest, PlacesOfExportsAreUsedAgain)
{
    const DevHandle dev = open_device(exporter);
    std::vector<std::byte> memory(64);
    const LocalMap map(dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
    const std::uint32_t count = is_sanitized ? 500 : opendoca::soft::max_exports + 10;
    for (std::uint32_t i = 0; i < count; ++i) {
        const void *descriptor = nullptr;
        std::size_t size = 0;
        ASSERT_EQ(doca_mmap_export_dpu(map, dev, &descriptor, &size), DOCA_SUCCESS) << i;
        ASSERT_EQ(doca_mmap_stop(map), DOCA_SUCCESS);
        ASSERT_EQ(doca_mmap_start(map), DOCA_SUCCESS);
    }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExportLifeTest);
INSTANTIATE_TEST_SUITE_P(pair, ExportLifeTest, testing::ValuesIn(one_device_pair()), pair_name);

} // namespace
