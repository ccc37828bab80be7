// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Three kinds of copies, by size. Up to a third of the first-level cache the C library (2.36) would use `rep movsb`,
// with a start-up that costs as much as copying 2 KiB; plain vector moves avoid it. In the middle the C library is as
// fast as anything. Copies larger than the caches gain a quarter by non-temporal stores. tools/doca_bench measures all
// three.
#include "copy.hpp"

#include <algorithm>
#include <cstdint>

#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace opendoca::soft {

namespace {

constexpr std::size_t smallest_large = 2048; // bytes; below, nothing beats the C library

using Copy = doca_error_t (*)(std::byte *, const std::byte *, std::size_t) noexcept; // see copy.hpp

doca_error_t copy_by_libc(std::byte *dst, const std::byte *src, std::size_t length) noexcept
{
    std::memcpy(dst, src, length);
    return DOCA_SUCCESS;
}

#if defined(__x86_64__)

constexpr std::size_t cache_line = 64;

/// Copies the bytes before the first cache line of @p dst, and advances all three. Needs at least a cache line.
void copy_up_to_line(std::byte *&dst, const std::byte *&src, std::size_t &length) noexcept
{
    const std::size_t lead = -reinterpret_cast<std::uintptr_t>(dst) % cache_line;
    std::memcpy(dst, src, cache_line); // a whole line: the bytes after the lead are copied again
    dst += lead;
    src += lead;
    length -= lead;
}

/// Copies four cache lines.
__attribute__((target("avx512f"))) void copy_lines(std::byte *dst, const std::byte *src) noexcept
{
    const __m512i a = _mm512_loadu_si512(src);
    const __m512i b = _mm512_loadu_si512(src + cache_line);
    const __m512i c = _mm512_loadu_si512(src + 2 * cache_line);
    const __m512i d = _mm512_loadu_si512(src + 3 * cache_line);
    _mm512_storeu_si512(dst, a);
    _mm512_storeu_si512(dst + cache_line, b);
    _mm512_storeu_si512(dst + 2 * cache_line, c);
    _mm512_storeu_si512(dst + 3 * cache_line, d);
}

/// Copies short blocks. A destination that is aligned and a multiple of four lines, as most large buffers are, is
/// stored just once: a core writes one line per cycle to its cache, which is what limits a short copy.
__attribute__((target("avx512f"))) doca_error_t copy_avx512(std::byte *dst, const std::byte *src,
                                                            std::size_t length) noexcept
{
    if (reinterpret_cast<std::uintptr_t>(dst) % cache_line != 0)
        copy_up_to_line(dst, src, length);
    for (; length >= 4 * cache_line; length -= 4 * cache_line, src += 4 * cache_line, dst += 4 * cache_line)
        copy_lines(dst, src);
    // The last four lines overlap those before: cheaper than a loop for the rest.
    if (length != 0)
        copy_lines(dst + length - 4 * cache_line, src + length - 4 * cache_line);
    return DOCA_SUCCESS;
}

__attribute__((target("avx2"))) __m256i load(const std::byte *src) noexcept
{
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(src));
}

__attribute__((target("avx2"))) doca_error_t copy_avx2(std::byte *dst, const std::byte *src,
                                                       std::size_t length) noexcept
{
    copy_up_to_line(dst, src, length);
    for (; length >= 2 * cache_line; length -= 2 * cache_line) {
        auto *const to = reinterpret_cast<__m256i *>(dst);
        const __m256i a = load(src), b = load(src + 32), c = load(src + 64), d = load(src + 96);
        _mm256_store_si256(to, a);
        _mm256_store_si256(to + 1, b);
        _mm256_store_si256(to + 2, c);
        _mm256_store_si256(to + 3, d);
        src += 2 * cache_line;
        dst += 2 * cache_line;
    }
    std::memcpy(dst, src, length);
    return DOCA_SUCCESS;
}

