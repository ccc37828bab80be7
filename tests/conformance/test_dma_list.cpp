// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DMA from and to lists of buffers, compared with a model that moves one byte at a time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "support/dma_fixture.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

namespace {

/// One buffer of a list: offsets into the memory of its side.
struct Element {
    std::size_t head;
    std::size_t len;
    std::size_t data; ///< from the head
    std::size_t data_len;

    [[nodiscard]] std::size_t tailroom() const { return len - data - data_len; }
};

using Elements = std::vector<Element>;

std::ostream &operator<<(std::ostream &stream, const Elements &elements)
{
    for (const Element &e : elements)
        stream << " {" << e.head << ", +" << e.len << ", data " << e.data << ", +" << e.data_len << "}";
    return stream;
}

std::size_t sum(const Elements &elements, std::size_t (*part)(const Element &))
{
    std::size_t total = 0;
    for (const Element &e : elements)
        total += part(e);
    return total;
}

/// What a copy does to @p to and @p memory, or false when it does not fit.
bool model_copy(const std::vector<std::byte> &src_memory, const Elements &from, std::vector<std::byte> &memory,
                Elements &to)
{
    std::vector<std::byte> data;
    for (const Element &e : from) {
        for (std::size_t i = 0; i < e.data_len; ++i)
            data.push_back(src_memory[e.head + e.data + i]);
    }
    const bool counts_as_empty = sum(to, [](const Element &e) { return e.tailroom(); }) == 0;
    Elements result = to;
    if (counts_as_empty) {
        for (Element &e : result)
            e.data_len = 0;
    }
    std::size_t done = 0;
    std::vector<std::byte> written = memory;
    for (Element &e : result) {
        while (done < data.size() && e.tailroom() != 0)
            written[e.head + e.data + e.data_len++] = data[done++];
    }
    if (done < data.size())
        return false;
    to = result;
    memory = written;
    return true;
}

} // namespace

class DmaListTest : public DmaTest {
protected:
    [[nodiscard]] BufHandle list(doca_mmap *map, std::vector<std::byte> &memory, const Elements &elements) const
    {
        BufHandle head;
        for (const Element &e : elements) {
            std::byte *const start = memory.data() + e.head;
            BufHandle buf = inventory.with(map, start, e.len, start + e.data, e.data_len);
            if (head.get() == nullptr)
                head = std::move(buf);
            else
                must(doca_buf_list_chain(head, buf.release()));
        }
        return head;
    }

    /// Copies, and compares everything with the model.
    void check(const Elements &from, Elements to)
    {
        const BufHandle src = list(src_map, src_memory, from), dst = list(dst_map, dst_memory, to);
        check(src, from, dst, to);
    }
    void check(const BufHandle &src, const Elements &from, const BufHandle &dst, Elements &to)
    {
        const Elements to_before = to;
        std::vector<std::byte> expected = dst_memory;
        const bool fits = model_copy(src_memory, from, expected, to);
        ASSERT_EQ(engine.copy(dst, src), fits ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE)
            << "from" << from << " to" << to_before;
        ASSERT_TRUE(dst_memory == expected) << "from" << from << " to" << to_before;
        expect_sections(src, src_memory, from);
        expect_sections(dst, dst_memory, to);
    }

    static void expect_sections(doca_buf *buf, std::vector<std::byte> &memory, const Elements &elements)
    {
        for (const Element &e : elements) {
            ASSERT_NE(buf, nullptr);
            ASSERT_EQ(data_of(buf), memory.data() + e.head + e.data);
            ASSERT_EQ(data_len_of(buf), e.data_len);
            must(doca_buf_list_next(buf, &buf));
        }
        ASSERT_EQ(buf, nullptr);
    }
};
INSTANTIATE_FOR_DEVICES(DmaListTest, can_copy);

TEST_P(DmaListTest, gathers)
{
    check({{0, 100, 0, 100}, {500, 50, 0, 50}, {200, 7, 0, 7}}, {{0, 200, 0, 0}});
}

TEST_P(DmaListTest, gathers_data_sections_only)
{
    check({{0, 100, 20, 30}, {500, 50, 50, 0}, {200, 70, 1, 68}}, {{1000, 200, 40, 5}});
}

TEST_P(DmaListTest, scatters)
{
    check({{0, 157, 0, 157}}, {{0, 100, 0, 0}, {500, 50, 0, 0}, {200, 7, 0, 0}});
}

TEST_P(DmaListTest, fills_only_what_it_needs)
{
    check({{0, 101, 0, 101}}, {{0, 100, 0, 0}, {500, 50, 0, 0}, {200, 7, 0, 0}});
    check({{0, 30, 0, 30}}, {{0, 100, 0, 0}, {500, 50, 0, 0}});
}

TEST_P(DmaListTest, appends_in_every_tailroom)
{
    check({{0, 100, 0, 100}}, {{0, 60, 10, 20}, {100, 50, 0, 50}, {200, 100, 99, 1}, {300, 80, 0, 10}});
}

TEST_P(DmaListTest, full_list_counts_as_empty)
{
    check({{0, 30, 0, 30}}, {{0, 10, 0, 10}, {100, 10, 0, 10}, {200, 10, 0, 10}});
    check({{0, 15, 0, 15}}, {{0, 10, 0, 10}, {100, 10, 0, 10}, {200, 10, 0, 10}});
    check({{0, 15, 0, 15}}, {{0, 20, 10, 10}, {100, 10, 5, 5}, {200, 10, 10, 0}}); // behind headrooms
    check({{0, 31, 0, 31}}, {{0, 10, 0, 10}, {100, 10, 0, 10}, {200, 10, 0, 10}}); // and is too small
}

