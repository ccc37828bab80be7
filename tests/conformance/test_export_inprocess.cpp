// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Both ends of an export in one process, as programs have it that play host and DPU at once; and with
// threads, for the thread sanitizer.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "support/child_process.hpp"
#include "support/dma_fixture.hpp"
#include "support/process_traits.hpp"
#include "support/sanitizers.hpp"

namespace {

using namespace doca_test;

constexpr std::uint32_t access_rights = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE;

std::vector<std::byte> export_map(doca_mmap *map, doca_dev *dev)
{
    const void *descriptor = nullptr;
    std::size_t size = 0;
    must(doca_mmap_export_dpu(map, dev, &descriptor, &size));
    const auto *const bytes = static_cast<const std::byte *>(descriptor);
    return {bytes, bytes + size};
}

doca_error_t import_map(std::span<const std::byte> descriptor, doca_dev *dev, MmapHandle &mmap)
{
    return doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev, mmap.out());
}

class InProcessTest : public testing::TestWithParam<DevicePair> {
protected:
    DevHandle exporting = open_device(GetParam().exporter);
    DevHandle importing = open_device(GetParam().importer);
};

TEST_P(InProcessTest, CopiesBothWays)
{
    for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::memfd, MemoryKind::memfd_closed}) {
        SCOPED_TRACE(name_of(kind));
        constexpr std::size_t size = 100'000;
        const Memory memory(kind, size, 100);
        fill(memory.bytes(), 1);
        const LocalMap exported(exporting, memory.bytes(), access_rights);
        MmapHandle imported;
        ASSERT_EQ(import_map(export_map(exported, exporting), importing, imported), DOCA_SUCCESS);
        std::vector<std::byte> own(size);
        const LocalMap own_map(importing, own);
        const Inventory inventory(8);
        const DmaEngine engine(importing);
        EXPECT_EQ(
            engine.copy(inventory.empty(own_map, own.data(), size), inventory.full(imported, memory.data(), size)),
            DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(own, 1));
        fill(own, 2);
        EXPECT_EQ(
            engine.copy(inventory.empty(imported, memory.data(), size), inventory.full(own_map, own.data(), size)),
            DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(memory.bytes(), 2));
    }
}

/// The exporter's buffers are as good as the importer's, for its own device.
TEST_P(InProcessTest, OneMapForBothDevices)
{
    std::vector<std::byte> memory(8192);
    fill(memory, 1);
    const LocalMap map({exporting, importing}, memory, access_rights);
    MmapHandle imported;
    ASSERT_EQ(import_map(export_map(map, exporting), importing, imported), DOCA_SUCCESS);
    const Inventory inventory(4);
    const DmaEngine engine(importing);
    EXPECT_EQ(
        engine.copy(inventory.empty(map, memory.data() + 4096, 4096), inventory.full(imported, memory.data(), 4096)),
        DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(memory).last(4096), 1));
}

