// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// copy_bytes() against memmove, for every way that it chooses by size.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "../../src/core/device/soft/memory/copy.hpp"
#include "../conformance/support/memory.hpp"
#include "../conformance/support/sanitizers.hpp"

namespace {

using doca_test::fill;
using opendoca::soft::copy_bytes;
using opendoca::soft::copy_short;

constexpr std::size_t margin = 256;
/// More than any cache has, so that the copy goes around them.
constexpr std::size_t huge_job = std::size_t{1} << 40;

/// The same copy by copy_bytes() and by memmove, of the same memory.
class Copies {
public:
    explicit Copies(std::size_t size) : actual_(size), expected_(size)
    {
        fill(actual_, 1);
        fill(expected_, 1);
    }

    /// Compares all that a wrong copy could have touched, and undoes the copy.
    void check(std::size_t dst, std::size_t src, std::size_t length, std::size_t total)
    {
        ASSERT_EQ(copy_bytes(actual_.data() + dst, actual_.data() + src, length, total), DOCA_SUCCESS);
        std::memmove(expected_.data() + dst, expected_.data() + src, length);
        const std::size_t begin = dst < margin ? 0 : dst - margin;
        const std::size_t end = std::min(dst + length + margin, actual_.size());
        ASSERT_EQ(std::memcmp(actual_.data() + begin, expected_.data() + begin, end - begin), 0)
            << length << " bytes from " << src << " to " << dst << ", of " << total;
        fill(std::span(actual_).subspan(begin, end - begin), 1, begin);
        fill(std::span(expected_).subspan(begin, end - begin), 1, begin);
    }

private:
    std::vector<std::byte> actual_;
    std::vector<std::byte> expected_;
};

std::size_t first_cache()
{
    const long size = sysconf(_SC_LEVEL1_DCACHE_SIZE);
    return size > 0 ? static_cast<std::size_t>(size) : std::size_t{48} << 10;
}

TEST(CopyBytes, EverySizeUpToSomePages)
{
    const std::size_t step = doca_test::is_sanitized ? 13 : 1;
    Copies copies(64 << 10);
    for (std::size_t length = 0; length <= 9000; length += step) {
        copies.check(1000 + length % 64, 30'000 + length % 61, length, length);
        if (testing::Test::HasFatalFailure())
            return;
    }
}

TEST(CopyShort, EveryLengthAndNoByteMore)
{
    std::array<std::byte, 64> src{};
    fill(src, 3);
    for (std::size_t length = 0; length <= 40; ++length) {
        std::array<std::byte, 64> actual{};
        std::array<std::byte, 64> expected{};
        std::memcpy(expected.data() + 8, src.data() + 1, length);
        copy_short(actual.data() + 8, src.data() + 1, length);
        EXPECT_EQ(actual, expected) << length;
    }
}

TEST(CopyBytes, EveryAlignmentOfBothSides)
{
    Copies copies(64 << 10);
    for (const std::size_t length : {31, 32, 33, 64, 65, 128, 129, 255, 1000, 2047, 2048, 2049, 2303, 4097, 5000}) {
        for (std::size_t dst = 0; dst < 64; dst += doca_test::is_sanitized ? 7 : 1) {
            for (std::size_t src = 0; src < 64; src += doca_test::is_sanitized ? 5 : 3) {
                copies.check(1024 + dst, 20'480 + src, length, length);
                copies.check(1024 + dst, 20'480 + src, length, huge_job);
                if (testing::Test::HasFatalFailure())
                    return;
            }
        }
    }
}

TEST(CopyBytes, SizesAroundTheLimitOfTheFirstCache)
{
    const std::size_t limit = first_cache() / 3;
    Copies copies(4 * limit + 4096);
    for (std::size_t length = limit - 130; length <= limit + 130; ++length) {
        copies.check(33, 2 * limit + 1000, length, length);
        if (testing::Test::HasFatalFailure())
            return;
    }
}

TEST(CopyBytes, AroundTheCaches)
{
    constexpr std::size_t mib = std::size_t{1} << 20;
    Copies copies(5 * mib + 64);
    for (const std::size_t length : {mib, mib + 1, mib + 63, mib + 64, mib + 127, mib + 128, mib + 129, 2 * mib - 1}) {
        for (const std::size_t dst : {0, 1, 31, 32, 63}) {
            copies.check(dst, 3 * mib + 5, length, huge_job);
            if (testing::Test::HasFatalFailure())
                return;
        }
    }
}

TEST(CopyBytes, NothingIsCopied)
{
    Copies copies(4096);
    copies.check(0, 2048, 0, 0);
    copies.check(2048, 2048, 0, huge_job);
}

/// Jobs must not overlap, but if they do, nothing worse than memmove happens.
TEST(CopyBytes, Overlaps)
{
    Copies copies(1 << 20);
    for (const std::size_t length : {3, 32, 64, 100, 2047, 2048, 3000, 20'000, 300'000}) {
        for (const std::size_t total : {length, huge_job}) {
            for (const std::size_t distance : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64},
                                               std::size_t{65}, length / 2, length - 1, length, length + 1}) {
                copies.check(4096, 4096 + distance, length, total);
                copies.check(4096 + distance, 4096, length, total);
                if (testing::Test::HasFatalFailure())
                    return;
            }
        }
    }
}

/// Ranges that touch do not overlap: the copy in whole lines must stay in them.
TEST(CopyBytes, WritesNoByteBesideTheDestination)
{
    for (const std::size_t length : {1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300, 2048, 2049, 4095, 4097, 12'345}) {
        for (const std::size_t total : {length, huge_job}) {
            for (std::size_t at = 0; at < 64; ++at) {
                std::vector<std::byte> src(length), dst(length + 128, std::byte{0x5a});
                fill(src, 3);
                ASSERT_EQ(copy_bytes(dst.data() + at, src.data(), length, total), DOCA_SUCCESS);
                for (std::size_t i = 0; i < dst.size(); ++i) {
                    const bool is_copied = i >= at && i < at + length;
                    ASSERT_EQ(dst[i], is_copied ? src[i - at] : std::byte{0x5a})
                        << "byte " << i << " of " << length << " at " << at;
                }
            }
        }
    }
}

} // namespace
