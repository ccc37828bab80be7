// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Inventories: their life, what buffers they give and refuse.
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include "support/child_process.hpp"
#include "support/dma_fixture.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

class InventoryTest : public testing::Test {
protected:
    static constexpr std::uint32_t capacity = 4;

    void SetUp() override
    {
        must(doca_buf_inventory_create(nullptr, capacity, DOCA_BUF_EXTENSION_NONE, inventory.out()));
    }
    void start() { must(doca_buf_inventory_start(inventory)); }

    [[nodiscard]] std::uint32_t num_free() const
    {
        std::uint32_t count = 77;
        EXPECT_EQ(doca_buf_inventory_get_num_free_elements(inventory, &count), DOCA_SUCCESS);
        return count;
    }
    /// By the function that all others are made of: a failure changes nothing.
    [[nodiscard]] doca_error_t take(doca_mmap *from, void *addr, std::size_t len, void *data, std::size_t data_len)
    {
        const std::uint32_t free = num_free();
        doca_buf *buf = untouched<doca_buf>();
        const doca_error_t status = doca_buf_inventory_buf_by_args(inventory, from, addr, len, data, data_len, &buf);
        if (status == DOCA_SUCCESS) {
            EXPECT_EQ(num_free(), free - 1);
            EXPECT_EQ(doca_buf_refcount_rm(buf, nullptr), DOCA_SUCCESS);
        } else {
            EXPECT_EQ(buf, untouched<doca_buf>());
        }
        EXPECT_EQ(num_free(), free);
        return status;
    }
    [[nodiscard]] doca_error_t take(void *addr, std::size_t len) { return take(map, addr, len, addr, 0); }

    std::vector<std::byte> memory = std::vector<std::byte>(1000);
    LocalMap map{{}, std::span(memory).subspan(100, 800)};
    std::byte *const first = &memory[100];
    InventoryHandle inventory;
};

