// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Host memory that the DPU copies, on a card that can do that: this process is on the DPU's side. And that nobody gets
// at memory that was not exported to him, or not any more.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../../src/core/device/descriptor.hpp"
#include "../../src/core/device/mlx5/memory_descriptor.hpp"
#include "card.hpp"

namespace {

using namespace mlx5_test;
using opendoca::DescriptorKind;
using opendoca::mlx5::SharedMemoryDescriptor;

/// On both of the DPU's functions: the one that manages the e-switch has no address in the network.
class AcrossPcie : public DeviceTest {
protected:
    [[nodiscard]] static SharedMemoryDescriptor parse(std::span<const std::byte> bytes)
    {
        SharedMemoryDescriptor d{};
        must_hold(opendoca::from_bytes(bytes, DescriptorKind::mlx5_memory, d) ==
                      opendoca::DescriptorReader::Fault::none,
                  "a descriptor of an mlx5 device");
        return d;
    }
    [[nodiscard]] doca_error_t import(const SharedMemoryDescriptor &d, MmapHandle &mmap)
    {
        const std::vector<std::byte> bytes = opendoca::to_bytes(DescriptorKind::mlx5_memory, d);
        return doca_mmap_create_from_export(nullptr, bytes.data(), bytes.size(), dev, mmap.out());
    }
    [[nodiscard]] doca_error_t import(const SharedMemoryDescriptor &d)
    {
        MmapHandle mmap;
        return import(d, mmap);
    }
    /// Between all of the own memory and that of the host.
    [[nodiscard]] doca_error_t fetch(doca_mmap *host, std::byte *addr, std::size_t length)
    {
        const BufHandle src = inventory.full(host, addr, length), dst = inventory.empty(own_map, own.data(), length);
        return engine.copy(dst, src);
    }
    [[nodiscard]] doca_error_t put(doca_mmap *host, std::byte *addr, std::size_t length)
    {
        const BufHandle src = inventory.full(own_map, own.data(), length), dst = inventory.empty(host, addr, length);
        return engine.copy(dst, src);
    }
    /// The engine still works.
    void expect_local_copy()
    {
        fill(std::span(own).first(size), 77);
        const BufHandle src = inventory.full(own_map, own.data(), size),
                        dst = inventory.empty(own_map, own.data() + size, size);
        EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(std::span(own).subspan(size, size), 77));
    }

    static constexpr std::size_t size = 10000;
    std::vector<std::byte> own = std::vector<std::byte>(std::size_t{1} << 20);
    LocalMap own_map{dev, own};
    Inventory inventory{64};
    DmaEngine engine{dev};
};

INSTANTIATE_FOR_EVERY_DEVICE(AcrossPcie, exists);

TEST_P(AcrossPcie, BytesGoBothWaysByTheEngineThroughAnAlias)
{
    const auto host = host_memory({.size = size, .lead = 13, .seed = 5});
    ASSERT_EQ(host->status(), DOCA_SUCCESS);
    EXPECT_LE(host->descriptor().size(), 256u);
    const MmapHandle imported = host->import(dev);
    const std::uint64_t copies = dma_copies(), uses = card_count("alias-uses");
    EXPECT_EQ(fetch(imported, host->addr(), size), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(own).first(size), 5));
    fill(std::span(own).first(size), 6);
    EXPECT_EQ(put(imported, host->addr(), size), DOCA_SUCCESS);
    EXPECT_TRUE(host->has(6));
    EXPECT_EQ(dma_copies(), copies + 2);
    EXPECT_EQ(card_count("alias-uses"), uses + 2);
}

TEST_P(AcrossPcie, ListsAreCutIntoRequestsOfOneSegmentASide)
{
    const auto host = host_memory({.size = size, .seed = 8});
    const MmapHandle imported = host->import(dev);
    const std::uint64_t copies = dma_copies();
    const BufHandle src = inventory.full(imported, host->addr(), 3000),
                    src_2 = inventory.full(imported, host->addr() + 3000, 1000),
                    dst = inventory.empty(own_map, own.data(), 500),
                    dst_2 = inventory.empty(own_map, own.data() + 500, 5000);
    must(doca_buf_list_chain(src, src_2));
    must(doca_buf_list_chain(dst, dst_2));
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(own).first(4000), 8));
    EXPECT_EQ(dma_copies(), copies + 3) << "0 to 500, to 3000, to 4000";
    EXPECT_EQ(data_len_of(dst_2), 3500u);
    must(doca_buf_list_unchain(src, src_2));
    must(doca_buf_list_unchain(dst, dst_2));
}

