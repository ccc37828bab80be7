// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The pages that a process which exports shares with importers: who may write to them, and what that can do.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "../../src/core/device/soft/process/process.hpp"

#include "support/export_peers.hpp"
#include "support/forged_export.hpp"
#include "support/log_capture.hpp"
#include "support/process_traits.hpp"
#include "support/sanitizers.hpp"

namespace {

using namespace doca_test;
using Direction = RemoteImporter::Direction;
using opendoca::soft::HazardPage;
using opendoca::soft::ProcessId;

const ChildProgram idle_importer_program("idle-importer", [](Channel &parent) { (void)parent.receive<bool>(); });

int open_page(const ExportDescriptor &d, std::int32_t fd, int flags)
{
    const std::string path = "/proc/" + std::to_string(d.pid) + "/fd/" + std::to_string(fd);
    const int opened = open(path.c_str(), flags | O_CLOEXEC);
    must_hold(opened >= 0, "a page of the exporter is opened");
    return opened;
}

/// The page of hazard pointers of the exporter that @p d names: a descriptor.
int open_hazards(const ExportDescriptor &d)
{
    std::int32_t fd = -1;
    const int exports = open_page(d, d.page_fd, O_RDONLY);
    must_hold(pread(exports, &fd, sizeof(fd), offsetof(ExportPage, hazard_page_fd)) == sizeof(fd),
              "the exports are read");
    close(exports);
    return open_page(d, fd, O_RDWR);
}

ProcessId id_of(pid_t pid)
{
    return {pid, start_time_of(pid)};
}

/// What a hazard pointer says that copies from and to the export.
std::uint32_t marks_of(const ExportDescriptor &d)
{
    return (d.entry + 1) | (d.entry + 1) << 16;
}

/// The page of hazard pointers of the exporter that @p d names.
class MappedHazards {
public:
    explicit MappedHazards(const ExportDescriptor &d)
    {
        const int hazards = open_hazards(d);
        page_ = mmap(nullptr, sizeof(HazardPage), PROT_READ | PROT_WRITE, MAP_SHARED, hazards, 0);
        close(hazards);
        must_hold(page_ != MAP_FAILED, "the page of hazard pointers is mapped");
    }
    MappedHazards(const MappedHazards &) = delete;
    MappedHazards &operator=(const MappedHazards &) = delete;
    ~MappedHazards() { munmap(page_, sizeof(HazardPage)); }

    HazardPage *operator->() const { return static_cast<HazardPage *>(page_); }
    [[nodiscard]] std::ptrdiff_t pointers_of(pid_t pid) const
    {
        return std::ranges::count_if((*this)->pointers,
                                     [&](const auto &pointer) { return ProcessId(pointer.owner.load()).pid() == pid; });
    }

private:
    void *page_ = nullptr;
};

/// Has the page mapped, as importers do, but no main thread.
const ChildProgram threaded_holder_program("threaded-holder", [](Channel &parent) {
    go_on_without_main_thread(parent, [](Channel &channel, const std::function<void()> &end_main) {
        const MappedHazards hazards(channel.receive<ExportDescriptor>());
        end_main();
        channel.send(true);
        (void)channel.receive<bool>();
    });
});

/// Long enough for a revoker to ask several times.
constexpr std::chrono::milliseconds many_looks{500};

class ExportPagesTest : public testing::TestWithParam<DevicePair> {
protected:
    void SetUp() override
    {
        if (!exporter.is_soft())
            GTEST_SKIP() << "the pages are the software device's";
    }