TEST_P(InProcessTest, StopRevokesAndANewExportWorks)
{
    std::vector<std::byte> memory(4096), own(4096);
    fill(memory, 1);
    const LocalMap exported(exporting, memory, access_rights);
    const LocalMap own_map(importing, own);
    const Inventory inventory(8);
    const DmaEngine engine(importing);
    const std::vector<std::byte> first = export_map(exported, exporting);
    MmapHandle old, fresh;
    ASSERT_EQ(import_map(first, importing, old), DOCA_SUCCESS);
    const BufHandle src = inventory.full(old, memory.data(), memory.size());
    const BufHandle dst = inventory.empty(own_map, own.data(), own.size());
    ASSERT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    ASSERT_EQ(doca_mmap_stop(exported), DOCA_SUCCESS);
    EXPECT_EQ(engine.copy(dst, src), DOCA_ERROR_NOT_PERMITTED);
    ASSERT_EQ(doca_mmap_start(exported), DOCA_SUCCESS);
    EXPECT_EQ(import_map(first, importing, fresh), DOCA_ERROR_INVALID_VALUE);
    const std::vector<std::byte> second = export_map(exported, exporting);
    EXPECT_NE(first, second);
    ASSERT_EQ(import_map(second, importing, fresh), DOCA_SUCCESS);
    EXPECT_EQ(engine.copy(dst, src), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(engine.copy(dst, inventory.full(fresh, memory.data(), memory.size())), DOCA_SUCCESS);
}

/// The descriptor of the day, for threads to import.
class Board {
public:
    void put(std::vector<std::byte> descriptor)
    {
        const std::lock_guard guard(lock_);
        descriptor_ = std::move(descriptor);
    }
    [[nodiscard]] std::vector<std::byte> get() const
    {
        const std::lock_guard guard(lock_);
        return descriptor_;
    }

private:
    mutable std::mutex lock_;
    std::vector<std::byte> descriptor_;
};

/// A thread that imports whatever is on the board, copies into it until that fails, and imports anew.
class Copier {
public:
    Copier(const Board &board, doca_dev *dev, std::byte *addr, std::size_t size)
        : thread_([this, &board, dev, addr, size] { run(board, dev, addr, size); })
    {
    }
    [[nodiscard]] std::uint64_t copies() const { return copies_.load(); }
    [[nodiscard]] std::uint64_t failures() const { return failures_.load(); }
    void end()
    {
        is_ending_ = true;
        thread_.join();
    }

private:
    void run(const Board &board, doca_dev *dev, std::byte *addr, std::size_t size)
    {
        std::vector<std::byte> own(size, std::byte{0xee});
        const LocalMap own_map(dev, own);
        const Inventory inventory(2);
        const DmaEngine engine(dev);
        const BufHandle src = inventory.full(own_map, own.data(), size);
        while (!is_ending_) {
            MmapHandle mmap;
            const doca_error_t status = import_map(board.get(), dev, mmap);
            if (status != DOCA_SUCCESS) {
                EXPECT_EQ(status, DOCA_ERROR_INVALID_VALUE); // stopped just now
                std::this_thread::yield();
                continue;
            }
            const BufHandle dst = inventory.empty(mmap, addr, size);
            doca_error_t result = DOCA_SUCCESS;
            while (!is_ending_ && result == DOCA_SUCCESS) {
                result = engine.copy(dst, src);
                copies_ += result == DOCA_SUCCESS;
            }
            if (result != DOCA_SUCCESS) {
                EXPECT_EQ(result, DOCA_ERROR_NOT_PERMITTED);
                ++failures_;
            }
        }
    }

    std::atomic<bool> is_ending_ = false;
    std::atomic<std::uint64_t> copies_ = 0;
    std::atomic<std::uint64_t> failures_ = 0;
    std::thread thread_; // the last: it uses the others
};

TEST_P(InProcessTest, ThreadsCopyWhileAnotherStopsAndExportsAnew)
{
    constexpr std::size_t size = 64 << 10;
    constexpr std::size_t num_threads = 3;
    std::vector<std::byte> memory(num_threads * size);
    const LocalMap exported(exporting, memory, access_rights);
    Board board;
    board.put(export_map(exported, exporting));
    std::vector<std::unique_ptr<Copier>> copiers;
    for (std::size_t i = 0; i < num_threads; ++i)
        copiers.push_back(std::make_unique<Copier>(board, importing, memory.data() + i * size, size));
    const auto wait_for_copies = [&] {
        for (const auto &copier : copiers) {
            const std::uint64_t before = copier->copies();
            while (copier->copies() == before)
                std::this_thread::yield();
        }
    };
    for (std::uint32_t round = 0; round < std::uint32_t{is_sanitized ? 10 : 20}; ++round) {
        wait_for_copies();
        ASSERT_EQ(doca_mmap_stop(exported), DOCA_SUCCESS);
        fill(memory, round); // the memory is ours alone now
        ASSERT_TRUE(is_filled(memory, round));
        std::this_thread::yield();
        ASSERT_TRUE(is_filled(memory, round)) << "written after the stop had returned";
        ASSERT_EQ(doca_mmap_start(exported), DOCA_SUCCESS);
        board.put(export_map(exported, exporting));
    }
    std::uint64_t failures = 0;
    for (const auto &copier : copiers) {
        copier->end();
        failures += copier->failures();
    }
    EXPECT_GT(failures, 0u) << "no import was ever revoked while it was used";
}

TEST_P(InProcessTest, MapsComeAndGoInSeveralThreadsAtOnce)
{
    std::vector<std::thread> threads;
    for (std::uint32_t number = 0; number < 3; ++number) {
        threads.emplace_back([&, number] {
            std::vector<std::byte> memory(8192), own(8192);
            const LocalMap own_map(importing, own);
            const Inventory inventory(4);
            const DmaEngine engine(importing);
            for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(times(200)); ++i) {
                const std::uint32_t seed = number * 1000 + i;
                fill(memory, seed);
                const LocalMap exported(exporting, memory, access_rights);
                MmapHandle imported;
                ASSERT_EQ(import_map(export_map(exported, exporting), importing, imported), DOCA_SUCCESS);
                const BufHandle src = inventory.full(imported, memory.data(), memory.size());
                ASSERT_EQ(engine.copy(inventory.empty(own_map, own.data(), own.size()), src), DOCA_SUCCESS);
                ASSERT_TRUE(is_filled(own, seed));
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
}

/// Exports and imports in a process whose main thread has ended, as of programs that leave main() by
/// pthread_exit().
void work_without_main_thread(Channel &parent)
{
    go_on_without_main_thread(parent, [](Channel &channel, const std::function<void()> &end_main) {
        end_main();
        const auto device = [&] {
            const std::vector<std::byte> name = channel.receive_bytes();
            return open_device(std::string(reinterpret_cast<const char *>(name.data()), name.size()));
        };
        const DevHandle from = device();
        const DevHandle to = device();
        for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::memfd}) {
            const Memory memory(kind, 4096);
            fill(memory.bytes(), 1);
            const LocalMap exported(from, memory.bytes(), access_rights);
            MmapHandle imported;
            must(import_map(export_map(exported, from), to, imported));
            std::vector<std::byte> own(memory.size());
            const LocalMap own_map(to, own);
            const Inventory inventory(2);
            const DmaEngine engine(to);
            const BufHandle src = inventory.full(imported, memory.data(), memory.size());
            must(engine.copy(inventory.empty(own_map, own.data(), own.size()), src));
            must_hold(is_filled(own, 1), "the bytes have arrived");
        }
        channel.send(true);
    });
}

const ChildProgram without_main_thread_program("without-main-thread", work_without_main_thread);

TEST_P(InProcessTest, WorksWithoutMainThread)
{
    if (is_sanitized)
        GTEST_SKIP() << "sanitizers want a main thread";
    ChildProcess worker("without-main-thread");
    worker.channel().send_bytes(std::as_bytes(std::span(GetParam().exporter.ibdev)));
    worker.channel().send_bytes(std::as_bytes(std::span(GetParam().importer.ibdev)));
    EXPECT_TRUE(worker.channel().receive<bool>());
}

TEST_P(InProcessTest, EverythingIsGivenBack)
{
    const auto use = [&] {
        const Memory memory(MemoryKind::memfd, 4096);
        const LocalMap exported(exporting, memory.bytes(), access_rights);
        MmapHandle imported;
        must(import_map(export_map(exported, exporting), importing, imported));
    };
    use();
    const Resources before = resources_in_use();
    for (int i = 0; i < 20; ++i)
        use();
    EXPECT_EQ(resources_in_use(), before);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(InProcessTest);
INSTANTIATE_TEST_SUITE_P(pair, InProcessTest, testing::ValuesIn(one_device_pair()), pair_name);

} // namespace
