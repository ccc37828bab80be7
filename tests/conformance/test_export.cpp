// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory of other processes: what an export promises, and copies from and to it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "support/dma_fixture.hpp"
#include "support/log_capture.hpp"
#include "support/remote_memory.hpp"
#include "support/sanitizers.hpp"

namespace {

using namespace doca_test;

constexpr std::uint32_t read_only = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_ONLY;

/// The importing side: a device, memory of its own and an engine.
class Importing {
public:
    explicit Importing(const DeviceParam &importer, std::size_t size)
        : dev(open_device(importer)),
          memory(size),
          map(dev, memory)
    {
    }

    [[nodiscard]] BufHandle own_source(std::size_t offset, std::size_t len) const
    {
        return inventory.full(map, memory.data() + offset, len);
    }
    [[nodiscard]] BufHandle own_destination(std::size_t offset, std::size_t len) const
    {
        return inventory.empty(map, memory.data() + offset, len);
    }
    [[nodiscard]] std::span<const std::byte> own(std::size_t offset, std::size_t len) const
    {
        return std::span(memory).subspan(offset, len);
    }

    DevHandle dev;
    mutable std::vector<std::byte> memory;
    LocalMap map;
    Inventory inventory{64};
    DmaEngine engine{dev};
};

class ExportTest : public testing::TestWithParam<DevicePair> {
protected:
    const DeviceParam &exporter = GetParam().exporter;
    const DeviceParam &importer = GetParam().importer;
};

TEST_P(ExportTest, ImportHasTheExportersRangeAndItsOwnUserData)
{
    RemoteMemory remote(exporter, {.size = 12345, .lead = 3});
    ASSERT_EQ(remote.status(), DOCA_SUCCESS);
    const DevHandle dev = open_device(importer);
    doca_data user_data = {.u64 = 0xfeedface};
    MmapHandle mmap;
    ASSERT_EQ(doca_mmap_create_from_export(&user_data, remote.descriptor().data(), remote.descriptor().size(), dev,
                                           mmap.out()),
              DOCA_SUCCESS);
    void *addr = nullptr;
    std::size_t len = 0;
    EXPECT_EQ(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
    EXPECT_EQ(addr, remote.addr());
    EXPECT_EQ(len, 12345u);
    doca_data found{};
    EXPECT_EQ(doca_mmap_get_user_data(mmap, &found), DOCA_SUCCESS);
    EXPECT_EQ(found.u64, 0xfeedfaceu);
    std::uint8_t from_export = 0;
    EXPECT_EQ(doca_mmap_get_from_export(mmap, &from_export), DOCA_SUCCESS);
    EXPECT_EQ(from_export, 1);
}

TEST_P(ExportTest, DescriptorFitsIn256BytesAndMayBeLongerThanItIs)
{
    const RemoteMemory remote(exporter, {});
    EXPECT_LE(remote.descriptor().size(), 256u);
    std::vector<std::byte> padded(256, std::byte{0xa5});
    std::ranges::copy(remote.descriptor(), padded.begin());
    const DevHandle dev = open_device(importer);
    MmapHandle mmap;
    EXPECT_EQ(doca_mmap_create_from_export(nullptr, padded.data(), padded.size(), dev, mmap.out()), DOCA_SUCCESS);
}

TEST_P(ExportTest, RepeatedExportGivesTheSameDescriptor)
{
    const DevHandle dev = open_device(exporter);
    std::vector<std::byte> memory(4096);
    const LocalMap map(dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
    const void *first = nullptr, *second = nullptr;
    std::size_t first_size = 0, second_size = 0;
    std::uint8_t is_exported = 1;
    EXPECT_EQ(doca_mmap_get_exported(map, &is_exported), DOCA_SUCCESS);
    EXPECT_EQ(is_exported, 0);
    ASSERT_EQ(doca_mmap_export_dpu(map, dev, &first, &first_size), DOCA_SUCCESS);
    ASSERT_EQ(doca_mmap_export_dpu(map, dev, &second, &second_size), DOCA_SUCCESS);
    EXPECT_EQ(first, second);
    EXPECT_EQ(first_size, second_size);
    EXPECT_EQ(doca_mmap_get_exported(map, &is_exported), DOCA_SUCCESS);
    EXPECT_EQ(is_exported, 1);
}

TEST_P(ExportTest, NeedsAPermissionOfTheDpu)
{
    const RemoteMemory remote(exporter, {.access = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_WRITE});
    EXPECT_EQ(remote.status(), DOCA_ERROR_NOT_PERMITTED);
}

TEST_P(ExportTest, ReadOnlyExportIsReadAndNotWritten)
{
    for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::memfd}) {
        RemoteMemory remote(exporter, {.kind = kind, .access = read_only});
        ASSERT_EQ(remote.status(), DOCA_SUCCESS);
        Importing here(importer, remote.size());
        const MmapHandle mmap = remote.import(here.dev);
        {
            const BufHandle dst = here.inventory.empty(mmap, remote.addr(), remote.size());
            const LogCapture log;
            EXPECT_EQ(here.engine.submit(dst, here.own_source(0, remote.size())), DOCA_ERROR_NOT_PERMITTED);
            EXPECT_LOGGED(log, "permissions");
            EXPECT_EQ(data_len_of(dst), 0u);
            doca_event event{};
            EXPECT_EQ(here.engine.retrieve(event), DOCA_ERROR_AGAIN);
        }
        EXPECT_TRUE(remote.has(1));
        const BufHandle src = here.inventory.full(mmap, remote.addr(), remote.size());
        EXPECT_EQ(here.engine.copy(here.own_destination(0, remote.size()), src), DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(here.memory, 1));
    }
}

TEST_P(ExportTest, ReadOnlyElementInTheMiddleOfADestinationListRefusesTheJob)
{
    RemoteMemory remote(exporter, {.access = read_only});
    Importing here(importer, 2 * remote.size());
    const MmapHandle mmap = remote.import(here.dev);
    fill(here.memory, 5);
    BufHandle dst = here.own_destination(0, 10);
    ASSERT_EQ(doca_buf_list_chain(dst, here.inventory.empty(mmap, remote.addr(), 10).release()), DOCA_SUCCESS);
    EXPECT_EQ(here.engine.submit(dst, here.own_source(100, 20)), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_TRUE(is_filled(here.memory, 5));
    EXPECT_TRUE(remote.has(1));
}

TEST_P(ExportTest, BuffersOutsideTheRangeAreRefused)
{
    const RemoteMemory remote(exporter, {.size = 1000});
    const Importing here(importer, 16);
    const MmapHandle mmap = remote.import(here.dev);
    doca_buf *buf = untouched<doca_buf>();
    EXPECT_EQ(doca_buf_inventory_buf_by_args(here.inventory, mmap, remote.addr(), 1001, remote.addr(), 0, &buf),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_inventory_buf_by_args(here.inventory, mmap, remote.addr() - 1, 1, remote.addr() - 1, 0, &buf),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(buf, untouched<doca_buf>());
}

TEST_P(ExportTest, ImportIsNeitherConfiguredNorExported)
{
    const RemoteMemory remote(exporter, {});
    const DevHandle dev = open_device(importer);
    const MmapHandle mmap = remote.import(dev);
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_set_permissions(mmap, DOCA_ACCESS_DPU_READ_WRITE), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_dev_add(mmap, dev), DOCA_ERROR_NOT_PERMITTED);
    const DevHandle exporting = open_device(exporter);
    const void *descriptor = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(doca_mmap_export_dpu(mmap, exporting, &descriptor, &size), DOCA_ERROR_NOT_PERMITTED);
}

TEST_P(ExportTest, ImportIsOfOneDeviceAndTheLogNamesBoth)
{
    const std::vector<DeviceParam> others =
        devices_that([&](doca_devinfo *info) { return can_copy(info) && ibdev_of(info) != importer.ibdev; });
    if (others.empty())
        GTEST_SKIP() << "takes two devices";
    const RemoteMemory remote(exporter, {});
    const Importing here(importer, 16), elsewhere(others.front(), 16);
    const MmapHandle mmap = remote.import(here.dev);
    const BufHandle src = elsewhere.inventory.full(mmap, remote.addr(), 16);
    const BufHandle dst = elsewhere.own_destination(0, 16);
    const LogCapture log;
    EXPECT_EQ(elsewhere.engine.submit(dst, src), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "was imported by device ");
    EXPECT_LOGGED(log, " needs an import of its own");
    for (const DeviceParam &named : {importer, others.front()}) {
        if (named.is_soft()) {
            EXPECT_LOGGED(log, "device " + named.ibdev.substr(5));
        }
    }
    EXPECT_FALSE(log.has("was not added")) << log.text();
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExportTest);
INSTANTIATE_TEST_SUITE_P(pair, ExportTest, testing::ValuesIn(suite_pairs(device_pairs())), pair_name);

class WrongPortTest : public testing::TestWithParam<DevicePair> {};

TEST_P(WrongPortTest, IsNotPermittedAndTheLogNamesBothFunctions)
{
    const auto &[exporter, importer] = GetParam();
    const RemoteMemory remote(exporter, {});
    const DevHandle dev = open_device(importer);
    doca_mmap *mmap = untouched<doca_mmap>();
    const LogCapture log;
    EXPECT_EQ(remote.import(dev, &mmap), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(mmap, untouched<doca_mmap>());
    EXPECT_LOGGED(log, exporter.pci);
    EXPECT_LOGGED(log, importer.pci);
    EXPECT_LOGGED(log, "not behind");
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WrongPortTest);
INSTANTIATE_TEST_SUITE_P(pair, WrongPortTest, testing::ValuesIn(suite_pairs(device_pairs(false))), pair_name);

bool cannot_import(doca_devinfo *info)
{
    return !can_import(info);
}

class NoImportTest : public DeviceTest {};

TEST_P(NoImportTest, IsNotSupported)
{
    for (const DevicePair &pair : few_device_pairs()) {
        const RemoteMemory remote(pair.exporter, {});
        doca_mmap *mmap = untouched<doca_mmap>();
        const LogCapture log;
        EXPECT_EQ(remote.import(dev, &mmap), DOCA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(mmap, untouched<doca_mmap>());
        EXPECT_LOGGED(log, "cannot import");
    }
}

INSTANTIATE_FOR_DEVICES(NoImportTest, cannot_import);

bool cannot_export(doca_devinfo *info)
{
    return !can_export(info);
}

class NoExportTest : public DeviceTest {};

TEST_P(NoExportTest, IsNotSupported)
{
    std::vector<std::byte> memory(64);
    const LocalMap map(dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
    const void *descriptor = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(doca_mmap_export_dpu(map, dev, &descriptor, &size), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(descriptor, nullptr);
}

INSTANTIATE_FOR_DEVICES(NoExportTest, cannot_export);

using KindParam = std::tuple<DevicePair, MemoryKind>;

/// Every kind of memory, seen from the other side.
class ExportKindTest : public testing::TestWithParam<KindParam> {
protected:
    void SetUp() override
    {
        if (!Memory::is_available(kind))
            GTEST_SKIP() << "no huge pages are set aside on this machine";
    }

    void copy_both_ways(std::size_t lead) const;

    const DeviceParam &exporter = std::get<0>(GetParam()).exporter;
    const DeviceParam &importer = std::get<0>(GetParam()).importer;
    const MemoryKind kind = std::get<1>(GetParam());
};

void ExportKindTest::copy_both_ways(std::size_t lead) const
{
    constexpr std::size_t size = 100'003;
    RemoteMemory remote(exporter, {.kind = kind, .size = size, .lead = lead});
    ASSERT_EQ(remote.status(), DOCA_SUCCESS);
    Importing here(importer, size);
    const MmapHandle mmap = remote.import(here.dev);
    const auto remote_source = [&](std::size_t offset, std::size_t len) {
        return here.inventory.full(mmap, remote.addr() + offset, len);
    };
    const auto remote_destination = [&](std::size_t offset, std::size_t len) {
        return here.inventory.empty(mmap, remote.addr() + offset, len);
    };

    BufHandle dst = here.own_destination(0, size);
    EXPECT_EQ(here.engine.copy(dst, remote_source(0, size)), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(dst), size);
    EXPECT_TRUE(is_filled(here.memory, 1));

    // A part in the middle, and nothing beside it.
    fill(here.memory, 2);
    dst = remote_destination(13, 4099);
    EXPECT_EQ(here.engine.copy(dst, here.own_source(13, 4099)), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(dst), 4099u);
    EXPECT_TRUE(remote.has(1, 0, 13));
    EXPECT_TRUE(remote.has(2, 13, 4099, 13));
    EXPECT_TRUE(remote.has(1, 4112, size - 4112, 4112));

    // What the exporter writes later is seen, too.
    remote.fill(3);
    EXPECT_EQ(here.engine.copy(here.own_destination(100, 50'000), remote_source(49'000, 50'000)), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(here.own(0, 100), 2));
    EXPECT_TRUE(is_filled(here.own(100, 50'000), 3, 49'000));
    EXPECT_TRUE(is_filled(here.own(50'100, size - 50'100), 2, 50'100));
    EXPECT_EQ(remote.process().finish(), 0);
}

TEST_P(ExportKindTest, IsCopiedBothWays)
{
    copy_both_ways(0);
}

TEST_P(ExportKindTest, IsCopiedBothWaysUnaligned)
{
    copy_both_ways(4096 + 777);
}

std::string kind_name(const testing::TestParamInfo<KindParam> &info)
{
    const auto &[pair, kind] = info.param;
    return as_test_name(pair.exporter.ibdev + "_to_" + pair.importer.ibdev + "_" + name_of(kind));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExportKindTest);
INSTANTIATE_TEST_SUITE_P(kind, ExportKindTest,
                         testing::Combine(testing::ValuesIn(few_device_pairs()), testing::ValuesIn(all_memory_kinds)),
                         kind_name);

/// Tests that need one pair of devices only.
class ExportCopyTest : public ExportTest {};

TEST_P(ExportCopyTest, EverySizeAroundAChangeOfMethod)
{
    constexpr std::size_t mib = std::size_t{1} << 20;
    std::vector<std::size_t> sizes = {0, 1, 2047, 2048, 16384, 16385, 65536, 65537, mib + 1, 8 * mib, 8 * mib + 1};
    if (!is_sanitized)
        sizes.push_back(20 * mib + 5);
    const std::size_t largest = sizes.back();
    for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::memfd}) {
        RemoteMemory remote(exporter, {.kind = kind, .size = largest});
        Importing here(importer, largest + 1);
        const MmapHandle mmap = remote.import(here.dev);
        for (const std::size_t size : sizes) {
            SCOPED_TRACE(std::string(name_of(kind)) + ", " + std::to_string(size) + " bytes");
            // From the end, so that what was copied before is elsewhere.
            const std::size_t offset = largest - size;
            const BufHandle src = here.inventory.with(mmap, remote.addr(), largest, remote.addr() + offset, size);
            std::fill(here.memory.begin(), here.memory.begin() + static_cast<std::ptrdiff_t>(size), std::byte{});
            ASSERT_EQ(here.engine.copy(here.own_destination(0, size + 1), src), DOCA_SUCCESS);
            ASSERT_TRUE(is_filled(here.own(0, size), 1, offset));
        }
        fill(here.memory, 7);
        const BufHandle dst = here.inventory.empty(mmap, remote.addr(), largest);
        ASSERT_EQ(here.engine.copy(dst, here.own_source(0, largest)), DOCA_SUCCESS);
        ASSERT_TRUE(remote.has(7));
    }
}

/// Memory of two kinds: a copy between two exporters may have to go through the importer.
TEST_P(ExportCopyTest, BetweenTwoExporters)
{
    constexpr std::size_t size = 300'001;
    for (const MemoryKind src_kind : {MemoryKind::heap, MemoryKind::memfd}) {
        for (const MemoryKind dst_kind : {MemoryKind::heap, MemoryKind::memfd}) {
            SCOPED_TRACE(std::string(name_of(src_kind)) + " to " + name_of(dst_kind));
            const RemoteMemory src_memory(exporter, {.kind = src_kind, .size = size, .lead = 5, .seed = 3});
            RemoteMemory dst_memory(exporter, {.kind = dst_kind, .size = size, .lead = 9, .seed = 4});
            const Importing here(importer, 16);
            const MmapHandle src_map = src_memory.import(here.dev);
            const MmapHandle dst_map = dst_memory.import(here.dev);
            const BufHandle src = here.inventory.full(src_map, src_memory.addr() + 1, size - 1);
            const BufHandle dst = here.inventory.empty(dst_map, dst_memory.addr(), size - 1);
            ASSERT_EQ(here.engine.copy(dst, src), DOCA_SUCCESS);
            EXPECT_TRUE(dst_memory.has(3, 0, size - 1, 1));
            EXPECT_TRUE(dst_memory.has(4, size - 1, 1, size - 1));
        }
    }
}

TEST_P(ExportCopyTest, WithinOneExporter)
{
    constexpr std::size_t half = 150'000;
    for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::memfd}) {
        RemoteMemory remote(exporter, {.kind = kind, .size = 2 * half, .lead = 1});
        const Importing here(importer, 16);
        const MmapHandle mmap = remote.import(here.dev);
        const MmapHandle again = remote.import(here.dev);
        const BufHandle src = here.inventory.full(mmap, remote.addr() + half, half);
        ASSERT_EQ(here.engine.copy(here.inventory.empty(again, remote.addr(), half), src), DOCA_SUCCESS);
        EXPECT_TRUE(remote.has(1, 0, half, half)) << name_of(kind);
        EXPECT_TRUE(remote.has(1, half, half, half)) << name_of(kind);
    }
}

/// Lists whose elements are here, in ordinary memory of one process and in shared memory of another.
TEST_P(ExportCopyTest, ListsOverThreeProcesses)
{
    constexpr std::size_t size = 200'000;
    RemoteMemory a(exporter, {.kind = MemoryKind::heap, .size = size, .seed = 11});
    RemoteMemory b(exporter, {.kind = MemoryKind::memfd, .size = size, .seed = 12});
    Importing here(importer, size);
    fill(here.memory, 13);
    const MmapHandle map_a = a.import(here.dev);
    const MmapHandle map_b = b.import(here.dev);

    // 1,000 + 30,000 + 70,000 bytes ...
    const BufHandle src = here.own_source(0, 1'000);
    ASSERT_EQ(doca_buf_list_chain(src, here.inventory.full(map_a, a.addr() + 10, 30'000).release()), DOCA_SUCCESS);
    ASSERT_EQ(doca_buf_list_chain(src, here.inventory.full(map_b, b.addr() + 5, 70'000).release()), DOCA_SUCCESS);
    // ... into 60,000 + 500 + 41,000, of which the last 500 stay free.
    const BufHandle dst = here.inventory.empty(map_b, b.addr() + 100'000, 60'000);
    ASSERT_EQ(doca_buf_list_chain(dst, here.own_destination(150'000, 500).release()), DOCA_SUCCESS);
    ASSERT_EQ(doca_buf_list_chain(dst, here.inventory.empty(map_a, a.addr() + 100'000, 41'000).release()),
              DOCA_SUCCESS);
    ASSERT_EQ(here.engine.copy(dst, src), DOCA_SUCCESS);

    EXPECT_TRUE(b.has(13, 100'000, 1'000, 0));
    EXPECT_TRUE(b.has(11, 101'000, 30'000, 10));
    EXPECT_TRUE(b.has(12, 131'000, 29'000, 5));
    EXPECT_TRUE(b.has(12, 160'000, 40'000, 160'000)) << "beyond the element";
    EXPECT_TRUE(is_filled(here.own(150'000, 500), 12, 29'005));
    EXPECT_TRUE(is_filled(here.own(150'500, 1'000), 13, 150'500)) << "beyond the element";
    EXPECT_TRUE(a.has(12, 100'000, 40'500, 29'505));
    EXPECT_TRUE(a.has(11, 140'500, 500, 140'500)) << "what was left free";

    std::vector<std::size_t> lengths;
    for (doca_buf *buf = dst; buf != nullptr; must(doca_buf_list_next(buf, &buf)))
        lengths.push_back(data_len_of(buf));
    EXPECT_EQ(lengths, (std::vector<std::size_t>{60'000, 500, 40'500}));
}

TEST_P(ExportCopyTest, SeveralImportsOfOneExportLiveOnTheirOwn)
{
    RemoteMemory remote(exporter, {.kind = MemoryKind::memfd});
    const Importing here(importer, remote.size());
    const MmapHandle kept = remote.import(here.dev);
    for (int i = 0; i < 10; ++i)
        (void)remote.import(here.dev);
    const BufHandle src = here.inventory.full(kept, remote.addr(), remote.size());
    EXPECT_EQ(here.engine.copy(here.own_destination(0, remote.size()), src), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(here.memory, 1));
}

/// A destination without tailroom counts as empty, however often.
TEST_P(ExportCopyTest, FullDestinationIsOverwritten)
{
    constexpr std::size_t size = 4096;
    constexpr std::size_t less = 1000;
    for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::memfd}) {
        SCOPED_TRACE(name_of(kind));
        RemoteMemory remote(exporter, {.kind = kind, .size = size});
        Importing here(importer, size);
        const MmapHandle mmap = remote.import(here.dev);
        const BufHandle own = here.own_destination(0, size);
        const BufHandle there = here.inventory.full(mmap, remote.addr(), size);
        const BufHandle part = here.inventory.with(mmap, remote.addr(), size, remote.addr() + 7, less);
        for (std::uint32_t i = 0; i < 3; ++i) {
            remote.fill(10 + i);
            ASSERT_EQ(here.engine.copy(own, there), DOCA_SUCCESS);
            EXPECT_EQ(data_len_of(own), size);
            EXPECT_TRUE(is_filled(here.memory, 10 + i));
            fill(here.memory, 20 + i);
            ASSERT_EQ(here.engine.copy(there, own), DOCA_SUCCESS);
            EXPECT_EQ(data_len_of(there), size);
            EXPECT_TRUE(remote.has(20 + i));
        }
        remote.fill(30);
        ASSERT_EQ(here.engine.copy(own, part), DOCA_SUCCESS);
        EXPECT_EQ(data_len_of(own), less) << "a shorter source leaves less";
        EXPECT_TRUE(is_filled(here.own(0, less), 30, 7));
        EXPECT_TRUE(is_filled(here.own(less, size - less), 22, less));
        ASSERT_EQ(here.engine.copy(own, part), DOCA_SUCCESS);
        EXPECT_EQ(data_len_of(own), 2 * less) << "and there is tailroom again";
        EXPECT_TRUE(is_filled(here.own(less, less), 30, 7));
        EXPECT_EQ(here.engine.copy(own, there), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(data_len_of(own), 2 * less);
    }
}

/// Whatever a work queue remembers of an import must not outlive it, nor be taken for another one's.
TEST_P(ExportCopyTest, ManyImportsInTurnAndAgain)
{
    constexpr std::uint32_t count = 12;
    constexpr std::size_t size = 4096;
    for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::memfd}) {
        std::vector<std::unique_ptr<RemoteMemory>> remotes;
        for (std::uint32_t i = 0; i < count; ++i)
            remotes.push_back(std::make_unique<RemoteMemory>(
                exporter, RemoteMemory::Options{.kind = kind, .size = size, .seed = 100 + i}));
        Importing here(importer, size);
        for (std::uint32_t round = 0; round < 3; ++round) {
            std::vector<MmapHandle> maps; // new ones each time, where the old ones were
            for (const auto &remote : remotes)
                maps.push_back(remote->import(here.dev));
            for (std::uint32_t i = 0; i < 3 * count; ++i) {
                SCOPED_TRACE(std::string(name_of(kind)) + ", round " + std::to_string(round) + ", copy " +
                             std::to_string(i));
                const std::uint32_t at = i * 5 % count;
                RemoteMemory &remote = *remotes[at];
                const BufHandle src = here.inventory.full(maps[at], remote.addr(), size);
                ASSERT_EQ(here.engine.copy(here.own_destination(0, size), src), DOCA_SUCCESS);
                ASSERT_TRUE(is_filled(here.memory, 100 + at));
                const BufHandle dst = here.inventory.empty(maps[at], remote.addr(), size);
                ASSERT_EQ(here.engine.copy(dst, here.own_source(0, size)), DOCA_SUCCESS);
                ASSERT_TRUE(remote.has(100 + at));
            }
        }
        ASSERT_EQ(remotes[3]->stop(), DOCA_SUCCESS);
        const MmapHandle living = remotes[4]->import(here.dev);
        const BufHandle src = here.inventory.full(living, remotes[4]->addr(), size);
        EXPECT_EQ(here.engine.copy(here.own_destination(0, size), src), DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(here.memory, 104));
    }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExportCopyTest);
INSTANTIATE_TEST_SUITE_P(pair, ExportCopyTest, testing::ValuesIn(few_device_pairs()), pair_name);

} // namespace
