// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SHA in one job: what a device says that it can do, the digests themselves, and where they go.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>

#include "sha_vectors.hpp"
#include "support/environment.hpp"
#include "support/log_capture.hpp"
#include "support/sanitizers.hpp"
#include "support/sha_fixture.hpp"
#include "support/topology_file.hpp"

using namespace doca_test;

INSTANTIATE_FOR_DEVICES(ShaTest, can_hash);

class ShaLongTest : public ShaTest {};
INSTANTIATE_FOR_FEW_DEVICES(ShaLongTest, can_hash);

// Capabilities

TEST(Sha, all_software_devices_can)
{
    EXPECT_EQ(devices_that(can_hash).size(),
              devices_that([](doca_devinfo *info) { return is_soft(info) || can_hash(info); }).size());
}

TEST_P(ShaTest, capabilities)
{
    std::uint32_t list = 0;
    std::uint64_t source = 0;
    EXPECT_EQ(doca_sha_get_max_list_buf_num_elem(info, &list), DOCA_SUCCESS);
    EXPECT_GE(list, 1u);
    EXPECT_EQ(doca_sha_get_max_src_buffer_size(info, &source), DOCA_SUCCESS);
    EXPECT_GE(source, std::uint64_t{1} << 20);
    for (const ShaKind &kind : sha_kinds) {
        for (const doca_sha_job_type type : {kind.job, kind.partial_job}) {
            EXPECT_EQ(doca_sha_job_get_supported(info, type), DOCA_SUCCESS);
            std::uint32_t digest = 0;
            EXPECT_EQ(doca_sha_get_min_dst_buffer_size(info, type, &digest), DOCA_SUCCESS);
            EXPECT_EQ(digest, kind.digest_size);
        }
    }
    if (GetParam().is_soft()) {
        EXPECT_EQ(list, 1024u);
        EXPECT_EQ(source, std::uint64_t{1} << 31);
    }
}

/// The software functions that say that they have an engine.
static std::vector<std::string> engines()
{
    std::vector<std::string> names;
    for (const DeviceParam &device : devices_that([](doca_devinfo *info) {
             const doca_error_t status = doca_sha_get_hardware_supported(info);
             EXPECT_TRUE(status == DOCA_SUCCESS || status == DOCA_ERROR_NOT_SUPPORTED);
             return is_soft(info) && status == DOCA_SUCCESS;
         }))
        names.push_back(device.ibdev);
    return names;
}

TEST(ShaEngine, the_software_devices_pfs_stand_for_a_card_with_one)
{
    using Names = std::vector<std::string>;
    const Environment soft("DOCA_SOFT", "1");
    {
        const Environment none("DOCA_SOFT_TOPOLOGY", nullptr);
        EXPECT_EQ(engines(), (Names{"soft_p0", "soft_p1", "soft_pf0", "soft_pf1"}));
    }
    const TopologyFile file(R"({"functions": [
        {"name": "with",    "side": "dpu", "type": "pf", "pci": "03:00.0"},
        {"name": "without", "side": "dpu", "type": "pf", "pci": "03:00.1", "sha_hardware": false},
        {"name": "sf",      "side": "dpu", "type": "sf", "parent": "with", "sha_hardware": true},
        {"name": "vf",      "side": "host", "type": "vf", "parent": "with", "pci": "0b:00.1"}
    ]})");
    const Environment named("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    EXPECT_EQ(engines(), (Names{"soft_with", "soft_sf"}));
}

TEST(ShaEngine, rdma_devices_have_none)
{
    for (const DeviceParam &device : devices_that([](doca_devinfo *info) { return !is_soft(info); })) {
        const DevHandle dev = open_device(device);
        EXPECT_EQ(doca_sha_get_hardware_supported(doca_dev_as_devinfo(dev)), DOCA_ERROR_NOT_SUPPORTED) << device;
    }
}