TEST_P(AcrossPcie, WhatIsExportedToBeReadIsNotWritten)
{
    const auto host =
        host_memory({.size = size, .access = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_ONLY, .seed = 3});
    const MmapHandle imported = host->import(dev);
    EXPECT_EQ(fetch(imported, host->addr(), size), DOCA_SUCCESS);
    const BufHandle src = inventory.full(own_map, own.data(), size),
                    dst = inventory.empty(imported, host->addr(), size);
    EXPECT_EQ(engine.submit(dst, src, 1), DOCA_ERROR_NOT_PERMITTED) << "before the card is asked";
    // A descriptor that lies about it: then the card is who refuses.
    SharedMemoryDescriptor d = parse(host->descriptor());
    d.access = DOCA_ACCESS_DPU_READ_WRITE;
    MmapHandle forged;
    ASSERT_EQ(import(d, forged), DOCA_SUCCESS);
    fill(std::span(own).first(size), 4);
    EXPECT_EQ(put(forged, host->addr(), size), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_TRUE(host->has(3));
    expect_local_copy();
}

TEST_P(AcrossPcie, AWrongAccessKeyIsRefused)
{
    const auto host = host_memory({.size = size});
    const SharedMemoryDescriptor right = parse(host->descriptor());
    for (const std::size_t byte : {std::size_t{0}, std::size_t{15}, std::size_t{31}}) {
        SharedMemoryDescriptor d = right;
        d.access_key[byte] ^= 1;
        EXPECT_EQ(import(d), DOCA_ERROR_INVALID_VALUE) << byte;
    }
    SharedMemoryDescriptor other_key = right, other_function = right;
    ++other_key.key_index;
    ++other_function.vhca_id;
    EXPECT_EQ(import(other_key), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(import(other_function), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(import(right), DOCA_SUCCESS);
}

TEST_P(AcrossPcie, EachExportHasAnAccessKeyOfItsOwn)
{
    const auto one = host_memory({.size = size}), other = host_memory({.size = size});
    const SharedMemoryDescriptor a = parse(one->descriptor()), b = parse(other->descriptor());
    EXPECT_FALSE(std::ranges::equal(a.access_key, b.access_key));
    EXPECT_FALSE(std::ranges::all_of(a.access_key, [](std::uint8_t byte) { return byte == 0; }));
}

TEST_P(AcrossPcie, AnotherCardIsRefused)
{
    const auto host = host_memory({.size = size});
    SharedMemoryDescriptor d = parse(host->descriptor());
    d.card_guid ^= 0x100;
    EXPECT_EQ(import(d), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(AcrossPcie, FieldsThatMakeNoSenseAreRefused)
{
    const auto host = host_memory({.size = size});
    const SharedMemoryDescriptor right = parse(host->descriptor());
    const auto with = [&](auto change) {
        SharedMemoryDescriptor d = right;
        change(d);
        return import(d);
    };
    EXPECT_EQ(with([](auto &d) { d.addr = 0; }), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with([](auto &d) { d.len = 0; }), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with([](auto &d) { d.len = ~std::uint64_t{0}; }), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with([](auto &d) { d.access = 0; }), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with([](auto &d) { d.access = DOCA_ACCESS_RDMA_READ; }), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with([](auto &d) { d.key_index = 0x1000000; }), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(AcrossPcie, EveryFlippedByteAndEveryTruncationIsRefused)
{
    const auto host = host_memory({.size = size});
    std::vector<std::byte> bytes(host->descriptor().begin(), host->descriptor().end());
    const auto import_bytes = [&](std::size_t count) {
        MmapHandle mmap;
        return doca_mmap_create_from_export(nullptr, bytes.data(), count, dev, mmap.out());
    };
    for (std::byte &byte : bytes) {
        byte ^= std::byte{0x40};
        EXPECT_EQ(import_bytes(bytes.size()), DOCA_ERROR_INVALID_VALUE) << "byte " << &byte - bytes.data();
        byte ^= std::byte{0x40};
    }
    for (std::size_t count = 1; count < bytes.size(); ++count)
        EXPECT_EQ(import_bytes(count), DOCA_ERROR_INVALID_VALUE) << count << " bytes";
    EXPECT_EQ(import_bytes(bytes.size()), DOCA_SUCCESS);
}

TEST_P(AcrossPcie, ARangeBeyondTheExportIsRefusedByTheCard)
{
    const auto host = host_memory({.size = size, .seed = 9});
    SharedMemoryDescriptor d = parse(host->descriptor());
    d.addr -= 16;
    d.len += 32;
    MmapHandle forged;
    ASSERT_EQ(import(d, forged), DOCA_SUCCESS) << "of the length only the card knows";
    EXPECT_EQ(fetch(forged, host->addr() + 1, size), DOCA_ERROR_NOT_PERMITTED) << "the last byte is beyond";
    EXPECT_EQ(fetch(forged, host->addr() - 1, size), DOCA_ERROR_NOT_PERMITTED) << "the first one is before";
    EXPECT_EQ(put(forged, host->addr() + 1, size), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_TRUE(host->has(9));
    EXPECT_EQ(fetch(forged, host->addr(), size), DOCA_SUCCESS);
}

TEST_P(AcrossPcie, AStoppedExportIsRevoked)
{
    const auto host = host_memory({.size = size, .seed = 2});
    const MmapHandle imported = host->import(dev);
    ASSERT_EQ(fetch(imported, host->addr(), size), DOCA_SUCCESS);
    host->begin_stop(50);
    const RemoteMemory::StopReply stopped = host->end_stop();
    EXPECT_EQ(stopped.status, DOCA_SUCCESS);
    EXPECT_EQ(fetch(imported, host->addr(), size), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(put(imported, host->addr(), size), DOCA_ERROR_NOT_PERMITTED);
    MmapHandle again;
    EXPECT_EQ(host->import(dev, again.out()), DOCA_ERROR_INVALID_VALUE);
    expect_local_copy();
    // A new export is not the old one's.
    ASSERT_EQ(host->export_again(), DOCA_SUCCESS);
    EXPECT_EQ(fetch(imported, host->addr(), size), DOCA_ERROR_NOT_PERMITTED);
    const MmapHandle fresh = host->import(dev);
    EXPECT_EQ(fetch(fresh, host->addr(), size), DOCA_SUCCESS);
}

TEST_P(AcrossPcie, NothingIsWrittenAfterAStopWhileCopiesRun)
{
    constexpr std::size_t large = std::size_t{1} << 20;
    constexpr std::uint32_t at_once = 16;
    for (int round = 0; round < 5; ++round) {
        const auto host = host_memory({.size = large});
        const MmapHandle imported = host->import(dev);
        std::vector<BufHandle> bufs;
        for (std::uint32_t i = 0; i < at_once; ++i) {
            bufs.push_back(inventory.full(own_map, own.data(), large));
            bufs.push_back(inventory.empty(imported, host->addr(), large));
            ASSERT_EQ(engine.submit(bufs[2 * i + 1], bufs[2 * i], i), DOCA_SUCCESS);
        }
        host->begin_stop(99);
        std::uint32_t refused = 0;
        for (std::uint32_t i = 0; i < at_once; ++i) {
            doca_event event = {};
            (void)wait_for(engine.workq(), event);
            refused += event.result.u64 == DOCA_ERROR_NOT_PERMITTED ? 1 : 0;
            EXPECT_TRUE(event.result.u64 == DOCA_SUCCESS || event.result.u64 == DOCA_ERROR_NOT_PERMITTED)
                << event.result.u64;
        }
        const RemoteMemory::StopReply stopped = host->end_stop();
        EXPECT_EQ(stopped.status, DOCA_SUCCESS);
        EXPECT_FALSE(stopped.was_changed_after);
        RecordProperty("refused", static_cast<int>(refused));
    }
    expect_local_copy();
}

TEST_P(AcrossPcie, AnExporterThatDiesTakesItsMemoryWithIt)
{
    const auto host = host_memory({.size = size});
    const MmapHandle imported = host->import(dev);
    host->process().kill();
    host->process().wait_for_end();
    // Until the card has seen the end of its files, the memory is gone and the key is not.
    doca_error_t status = DOCA_SUCCESS;
    for (int i = 0; i < 1000 && (status = fetch(imported, host->addr(), size)) == DOCA_SUCCESS; ++i)
        ;
    EXPECT_NE(status, DOCA_SUCCESS);
    MmapHandle again;
    EXPECT_NE(host->import(dev, again.out()), DOCA_SUCCESS);
    expect_local_copy();
}

} // namespace
