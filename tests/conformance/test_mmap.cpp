// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory maps of this process without devices: configuration, states, permissions, callbacks.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/dma_fixture.hpp"
#include "support/free_callback.hpp"

using namespace doca_test;

namespace {

std::uint32_t num_bufs_of(doca_mmap *mmap)
{
    std::uint32_t count = 77;
    EXPECT_EQ(doca_mmap_get_num_bufs(mmap, &count), DOCA_SUCCESS);
    return count;
}

} // namespace

/// A map without anything, and memory for it. No device is involved.
class MmapTest : public testing::Test {
protected:
    void SetUp() override { must(doca_mmap_create(nullptr, mmap.out())); }
    void set_range() { must(doca_mmap_set_memrange(mmap, memory.data(), memory.size())); }
    void start()
    {
        set_range();
        must(doca_mmap_start(mmap));
    }

    std::vector<std::byte> memory = std::vector<std::byte>(1000);
    MmapHandle mmap;
};

TEST_F(MmapTest, create_refuses_null)
{
    EXPECT_EQ(doca_mmap_create(nullptr, nullptr), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(MmapTest, keeps_the_user_data)
{
    const doca_data given = {.u64 = 0xfedcba9876543210};
    doca_data got = {.u64 = 77};
    EXPECT_EQ(doca_mmap_get_user_data(mmap, &got), DOCA_SUCCESS);
    EXPECT_EQ(got.u64, 0u); // none was given

    MmapHandle other;
    ASSERT_EQ(doca_mmap_create(&given, other.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_get_user_data(other, &got), DOCA_SUCCESS);
    EXPECT_EQ(got.u64, given.u64);
    EXPECT_EQ(doca_mmap_get_user_data(nullptr, &got), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_get_user_data(mmap, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(got.u64, given.u64);
}

// Destroy

TEST_F(MmapTest, destroy_refuses_null)
{
    EXPECT_EQ(doca_mmap_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(MmapTest, is_destroyed_in_any_state)
{
    EXPECT_EQ(doca_mmap_destroy(mmap.release()), DOCA_SUCCESS); // without anything
    must(doca_mmap_create(nullptr, mmap.out()));
    set_range();
    EXPECT_EQ(doca_mmap_destroy(mmap.release()), DOCA_SUCCESS); // configured
    must(doca_mmap_create(nullptr, mmap.out()));
    start();
    EXPECT_EQ(doca_mmap_destroy(mmap.release()), DOCA_SUCCESS); // started
    must(doca_mmap_create(nullptr, mmap.out()));
    start();
    must(doca_mmap_stop(mmap));
    EXPECT_EQ(doca_mmap_destroy(mmap.release()), DOCA_SUCCESS); // stopped
}

TEST_F(MmapTest, with_buffers_it_is_neither_destroyed_nor_stopped)
{
    start();
    const Inventory inventory(2);
    BufHandle buf = inventory.full(mmap, memory.data(), 10);
    EXPECT_EQ(num_bufs_of(mmap), 1u);
    EXPECT_EQ(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
    {
        const BufHandle another = inventory.full(mmap, memory.data(), 10); // it is still started
        EXPECT_EQ(num_bufs_of(mmap), 2u);
    }
    buf.reset();
    EXPECT_EQ(num_bufs_of(mmap), 0u);
    EXPECT_EQ(doca_mmap_stop(mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_destroy(mmap.release()), DOCA_SUCCESS);
}

TEST_F(MmapTest, memory_may_be_freed_before_destroy)
{
    start();
    std::vector<std::byte>().swap(memory);
    EXPECT_EQ(doca_mmap_destroy(mmap.release()), DOCA_SUCCESS);
}

// Start and stop

TEST_F(MmapTest, start_and_stop_refuse_null)
{
    EXPECT_EQ(doca_mmap_start(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_stop(nullptr), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(MmapTest, start_needs_a_range)
{
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
    set_range();
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS); // and no device
}

TEST_F(MmapTest, starts_and_stops_in_turn)
{
    EXPECT_EQ(doca_mmap_stop(mmap), DOCA_ERROR_BAD_STATE);
    set_range();
    EXPECT_EQ(doca_mmap_stop(mmap), DOCA_ERROR_BAD_STATE);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS);
        EXPECT_EQ(doca_mmap_start(mmap), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_mmap_stop(mmap), DOCA_SUCCESS);
        EXPECT_EQ(doca_mmap_stop(mmap), DOCA_ERROR_BAD_STATE);
    }
}

// Range

TEST_F(MmapTest, range_refuses_bad_values)
{
    EXPECT_EQ(doca_mmap_set_memrange(nullptr, memory.data(), 10), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_memrange(mmap, nullptr, 10), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_memrange(mmap, memory.data(), 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_memrange(mmap, memory.data(), SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_memrange(mmap, memory.data(), SIZE_MAX - reinterpret_cast<std::size_t>(memory.data()) + 2),
              DOCA_ERROR_INVALID_VALUE);
    void *addr = untouched<void>();
    std::size_t len = 77;
    EXPECT_EQ(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE); // none was set
    EXPECT_EQ(addr, untouched<void>());
    EXPECT_EQ(len, 77u);
    EXPECT_EQ(doca_mmap_set_memrange(mmap, memory.data(), 10), DOCA_SUCCESS);
}

TEST_F(MmapTest, range_is_set_once)
{
    set_range();
    EXPECT_EQ(doca_mmap_set_memrange(mmap, memory.data(), 10), DOCA_ERROR_NOT_PERMITTED);
    must(doca_mmap_start(mmap));
    EXPECT_EQ(doca_mmap_set_memrange(mmap, memory.data(), 10), DOCA_ERROR_BAD_STATE);
    must(doca_mmap_stop(mmap));
    EXPECT_EQ(doca_mmap_set_memrange(mmap, memory.data(), 10), DOCA_ERROR_NOT_PERMITTED);
    void *addr = nullptr;
    std::size_t len = 0;
    ASSERT_EQ(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
    EXPECT_EQ(addr, memory.data());
    EXPECT_EQ(len, memory.size());
}

TEST_F(MmapTest, range_is_told_in_every_state)
{
    void *addr = untouched<void>();
    std::size_t len = 77;
    const auto expect_range = [&] {
        addr = nullptr;
        len = 0;
        EXPECT_EQ(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_SUCCESS);
        EXPECT_EQ(addr, memory.data() + 1);
        EXPECT_EQ(len, 7u);
    };
    must(doca_mmap_set_memrange(mmap, memory.data() + 1, 7)); // no alignment is needed
    expect_range();
    must(doca_mmap_start(mmap));
    expect_range();
    must(doca_mmap_stop(mmap));
    expect_range();
    EXPECT_EQ(doca_mmap_get_memrange(nullptr, &addr, &len), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_get_memrange(mmap, nullptr, &len), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_get_memrange(mmap, &addr, nullptr), DOCA_ERROR_INVALID_VALUE);
}

// Permissions

TEST_F(MmapTest, permissions_take_every_defined_flag)
{
    constexpr std::uint32_t dpu[] = {0, DOCA_ACCESS_DPU_READ_ONLY, DOCA_ACCESS_DPU_READ_WRITE};
    for (std::uint32_t low = 0; low < 16; ++low) {
        for (const std::uint32_t high : dpu)
            EXPECT_EQ(doca_mmap_set_permissions(mmap, low | high), DOCA_SUCCESS) << (low | high);
    }
}

TEST_F(MmapTest, permissions_refuse_bad_masks)
{
    constexpr std::uint32_t both = DOCA_ACCESS_DPU_READ_ONLY | DOCA_ACCESS_DPU_READ_WRITE;
    EXPECT_EQ(doca_mmap_set_permissions(nullptr, DOCA_ACCESS_LOCAL_READ_WRITE), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_permissions(mmap, both), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_permissions(mmap, both | DOCA_ACCESS_LOCAL_READ_WRITE), DOCA_ERROR_INVALID_VALUE);
    for (std::uint32_t bit = 1U << 6; bit != 0; bit <<= 1)
        EXPECT_EQ(doca_mmap_set_permissions(mmap, bit | DOCA_ACCESS_LOCAL_READ_WRITE), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_permissions(mmap, ~0U), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(MmapTest, permissions_change_only_while_stopped)
{
    start();
    EXPECT_EQ(doca_mmap_set_permissions(mmap, DOCA_ACCESS_LOCAL_READ_ONLY), DOCA_ERROR_BAD_STATE);
    must(doca_mmap_stop(mmap));
    EXPECT_EQ(doca_mmap_set_permissions(mmap, DOCA_ACCESS_LOCAL_READ_ONLY), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS);
}

// Free callback

TEST_F(MmapTest, free_callback_runs_once_at_destroy)
{
    Freed freed;
    EXPECT_EQ(doca_mmap_set_free_cb(nullptr, Freed::callback, &freed), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(doca_mmap_set_free_cb(mmap, Freed::callback, &freed), DOCA_SUCCESS);
    start();
    EXPECT_EQ(doca_mmap_set_free_cb(mmap, nullptr, nullptr), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(freed.calls, 0);
    EXPECT_EQ(doca_mmap_destroy(mmap.release()), DOCA_SUCCESS);
    EXPECT_EQ(freed.calls, 1);
    EXPECT_EQ(freed.addr, memory.data());
    EXPECT_EQ(freed.len, memory.size());
}

TEST_F(MmapTest, free_callback_runs_after_a_stop_too)
{
    Freed freed;
    must(doca_mmap_set_free_cb(mmap, Freed::callback, &freed));
    start();
    must(doca_mmap_stop(mmap));
    must(doca_mmap_start(mmap));
    must(doca_mmap_stop(mmap));
    EXPECT_EQ(freed.calls, 0);
    mmap.reset();
    EXPECT_EQ(freed.calls, 1);
}

TEST_F(MmapTest, free_callback_needs_a_start)
{
    Freed freed;
    must(doca_mmap_set_free_cb(mmap, Freed::callback, &freed));
    set_range();
    mmap.reset();
    EXPECT_EQ(freed.calls, 0);
}

TEST_F(MmapTest, free_callback_that_was_changed_needs_a_new_start)
{
    Freed first, second;
    must(doca_mmap_set_free_cb(mmap, Freed::callback, &first));
    start();
    must(doca_mmap_stop(mmap));
    must(doca_mmap_set_free_cb(mmap, Freed::callback, &second));
    mmap.reset();
    EXPECT_EQ(first.calls, 0);
    EXPECT_EQ(second.calls, 0);

    must(doca_mmap_create(nullptr, mmap.out()));
    must(doca_mmap_set_free_cb(mmap, Freed::callback, &first));
    start();
    must(doca_mmap_stop(mmap));
    must(doca_mmap_set_free_cb(mmap, Freed::callback, &second));
    must(doca_mmap_start(mmap));
    mmap.reset();
    EXPECT_EQ(first.calls, 0);
    EXPECT_EQ(second.calls, 1);
}

TEST_F(MmapTest, free_callback_can_be_removed)
{
    Freed freed;
    must(doca_mmap_set_free_cb(mmap, Freed::callback, &freed));
    EXPECT_EQ(doca_mmap_set_free_cb(mmap, nullptr, &freed), DOCA_SUCCESS);
    start();
    mmap.reset();
    EXPECT_EQ(freed.calls, 0);
}

TEST_F(MmapTest, free_callback_does_not_run_when_destroy_is_refused)
{
    Freed freed;
    must(doca_mmap_set_free_cb(mmap, Freed::callback, &freed));
    start();
    const Inventory inventory(1);
    BufHandle buf = inventory.full(mmap, memory.data(), 10);
    EXPECT_EQ(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(freed.calls, 0);
    buf.reset();
    mmap.reset();
    EXPECT_EQ(freed.calls, 1);
}

// Numbers

TEST_F(MmapTest, counts_the_buffers_of_all_inventories)
{
    std::uint32_t count = 77;
    EXPECT_EQ(doca_mmap_get_num_bufs(nullptr, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_get_num_bufs(mmap, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(count, 77u);
    EXPECT_EQ(num_bufs_of(mmap), 0u);
    start();
    const Inventory first(8), second(8);
    std::vector<BufHandle> bufs;
    for (int i = 0; i < 4; ++i) {
        bufs.push_back(first.full(mmap, memory.data(), 10));
        bufs.push_back(second.full(mmap, memory.data(), 10));
        EXPECT_EQ(num_bufs_of(mmap), bufs.size());
    }
    while (!bufs.empty()) {
        bufs.pop_back();
        EXPECT_EQ(num_bufs_of(mmap), bufs.size());
    }
}

TEST_F(MmapTest, counts_are_right_whoever_goes_first)
{
    start();
    const Inventory inventory(64);
    {
        const Inventory gone(2);
        const BufHandle buf = gone.full(mmap, memory.data(), 10);
        EXPECT_EQ(num_bufs_of(mmap), 1u);
    }
    EXPECT_EQ(num_bufs_of(mmap), 0u);
    // Far more maps than an inventory remembers, again and again, one of them with a buffer all the time.
    const BufHandle stays = inventory.full(mmap, memory.data(), 10);
    for (int round = 0; round < 3; ++round) {
        std::vector<LocalMap> maps;
        std::vector<BufHandle> bufs;
        for (int i = 0; i < 50; ++i) {
            maps.emplace_back(std::initializer_list<doca_dev *>{}, memory);
            bufs.push_back(inventory.full(maps.back(), memory.data(), 10));
        }
        for (const LocalMap &map : maps) {
            EXPECT_EQ(num_bufs_of(map), 1u);
            EXPECT_EQ(doca_mmap_stop(map), DOCA_ERROR_NOT_PERMITTED);
        }
        bufs.erase(bufs.begin(), bufs.begin() + 25);
        for (std::size_t i = 0; i < maps.size(); ++i)
            EXPECT_EQ(num_bufs_of(maps[i]), i < 25 ? 0u : 1u);
        EXPECT_EQ(num_bufs_of(mmap), 1u);
    }
}

TEST_F(MmapTest, device_limit)
{
    std::uint32_t limit = 77;
    EXPECT_EQ(doca_mmap_get_max_num_devices(nullptr, &limit), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_get_max_num_devices(mmap, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(limit, 77u);
    EXPECT_EQ(doca_mmap_get_max_num_devices(mmap, &limit), DOCA_SUCCESS);
    EXPECT_EQ(limit, 64u);
    EXPECT_EQ(doca_mmap_set_max_num_devices(nullptr, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_max_num_devices(mmap, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_max_num_devices(mmap, 1), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_set_max_num_devices(mmap, 1000), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_get_max_num_devices(mmap, &limit), DOCA_SUCCESS);
    EXPECT_EQ(limit, 1000u);
    start(); // fixes it for good
    EXPECT_EQ(doca_mmap_set_max_num_devices(mmap, 2000), DOCA_ERROR_NOT_PERMITTED);
    must(doca_mmap_stop(mmap));
    EXPECT_EQ(doca_mmap_set_max_num_devices(mmap, 2000), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_get_max_num_devices(mmap, &limit), DOCA_SUCCESS);
    EXPECT_EQ(limit, 1000u);
}

TEST_F(MmapTest, is_neither_exported_nor_imported)
{
    std::uint8_t answer = 99;
    EXPECT_EQ(doca_mmap_get_exported(nullptr, &answer), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_get_exported(mmap, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_get_from_export(nullptr, &answer), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_get_from_export(mmap, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(answer, 99);
    EXPECT_EQ(doca_mmap_get_exported(mmap, &answer), DOCA_SUCCESS);
    EXPECT_EQ(answer, 0);
    answer = 99;
    EXPECT_EQ(doca_mmap_get_from_export(mmap, &answer), DOCA_SUCCESS);
    EXPECT_EQ(answer, 0);
}
