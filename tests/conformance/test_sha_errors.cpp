// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SHA jobs that are refused, which changes nothing.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "support/log_capture.hpp"
#include "support/sha_fixture.hpp"

using namespace doca_test;

class ShaErrorTest : public ShaTest {
protected:
    void SetUp() override
    {
        ShaTest::SetUp();
        fill(digest_memory, 2);
        from = request(0, 100);
        to = inventory.with(digest_map, &digest_memory[0], 200, &digest_memory[10], 20);
    }

    [[nodiscard]] doca_sha_job good_job() const { return sha_job(engine.ctx(), sha_kinds[1], from, to); }

    /// Submits @p job, in one job and as a piece, which has to be refused with @p status; and looks for
    /// changes.
    void expect_refused(const doca_sha_job &job, doca_error_t status, bool also_as_piece = true)
    {
        const Session session(engine);
        std::vector<doca_sha_partial_job> jobs{{job, session}};
        if (also_as_piece) {
            jobs.push_back(jobs.front());
            jobs.back().sha_job.base.type += DOCA_SHA_JOB_SHA1_PARTIAL - DOCA_SHA_JOB_SHA1;
            jobs.back().sha_job.flags |= DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL;
        }
        for (const doca_sha_partial_job &each : jobs) {
            SCOPED_TRACE(each.sha_job.base.type);
            const std::size_t data_len = job.resp_buf == nullptr ? 0 : data_len_of(job.resp_buf);
            EXPECT_EQ(engine.submit(each), status);
            EXPECT_EQ(job.resp_buf == nullptr ? 0 : data_len_of(job.resp_buf), data_len);
            EXPECT_TRUE(is_filled(digest_memory, 2));
            doca_event event = {};
            EXPECT_EQ(doca_workq_progress_retrieve(engine.workq(), &event, 0), DOCA_ERROR_AGAIN);
        }
    }
    void expect_refused(doca_buf *request, doca_buf *response, doca_error_t status)
    {
        expect_refused(sha_job(engine.ctx(), sha_kinds[1], request, response), status);
    }

    BufHandle from;
    BufHandle to;
};
INSTANTIATE_FOR_DEVICES(ShaErrorTest, can_hash);

TEST_P(ShaErrorTest, null_buffers)
{
    expect_refused(nullptr, to, DOCA_ERROR_INVALID_VALUE);
    expect_refused(from, nullptr, DOCA_ERROR_INVALID_VALUE);
    expect_refused(nullptr, nullptr, DOCA_ERROR_INVALID_VALUE);
}

/// Where a program has moved a buffer's data to is looked at before anything is hashed.
TEST_P(ShaErrorTest, data_outside_of_its_buffer)
{
    for (const auto &[offset, length] : {std::pair{-1, 8}, {60, 41}, {101, 0}}) {
        must(doca_buf_set_data(from, memory.data() + offset, static_cast<std::size_t>(length)));
        expect_refused(good_job(), DOCA_ERROR_INVALID_VALUE);
    }
    must(doca_buf_set_data(from, &memory[0], 100));
    for (const auto &[offset, length] : {std::pair{190, 20}, {201, 0}}) {
        must(doca_buf_set_data(to, digest_memory.data() + offset, static_cast<std::size_t>(length)));
        expect_refused(good_job(), DOCA_ERROR_INVALID_VALUE);
    }
}

TEST_P(ShaErrorTest, unknown_job_types)
{
    for (const int type :
         {0, -1, int{DOCA_SHA_JOB_SHA1} - 1, int{DOCA_SHA_JOB_SHA512_PARTIAL} + 1, int{DOCA_DMA_JOB_MEMCPY}}) {
        doca_sha_job job = good_job();
        job.base.type = type;
        expect_refused(job, DOCA_ERROR_INVALID_VALUE, false);
    }
}

TEST_P(ShaErrorTest, UndefinedFlagsOfPiecesAreRefusedAndThoseOfWholeMessagesIgnored)
{
    for (const std::uint64_t flags : {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1} << 63}) {
        const Session session(engine);
        doca_sha_partial_job piece{good_job(), session};
        piece.sha_job.base.type += DOCA_SHA_JOB_SHA1_PARTIAL - DOCA_SHA_JOB_SHA1;
        piece.sha_job.flags = flags;
        EXPECT_EQ(engine.submit(piece), DOCA_ERROR_INVALID_VALUE);
        doca_sha_job whole = good_job();
        whole.flags = flags;
        whole.base.flags = 0x5a5a5a5a;
        const BufHandle digest = response();
        whole.resp_buf = digest;
        EXPECT_EQ(engine.run(whole), DOCA_SUCCESS);
        EXPECT_EQ(text_of(digest), openssl_digest(sha_kinds[1], message(0, 100)));
    }
    doca_sha_job last = good_job(); // which a whole message is
    last.flags = DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL;
    EXPECT_EQ(engine.run(last), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(to), 52u);
}

