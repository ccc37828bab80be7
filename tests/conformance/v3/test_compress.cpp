// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compress tasks: results and checksums against zlib and liblz4's frames, lists, bad data, and what is refused.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <endian.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_compress.h>
#include <doca_graph.h>

#include <zlib.h>

#include "../compress_vectors.hpp"
#include "../reference_codecs.hpp"
#include "../support/environment.hpp"
#include "../support/sanitizers.hpp"
#include "../support/topology_file.hpp"
#include "compress_tasks.hpp"

namespace doca_test {
namespace {

constexpr std::byte canary{0xa5};

void ignore(doca_compress_task_compress_deflate *, doca_data, doca_data) {}

class CompressTaskTest : public testing::TestWithParam<std::string> {
protected:
    static constexpr std::size_t size = std::size_t{4} << 20;
    static constexpr std::uint32_t num_tasks = 4;

    void SetUp() override { std::memset(memory.data(), std::to_integer<int>(canary), memory.size()); }

    /// Returns the memory of the next @p length bytes, with a gap before it so that it is not adjacent to other
    /// buffers.
    std::byte *take(std::size_t length)
    {
        used += 64;
        std::byte *const start = &memory.at(used);
        used += length;
        EXPECT_LE(used, size);
        return start;
    }
    BufHandle source(std::span<const std::byte> data) { return filled(take(data.size()), data); }
    BufHandle filled(std::byte *at, std::span<const std::byte> data)
    {
        std::ranges::copy(data, at);
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_data(inventory, map, at, data.size(), buf.out()));
        return buf;
    }
    BufHandle room(std::size_t length) { return room_at(take(length), length); }
    BufHandle room_at(std::byte *at, std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, at, length, buf.out()));
        return buf;
    }
    /// Chains the buffers to one list, whose head is returned.
    static BufHandle list_of(std::vector<BufHandle> buffers)
    {
        for (std::size_t i = 1; i < buffers.size(); ++i)
            must(doca_buf_chain_list(buffers[0], buffers[i].release()));
        return std::move(buffers[0]);
    }
    /// Cuts @p data into @p count elements of unequal length, each in memory of its own.
    BufHandle source_list(std::span<const std::byte> data, std::size_t count)
    {
        std::vector<BufHandle> buffers;
        for (std::size_t i = 0; i != count; ++i) {
            const std::size_t length = i + 1 == count ? data.size() : std::min(data.size(), data.size() / 2 + i % 3);
            buffers.push_back(source(data.first(length)));
            data = data.subspan(length);
        }
        return list_of(std::move(buffers));
    }
    static Bytes data_in(const doca_buf *list)
    {
        Bytes data;
        for (const doca_buf *buf = list; buf != nullptr;) {
            void *start = nullptr;
            must(doca_buf_get_data(buf, &start));
            const auto *const from = static_cast<std::byte *>(start);
            data.insert(data.end(), from, from + data_len_of(buf));
            doca_buf *next = nullptr;
            must(doca_buf_get_next_in_list(const_cast<doca_buf *>(buf), &next));
            buf = next;
        }
        return data;
    }
    void reset_memory()
    {
        used = 0;
        std::memset(memory.data(), std::to_integer<int>(canary), memory.size());
    }

    Bytes memory = Bytes(size);
    std::size_t used = 0;
    DevHandle dev = open_device(GetParam());
    MmapHandle map = map_of(dev, memory);
    InventoryHandle inventory = inventory_of(4096);
    PeHandle pe = [] {
        PeHandle created;
        must(doca_pe_create(created.out()));
        return created;
    }();
    CompressContext context{dev, pe, num_tasks};
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CompressTaskTest);
INSTANTIATE_TEST_SUITE_P(device, CompressTaskTest, testing::ValuesIn(compressing_devices()), name_of_device);

/// Data of tests and the four forms in which tasks take it.
struct Sample {
    explicit Sample(Bytes content)
        : plain(std::move(content)),
          stream(deflated(plain)),
          frame(lz4_frame(plain, false, false)),
          block(lz4_block(plain))
    {
    }
    [[nodiscard]] const Bytes &source_of(Kind kind) const
    {
        return kind == Kind::compress     ? plain
               : kind == Kind::decompress ? stream
               : kind == Kind::lz4_stream ? frame.blocks
                                          : block;
    }
    /// Checks what a task has written, and its checksums.
    void check(Kind kind, const Bytes &result, const Outcome &outcome) const
    {
        EXPECT_EQ(kind == Kind::compress ? inflated(result, plain.size()) : result, plain);
        EXPECT_EQ(outcome.crc, zlib_crc(plain));
        const bool is_lz4 = kind == Kind::lz4_stream || kind == Kind::lz4_block;
        EXPECT_EQ(outcome.second, is_lz4 ? htobe32(frame.checksum) : zlib_adler(plain));
    }

    Bytes plain;
    Bytes stream;
    Lz4Frame frame;
    Bytes block;
};

TEST(CompressTask, EverySoftwareDeviceSupportsAllTasks)
{
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        for (const Kind kind : all_kinds) {
            if (is_soft(ibdev_of(info))) {
                EXPECT_TRUE(supports(info, kind));
            }
        }
    }
}

TEST(CompressTask, OtherDevicesSupportNoneUnlessTheCpuStandsIn)
{
    const char *const text = std::getenv("DOCA_SOFT_ENGINES");
    const bool stands_in = text != nullptr && std::string(text) == "1";
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (is_soft(ibdev_of(info)))
            continue;
        for (const Kind kind : all_kinds)
            EXPECT_EQ(supports(info, kind), stands_in);
        DevHandle dev;
        must(doca_dev_open(info, dev.out()));
        CompressHandle compress;
        EXPECT_EQ(doca_compress_create(dev, compress.out()), stands_in ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED);
    }
}