TEST_P(DmaListTest, one_free_byte_makes_it_not_full)
{
    check({{0, 30, 0, 30}}, {{0, 10, 0, 10}, {100, 10, 0, 10}, {200, 11, 0, 10}});
    check({{0, 1, 0, 1}}, {{0, 10, 0, 10}, {100, 11, 0, 10}, {200, 10, 0, 10}});
}

TEST_P(DmaListTest, empty_elements_are_stepped_over)
{
    check({{0, 10, 0, 0}, {0, 10, 0, 10}, {20, 0, 0, 0}, {30, 10, 10, 0}, {40, 10, 0, 5}, {60, 10, 5, 0}},
          {{0, 0, 0, 0}, {10, 5, 5, 0}, {20, 4, 0, 0}, {30, 6, 0, 6}, {40, 100, 0, 0}, {200, 0, 0, 0}});
}

TEST_P(DmaListTest, of_nothing_copies_nothing)
{
    check({{0, 10, 0, 0}, {20, 10, 3, 0}}, {{0, 10, 0, 5}, {20, 10, 0, 0}});
    check({{0, 10, 0, 0}, {20, 10, 3, 0}}, {{0, 10, 0, 10}, {20, 10, 0, 10}}); // counts as empty, and stays so
}

TEST_P(DmaListTest, same_lists_again_and_again)
{
    const Elements from = {{0, 40, 0, 40}, {100, 60, 0, 60}};
    Elements to = {{0, 150, 0, 0}, {200, 150, 0, 0}, {400, 50, 0, 0}};
    const BufHandle src = list(src_map, src_memory, from), dst = list(dst_map, dst_memory, to);
    for (int i = 0; i < 4; ++i) // fits three times; then 50 bytes are left
        ASSERT_NO_FATAL_FAILURE(check(src, from, dst, to));
}

TEST_P(DmaListTest, lists_of_the_greatest_length)
{
    std::uint32_t limit = 0;
    must(doca_dma_get_max_list_buf_num_elem(info, &limit));
    if (limit > 1024)
        limit = 1024;
    Elements from, to;
    for (std::size_t i = 0; i < limit; ++i) {
        from.push_back({i * 40, 40, i % 7, 3 + i % 17});
        to.push_back({i * 50, 50, i % 5, i % 11});
    }
    check(from, to);
    check(from, {{100, 40000, 50, 3}});
    check({{0, 20000, 0, 20000}}, to);
}

TEST_P(DmaListTest, elements_may_be_of_several_maps_and_inventories)
{
    std::vector<std::byte> other_src(100), other_dst(100);
    fill(other_src, 5);
    const LocalMap other_src_map(dev, other_src), other_dst_map(dev, other_dst);
    const Inventory other(4);
    const BufHandle src = source(0, 50), dst = destination(0, 30);
    must(doca_buf_list_chain(src, other.full(other_src_map, other_src.data(), 100).release()));
    must(doca_buf_list_chain(dst, other.empty(other_dst_map, other_dst.data(), 100).release()));
    must(doca_buf_list_chain(dst, destination(100, 100).release()));
    ASSERT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(dst_memory).first(30), 1));
    EXPECT_TRUE(is_filled(std::span(other_dst).first(20), 1, 30));
    EXPECT_TRUE(is_filled(std::span(other_dst).subspan(20), 5));
    EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(100, 20), 5, 80));
    EXPECT_TRUE(is_filled(std::span(dst_memory).subspan(120), 2, 120));
}

TEST_P(DmaListTest, random_lists_follow_the_model)
{
    std::mt19937 random(20260105);
    const auto below = [&](std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
    };
    /// Elements that do not overlap, in any order of their addresses.
    const auto elements = [&](std::size_t kind) {
        Elements result(1 + below(std::size_t{1} << below(6)));
        const std::size_t room = size / result.size();
        for (std::size_t i = 0; i < result.size(); ++i) {
            Element &e = result[i];
            e.len = below(std::min<std::size_t>(room, std::size_t{1} << below(12)) + 1);
            e.head = i * room + below(room - e.len + 1);
            e.data = below(e.len + 1);
            e.data_len = below(e.len - e.data + 1);
            if (kind == 1)
                e.data_len = e.len - e.data; // full
            else if (kind == 2)
                e.data = e.data_len = 0; // empty
        }
        std::shuffle(result.begin(), result.end(), random);
        return result;
    };
    int succeeded = 0;
    const int rounds = times(GetParam().ibdev == "soft_p0" ? 2000 : 100);
    for (int round = 0; round < rounds; ++round) {
        const Elements from = elements(0);
        Elements to = elements(below(4));
        const BufHandle src = list(src_map, src_memory, from), dst = list(dst_map, dst_memory, to);
        for (int i = 0; i < 2; ++i) { // the second one finds what the first has left
            const std::size_t before = sum(to, [](const Element &e) { return e.data_len; });
            ASSERT_NO_FATAL_FAILURE(check(src, from, dst, to)) << "round " << round;
            succeeded += sum(to, [](const Element &e) { return e.data_len; }) != before;
        }
    }
    EXPECT_GT(succeeded, rounds / 4); // it was worth it
}