/// Copies two cache lines by non-temporal stores.
__attribute__((target("avx2"))) void stream_two_lines(std::byte *dst, const std::byte *src) noexcept
{
    auto *const to = reinterpret_cast<__m256i *>(dst);
    const __m256i a = load(src), b = load(src + 32), c = load(src + 64), d = load(src + 96);
    _mm256_stream_si256(to, a);
    _mm256_stream_si256(to + 1, b);
    _mm256_stream_si256(to + 2, c);
    _mm256_stream_si256(to + 3, d);
}

/// Copies large blocks past the caches: four pages at a time, line by line from each. Memory has several banks, and a
/// single stream keeps one of them busy.
__attribute__((target("avx2"))) doca_error_t copy_around_caches(std::byte *dst, const std::byte *src,
                                                                std::size_t length) noexcept
{
    constexpr std::size_t page = 4096; // of DRAM, whatever the system's pages are
    constexpr std::size_t block = 4 * page;
    copy_up_to_line(dst, src, length);
    for (; length >= block; length -= block, src += block, dst += block) {
        for (std::size_t offset = 0; offset != page; offset += 2 * cache_line) {
            for (std::size_t at = offset; at < block; at += page) {
                _mm_prefetch(src + at + block, _MM_HINT_T0); // never faults
                _mm_prefetch(src + at + block + cache_line, _MM_HINT_T0);
                stream_two_lines(dst + at, src + at);
            }
        }
    }
    for (; length >= 2 * cache_line; length -= 2 * cache_line, src += 2 * cache_line, dst += 2 * cache_line)
        stream_two_lines(dst, src);
    // Non-temporal stores are weakly ordered: the fence lets a thread that sees the completion see them as well.
    _mm_sfence();
    std::memcpy(dst, src, length);
    return DOCA_SUCCESS;
}

Copy choose_short() noexcept
{
    // From Ice Lake and Zen 4 on, wide moves do not slow the core's clock down.
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vbmi2"))
        return copy_avx512;
    return __builtin_cpu_supports("avx2") ? copy_avx2 : copy_by_libc;
}

Copy choose_huge() noexcept
{
    return __builtin_cpu_supports("avx2") ? copy_around_caches : copy_by_libc;
}

#else

Copy choose_short() noexcept
{
    return copy_by_libc;
}

Copy choose_huge() noexcept
{
    return copy_by_libc;
}

#endif

/// Returns the size of a cache in bytes.
std::size_t cache_size(int name, std::size_t if_unknown) noexcept
{
    const long size = sysconf(name);
    return size > 0 ? static_cast<std::size_t>(size) : if_unknown;
}

/// The kinds of copies and their limits on this machine. Constant after start-up.
struct Choice {
    const Copy copy_short = choose_short();
    const Copy copy_huge = choose_huge();
    const std::size_t max_short = cache_size(_SC_LEVEL1_DCACHE_SIZE, 48 << 10) / 3;
    // A virtual machine may report the whole of a last-level cache of which it has a small share.
    const std::size_t smallest_huge =
        std::min<std::size_t>(cache_size(_SC_LEVEL3_CACHE_SIZE, 16 << 20) / 2, std::size_t{16} << 20);
};

const Choice choice;

} // namespace

doca_error_t copy_any(std::byte *dst, const std::byte *src, std::size_t length, std::size_t total) noexcept
{
    const auto distance = reinterpret_cast<std::uintptr_t>(dst) - reinterpret_cast<std::uintptr_t>(src);
    // Overlapping ranges need memmove(): the other copies store before they have loaded all.
    if (length < smallest_large || distance < length || -distance < length) {
        std::memmove(dst, src, length);
        return DOCA_SUCCESS;
    }
    if (length <= choice.max_short)
        return choice.copy_short(dst, src, length);
    return total < choice.smallest_huge ? copy_by_libc(dst, src, length) : choice.copy_huge(dst, src, length);
}

} // namespace opendoca::soft