TEST(CompressTask, SoftwareDevicesAnswerAsTheCardOfTheTopology)
{
    const TopologyFile file(R"({"functions": [
        {"name": "any",  "side": "dpu", "type": "pf", "pci": "03:00.0"},
        {"name": "bf2",  "side": "dpu", "type": "pf", "pci": "03:00.1", "engines": "bluefield-2"},
        {"name": "bf3",  "side": "dpu", "type": "pf", "pci": "03:00.2", "engines": "bluefield-3"},
        {"name": "none", "side": "dpu", "type": "pf", "pci": "03:00.3", "engines": "none"}
    ]})");
    const Environment soft("DOCA_SOFT", "1");
    const Environment topology("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    const auto answers = [](const std::string &name) {
        const DevHandle dev = open_device(name);
        std::string text;
        for (const Kind kind : all_kinds)
            text += supports(doca_dev_as_devinfo(dev), kind) ? 'y' : '-';
        std::uint64_t length = 0;
        (void)doca_compress_cap_task_decompress_deflate_get_max_buf_size(doca_dev_as_devinfo(dev), &length);
        return text + ' ' + std::to_string(length >> 20);
    };
    EXPECT_EQ(answers("soft_any"), "yyyy 128");
    EXPECT_EQ(answers("soft_bf2"), "yy-- 128");
    EXPECT_EQ(answers("soft_bf3"), "-yyy 2");
    EXPECT_EQ(answers("soft_none"), "---- 0");
    CompressHandle compress;
    {
        const DevHandle dev = open_device("soft_bf3");
        ASSERT_EQ(doca_compress_create(dev, compress.out()), DOCA_SUCCESS);
        EXPECT_EQ(doca_compress_task_compress_deflate_set_conf(compress, ignore, ignore, 1), DOCA_ERROR_NOT_SUPPORTED);
        compress.reset();
    }
    const DevHandle dev = open_device("soft_none");
    EXPECT_EQ(doca_compress_create(dev, compress.out()), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_P(CompressTaskTest, CapabilitiesHaveTheLimits)
{
    const doca_devinfo *const info = doca_dev_as_devinfo(dev);
    std::uint32_t number = 0;
    EXPECT_EQ(doca_compress_cap_get_max_num_tasks(context.compress, &number), DOCA_SUCCESS);
    EXPECT_GE(number, 8192u);
    EXPECT_EQ(doca_compress_cap_get_max_num_tasks(nullptr, &number), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_compress_cap_task_compress_deflate_is_supported(nullptr), DOCA_ERROR_INVALID_VALUE);
    for (const auto get : {doca_compress_cap_task_compress_deflate_get_max_buf_size,
                           doca_compress_cap_task_decompress_deflate_get_max_buf_size,
                           doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size,
                           doca_compress_cap_task_decompress_lz4_block_get_max_buf_size}) {
        std::uint64_t length = 0;
        EXPECT_EQ(get(info, &length), DOCA_SUCCESS);
        EXPECT_EQ(length, std::uint64_t{128} << 20);
        EXPECT_EQ(get(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    }
    for (const auto get : {doca_compress_cap_task_compress_deflate_get_max_buf_list_len,
                           doca_compress_cap_task_decompress_deflate_get_max_buf_list_len,
                           doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len,
                           doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len}) {
        EXPECT_EQ(get(info, &number), DOCA_SUCCESS);
        EXPECT_GE(number, 2u);
        EXPECT_EQ(get(nullptr, &number), DOCA_ERROR_INVALID_VALUE);
    }
}

/// Streams and checksums that are printed in standards or were made by other tools.
TEST_P(CompressTaskTest, KnownAnswers)
{
    for (const CompressVector &answer : compress_vectors()) {
        const BufHandle src = source(std::as_bytes(std::span(answer.source)));
        const BufHandle dst = room(64);
        const Kind kind = answer.format == Format::deflate      ? Kind::decompress
                          : answer.format == Format::lz4_stream ? Kind::lz4_stream
                                                                : Kind::lz4_block;
        const Outcome outcome = context.run(kind, src, dst);
        ASSERT_EQ(outcome.status, DOCA_SUCCESS) << answer.text;
        EXPECT_EQ(data_in(dst), bytes_of(answer.text));
        EXPECT_EQ(outcome.crc, zlib_crc(bytes_of(answer.text)));
        if (answer.crc != 0) {
            EXPECT_EQ(outcome.crc, answer.crc);
        }
        if (answer.second != 0) {
            EXPECT_EQ(outcome.second, answer.second) << answer.text << std::hex << outcome.second;
        }
    }
}

TEST_P(CompressTaskTest, ResultsAreThoseOfOtherLibrariesForAllSizes)
{
    for (const std::size_t length :
         {std::size_t{1}, std::size_t{2}, std::size_t{57}, std::size_t{1000}, std::size_t{65535}, std::size_t{65536},
          std::size_t{300000}, std::size_t{1} << 20}) {
        for (const bool is_text : {true, false}) {
            const Sample sample(is_text ? text_of(length) : noise_of(length));
            for (const Kind kind : all_kinds) {
                reset_memory();
                const BufHandle src = source(sample.source_of(kind));
                const BufHandle dst = room(length + length / 100 + 64);
                const Outcome outcome = context.run(kind, src, dst);
                ASSERT_EQ(outcome.status, DOCA_SUCCESS) << length;
                sample.check(kind, data_in(dst), outcome);
            }
        }
    }
}

/// zlib's levels use stored blocks, fixed and dynamic codes, and all lengths of matches.
TEST_P(CompressTaskTest, StreamsOfAllLevelsOfZlibAreDecompressed)
{
    Bytes content = text_of(100000);
    const Bytes noise = noise_of(40000);
    content.insert(content.end(), noise.begin(), noise.end());
    content.insert(content.end(), 200000, std::byte{0});
    for (int level = 0; level <= 9; ++level) {
        reset_memory();
        const BufHandle src = source(deflated(content, level));
        const BufHandle dst = room(content.size());
        ASSERT_EQ(context.run(Kind::decompress, src, dst).status, DOCA_SUCCESS) << level;
        EXPECT_EQ(data_in(dst), content) << level;
    }
}

TEST_P(CompressTaskTest, StreamsOfLz4AreDecompressedWithEachCombinationOfFlags)
{
    Bytes content = text_of(250000);
    const Bytes noise = noise_of(100000); // blocks that are stored
    content.insert(content.end(), noise.begin(), noise.end());
    for (const bool has_checksum : {false, true}) {
        for (const bool is_independent : {false, true}) {
            reset_memory();
            const Lz4Frame frame = lz4_frame(content, has_checksum, is_independent);
            const BufHandle src = source(frame.blocks);
            const BufHandle dst = room(content.size());
            doca_compress_task_decompress_lz4_stream *task = nullptr;
            must(doca_compress_task_decompress_lz4_stream_alloc_init(context.compress, has_checksum, is_independent,
                                                                     src, dst, {.u64 = 7}, &task));
            EXPECT_EQ(doca_compress_task_decompress_lz4_stream_get_has_block_checksum(task), has_checksum);
            EXPECT_EQ(doca_compress_task_decompress_lz4_stream_get_are_blocks_independent(task), is_independent);
            doca_task *const as_task = doca_compress_task_decompress_lz4_stream_as_task(task);
            EXPECT_EQ(context.run(as_task), DOCA_SUCCESS);
            EXPECT_EQ(data_in(dst), content);
            EXPECT_EQ(doca_compress_task_decompress_lz4_stream_get_xxh_cs(task), htobe32(frame.checksum));
            // The other flags do not fit the blocks, unless independent blocks are treated as linked ones.
            must(doca_buf_reset_data_len(dst));
            doca_compress_task_decompress_lz4_stream_set_has_block_checksum(task, !has_checksum);
            EXPECT_EQ(context.run(as_task), DOCA_ERROR_IO_FAILED);
            doca_compress_task_decompress_lz4_stream_set_has_block_checksum(task, has_checksum);
            doca_compress_task_decompress_lz4_stream_set_are_blocks_independent(task, !is_independent);
            EXPECT_EQ(context.run(as_task), is_independent ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
            doca_task_free(as_task);
        }
    }
}

TEST_P(CompressTaskTest, WrongBlockChecksumFails)
{
    Lz4Frame frame = lz4_frame(text_of(1000), true, true);
    frame.blocks.back() ^= std::byte{1};
    const BufHandle src = source(frame.blocks);
    const BufHandle dst = room(1000);
    doca_compress_task_decompress_lz4_stream *task = nullptr;
    must(doca_compress_task_decompress_lz4_stream_alloc_init(context.compress, 1, 1, src, dst, {.u64 = 7}, &task));
    EXPECT_EQ(context.run(doca_compress_task_decompress_lz4_stream_as_task(task)), DOCA_ERROR_IO_FAILED);
    doca_task_free(doca_compress_task_decompress_lz4_stream_as_task(task));
    EXPECT_EQ(data_len_of(dst), 0u);
}

TEST_P(CompressTaskTest, ResultIsAppendedToTheDestination)
{
    const Sample sample(text_of(5000));
    for (const Kind kind : all_kinds) {
        const BufHandle src = source(sample.source_of(kind));
        const BufHandle dst = room(20000);
        void *data = nullptr;
        must(doca_buf_get_data(dst, &data));
        must(doca_buf_set_data(dst, static_cast<std::byte *>(data) + 2, 3));
        ASSERT_EQ(context.run(kind, src, dst).status, DOCA_SUCCESS);
        ASSERT_EQ(context.run(kind, src, dst).status, DOCA_SUCCESS);
        const Bytes all = data_in(dst);
        const std::size_t length = (all.size() - 3) / 2;
        EXPECT_EQ(Bytes(all.begin(), all.begin() + 3), Bytes(3, canary));
        const auto middle = all.begin() + 3 + static_cast<std::ptrdiff_t>(length);
        const Bytes first(all.begin() + 3, middle), second(middle, all.end());
        EXPECT_EQ(first, second);
        EXPECT_EQ(kind == Kind::compress ? inflated(first, 5000) : first, sample.plain);
    }
}

TEST_P(CompressTaskTest, ListsAreCutAnywhere)
{
    const Sample sample(text_of(50000));
    for (const Kind kind : all_kinds) {
        for (const std::size_t count : {1, 2, 3, 7, 40}) {
            reset_memory();
            const BufHandle src = source_list(sample.source_of(kind), count);
            std::vector<BufHandle> rooms;
            rooms.push_back(room(1));
            for (std::size_t i = 1; i != 30; ++i)
                rooms.push_back(room(i % 5 == 0 ? 7 : 2500 + i));
            const BufHandle dst = list_of(std::move(rooms));
            const Outcome outcome = context.run(kind, src, dst);
            ASSERT_EQ(outcome.status, DOCA_SUCCESS) << count;
            EXPECT_EQ(data_len_of(dst), 1u) << "of the first element";
            sample.check(kind, data_in(dst), outcome);
        }
    }
}

/// As programs make lists: by cutting one range.
TEST_P(CompressTaskTest, ListsOfAdjacentElementsGiveTheSameResult)
{
    const Sample sample(text_of(50000));
    for (const Kind kind : all_kinds) {
        reset_memory();
        const Bytes &data = sample.source_of(kind);
        std::vector<BufHandle> sources, rooms;
        std::byte *const from = take(data.size());
        std::size_t at = 0;
        for (const std::size_t part :
             {data.size() / 3, data.size() / 4, data.size() - data.size() / 3 - data.size() / 4}) {
            sources.push_back(filled(from + at, std::span(data).subspan(at, part)));
            at += part;
        }
        std::byte *const to = take(60000);
        for (std::size_t i = 0; i != 6; ++i)
            rooms.push_back(room_at(to + i * 10000, 10000));
        const BufHandle src = list_of(std::move(sources)), dst = list_of(std::move(rooms));
        const Outcome outcome = context.run(kind, src, dst);
        ASSERT_EQ(outcome.status, DOCA_SUCCESS);
        sample.check(kind, data_in(dst), outcome);
        EXPECT_EQ(to[60000], canary);
    }
}

TEST_P(CompressTaskTest, OverlappingSourceAndDestinationGiveTheResultOfACopy)
{
    const Sample sample(text_of(50000));
    for (const Kind kind : all_kinds) {
        for (const std::size_t offset : {0, 1, 100, 3000}) {
            reset_memory();
            std::byte *const at = take(100000);
            const BufHandle src = filled(at + offset, sample.source_of(kind));
            const BufHandle dst = room_at(at, 60000);
            const Outcome outcome = context.run(kind, src, dst);
            ASSERT_EQ(outcome.status, DOCA_SUCCESS) << offset;
            sample.check(kind, data_in(dst), outcome);
            // The same with a destination in elements that are not adjacent.
            const BufHandle again = filled(at + offset, sample.source_of(kind));
            std::vector<BufHandle> rooms;
            rooms.push_back(room_at(at + 10, 30000));
            rooms.push_back(room_at(at + 40100, 30000));
            const BufHandle list = list_of(std::move(rooms));
            const Outcome of_list = context.run(kind, again, list);
            ASSERT_EQ(of_list.status, DOCA_SUCCESS) << offset;
            sample.check(kind, data_in(list), of_list);
        }
    }
}

TEST_P(CompressTaskTest, DestinationExactlyAsLongAsTheResultSuffices)
{
    for (const std::size_t length : {std::size_t{1}, std::size_t{20}, std::size_t{5000}}) {
        const Sample sample(text_of(length));
        for (const Kind kind : all_kinds) {
            reset_memory();
            const BufHandle src = source(sample.source_of(kind));
            const BufHandle wide = room(2 * length + 100);
            ASSERT_EQ(context.run(kind, src, wide).status, DOCA_SUCCESS);
            const std::size_t needed = data_len_of(wide);
            const BufHandle exact = room(needed);
            const Outcome outcome = context.run(kind, src, exact);
            ASSERT_EQ(outcome.status, DOCA_SUCCESS);
            sample.check(kind, data_in(exact), outcome);
            if (needed == 1)
                continue;
            std::byte *const at = take(needed - 1);
            const BufHandle small = room_at(at, needed - 1);
            EXPECT_EQ(context.run(kind, src, small).status, DOCA_ERROR_IO_FAILED);
            EXPECT_EQ(data_len_of(small), 0u);
            EXPECT_EQ(at[needed - 1], canary);
        }
    }
}

/// 64 MiB of zeros in 64 KiB, and what LZ4 can do: the destination bounds the output.
TEST_P(CompressTaskTest, BombsAreBoundedByTheDestination)
{
    const Bytes zeros(std::size_t{1} << 20);
    Bytes stream(std::size_t{1} << 20);
    z_stream z{};
    ASSERT_EQ(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = reinterpret_cast<Bytef *>(stream.data());
    z.avail_out = static_cast<uInt>(stream.size());
    for (int i = 0; i != 64; ++i) {
        z.next_in = reinterpret_cast<Bytef *>(const_cast<std::byte *>(zeros.data()));
        z.avail_in = static_cast<uInt>(zeros.size());
        ASSERT_EQ(deflate(&z, i == 63 ? Z_FINISH : Z_NO_FLUSH), i == 63 ? Z_STREAM_END : Z_OK);
    }
    stream.resize(z.total_out);
    deflateEnd(&z);
    const Lz4Frame frame = lz4_frame(zeros, false, true);
    const Bytes block = lz4_block(zeros);
    for (const auto &[kind, data] : {std::pair(Kind::decompress, stream), std::pair(Kind::lz4_stream, frame.blocks),
                                     std::pair(Kind::lz4_block, block)}) {
        for (const std::size_t length : {std::size_t{1}, std::size_t{4096}, std::size_t{65536}}) {
            reset_memory();
            const BufHandle src = source(data);
            std::byte *const at = take(length);
            const BufHandle dst = room_at(at, length);
            EXPECT_EQ(context.run(kind, src, dst).status, DOCA_ERROR_IO_FAILED);
            EXPECT_EQ(data_len_of(dst), 0u);
            EXPECT_EQ(at[length], canary);
            EXPECT_EQ(at[-1], canary);
        }
    }
}

TEST_P(CompressTaskTest, TruncatedSourcesFailAndTheContextContinues)
{
    const Sample sample(text_of(3000));
    for (const Kind kind : {Kind::decompress, Kind::lz4_stream}) {
        const Bytes &data = sample.source_of(kind);
        reset_memory();
        std::byte *const at = take(3000);
        const BufHandle dst = room_at(at, 3000);
        const BufHandle src = source(data);
        void *start = nullptr;
        must(doca_buf_get_data(src, &start));
        doca_task *const task = context.alloc(kind, src, dst);
        for (std::size_t length = 1; length != data.size(); ++length) {
            must(doca_buf_set_data(src, start, length));
            ASSERT_EQ(context.run(task), DOCA_ERROR_IO_FAILED) << length;
            ASSERT_EQ(data_len_of(dst), 0u);
            ASSERT_EQ(at[3000], canary);
        }
        // The same task, after all its failures.
        EXPECT_EQ(state_of(context.ctx()), DOCA_CTX_STATE_RUNNING);
        must(doca_buf_set_data(src, start, data.size()));
        EXPECT_EQ(context.run(task), DOCA_SUCCESS);
        EXPECT_EQ(data_in(dst), sample.plain);
        doca_task_free(task);
    }
}

/// Whatever the source is, a task ends, and writes nothing beyond its destination.
TEST_P(CompressTaskTest, CorruptSourcesStayWithinTheDestination)
{
    const Sample sample(text_of(2000));
    std::uint32_t seed = 12345;
    const auto random = [&](std::size_t limit) {
        seed = seed * 1664525 + 1013904223;
        return static_cast<std::size_t>(seed >> 8) % limit;
    };
    for (const Kind kind : {Kind::decompress, Kind::lz4_stream, Kind::lz4_block}) {
        reset_memory();
        const Bytes &data = sample.source_of(kind);
        std::byte *const from = take(data.size());
        const BufHandle src = filled(from, data);
        std::byte *const at = take(2100);
        const BufHandle dst = room_at(at, 2100);
        doca_task *const task = context.alloc(kind, src, dst);
        for (int round = 0; round != 3000; ++round) {
            std::ranges::copy(data, from);
            for (std::size_t i = random(4) + 1; i != 0; --i)
                from[random(data.size())] = static_cast<std::byte>(random(256));
            must(doca_buf_reset_data_len(dst));
            const doca_error_t status = context.run(task);
            ASSERT_TRUE(status == DOCA_SUCCESS || status == DOCA_ERROR_IO_FAILED);
            ASSERT_EQ(status == DOCA_SUCCESS, data_len_of(dst) != 0);
            ASSERT_EQ(at[2100], canary);
            ASSERT_EQ(at[-1], canary);
        }
        doca_task_free(task);
    }
}

TEST_P(CompressTaskTest, InvalidBuffersFailInTheCallback)
{
    const Sample sample(text_of(500));
    for (const Kind kind : all_kinds) {
        const BufHandle src = source(sample.source_of(kind)), empty = room(100), dst = room(1000),
                        full = source(Bytes(8));
        const auto fails = [&](const doca_buf *from, doca_buf *to, doca_error_t with) {
            doca_task *const task = context.alloc(kind, from, to);
            EXPECT_EQ(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE);
            EXPECT_EQ(doca_task_get_status(task), with);
            EXPECT_EQ(context.run(task), with);
            EXPECT_EQ(state_of(context.ctx()), DOCA_CTX_STATE_RUNNING);
            doca_task_free(task);
        };
        fails(empty, dst, DOCA_ERROR_INVALID_VALUE);
        // A destination without any room is nothing but a short one.
        EXPECT_EQ(context.run(kind, src, full).status, DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(data_len_of(full), 8u);
        EXPECT_EQ(data_in(full), Bytes(8));
        // Not the head of its list.
        std::vector<BufHandle> two;
        two.push_back(source(sample.source_of(kind)));
        two.push_back(source(sample.source_of(kind)));
        const doca_buf *const second = two[1];
        const BufHandle list = list_of(std::move(two));
        fails(second, dst, DOCA_ERROR_INVALID_VALUE);
        // Memory that may not be written, and memory without this device.
        Bytes own(1000);
        const MmapHandle read_only = map_of(dev, own, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
        BufHandle other;
        must(doca_buf_inventory_buf_get_by_addr(inventory, read_only, own.data(), own.size(), other.out()));
        fails(src, other, DOCA_ERROR_NOT_PERMITTED);
        // It may be read.
        std::ranges::copy(sample.source_of(kind), own.begin());
        must(doca_buf_set_data(other, own.data(), sample.source_of(kind).size()));
        EXPECT_EQ(context.run(kind, other, dst).status, DOCA_SUCCESS);
        // A data section outside of the buffer.
        must(doca_buf_set_data(other, own.data(), own.size() + 1));
        fails(other, dst, DOCA_ERROR_INVALID_VALUE);
    }
}

TEST_P(CompressTaskTest, ListsBeyondTheLimitFail)
{
    std::uint32_t limit = 0;
    must(doca_compress_cap_task_compress_deflate_get_max_buf_list_len(doca_dev_as_devinfo(dev), &limit));
    const auto list = [&](std::uint32_t count) {
        std::vector<BufHandle> buffers;
        for (std::uint32_t i = 0; i != count; ++i)
            buffers.push_back(source(bytes_of("x")));
        return list_of(std::move(buffers));
    };
    const BufHandle dst = room(5000);
    {
        const BufHandle src = list(limit);
        EXPECT_EQ(context.run(Kind::compress, src, dst).status, DOCA_SUCCESS);
    }
    const BufHandle src = list(limit + 1);
    EXPECT_EQ(context.run(Kind::compress, src, dst).status, DOCA_ERROR_INVALID_VALUE);
}

/// 128 MiB are compressed and decompressed; one byte more is refused.
TEST_P(CompressTaskTest, SourcesUpToTheLimit)
{
    std::uint64_t limit = 0;
    must(doca_compress_cap_task_compress_deflate_get_max_buf_size(doca_dev_as_devinfo(dev), &limit));
    Bytes long_memory(limit + 1), packed(std::size_t{4} << 20), back(limit + 1, canary);
    std::memcpy(&long_memory[limit - 4], "end.", 4);
    const MmapHandle long_map = map_of(dev, long_memory), packed_map = map_of(dev, packed),
                     back_map = map_of(dev, back);
    BufHandle src, small, dst;
    must(doca_buf_inventory_buf_get_by_data(inventory, long_map, long_memory.data(), limit, src.out()));
    must(doca_buf_inventory_buf_get_by_addr(inventory, packed_map, packed.data(), packed.size(), small.out()));
    must(doca_buf_inventory_buf_get_by_addr(inventory, back_map, back.data(), back.size(), dst.out()));
    ASSERT_EQ(context.run(Kind::compress, src, small).status, DOCA_SUCCESS);
    ASSERT_EQ(context.run(Kind::decompress, small, dst).status, DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(dst), limit);
    EXPECT_EQ(std::memcmp(back.data(), long_memory.data(), limit), 0);
    EXPECT_EQ(back[limit], canary);
    must(doca_buf_set_data(src, long_memory.data(), limit + 1));
    must(doca_buf_reset_data_len(small));
    EXPECT_EQ(context.run(Kind::compress, src, small).status, DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(data_len_of(small), 0u);
}

#ifndef DOCA_TEST_TSAN // the race is the test

/// The source is written while it is compressed: by a peer that its memory map allows it, or through another map of the
/// same memory. The stream and the checksum are of one state of the source, so a result cannot be longer than
/// libdeflate has computed.
TEST_P(CompressTaskTest, SourceThatPeersChangeMeanwhileGivesAValidStream)
{
    constexpr std::size_t length = 20000;
    Bytes shared = text_of(length);
    const MmapHandle exposed = map_of(dev, shared, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    const MmapHandle of_this_process = map_of(dev, shared, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
    BufHandle sources[2];
    must(doca_buf_inventory_buf_get_by_data(inventory, exposed, shared.data(), length, sources[0].out()));
    must(doca_buf_inventory_buf_get_by_data(inventory, of_this_process, shared.data(), length, sources[1].out()));
    const BufHandle dst = room(2 * length);
    std::atomic<bool> is_over = false;
    std::thread peer([&] {
        volatile std::byte *const at = shared.data();
        for (std::size_t i = 0; !is_over.load(std::memory_order_relaxed); ++i)
            at[i * 7919 % length] = static_cast<std::byte>(i);
    });
    for (int round = 0; round != 100; ++round) {
        must(doca_buf_reset_data_len(dst));
        const Outcome outcome = context.run(Kind::compress, sources[round % 2], dst);
        EXPECT_EQ(outcome.status, DOCA_SUCCESS);
        const Bytes content = inflated(data_in(dst), length);
        EXPECT_EQ(content.size(), length);
        EXPECT_EQ(outcome.crc, zlib_crc(content));
    }
    is_over = true;
    peer.join();
}

#endif

/// Programs allocate tasks with buffers without data, and set the data before each submit.
TEST_P(CompressTaskTest, BuffersAreReadAtSubmit)
{
    const Sample sample(text_of(500));
    for (const Kind kind : all_kinds) {
        std::byte *const at = take(1000);
        const BufHandle src = room_at(at, 1000), dst = room(1000);
        doca_task *const task = context.alloc(kind, src, dst);
        doca_task *const other = context.alloc(kind, src, dst); // the same buffers
        std::ranges::copy(sample.source_of(kind), at);
        must(doca_buf_set_data(src, at, sample.source_of(kind).size()));
        EXPECT_EQ(context.run(task), DOCA_SUCCESS);
        sample.check(kind, data_in(dst), context.outcome_of(kind, task));
        must(doca_buf_reset_data_len(dst));
        EXPECT_EQ(context.run(other), DOCA_SUCCESS);
        sample.check(kind, data_in(dst), context.outcome_of(kind, other));
        doca_task_free(task);
        // Fields of a freed task can still be read.
        sample.check(kind, data_in(dst), context.outcome_of(kind, task));
        doca_task_free(other);
    }
}

TEST_P(CompressTaskTest, GettersReturnWhatWasSet)
{
    const BufHandle one = room(10), two = room(10);
    const auto check = [&](auto *task, auto get_src, auto set_src, auto get_dst, auto set_dst, auto as_task) {
        EXPECT_EQ(get_src(task), one);
        EXPECT_EQ(get_dst(task), two);
        set_src(task, two);
        set_dst(task, one);
        EXPECT_EQ(get_src(task), two);
        EXPECT_EQ(get_dst(task), one);
        doca_task_free(as_task(task));
        EXPECT_EQ(get_src(nullptr), nullptr);
        EXPECT_EQ(get_dst(nullptr), nullptr);
        set_src(nullptr, two);
        set_dst(nullptr, one);
    };
#define CHECK_TYPE(type, ...)                                                                                          \
    do {                                                                                                               \
        doca_compress_task_##type *task = nullptr;                                                                     \
        must(doca_compress_task_##type##_alloc_init(context.compress, __VA_ARGS__ one, two, {.u64 = 7}, &task));       \
        check(task, doca_compress_task_##type##_get_src, doca_compress_task_##type##_set_src,                          \
              doca_compress_task_##type##_get_dst, doca_compress_task_##type##_set_dst,                                \
              doca_compress_task_##type##_as_task);                                                                    \
        task = nullptr;                                                                                                \
        EXPECT_EQ(                                                                                                     \
            doca_compress_task_##type##_alloc_init(context.compress, __VA_ARGS__ nullptr, two, {.u64 = 7}, &task),     \
            DOCA_ERROR_INVALID_VALUE);                                                                                 \
        EXPECT_EQ(task, nullptr);                                                                                      \
    } while (false)
#define FLAGS 1, 0,
    CHECK_TYPE(compress_deflate, );
    CHECK_TYPE(decompress_deflate, );
    CHECK_TYPE(decompress_lz4_stream, FLAGS);
    CHECK_TYPE(decompress_lz4_block, );
#undef FLAGS
#undef CHECK_TYPE
}

TEST_P(CompressTaskTest, TasksAreAsManyAsConfigured)
{
    const BufHandle src = source(bytes_of("abc")), dst = room(64);
    for (const Kind kind : all_kinds) {
        std::vector<doca_task *> tasks;
        for (std::uint32_t i = 0; i != num_tasks; ++i)
            tasks.push_back(context.alloc(kind, src, dst));
        EXPECT_THROW(context.alloc(kind, src, dst), std::runtime_error); // NO_MEMORY
        for (doca_task *const task : tasks)
            doca_task_free(task);
    }
    doca_compress_task_compress_deflate *task = nullptr;
    std::vector<doca_task *> tasks;
    for (std::uint32_t i = 0; i != num_tasks; ++i)
        tasks.push_back(context.alloc(Kind::compress, src, dst));
    EXPECT_EQ(doca_compress_task_compress_deflate_alloc_init(context.compress, src, dst, {.u64 = 7}, &task),
              DOCA_ERROR_NO_MEMORY);
    for (doca_task *const each : tasks)
        doca_task_free(each);
}

TEST_P(CompressTaskTest, ConfigurationBelongsToIdleContexts)
{
    doca_compress *const compress = context.compress;
    const auto set_conf = doca_compress_task_compress_deflate_set_conf;
    EXPECT_EQ(set_conf(compress, ignore, ignore, 1), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_compress_destroy(compress), DOCA_ERROR_IN_USE);
    ASSERT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS);
    // Samples stop a context again that has stopped already, and return the result.
    EXPECT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS);
    EXPECT_EQ(set_conf(compress, nullptr, ignore, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(set_conf(compress, ignore, nullptr, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(set_conf(nullptr, ignore, ignore, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(set_conf(compress, ignore, ignore, UINT32_MAX), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(set_conf(compress, ignore, ignore, 8192), DOCA_SUCCESS);
    const BufHandle src = source(bytes_of("abc")), dst = room(64);
    doca_compress_task_compress_deflate *task = nullptr;
    EXPECT_EQ(doca_compress_task_compress_deflate_alloc_init(compress, src, dst, {.u64 = 7}, &task),
              DOCA_ERROR_BAD_STATE);
    ASSERT_EQ(doca_ctx_start(context.ctx()), DOCA_SUCCESS);
    EXPECT_EQ(doca_compress_task_compress_deflate_alloc_init(compress, src, dst, {.u64 = 7}, &task), DOCA_SUCCESS);
    doca_task_free(doca_compress_task_compress_deflate_as_task(task));
}

TEST_P(CompressTaskTest, StopWithTasksInFlightReturnsAllOfThem)
{
    const Sample sample(text_of(2000));
    const BufHandle src = source(sample.plain);
    std::vector<BufHandle> dsts;
    std::vector<doca_task *> tasks;
    for (std::uint32_t i = 0; i != num_tasks; ++i) {
        dsts.push_back(room(2100));
        tasks.push_back(context.alloc(Kind::compress, src, dsts.back()));
        ASSERT_EQ(doca_task_submit(tasks.back()), DOCA_SUCCESS);
    }
    EXPECT_EQ(in_flight(context.ctx()), num_tasks);
    EXPECT_EQ(doca_ctx_stop(context.ctx()), DOCA_ERROR_IN_PROGRESS);
    while (context.num_ended != static_cast<int>(num_tasks))
        ASSERT_EQ(doca_pe_progress(pe), 1);
    EXPECT_EQ(state_of(context.ctx()), DOCA_CTX_STATE_STOPPING);
    for (std::uint32_t i = 0; i != num_tasks; ++i) {
        const bool has_succeeded = doca_task_get_status(tasks[i]) == DOCA_SUCCESS;
        EXPECT_EQ(has_succeeded, data_len_of(dsts[i]) != 0);
        doca_task_free(tasks[i]);
    }
    while (state_of(context.ctx()) != DOCA_CTX_STATE_IDLE)
        (void)doca_pe_progress(pe);
    EXPECT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS);
}

TEST_P(CompressTaskTest, TaskInFlightCanBeFreed)
{
    const BufHandle src = source(text_of(100)), dst = room(200);
    doca_task *const task = context.alloc(Kind::compress, src, dst);
    ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
    doca_task_free(task);
    (void)doca_pe_progress(pe);
    EXPECT_EQ(context.num_ended, 0);
}

/// The library's thread, which carries out the task, does not exist in the child.
TEST_P(CompressTaskTest, ChildDestroysItsCopyOfAContextWithALongTask)
{
    const Bytes content = text_of(std::size_t{1} << 20);
    const BufHandle src = source(content), dst = room(content.size());
    doca_task *const task = context.alloc(Kind::compress, src, dst);
    for (int i = 0; i != 3; ++i) {
        must(doca_buf_reset_data_len(dst));
        ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            alarm(60); // a child that hangs is killed
            const bool is_stopped = doca_ctx_stop(context.ctx()) == DOCA_SUCCESS;
            _exit(is_stopped && doca_compress_destroy(context.compress.release()) == DOCA_SUCCESS ? 0 : 1);
        }
        while (context.num_ended == i)
            (void)doca_pe_progress(pe);
        EXPECT_EQ(doca_task_get_status(task), DOCA_SUCCESS);
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status;
    }
    EXPECT_EQ(inflated(data_in(dst), content.size()), content);
    doca_task_free(task);
}

TEST_P(CompressTaskTest, TasksAreNodesOfGraphs)
{
    const Sample sample(text_of(5000));
    Handle<doca_graph, doca_graph_destroy> graph;
    must(doca_graph_create(pe, graph.out()));
    doca_graph_node *first = nullptr, *second = nullptr;
    must(doca_graph_node_create_from_ctx(graph, context.ctx(), &first));
    must(doca_graph_node_create_from_ctx(graph, context.ctx(), &second));
    must(doca_graph_add_dependency(graph, first, second));
    static int num_succeeded;
    num_succeeded = 0;
    must(doca_graph_set_conf(
        graph, [](doca_graph_instance *, doca_data, doca_data) { ++num_succeeded; },
        [](doca_graph_instance *, doca_data, doca_data) { ADD_FAILURE(); }, 1));
    must(doca_graph_start(graph));
    doca_graph_instance *instance = nullptr;
    must(doca_graph_instance_create(graph, &instance));
    const BufHandle src = source(sample.plain), middle = room(6000), dst = room(6000);
    doca_task *const compress = context.alloc(Kind::compress, src, middle);
    doca_task *const decompress = context.alloc(Kind::decompress, middle, dst);
    must(doca_graph_instance_set_ctx_node_data(instance, first, compress));
    must(doca_graph_instance_set_ctx_node_data(instance, second, decompress));
    ASSERT_EQ(doca_graph_instance_submit(instance), DOCA_SUCCESS);
    while (num_succeeded == 0)
        ASSERT_EQ(doca_pe_progress(pe), 1);
    sample.check(Kind::decompress, data_in(dst), context.outcome_of(Kind::decompress, decompress));
    must(doca_graph_instance_destroy(instance));
    doca_task_free(compress);
    doca_task_free(decompress);
    must(doca_graph_stop(graph));
}

// Memory of another process

/// Runs @p in_child in a process of the host, with a descriptor of @p memory that the DPU has exported with @p right.
/// Returns what it returns.
int with_export(std::span<std::byte> memory, std::uint32_t right,
                const std::function<int(std::span<const std::byte>)> &in_child)
{
    int to_child[2];
    EXPECT_EQ(pipe(to_child), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(to_child[1]); // so that the parent's end ends the read
        setenv("DOCA_SOFT_ROLE", "host", 1);
        std::byte blob[512];
        const ssize_t size = read(to_child[0], blob, sizeof(blob));
        int result = 255;
        try {
            result = in_child({blob, static_cast<std::size_t>(std::max<ssize_t>(size, 0))});
        } catch (const std::exception &error) {
            (void)std::fprintf(stderr, "the child: %s\n", error.what());
        }
        _exit(result);
    }
    close(to_child[0]);
    const Environment role("DOCA_SOFT_ROLE", "dpu");
    const DevHandle dpu = open_device("soft_p0");
    const MmapHandle map = map_of(dpu, memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | right);
    const void *blob = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(doca_mmap_export_pci(map, dpu, &blob, &size), DOCA_SUCCESS);
    EXPECT_EQ(write(to_child[1], blob, size), static_cast<ssize_t>(size));
    close(to_child[1]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

class CompressAcrossThePcie : public testing::TestWithParam<Kind> {
protected:
    void SetUp() override
    {
        if (!has_device("soft_pf0") || !has_device("soft_p0") || compressing_devices().empty())
            GTEST_SKIP() << "takes the software device's two sides";
    }
    static constexpr std::size_t room_of_source = 100000, room_of_result = 100000;
};

/// The host's process reads its source from memory of the DPU, and writes the result there, as the storage
/// application does; also with lists of which only some elements are imported.
TEST_P(CompressAcrossThePcie, SourceAndDestinationMayBeImported)
{
    const Kind kind = GetParam();
    const Sample sample(text_of(80000));
    const std::size_t length = sample.source_of(kind).size();
    Bytes memory(room_of_source + 2 * room_of_result);
    std::ranges::copy(sample.source_of(kind), memory.begin());
    const int result = with_export(memory, DOCA_ACCESS_FLAG_PCI_READ_WRITE, [&](std::span<const std::byte> blob) {
        const DevHandle dev = open_device("soft_pf0");
        MmapHandle remote;
        must(doca_mmap_create_from_export(nullptr, blob.data(), blob.size(), dev, remote.out()));
        void *start = nullptr;
        std::size_t len = 0;
        must(doca_mmap_get_memrange(remote, &start, &len));
        auto *const there = static_cast<std::byte *>(start);
        Bytes own(room_of_source + room_of_result);
        const MmapHandle local = map_of(dev, own);
        const InventoryHandle inventory = inventory_of(16);
        PeHandle pe;
        must(doca_pe_create(pe.out()));
        CompressContext context(dev, pe, 2);
        BufHandle src, dst;
        must(doca_buf_inventory_buf_get_by_data(inventory, remote, there, length, src.out()));
        must(doca_buf_inventory_buf_get_by_addr(inventory, remote, there + room_of_source, room_of_result, dst.out()));
        if (const doca_error_t status = context.run(kind, src, dst).status; status != DOCA_SUCCESS)
            return static_cast<int>(status);
        // The first half of the source here, the second there; the result in reverse.
        std::ranges::copy(sample.source_of(kind), own.begin());
        BufHandle first, second, near, far;
        must(doca_buf_inventory_buf_get_by_data(inventory, local, own.data(), length / 2, first.out()));
        must(doca_buf_inventory_buf_get_by_data(inventory, remote, there + length / 2, length - length / 2,
                                                second.out()));
        must(doca_buf_inventory_buf_get_by_addr(inventory, remote, there + room_of_source + room_of_result, 1000,
                                                far.out()));
        must(doca_buf_inventory_buf_get_by_addr(inventory, local, &own[room_of_source], room_of_result, near.out()));
        must(doca_buf_chain_list(first, second.release()));
        doca_buf *const rest = near;
        must(doca_buf_chain_list(far, near.release()));
        const Outcome outcome = context.run(kind, first, far);
        if (outcome.status != DOCA_SUCCESS || data_len_of(far) != 1000 || outcome.crc != zlib_crc(sample.plain))
            return 254;
        // Equal to the result of the first task, which is there.
        return 1000 + data_len_of(rest) == data_len_of(dst) ? 0 : 253;
    });
    ASSERT_EQ(result, 0);
    const auto of_first = memory.begin() + room_of_source;
    const auto of_second = of_first + room_of_result;
    EXPECT_TRUE(std::equal(of_second, of_second + 1000, of_first));
    if (kind != Kind::compress) {
        EXPECT_TRUE(std::equal(sample.plain.begin(), sample.plain.end(), of_first));
    } else {
        z_stream stream{};
        ASSERT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
        Bytes out(sample.plain.size());
        stream.next_in = reinterpret_cast<Bytef *>(&*of_first);
        stream.avail_in = room_of_result;
        stream.next_out = reinterpret_cast<Bytef *>(out.data());
        stream.avail_out = static_cast<uInt>(out.size());
        EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
        inflateEnd(&stream);
        EXPECT_EQ(out, sample.plain);
    }
}

TEST_P(CompressAcrossThePcie, MemoryExportedForReadingIsNotWritten)
{
    const Kind kind = GetParam();
    const Sample sample(text_of(1000));
    Bytes memory(5000, canary);
    std::ranges::copy(sample.source_of(kind), memory.begin());
    const int result = with_export(memory, DOCA_ACCESS_FLAG_PCI_READ_ONLY, [&](std::span<const std::byte> blob) {
        const DevHandle dev = open_device("soft_pf0");
        MmapHandle remote;
        must(doca_mmap_create_from_export(nullptr, blob.data(), blob.size(), dev, remote.out()));
        void *start = nullptr;
        std::size_t len = 0;
        must(doca_mmap_get_memrange(remote, &start, &len));
        const InventoryHandle inventory = inventory_of(4);
        PeHandle pe;
        must(doca_pe_create(pe.out()));
        CompressContext context(dev, pe, 2);
        BufHandle src, dst;
        must(doca_buf_inventory_buf_get_by_data(inventory, remote, start, sample.source_of(kind).size(), src.out()));
        must(doca_buf_inventory_buf_get_by_addr(inventory, remote, static_cast<std::byte *>(start) + 2000, 3000,
                                                dst.out()));
        return static_cast<int>(context.run(kind, src, dst).status);
    });
    EXPECT_EQ(result, DOCA_ERROR_NOT_PERMITTED);
    EXPECT_TRUE(std::all_of(memory.begin() + 2000, memory.end(), [](std::byte byte) { return byte == canary; }));
}

constexpr const char *kind_names[] = {"compress", "decompress", "lz4_stream", "lz4_block"};

INSTANTIATE_TEST_SUITE_P(kind, CompressAcrossThePcie, testing::ValuesIn(all_kinds),
                         [](const auto &test) { return std::string(kind_names[static_cast<int>(test.param)]); });

} // namespace
} // namespace doca_test
