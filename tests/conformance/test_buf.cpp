// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Single buffers: region, data section, reference count.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/dma_fixture.hpp"

using namespace doca_test;

namespace {

/// What a buffer says of itself.
struct Section {
    void *head;
    std::size_t len;
    void *data;
    std::size_t data_len;

    static Section of(const doca_buf *buf)
    {
        Section section{untouched<void>(), 77, untouched<void>(), 77};
        EXPECT_EQ(doca_buf_get_head(buf, &section.head), DOCA_SUCCESS);
        EXPECT_EQ(doca_buf_get_len(buf, &section.len), DOCA_SUCCESS);
        EXPECT_EQ(doca_buf_get_data(buf, &section.data), DOCA_SUCCESS);
        EXPECT_EQ(doca_buf_get_data_len(buf, &section.data_len), DOCA_SUCCESS);
        return section;
    }
    bool operator==(const Section &) const = default;
};

std::ostream &operator<<(std::ostream &stream, const Section &s)
{
    return stream << '[' << s.head << ", +" << s.len << ") with data [" << s.data << ", +" << s.data_len << ')';
}

} // namespace

/// Buffers need a started map, and no device.
class BufTest : public testing::Test {
protected:
    void SetUp() override { fill(memory, 1); }
    void TearDown() override { EXPECT_TRUE(is_filled(memory, 1)) << "a buffer has no business with the memory"; }

    std::vector<std::byte> memory = std::vector<std::byte>(1000);
    LocalMap map{{}, memory};
    Inventory inventory{8};
    std::byte *const start = memory.data();
};

TEST_F(BufTest, by_addr_is_empty)
{
    BufHandle buf;
    ASSERT_EQ(doca_buf_inventory_buf_by_addr(inventory, map, start + 5, 100, buf.out()), DOCA_SUCCESS);
    EXPECT_EQ(Section::of(buf), (Section{start + 5, 100, start + 5, 0}));
}

TEST_F(BufTest, by_data_is_full)
{
    BufHandle buf;
    ASSERT_EQ(doca_buf_inventory_buf_by_data(inventory, map, start + 5, 100, buf.out()), DOCA_SUCCESS);
    EXPECT_EQ(Section::of(buf), (Section{start + 5, 100, start + 5, 100}));
}

TEST_F(BufTest, by_args_has_the_section_given)
{
    BufHandle buf;
    ASSERT_EQ(doca_buf_inventory_buf_by_args(inventory, map, start + 5, 100, start + 30, 50, buf.out()), DOCA_SUCCESS);
    EXPECT_EQ(Section::of(buf), (Section{start + 5, 100, start + 30, 50}));
}

TEST_F(BufTest, data_section_can_be_anywhere_in_the_region)
{
    const BufHandle buf = inventory.empty(map, start + 100, 50);
    for (std::size_t offset = 0; offset <= 50; ++offset) {
        for (const std::size_t len : {std::size_t{0}, (50 - offset) / 2, 50 - offset}) {
            ASSERT_EQ(doca_buf_set_data(buf, start + 100 + offset, len), DOCA_SUCCESS);
            ASSERT_EQ(Section::of(buf), (Section{start + 100, 50, start + 100 + offset, len}));
        }
    }
}

TEST_F(BufTest, reset_keeps_the_data_address)
{
    const BufHandle buf = inventory.with(map, start, 100, start + 40, 20);
    EXPECT_EQ(doca_buf_reset_data_len(buf), DOCA_SUCCESS);
    EXPECT_EQ(Section::of(buf), (Section{start, 100, start + 40, 0}));
    EXPECT_EQ(doca_buf_reset_data_len(buf), DOCA_SUCCESS); // of what is empty already
    EXPECT_EQ(Section::of(buf), (Section{start, 100, start + 40, 0}));
}

TEST_F(BufTest, buffers_over_the_same_memory_are_independent)
{
    const BufHandle first = inventory.full(map, start, 100);
    const BufHandle second = inventory.full(map, start, 100);
    EXPECT_NE(first.get(), second.get());
    must(doca_buf_set_data(first, start + 10, 5));
    EXPECT_EQ(Section::of(second), (Section{start, 100, start, 100}));
}

