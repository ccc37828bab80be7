// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compress jobs: what a device says that it can do, results and checksums against zlib and liblz4's frames, and queues.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

#include "compress_vectors.hpp"
#include "support/compress_fixture.hpp"
#include "support/environment.hpp"
#include "support/graph_fixture.hpp"
#include "support/topology_file.hpp"

using namespace doca_test;

INSTANTIATE_FOR_DEVICES(CompressTest, can_compress);

class CompressLongTest : public CompressTest {};
INSTANTIATE_FOR_FEW_DEVICES(CompressLongTest, can_compress);

// Capabilities

TEST(CompressDevices, EverySoftwareDeviceSupportsAllJobs)
{
    EXPECT_EQ(devices_that(can_compress).size(),
              devices_that([](doca_devinfo *info) { return is_soft(info) || can_compress(info); }).size());
}

TEST(CompressDevices, OtherDevicesSupportNoneUnlessTheCpuStandsIn)
{
    const char *const text = std::getenv("DOCA_SOFT_ENGINES");
    const doca_error_t expected = text != nullptr && std::string(text) == "1" ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    for (const DeviceParam &device : devices_that([](doca_devinfo *info) { return !is_soft(info); })) {
        const DevHandle dev = open_device(device);
        for (const doca_compress_job_types type : compress_job_types)
            EXPECT_EQ(doca_compress_job_get_supported(doca_dev_as_devinfo(dev), type), expected) << device;
        std::uint32_t number = 0;
        EXPECT_EQ(doca_compress_get_max_list_buf_num_elem(doca_dev_as_devinfo(dev), &number), expected);
        CompressHandle compress;
        must(doca_compress_create(compress.out()));
        EXPECT_EQ(doca_ctx_dev_add(doca_compress_as_ctx(compress), dev), expected) << device;
        compress.reset();
    }
}

TEST(CompressDevices, SoftwareDevicesAnswerAsTheCardOfTheTopology)
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
        std::uint64_t length = 0;
        for (const doca_compress_job_types type : compress_job_types) {
            const doca_error_t status = doca_compress_job_get_supported(doca_dev_as_devinfo(dev), type);
            text += status == DOCA_SUCCESS ? 'y' : '-';
            EXPECT_EQ(doca_compress_get_max_buf_size(doca_dev_as_devinfo(dev), type, &length), status);
        }
        return text + ' ' + std::to_string(length >> 20);
    };
    EXPECT_EQ(answers("soft_any"), "yyy 128");
    EXPECT_EQ(answers("soft_bf2"), "yy- 128");
    EXPECT_EQ(answers("soft_bf3"), "-yy 2");
    EXPECT_EQ(answers("soft_none"), "--- 0");
    {
        // A context on that device does what the device can.
        const DevHandle dev = open_device("soft_bf3");
        Bytes memory(2000);
        const CompressSample sample(text_of(500));
        const LocalMap map(dev, memory);
        const Inventory inventory(2);
        std::ranges::copy(sample.stream, memory.begin());
        const CompressEngine engine(dev);
        const BufHandle src = inventory.full(map, memory.data(), sample.stream.size());
        const BufHandle dst = inventory.empty(map, &memory[1000], 1000);
        engine.expect_refused(engine.job(DOCA_COMPRESS_DEFLATE_JOB, src, dst, nullptr).base(),
                              DOCA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(engine.run(DOCA_DECOMPRESS_DEFLATE_JOB, src, dst), DOCA_SUCCESS);
        EXPECT_EQ(bytes_in(dst), sample.plain);
    }
    const DevHandle dev = open_device("soft_none");
    CompressHandle compress;
    must(doca_compress_create(compress.out()));
    EXPECT_EQ(doca_ctx_dev_add(doca_compress_as_ctx(compress), dev), DOCA_ERROR_NOT_SUPPORTED);
    compress.reset();
}

TEST_P(CompressTest, CapabilitiesHaveTheLimits)
{
    std::uint32_t number = 0;
    EXPECT_EQ(doca_compress_get_max_list_buf_num_elem(info, &number), DOCA_SUCCESS);
    EXPECT_EQ(number, 1024u);
    for (const doca_compress_job_types type : compress_job_types) {
        std::uint64_t length = 0;
        EXPECT_EQ(doca_compress_get_max_buf_size(info, type, &length), DOCA_SUCCESS);
        EXPECT_EQ(length, std::uint64_t{128} << 20);
    }
}