    const DeviceParam &exporter = GetParam().exporter;
    const DeviceParam &importer = GetParam().importer;
};

/// Whoever can open the page of hazard pointers can write anything to it; that must not stop the exporter for ever.
TEST_P(ExportPagesTest, SlotsThatNobodyHoldsDoNotDelayAStop)
{
    RemoteMemory remote(exporter, {});
    const MappedHazards hazards(parse_descriptor(remote.descriptor()));
    const pid_t ended = [] {
        const ChildProcess child("idle-importer");
        return child.pid();
    }();
    const ChildProcess stranger("idle-importer"); // which has imported nothing
    const std::uint64_t owners[] = {0,
                                    1,
                                    UINT64_MAX,
                                    ProcessId(ended, 1).word(),
                                    ProcessId(getpid(), 1).word(),
                                    id_of(1).word(), // init
                                    id_of(2).word(), // mostly a thread of the kernel
                                    id_of(stranger.pid()).word(),
                                    id_of(remote.process().pid()).word()};
    for (std::size_t i = 0; i < opendoca::soft::max_hazard_pointers; ++i) {
        hazards->pointers[i].owner.store(owners[i % std::size(owners)]);
        hazards->pointers[i].in_use.store(marks_of(parse_descriptor(remote.descriptor())));
    }
    hazards->num_pointers.store(UINT32_MAX);
    remote.begin_stop(0);
    ASSERT_TRUE(remote.stops_within(std::chrono::minutes(1)));
    EXPECT_EQ(remote.end_stop().status, DOCA_SUCCESS);
}

/// The same where the exporter may not look into the processes that are named.
TEST_P(ExportPagesTest, SlotsOfOtherUsersDoNotDelayAStop)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "only root can become two users";
    RemoteMemory remote(exporter, {.user = 65534});
    ASSERT_EQ(remote.status(), DOCA_SUCCESS);
    const MappedHazards hazards(parse_descriptor(remote.descriptor()));
    hazards->pointers[0].owner.store(id_of(1).word());
    hazards->pointers[0].in_use.store(marks_of(parse_descriptor(remote.descriptor())));
    hazards->num_pointers.store(1);
    remote.begin_stop(0);
    ASSERT_TRUE(remote.stops_within(std::chrono::minutes(1)));
    EXPECT_EQ(remote.end_stop().status, DOCA_SUCCESS);
}

/// One that has, and lives, may be in the middle of a copy, as long as that takes.
TEST_P(ExportPagesTest, SlotsOfAProcessThatHasThePageMappedDelayAStop)
{
    for (const bool has_main_thread : {true, false}) {
        if (is_sanitized && !has_main_thread)
            continue; // sanitizers want one
        SCOPED_TRACE(has_main_thread);
        RemoteMemory remote(exporter, {});
        const ExportDescriptor d = parse_descriptor(remote.descriptor());
        std::optional<ChildProcess> child;
        std::optional<MappedHazards> hazards(d);
        if (!has_main_thread) {
            child.emplace("threaded-holder");
            child->channel().send(d);
            ASSERT_TRUE(child->channel().receive<bool>());
        }
        (*hazards)->pointers[0].owner.store(id_of(child ? child->pid() : getpid()).word());
        (*hazards)->pointers[0].in_use.store(marks_of(d));
        (*hazards)->num_pointers.store(1);
        remote.begin_stop(0);
        EXPECT_FALSE(remote.stops_within(many_looks));
        child.reset();
        hazards.reset();
        ASSERT_TRUE(remote.stops_within(std::chrono::minutes(1)));
        EXPECT_EQ(remote.end_stop().status, DOCA_SUCCESS);
    }
}

