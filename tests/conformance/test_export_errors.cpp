// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Export descriptors that are damaged, out of date, hostile or of somebody else: each is refused, and costs
// nothing.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/forged_export.hpp"
#include "support/log_capture.hpp"
#include "support/process_traits.hpp"
#include "support/remote_importer.hpp"
#include "support/remote_memory.hpp"
#include "support/sanitizers.hpp"

namespace {

using namespace doca_test;

class ExportErrorTest : public testing::TestWithParam<DevicePair> {
protected:
    /// What an import comes to; a failed one must leave its output alone.
    [[nodiscard]] doca_error_t import(std::span<const std::byte> descriptor) const
    {
        doca_mmap *mmap = untouched<doca_mmap>();
        const doca_error_t status =
            doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev, &mmap);
        if (status == DOCA_SUCCESS) {
            EXPECT_EQ(doca_mmap_destroy(mmap), DOCA_SUCCESS);
        } else {
            EXPECT_EQ(mmap, untouched<doca_mmap>());
        }
        return status;
    }
    [[nodiscard]] doca_error_t import(const ExportDescriptor &d) const { return import(seal(d)); }
    [[nodiscard]] static bool is_refusal(doca_error_t status)
    {
        return status == DOCA_ERROR_INVALID_VALUE || status == DOCA_ERROR_NOT_PERMITTED;
    }

    const DeviceParam &exporter = GetParam().exporter;
    const DeviceParam &importer = GetParam().importer;
    DevHandle dev = open_device(importer);
};

TEST_P(ExportErrorTest, EveryFlippedByteAndEveryTruncationIsRefusedAndNothingLeaks)
{
    const RemoteMemory remote(exporter, {.kind = MemoryKind::memfd});
    ASSERT_EQ(import(remote.descriptor()), DOCA_SUCCESS);
    std::vector<std::byte> bytes(remote.descriptor().begin(), remote.descriptor().end());
    const Resources before = resources_in_use();
    for (std::byte &byte : bytes) {
        for (const int flip : {0x01, 0x80, 0xff}) {
            byte ^= static_cast<std::byte>(flip);
            EXPECT_EQ(import(bytes), DOCA_ERROR_INVALID_VALUE) << "byte " << &byte - bytes.data();
            byte ^= static_cast<std::byte>(flip);
        }
    }
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_EQ(import(std::span(bytes).first(size)), DOCA_ERROR_INVALID_VALUE) << size << " bytes";
    EXPECT_EQ(resources_in_use(), before);
    EXPECT_EQ(import(bytes), DOCA_SUCCESS) << "the genuine one still works";
}

