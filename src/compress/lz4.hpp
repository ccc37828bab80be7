// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Decompression of LZ4 by liblz4 and libxxhash, on the CPU of the calling thread. Nothing is allocated. Without these
// libraries at build time, lz4_missing.cpp takes the place of lz4.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec.hpp"

namespace opendoca {

/// Returns whether the library was built with liblz4 and libxxhash. Without them the functions of this file must not be
/// used.
[[nodiscard]] bool has_lz4() noexcept;

/// What the header of an LZ4 frame states about its blocks.
struct Lz4StreamFlags {
    bool has_block_checksum;     ///< each block is followed by the xxHash-32 of its compressed data
    bool are_blocks_independent; ///< no block refers to the content of earlier blocks
};

/// Decompresses the one block that is @p in to the beginning of @p out. Sets @p length only on success. Both ranges
/// have less than 2 GiB.
[[nodiscard]] CodecResult decompress_lz4_block(std::span<const std::byte> in, std::span<std::byte> out,
                                               std::size_t &length) noexcept;
/// Decompresses the blocks of a frame, each with its size in front, to the beginning of @p out. Ends at the end of @p
/// in or at an end mark. Sets @p length only on success.
[[nodiscard]] CodecResult decompress_lz4_stream(std::span<const std::byte> in, std::span<std::byte> out,
                                                Lz4StreamFlags flags, std::size_t &length) noexcept;

/// Returns the xxHash-32 of @p data with seed 0.
[[nodiscard]] std::uint32_t xxhash32_of(std::span<const std::byte> data) noexcept;

} // namespace opendoca
