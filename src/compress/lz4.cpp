// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "lz4.hpp"

#include <algorithm>
#include <cstring>

#include <lz4.h>
#include <xxhash.h>

namespace opendoca {

namespace {

constexpr std::size_t word_size = 4;
constexpr std::uint32_t stored_bit = 0x80000000; ///< of a block's size: the block is not compressed
constexpr std::size_t history_size = std::size_t{64} << 10;

const char *chars(std::span<const std::byte> bytes) noexcept
{
    return reinterpret_cast<const char *>(bytes.data());
}

/// Takes a little-endian word from the beginning of @p in. False if there are fewer than 4 bytes.
bool take_word(std::span<const std::byte> &in, std::uint32_t &word) noexcept
{
    if (in.size() < word_size)
        return false;
    word = 0;
    for (std::size_t i = word_size; i-- != 0;)
        word = word << 8 | std::to_integer<std::uint32_t>(in[i]);
    in = in.subspan(word_size);
    return true;
}

/// Takes @p size bytes from the beginning of @p in. False if there are fewer.
bool take_bytes(std::span<const std::byte> &in, std::size_t size, std::span<const std::byte> &bytes) noexcept
{
    if (in.size() < size)
        return false;
    bytes = in.first(size);
    in = in.subspan(size);
    return true;
}

/// Decompresses a block to @p out behind the @p before bytes of earlier blocks, of which the last 64 KiB are its
/// history if @p has_history. liblz4 does not tell bad data from a destination that is too small, so both are
/// `bad_data`.
CodecResult decompress_behind(std::span<const std::byte> block, std::span<std::byte> out, std::size_t before,
                              bool has_history, std::size_t &length) noexcept
{
    char *const to = reinterpret_cast<char *>(out.data()) + before;
    const auto room = static_cast<int>(out.size() - before);
    const auto size = static_cast<int>(block.size());
    const std::size_t history = has_history ? std::min(before, history_size) : 0;
    const int written = history == 0 ? LZ4_decompress_safe(chars(block), to, size, room)
                                     : LZ4_decompress_safe_usingDict(chars(block), to, size, room, to - history,
                                                                     static_cast<int>(history));
    if (written < 0)
        return CodecResult::bad_data;
    length = static_cast<std::size_t>(written);
    return CodecResult::success;
}

} // namespace

bool has_lz4() noexcept
{
    return true;
}

CodecResult decompress_lz4_block(std::span<const std::byte> in, std::span<std::byte> out, std::size_t &length) noexcept
{
    return decompress_behind(in, out, 0, false, length);
}

CodecResult decompress_lz4_stream(std::span<const std::byte> in, std::span<std::byte> out, Lz4StreamFlags flags,
                                  std::size_t &length) noexcept
{
    std::size_t done = 0;
    while (!in.empty()) {
        std::uint32_t size_word = 0;
        if (!take_word(in, size_word))
            return CodecResult::bad_data;
        if (size_word == 0)
            break; // an end mark
        std::span<const std::byte> block;
        if (!take_bytes(in, size_word & ~stored_bit, block))
            return CodecResult::bad_data;
        if (flags.has_block_checksum) {
            std::uint32_t checksum = 0;
            if (!take_word(in, checksum) || checksum != xxhash32_of(block))
                return CodecResult::bad_data;
        }
        std::size_t written = block.size();
        if ((size_word & stored_bit) == 0) {
            const CodecResult result = decompress_behind(block, out, done, !flags.are_blocks_independent, written);
            if (result != CodecResult::success)
                return result;
        } else if (written > out.size() - done) {
            return CodecResult::no_room;
        } else if (written != 0) {
            std::memcpy(out.data() + done, block.data(), written);
        }
        done += written;
    }
    length = done;
    return CodecResult::success;
}

std::uint32_t xxhash32_of(std::span<const std::byte> data) noexcept
{
    return XXH32(data.data(), data.size(), 0);
}

} // namespace opendoca
