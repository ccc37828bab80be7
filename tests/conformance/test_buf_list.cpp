// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Lists of buffers: chaining, cutting, walking, releasing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "support/dma_fixture.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

class BufListTest : public testing::Test {
protected:
    using List = std::vector<doca_buf *>;

    /// Single buffers, each ten bytes long. To be released by the test.
    [[nodiscard]] List take(std::size_t count)
    {
        List bufs;
        for (std::size_t i = 0; i < count; ++i)
            bufs.push_back(inventory.full(map, &memory[next++ * 10 % 990], 10).release());
        return bufs;
    }
    [[nodiscard]] List take_chained(std::size_t count)
    {
        List bufs = take(count);
        for (std::size_t i = 1; i < count; ++i)
            must(doca_buf_list_chain(bufs[0], bufs[i]));
        return bufs;
    }
    static void release(const List &list) { EXPECT_EQ(doca_buf_refcount_rm(list[0], nullptr), DOCA_SUCCESS); }

    [[nodiscard]] std::uint32_t num_free() const
    {
        std::uint32_t count = 0;
        must(doca_buf_inventory_get_num_free_elements(inventory, &count));
        return count;
    }

    /// Everything that can be asked about the list, and about each of its members.
    static void expect_list(const List &list)
    {
        std::uint32_t count = 77;
        ASSERT_EQ(doca_buf_list_num_elements(list[0], &count), DOCA_SUCCESS);
        ASSERT_EQ(count, list.size());
        for (std::size_t i = 0; i < list.size(); ++i) {
            doca_buf *next = untouched<doca_buf>(), *last = untouched<doca_buf>();
            bool is_first = i != 0, is_last = i + 1 != list.size();
            std::uint8_t is_in_list = 99;
            ASSERT_EQ(doca_buf_list_next(list[i], &next), DOCA_SUCCESS);
            ASSERT_EQ(doca_buf_list_last(list[i], &last), DOCA_SUCCESS);
            ASSERT_EQ(doca_buf_list_is_first(list[i], &is_first), DOCA_SUCCESS);
            ASSERT_EQ(doca_buf_list_is_last(list[i], &is_last), DOCA_SUCCESS);
            ASSERT_EQ(doca_buf_is_in_list(list[i], &is_in_list), DOCA_SUCCESS);
            ASSERT_EQ(next, i + 1 == list.size() ? nullptr : list[i + 1]);
            ASSERT_EQ(last, list.back());
            ASSERT_EQ(is_first, i == 0);
            ASSERT_EQ(is_last, i + 1 == list.size());
            ASSERT_EQ(is_in_list, list.size() > 1 ? 1 : 0);
            count = 77;
            if (i != 0) {
                ASSERT_EQ(doca_buf_list_num_elements(list[i], &count), DOCA_ERROR_NOT_PERMITTED);
                ASSERT_EQ(count, 77u);
            }
        }
    }

    static constexpr std::size_t capacity = 64;
    std::vector<std::byte> memory = std::vector<std::byte>(1000);
    LocalMap map{{}, memory};
    Inventory inventory{capacity};
    std::size_t next = 0;
};

TEST_F(BufListTest, single_buffer_is_a_list_of_one)
{
    const List list = take(1);
    expect_list(list);
    release(list);
}

