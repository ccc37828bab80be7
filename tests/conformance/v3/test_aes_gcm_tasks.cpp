// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Tasks and keys of AES-GCM: what is refused, resubmission, long tasks in flight, stop, memory of other processes.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_graph.h>

#include "../support/environment.hpp"
#include "../support/sanitizers.hpp"
#include "../support/topology_file.hpp"
#include "aes_gcm_tasks.hpp"

namespace doca_test {
namespace {

const GcmMessage example{some_bytes(16, 1), some_bytes(12, 2), some_bytes(7, 3), some_bytes(40, 4), 16};

/// A message of several slices.
GcmMessage long_message()
{
    return {some_bytes(32, 1), some_bytes(12, 2), some_bytes(7, 3), some_bytes(std::size_t{1} << 20, 4), 16};
}

TEST(AesGcm, SoftwareDevicesAnswerAsTheCardOfTheTopology)
{
    const TopologyFile file(R"({"functions": [
        {"name": "any",  "side": "dpu", "type": "pf", "pci": "03:00.0"},
        {"name": "bf2",  "side": "dpu", "type": "pf", "pci": "03:00.1", "engines": "bluefield-2"},
        {"name": "bf3",  "side": "dpu", "type": "pf", "pci": "03:00.2", "engines": "bluefield-3"},
        {"name": "none", "side": "dpu", "type": "pf", "pci": "03:00.3", "engines": "none"}]})");
    const Environment soft("DOCA_SOFT", "1");
    const Environment topology("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    const auto expect = [](const std::string &name, doca_error_t status) {
        const DevHandle dev = open_device(name);
        EXPECT_EQ(Gcm<Way::encrypt>::is_supported(doca_dev_as_devinfo(dev)), status) << name;
        EXPECT_EQ(Gcm<Way::decrypt>::is_supported(doca_dev_as_devinfo(dev)), status) << name;
    };
    expect("soft_any", DOCA_SUCCESS);
    expect("soft_bf2", DOCA_ERROR_NOT_SUPPORTED);
    expect("soft_bf3", DOCA_SUCCESS);
    expect("soft_none", DOCA_ERROR_NOT_SUPPORTED);
}

TEST(AesGcm, OtherDevicesDoNotSupportItUnlessTheCpuStandsIn)
{
    const char *const variable = std::getenv("DOCA_SOFT_ENGINES");
    const bool stands_in = variable != nullptr && std::string(variable) == "1";
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (is_soft(ibdev_of(info)))
            continue;
        const doca_error_t status = stands_in ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
        EXPECT_EQ(Gcm<Way::encrypt>::is_supported(info), status) << ibdev_of(info);
        EXPECT_EQ(Gcm<Way::decrypt>::is_supported(info), status) << ibdev_of(info);
    }
}

