// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies of all sizes and alignments. After each, every byte of the destination is right, and none around it
// changed.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/dma_fixture.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

class DmaSizeTest : public DeviceTest {
protected:
    static constexpr std::size_t guard = 256; ///< bytes before and after the destination
    static constexpr std::byte unused{0xa5};

    /// Memory for copies of up to @p longest bytes, with random content.
    void prepare(std::size_t longest)
    {
        src_memory.resize(longest + 64);
        dst_memory.assign(longest + 64 + 2 * guard, unused);
        std::mt19937_64 random(20260103);
        for (std::size_t i = 0; i < src_memory.size(); i += 8) {
            const std::uint64_t word = random();
            std::memcpy(&src_memory[i], &word, std::min<std::size_t>(8, src_memory.size() - i));
        }
        src_map.emplace(dev, src_memory);
        dst_map.emplace(dev, dst_memory);
    }

    /// One copy from @p src_offset to @p guard + @p dst_offset. Restores the destination afterwards.
    void check(std::size_t src_offset, std::size_t dst_offset, std::size_t len)
    {
        std::byte *const from = &src_memory[src_offset];
        std::byte *const to = &dst_memory[guard + dst_offset];
        const BufHandle src = inventory.full(*src_map, from, len);
        const BufHandle dst = inventory.empty(*dst_map, to, len);
        ASSERT_EQ(engine.copy(dst, src), DOCA_SUCCESS) << len;
        ASSERT_EQ(data_len_of(dst), len);
        ASSERT_EQ(std::memcmp(to, from, len), 0) << describe(src_offset, dst_offset, len);
        ASSERT_TRUE(is_unused(to - guard, guard)) << "before " << describe(src_offset, dst_offset, len);
        ASSERT_TRUE(is_unused(to + len, guard)) << "behind " << describe(src_offset, dst_offset, len);
        std::memset(to, static_cast<int>(unused), len);
    }

    static bool is_unused(const std::byte *bytes, std::size_t count)
    {
        for (std::size_t i = 0; i < count; ++i) {
            if (bytes[i] != unused)
                return false;
        }
        return true;
    }
    static std::string describe(std::size_t src_offset, std::size_t dst_offset, std::size_t len)
    {
        return std::to_string(len) + " bytes from offset " + std::to_string(src_offset) + " to " +
               std::to_string(dst_offset);
    }

    std::vector<std::byte> src_memory;
    std::vector<std::byte> dst_memory;
    std::optional<LocalMap> src_map;
    std::optional<LocalMap> dst_map;
    Inventory inventory{2};
    DmaEngine engine{dev};
};
INSTANTIATE_FOR_FEW_DEVICES(DmaSizeTest, can_copy);

TEST_P(DmaSizeTest, every_small_size)
{
    prepare(600);
    for (std::size_t len = 0; len <= 600; ++len) {
        for (const auto &[src_offset, dst_offset] : {std::pair{0, 0}, {1, 0}, {0, 1}, {7, 13}})
            ASSERT_NO_FATAL_FAILURE(
                check(static_cast<std::size_t>(src_offset), static_cast<std::size_t>(dst_offset), len));
    }
}

TEST_P(DmaSizeTest, sizes_up_to_20000_in_odd_steps)
{
    prepare(20000);
    const std::size_t step = is_sanitized || is_on_card() ? 41 : 7;
    for (std::size_t len = 0; len <= 20000; len += step)
        ASSERT_NO_FATAL_FAILURE(check(len % 64, len / 3 % 64, len));
}

TEST_P(DmaSizeTest, every_alignment)
{
    prepare(5000);
    // Sizes on both sides of where another way to copy begins, with all lengths of the last part.
    const bool is_coarse = is_sanitized || is_on_card();
    for (const std::size_t len : {1, 8, 63, 64, 65, 200, 2047, 2048, 2049, 2111, 2175, 2240, 2303, 4096, 4099}) {
        for (std::size_t src_offset = 0; src_offset < 64; src_offset += is_coarse ? 9 : 1) {
            for (std::size_t dst_offset = 0; dst_offset < 64; dst_offset += is_coarse ? 7 : 1)
                ASSERT_NO_FATAL_FAILURE(check(src_offset, dst_offset, len));
        }
    }
}

TEST_P(DmaSizeTest, sizes_around_boundaries)
{
    const std::size_t boundaries[] = {std::size_t{2} << 10,  std::size_t{4} << 10, std::size_t{16} << 10,
                                      std::size_t{64} << 10, std::size_t{1} << 20, std::size_t{8} << 20,
                                      std::size_t{16} << 20};
    prepare(boundaries[std::size(boundaries) - 1] + 256);
    for (const std::size_t boundary : boundaries) {
        for (const std::size_t delta : {0, 1, 2, 63, 64, 65, 127, 128, 129, 191, 255, 256}) {
            if (is_sanitized && boundary > (1 << 20) && delta > 1 && delta != 129)
                continue;
            ASSERT_NO_FATAL_FAILURE(check(delta % 64, (delta * 5 + 1) % 64, boundary + delta));
            ASSERT_NO_FATAL_FAILURE(check(0, delta % 64, boundary - delta));
        }
    }
}

TEST_P(DmaSizeTest, sizes_around_a_third_of_the_first_cache_and_half_of_the_last)
{
    const long first = sysconf(_SC_LEVEL1_DCACHE_SIZE), last = sysconf(_SC_LEVEL3_CACHE_SIZE);
    std::vector<std::size_t> boundaries;
    if (first > 0)
        boundaries.push_back(static_cast<std::size_t>(first) / 3);
    if (last > 0 && last <= (64 << 20))
        boundaries.push_back(static_cast<std::size_t>(last) / 2);
    if (boundaries.empty())
        GTEST_SKIP() << "the sizes of the caches are not known, or too large";
    prepare(*std::max_element(boundaries.begin(), boundaries.end()) + 300);
    for (const std::size_t boundary : boundaries) {
        for (const std::size_t delta : {0, 1, 64, 129, 300}) {
            ASSERT_NO_FATAL_FAILURE(check(3, 17, boundary + delta));
            ASSERT_NO_FATAL_FAILURE(check(0, 63, boundary - delta));
        }
    }
}

TEST_P(DmaSizeTest, random_places_of_one_memory)
{
    prepare(1 << 18);
    std::mt19937 random(20260104);
    const auto below = [&](std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
    };
    for (int i = 0; i < times(3000); ++i) {
        const std::size_t len = below(std::size_t{1} << below(18));
        ASSERT_NO_FATAL_FAILURE(check(below((1 << 18) - len), below((1 << 18) - len), len));
    }
}