TEST_F(BufListTest, refuses_null_where_it_says_so)
{
    const List list = take(1);
    std::uint32_t count = 77;
    doca_buf *last = untouched<doca_buf>();
    EXPECT_EQ(doca_buf_list_num_elements(nullptr, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_list_num_elements(list[0], nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_list_last(nullptr, &last), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_list_last(list[0], nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(count, 77u);
    EXPECT_EQ(last, untouched<doca_buf>());
    release(list);
}

TEST_F(BufListTest, chain_appends)
{
    List a = take(1);
    const List b = take(1), c = take_chained(3);
    EXPECT_EQ(doca_buf_list_chain(a[0], b[0]), DOCA_SUCCESS);
    a.push_back(b[0]);
    expect_list(a);
    EXPECT_EQ(doca_buf_list_chain(a[0], c[0]), DOCA_SUCCESS);
    a.insert(a.end(), c.begin(), c.end());
    expect_list(a);
    release(a);
}

TEST_F(BufListTest, chain_leaves_data_sections_alone)
{
    const BufHandle head = inventory.with(map, &memory[0], 100, &memory[10], 20);
    doca_buf *const tail = inventory.with(map, &memory[200], 50, &memory[230], 7).release();
    must(doca_buf_list_chain(head, tail));
    std::size_t len = 0;
    EXPECT_EQ(doca_buf_get_len(head, &len), DOCA_SUCCESS);
    EXPECT_EQ(len, 100u); // of the buffer alone
    EXPECT_EQ(data_of(head), &memory[10]);
    EXPECT_EQ(data_len_of(head), 20u);
    EXPECT_EQ(data_of(tail), &memory[230]);
    EXPECT_EQ(data_len_of(tail), 7u);
    EXPECT_EQ(doca_buf_reset_data_len(head), DOCA_SUCCESS); // of this element alone
    EXPECT_EQ(data_len_of(head), 0u);
    EXPECT_EQ(data_len_of(tail), 7u);
}

TEST_F(BufListTest, chain_takes_only_heads_of_different_lists)
{
    const List a = take_chained(3), b = take_chained(2);
    EXPECT_EQ(doca_buf_list_chain(a[0], a[0]), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_list_chain(a[0], a[1]), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_list_chain(a[1], b[0]), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_list_chain(a[0], b[1]), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_list_chain(a[2], b[1]), DOCA_ERROR_INVALID_VALUE);
    expect_list(a);
    expect_list(b);
    release(a);
    release(b);
}

TEST_F(BufListTest, unchain_cuts_before_any_member)
{
    for (std::size_t cut = 1; cut < 5; ++cut) {
        const List list = take_chained(5);
        ASSERT_EQ(doca_buf_list_unchain(list[0], list[cut]), DOCA_SUCCESS);
        const auto at = list.begin() + static_cast<std::ptrdiff_t>(cut);
        expect_list(List(list.begin(), at));
        expect_list(List(at, list.end()));
        ASSERT_EQ(doca_buf_list_chain(list[cut], list[0]), DOCA_SUCCESS); // the other way round
        List turned = list;
        std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(cut), turned.end());
        expect_list(turned);
        release(turned);
    }
}

TEST_F(BufListTest, unchain_refuses_what_is_no_later_member)
{
    const List a = take_chained(3), b = take_chained(2), c = take(1);
    EXPECT_EQ(doca_buf_list_unchain(a[0], a[0]), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_list_unchain(a[0], b[0]), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_list_unchain(a[0], b[1]), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_buf_list_unchain(a[1], a[2]), DOCA_ERROR_INVALID_VALUE); // the first is no head
    EXPECT_EQ(doca_buf_list_unchain(c[0], c[0]), DOCA_ERROR_INVALID_VALUE);
    expect_list(a);
    expect_list(b);
    expect_list(c);
    release(a);
    release(b);
    release(c);
}

TEST_F(BufListTest, head_returns_all_members_to_the_inventory)
{
    const List list = take_chained(5);
    EXPECT_EQ(num_free(), capacity - 5);
    for (std::size_t i = 1; i < 5; ++i) {
        std::uint16_t count = 77;
        EXPECT_EQ(doca_buf_refcount_rm(list[i], &count), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(count, 77);
    }
    expect_list(list);
    EXPECT_EQ(num_free(), capacity - 5);
    std::uint16_t count = 77;
    EXPECT_EQ(doca_buf_refcount_rm(list[0], &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 1);
    EXPECT_EQ(num_free(), capacity);
}

TEST_F(BufListTest, parts_return_by_themselves)
{
    const List list = take_chained(5);
    must(doca_buf_list_unchain(list[0], list[2]));
    EXPECT_EQ(doca_buf_refcount_rm(list[2], nullptr), DOCA_SUCCESS);
    EXPECT_EQ(num_free(), capacity - 2);
    expect_list(List(list.begin(), list.begin() + 2));
    release(list);
    EXPECT_EQ(num_free(), capacity);
}

TEST_F(BufListTest, members_return_to_where_they_came_from)
{
    std::vector<std::byte> other_memory(100);
    const LocalMap other_map({}, other_memory);
    const Inventory other_inventory(4);
    doca_buf *const head = inventory.full(map, memory.data(), 10).release();
    must(doca_buf_list_chain(head, other_inventory.full(map, memory.data(), 10).release()));
    must(doca_buf_list_chain(head, inventory.full(other_map, other_memory.data(), 10).release()));
    must(doca_buf_list_chain(head, other_inventory.full(other_map, other_memory.data(), 10).release()));
    const auto out = [](doca_mmap *mmap) {
        std::uint32_t count = 0;
        must(doca_mmap_get_num_bufs(mmap, &count));
        return count;
    };
    EXPECT_EQ(out(map), 2u);
    EXPECT_EQ(out(other_map), 2u);
    EXPECT_EQ(doca_buf_refcount_rm(head, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(out(map), 0u);
    EXPECT_EQ(out(other_map), 0u);
    std::uint32_t free = 0;
    EXPECT_EQ(doca_buf_inventory_get_num_free_elements(other_inventory, &free), DOCA_SUCCESS);
    EXPECT_EQ(free, 4u);
    EXPECT_EQ(num_free(), capacity);
}

TEST_F(BufListTest, copy_of_a_member_is_single)
{
    const List list = take_chained(3);
    for (const doca_buf *member : list) {
        BufHandle copy;
        ASSERT_EQ(doca_buf_inventory_buf_dup(inventory, member, copy.out()), DOCA_SUCCESS);
        expect_list({copy.get()});
    }
    expect_list(list);
    release(list);
}

TEST_F(BufListTest, follows_a_model_through_random_changes)
{
    std::mt19937 random(20260101);
    const auto below = [&](std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
    };
    std::vector<List> lists;
    for (std::size_t i = 0; i < 24; ++i)
        lists.push_back(take(1));
    for (int step = 0; step < times(5000); ++step) {
        const std::size_t i = below(lists.size());
        List &list = lists[i];
        switch (below(4)) {
        case 0: // chain
        case 1: {
            const std::size_t j = below(lists.size());
            if (i == j)
                break;
            ASSERT_EQ(doca_buf_list_chain(list[0], lists[j][0]), DOCA_SUCCESS);
            list.insert(list.end(), lists[j].begin(), lists[j].end());
            lists.erase(lists.begin() + static_cast<std::ptrdiff_t>(j));
            break;
        }
        case 2: // cut
            if (list.size() > 1) {
                const auto cut = list.begin() + 1 + static_cast<std::ptrdiff_t>(below(list.size() - 1));
                ASSERT_EQ(doca_buf_list_unchain(list[0], *cut), DOCA_SUCCESS);
                List tail(cut, list.end());
                list.erase(cut, list.end());
                lists.push_back(std::move(tail));
            }
            break;
        default: { // release and take as many single ones
            const std::size_t count = list.size();
            release(list);
            ASSERT_EQ(num_free(), capacity - 24 + count);
            lists.erase(lists.begin() + static_cast<std::ptrdiff_t>(i));
            for (doca_buf *buf : take(count))
                lists.push_back({buf});
        }
        }
        for (const List &each : lists)
            expect_list(each);
        if (HasFatalFailure())
            return;
    }
    for (const List &each : lists)
        release(each);
    EXPECT_EQ(num_free(), capacity);
}
