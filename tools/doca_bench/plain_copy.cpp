// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "plain_copy.hpp"

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace opendoca::tools {

#if defined(__x86_64__)

bool has_non_temporal_copy() noexcept
{
    return __builtin_cpu_supports("avx2") != 0;
}

bool has_string_copy() noexcept
{
    return true;
}

// Unaligned loads: only the destination is aligned.
namespace {

__attribute__((target("avx2"))) __m256i load(const std::byte *src) noexcept
{
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(src));
}

} // namespace

__attribute__((target("avx2"))) void copy_non_temporal(std::byte *dst, const std::byte *src, std::size_t size) noexcept
{
    constexpr std::size_t vector = sizeof(__m256i);
    // Non-temporal stores need an aligned destination; the bytes before and after are copied plainly.
    const std::size_t lead = -reinterpret_cast<std::uintptr_t>(dst) % vector;
    if (size < lead + vector) {
        std::memcpy(dst, src, size);
        return;
    }
    std::memcpy(dst, src, lead);
    dst += lead;
    src += lead;
    size -= lead;
    for (; size >= 4 * vector; size -= 4 * vector) {
        const __m256i a = load(src), b = load(src + vector), c = load(src + 2 * vector), d = load(src + 3 * vector);
        auto *const to = reinterpret_cast<__m256i *>(dst);
        _mm256_stream_si256(to, a);
        _mm256_stream_si256(to + 1, b);
        _mm256_stream_si256(to + 2, c);
        _mm256_stream_si256(to + 3, d);
        src += 4 * vector;
        dst += 4 * vector;
    }
    for (; size >= vector; size -= vector) {
        _mm256_stream_si256(reinterpret_cast<__m256i *>(dst), load(src));
        src += vector;
        dst += vector;
    }
    // Orders the streaming stores before later stores; without it another CPU could see those first.
    _mm_sfence();
    std::memcpy(dst, src, size);
}

#else

bool has_non_temporal_copy() noexcept
{
    return false;
}

bool has_string_copy() noexcept
{
    return false;
}

void copy_non_temporal(std::byte *dst, const std::byte *src, std::size_t size) noexcept
{
    std::memcpy(dst, src, size);
}

#endif

} // namespace opendoca::tools