TEST(AesGcm, DeviceWithoutItIsNotSupported)
{
    const TopologyFile file(R"({"functions": [
        {"name": "without", "side": "dpu", "type": "pf", "pci": "03:00.0", "engines": "bluefield-2"}]})");
    const Environment soft("DOCA_SOFT", "1");
    const Environment topology("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    const DevHandle dev = open_device("soft_without");
    doca_devinfo *const info = doca_dev_as_devinfo(dev);
    doca_aes_gcm *gcm = nullptr;
    std::uint32_t number = 0;
    std::uint64_t size = 0;
    EXPECT_EQ(doca_aes_gcm_create(dev, &gcm), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(gcm, nullptr);
    EXPECT_EQ(Gcm<Way::encrypt>::is_supported(info), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(Gcm<Way::decrypt>::is_supported(info), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(Gcm<Way::encrypt>::tag_96(info), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(Gcm<Way::decrypt>::tag_128(info), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(Gcm<Way::encrypt>::key_type(info, DOCA_AES_GCM_KEY_128), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(Gcm<Way::decrypt>::max_iv_len(info, &number), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(Gcm<Way::encrypt>::max_list(info, &number), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(Gcm<Way::decrypt>::max_buf_size(info, &size), DOCA_ERROR_NOT_SUPPORTED);
}

TEST(AesGcm, EverySoftwareDeviceSupportsIt)
{
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (is_soft(ibdev_of(info))) {
            EXPECT_EQ(Gcm<Way::encrypt>::is_supported(info), DOCA_SUCCESS);
            EXPECT_EQ(Gcm<Way::decrypt>::is_supported(info), DOCA_SUCCESS);
        }
    }
}

class AesGcmTasks : public AesGcmTest {
protected:
    template <Way way>
    void expect_capabilities()
    {
        using F = Gcm<way>;
        const doca_devinfo *const info = doca_dev_as_devinfo(dev);
        std::uint32_t number = 0;
        std::uint64_t length = 0;
        EXPECT_EQ(F::max_iv_len(info, &number), DOCA_SUCCESS);
        EXPECT_EQ(number, 12u);
        EXPECT_EQ(F::max_list(info, &number), DOCA_SUCCESS);
        EXPECT_GE(number, 2u);
        EXPECT_EQ(F::max_buf_size(info, &length), DOCA_SUCCESS);
        EXPECT_GE(length, std::uint64_t{2} << 20);
        EXPECT_LE(length, std::uint64_t{128} << 20) << "programs allocate as much";
        EXPECT_EQ(F::tag_96(info), DOCA_SUCCESS);
        EXPECT_EQ(F::tag_128(info), DOCA_SUCCESS);
        EXPECT_EQ(F::key_type(info, DOCA_AES_GCM_KEY_128), DOCA_SUCCESS);
        EXPECT_EQ(F::key_type(info, DOCA_AES_GCM_KEY_256), DOCA_SUCCESS);
        EXPECT_EQ(F::key_type(info, no_value<doca_aes_gcm_key_type>(0)), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(F::key_type(info, no_value<doca_aes_gcm_key_type>(3)), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(F::is_supported(nullptr), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(F::max_buf_size(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    }
    template <Way way>
    void expect_setters_and_getters()
    {
        using F = Gcm<way>;
        const BufHandle src = source(example.plain()), dst = room(100);
        const GcmKeyHandle key = context.key(example.key), other = context.key(some_bytes(32, 9));
        const std::uint8_t iv[8] = {};
        auto *const task = alloc<way>(example, key, src, dst);
        std::uint32_t length = 99;
        EXPECT_EQ(F::get_src(task), src);
        EXPECT_EQ(F::get_dst(task), dst);
        EXPECT_EQ(F::get_key(task), key);
        EXPECT_EQ(F::get_iv(task, &length), example.iv.data());
        EXPECT_EQ(length, 12u);
        EXPECT_EQ(F::get_tag_size(task), 16u);
        EXPECT_EQ(F::get_aad_size(task), 7u);
        F::set_src(task, dst);
        F::set_dst(task, src);
        F::set_key(task, other);
        F::set_iv(task, iv, 8);
        F::set_tag_size(task, 12);
        F::set_aad_size(task, 0xfffffff0);
        EXPECT_EQ(F::get_src(task), dst);
        EXPECT_EQ(F::get_dst(task), src);
        EXPECT_EQ(F::get_key(task), other);
        EXPECT_EQ(F::get_iv(task, &length), iv);
        EXPECT_EQ(length, 8u);
        EXPECT_EQ(F::get_tag_size(task), 12u);
        EXPECT_EQ(F::get_aad_size(task), 0xfffffff0);
        EXPECT_EQ(doca_task_get_ctx(F::as_task(task)), context.ctx());
        EXPECT_EQ(doca_task_get_user_data(F::as_task(task)).u64, 7u);
        doca_task_free(F::as_task(task));
        EXPECT_EQ(F::get_tag_size(task), 12u) << "a freed task can be read";
        EXPECT_EQ(F::get_iv(nullptr, &length), nullptr);
        EXPECT_EQ(F::get_src(nullptr), nullptr);
        F::set_src(nullptr, src);
    }
    /// Expects that @p task is refused with @p status both ways, and that its destination is as it was.
    template <Way way>
    void expect_refused(typename Gcm<way>::Task *task, doca_error_t status)
    {
        using F = Gcm<way>;
        const doca_buf *const dst = F::get_dst(task);
        const Bytes before = dst != nullptr ? data_of(dst) : Bytes();
        EXPECT_EQ(doca_task_try_submit(F::as_task(task)), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_task_get_status(F::as_task(task)), status);
        EXPECT_EQ(run(F::as_task(task)), status);
        EXPECT_EQ(dst != nullptr ? data_of(dst) : Bytes(), before);
    }
    /// Submits without waiting for the end.
    void start(doca_task *task) { ASSERT_EQ(doca_task_submit(task), DOCA_SUCCESS); }
    void finish(std::size_t ended)
    {
        while (context.num_ended() != ended)
            ASSERT_EQ(doca_pe_progress(pe), 1);
    }
};

INSTANTIATE_FOR_ENCRYPTING_DEVICES(AesGcmTasks);

TEST_P(AesGcmTasks, Capabilities)
{
    expect_capabilities<Way::encrypt>();
    expect_capabilities<Way::decrypt>();
    std::uint32_t number = 0;
    EXPECT_EQ(doca_aes_gcm_cap_get_max_num_tasks(context.get(), &number), DOCA_SUCCESS);
    EXPECT_GE(number, 8192u);
    EXPECT_EQ(doca_aes_gcm_cap_get_max_num_tasks(nullptr, &number), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_aes_gcm_as_ctx(nullptr), nullptr);
}

TEST_P(AesGcmTasks, GettersReturnWhatWasSet)
{
    expect_setters_and_getters<Way::encrypt>();
    expect_setters_and_getters<Way::decrypt>();
}

TEST_P(AesGcmTasks, AllocationChecksItsArgumentsButNotTheDataOfTheBuffers)
{
    const BufHandle src = room(100), dst = room(100);
    const GcmKeyHandle key = context.key(example.key);
    const std::uint8_t *const iv = example.iv.data();
    doca_aes_gcm_task_encrypt *task = nullptr;
    const auto alloc_with = [&](const doca_buf *from, doca_buf *to, doca_aes_gcm_key *with, const std::uint8_t *iv_at,
                                std::uint32_t iv_length, std::uint32_t tag_size) {
        return doca_aes_gcm_task_encrypt_alloc_init(context.get(), from, to, with, iv_at, iv_length, tag_size, 50,
                                                    {.u64 = 7}, &task);
    };
    EXPECT_EQ(alloc_with(nullptr, dst, key, iv, 12, 16), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(alloc_with(src, nullptr, key, iv, 12, 16), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(alloc_with(src, dst, nullptr, iv, 12, 16), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(alloc_with(src, dst, key, nullptr, 12, 16), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(alloc_with(src, dst, key, iv, 13, 16), DOCA_ERROR_INVALID_VALUE);
    for (const std::uint32_t tag_size : {0U, 1U, 4U, 8U, 11U, 13U, 15U, 17U, 96U, 128U})
        EXPECT_EQ(alloc_with(src, dst, key, iv, 12, tag_size), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(task, nullptr);
    EXPECT_EQ(alloc_with(src, dst, key, nullptr, 0, 16), DOCA_SUCCESS);
    ASSERT_NE(task, nullptr);
    doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
}

TEST_P(AesGcmTasks, AreAsManyAsConfigured)
{
    const BufHandle src = room(100), dst = room(100);
    const GcmKeyHandle key = context.key(example.key);
    std::vector<doca_aes_gcm_task_encrypt *> tasks;
    for (std::uint32_t i = 0; i != num_tasks; ++i)
        tasks.push_back(alloc<Way::encrypt>(example, key, src, dst));
    doca_aes_gcm_task_encrypt *more = nullptr;
    EXPECT_EQ(doca_aes_gcm_task_encrypt_alloc_init(context.get(), src, dst, key, example.iv.data(), 12, 16, 0,
                                                   {.u64 = 7}, &more),
              DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(more, nullptr);
    for (doca_aes_gcm_task_encrypt *const task : tasks)
        doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
}

TEST_P(AesGcmTasks, ConfigurationBelongsToIdleContexts)
{
    const auto callback = [](doca_aes_gcm_task_encrypt *, doca_data, doca_data) {};
    EXPECT_EQ(doca_aes_gcm_task_encrypt_set_conf(context.get(), callback, callback, 1), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_aes_gcm_destroy(context.get()), DOCA_ERROR_BAD_STATE);
    ASSERT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS) << "programs stop an idle context";
    EXPECT_EQ(doca_aes_gcm_task_encrypt_set_conf(context.get(), callback, nullptr, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_aes_gcm_task_encrypt_set_conf(context.get(), callback, callback, 65537), DOCA_ERROR_INVALID_VALUE);
    const BufHandle src = room(100), dst = room(100);
    const GcmKeyHandle key = context.key(example.key);
    doca_aes_gcm_task_encrypt *task = nullptr;
    EXPECT_EQ(doca_aes_gcm_task_encrypt_alloc_init(context.get(), src, dst, key, example.iv.data(), 12, 16, 0,
                                                   {.u64 = 7}, &task),
              DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_aes_gcm_destroy(context.get()), DOCA_ERROR_IN_USE) << "it has a key";
    ASSERT_EQ(doca_ctx_start(context.ctx()), DOCA_SUCCESS);
    const BufHandle plain = source(example.plain());
    auto *const own = alloc<Way::encrypt>(example, key, plain, dst);
    EXPECT_EQ(run(doca_aes_gcm_task_encrypt_as_task(own)), DOCA_SUCCESS) << "with a key from before the start";
    EXPECT_EQ(data_of(dst), sealed_by_openssl(example));
    doca_task_free(doca_aes_gcm_task_encrypt_as_task(own));
}

TEST_P(AesGcmTasks, ShortSourcesAreRefused)
{
    const GcmKeyHandle key = context.key(example.key);
    const BufHandle dst = room(200);
    GcmMessage message = example;
    message.aad.resize(20);
    // Encryption: the AAD must be there. Decryption: the tag, too.
    for (const std::size_t length : {0U, 1U, 19U}) {
        const BufHandle src = source(Bytes(length));
        auto *const task = alloc<Way::encrypt>(message, key, src, dst);
        expect_refused<Way::encrypt>(task, DOCA_ERROR_INVALID_VALUE);
        doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
    }
    for (const std::size_t length : {0U, 12U, 16U, 20U, 35U}) {
        const BufHandle src = source(Bytes(length));
        auto *const task = alloc<Way::decrypt>(message, key, src, dst);
        expect_refused<Way::decrypt>(task, DOCA_ERROR_INVALID_VALUE);
        doca_aes_gcm_task_decrypt_set_aad_size(task, std::numeric_limits<std::uint32_t>::max());
        expect_refused<Way::decrypt>(task, DOCA_ERROR_INVALID_VALUE);
        doca_task_free(doca_aes_gcm_task_decrypt_as_task(task));
    }
    // Exactly the AAD and a tag, a wrong one, is long enough.
    const BufHandle src = source(Bytes(36));
    EXPECT_EQ(once<Way::decrypt>(message, src, dst), DOCA_ERROR_IO_FAILED);
}

TEST_P(AesGcmTasks, WhatSettersSetIsCheckedByTheSubmit)
{
    const BufHandle src = source(example.plain()), dst = room(100), small = room(7 + 40 + 15);
    const GcmKeyHandle key = context.key(example.key);
    auto *const task = alloc<Way::encrypt>(example, key, src, dst);
    const auto refused = [&](doca_error_t status = DOCA_ERROR_INVALID_VALUE) {
        expect_refused<Way::encrypt>(task, status);
    };
    doca_aes_gcm_task_encrypt_set_tag_size(task, 13);
    refused();
    doca_aes_gcm_task_encrypt_set_tag_size(task, 16);
    doca_aes_gcm_task_encrypt_set_iv(task, example.iv.data(), 13);
    refused();
    doca_aes_gcm_task_encrypt_set_iv(task, nullptr, 12);
    refused();
    doca_aes_gcm_task_encrypt_set_iv(task, example.iv.data(), 12);
    doca_aes_gcm_task_encrypt_set_src(task, nullptr);
    refused();
    doca_aes_gcm_task_encrypt_set_src(task, src);
    doca_aes_gcm_task_encrypt_set_dst(task, nullptr);
    refused();
    doca_aes_gcm_task_encrypt_set_dst(task, small);
    refused(DOCA_ERROR_IO_FAILED);
    std::vector<std::byte> own(100);
    const MmapHandle read_only = map_of(dev, own, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
    BufHandle unwritable;
    must(doca_buf_inventory_buf_get_by_addr(inventory, read_only, own.data(), own.size(), unwritable.out()));
    doca_aes_gcm_task_encrypt_set_dst(task, unwritable);
    refused(DOCA_ERROR_NOT_PERMITTED);
    doca_aes_gcm_task_encrypt_set_dst(task, dst);
    doca_aes_gcm_task_encrypt_set_key(task, nullptr);
    refused();
    PeHandle engine;
    const GcmContext other(dev, created(engine), 1);
    const GcmKeyHandle foreign = other.key(example.key);
    doca_aes_gcm_task_encrypt_set_key(task, foreign);
    refused();
    doca_aes_gcm_task_encrypt_set_key(task, key);
    ASSERT_EQ(run(doca_aes_gcm_task_encrypt_as_task(task)), DOCA_SUCCESS) << "nothing of that has lasted";
    EXPECT_EQ(data_of(dst), sealed_by_openssl(example));
    doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
}

/// As with compression and erasure coding: data of the destination is kept, whatever room is behind it.
TEST_P(AesGcmTasks, DestinationsDataIsKeptAndNeedsTheRoomBehindIt)
{
    const Bytes plain = example.plain(), sealed = sealed_by_openssl(example), kept = some_bytes(sealed.size(), 9);
    const BufHandle src = source(plain), full = source(kept), closed = source(sealed);
    EXPECT_EQ(once<Way::encrypt>(example, src, full), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(once<Way::decrypt>(example, closed, full), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(data_of(full), kept);
    const std::vector<std::size_t> ends = {kept.size() / 2};
    const BufHandle full_list = list(kept, ends, false);
    EXPECT_EQ(once<Way::encrypt>(example, src, full_list), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(data_of(full_list), kept);
    // Behind 5 bytes of data: a byte too little room, and just enough.
    for (const std::size_t missing : {std::size_t{1}, std::size_t{0}}) {
        const BufHandle dst = room(5 + sealed.size() - missing);
        void *at = nullptr;
        must(doca_buf_get_data(dst, &at));
        std::copy_n(kept.begin(), 5, static_cast<std::uint8_t *>(at));
        must(doca_buf_set_data(dst, at, 5));
        Bytes expected(kept.begin(), kept.begin() + 5);
        if (missing == 0)
            expected.insert(expected.end(), sealed.begin(), sealed.end());
        EXPECT_EQ(once<Way::encrypt>(example, src, dst), missing == 0 ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(data_of(dst), expected);
    }
    // A result without bytes needs no room.
    GcmMessage nothing = example;
    nothing.aad.clear();
    nothing.text.clear();
    EXPECT_EQ(once<Way::decrypt>(nothing, source(sealed_by_openssl(nothing)), full), DOCA_SUCCESS);
    EXPECT_EQ(data_of(full), kept);
}

/// Tasks that wait for a long one begin with what it has left of their destination's room.
TEST_P(AesGcmTasks, MayFollowEachOtherInOneDestination)
{
    GcmMessage message = example;
    message.text = some_bytes(600000, 5);
    const Bytes sealed = sealed_by_openssl(message);
    const GcmKeyHandle key = context.key(message.key);
    const BufHandle src = source(message.plain()), dst = room(2 * sealed.size() + sealed.size() / 2);
    std::vector<doca_task *> tasks;
    for (int i = 0; i != 3; ++i)
        tasks.push_back(doca_aes_gcm_task_encrypt_as_task(alloc<Way::encrypt>(message, key, src, dst)));
    for (doca_task *const task : tasks)
        start(task);
    finish(3);
    // In whatever order: no room is left for the last one.
    EXPECT_EQ(std::ranges::count(tasks, DOCA_SUCCESS, doca_task_get_status), 2);
    EXPECT_EQ(std::ranges::count(tasks, DOCA_ERROR_IO_FAILED, doca_task_get_status), 1);
    Bytes twice = sealed;
    twice.insert(twice.end(), sealed.begin(), sealed.end());
    EXPECT_EQ(data_of(dst), twice);
    for (doca_task *const task : tasks)
        doca_task_free(task);
}

TEST_P(AesGcmTasks, MemoryThatTheDeviceWasNotAddedToIsRefused)
{
    std::vector<std::byte> own(100);
    MmapHandle elsewhere;
    must(doca_mmap_create(elsewhere.out()));
    must(doca_mmap_set_memrange(elsewhere, own.data(), own.size()));
    must(doca_mmap_start(elsewhere));
    BufHandle unknown;
    must(doca_buf_inventory_buf_get_by_data(inventory, elsewhere, own.data(), own.size(), unknown.out()));
    const BufHandle dst = room(200);
    EXPECT_EQ(once<Way::encrypt>(example, unknown, dst), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(AesGcmTasks, TooLongListsAndSourcesAreRefused)
{
    std::uint32_t most = 0;
    must(Gcm<Way::encrypt>::max_list(doca_dev_as_devinfo(dev), &most));
    std::vector<std::size_t> ends(most, 0); // one buffer more than the limit
    const Bytes plain = example.plain();
    const BufHandle src = source(plain), dst = room(100);
    EXPECT_EQ(once<Way::encrypt>(example, list(plain, ends, false), dst), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(once<Way::encrypt>(example, src, list(Bytes(100), ends, true)), DOCA_ERROR_INVALID_VALUE);
    ends.pop_back();
    EXPECT_EQ(once<Way::encrypt>(example, list(plain, ends, false), dst), DOCA_SUCCESS);
    EXPECT_EQ(data_of(dst), sealed_by_openssl(example));

    // The same 4 MiB as often as makes a byte more than the limit.
    std::uint64_t limit = 0;
    must(Gcm<Way::encrypt>::max_buf_size(doca_dev_as_devinfo(dev), &limit));
    auto *const begin = reinterpret_cast<std::uint8_t *>(memory.data());
    const BufHandle huge = data_at(begin, 1);
    for (std::uint64_t i = 0; i != limit / size; ++i)
        must(doca_buf_chain_list(huge, data_at(begin, size).release()));
    EXPECT_EQ(once<Way::encrypt>(example, huge, dst), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(AesGcmTasks, ResultThatOverlapsTheSourceElsewhereIsRefused)
{
    std::uint8_t *const at = take(300) + 50;
    std::fill(at, at + 200, std::uint8_t{7});
    const BufHandle src = data_at(at + 50, 47);
    for (const std::ptrdiff_t offset : {-62, -10, -1, 1, 46}) {
        const BufHandle dst = room_at(at + 50 + offset, 100);
        EXPECT_EQ(once<Way::encrypt>(example, src, dst), DOCA_ERROR_INVALID_VALUE) << offset;
        EXPECT_TRUE(std::all_of(at, at + 200, [](std::uint8_t byte) { return byte == 7; }));
    }
    EXPECT_EQ(once<Way::encrypt>(example, src, room_at(at + 97, 100)), DOCA_SUCCESS);
}

/// Of lists every byte that is shared must be at the same place of both.
TEST_P(AesGcmTasks, ListsThatOverlapElsewhereAreRefused)
{
    const Bytes plain = example.plain(), sealed = sealed_by_openssl(example);
    std::uint8_t *const at = take(400);
    const auto list_at = [&](std::uint8_t *begin, std::size_t first, std::size_t length, bool has_data) {
        BufHandle head = has_data ? data_at(begin, first) : room_at(begin, first);
        must(doca_buf_chain_list(
            head,
            (has_data ? data_at(begin + first, length - first) : room_at(begin + first, length - first)).release()));
        return head;
    };
    for (const std::ptrdiff_t offset : {-1, 1, 30}) {
        std::copy(plain.begin(), plain.end(), at + 100);
        const BufHandle src = list_at(at + 100, 20, plain.size(), true);
        EXPECT_EQ(once<Way::encrypt>(example, src, room_at(at + 100 + offset, 100)), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(
            once<Way::encrypt>(example, data_at(at + 100, plain.size()), list_at(at + 100 + offset, 9, 100, false)),
            DOCA_ERROR_INVALID_VALUE);
        EXPECT_TRUE(std::equal(plain.begin(), plain.end(), at + 100));
    }
    // In place, cut differently; and a source whose second part is where the first part of the result would be.
    const BufHandle same = list_at(at + 100, 33, 100, false);
    EXPECT_EQ(once<Way::encrypt>(example, list_at(at + 100, 20, plain.size(), true), same), DOCA_SUCCESS);
    EXPECT_TRUE(std::equal(sealed.begin(), sealed.end(), at + 100));
    std::copy(plain.begin(), plain.begin() + 20, at);
    std::copy(plain.begin() + 20, plain.end(), at + 200);
    const BufHandle apart = data_at(at, 20);
    must(doca_buf_chain_list(apart, data_at(at + 200, plain.size() - 20).release()));
    EXPECT_EQ(once<Way::encrypt>(example, apart, room_at(at + 200, 100)), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(once<Way::encrypt>(example, apart, room_at(at + 180, 100)), DOCA_SUCCESS) << "each byte over itself";
    EXPECT_TRUE(std::equal(sealed.begin(), sealed.end(), at + 180));
}

TEST_P(AesGcmTasks, ResultWithoutBytesOverlapsNoSource)
{
    GcmMessage message = example;
    message.aad.clear();
    message.text.clear();
    const Bytes tag = sealed_by_openssl(message);
    std::uint8_t *const at = take(tag.size());
    std::copy(tag.begin(), tag.end(), at);
    for (const std::size_t length : {std::size_t{0}, tag.size() - 1}) {
        const BufHandle dst = room_at(at + 1, length);
        EXPECT_EQ(once<Way::decrypt>(message, data_at(at, tag.size()), dst), DOCA_SUCCESS) << length;
        EXPECT_EQ(data_of(dst), Bytes());
    }
}

TEST_P(AesGcmTasks, IvIsReadWhenTheTaskIsSubmitted)
{
    GcmMessage message = long_message();
    const GcmKeyHandle key = context.key(message.key);
    const BufHandle src = source(message.plain()), dst = room(message.plain().size() + 16);
    auto *const task = alloc<Way::encrypt>(message, key, src, dst);
    for (std::uint8_t i = 0; i != 3; ++i) {
        // The program counts in the bytes that it has passed once.
        message.iv[11] = i;
        const Bytes sealed = sealed_by_openssl(message);
        must(doca_buf_reset_data_len(dst));
        start(doca_aes_gcm_task_encrypt_as_task(task));
        message.iv[11] = 0xff; // too late
        finish(i + 1U);
        EXPECT_EQ(data_of(dst), sealed);
    }
    doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
}

TEST_P(AesGcmTasks, MayBeSubmittedAgainWithEverythingChanged)
{
    const BufHandle first = room(1);
    const GcmKeyHandle any = context.key(some_bytes(16, 1));
    const GcmMessage start_with{{}, some_bytes(12, 1), {}, {}, 16};
    auto *const encrypt = alloc<Way::encrypt>(start_with, any, first, first);
    auto *const decrypt = alloc<Way::decrypt>(start_with, any, first, first);
    for (std::uint32_t i = 0; i != 50; ++i) {
        const GcmMessage message{some_bytes(i % 2 == 0 ? 16 : 32, i), some_bytes(i % 13, i + 1),
                                 some_bytes(i * 3 % 40, i + 2), some_bytes(i * 37 % 1000, i + 3),
                                 i % 3 == 0 ? 12U : 16U};
        used = 16;
        const GcmKeyHandle key = context.key(message.key);
        const BufHandle src = source(message.plain()), dst = room(1100), back = room(1100);
        doca_aes_gcm_task_encrypt_set_src(encrypt, src);
        doca_aes_gcm_task_encrypt_set_dst(encrypt, dst);
        doca_aes_gcm_task_encrypt_set_key(encrypt, key);
        doca_aes_gcm_task_encrypt_set_iv(encrypt, message.iv.data(), static_cast<std::uint32_t>(message.iv.size()));
        doca_aes_gcm_task_encrypt_set_tag_size(encrypt, message.tag_size);
        doca_aes_gcm_task_encrypt_set_aad_size(encrypt, static_cast<std::uint32_t>(message.aad.size()));
        ASSERT_EQ(run(doca_aes_gcm_task_encrypt_as_task(encrypt)), DOCA_SUCCESS);
        EXPECT_EQ(data_of(dst), sealed_by_openssl(message));
        doca_aes_gcm_task_decrypt_set_src(decrypt, dst);
        doca_aes_gcm_task_decrypt_set_dst(decrypt, back);
        doca_aes_gcm_task_decrypt_set_key(decrypt, key);
        doca_aes_gcm_task_decrypt_set_iv(decrypt, message.iv.data(), static_cast<std::uint32_t>(message.iv.size()));
        doca_aes_gcm_task_decrypt_set_tag_size(decrypt, message.tag_size);
        doca_aes_gcm_task_decrypt_set_aad_size(decrypt, static_cast<std::uint32_t>(message.aad.size()));
        ASSERT_EQ(run(doca_aes_gcm_task_decrypt_as_task(decrypt)), DOCA_SUCCESS);
        EXPECT_EQ(data_of(back), message.plain());
    }
    doca_task_free(doca_aes_gcm_task_encrypt_as_task(encrypt));
    doca_task_free(doca_aes_gcm_task_decrypt_as_task(decrypt));
}

// Keys

TEST_P(AesGcmTasks, KeyServesSeveralTasksInFlight)
{
    const GcmKeyHandle key = context.key(example.key);
    std::vector<GcmMessage> messages;
    std::vector<BufHandle> sources, destinations;
    for (std::uint32_t i = 0; i != num_tasks; ++i) {
        messages.push_back({example.key, some_bytes(12, 100 + i), some_bytes(i, i), some_bytes(100 * i, i), 16});
        sources.push_back(source(messages[i].plain()));
        destinations.push_back(room(1000));
    }
    context.frees_tasks = true;
    for (std::uint32_t i = 0; i != num_tasks; ++i)
        start(doca_aes_gcm_task_encrypt_as_task(alloc<Way::encrypt>(messages[i], key, sources[i], destinations[i], i)));
    EXPECT_EQ(in_flight(context.ctx()), num_tasks);
    finish(num_tasks);
    for (std::uint32_t i = 0; i != num_tasks; ++i)
        EXPECT_EQ(data_of(destinations[i]), sealed_by_openssl(messages[i]));
    EXPECT_EQ(context.succeeded, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_P(AesGcmTasks, KeysAreCopiedAndMayBeManyAndShortLived)
{
    Bytes raw = example.key;
    const BufHandle src = source(example.plain());
    for (int i = 0; i != 1000; ++i) {
        const GcmKeyHandle key = context.key(raw);
        std::fill(raw.begin(), raw.end(), std::uint8_t{0});
        const BufHandle dst = room(100);
        auto *const task = alloc<Way::encrypt>(example, key, src, dst);
        ASSERT_EQ(run(doca_aes_gcm_task_encrypt_as_task(task)), DOCA_SUCCESS);
        ASSERT_EQ(data_of(dst), sealed_by_openssl(example));
        doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
        raw = example.key;
    }
    std::vector<GcmKeyHandle> keys;
    for (std::uint32_t i = 0; i != 100; ++i)
        keys.push_back(context.key(some_bytes(i % 2 == 0 ? 16 : 32, i)));
    for (std::uint32_t i = 0; i < 100; i += 3) {
        GcmMessage message = example;
        message.key = some_bytes(i % 2 == 0 ? 16 : 32, i);
        const BufHandle dst = room(100);
        auto *const task = alloc<Way::encrypt>(message, keys[i], src, dst);
        ASSERT_EQ(run(doca_aes_gcm_task_encrypt_as_task(task)), DOCA_SUCCESS);
        EXPECT_EQ(data_of(dst), sealed_by_openssl(message));
        doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
    }
}

TEST_P(AesGcmTasks, WrongKeysAreRefused)
{
    doca_aes_gcm_key *key = nullptr;
    const std::uint8_t raw[32] = {};
    EXPECT_EQ(doca_aes_gcm_key_create(context.get(), nullptr, DOCA_AES_GCM_KEY_128, &key), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_aes_gcm_key_create(nullptr, raw, DOCA_AES_GCM_KEY_128, &key), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_aes_gcm_key_create(context.get(), raw, DOCA_AES_GCM_KEY_128, nullptr), DOCA_ERROR_INVALID_VALUE);
    for (const unsigned type : {0U, 3U, 16U, 128U, 256U}) {
        EXPECT_EQ(doca_aes_gcm_key_create(context.get(), raw, no_value<doca_aes_gcm_key_type>(type), &key),
                  DOCA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(key, nullptr);
    EXPECT_EQ(doca_aes_gcm_key_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(AesGcmTasks, KeyMayBeDestroyedBeforeTheTasksThatNameIt)
{
    const BufHandle src = source(example.plain()), dst = room(100);
    GcmKeyHandle key = context.key(example.key);
    doca_aes_gcm_key *const stale = key;
    auto *const task = alloc<Way::encrypt>(example, key, src, dst);
    key.reset();
    EXPECT_EQ(doca_aes_gcm_key_destroy(stale), DOCA_ERROR_INVALID_VALUE) << "it was destroyed before";
    expect_refused<Way::encrypt>(task, DOCA_ERROR_INVALID_VALUE);
    key = context.key(example.key);
    doca_aes_gcm_task_encrypt_set_key(task, key);
    EXPECT_EQ(run(doca_aes_gcm_task_encrypt_as_task(task)), DOCA_SUCCESS);
    EXPECT_EQ(data_of(dst), sealed_by_openssl(example));
    doca_task_free(doca_aes_gcm_task_encrypt_as_task(task));
}

// Long tasks

TEST_P(AesGcmTasks, LongTaskLetsOtherContextsRunAndKeepsTheOrderOfItsOwn)
{
    const GcmMessage message = long_message();
    GcmContext other(dev, pe, 1);
    must(doca_ctx_start(other.ctx()));
    const GcmKeyHandle key = context.key(message.key);
    GcmKeyHandle other_key = other.key(example.key);
    const BufHandle src = source(message.plain()), dst = room(message.plain().size() + 16);
    const BufHandle short_src = source(example.plain()), short_dst = room(100), other_dst = room(100);
    context.frees_tasks = other.frees_tasks = true;
    start(doca_aes_gcm_task_encrypt_as_task(alloc<Way::encrypt>(message, key, src, dst, 1)));
    start(doca_aes_gcm_task_encrypt_as_task(alloc<Way::encrypt>(example, key, short_src, short_dst, 2)));
    EXPECT_EQ(doca_aes_gcm_key_destroy(key), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_pe_progress(pe), 1);
    EXPECT_EQ(context.num_ended(), 0u) << "a slice is no completion";
    doca_aes_gcm_task_encrypt *task = nullptr;
    must(doca_aes_gcm_task_encrypt_alloc_init(other.get(), short_src, other_dst, other_key, example.iv.data(), 12, 16,
                                              7, {.u64 = 3}, &task));
    start(doca_aes_gcm_task_encrypt_as_task(task));
    while (other.num_ended() == 0)
        ASSERT_EQ(doca_pe_progress(pe), 1);
    EXPECT_EQ(context.num_ended(), 0u) << "the long task was first, and is still in progress";
    EXPECT_EQ(data_of(other_dst), sealed_by_openssl(example));
    finish(2);
    EXPECT_EQ(context.succeeded, (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(data_of(dst), sealed_by_openssl(message));
    EXPECT_EQ(doca_pe_progress(pe), 0);
    other_key.reset();
    other.stop(pe);
}

TEST_P(AesGcmTasks, LongTasksWakeAnArmedEngine)
{
    const GcmMessage message = long_message();
    const GcmKeyHandle key = context.key(message.key);
    const BufHandle src = source(message.plain()), dst = room(message.plain().size() + 16);
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(pe, &handle));
    context.frees_tasks = true;
    std::size_t expected = 0;
    for (const bool armed_before : {false, true}) {
        must(doca_buf_reset_data_len(dst));
        doca_task *const task = doca_aes_gcm_task_encrypt_as_task(alloc<Way::encrypt>(message, key, src, dst));
        if (armed_before) {
            while (doca_pe_progress(pe) != 0) {
            }
            must(doca_pe_request_notification(pe));
        }
        start(task);
        ++expected;
        while (context.num_ended() != expected) {
            must(doca_pe_request_notification(pe));
            pollfd descriptor = {handle, POLLIN, 0};
            ASSERT_EQ(::poll(&descriptor, 1, 10000), 1) << "the engine sleeps although there is work";
            must(doca_pe_clear_notification(pe, handle));
            (void)doca_pe_progress(pe);
        }
        EXPECT_EQ(data_of(dst), sealed_by_openssl(message));
    }
}

TEST_P(AesGcmTasks, TasksInFlightAreFlushedByAStop)
{
    const GcmMessage message = long_message();
    GcmKeyHandle key = context.key(message.key);
    const Bytes sealed = sealed_by_openssl(message);
    const BufHandle src = source(sealed), dst = room(message.plain().size());
    const BufHandle short_src = source(example.plain()), short_dst = room(200);
    context.frees_tasks = true;
    start(doca_aes_gcm_task_encrypt_as_task(alloc<Way::encrypt>(example, key, short_src, short_dst, 1)));
    start(doca_aes_gcm_task_decrypt_as_task(alloc<Way::decrypt>(message, key, src, dst, 2)));
    start(doca_aes_gcm_task_encrypt_as_task(alloc<Way::encrypt>(example, key, short_src, short_dst, 3)));
    finish(1);
    EXPECT_EQ(doca_pe_progress(pe), 1); // a slice of the second one
    ASSERT_EQ(doca_ctx_stop(context.ctx()), DOCA_ERROR_IN_PROGRESS);
    finish(3);
    EXPECT_EQ(state_of(context.ctx()), DOCA_CTX_STATE_IDLE);
    EXPECT_EQ(context.succeeded, std::vector<std::uint64_t>{1});
    EXPECT_EQ(context.failed, (std::vector<std::uint64_t>{2, 3}));
    EXPECT_EQ(data_len_of(dst), 0u);
    void *at = nullptr;
    must(doca_buf_get_head(dst, &at));
    const auto *const text = static_cast<std::uint8_t *>(at) + message.aad.size();
    EXPECT_TRUE(std::all_of(text, text + message.text.size(), [](std::uint8_t byte) { return byte == 0; }))
        << "plaintext that was not verified is left";
    EXPECT_EQ(doca_aes_gcm_destroy(context.get()), DOCA_ERROR_IN_USE);
    must(doca_ctx_start(context.ctx()));
}

TEST_P(AesGcmTasks, TasksFreedInFlightEndWithTheStop)
{
    const GcmMessage message = long_message();
    const GcmKeyHandle key = context.key(message.key);
    const BufHandle src = source(message.plain()), dst = room(message.plain().size() + 16);
    for (std::uint64_t i = 0; i != 3; ++i) {
        doca_task *const task = doca_aes_gcm_task_encrypt_as_task(alloc<Way::encrypt>(message, key, src, dst, i));
        start(task);
        doca_task_free(task);
    }
    (void)doca_pe_progress(pe);
    ASSERT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS);
    EXPECT_EQ(context.num_ended(), 0u);
    must(doca_ctx_start(context.ctx()));
}

/// The program needs neither the buffers nor their memory any more, be the task in progress or waiting for another.
TEST_P(AesGcmTasks, TasksFreedInFlightNeedTheirBuffersNoLonger)
{
    const GcmMessage message{some_bytes(32, 1), some_bytes(12, 2), {}, some_bytes(std::size_t{900} << 10, 4), 16};
    const GcmKeyHandle key = context.key(message.key);
    for (const bool is_stopped : {true, false}) {
        used = 0;
        BufHandle sealed = source(sealed_by_openssl(message)), plain = source(message.plain());
        BufHandle back = room(message.plain().size()), there = room(message.plain().size() + 16);
        doca_task *const first = doca_aes_gcm_task_decrypt_as_task(alloc<Way::decrypt>(message, key, sealed, back, 0));
        doca_task *const second = doca_aes_gcm_task_encrypt_as_task(alloc<Way::encrypt>(message, key, plain, there, 1));
        doca_task *const third = doca_aes_gcm_task_decrypt_as_task(alloc<Way::decrypt>(message, key, sealed, back, 2));
        for (doca_task *const task : {first, second, third})
            start(task);
        EXPECT_EQ(doca_pe_progress(pe), 1); // a slice of the first one
        for (doca_task *const task : {second, first, third})
            doca_task_free(task);
        for (BufHandle *const buf : {&sealed, &plain, &back, &there})
            *buf = BufHandle();
        if (is_stopped) {
            ASSERT_EQ(doca_ctx_stop(context.ctx()), DOCA_SUCCESS);
            must(doca_ctx_start(context.ctx()));
        } else {
            while (doca_pe_progress(pe) != 0) {
            }
            EXPECT_EQ(in_flight(context.ctx()), 0u);
        }
        EXPECT_EQ(context.num_ended(), 0u);
    }
}

/// Such memory is copied before OpenSSL reads it: the results are the same.
TEST_P(AesGcmTasks, MemoryThatOthersMayWriteCanBeUsedInListsAndInPlace)
{
    map = map_of(dev, memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE);
    for (const GcmMessage &message : {example, long_message()}) {
        used = 0;
        const Bytes plain = message.plain(), sealed = sealed_by_openssl(message);
        const BufHandle parts = list(plain, {3, 20}, false), sealed_parts = list(sealed, {8, sealed.size() - 5}, true);
        EXPECT_EQ(once<Way::encrypt>(message, parts, sealed_parts), DOCA_SUCCESS);
        EXPECT_EQ(data_of(sealed_parts), sealed);
        std::uint8_t *const at = take(sealed.size());
        std::copy(sealed.begin(), sealed.end(), at);
        const BufHandle back = room_at(at, sealed.size());
        EXPECT_EQ(once<Way::decrypt>(message, data_at(at, sealed.size()), back), DOCA_SUCCESS);
        EXPECT_EQ(data_of(back), plain);
        EXPECT_EQ(once<Way::encrypt>(message, data_at(at, plain.size()), room_at(at + 1, sealed.size())),
                  DOCA_ERROR_INVALID_VALUE)
            << "an overlap elsewhere";
    }
}

#ifndef DOCA_TEST_TSAN // the race is the test

/// A peer changes the ciphertext while it is decrypted. The right tag must not vouch for other bytes than were
/// decrypted.
TEST_P(AesGcmTasks, PlaintextThatWasNotAuthenticatedIsNeverAccepted)
{
    map = map_of(dev, memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE);
    const GcmMessage message{some_bytes(32, 1), some_bytes(12, 2), {}, some_bytes(std::size_t{32} << 10, 4), 16};
    const BufHandle sealed = source(sealed_by_openssl(message)), back = room(message.text.size());
    const GcmKeyHandle key = context.key(message.key);
    std::atomic<std::uint64_t> num_changes = 0;
    const std::jthread peer(
        [&, at = reinterpret_cast<std::uint8_t *>(memory.data()) + 1000](const std::stop_token &stop) {
            const std::atomic_ref<std::uint8_t> byte(*at);
            const std::uint8_t right = byte;
            for (std::uint64_t i = 0; !stop.stop_requested(); ++i) {
                byte = static_cast<std::uint8_t>(right ^ (i & 1));
                num_changes = i;
            }
        });
    auto *const task = alloc<Way::decrypt>(message, key, sealed, back);
    while (num_changes < 1000 || context.num_ended() < static_cast<std::size_t>(times(2000))) {
        must(doca_buf_reset_data_len(back));
        if (run(doca_aes_gcm_task_decrypt_as_task(task)) == DOCA_SUCCESS) {
            ASSERT_EQ(data_of(back), message.text) << "after " << context.num_ended() << " decryptions";
        }
    }
    doca_task_free(doca_aes_gcm_task_decrypt_as_task(task));
}

#endif

int num_graphs_succeeded;
int num_graphs_failed;

TEST_P(AesGcmTasks, AreNodesOfGraphs)
{
    using GraphHandle = Handle<doca_graph, doca_graph_destroy>;
    using InstanceHandle = Handle<doca_graph_instance, doca_graph_instance_destroy>;
    num_graphs_succeeded = num_graphs_failed = 0;
    const GcmMessage message = long_message();
    const GcmKeyHandle key = context.key(message.key);
    const BufHandle src = source(message.plain()), there = room(message.plain().size() + 16), back = room(size / 3);
    auto *const encrypt = alloc<Way::encrypt>(message, key, src, there);
    auto *const decrypt = alloc<Way::decrypt>(message, key, there, back);
    GraphHandle graph;
    must(doca_graph_create(pe, graph.out()));
    must(doca_graph_set_conf(
        graph, [](doca_graph_instance *, doca_data, doca_data) { ++num_graphs_succeeded; },
        [](doca_graph_instance *, doca_data, doca_data) { ++num_graphs_failed; }, 1));
    doca_graph_node *first = nullptr, *second = nullptr;
    must(doca_graph_node_create_from_ctx(graph, context.ctx(), &first));
    must(doca_graph_node_create_from_ctx(graph, context.ctx(), &second));
    must(doca_graph_add_dependency(graph, first, second));
    must(doca_graph_start(graph));
    InstanceHandle instance;
    must(doca_graph_instance_create(graph, instance.out()));
    must(doca_graph_instance_set_ctx_node_data(instance, first, doca_aes_gcm_task_encrypt_as_task(encrypt)));
    must(doca_graph_instance_set_ctx_node_data(instance, second, doca_aes_gcm_task_decrypt_as_task(decrypt)));
    must(doca_graph_instance_submit(instance));
    while (num_graphs_succeeded + num_graphs_failed == 0)
        ASSERT_EQ(doca_pe_progress(pe), 1);
    EXPECT_EQ(num_graphs_succeeded, 1);
    EXPECT_EQ(data_of(back), message.plain());
    // A wrong tag fails the graph, and the context goes on.
    must(doca_buf_reset_data_len(there));
    must(doca_buf_reset_data_len(back));
    doca_aes_gcm_task_decrypt_set_tag_size(decrypt, 12);
    must(doca_graph_instance_submit(instance));
    while (num_graphs_succeeded + num_graphs_failed == 1)
        ASSERT_EQ(doca_pe_progress(pe), 1);
    EXPECT_EQ(num_graphs_failed, 1);
    EXPECT_EQ(state_of(context.ctx()), DOCA_CTX_STATE_RUNNING);
    EXPECT_EQ(context.num_ended(), 0u) << "a graph calls no callback of a task";
    instance.reset();
    must(doca_graph_stop(graph));
    graph.reset();
    doca_task_free(doca_aes_gcm_task_encrypt_as_task(encrypt));
    doca_task_free(doca_aes_gcm_task_decrypt_as_task(decrypt));
}

// Memory of other processes

/// A child on the host's side: encrypts the first half of the memory that the DPU has exported here to its second
/// half, decrypts that, and then decrypts a copy of it with a wrong tag.
doca_error_t work_on_imported_memory(std::span<const std::byte> blob, const GcmMessage &message)
{
    const DevHandle dev = open_device("soft_pf0");
    MmapHandle remote;
    must(doca_mmap_create_from_export(nullptr, blob.data(), blob.size(), dev, remote.out()));
    void *start_of_range = nullptr;
    std::size_t length = 0;
    must(doca_mmap_get_memrange(remote, &start_of_range, &length));
    auto *const there = static_cast<std::byte *>(start_of_range);
    const std::size_t plain = message.plain().size(), sealed = plain + 16;
    std::vector<std::byte> memory(sealed);
    const MmapHandle local = map_of(dev, memory);
    const InventoryHandle inventory = inventory_of(8);
    PeHandle pe;
    must(doca_pe_create(pe.out()));
    const GcmContext context(dev, pe, 1);
    must(doca_ctx_start(context.ctx()));
    GcmKeyHandle key = context.key(message.key);
    const auto run = [&](doca_task *task) {
        const std::size_t before = context.num_ended();
        must(doca_task_submit(task));
        while (context.num_ended() == before)
            (void)doca_pe_progress(pe);
        const doca_error_t status = doca_task_get_status(task);
        doca_task_free(task);
        return status;
    };
    BufHandle src, second, dst, own, back;
    // The plaintext as a list of imported memory, cut where no block ends.
    must(doca_buf_inventory_buf_get_by_data(inventory, remote, there, 100001, src.out()));
    must(doca_buf_inventory_buf_get_by_data(inventory, remote, there + 100001, plain - 100001, second.out()));
    must(doca_buf_chain_list(src, second.release()));
    must(doca_buf_inventory_buf_get_by_addr(inventory, remote, there + length / 2, sealed, dst.out()));
    doca_aes_gcm_task_encrypt *encrypt = nullptr;
    must(doca_aes_gcm_task_encrypt_alloc_init(context.get(), src, dst, key, message.iv.data(), 12, 16,
                                              static_cast<std::uint32_t>(message.aad.size()), {}, &encrypt));
    must(run(doca_aes_gcm_task_encrypt_as_task(encrypt)));
    // From there to memory of this process.
    must(doca_buf_inventory_buf_get_by_addr(inventory, local, memory.data(), plain, own.out()));
    doca_aes_gcm_task_decrypt *decrypt = nullptr;
    must(doca_aes_gcm_task_decrypt_alloc_init(context.get(), dst, own, key, message.iv.data(), 12, 16,
                                              static_cast<std::uint32_t>(message.aad.size()), {}, &decrypt));
    must(run(doca_aes_gcm_task_decrypt_as_task(decrypt)));
    const Bytes expected = message.plain();
    if (std::memcmp(memory.data(), expected.data(), plain) != 0)
        return DOCA_ERROR_UNEXPECTED;
    // A wrong tag in memory of this process; the result goes over the exported plaintext, and has to be wiped there.
    const Bytes bytes = sealed_by_openssl(message);
    std::memcpy(memory.data(), bytes.data(), sealed);
    memory.back() ^= std::byte{1};
    must(doca_buf_set_data(own, memory.data(), 0));
    own.reset();
    must(doca_buf_inventory_buf_get_by_data(inventory, local, memory.data(), sealed, own.out()));
    must(doca_buf_inventory_buf_get_by_addr(inventory, remote, there, plain, back.out()));
    must(doca_aes_gcm_task_decrypt_alloc_init(context.get(), own, back, key, message.iv.data(), 12, 16,
                                              static_cast<std::uint32_t>(message.aad.size()), {}, &decrypt));
    const doca_error_t status = run(doca_aes_gcm_task_decrypt_as_task(decrypt));
    if (data_len_of(back) != 0)
        return DOCA_ERROR_UNEXPECTED;
    key.reset();
    context.stop(pe);
    return status;
}

TEST(AesGcmImports, MemoryOfAnotherProcessIsSourceAndDestination)
{
    if (!has_device("soft_pf0") || !has_device("soft_p0"))
        GTEST_SKIP() << "takes the software device's two sides";
    const GcmMessage message{some_bytes(16, 1), some_bytes(12, 2), some_bytes(77, 3), some_bytes(700000, 4), 16};
    int to_child[2];
    ASSERT_EQ(pipe(to_child), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        close(to_child[1]); // so that the parent's end ends the read
        setenv("DOCA_SOFT_ROLE", "host", 1);
        std::byte blob[512];
        const ssize_t size = read(to_child[0], blob, sizeof(blob));
        int status = 255;
        try {
            status = work_on_imported_memory({blob, static_cast<std::size_t>(std::max<ssize_t>(size, 0))}, message);
        } catch (const std::exception &error) {
            (void)std::fprintf(stderr, "the child: %s\n", error.what());
        }
        _exit(status);
    }
    close(to_child[0]);
    std::vector<std::byte> memory(std::size_t{2} << 20);
    const Bytes plain = message.plain();
    std::memcpy(memory.data(), plain.data(), plain.size());
    {
        const Environment role("DOCA_SOFT_ROLE", "dpu");
        const DevHandle dpu = open_device("soft_p0");
        const MmapHandle map = map_of(dpu, memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
        const void *blob = nullptr;
        std::size_t size = 0;
        EXPECT_EQ(doca_mmap_export_pci(map, dpu, &blob, &size), DOCA_SUCCESS);
        EXPECT_EQ(write(to_child[1], blob, size), static_cast<ssize_t>(size));
        close(to_child[1]);
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), DOCA_ERROR_IO_FAILED) << "what the last task ended with";
    }
    const Bytes sealed = sealed_by_openssl(message);
    EXPECT_EQ(std::memcmp(&memory[memory.size() / 2], sealed.data(), sealed.size()), 0);
    const auto text = memory.begin() + static_cast<std::ptrdiff_t>(message.aad.size());
    EXPECT_TRUE(std::all_of(text, text + static_cast<std::ptrdiff_t>(message.text.size()),
                            [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(AesGcmImports, EndedExportFailsTheTaskAndReadOnlyOnesAreNoDestination)
{
    if (!has_device("soft_pf0") || !has_device("soft_p0"))
        GTEST_SKIP() << "takes the software device's two sides";
    const DevHandle host = open_device("soft_pf0"), dpu = open_device("soft_p0");
    std::vector<std::byte> exported(4096), memory(4096);
    MmapHandle map = map_of(host, exported, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_ONLY);
    const void *blob = nullptr;
    std::size_t size = 0;
    must(doca_mmap_export_pci(map, host, &blob, &size));
    MmapHandle remote;
    must(doca_mmap_create_from_export(nullptr, blob, size, dpu, remote.out()));
    const MmapHandle local = map_of(dpu, memory);
    const InventoryHandle inventory = inventory_of(4);
    PeHandle pe;
    must(doca_pe_create(pe.out()));
    GcmContext context(dpu, pe, 1);
    must(doca_ctx_start(context.ctx()));
    {
        const GcmKeyHandle key = context.key(example.key);
        BufHandle there, here;
        must(doca_buf_inventory_buf_get_by_data(inventory, remote, exported.data(), 1000, there.out()));
        must(doca_buf_inventory_buf_get_by_data(inventory, local, memory.data(), 1000, here.out()));
        const auto encrypt = [&](const doca_buf *src, doca_buf *dst) {
            doca_aes_gcm_task_encrypt *task = nullptr;
            must(doca_aes_gcm_task_encrypt_alloc_init(context.get(), src, dst, key, example.iv.data(), 12, 16, 7, {},
                                                      &task));
            doca_task *const as_task = doca_aes_gcm_task_encrypt_as_task(task);
            const std::size_t before = context.num_ended();
            must(doca_task_submit(as_task));
            while (context.num_ended() == before)
                (void)doca_pe_progress(pe);
            const doca_error_t status = doca_task_get_status(as_task);
            doca_task_free(as_task);
            return status;
        };
        BufHandle room;
        must(doca_buf_inventory_buf_get_by_addr(inventory, local, memory.data() + 1000, 3000, room.out()));
        EXPECT_EQ(encrypt(there, room), DOCA_SUCCESS);
        EXPECT_EQ(data_len_of(room), 1016u);
        EXPECT_EQ(encrypt(here, there), DOCA_ERROR_NOT_PERMITTED);
        map.reset(); // the export ends
        EXPECT_EQ(encrypt(there, room), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(data_len_of(room), 1016u);
        EXPECT_EQ(state_of(context.ctx()), DOCA_CTX_STATE_RUNNING);
    }
    context.stop(pe);
}

} // namespace
} // namespace doca_test