TEST_P(CompressTest, CapabilitiesRefuseBadValues)
{
    std::uint32_t number = 77;
    std::uint64_t length = 77;
    EXPECT_EQ(doca_compress_job_get_supported(nullptr, DOCA_COMPRESS_DEFLATE_JOB), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_compress_get_max_list_buf_num_elem(nullptr, &number), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_compress_get_max_list_buf_num_elem(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_compress_get_max_buf_size(nullptr, DOCA_COMPRESS_DEFLATE_JOB, &length), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_compress_get_max_buf_size(info, DOCA_COMPRESS_DEFLATE_JOB, nullptr), DOCA_ERROR_INVALID_VALUE);
    for (const int type : {0, int{DOCA_COMPRESS_DEFLATE_JOB} - 1, int{DOCA_DECOMPRESS_LZ4_JOB} + 1}) {
        const auto job = static_cast<doca_compress_job_types>(type);
        EXPECT_EQ(doca_compress_job_get_supported(info, job), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_compress_get_max_buf_size(info, job, &length), DOCA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(number, 77u);
    EXPECT_EQ(length, 77u);
}

// The context

TEST_P(CompressTest, LifeOfAContext)
{
    EXPECT_EQ(doca_compress_create(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_compress_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_compress_as_ctx(nullptr), nullptr);

    CompressHandle compress;
    ASSERT_EQ(doca_compress_create(compress.out()), DOCA_SUCCESS);
    doca_ctx *const ctx = doca_compress_as_ctx(compress);
    EXPECT_EQ(doca_compress_as_ctx(compress), ctx);
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_ERROR_INVALID_VALUE) << "it has no device";
    EXPECT_EQ(doca_ctx_dev_add(ctx, dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_compress_destroy(compress), DOCA_ERROR_IN_USE);
    std::uint8_t can_sleep = 0;
    EXPECT_EQ(doca_ctx_get_event_driven_supported(ctx, &can_sleep), DOCA_SUCCESS);
    EXPECT_EQ(can_sleep, 1);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_dev_rm(ctx, dev), DOCA_SUCCESS);
}

TEST_P(CompressTest, ContextsHaveOneDevice)
{
    DevHandle other;
    for (const DeviceParam &device : devices_that(can_compress)) {
        if (device.ibdev != GetParam().ibdev)
            other = open_device(device);
    }
    if (other.get() == nullptr)
        GTEST_SKIP() << "takes two devices";
    CompressHandle compress;
    must(doca_compress_create(compress.out()));
    EXPECT_EQ(doca_ctx_dev_add(doca_compress_as_ctx(compress), dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_dev_add(doca_compress_as_ctx(compress), dev), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_ctx_dev_add(doca_compress_as_ctx(compress), other), DOCA_ERROR_NOT_SUPPORTED);
    compress.reset();
}

// Results

TEST_P(CompressTest, KnownAnswers)
{
    for (const CompressVector &answer : compress_vectors()) {
        if (answer.format == Format::lz4_block)
            continue; // no job takes these
        const BufHandle src = source(std::as_bytes(std::span(answer.source)));
        const BufHandle dst = room(64);
        const bool is_deflate = answer.format == Format::deflate;
        std::uint64_t checksums = 0;
        ASSERT_EQ(engine.run(is_deflate ? DOCA_DECOMPRESS_DEFLATE_JOB : DOCA_DECOMPRESS_LZ4_JOB, src, dst, &checksums),
                  DOCA_SUCCESS)
            << answer.text;
        EXPECT_EQ(bytes_in(dst), bytes_of(answer.text));
        EXPECT_EQ(checksums, checksums_of(bytes_of(answer.text)));
        if (answer.crc != 0) {
            EXPECT_EQ(static_cast<std::uint32_t>(checksums), answer.crc);
        }
        if (is_deflate && answer.second != 0) {
            EXPECT_EQ(checksums >> 32, answer.second);
        }
    }
}

TEST_P(CompressLongTest, ResultsAreThoseOfOtherLibrariesForAllSizes)
{
    for (const std::size_t length :
         {std::size_t{1}, std::size_t{2}, std::size_t{57}, std::size_t{1000}, std::size_t{65535}, std::size_t{65536},
          std::size_t{300000}, std::size_t{1} << 20}) {
        for (const bool is_text : {true, false}) {
            const CompressSample sample(is_text ? text_of(length) : noise_of(length));
            for (const doca_compress_job_types type : compress_job_types) {
                reset_memory();
                const BufHandle src = source(sample.source_of(type));
                const BufHandle dst = room(length + length / 100 + 64);
                std::uint64_t checksums = 0;
                ASSERT_EQ(engine.run(type, src, dst, &checksums), DOCA_SUCCESS) << length;
                sample.check(type, bytes_in(dst), checksums);
            }
        }
    }
}

/// zlib's levels use stored blocks, fixed and dynamic codes, and all lengths of matches.
TEST_P(CompressTest, StreamsOfAllLevelsOfZlibAreDecompressed)
{
    Bytes content = text_of(50000);
    const Bytes noise = noise_of(20000);
    content.insert(content.end(), noise.begin(), noise.end());
    for (int level = 0; level <= 9; ++level) {
        reset_memory();
        const BufHandle src = source(deflated(content, level));
        const BufHandle dst = room(content.size());
        ASSERT_EQ(engine.run(DOCA_DECOMPRESS_DEFLATE_JOB, src, dst), DOCA_SUCCESS) << level;
        EXPECT_TRUE(bytes_in(dst) == content) << level;
    }
}

TEST_P(CompressTest, Lz4BlocksAreLinkedOrIndependentAndHaveNoChecksums)
{
    const Bytes content = text_of(250000);
    for (const bool is_independent : {false, true}) {
        for (const bool has_checksum : {false, true}) {
            reset_memory();
            const BufHandle src = source(lz4_frame(content, has_checksum, is_independent).blocks);
            const BufHandle dst = room(content.size());
            const doca_error_t result = engine.run(DOCA_DECOMPRESS_LZ4_JOB, src, dst);
            EXPECT_EQ(result, has_checksum ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS);
            EXPECT_EQ(data_len_of(dst), has_checksum ? 0u : content.size());
        }
    }
}

TEST_P(CompressTest, ChecksumsAreOptionalAndWrittenOnlyOnSuccess)
{
    const CompressSample sample(text_of(3000));
    for (const doca_compress_job_types type : compress_job_types) {
        const BufHandle src = source(sample.source_of(type)), dst = room(4000), small = room(10);
        EXPECT_EQ(engine.run(type, src, dst, nullptr), DOCA_SUCCESS);
        std::uint64_t checksums = 77;
        EXPECT_EQ(engine.run(type, src, small, &checksums), DOCA_ERROR_IO_FAILED);
        engine.expect_refused(engine.job(type, src, nullptr, &checksums).base(), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(checksums, 77u);
        must(doca_buf_reset_data_len(dst));
        EXPECT_EQ(engine.run(type, src, dst, &checksums), DOCA_SUCCESS);
        sample.check(type, bytes_in(dst), checksums);
    }
}

TEST_P(CompressTest, ResultIsAppendedToTheDestination)
{
    const CompressSample sample(text_of(5000));
    for (const doca_compress_job_types type : compress_job_types) {
        const BufHandle src = source(sample.source_of(type));
        const BufHandle dst = room(20000);
        must(doca_buf_set_data(dst, data_of(dst) + 2, 3));
        ASSERT_EQ(engine.run(type, src, dst), DOCA_SUCCESS);
        ASSERT_EQ(engine.run(type, src, dst), DOCA_SUCCESS);
        const Bytes all = bytes_in(dst);
        EXPECT_EQ(Bytes(all.begin(), all.begin() + 3), Bytes(3, canary));
        const auto middle = all.begin() + 3 + static_cast<std::ptrdiff_t>((all.size() - 3) / 2);
        const Bytes first(all.begin() + 3, middle), second(middle, all.end());
        EXPECT_EQ(first, second);
        sample.check(type, first, checksums_of(sample.plain));
    }
}

TEST_P(CompressTest, ListsAreCutAnywhere)
{
    const CompressSample sample(text_of(50000));
    for (const doca_compress_job_types type : compress_job_types) {
        for (const std::size_t count : {1, 2, 3, 7, 40}) {
            reset_memory();
            BufHandle src, dst;
            std::span<const std::byte> rest(sample.source_of(type));
            for (std::size_t i = 0; i != count; ++i) {
                const std::size_t length =
                    i + 1 == count ? rest.size() : std::min(rest.size(), rest.size() / 2 + i % 3);
                append(src, source(rest.first(length)));
                rest = rest.subspan(length);
            }
            append(dst, room(1));
            for (std::size_t i = 1; i != 30; ++i)
                append(dst, room(i % 5 == 0 ? 7 : 2500 + i));
            std::uint64_t checksums = 0;
            ASSERT_EQ(engine.run(type, src, dst, &checksums), DOCA_SUCCESS) << count;
            EXPECT_EQ(data_len_of(dst), 1u) << "of the first element";
            sample.check(type, bytes_in(dst), checksums);
        }
    }
}

TEST_P(CompressTest, OverlappingSourceAndDestinationGiveTheResultOfACopy)
{
    const CompressSample sample(text_of(50000));
    for (const doca_compress_job_types type : compress_job_types) {
        for (const std::size_t offset : {0, 1, 3000}) {
            std::byte *const at = (reset_memory(), take(100000));
            std::ranges::copy(sample.source_of(type), at + offset);
            const BufHandle src = inventory.full(map, at + offset, sample.source_of(type).size());
            const BufHandle dst = inventory.empty(map, at, 60000);
            std::uint64_t checksums = 0;
            ASSERT_EQ(engine.run(type, src, dst, &checksums), DOCA_SUCCESS) << offset;
            sample.check(type, bytes_in(dst), checksums);
        }
    }
}

TEST_P(CompressTest, DestinationExactlyAsLongAsTheResultSuffices)
{
    const CompressSample sample(text_of(5000));
    for (const doca_compress_job_types type : compress_job_types) {
        const BufHandle src = source(sample.source_of(type)), wide = room(10100);
        ASSERT_EQ(engine.run(type, src, wide), DOCA_SUCCESS);
        const std::size_t needed = data_len_of(wide);
        const BufHandle exact = room(needed);
        std::uint64_t checksums = 0;
        EXPECT_EQ(engine.run(type, src, exact, &checksums), DOCA_SUCCESS);
        sample.check(type, bytes_in(exact), checksums);
        const BufHandle small = room(needed - 1);
        EXPECT_EQ(engine.run(type, src, small), DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(data_len_of(small), 0u);
        EXPECT_EQ(data_of(small)[needed - 1], canary);
    }
}

// Queues

TEST_P(CompressTest, AsManyJobsAsTheQueueIsDeep)
{
    const CompressSample sample(text_of(2000));
    const BufHandle src = source(sample.stream);
    std::vector<BufHandle> results;
    for (std::size_t i = 0; i < 33; ++i)
        results.push_back(room(2000));
    const auto submit = [&](std::size_t i) {
        return engine.submit(engine.job(DOCA_DECOMPRESS_DEFLATE_JOB, src, results[i], nullptr).base());
    };
    for (std::size_t i = 0; i < 32; ++i)
        EXPECT_EQ(submit(i), DOCA_SUCCESS);
    EXPECT_EQ(submit(32), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(data_len_of(results[32]), 0u);
    for (std::size_t i = 0; i < 32; ++i) {
        EXPECT_EQ(engine.result_of(DOCA_DECOMPRESS_DEFLATE_JOB), DOCA_SUCCESS);
        EXPECT_EQ(bytes_in(results[i]), sample.plain);
    }
    EXPECT_EQ(engine.run(DOCA_DECOMPRESS_DEFLATE_JOB, src, results[32]), DOCA_SUCCESS);
}

TEST_P(CompressTest, ContextStopsWhenItsJobsInFlightWereRetrieved)
{
    const CompressSample sample(text_of(2000));
    const BufHandle src = source(sample.plain);
    CompressHandle compress;
    must(doca_compress_create(compress.out()));
    doca_ctx *const ctx = doca_compress_as_ctx(compress);
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_ctx_start(ctx));
    must(doca_ctx_workq_add(ctx, engine.workq()));
    std::vector<BufHandle> results;
    for (int i = 0; i < 3; ++i) {
        results.push_back(room(2100));
        CompressJob job = engine.job(DOCA_COMPRESS_DEFLATE_JOB, src, results.back(), nullptr);
        job.deflate.base.ctx = ctx;
        ASSERT_EQ(engine.submit(job.base()), DOCA_SUCCESS);
    }
    EXPECT_NE(doca_ctx_stop(ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, engine.workq()), DOCA_ERROR_NOT_PERMITTED);
    for (const BufHandle &result : results) {
        EXPECT_EQ(engine.result_of(DOCA_COMPRESS_DEFLATE_JOB), DOCA_SUCCESS);
        EXPECT_EQ(inflated(bytes_in(result), sample.plain.size()), sample.plain);
    }
    EXPECT_EQ(doca_ctx_workq_rm(ctx, engine.workq()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(CompressTest, NextToDmaOnOneQueue)
{
    const CompressSample sample(text_of(2000));
    const DmaEngine copies(dev);
    must(doca_ctx_workq_add(engine.ctx(), copies.workq()));
    const BufHandle src = source(sample.plain), packed = room(2100), copy = room(2000);
    EXPECT_EQ(copies.submit(copy, src), DOCA_SUCCESS);
    const CompressJob job = engine.job(DOCA_COMPRESS_DEFLATE_JOB, src, packed, nullptr);
    EXPECT_EQ(doca_workq_submit(copies.workq(), &job.base()), DOCA_SUCCESS);
    std::set<int> types;
    for (int i = 0; i < 2; ++i) {
        doca_event event = {};
        EXPECT_EQ(wait_for(copies.workq(), event), DOCA_SUCCESS);
        types.insert(event.type);
    }
    EXPECT_EQ(types, (std::set<int>{DOCA_DMA_JOB_MEMCPY, DOCA_COMPRESS_DEFLATE_JOB}));
    EXPECT_EQ(inflated(bytes_in(packed), 2000), sample.plain);
    EXPECT_EQ(doca_ctx_workq_rm(engine.ctx(), copies.workq()), DOCA_SUCCESS);
}

TEST_P(CompressTest, EventDrivenQueuesAreNotified)
{
    const CompressEngine sleeping(dev, 4, true);
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(sleeping.workq(), &handle));
    const auto is_readable = [&] {
        pollfd poll_handle = {.fd = handle, .events = POLLIN, .revents = 0};
        return poll(&poll_handle, 1, 0) == 1;
    };
    const CompressSample sample(text_of(300));
    for (const doca_compress_job_types type : compress_job_types) {
        const BufHandle src = source(sample.source_of(type)), dst = room(400);
        must(doca_workq_event_handle_arm(sleeping.workq()));
        EXPECT_FALSE(is_readable());
        EXPECT_EQ(sleeping.submit(sleeping.job(type, src, dst, nullptr).base()), DOCA_SUCCESS);
        EXPECT_TRUE(is_readable());
        must(doca_workq_event_handle_clear(sleeping.workq(), handle));
        EXPECT_EQ(sleeping.result_of(type), DOCA_SUCCESS);
    }
}

TEST_P(CompressLongTest, ThreadsHaveQueuesOfTheirOwnOnOneContext)
{
    const CompressSample sample(text_of(20000));
    std::vector<std::thread> threads;
    for (const doca_compress_job_types type : compress_job_types) {
        std::byte *const from = take(20000), *const to = take(21000);
        threads.emplace_back([&, type, from, to] {
            WorkqHandle workq;
            must(doca_workq_create(1, workq.out()));
            must(doca_ctx_workq_add(engine.ctx(), workq));
            const Inventory own(2);
            std::ranges::copy(sample.source_of(type), from);
            const BufHandle src = own.full(map, from, sample.source_of(type).size()), dst = own.empty(map, to, 21000);
            for (int i = 0; i < 20; ++i) {
                must(doca_buf_reset_data_len(dst));
                std::uint64_t checksums = 0;
                const CompressJob job = engine.job(type, src, dst, &checksums);
                doca_event event = {};
                ASSERT_EQ(doca_workq_submit(workq, &job.base()), DOCA_SUCCESS);
                ASSERT_EQ(wait_for(workq, event), DOCA_SUCCESS);
                sample.check(type, bytes_in(dst), checksums);
            }
            must(doca_ctx_workq_rm(engine.ctx(), workq));
        });
    }
    for (std::thread &thread : threads)
        thread.join();
}

// Long jobs, which a thread carries out

constexpr std::size_t long_size = std::size_t{1} << 20;

TEST_P(CompressLongTest, LongJobsCompleteInPollsAndInOrder)
{
    const CompressSample sample(text_of(long_size)), short_sample(text_of(1000));
    for (const doca_compress_job_types type : compress_job_types) {
        // Of another type, so that results show the order.
        const doca_compress_job_types behind =
            type == DOCA_COMPRESS_DEFLATE_JOB ? DOCA_DECOMPRESS_DEFLATE_JOB : DOCA_COMPRESS_DEFLATE_JOB;
        reset_memory();
        const BufHandle src = source(sample.source_of(type)), dst = room(long_size);
        const BufHandle short_src = source(short_sample.source_of(behind)), short_dst = room(2000);
        std::uint64_t checksums = 77, short_checksums = 77;
        ASSERT_EQ(engine.submit(engine.job(type, src, dst, &checksums).base()), DOCA_SUCCESS);
        ASSERT_EQ(engine.submit(engine.job(behind, short_src, short_dst, &short_checksums).base()), DOCA_SUCCESS);
        EXPECT_EQ(data_len_of(dst), 0u) << "only a poll completes a long job";
        EXPECT_EQ(data_len_of(short_dst), 0u) << "it waits for the long one";
        EXPECT_EQ(checksums, 77u);
        EXPECT_EQ(short_checksums, 77u);
        EXPECT_EQ(engine.result_of(type), DOCA_SUCCESS);
        sample.check(type, bytes_in(dst), checksums);
        EXPECT_EQ(engine.result_of(behind), DOCA_SUCCESS);
        short_sample.check(behind, bytes_in(short_dst), short_checksums);
    }
}

TEST_P(CompressLongTest, LongJobsWakeEventDrivenQueues)
{
    const CompressEngine sleeping(dev, 4, true);
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(sleeping.workq(), &handle));
    const CompressSample sample(text_of(long_size));
    for (const doca_compress_job_types type : compress_job_types) {
        reset_memory();
        const BufHandle src = source(sample.source_of(type)), dst = room(long_size);
        std::uint64_t checksums = 0;
        ASSERT_EQ(sleeping.submit(sleeping.job(type, src, dst, &checksums).base()), DOCA_SUCCESS);
        doca_event event = {};
        doca_error_t status = DOCA_ERROR_AGAIN;
        int num_wakes = 0;
        for (; status == DOCA_ERROR_AGAIN; ++num_wakes) {
            must(doca_workq_event_handle_arm(sleeping.workq()));
            pollfd descriptor = {.fd = handle, .events = POLLIN, .revents = 0};
            ASSERT_EQ(poll(&descriptor, 1, 100000), 1) << "the queue sleeps although a job has ended";
            must(doca_workq_event_handle_clear(sleeping.workq(), handle));
            status = doca_workq_progress_retrieve(sleeping.workq(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
        }
        EXPECT_LE(num_wakes, 3) << "the queue is woken although there is nothing to do";
        EXPECT_EQ(status, DOCA_SUCCESS);
        EXPECT_EQ(event.type, type);
        sample.check(type, bytes_in(dst), checksums);
    }
}

TEST_P(CompressLongTest, RemovalOfAQueueEndsLongJobs)
{
    const CompressSample sample(text_of(long_size));
    CompressHandle compress;
    must(doca_compress_create(compress.out()));
    doca_ctx *const ctx = doca_compress_as_ctx(compress);
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_ctx_start(ctx));
    must(doca_ctx_workq_add(ctx, engine.workq()));
    const BufHandle src = source(sample.plain), results[] = {room(long_size), room(long_size / 2), room(1000)};
    std::uint64_t checksums[] = {77, 77, 77};
    for (int i = 0; i != 3; ++i) {
        CompressJob job = engine.job(DOCA_COMPRESS_DEFLATE_JOB, src, results[i], &checksums[i]);
        job.deflate.base.ctx = ctx;
        ASSERT_EQ(engine.submit(job.base()), DOCA_SUCCESS);
    }
    EXPECT_EQ(doca_ctx_workq_rm(ctx, engine.workq()), DOCA_ERROR_NOT_PERMITTED);
    // The one that the thread has begun ends as ever, unless it has been carried out before; the others do not begin.
    const doca_error_t first = engine.result_of(DOCA_COMPRESS_DEFLATE_JOB);
    EXPECT_TRUE(first == DOCA_SUCCESS || first == DOCA_ERROR_SHUTDOWN) << doca_get_error_name(first);
    if (first == DOCA_SUCCESS)
        sample.check(DOCA_COMPRESS_DEFLATE_JOB, bytes_in(results[0]), checksums[0]);
    for (int i = 1; i != 3; ++i) {
        EXPECT_EQ(engine.result_of(DOCA_COMPRESS_DEFLATE_JOB), DOCA_ERROR_SHUTDOWN);
        EXPECT_EQ(data_len_of(results[i]), 0u);
        EXPECT_EQ(checksums[i], 77u);
    }
    EXPECT_EQ(doca_ctx_workq_rm(ctx, engine.workq()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

// Graphs

TEST_P(CompressTest, JobsOfEachTypeAreNodesOfGraphs)
{
    const CompressSample sample(text_of(5000));
    TestGraph graph;
    doca_graph_node *const compress = graph.add_job(DOCA_COMPRESS_DEFLATE_JOB, engine.ctx()),
                           *const decompress = graph.add_job(DOCA_DECOMPRESS_DEFLATE_JOB, engine.ctx()),
                           *const lz4 = graph.add_job(DOCA_DECOMPRESS_LZ4_JOB, engine.ctx());
    graph.order({compress, decompress, lz4});
    graph.start_on(engine.workq());
    const InstanceHandle instance = graph.instance();
    const BufHandle src = source(sample.plain), packed = room(6000), back = room(5000), blocks = source(sample.blocks),
                    of_lz4 = room(5000);
    std::uint64_t checksums[3] = {};
    CompressJob jobs[] = {engine.job(DOCA_COMPRESS_DEFLATE_JOB, src, packed, &checksums[0]),
                          engine.job(DOCA_DECOMPRESS_DEFLATE_JOB, packed, back, &checksums[1]),
                          engine.job(DOCA_DECOMPRESS_LZ4_JOB, blocks, of_lz4, &checksums[2])};
    must(doca_graph_instance_set_ctx_node_data(instance, compress, &jobs[0].deflate.base, nullptr));
    must(doca_graph_instance_set_ctx_node_data(instance, decompress, &jobs[1].deflate.base, nullptr));
    must(doca_graph_instance_set_ctx_node_data(instance, lz4, &jobs[2].lz4.base, nullptr));
    EXPECT_EQ(run_instance(engine.workq(), instance), DOCA_SUCCESS);
    EXPECT_EQ(bytes_in(back), sample.plain);
    EXPECT_EQ(bytes_in(of_lz4), sample.plain);
    for (const std::uint64_t each : checksums)
        EXPECT_EQ(each, checksums_of(sample.plain));
}

TEST_P(CompressTest, NodeThatFailsEndsTheInstance)
{
    const CompressSample sample(text_of(5000));
    const BufHandle src = source(sample.stream), small = room(100), dst = room(6000);
    CompressJob too_long = engine.job(DOCA_DECOMPRESS_DEFLATE_JOB, src, small, nullptr),
                second = engine.job(DOCA_COMPRESS_DEFLATE_JOB, src, dst, nullptr);
    expect_failure_to_end_graph(engine.workq(), too_long.deflate.base, second.deflate.base);
    EXPECT_EQ(data_len_of(dst), 0u);
}