TEST_P(ShaErrorTest, buffers_that_are_no_heads)
{
    const BufHandle head = request(200, 10), response_head = response();
    doca_buf *const member = request(300, 10).release();
    doca_buf *const response_member = response().release();
    must(doca_buf_list_chain(head, member));
    must(doca_buf_list_chain(response_head, response_member));
    expect_refused(member, to, DOCA_ERROR_INVALID_VALUE);
    expect_refused(from, response_member, DOCA_ERROR_INVALID_VALUE);
}

TEST_P(ShaErrorTest, EmptyPieces)
{
    const BufHandle empty = inventory.empty(map, &memory[0], 100);
    for (const std::uint64_t flags : {DOCA_SHA_JOB_FLAGS_NONE, DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL}) {
        const Session session(engine);
        doca_sha_partial_job piece{sha_job(engine.ctx(), sha_kinds[1], empty, to), session};
        piece.sha_job.base.type += DOCA_SHA_JOB_SHA1_PARTIAL - DOCA_SHA_JOB_SHA1;
        piece.sha_job.flags = flags;
        const LogCapture log;
        EXPECT_EQ(engine.submit(piece), DOCA_ERROR_INVALID_VALUE);
        EXPECT_LOGGED(log, "a piece has 0 bytes of data");
        EXPECT_EQ(data_len_of(to), 20u);
    }
}

TEST_P(ShaErrorTest, responses_that_are_too_short)
{
    const LogCapture log;
    for (const ShaKind &kind : sha_kinds) {
        const BufHandle empty = response(kind.digest_size - 1);
        expect_refused(sha_job(engine.ctx(), kind, from, empty), DOCA_ERROR_INVALID_VALUE);
        const BufHandle full = inventory.full(digest_map, digest_memory.data(), kind.digest_size - 1);
        expect_refused(sha_job(engine.ctx(), kind, from, full), DOCA_ERROR_INVALID_VALUE);
        const BufHandle little_room =
            inventory.with(digest_map, &digest_memory[0], 200, &digest_memory[0], 201 - kind.digest_size);
        expect_refused(sha_job(engine.ctx(), kind, from, little_room), DOCA_ERROR_INVALID_VALUE);
        // The room of a second buffer does not count.
        must(doca_buf_list_chain(empty, response().release()));
        expect_refused(sha_job(engine.ctx(), kind, from, empty), DOCA_ERROR_INVALID_VALUE);
    }
    EXPECT_LOGGED(log, "has a digest of 64 bytes, and the destination has 0 bytes of data and room for 63 behind them");
}

