// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compress jobs that are refused, that fail, and that use memory of another process.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/compress_fixture.hpp"
#include "support/log_capture.hpp"

using namespace doca_test;

class CompressErrorTest : public CompressTest {
protected:
    /// Expects each type of job to be refused with @p status for the buffers that @p make_source, which is given the
    /// data of a source, and @p make_destination return.
    void expect_refused(const std::function<BufHandle(const Bytes &)> &make_source,
                        const std::function<BufHandle()> &make_destination, doca_error_t status)
    {
        for (const doca_compress_job_types type : compress_job_types) {
            const BufHandle src = make_source(sample.source_of(type)), dst = make_destination();
            const std::size_t before = dst.get() == nullptr ? 0 : data_len_of(dst);
            std::uint64_t checksums = 77;
            engine.expect_refused(engine.job(type, src, dst, &checksums).base(), status);
            EXPECT_EQ(dst.get() == nullptr ? 0 : data_len_of(dst), before);
            EXPECT_EQ(checksums, 77u);
        }
    }

    const std::function<BufHandle(const Bytes &)> good_source = [this](const Bytes &data) { return source(data); };
    const std::function<BufHandle()> good_destination = [this] { return room(1000); };
    const CompressSample sample{text_of(500)};
};
INSTANTIATE_FOR_DEVICES(CompressErrorTest, can_compress);

TEST_P(CompressErrorTest, MissingAndEmptyBuffersAreRefused)
{
    expect_refused([](const Bytes &) { return BufHandle(); }, good_destination, DOCA_ERROR_INVALID_VALUE);
    expect_refused(
        good_source, [] { return BufHandle(); }, DOCA_ERROR_INVALID_VALUE);
    expect_refused([this](const Bytes &) { return room(100); }, good_destination, DOCA_ERROR_INVALID_VALUE);
}