TEST_P(ExportErrorTest, NoiseIsRefused)
{
    std::vector<std::byte> bytes(256);
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
        fill(bytes, seed);
        EXPECT_EQ(import(bytes), DOCA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(import(std::vector(256, std::byte{0})), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(ExportErrorTest, DescriptorOfAnExporterThatHasEndedIsInvalid)
{
    RemoteMemory remote(exporter, {});
    const LogCapture log;
    remote.process().kill();
    remote.process().wait_for_end();
    EXPECT_EQ(import(remote.descriptor()), DOCA_ERROR_INVALID_VALUE) << "while it is a zombie";
    remote.process().wait();
    EXPECT_EQ(import(remote.descriptor()), DOCA_ERROR_INVALID_VALUE) << "when it is gone";
    EXPECT_LOGGED(log, "not there any more");
}

TEST_P(ExportErrorTest, DescriptorOfAStoppedMapIsInvalid)
{
    RemoteMemory remote(exporter, {});
    const std::vector<std::byte> old(remote.descriptor().begin(), remote.descriptor().end());
    ASSERT_EQ(remote.stop(), DOCA_SUCCESS);
    const LogCapture log;
    EXPECT_EQ(import(old), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "not any more");
    ASSERT_EQ(remote.export_again(), DOCA_SUCCESS);
    EXPECT_EQ(import(old), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(import(remote.descriptor()), DOCA_SUCCESS);
}

TEST_P(ExportErrorTest, ExporterOfAnotherUserIsNotPermitted)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "only root can become two users";
    constexpr uid_t nobody = 65534;
    const std::string users[] = {"user " + std::to_string(nobody), "user 0"};
    for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::memfd}) {
        const RemoteMemory of_nobody(exporter, {.kind = kind, .user = nobody});
        ASSERT_EQ(of_nobody.status(), DOCA_SUCCESS);
        const LogCapture log;
        EXPECT_EQ(import(of_nobody.descriptor()), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_LOGGED(log, users[0]);

        const RemoteMemory of_root(exporter, {.kind = kind});
        const RemoteImporter as_nobody(importer, of_root.descriptor(), {.user = nobody});
        EXPECT_EQ(as_nobody.status(), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_NE(as_nobody.log().find(users[1]), std::string::npos) << as_nobody.log();

        RemoteImporter of_same_user(importer, of_nobody.descriptor(), {.user = nobody});
        EXPECT_EQ(of_same_user.status(), DOCA_SUCCESS) << of_same_user.log();
    }
}

TEST_P(ExportErrorTest, ExporterThatIsNotDumpableIsNotPermittedAndTheLogSaysWhy)
{
    const uid_t user = geteuid() == 0 ? 65534 : 0; // root may look into anything
    const RemoteMemory remote(exporter, {.user = user, .is_dumpable = false});
    const RemoteImporter peer(importer, remote.descriptor(), {.user = user});
    EXPECT_EQ(peer.status(), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_NE(peer.log().find("not dumpable"), std::string::npos) << peer.log();
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExportErrorTest);
INSTANTIATE_TEST_SUITE_P(pair, ExportErrorTest, testing::ValuesIn(few_device_pairs()), pair_name);

/// A process that knows nothing of DOCA.
void wait_for_parent(Channel &parent)
{
    parent.send(true);
    (void)parent.receive<bool>();
}

const ChildProgram idle_program("idle", wait_for_parent);

/// Descriptors with a checksum that is right, and fields that are not. The software device's own format.
class HostileDescriptorTest : public ExportErrorTest {
protected:
    void SetUp() override
    {
        if (!importer.is_soft())
            GTEST_SKIP() << "a descriptor of another provider";
        ASSERT_EQ(remote.status(), DOCA_SUCCESS);
        genuine = parse_descriptor(remote.descriptor());
        ASSERT_EQ(import(genuine), DOCA_SUCCESS) << "the checksum of this test is right";
        before = resources_in_use();
    }
    void TearDown() override
    {
        if (IsSkipped())
            return;
        EXPECT_EQ(resources_in_use(), before);
        EXPECT_EQ(import(genuine), DOCA_SUCCESS) << "the genuine one still works";
        EXPECT_TRUE(remote.has(1)) << "nobody wrote";
    }

    /// The genuine descriptor with the process @p pid in place of the exporter.
    [[nodiscard]] ExportDescriptor of_process(pid_t pid) const
    {
        ExportDescriptor d = genuine;
        d.pid = static_cast<std::uint32_t>(pid);
        d.start_time = start_time_of(pid);
        return d;
    }

    RemoteMemory remote{exporter, {.kind = MemoryKind::memfd}};
    ExportDescriptor genuine{};
    Resources before;
};

TEST_P(HostileDescriptorTest, EveryFieldCounts)
{
    const std::vector<std::byte> bytes(remote.descriptor().begin(), remote.descriptor().end());
    // The version and the minimum version: later versions, which this one understands, are imported.
    const auto is_version = [](std::size_t i) { return i >= 10 && i < 14; };
    for (std::size_t i = 0; i < bytes.size() - sizeof(std::uint32_t); ++i) {
        for (const int flip : {0x01, 0x02, 0x80, 0xff}) {
            std::vector<std::byte> changed = bytes;
            changed[i] ^= static_cast<std::byte>(flip);
            const doca_error_t status = import(seal(changed));
            EXPECT_TRUE(is_version(i) || is_refusal(status))
                << "byte " << i << " xor " << flip << ": " << doca_get_error_name(status);
        }
    }
}

TEST_P(HostileDescriptorTest, Generations)
{
    const std::uint64_t right = genuine.generation;
    for (const std::uint64_t generation : {std::uint64_t{0}, right - 1, right + 1, right + 2, UINT64_MAX}) {
        ExportDescriptor d = genuine;
        d.generation = generation;
        EXPECT_EQ(import(d), DOCA_ERROR_INVALID_VALUE) << generation;
    }
}

TEST_P(HostileDescriptorTest, Entries)
{
    for (const std::uint32_t entry : {1u, 2u, opendoca::soft::max_exports - 1, opendoca::soft::max_exports,
                                      opendoca::soft::max_exports + 1, 0x7fffffffu, 0xffffffffu}) {
        ExportDescriptor d = genuine;
        d.entry = entry;
        EXPECT_EQ(import(d), DOCA_ERROR_INVALID_VALUE) << entry;
        d.generation = 0; // that of entries never used
        EXPECT_EQ(import(d), DOCA_ERROR_INVALID_VALUE) << entry;
    }
}

/// An export opens nothing but itself, also for who knows another one of the same process.
TEST_P(HostileDescriptorTest, NonceOfAnotherExport)
{
    const DevHandle exporting = open_device(exporter);
    std::vector<std::byte> memory(8192);
    const std::uint32_t access = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE;
    const LocalMap first(exporting, std::span(memory).first(4096), access);
    const LocalMap second(exporting, std::span(memory).last(4096), access);
    const auto export_map = [&](doca_mmap *map) {
        const void *bytes = nullptr;
        std::size_t size = 0;
        must(doca_mmap_export_dpu(map, exporting, &bytes, &size));
        return parse_descriptor({static_cast<const std::byte *>(bytes), size});
    };
    const ExportDescriptor a = export_map(first);
    const ExportDescriptor b = export_map(second);
    before = resources_in_use();
    ASSERT_EQ(import(a), DOCA_SUCCESS);
    ASSERT_EQ(import(b), DOCA_SUCCESS);
    ExportDescriptor d = a;
    d.entry = b.entry;
    d.generation = b.generation;
    EXPECT_EQ(import(d), DOCA_ERROR_INVALID_VALUE);
    d = b;
    d.nonce[15] ^= 1;
    EXPECT_EQ(import(d), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(HostileDescriptorTest, OtherDescriptorsOfTheExporter)
{
    for (std::int32_t fd = -2; fd < 64; ++fd) {
        ExportDescriptor d = genuine;
        d.page_fd = fd;
        const doca_error_t expected = fd == genuine.page_fd ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
        EXPECT_EQ(import(d), expected) << "descriptor " << fd;
    }
    ExportDescriptor d = genuine;
    d.page_fd = INT32_MAX;
    EXPECT_EQ(import(d), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(HostileDescriptorTest, OtherProcesses)
{
    ChildProcess idle("idle");
    ASSERT_TRUE(idle.channel().receive<bool>());
    before.descriptors += 1; // the channel, until the end of this scope
    for (std::int32_t fd = 0; fd < 32; ++fd) {
        for (const pid_t pid : {getpid(), getppid(), pid_t{1}, idle.pid()}) {
            ExportDescriptor d = of_process(pid);
            d.page_fd = fd;
            EXPECT_TRUE(is_refusal(import(d))) << "descriptor " << fd << " of process " << pid;
        }
    }
    EXPECT_EQ(resources_in_use(), before);
    before.descriptors -= 1;
}

TEST_P(HostileDescriptorTest, ProcessesThatCannotBe)
{
    for (const std::uint32_t pid : {0u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
        ExportDescriptor d = genuine;
        d.pid = pid;
        EXPECT_EQ(import(d), DOCA_ERROR_INVALID_VALUE) << pid;
    }
    ExportDescriptor d = genuine;
    d.start_time += 1; // an earlier process with the same number
    const LogCapture log;
    EXPECT_EQ(import(d), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "not there any more");
}

TEST_P(HostileDescriptorTest, OtherPidNamespace)
{
    ExportDescriptor d = genuine;
    d.pid_namespace += 1;
    const LogCapture log;
    EXPECT_EQ(import(d), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_LOGGED(log, "PID namespace");
}

TEST_P(HostileDescriptorTest, OtherKindsVersionsAndSizes)
{
    ExportDescriptor d = genuine;
    for (const unsigned kind : {0u, 2u, 3u, 0xffffu}) {
        d.kind = static_cast<std::uint16_t>(kind);
        EXPECT_EQ(import(d), DOCA_ERROR_INVALID_VALUE) << kind;
    }
    const std::vector<std::byte> bytes(remote.descriptor().begin(), remote.descriptor().end());
    const auto with = [&](std::size_t at, std::uint8_t value) {
        std::vector<std::byte> changed = bytes;
        changed[at] = static_cast<std::byte>(value);
        return import(seal(changed));
    };
    EXPECT_EQ(with(9, 4), DOCA_ERROR_INVALID_VALUE) << "a verbs device's";
    EXPECT_EQ(with(9, 2), DOCA_ERROR_INVALID_VALUE) << "a sync event's";
    EXPECT_EQ(with(11, 7), DOCA_SUCCESS) << "of a later version, which this one understands";
    EXPECT_EQ(with(13, 2), DOCA_ERROR_INVALID_VALUE) << "of a later version, which it does not";
    EXPECT_EQ(with(15, static_cast<std::uint8_t>(bytes.size() + 8)), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with(15, static_cast<std::uint8_t>(bytes.size() - 8)), DOCA_ERROR_INVALID_VALUE);
    // A later version may have more fields.
    std::vector<std::byte> longer = bytes;
    longer.insert(longer.end() - 4, 8, std::byte{1});
    longer[15] = static_cast<std::byte>(longer.size());
    EXPECT_EQ(import(seal(longer)), DOCA_SUCCESS);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HostileDescriptorTest);
INSTANTIATE_TEST_SUITE_P(pair, HostileDescriptorTest, testing::ValuesIn(few_device_pairs()), pair_name);

/// Pages that another process of the same user has made up.
class ForgedPageTest : public ExportErrorTest {
protected:
    void SetUp() override
    {
        if (importer.pci != "0000:03:00.0" || !importer.is_soft())
            GTEST_SKIP() << "the forged exports are of pf0, behind p0 of the default topology";
    }
};

TEST_P(ForgedPageTest, AsItShouldBeIsImported)
{
    const Forger forger(Forgery::none);
    EXPECT_EQ(import(forger.descriptor()), DOCA_SUCCESS) << "otherwise the tests below prove nothing";
    ExportDescriptor d = forger.descriptor();
    d.nonce[0] ^= 1;
    EXPECT_EQ(import(d), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(ForgedPageTest, IsRefused)
{
    for (const Forgery forgery : {Forgery::not_sealed,
                                  Forgery::partly_sealed,
                                  Forgery::writable,
                                  Forgery::no_hazards,
                                  Forgery::hazards_too_short,
                                  Forgery::hazards_not_sealed,
                                  Forgery::hazards_read_only,
                                  Forgery::too_short,
                                  Forgery::too_long,
                                  Forgery::wrong_magic,
                                  Forgery::wrong_version,
                                  Forgery::wrong_pid,
                                  Forgery::wrong_start_time,
                                  Forgery::leased,
                                  Forgery::plain_file,
                                  Forgery::fifo,
                                  Forgery::directory,
                                  Forgery::character_device,
                                  Forgery::socket,
                                  Forgery::nothing,
                                  Forgery::range_wraps,
                                  Forgery::range_unmapped}) {
        const Forger forger(forgery);
        const Resources before = resources_in_use();
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(import(forger.descriptor()), DOCA_ERROR_INVALID_VALUE)
            << "forgery " << static_cast<std::uint32_t>(forgery);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << "it was waited for";
        EXPECT_EQ(resources_in_use(), before);
    }
}

/// What can't be mapped is reached by the kernel, or refused. Whatever it is, the importer is safe.
TEST_P(ForgedPageTest, ObjectThatIsNotWhatTheEntrySaysIsNotMapped)
{
    std::vector<std::byte> memory(4096);
    const LocalMap map(dev, memory);
    const Inventory inventory(4);
    const DmaEngine engine(dev);
    for (const Forgery forgery : {Forgery::object_is_fifo, Forgery::object_is_directory, Forgery::object_too_short,
                                  Forgery::object_offset_wraps, Forgery::object_is_another, Forgery::object_is_shifted,
                                  Forgery::object_is_leased}) {
        SCOPED_TRACE("forgery " + std::to_string(static_cast<std::uint32_t>(forgery)));
        const Forger forger(forgery);
        const std::vector<std::byte> descriptor = seal(forger.descriptor());
        const Resources before = resources_in_use();
        MmapHandle mmap;
        ASSERT_EQ(doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev, mmap.out()),
                  DOCA_SUCCESS);
        Resources mapped_page = resources_in_use();
        EXPECT_EQ(mapped_page.shared_mappings, before.shared_mappings + 2) << "the two pages, and no object";
        const BufHandle src = inventory.full(mmap, forger.addr(), memory.size());
        EXPECT_EQ(engine.copy(inventory.empty(map, memory.data(), memory.size()), src), DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(memory, 1));
    }
}

/// What is checked is what is used: no length between the two gets through.
TEST_P(ForgedPageTest, LengthThatChangesBetweenTwoLooksMapsNoMoreThanTheObject)
{
    constexpr std::size_t object = 4096, more = 256 * object;
    std::vector<std::byte> memory(more);
    const LocalMap map(dev, memory);
    const Inventory inventory(4);
    const DmaEngine engine(dev);
    const Forger forger(Forgery::length_changes);
    const std::vector<std::byte> descriptor = seal(forger.descriptor());
    std::size_t imported = 0;
    for (int i = 0; i < 2000; ++i) {
        MmapHandle mmap;
        if (doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev, mmap.out()) !=
            DOCA_SUCCESS)
            continue;
        ++imported;
        void *start = nullptr;
        std::size_t length = 0;
        must(doca_mmap_get_memrange(mmap, &start, &length));
        ASSERT_TRUE(length == object || length == more) << length;
        // The last byte: beyond the end of a mapped object, this would be SIGBUS.
        const BufHandle src = inventory.full(mmap, static_cast<std::byte *>(start) + length - 1, 1);
        const doca_error_t status = engine.copy(inventory.empty(map, memory.data(), 1), src);
        EXPECT_TRUE(status == DOCA_SUCCESS || length == more) << doca_get_error_name(status);
    }
    EXPECT_GT(imported, 0u) << "otherwise this proves nothing";
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ForgedPageTest);
INSTANTIATE_TEST_SUITE_P(pair, ForgedPageTest, testing::ValuesIn(few_device_pairs()), pair_name);

} // namespace