TEST_P(ShaTest, capabilities_refuse_bad_values)
{
    std::uint32_t number = 77;
    std::uint64_t bytes = 77;
    EXPECT_EQ(doca_sha_job_get_supported(nullptr, DOCA_SHA_JOB_SHA1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_get_max_list_buf_num_elem(nullptr, &number), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_get_max_list_buf_num_elem(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_get_max_src_buffer_size(nullptr, &bytes), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_get_max_src_buffer_size(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_get_min_dst_buffer_size(nullptr, DOCA_SHA_JOB_SHA1, &number), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_get_min_dst_buffer_size(info, DOCA_SHA_JOB_SHA1, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_get_hardware_supported(nullptr), DOCA_ERROR_INVALID_VALUE);
    for (const int type : {0, int{DOCA_SHA_JOB_SHA1} - 1, int{DOCA_SHA_JOB_SHA512_PARTIAL} + 1}) {
        const auto job = static_cast<doca_sha_job_type>(type);
        EXPECT_EQ(doca_sha_job_get_supported(info, job), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_sha_get_min_dst_buffer_size(info, job, &number), DOCA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(number, 77u);
    EXPECT_EQ(bytes, 77u);
}

// The context

TEST_P(ShaTest, life_of_a_context)
{
    EXPECT_EQ(doca_sha_create(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_as_ctx(nullptr), nullptr);

    ShaHandle sha;
    ASSERT_EQ(doca_sha_create(sha.out()), DOCA_SUCCESS);
    doca_ctx *const ctx = doca_sha_as_ctx(sha);
    ASSERT_NE(ctx, nullptr);
    EXPECT_EQ(doca_sha_as_ctx(sha), ctx);
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_ERROR_INVALID_VALUE) << "it has no device";
    EXPECT_EQ(doca_ctx_dev_add(ctx, dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_start(ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_sha_destroy(sha), DOCA_ERROR_IN_USE);
    std::uint8_t can_sleep = 0;
    EXPECT_EQ(doca_ctx_get_event_driven_supported(ctx, &can_sleep), DOCA_SUCCESS);
    EXPECT_EQ(can_sleep, 1);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_dev_rm(ctx, dev), DOCA_SUCCESS);
}

TEST_P(ShaTest, one_device_in_a_context)
{
    DevHandle other;
    for (const DeviceParam &device : devices_that(can_hash)) {
        if (device.ibdev != GetParam().ibdev)
            other = open_device(device);
    }
    if (other.get() == nullptr)
        GTEST_SKIP() << "takes two devices";
    {
        ShaHandle sha;
        must(doca_sha_create(sha.out()));
        EXPECT_EQ(doca_ctx_dev_add(doca_sha_as_ctx(sha), dev), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_dev_add(doca_sha_as_ctx(sha), dev), DOCA_ERROR_IN_USE);
        EXPECT_EQ(doca_ctx_dev_add(doca_sha_as_ctx(sha), other), DOCA_ERROR_NOT_SUPPORTED);
    }
}

// Digests

TEST_P(ShaLongTest, known_answers)
{
    for (const ShaVector &vector : sha_vectors) {
        const std::string text = vector.message();
        SCOPED_TRACE(text.substr(0, 20) + "..., " + std::to_string(text.size()) + " bytes");
        std::vector<std::byte> bytes(text.size());
        std::memcpy(bytes.data(), text.data(), text.size());
        const LocalMap text_map(dev, bytes);
        const BufHandle from = inventory.full(text_map, bytes.data(), bytes.size());
        for (std::size_t i = 0; i < std::size(sha_kinds); ++i) {
            const BufHandle to = response();
            EXPECT_EQ(engine.hash(sha_kinds[i], from, to), DOCA_SUCCESS);
            EXPECT_EQ(text_of(to), vector.digests[i]) << sha_kinds[i].name;
        }
    }
}

TEST_P(ShaTest, every_length_up_to_three_blocks)
{
    for (const ShaKind &kind : sha_kinds) {
        for (std::size_t len = 0; len <= 3 * kind.block_size; ++len) {
            const BufHandle from = request(len % 7, len), to = response();
            ASSERT_EQ(engine.hash(kind, from, to), DOCA_SUCCESS);
            ASSERT_EQ(text_of(to), openssl_digest(kind, message(len % 7, len))) << kind.name << ", " << len;
        }
    }
}

TEST_P(ShaTest, ChainWithoutDataGivesTheDigestOfTheEmptyMessage)
{
    const BufHandle from = request(0, 0), to = response();
    must(doca_buf_list_chain(from, request(10, 0).release()));
    EXPECT_EQ(engine.hash(sha_kinds[0], from, to), DOCA_SUCCESS);
    EXPECT_EQ(text_of(to), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

TEST_P(ShaLongTest, random_chains_against_openssl)
{
    std::mt19937 random(1);
    for (int i = 0; i < times(300); ++i) {
        const ShaKind &kind = sha_kinds[random() % 3];
        // Each length, rather than each byte, is equally likely to have so many digits.
        const std::size_t len = 1 + (std::size_t{random()} << 20 | random()) % (std::size_t{1} << (1 + random() % 15));
        const std::size_t offset = random() % 100;
        BufHandle from;
        std::size_t done = 0;
        while (done < len) {
            const std::size_t part = std::min<std::size_t>(len - done, random() % (len + 1)); // also empty ones
            BufHandle buf = request(offset + done, part);
            if (from.get() == nullptr)
                from = std::move(buf);
            else
                must(doca_buf_list_chain(from, buf.release()));
            done += part;
        }
        const BufHandle to = response();
        ASSERT_EQ(engine.hash(kind, from, to), DOCA_SUCCESS);
        ASSERT_EQ(text_of(to), openssl_digest(kind, message(offset, len))) << kind.name << ", " << len;
    }
}

TEST_P(ShaTest, chain_out_of_order_and_of_several_maps)
{
    std::vector<std::byte> other(100);
    fill(other, 9);
    const LocalMap other_map(dev, other);
    const BufHandle from = request(500, 33);
    must(doca_buf_list_chain(from, inventory.full(other_map, other.data(), 100).release()));
    must(doca_buf_list_chain(from, request(0, 70).release()));
    std::vector<std::byte> whole(message(500, 33).begin(), message(500, 33).end());
    whole.insert(whole.end(), other.begin(), other.end());
    whole.insert(whole.end(), message(0, 70).begin(), message(0, 70).end());
    for (const ShaKind &kind : sha_kinds) {
        const BufHandle to = response();
        EXPECT_EQ(engine.hash(kind, from, to), DOCA_SUCCESS);
        EXPECT_EQ(text_of(to), openssl_digest(kind, whole));
    }
}

TEST_P(ShaTest, only_the_data_section_counts)
{
    const BufHandle from = inventory.with(map, &memory[0], 1000, &memory[100], 200);
    const BufHandle to = response();
    EXPECT_EQ(engine.hash(sha_kinds[1], from, to), DOCA_SUCCESS);
    EXPECT_EQ(text_of(to), openssl_digest(sha_kinds[1], message(100, 200)));
}

TEST_P(ShaTest, read_only_request_memory)
{
    std::vector<std::byte> bytes(100);
    fill(bytes, 3);
    const LocalMap read_only(dev, bytes, DOCA_ACCESS_LOCAL_READ_ONLY);
    const BufHandle from = inventory.full(read_only, bytes.data(), 100), to = response();
    EXPECT_EQ(engine.hash(sha_kinds[0], from, to), DOCA_SUCCESS);
    EXPECT_EQ(text_of(to), openssl_digest(sha_kinds[0], bytes));
}

// Where the digest goes

TEST_P(ShaTest, digest_is_put_behind_the_data)
{
    fill(digest_memory, 4);
    const BufHandle from = request(0, 100);
    const BufHandle to = inventory.with(digest_map, &digest_memory[0], 256, &digest_memory[10], 30);
    std::string expected = hex(std::span(digest_memory).subspan(10, 30));
    for (const ShaKind &kind : sha_kinds) {
        EXPECT_EQ(engine.hash(kind, from, to), DOCA_SUCCESS);
        expected += openssl_digest(kind, message(0, 100));
        EXPECT_EQ(text_of(to), expected);
    }
    EXPECT_EQ(data_of(to), &digest_memory[10]);
    EXPECT_TRUE(is_filled(std::span(digest_memory).first(10), 4));
    EXPECT_TRUE(is_filled(std::span(digest_memory).subspan(156), 4, 156)) << "nothing behind is touched";
}

TEST_P(ShaTest, response_without_tailroom_counts_as_empty)
{
    for (const ShaKind &kind : sha_kinds) {
        fill(digest_memory, 5);
        const BufHandle to = inventory.full(digest_map, digest_memory.data(), 100);
        for (const std::size_t len : {10, 20}) { // the second one leaves the tailroom of the first
            const BufHandle from = request(0, len);
            must(doca_buf_set_data(to, digest_memory.data(), 100));
            EXPECT_EQ(engine.hash(kind, from, to), DOCA_SUCCESS);
            EXPECT_EQ(text_of(to), openssl_digest(kind, message(0, len)));
        }
        EXPECT_TRUE(is_filled(std::span(digest_memory).subspan(kind.digest_size), 5, kind.digest_size));
    }
}

TEST_P(ShaTest, response_that_fits_exactly_can_be_used_again_and_again)
{
    for (const ShaKind &kind : sha_kinds) {
        const BufHandle to = response(kind.digest_size);
        for (const std::size_t len : {1, 2, 3}) {
            const BufHandle from = request(0, len);
            EXPECT_EQ(engine.hash(kind, from, to), DOCA_SUCCESS);
            EXPECT_EQ(text_of(to), openssl_digest(kind, message(0, len)));
        }
    }
}

TEST_P(ShaTest, only_the_head_of_the_response_is_written)
{
    fill(digest_memory, 6);
    const BufHandle from = request(0, 10);
    const BufHandle to = response(64);
    must(doca_buf_list_chain(to, inventory.empty(digest_map, &digest_memory[64], 64).release()));
    EXPECT_EQ(engine.hash(sha_kinds[0], from, to), DOCA_SUCCESS);
    EXPECT_EQ(text_of(to), openssl_digest(sha_kinds[0], message(0, 10)));
    EXPECT_TRUE(is_filled(std::span(digest_memory).subspan(20), 6, 20));
}

TEST_P(ShaTest, digest_over_its_own_message)
{
    const std::string expected = openssl_digest(sha_kinds[1], message(0, 100));
    const BufHandle from = request(0, 100);
    const BufHandle to = inventory.empty(map, &memory[0], 32);
    EXPECT_EQ(engine.hash(sha_kinds[1], from, to), DOCA_SUCCESS);
    EXPECT_EQ(text_of(to), expected);
}

// Queues

TEST_P(ShaTest, as_many_jobs_as_the_queue_is_deep)
{
    std::vector<BufHandle> requests, responses;
    for (std::size_t i = 0; i < 32; ++i) {
        requests.push_back(request(i, 64 + i));
        responses.push_back(inventory.empty(map, &memory[4096 + 32 * i], 32));
        EXPECT_EQ(engine.submit(sha_job(engine.ctx(), sha_kinds[1], requests[i], responses[i])), DOCA_SUCCESS);
    }
    const BufHandle to = response();
    EXPECT_EQ(engine.submit(sha_job(engine.ctx(), sha_kinds[1], requests[0], to)), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(data_len_of(to), 0u);
    EXPECT_EQ(doca_ctx_workq_rm(engine.ctx(), engine.workq()), DOCA_ERROR_NOT_PERMITTED);
    for (std::size_t i = 0; i < 32; ++i) {
        EXPECT_EQ(engine.result_of(DOCA_SHA_JOB_SHA256), DOCA_SUCCESS);
        EXPECT_EQ(text_of(responses[i]), openssl_digest(sha_kinds[1], message(i, 64 + i)));
    }
    EXPECT_EQ(engine.hash(sha_kinds[1], requests[0], to), DOCA_SUCCESS);
}

TEST_P(ShaTest, next_to_dma_on_one_queue)
{
    const DmaEngine copies(dev);
    must(doca_ctx_workq_add(engine.ctx(), copies.workq()));
    const BufHandle from = request(0, 100), copy = inventory.empty(map, &memory[1000], 100);
    const BufHandle to = response();
    EXPECT_EQ(copies.submit(copy, from), DOCA_SUCCESS);
    const doca_sha_job job = sha_job(engine.ctx(), sha_kinds[2], from, to);
    EXPECT_EQ(doca_workq_submit(copies.workq(), &job.base), DOCA_SUCCESS);
    // Two contexts end their jobs as they come.
    std::set<int> types;
    for (int i = 0; i < 2; ++i) {
        doca_event event = {};
        EXPECT_EQ(wait_for(copies.workq(), event), DOCA_SUCCESS);
        types.insert(event.type);
    }
    EXPECT_EQ(types, (std::set<int>{DOCA_DMA_JOB_MEMCPY, DOCA_SHA_JOB_SHA512}));
    EXPECT_EQ(text_of(to), openssl_digest(sha_kinds[2], message(1000, 100)));
    EXPECT_EQ(doca_ctx_workq_rm(engine.ctx(), copies.workq()), DOCA_SUCCESS);
}

TEST_P(ShaTest, event_driven)
{
    const ShaEngine sleeping(dev, 4, true);
    const Session session(sleeping);
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(sleeping.workq(), &handle));
    const auto is_readable = [&] {
        pollfd poll_handle = {.fd = handle, .events = POLLIN, .revents = 0};
        return poll(&poll_handle, 1, 0) == 1;
    };
    const BufHandle from = request(0, 64), to = response(20);
    for (const bool is_piece : {false, true}) {
        must(doca_workq_event_handle_arm(sleeping.workq()));
        EXPECT_FALSE(is_readable());
        EXPECT_EQ(is_piece ? sleeping.submit(session.job(sha_kinds[0], from, to, true))
                           : sleeping.submit(sha_job(sleeping.ctx(), sha_kinds[0], from, to)),
                  DOCA_SUCCESS);
        EXPECT_TRUE(is_readable());
        must(doca_workq_event_handle_clear(sleeping.workq(), handle));
        EXPECT_EQ(sleeping.result_of(is_piece ? DOCA_SHA_JOB_SHA1_PARTIAL : DOCA_SHA_JOB_SHA1), DOCA_SUCCESS);
        EXPECT_EQ(text_of(to), openssl_digest(sha_kinds[0], message(0, 64)));
    }
}

TEST_P(ShaLongTest, threads_with_queues_of_their_own_on_one_context)
{
    std::vector<std::thread> threads;
    for (std::size_t number = 0; number < 3; ++number) {
        threads.emplace_back([&, number] {
            WorkqHandle workq;
            must(doca_workq_create(1, workq.out()));
            must(doca_ctx_workq_add(engine.ctx(), workq));
            const Inventory own(2);
            const ShaKind &kind = sha_kinds[number];
            const BufHandle from = own.full(map, &memory[0], 10000);
            const BufHandle to = own.empty(digest_map, &digest_memory[64 * number], kind.digest_size);
            const std::string expected = openssl_digest(kind, message(0, 10000));
            for (int i = 0; i < times(100); ++i) {
                const doca_sha_job job = sha_job(engine.ctx(), kind, from, to);
                doca_event event = {};
                ASSERT_EQ(doca_workq_submit(workq, &job.base), DOCA_SUCCESS);
                ASSERT_EQ(wait_for(workq, event), DOCA_SUCCESS);
                ASSERT_EQ(text_of(to), expected);
            }
            must(doca_ctx_workq_rm(engine.ctx(), workq));
        });
    }
    for (std::thread &thread : threads)
        thread.join();
}