TEST_P(ShaErrorTest, responses_are_checked_in_every_piece)
{
    const Session session(engine);
    const BufHandle blocks = request(0, 128), none = response(31);
    EXPECT_EQ(session.run(sha_kinds[1], blocks, none, false), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(ShaErrorTest, maps_without_the_device)
{
    std::vector<std::byte> other(100);
    const LocalMap no_device({}, other);
    const BufHandle foreign = inventory.full(no_device, other.data(), 100);
    expect_refused(foreign, to, DOCA_ERROR_INVALID_VALUE);
    expect_refused(from, foreign, DOCA_ERROR_INVALID_VALUE);
    const BufHandle list = request(0, 10);
    must(doca_buf_list_chain(list, inventory.full(no_device, other.data(), 10).release()));
    expect_refused(list, to, DOCA_ERROR_INVALID_VALUE);
}

TEST_P(ShaErrorTest, responses_that_may_not_be_written)
{
    std::vector<std::byte> bytes(100);
    const LocalMap read_only(dev, bytes, DOCA_ACCESS_LOCAL_READ_ONLY);
    const BufHandle response = inventory.empty(read_only, bytes.data(), 100);
    expect_refused(from, response, DOCA_ERROR_NOT_PERMITTED);
}

TEST_P(ShaErrorTest, lists_that_are_too_long)
{
    std::uint32_t limit = 0;
    must(doca_sha_get_max_list_buf_num_elem(info, &limit));
    if (limit > 4000)
        GTEST_SKIP() << limit << " buffers in a list are possible";
    const BufHandle list = request(0, 1);
    for (std::uint32_t i = 1; i < limit; ++i)
        must(doca_buf_list_chain(list, request(i, 1).release()));
    doca_buf *const tail = request(limit, 1).release();
    must(doca_buf_list_chain(list, tail));
    expect_refused(list, to, DOCA_ERROR_INVALID_VALUE);
    must(doca_buf_list_unchain(list, tail));
    must(doca_buf_refcount_rm(tail, nullptr));
    EXPECT_EQ(engine.hash(sha_kinds[1], list, to), DOCA_SUCCESS);
    EXPECT_EQ(hex(std::span(digest_memory).subspan(30, 32)), openssl_digest(sha_kinds[1], message(0, limit)));
}

TEST_P(ShaErrorTest, more_bytes_than_a_job_hashes)
{
    std::uint64_t limit = 0;
    must(doca_sha_get_max_src_buffer_size(info, &limit));
    if (limit > std::uint64_t{4} << 30)
        GTEST_SKIP() << limit << " bytes in a job are possible";
    const RepeatedMemory huge(limit + 1);
    const LocalMap huge_map(dev, huge.bytes());
    const BufHandle too_long = inventory.full(huge_map, huge.data(), limit + 1);
    expect_refused(too_long, to, DOCA_ERROR_INVALID_VALUE);
    const BufHandle list = inventory.full(huge_map, huge.data(), limit);
    must(doca_buf_list_chain(list, request(0, 1).release()));
    expect_refused(list, to, DOCA_ERROR_INVALID_VALUE);
}

TEST_P(ShaErrorTest, other_contexts)
{
    const ShaEngine elsewhere(dev);
    doca_sha_job job = good_job();
    job.base.ctx = elsewhere.ctx();
    EXPECT_EQ(engine.submit(job), DOCA_ERROR_NOT_FOUND);
    ShaHandle stopped;
    must(doca_sha_create(stopped.out()));
    job.base.ctx = doca_sha_as_ctx(stopped);
    EXPECT_EQ(engine.submit(job), DOCA_ERROR_BAD_STATE);
    EXPECT_TRUE(is_filled(digest_memory, 2));
}

TEST_P(ShaErrorTest, what_is_wrong_is_told_also_when_the_queue_is_full)
{
    const ShaEngine small(dev, 1);
    const Session session(small), second(small);
    doca_sha_job job = good_job();
    job.base.ctx = small.ctx();
    EXPECT_EQ(small.submit(job), DOCA_SUCCESS);
    EXPECT_EQ(small.submit(job), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(small.submit(session.job(sha_kinds[1], from, to, true)), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(small.submit(session.job(sha_kinds[1], from, to, false)), DOCA_ERROR_INVALID_VALUE);
    job.req_buf = nullptr;
    EXPECT_EQ(small.submit(job), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(small.result_of(DOCA_SHA_JOB_SHA256), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(to), 52u);
    EXPECT_EQ(session.run(sha_kinds[1], from, to, true), DOCA_SUCCESS) << "the refused piece has changed nothing";
    EXPECT_EQ(hex(std::span(digest_memory).subspan(62, 32)), openssl_digest(sha_kinds[1], message(0, 100)));
}

class ShaImportTest : public testing::TestWithParam<DevicePair> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ShaImportTest);
INSTANTIATE_TEST_SUITE_P(pair, ShaImportTest, testing::ValuesIn(few_device_pairs()), pair_name);

TEST_P(ShaImportTest, imported_memory_is_refused)
{
    const DevHandle host = open_device(GetParam().exporter), dev = open_device(GetParam().importer);
    std::vector<std::byte> exported(4096), own(4096);
    const LocalMap exported_map(host, exported, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
    const LocalMap own_map(dev, own);
    const void *descriptor = nullptr;
    std::size_t descriptor_len = 0;
    must(doca_mmap_export_dpu(exported_map, host, &descriptor, &descriptor_len));
    MmapHandle imported;
    must(doca_mmap_create_from_export(nullptr, descriptor, descriptor_len, dev, imported.out()));
    {
        const Inventory inventory(4);
        const ShaEngine engine(dev);
        const BufHandle remote = inventory.full(imported, exported.data(), 100);
        const BufHandle local = inventory.full(own_map, own.data(), 100);
        const LogCapture log;
        EXPECT_EQ(engine.hash(sha_kinds[0], remote, local), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_LOGGED(log, "copy it by DMA first");
        EXPECT_EQ(engine.hash(sha_kinds[0], local, remote), DOCA_ERROR_NOT_PERMITTED);
        // In a list, each member counts.
        const BufHandle list = inventory.full(own_map, own.data(), 10);
        must(doca_buf_list_chain(list, inventory.full(imported, exported.data(), 10).release()));
        EXPECT_EQ(engine.hash(sha_kinds[0], list, local), DOCA_ERROR_NOT_PERMITTED);
    }
}
