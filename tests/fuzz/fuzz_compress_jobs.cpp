// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: a source of any bytes, in any pieces, for each type of compress jobs of DOCA 2.2. Checksums are those of
// the content, and what was compressed is decompressed to the same bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <doca_compress.h>

#include "jobs.hpp"

namespace {

constexpr std::size_t half = 65536;
constexpr std::byte canary{0xa5};

std::byte memory[3 * half]; ///< the source, the destination, and what a compressed source is decompressed to

using Context = JobContext<doca_compress>;

bool can_do_all(doca_devinfo *info)
{
    return doca_compress_job_get_supported(info, DOCA_COMPRESS_DEFLATE_JOB) == DOCA_SUCCESS &&
           doca_compress_job_get_supported(info, DOCA_DECOMPRESS_DEFLATE_JOB) == DOCA_SUCCESS &&
           doca_compress_job_get_supported(info, DOCA_DECOMPRESS_LZ4_JOB) == DOCA_SUCCESS;
}

/// Adler-32 in the high half and CRC-32 in the low one, bit by bit.
std::uint64_t checksums_of(Input content)
{
    std::uint32_t crc = ~0U, low = 1, high = 0;
    for (const std::byte byte : content) {
        crc ^= std::to_integer<std::uint32_t>(byte);
        for (int bit = 0; bit != 8; ++bit)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
        low = (low + std::to_integer<std::uint32_t>(byte)) % 65521;
        high = (high + low) % 65521;
    }
    return std::uint64_t{high << 16 | low} << 32 | static_cast<std::uint32_t>(~crc);
}

Context::Outcome run(const Context &context, int type, const doca_buf *src, doca_buf *dst, std::uint64_t *checksums)
{
    if (type == DOCA_DECOMPRESS_LZ4_JOB) {
        const doca_compress_lz4_job job{context.base(type), dst, src, checksums};
        return context.run(job.base);
    }
    const doca_compress_deflate_job job{context.base(type), dst, src, checksums};
    return context.run(job.base);
}

} // namespace

void test_input(Input input)
{
    static const Context context(can_do_all, doca_compress_create, doca_compress_as_ctx, memory);
    constexpr std::uint64_t no_checksums = 77;
    Numbers numbers(input);
    const int type =
        DOCA_COMPRESS_DEFLATE_JOB + static_cast<int>(numbers.next(4)); // one that does not exist among them
    const unsigned flags = numbers.next(256);
    const std::size_t step = numbers.next(256) * std::size_t{16} + 1;
    const std::size_t room = numbers.next(256) * std::size_t{257} + 1;
    const std::size_t before = std::min<std::size_t>(flags & 1 ? numbers.next(16) : 0, room);
    const bool is_cut = (flags & 2) != 0, wants_checksums = (flags & 4) != 0;
    // LZ4 has a rule about the length of the first element.
    const std::size_t start = flags & 8 ? 1 + flags / 64 : step;
    const Input data = numbers.rest();
    if (data.size() > half / 2)
        return;
    std::byte *const to = memory + half;
    std::ranges::copy(data, memory);
    std::fill_n(to, room + 1, canary);
    doca_buf *const src = context.list(memory, data.size(), data.size(),
                                       [&, length = start]() mutable { return std::exchange(length, step); });
    doca_buf *const dst = context.list(to, room, before, [&] { return is_cut ? step : half; });
    std::uint64_t checksums = no_checksums;
    const auto [submit, result] = run(context, type, src, dst, wants_checksums ? &checksums : nullptr);

    const bool has_start = type != DOCA_DECOMPRESS_LZ4_JOB || std::min(start, data.size()) >= 4;
    require((submit == DOCA_SUCCESS) == (type <= DOCA_DECOMPRESS_LZ4_JOB && !data.empty() && has_start),
            "a job is accepted if its type exists and its source has data");
    require(submit == DOCA_SUCCESS || submit == DOCA_ERROR_INVALID_VALUE, "others are INVALID_VALUE");
    require(result == DOCA_SUCCESS || result == DOCA_ERROR_IO_FAILED, "bad data is IO_FAILED");
    const bool is_done = submit == DOCA_SUCCESS && result == DOCA_SUCCESS;
    const std::size_t length = length_of(dst) - before;
    require(is_done || length == 0, "a job that fails writes no data");
    require(std::all_of(to, to + before, [](std::byte byte) { return byte == canary; }), "data before it stays");
    require(to[room] == canary, "nothing is written beyond the destination");
    require(submit == DOCA_SUCCESS || to[before] == canary, "a job that is refused writes nothing");
    require((wants_checksums && is_done) || checksums == no_checksums, "checksums are written on success alone");
    if (is_done) {
        const bool is_compression = type == DOCA_COMPRESS_DEFLATE_JOB;
        const Input content = is_compression ? data : Input(to + before, length);
        require(!wants_checksums || checksums == checksums_of(content), "the checksums are those of the content");
        if (is_compression) {
            doca_buf *const stream = context.list(to + before, length, length, [&] { return step; });
            doca_buf *const back = context.list(memory + 2 * half, data.size(), 0, [] { return half; });
            require(run(context, DOCA_DECOMPRESS_DEFLATE_JOB, stream, back, nullptr).result == DOCA_SUCCESS &&
                        length_of(back) == data.size() &&
                        std::ranges::equal(Input(memory + 2 * half, data.size()), data),
                    "the content is equal");
            release(stream);
            release(back);
        }
    }
    release(src);
    release(dst);
}