TEST_F(InventoryTest, create_refuses_bad_values)
{
    doca_buf_inventory *out = untouched<doca_buf_inventory>();
    EXPECT_EQ(doca_buf_inventory_create(nullptr, 1, DOCA_BUF_EXTENSION_NONE, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_inventory_create(nullptr, 0, DOCA_BUF_EXTENSION_NONE, &out), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_inventory_create(nullptr, (std::size_t{1} << 26) + 1, DOCA_BUF_EXTENSION_NONE, &out),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_inventory_create(nullptr, SIZE_MAX, DOCA_BUF_EXTENSION_NONE, &out), DOCA_ERROR_INVALID_VALUE);
    for (const std::uint32_t extension : {1U, 2U, 0x80000000U, ~0U})
        EXPECT_EQ(doca_buf_inventory_create(nullptr, 1, extension, &out), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(out, untouched<doca_buf_inventory>());
}

TEST_F(InventoryTest, keeps_the_user_data)
{
    doca_data got = {.u64 = 77};
    EXPECT_EQ(doca_buf_inventory_get_user_data(inventory, &got), DOCA_SUCCESS);
    EXPECT_EQ(got.u64, 0u);
    const doca_data given = {.u64 = 0x8877665544332211};
    InventoryHandle other;
    ASSERT_EQ(doca_buf_inventory_create(&given, 1, DOCA_BUF_EXTENSION_NONE, other.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_get_user_data(other, &got), DOCA_SUCCESS);
    EXPECT_EQ(got.u64, given.u64);
    EXPECT_EQ(doca_buf_inventory_get_user_data(nullptr, &got), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_inventory_get_user_data(inventory, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(got.u64, given.u64);
}

TEST_F(InventoryTest, counts_its_elements)
{
    std::uint32_t count = 77;
    EXPECT_EQ(doca_buf_inventory_get_num_elements(nullptr, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_inventory_get_num_elements(inventory, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_inventory_get_num_free_elements(nullptr, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_inventory_get_num_free_elements(inventory, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(count, 77u);
    start();
    std::vector<BufHandle> bufs;
    for (std::uint32_t out = 0; out <= capacity; ++out) {
        EXPECT_EQ(num_free(), capacity - out);
        EXPECT_EQ(doca_buf_inventory_get_num_elements(inventory, &count), DOCA_SUCCESS);
        EXPECT_EQ(count, capacity);
        if (out < capacity)
            must(doca_buf_inventory_buf_by_addr(inventory, map, first, 10, bufs.emplace_back().out()));
    }
}

TEST_F(InventoryTest, destroy_waits_for_the_buffers)
{
    EXPECT_EQ(doca_buf_inventory_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    start();
    BufHandle buf;
    must(doca_buf_inventory_buf_by_addr(inventory, map, first, 10, buf.out()));
    EXPECT_EQ(doca_buf_inventory_destroy(inventory), DOCA_ERROR_NOT_PERMITTED);
    must(doca_buf_inventory_stop(inventory));
    EXPECT_EQ(doca_buf_inventory_destroy(inventory), DOCA_ERROR_NOT_PERMITTED);
    must(doca_buf_inventory_start(inventory));
    EXPECT_EQ(take(first, 10), DOCA_SUCCESS); // nothing has changed
    buf.reset();
    EXPECT_EQ(doca_buf_inventory_destroy(inventory.release()), DOCA_SUCCESS); // without a stop
}

TEST_F(InventoryTest, destroy_needs_no_start)
{
    EXPECT_EQ(doca_buf_inventory_destroy(inventory.release()), DOCA_SUCCESS);
}

TEST_F(InventoryTest, start_and_stop_succeed_in_any_state)
{
    EXPECT_EQ(doca_buf_inventory_start(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_inventory_stop(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_inventory_stop(inventory), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_start(inventory), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_start(inventory), DOCA_SUCCESS);
    EXPECT_EQ(take(first, 10), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_stop(inventory), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_inventory_stop(inventory), DOCA_SUCCESS);
}

TEST_F(InventoryTest, gives_buffers_only_while_started)
{
    EXPECT_EQ(take(first, 10), DOCA_ERROR_NOT_PERMITTED);
    start();
    BufHandle buf;
    must(doca_buf_inventory_buf_by_data(inventory, map, first, 10, buf.out()));
    must(doca_buf_inventory_stop(inventory));
    EXPECT_EQ(take(first, 10), DOCA_ERROR_NOT_PERMITTED);
    doca_buf *copy = untouched<doca_buf>();
    EXPECT_EQ(doca_buf_inventory_buf_dup(inventory, buf, &copy), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(copy, untouched<doca_buf>());
    EXPECT_EQ(data_len_of(buf), 10u); // what is out stays valid
    EXPECT_EQ(doca_buf_refcount_rm(buf.release(), nullptr), DOCA_SUCCESS);
    EXPECT_EQ(num_free(), capacity);
    start();
    EXPECT_EQ(take(first, 10), DOCA_SUCCESS);
}

TEST_F(InventoryTest, gives_buffers_of_started_maps_only)
{
    start();
    MmapHandle other;
    must(doca_mmap_create(nullptr, other.out()));
    EXPECT_EQ(take(other, first, 10, first, 0), DOCA_ERROR_NOT_PERMITTED);
    must(doca_mmap_set_memrange(other, memory.data(), memory.size()));
    EXPECT_EQ(take(other, first, 10, first, 0), DOCA_ERROR_NOT_PERMITTED);
    must(doca_mmap_start(other));
    EXPECT_EQ(take(other, first, 10, first, 0), DOCA_SUCCESS);
    must(doca_mmap_stop(other));
    EXPECT_EQ(take(other, first, 10, first, 0), DOCA_ERROR_NOT_PERMITTED);
}

TEST_F(InventoryTest, region_must_lie_in_the_map)
{
    start();
    EXPECT_EQ(take(first, 800), DOCA_SUCCESS);
    EXPECT_EQ(take(first, 1), DOCA_SUCCESS);
    EXPECT_EQ(take(first + 799, 1), DOCA_SUCCESS);
    EXPECT_EQ(take(first, 801), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(first - 1, 10), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(first - 1, 1000), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(first + 799, 2), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(first + 800, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(first + 10, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(first + 10, SIZE_MAX - 9), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(first, SIZE_MAX - reinterpret_cast<std::size_t>(first) + 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(nullptr, 10), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(InventoryTest, data_section_must_lie_in_the_region)
{
    start();
    std::byte *const addr = first + 50;
    EXPECT_EQ(take(map, addr, 100, addr, 100), DOCA_SUCCESS);
    EXPECT_EQ(take(map, addr, 100, addr + 100, 0), DOCA_SUCCESS);
    EXPECT_EQ(take(map, addr, 100, addr + 99, 1), DOCA_SUCCESS);
    EXPECT_EQ(take(map, addr, 100, addr, 101), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(map, addr, 100, addr + 100, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(map, addr, 100, addr + 101, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(map, addr, 100, addr - 1, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(map, addr, 100, addr - 1, 50), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(map, addr, 100, addr + 50, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(take(map, addr, 100, nullptr, 0), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(InventoryTest, buffer_out_must_not_be_null)
{
    start();
    EXPECT_EQ(doca_buf_inventory_buf_by_args(inventory, map, first, 10, first, 0, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(num_free(), capacity);
}

TEST_F(InventoryTest, runs_out_of_buffers)
{
    start();
    std::vector<BufHandle> bufs(capacity);
    for (BufHandle &buf : bufs)
        ASSERT_EQ(doca_buf_inventory_buf_by_addr(inventory, map, first, 10, buf.out()), DOCA_SUCCESS);
    EXPECT_EQ(take(first, 10), DOCA_ERROR_NO_MEMORY); // and not INVALID_VALUE: programs tell the two apart
    doca_buf *copy = untouched<doca_buf>();
    EXPECT_EQ(doca_buf_inventory_buf_dup(inventory, bufs[0], &copy), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(copy, untouched<doca_buf>());
    for (int i = 0; i < 1000; ++i) {
        BufHandle &buf = bufs[static_cast<std::size_t>(i) % capacity];
        buf.reset();
        ASSERT_EQ(doca_buf_inventory_buf_by_addr(inventory, map, first, 10, buf.out()), DOCA_SUCCESS);
        ASSERT_EQ(take(first, 10), DOCA_ERROR_NO_MEMORY);
    }
}

TEST_F(InventoryTest, dup_copies_the_descriptor)
{
    start();
    BufHandle source, copy;
    must(doca_buf_inventory_buf_by_args(inventory, map, first, 100, first + 20, 30, source.out()));
    ASSERT_EQ(doca_buf_inventory_buf_dup(inventory, source, copy.out()), DOCA_SUCCESS);
    EXPECT_NE(copy.get(), source.get());
    source.reset(); // the copy lives on
    void *head = nullptr;
    std::size_t len = 0;
    EXPECT_EQ(doca_buf_get_head(copy, &head), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_get_len(copy, &len), DOCA_SUCCESS);
    EXPECT_EQ(head, first);
    EXPECT_EQ(len, 100u);
    EXPECT_EQ(data_of(copy), first + 20);
    EXPECT_EQ(data_len_of(copy), 30u);
    std::uint16_t count = 77;
    EXPECT_EQ(doca_buf_get_refcount(copy, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(doca_mmap_stop(map), DOCA_ERROR_NOT_PERMITTED); // a buffer of the map like any other
}

TEST_F(InventoryTest, dup_may_come_from_another_inventory)
{
    start();
    const Inventory other(1);
    const BufHandle source = other.full(map, first, 100);
    BufHandle copy;
    EXPECT_EQ(doca_buf_inventory_buf_dup(inventory, source, copy.out()), DOCA_SUCCESS);
    EXPECT_EQ(num_free(), capacity - 1);
}

TEST_F(InventoryTest, dup_refuses_null)
{
    start();
    BufHandle source;
    must(doca_buf_inventory_buf_by_addr(inventory, map, first, 10, source.out()));
    doca_buf *copy = untouched<doca_buf>();
    EXPECT_EQ(doca_buf_inventory_buf_dup(nullptr, source, &copy), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_inventory_buf_dup(inventory, nullptr, &copy), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_inventory_buf_dup(inventory, source, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(copy, untouched<doca_buf>());
    EXPECT_EQ(num_free(), capacity - 1);
}

TEST_F(InventoryTest, can_be_large)
{
    InventoryHandle large;
    ASSERT_EQ(doca_buf_inventory_create(nullptr, std::size_t{1} << 20, DOCA_BUF_EXTENSION_NONE, large.out()),
              DOCA_SUCCESS);
    std::uint32_t count = 0;
    EXPECT_EQ(doca_buf_inventory_get_num_elements(large, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 1U << 20);
}

TEST_F(InventoryTest, create_without_memory_fails)
{
    if (is_sanitized)
        GTEST_SKIP() << "a sanitizer needs the address space";
    const int status = in_forked_child([] {
        const rlimit address_space = {std::size_t{1} << 30, std::size_t{1} << 30};
        must_hold(setrlimit(RLIMIT_AS, &address_space) == 0, "setrlimit");
        doca_buf_inventory *out = untouched<doca_buf_inventory>();
        const doca_error_t create =
            doca_buf_inventory_create(nullptr, std::size_t{1} << 26, DOCA_BUF_EXTENSION_NONE, &out);
        must_hold(out == untouched<doca_buf_inventory>(), "the output is untouched");
        return static_cast<int>(create);
    });
    EXPECT_EQ(status, DOCA_ERROR_NO_MEMORY);
}

TEST_F(InventoryTest, several_serve_one_map_in_several_threads)
{
    const auto work = [this] {
        const Inventory own(16);
        for (int i = 0; i < times(5000); ++i) {
            std::vector<BufHandle> bufs(16);
            for (BufHandle &buf : bufs)
                buf = own.full(map, first, 10);
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back(work);
    for (std::thread &thread : threads)
        thread.join();
    std::uint32_t count = 77;
    EXPECT_EQ(doca_mmap_get_num_bufs(map, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 0u);
}