/// A process that imports from itself knows its own slots.
TEST_P(ExportPagesTest, OwnSlotsDelayAStopOnlyWhereAQueueHasThem)
{
    const DevHandle dev = open_device(exporter);
    const DevHandle importing = open_device(importer);
    std::vector<std::byte> memory(100), copied(100);
    LocalMap exported(dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
    const void *blob = nullptr;
    std::size_t size = 0;
    must(doca_mmap_export_dpu(exported, dev, &blob, &size));
    MmapHandle imported;
    must(doca_mmap_create_from_export(nullptr, blob, size, importing, imported.out()));
    const LocalMap own_map(importing, copied);
    const Inventory inventory(8);
    const DmaEngine engine(importing);
    must(engine.copy(inventory.empty(own_map, copied.data(), copied.size()),
                     inventory.full(imported, memory.data(), memory.size())));

    const ExportDescriptor d = parse_descriptor({static_cast<const std::byte *>(blob), size});
    const int page = open_hazards(d); // not mapped: a second mapping here would be one of somebody else
    const auto at = [](std::size_t i) { return static_cast<off_t>(offsetof(HazardPage, pointers) + i * 64); };
    const auto set = [&](std::size_t i, std::uint32_t in_use, std::uint64_t owner) {
        EXPECT_EQ(pwrite(page, &in_use, 4, at(i)), 4);
        EXPECT_EQ(pwrite(page, &owner, 8, at(i) + 8), 8);
    };
    const ProcessId own_id = id_of(getpid());
    std::uint32_t count = 0;
    ASSERT_EQ(pread(page, &count, sizeof(count), 0), 4);
    std::size_t own = 0;
    for (std::uint64_t owner = 0; own < count; ++own) {
        ASSERT_EQ(pread(page, &owner, 8, at(own) + 8), 8);
        if (ProcessId(owner) == own_id)
            break;
    }
    ASSERT_LT(own, count) << "the engine's";
    set(own, marks_of(d), own_id.word());
    set(count, marks_of(d), own_id.word()); // nobody's
    ++count;
    ASSERT_EQ(pwrite(page, &count, sizeof(count), 0), 4);

    auto stopped = std::async(std::launch::async, [&] { return doca_mmap_stop(exported); });
    EXPECT_EQ(stopped.wait_for(many_looks), std::future_status::timeout);
    set(own, 0, own_id.word());
    EXPECT_EQ(stopped.get(), DOCA_SUCCESS);
    set(count - 1, 0, 0);
    close(page);
}

/// The page of exports can't be written to by others.
TEST_P(ExportPagesTest, PageOfExportsIsTheExportersAlone)
{
    const RemoteMemory remote(exporter, {});
    const ExportDescriptor d = parse_descriptor(remote.descriptor());
    const std::string path = "/proc/" + std::to_string(d.pid) + "/fd/" + std::to_string(d.page_fd);
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(mmap(nullptr, sizeof(ExportPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
    EXPECT_EQ(pwrite(fd, "x", 1, 0), -1);
    EXPECT_EQ(ftruncate(fd, 0), -1);
    close(fd);
}

/// A process that exports nothing, but has at the number that it is told a file of @p size bytes, which it cuts and
/// seals again and again.
const ChildProgram cutter_program("page-cutter", [](Channel &parent) {
    const int number = parent.receive<int>();
    const auto size = parent.receive<std::size_t>();
    parent.send(true);
    for (unsigned round = 0;; ++round) {
        const int fd = memfd_create("cut", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (ftruncate(fd, static_cast<off_t>(size)) != 0 || dup2(fd, number) != number)
            return;
        for (unsigned i = 0; i != round * 7 % 400; ++i)
            (void)getppid(); // some time, each time another
        (void)!ftruncate(fd, 0);
        (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_FUTURE_WRITE);
        close(fd);
    }
});

/// Else an importer that has mapped it ends by SIGBUS at its first look.
TEST_P(ExportPagesTest, PageThatIsCutWhileItIsOpenedIsRefused)
{
    const RemoteMemory remote(exporter, {});
    ExportDescriptor d = parse_descriptor(remote.descriptor());
    ChildProcess cutter("page-cutter");
    d.page_fd = 100;
    cutter.channel().send(int{d.page_fd});
    cutter.channel().send(sizeof(ExportPage));
    d.pid = static_cast<std::uint32_t>(cutter.pid());
    d.start_time = start_time_of(cutter.pid());
    ASSERT_TRUE(cutter.channel().receive<bool>());
    const std::vector<std::byte> forged = seal(d);
    const DevHandle dev(open_device(importer));
    const LogCapture log; // of which there is a lot
    for (int i = 0; i < times(2000); ++i) {
        doca_mmap *imported = nullptr;
        EXPECT_NE(doca_mmap_create_from_export(nullptr, forged.data(), forged.size(), dev, &imported), DOCA_SUCCESS);
    }
}

/// What large copies touch first, so that they fail in a process that has got the exporter's number.
TEST_P(ExportPagesTest, GuardIsInTheExporterAlone)
{
    RemoteMemory exporters[] = {RemoteMemory(exporter, {}), RemoteMemory(exporter, {})};
    for (RemoteMemory &remote : exporters) {
        const ExportDescriptor d = parse_descriptor(remote.descriptor());
        const std::string path = "/proc/" + std::to_string(d.pid) + "/fd/" + std::to_string(d.page_fd);
        const int page = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        std::uint64_t addr = 0;
        ASSERT_EQ(pread(page, &addr, sizeof(addr), offsetof(ExportPage, guard_addr)), 8);
        close(page);
        const auto touch = [addr](pid_t pid) {
            char byte = 0;
            const iovec here = {&byte, 1};
            const iovec there = {reinterpret_cast<void *>(addr), 1};
            return process_vm_writev(pid, &here, 1, &there, 1, 0);
        };
        for (RemoteMemory &other : exporters)
            EXPECT_EQ(touch(other.process().pid()), &other == &remote ? 1 : -1);
        EXPECT_EQ(touch(getpid()), -1);
    }
}

class HazardPointersTest : public ExportPagesTest {
protected:
    void SetUp() override
    {
        ExportPagesTest::SetUp();
        if (is_sanitized)
            GTEST_SKIP() << "4,096 work queues take too long with a sanitizer";
    }
};

TEST_P(HazardPointersTest, AreLimitedAndComeBackWithTheEndOfTheQueues)
{
    Peers peers(GetParam(), {.kind = MemoryKind::memfd});
    RemoteImporter greedy(importer, peers.remote.descriptor(), {.num_queues = opendoca::soft::max_hazard_pointers});
    ASSERT_EQ(greedy.copy(Direction::from_export), DOCA_SUCCESS);
    const LogCapture log;
    EXPECT_EQ(peers.copy(Direction::from_export), DOCA_ERROR_NO_MEMORY);
    EXPECT_LOGGED(log, "are taken");
    EXPECT_EQ(greedy.process().finish(), 0);
    EXPECT_EQ(peers.copy(Direction::from_export), DOCA_SUCCESS);
}

TEST_P(HazardPointersTest, OfImportersThatWereKilledComeBack)
{
    Peers peers(GetParam(), {.kind = MemoryKind::memfd});
    RemoteImporter greedy(importer, peers.remote.descriptor(), {.num_queues = opendoca::soft::max_hazard_pointers});
    ASSERT_EQ(greedy.copy(Direction::from_export), DOCA_SUCCESS);
    greedy.process().kill();
    greedy.process().wait();
    EXPECT_EQ(peers.copy(Direction::from_export), DOCA_SUCCESS);
}

/// Otherwise an exporter would not wait for a copy of the parent's.
TEST_P(HazardPointersTest, AreKeptWhenAForkedChildOfTheImporterEnds)
{
    const RemoteMemory remote(exporter, {});
    const MappedHazards hazards(parse_descriptor(remote.descriptor()));
    RemoteImporter peer(importer, remote.descriptor(), {.num_queues = 3});
    ASSERT_EQ(peer.copy(Direction::from_export), DOCA_SUCCESS);
    EXPECT_EQ(hazards.pointers_of(peer.process().pid()), 3);
    peer.fork_and_exit();
    EXPECT_EQ(hazards.pointers_of(peer.process().pid()), 3);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExportPagesTest);
INSTANTIATE_TEST_SUITE_P(pair, ExportPagesTest, testing::ValuesIn(one_device_pair()), pair_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HazardPointersTest);
INSTANTIATE_TEST_SUITE_P(pair, HazardPointersTest, testing::ValuesIn(one_device_pair()), pair_name);

} // namespace