TEST_P(CompressErrorTest, DestinationWithoutRoomIsNothingButAShortOne)
{
    for (const doca_compress_job_types type : compress_job_types) {
        const BufHandle src = source(sample.source_of(type)), full = source(Bytes(8));
        EXPECT_EQ(engine.run(type, src, full), DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(data_len_of(full), 8u);
    }
}

/// A peer that sends bad data must not fill the log.
TEST_P(CompressErrorTest, BadDataAndShortDestinationsAreErrorLinesOnce)
{
    const LogCapture log;
    const BufHandle bad = source(Bytes(100, std::byte{0xff})), src = source(sample.stream), dst = room(1000),
                    small = room(10);
    for (int i = 0; i != 3; ++i) {
        EXPECT_EQ(engine.run(DOCA_DECOMPRESS_DEFLATE_JOB, bad, dst), DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(engine.run(DOCA_DECOMPRESS_DEFLATE_JOB, src, small), DOCA_ERROR_IO_FAILED);
    }
    const std::string text = log.text();
    for (const std::string part : {"the source of 100 bytes is no valid", "does not fit into a destination"}) {
        const std::size_t first = text.find(part);
        EXPECT_NE(first, std::string::npos) << part;
        EXPECT_EQ(text.find(part, first + 1), std::string::npos) << text;
    }
}

TEST_P(CompressErrorTest, UnknownJobTypesAreRefused)
{
    const BufHandle src = source(sample.plain), dst = room(1000);
    for (const int type :
         {0, -1, int{DOCA_COMPRESS_DEFLATE_JOB} - 1, int{DOCA_DECOMPRESS_LZ4_JOB} + 1, int{DOCA_DMA_JOB_MEMCPY}})
        engine.expect_refused(engine.job(type, src, dst, nullptr).base(), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(CompressErrorTest, MembersOfListsThatAreNoHeadsAreRefused)
{
    BufHandle list, rooms;
    append(list, source(sample.plain));
    doca_buf *const member = source(sample.plain).release(), *const room_member = room(1000).release();
    append(list, BufHandle(member));
    append(rooms, room(1000));
    append(rooms, BufHandle(room_member));
    const BufHandle src = source(sample.plain), dst = room(1000);
    engine.expect_refused(engine.job(DOCA_COMPRESS_DEFLATE_JOB, member, dst, nullptr).base(), DOCA_ERROR_INVALID_VALUE);
    engine.expect_refused(engine.job(DOCA_COMPRESS_DEFLATE_JOB, src, room_member, nullptr).base(),
                          DOCA_ERROR_INVALID_VALUE);
}

TEST_P(CompressErrorTest, RightsAndDevicesOfMemoryMapsCount)
{
    Bytes own(1000);
    const LocalMap read_only(dev, own, DOCA_ACCESS_LOCAL_READ_ONLY), of_no_device({}, own);
    expect_refused(
        good_source, [&] { return inventory.empty(read_only, own.data(), own.size()); }, DOCA_ERROR_NOT_PERMITTED);
    expect_refused(
        good_source, [&] { return inventory.empty(of_no_device, own.data(), own.size()); }, DOCA_ERROR_INVALID_VALUE);
    const auto in_own = [&](doca_mmap *of) {
        return [&own, of, this](const Bytes &data) {
            std::ranges::copy(data, own.begin());
            return inventory.full(of, own.data(), data.size());
        };
    };
    expect_refused(in_own(of_no_device), good_destination, DOCA_ERROR_INVALID_VALUE);
    for (const doca_compress_job_types type : compress_job_types) {
        const BufHandle src = in_own(read_only)(sample.source_of(type)), dst = room(1000);
        EXPECT_EQ(engine.run(type, src, dst), DOCA_SUCCESS) << "read-only memory can be a source";
    }
}

TEST_P(CompressErrorTest, DataOutsideOfItsBufferIsRefused)
{
    for (const auto &[offset, length] : {std::pair{-1, 8}, {60, 441}, {501, 1}}) {
        expect_refused(
            [&, move = offset, data_len = length](const Bytes &) {
                BufHandle buf = source(Bytes(500));
                must(doca_buf_set_data(buf, data_of(buf) + move, static_cast<std::size_t>(data_len)));
                return buf;
            },
            good_destination, DOCA_ERROR_INVALID_VALUE);
    }
}

TEST_P(CompressErrorTest, ListsBeyondTheLimitAreRefused)
{
    std::uint32_t limit = 0;
    must(doca_compress_get_max_list_buf_num_elem(info, &limit));
    const BufHandle dst = room(5000);
    BufHandle src;
    for (std::uint32_t i = 0; i != limit; ++i)
        append(src, source(bytes_of("x")));
    EXPECT_EQ(engine.run(DOCA_COMPRESS_DEFLATE_JOB, src, dst), DOCA_SUCCESS);
    append(src, source(bytes_of("x")));
    engine.expect_refused(engine.job(DOCA_COMPRESS_DEFLATE_JOB, src, dst, nullptr).base(), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(CompressErrorTest, SourcesBeyondTheLimitAreRefused)
{
    std::uint64_t limit = 0;
    must(doca_compress_get_max_buf_size(info, DOCA_COMPRESS_DEFLATE_JOB, &limit));
    const RepeatedMemory huge(limit + 1);
    const LocalMap huge_map(dev, huge.bytes());
    expect_refused([&](const Bytes &) { return inventory.full(huge_map, huge.data(), limit + 1); }, good_destination,
                   DOCA_ERROR_INVALID_VALUE);
}

TEST_P(CompressErrorTest, FirstBufferOfAnLz4SourceHasFourBytes)
{
    const BufHandle dst = room(1000);
    for (const std::size_t first : {1, 3, 4}) {
        BufHandle src;
        append(src, source(std::span(sample.blocks).first(first)));
        append(src, source(std::span(sample.blocks).subspan(first)));
        const CompressJob job = engine.job(DOCA_DECOMPRESS_LZ4_JOB, src, dst, nullptr);
        if (first < 4) {
            const LogCapture log;
            engine.expect_refused(job.base(), DOCA_ERROR_INVALID_VALUE);
            EXPECT_LOGGED(log, "the first buffer of the source has " + std::to_string(first) + " bytes of data");
        } else {
            EXPECT_EQ(engine.run(job.base()), DOCA_SUCCESS);
        }
    }
}

TEST_P(CompressErrorTest, TruncatedSourcesFailAndTheContextContinues)
{
    for (const doca_compress_job_types type : {DOCA_DECOMPRESS_DEFLATE_JOB, DOCA_DECOMPRESS_LZ4_JOB}) {
        const Bytes &data = sample.source_of(type);
        const BufHandle src = source(data), dst = room(500);
        for (std::size_t length = 4; length != data.size(); ++length) {
            must(doca_buf_set_data(src, data_of(src), length));
            ASSERT_EQ(engine.run(type, src, dst), DOCA_ERROR_IO_FAILED) << length;
            ASSERT_EQ(data_len_of(dst), 0u);
        }
        must(doca_buf_set_data(src, data_of(src), data.size()));
        EXPECT_EQ(engine.run(type, src, dst), DOCA_SUCCESS);
        EXPECT_EQ(bytes_in(dst), sample.plain);
    }
}

/// Whatever the source is, a job ends, and writes nothing beyond its destination.
TEST_P(CompressErrorTest, CorruptSourcesStayWithinTheDestination)
{
    std::uint32_t seed = 12345;
    const auto random = [&](std::size_t limit) {
        seed = seed * 1664525 + 1013904223;
        return static_cast<std::size_t>(seed >> 8) % limit;
    };
    for (const doca_compress_job_types type : {DOCA_DECOMPRESS_DEFLATE_JOB, DOCA_DECOMPRESS_LZ4_JOB}) {
        const Bytes &data = sample.source_of(type);
        const BufHandle src = source(data), dst = room(600);
        std::byte *const from = data_of(src), *const to = data_of(dst);
        for (int round = 0; round != 1000; ++round) {
            std::ranges::copy(data, from);
            for (std::size_t i = random(4) + 1; i != 0; --i)
                from[random(data.size())] = static_cast<std::byte>(random(256));
            must(doca_buf_reset_data_len(dst));
            const doca_error_t status = engine.run(type, src, dst);
            ASSERT_TRUE(status == DOCA_SUCCESS || status == DOCA_ERROR_IO_FAILED);
            ASSERT_EQ(to[600], canary);
            ASSERT_EQ(to[-1], canary);
        }
    }
}

TEST_P(CompressErrorTest, ErrorsAreReportedAlsoWhenTheQueueIsFull)
{
    const CompressEngine small(dev, 1);
    const BufHandle src = source(sample.plain), dst = room(1000);
    const CompressJob job = small.job(DOCA_COMPRESS_DEFLATE_JOB, src, dst, nullptr);
    EXPECT_EQ(small.submit(job.base()), DOCA_SUCCESS);
    EXPECT_EQ(small.submit(job.base()), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(small.submit(small.job(DOCA_COMPRESS_DEFLATE_JOB, nullptr, dst, nullptr).base()),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(small.result_of(DOCA_COMPRESS_DEFLATE_JOB), DOCA_SUCCESS);
}

TEST_P(CompressErrorTest, JobsOfOtherContextsAreRefused)
{
    const CompressEngine elsewhere(dev);
    const BufHandle src = source(sample.plain), dst = room(1000);
    EXPECT_EQ(engine.submit(elsewhere.job(DOCA_COMPRESS_DEFLATE_JOB, src, dst, nullptr).base()), DOCA_ERROR_NOT_FOUND);
    CompressHandle stopped;
    must(doca_compress_create(stopped.out()));
    CompressJob job = engine.job(DOCA_COMPRESS_DEFLATE_JOB, src, dst, nullptr);
    job.deflate.base.ctx = doca_compress_as_ctx(stopped);
    EXPECT_EQ(engine.submit(job.base()), DOCA_ERROR_BAD_STATE);
    stopped.reset();
}

/// The importer's device works on memory that the exporter's has exported.
class CompressImportTest : public testing::TestWithParam<DevicePair> {
protected:
    void SetUp() override
    {
        if (!can_compress(doca_dev_as_devinfo(dev)))
            GTEST_SKIP() << "the importer does not compress";
    }
    void import(std::uint32_t rights)
    {
        exported_map = std::make_unique<LocalMap>(host, exported, DOCA_ACCESS_LOCAL_READ_WRITE | rights);
        const void *descriptor = nullptr;
        std::size_t length = 0;
        must(doca_mmap_export_dpu(*exported_map, host, &descriptor, &length));
        must(doca_mmap_create_from_export(nullptr, descriptor, length, dev, imported.out()));
    }

    const DevHandle host = open_device(GetParam().exporter), dev = open_device(GetParam().importer);
    const CompressSample sample{text_of(3000)};
    Bytes exported = Bytes(8192), own = Bytes(8192);
    const LocalMap own_map{dev, own};
    std::unique_ptr<LocalMap> exported_map;
    MmapHandle imported;
    const Inventory inventory{8};
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CompressImportTest);
INSTANTIATE_TEST_SUITE_P(pair, CompressImportTest, testing::ValuesIn(few_device_pairs()), pair_name);

TEST_P(CompressImportTest, SourcesOfDeflateAndAllDestinationsMayBeImported)
{
    import(DOCA_ACCESS_DPU_READ_WRITE);
    const CompressEngine engine(dev);
    for (const doca_compress_job_types type : compress_job_types) {
        const Bytes &data = sample.source_of(type);
        std::ranges::copy(data, exported.begin());
        std::ranges::copy(data, own.begin());
        const BufHandle remote = inventory.full(imported, exported.data(), data.size()),
                        local = inventory.full(own_map, own.data(), data.size()),
                        remote_room = inventory.empty(imported, &exported[4096], 4096),
                        local_room = inventory.empty(own_map, &own[4096], 4096);
        std::uint64_t checksums = 0;
        if (!GetParam().importer.is_soft()) {
            engine.expect_refused(engine.job(type, remote, local_room, nullptr).base(), DOCA_ERROR_NOT_PERMITTED);
            engine.expect_refused(engine.job(type, local, remote_room, nullptr).base(), DOCA_ERROR_NOT_PERMITTED);
            continue;
        }
        ASSERT_EQ(engine.run(type, local, remote_room, &checksums), DOCA_SUCCESS);
        const std::size_t length = data_len_of(remote_room);
        sample.check(type, Bytes(&exported[4096], &exported[4096] + length), checksums);
        const CompressJob from_remote = engine.job(type, remote, local_room, &checksums);
        if (type == DOCA_DECOMPRESS_LZ4_JOB) {
            const LogCapture log;
            engine.expect_refused(from_remote.base(), DOCA_ERROR_NOT_PERMITTED);
            EXPECT_LOGGED(log, "the source of an LZ4 job is local");
        } else {
            ASSERT_EQ(engine.run(from_remote.base()), DOCA_SUCCESS);
            sample.check(type, bytes_in(local_room), checksums);
        }
    }
}

TEST_P(CompressImportTest, MemoryExportedForReadingIsNotWritten)
{
    import(DOCA_ACCESS_DPU_READ_ONLY);
    const CompressEngine engine(dev);
    std::ranges::copy(sample.plain, own.begin());
    const BufHandle src = inventory.full(own_map, own.data(), sample.plain.size()),
                    dst = inventory.empty(imported, exported.data(), 8192);
    engine.expect_refused(engine.job(DOCA_COMPRESS_DEFLATE_JOB, src, dst, nullptr).base(), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(exported, Bytes(8192));
}

TEST_P(CompressImportTest, MemoryThatIsNoLongerExportedFailsTheJob)
{
    if (!GetParam().importer.is_soft())
        GTEST_SKIP() << "imported memory is refused";
    import(DOCA_ACCESS_DPU_READ_WRITE);
    const CompressEngine engine(dev);
    std::ranges::copy(sample.stream, exported.begin());
    const BufHandle src = inventory.full(imported, exported.data(), sample.stream.size()),
                    dst = inventory.empty(own_map, own.data(), 8192);
    EXPECT_EQ(engine.run(DOCA_DECOMPRESS_DEFLATE_JOB, src, dst), DOCA_SUCCESS);
    must(doca_buf_reset_data_len(dst));
    must(doca_mmap_stop(*exported_map));
    std::uint64_t checksums = 77;
    EXPECT_EQ(engine.run(DOCA_DECOMPRESS_DEFLATE_JOB, src, dst, &checksums), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(data_len_of(dst), 0u);
    EXPECT_EQ(checksums, 77u);
}