TEST_F(BufTest, reference_count_is_one)
{
    const BufHandle buf = inventory.full(map, start, 100);
    std::uint16_t count = 77;
    EXPECT_EQ(doca_buf_get_refcount(buf, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 1);
}

TEST_F(BufTest, no_reference_can_be_added)
{
    const BufHandle buf = inventory.full(map, start, 100);
    std::uint16_t count = 77;
    EXPECT_EQ(doca_buf_refcount_add(buf, &count), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(count, 77);
    EXPECT_EQ(doca_buf_refcount_add(buf, nullptr), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_buf_refcount_add(nullptr, nullptr), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_buf_get_refcount(buf, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 1);
}

TEST_F(BufTest, last_reference_returns_it_to_the_inventory)
{
    std::uint32_t free = 77;
    BufHandle buf = inventory.full(map, start, 100);
    EXPECT_EQ(doca_buf_inventory_get_num_free_elements(inventory, &free), DOCA_SUCCESS);
    EXPECT_EQ(free, 7u);
    std::uint16_t count = 77;
    EXPECT_EQ(doca_buf_refcount_rm(buf.release(), &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 1); // as it was before
    EXPECT_EQ(doca_buf_inventory_get_num_free_elements(inventory, &free), DOCA_SUCCESS);
    EXPECT_EQ(free, 8u);
    buf = inventory.full(map, start, 100);
    EXPECT_EQ(doca_buf_refcount_rm(buf.release(), nullptr), DOCA_SUCCESS); // nobody needs to know
    EXPECT_EQ(doca_buf_inventory_get_num_free_elements(inventory, &free), DOCA_SUCCESS);
    EXPECT_EQ(free, 8u);
}

TEST_F(BufTest, refuses_null)
{
    BufHandle buf = inventory.full(map, start, 100);
    std::uint16_t count = 77;
    std::size_t size = 77;
    void *address = untouched<void>();
    doca_buf *other = untouched<doca_buf>();
    bool truth = false;
    std::uint8_t number = 77;
    constexpr auto refused = DOCA_ERROR_INVALID_VALUE;
    EXPECT_EQ(doca_buf_refcount_rm(nullptr, &count), refused);
    EXPECT_EQ(doca_buf_get_refcount(nullptr, &count), refused);
    EXPECT_EQ(doca_buf_get_refcount(buf, nullptr), refused);
    EXPECT_EQ(doca_buf_get_len(nullptr, &size), refused);
    EXPECT_EQ(doca_buf_get_len(buf, nullptr), refused);
    EXPECT_EQ(doca_buf_get_head(nullptr, &address), refused);
    EXPECT_EQ(doca_buf_get_head(buf, nullptr), refused);
    EXPECT_EQ(doca_buf_get_data_len(nullptr, &size), refused);
    EXPECT_EQ(doca_buf_get_data_len(buf, nullptr), refused);
    EXPECT_EQ(doca_buf_get_data(nullptr, &address), refused);
    EXPECT_EQ(doca_buf_get_data(buf, nullptr), refused);
    EXPECT_EQ(doca_buf_set_data(nullptr, start, 10), refused);
    EXPECT_EQ(doca_buf_reset_data_len(nullptr), refused);
    EXPECT_EQ(doca_buf_list_next(nullptr, &other), refused);
    EXPECT_EQ(doca_buf_list_next(buf, nullptr), refused);
    EXPECT_EQ(doca_buf_list_is_last(nullptr, &truth), refused);
    EXPECT_EQ(doca_buf_list_is_last(buf, nullptr), refused);
    EXPECT_EQ(doca_buf_list_is_first(nullptr, &truth), refused);
    EXPECT_EQ(doca_buf_list_is_first(buf, nullptr), refused);
    EXPECT_EQ(doca_buf_is_in_list(nullptr, &number), refused);
    EXPECT_EQ(doca_buf_is_in_list(buf, nullptr), refused);
    EXPECT_EQ(doca_buf_list_chain(nullptr, buf), refused);
    EXPECT_EQ(doca_buf_list_chain(buf, nullptr), refused);
    EXPECT_EQ(count, 77u);
    EXPECT_EQ(size, 77u);
    EXPECT_EQ(address, untouched<void>());
    EXPECT_EQ(other, untouched<doca_buf>());
    EXPECT_FALSE(truth);
    EXPECT_EQ(number, 77u);
    EXPECT_EQ(Section::of(buf), (Section{start, 100, start, 100}));
}

TEST_F(BufTest, taken_again_it_remembers_nothing)
{
    const Inventory single(1);
    BufHandle buf = single.with(map, start + 10, 100, start + 50, 20);
    buf.reset();
    buf = single.empty(map, start + 500, 7);
    EXPECT_EQ(Section::of(buf), (Section{start + 500, 7, start + 500, 0}));
    std::uint8_t is_in_list = 99;
    EXPECT_EQ(doca_buf_is_in_list(buf, &is_in_list), DOCA_SUCCESS);
    EXPECT_EQ(is_in_list, 0);
}
