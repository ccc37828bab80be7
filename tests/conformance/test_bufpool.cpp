// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Buffer pools: their life, where their buffers lie, and that these are buffers like any other. And buffer
// arrays, which nothing here can use.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <doca_buf_array.h>
#include <doca_bufpool.h>

#include "support/child_process.hpp"
#include "support/dma_fixture.hpp"
#include "support/log_capture.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

namespace {

using PoolHandle = Handle<doca_bufpool, doca_bufpool_destroy>;

class BufpoolTest : public testing::Test {
protected:
    [[nodiscard]] doca_error_t create(std::size_t count, std::size_t size, std::size_t alignment)
    {
        return doca_bufpool_create(nullptr, count, DOCA_BUF_EXTENSION_NONE, size, alignment, map, pool.out());
    }
    void make(std::size_t count, std::size_t size = 16, std::size_t alignment = 0)
    {
        must(create(count, size, alignment));
        must(doca_bufpool_start(pool));
    }
    [[nodiscard]] BufHandle alloc()
    {
        BufHandle buf;
        EXPECT_EQ(doca_bufpool_buf_alloc(pool, buf.out()), DOCA_SUCCESS);
        return buf;
    }
    [[nodiscard]] doca_error_t refused_alloc()
    {
        doca_buf *buf = untouched<doca_buf>();
        const doca_error_t status = doca_bufpool_buf_alloc(pool, &buf);
        EXPECT_EQ(buf, untouched<doca_buf>());
        return status;
    }
    [[nodiscard]] std::uint32_t num_free() const
    {
        std::uint32_t count = 77;
        EXPECT_EQ(doca_bufpool_get_num_free_elements(pool, &count), DOCA_SUCCESS);
        return count;
    }
    [[nodiscard]] static std::byte *head_of(const doca_buf *buf)
    {
        void *head = nullptr;
        EXPECT_EQ(doca_buf_get_head(buf, &head), DOCA_SUCCESS);
        return static_cast<std::byte *>(head);
    }

    std::vector<std::byte> memory = std::vector<std::byte>(1024 + 64);
    std::byte *const aligned = [this] {
        const auto gap = -reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
        return memory.data() + gap;
    }();
    std::byte *const first = aligned + 3; // of a range of 800 bytes that is aligned to nothing
    LocalMap map{{}, {first, 800}};
    PoolHandle pool;
};

TEST_F(BufpoolTest, create_refuses_bad_values)
{
    doca_bufpool *out = untouched<doca_bufpool>();
    const auto refused = [&](std::size_t count, std::uint32_t extensions, std::size_t size, std::size_t alignment) {
        EXPECT_EQ(doca_bufpool_create(nullptr, count, extensions, size, alignment, map, &out), DOCA_ERROR_INVALID_VALUE)
            << count << " of " << size << ", aligned to " << alignment;
    };
    refused(0, DOCA_BUF_EXTENSION_NONE, 16, 0);
    refused((std::size_t{1} << 26) + 1, DOCA_BUF_EXTENSION_NONE, 1, 0);
    refused(SIZE_MAX, DOCA_BUF_EXTENSION_NONE, 16, 0);
    refused(4, DOCA_BUF_EXTENSION_NONE, 0, 0);
    refused(4, 1, 16, 0);
    for (const std::size_t alignment : {3u, 6u, 65u})
        refused(4, DOCA_BUF_EXTENSION_NONE, 16, alignment);
    EXPECT_EQ(doca_bufpool_create(nullptr, 1, 0, 16, 0, nullptr, &out), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_bufpool_create(nullptr, 1, 0, 16, 0, map, nullptr), DOCA_ERROR_INVALID_VALUE);
    MmapHandle without_range;
    must(doca_mmap_create(nullptr, without_range.out()));
    EXPECT_EQ(doca_bufpool_create(nullptr, 1, 0, 16, 0, without_range, &out), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(out, untouched<doca_bufpool>());
}

TEST_F(BufpoolTest, buffers_that_fit_and_that_do_not)
{
    struct Case {
        std::size_t count, size, alignment;
        bool fits;
    };
    constexpr std::size_t top_bit = ~(SIZE_MAX >> 1);
    for (const Case &c : {
             Case{1, 800, 0, true},
             {1, 801, 0, false},
             {800, 1, 0, true},
             {801, 1, 1, false},
             {50, 16, 1, true},
             {2, 401, 0, false},
             {1, 739, 64, true}, // 61 bytes up to the first multiple
             {1, 740, 64, false},
             {12, 35, 64, true}, // the last one needs no gap behind it
             {12, 36, 64, false},
             {13, 1, 64, false},
             {6, 65, 64, true}, // 128 bytes each
             {7, 1, 128, false},
             {2, SIZE_MAX, 0, false},
             {1, SIZE_MAX, 64, false},
             {2, SIZE_MAX - 10, 64, false},
             {std::size_t{1} << 26, SIZE_MAX >> 26, 0, false},
             {3, 1, top_bit, false},
             {1, 1, top_bit, false},
         }) {
        EXPECT_EQ(create(c.count, c.size, c.alignment), c.fits ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE)
            << c.count << " of " << c.size << ", aligned to " << c.alignment;
    }
}

TEST_F(BufpoolTest, descriptors_of_buffers_that_do_not_fit_are_not_made)
{
    if (is_sanitized)
        GTEST_SKIP() << "a sanitizer needs the address space";
    const int status = in_forked_child([this] {
        const rlimit address_space = {std::size_t{1} << 30, std::size_t{1} << 30};
        must_hold(setrlimit(RLIMIT_AS, &address_space) == 0, "setrlimit");
        return static_cast<int>(create(std::size_t{1} << 26, 16, 0)); // NO_MEMORY if they were
    });
    EXPECT_EQ(status, DOCA_ERROR_INVALID_VALUE);
}

TEST_F(BufpoolTest, buffers_lie_apart_and_aligned)
{
    for (const std::size_t alignment : {0u, 1u, 2u, 8u, 64u}) {
        for (const std::size_t size : {1u, 7u, 64u, 65u}) {
            SCOPED_TRACE(std::to_string(size) + " aligned to " + std::to_string(alignment));
            make(5, size, alignment);
            std::vector<BufHandle> bufs;
            std::set<std::byte *> heads;
            for (int i = 0; i < 5; ++i) {
                bufs.push_back(alloc());
                std::byte *const head = head_of(bufs.back());
                std::size_t len = 0;
                must(doca_buf_get_len(bufs.back(), &len));
                EXPECT_EQ(len, size);
                EXPECT_EQ(data_of(bufs.back()), head);
                EXPECT_EQ(data_len_of(bufs.back()), 0u);
                EXPECT_GE(head, first);
                EXPECT_LE(head + size, first + 800);
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(head) % std::max<std::size_t>(alignment, 1), 0u);
                heads.insert(head);
            }
            ASSERT_EQ(heads.size(), 5u);
            for (auto head = heads.begin(); std::next(head) != heads.end(); ++head)
                EXPECT_GE(*std::next(head) - *head, static_cast<std::ptrdiff_t>(size));
        }
    }
}

TEST_F(BufpoolTest, every_buffer_can_be_out_and_comes_back)
{
    make(3);
    std::set<std::byte *> heads;
    for (int round = 0; round < 3; ++round) {
        std::vector<BufHandle> bufs;
        for (std::uint32_t i = 0; i < 3; ++i) {
            EXPECT_EQ(num_free(), 3 - i);
            bufs.push_back(alloc());
            must(doca_buf_set_data(bufs.back(), head_of(bufs.back()) + 1, 5)); // gone when it is taken again
            EXPECT_EQ(data_len_of(bufs.back()), 5u);
            heads.insert(head_of(bufs.back()));
        }
        EXPECT_EQ(num_free(), 0u);
        EXPECT_EQ(refused_alloc(), DOCA_ERROR_NO_MEMORY);
        bufs.erase(bufs.begin() + 1);
        EXPECT_EQ(num_free(), 1u);
        const BufHandle again = alloc();
        EXPECT_EQ(data_of(again), head_of(again));
        EXPECT_EQ(data_len_of(again), 0u);
    }
    EXPECT_EQ(heads.size(), 3u);
    EXPECT_EQ(num_free(), 3u);
}

TEST_F(BufpoolTest, reference_count)
{
    make(1);
    BufHandle buf = alloc();
    std::uint16_t count = 77;
    EXPECT_EQ(doca_buf_get_refcount(buf, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 1);
    count = 77;
    EXPECT_EQ(doca_buf_refcount_rm(buf.release(), &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(num_free(), 1u);
}

TEST_F(BufpoolTest, a_list_comes_back_as_a_whole)
{
    make(3);
    const Inventory inventory(1);
    BufHandle list = alloc();
    must(doca_buf_list_chain(list, alloc().release()));
    must(doca_buf_list_chain(list, inventory.full(map, first, 10).release())); // back to where it is from
    EXPECT_EQ(num_free(), 1u);
    list.reset();
    EXPECT_EQ(num_free(), 3u);
    std::uint32_t inventory_free = 0;
    must(doca_buf_inventory_get_num_free_elements(inventory, &inventory_free));
    EXPECT_EQ(inventory_free, 1u);
}

TEST_F(BufpoolTest, copy_of_a_buffer_by_an_inventory)
{
    make(1);
    const Inventory inventory(1);
    const BufHandle buf = alloc();
    must(doca_buf_set_data(buf, head_of(buf) + 2, 3));
    BufHandle copy;
    EXPECT_EQ(doca_buf_inventory_buf_dup(inventory, buf, copy.out()), DOCA_SUCCESS);
    EXPECT_EQ(data_of(copy), head_of(buf) + 2);
    EXPECT_EQ(data_len_of(copy), 3u);
}

TEST_F(BufpoolTest, states)
{
    must(create(2, 16, 0));
    EXPECT_EQ(refused_alloc(), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_bufpool_stop(pool), DOCA_SUCCESS);
    EXPECT_EQ(doca_bufpool_start(pool), DOCA_SUCCESS);
    EXPECT_EQ(doca_bufpool_start(pool), DOCA_SUCCESS);
    BufHandle buf = alloc();
    EXPECT_EQ(doca_bufpool_stop(pool), DOCA_SUCCESS) << "with a buffer out";
    EXPECT_EQ(refused_alloc(), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_bufpool_destroy(pool), DOCA_ERROR_IN_USE);
    EXPECT_EQ(data_of(buf), head_of(buf));
    buf.reset();
    EXPECT_EQ(num_free(), 2u);
    EXPECT_EQ(doca_bufpool_start(pool), DOCA_SUCCESS);
    buf = alloc();
}

TEST_F(BufpoolTest, the_map_has_to_be_started)
{
    MmapHandle mmap;
    must(doca_mmap_create(nullptr, mmap.out()));
    must(doca_mmap_set_memrange(mmap, first, 100));
    PoolHandle of_stopped;
    ASSERT_EQ(doca_bufpool_create(nullptr, 2, 0, 50, 0, mmap, of_stopped.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_bufpool_start(of_stopped), DOCA_ERROR_BAD_STATE);
    doca_buf *buf = untouched<doca_buf>();
    EXPECT_EQ(doca_bufpool_buf_alloc(of_stopped, &buf), DOCA_ERROR_BAD_STATE);
    must(doca_mmap_start(mmap));
    EXPECT_EQ(doca_bufpool_start(of_stopped), DOCA_SUCCESS);
    {
        BufHandle taken;
        EXPECT_EQ(doca_bufpool_buf_alloc(of_stopped, taken.out()), DOCA_SUCCESS);
        EXPECT_EQ(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED) << "a buffer of it is out";
        std::uint32_t num_bufs = 0;
        must(doca_mmap_get_num_bufs(mmap, &num_bufs));
        EXPECT_EQ(num_bufs, 1u);
    }
    EXPECT_EQ(doca_mmap_stop(mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_bufpool_buf_alloc(of_stopped, &buf), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(buf, untouched<doca_buf>());
    must(doca_mmap_start(mmap));
    EXPECT_EQ(doca_bufpool_buf_alloc(of_stopped, &buf), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_refcount_rm(buf, nullptr), DOCA_SUCCESS);
    of_stopped.reset();
}

TEST_F(BufpoolTest, outlives_its_map)
{
    MmapHandle mmap;
    must(doca_mmap_create(nullptr, mmap.out()));
    must(doca_mmap_set_memrange(mmap, first, 100));
    must(doca_mmap_start(mmap));
    must(doca_bufpool_create(nullptr, 2, 0, 50, 0, mmap, pool.out()));
    must(doca_bufpool_start(pool));
    (void)alloc();
    EXPECT_EQ(doca_mmap_destroy(mmap.release()), DOCA_SUCCESS);
    EXPECT_EQ(refused_alloc(), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_bufpool_stop(pool), DOCA_SUCCESS);
    EXPECT_EQ(doca_bufpool_start(pool), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(num_free(), 2u);
    EXPECT_EQ(doca_bufpool_destroy(pool.release()), DOCA_SUCCESS);
}

TEST_F(BufpoolTest, getters)
{
    doca_data data = {.u64 = 0x1234};
    ASSERT_EQ(doca_bufpool_create(&data, 7, 0, 16, 0, map, pool.out()), DOCA_SUCCESS);
    data.u64 = 0;
    EXPECT_EQ(doca_bufpool_get_user_data(pool, &data), DOCA_SUCCESS);
    EXPECT_EQ(data.u64, 0x1234u);
    std::uint32_t count = 77;
    EXPECT_EQ(doca_bufpool_get_num_elements(pool, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 7u);
    make(3);
    EXPECT_EQ(doca_bufpool_get_user_data(pool, &data), DOCA_SUCCESS);
    EXPECT_EQ(data.u64, 0u) << "when none was given";

    EXPECT_EQ(doca_bufpool_get_user_data(nullptr, &data), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_bufpool_get_user_data(pool, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_bufpool_get_num_elements(nullptr, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_bufpool_get_num_elements(pool, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_bufpool_get_num_free_elements(nullptr, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_bufpool_get_num_free_elements(pool, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_bufpool_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_bufpool_start(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_bufpool_stop(nullptr), DOCA_ERROR_INVALID_VALUE);
    doca_buf *buf = untouched<doca_buf>();
    EXPECT_EQ(doca_bufpool_buf_alloc(nullptr, &buf), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_bufpool_buf_alloc(pool, nullptr), DOCA_ERROR_INVALID_VALUE);
}

class BufpoolCopyTest : public DmaTest {};
INSTANTIATE_FOR_DEVICES(BufpoolCopyTest, can_copy);

TEST_P(BufpoolCopyTest, buffers_are_destinations_and_sources)
{
    PoolHandle pool;
    must(doca_bufpool_create(nullptr, 4, 0, 100, 64, dst_map, pool.out()));
    must(doca_bufpool_start(pool));
    BufHandle a, b;
    must(doca_bufpool_buf_alloc(pool, a.out()));
    must(doca_bufpool_buf_alloc(pool, b.out()));
    const BufHandle from = source(5, 100);
    EXPECT_EQ(engine.copy(a, from), DOCA_SUCCESS);
    EXPECT_EQ(engine.copy(b, a), DOCA_SUCCESS);
    ASSERT_EQ(data_len_of(b), 100u);
    EXPECT_TRUE(is_filled({data_of(b), 100}, 1, 5));
    a.reset();
    b.reset();
    pool.reset();
}

// Buffer arrays

class BufArrayTest : public testing::Test {
protected:
    void SetUp() override
    {
        must(doca_mmap_create(nullptr, mmap.out()));
        must(doca_buf_arr_create(mmap, array.out()));
    }
    MmapHandle mmap;
    Handle<doca_buf_arr, doca_buf_arr_destroy> array;
};

TEST_F(BufArrayTest, null)
{
    doca_buf_arr *out = untouched<doca_buf_arr>();
    doca_gpu_buf_arr *handle = untouched<doca_gpu_buf_arr>();
    EXPECT_EQ(doca_buf_arr_create(nullptr, &out), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_arr_create(mmap, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_arr_set_target_gpu(nullptr, untouched<doca_gpu>()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_arr_set_target_gpu(array, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_arr_set_params(nullptr, 1, 1, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_arr_start(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_arr_stop(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_arr_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_arr_get_gpu_handle(nullptr, &handle), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_arr_get_gpu_handle(array, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(out, untouched<doca_buf_arr>());
    EXPECT_EQ(handle, untouched<doca_gpu_buf_arr>());
}

TEST_F(BufArrayTest, parameters)
{
    EXPECT_EQ(doca_buf_arr_set_params(array, 64, 10, 100), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_arr_set_params(array, 1, 1, 0), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_arr_set_params(array, 0, 1, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_arr_set_params(array, 1, 0, 0), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(BufArrayTest, without_a_target_it_never_starts)
{
    const LogCapture log;
    EXPECT_EQ(doca_buf_arr_set_target_gpu(array, untouched<doca_gpu>()), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "GPU");
    EXPECT_EQ(doca_buf_arr_set_params(array, 64, 10, 0), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_arr_start(array), DOCA_ERROR_BAD_STATE);
    EXPECT_LOGGED(log, "has no target");
    doca_gpu_buf_arr *handle = untouched<doca_gpu_buf_arr>();
    EXPECT_EQ(doca_buf_arr_get_gpu_handle(array, &handle), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(handle, untouched<doca_gpu_buf_arr>());
    EXPECT_EQ(doca_buf_arr_stop(array), DOCA_SUCCESS);
}

} // namespace
