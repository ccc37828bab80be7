// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

namespace opendoca {

/// What a task does.
enum class CompressKind : std::uint8_t {
    compress_deflate,
    decompress_deflate,
    decompress_lz4_stream,
    decompress_lz4_block,
};

/// The result of a codec.
enum class CodecResult : std::uint8_t {
    success,
    bad_data, ///< the source is not in the codec's format
    no_room,  ///< the result does not fit into the destination
};

/// The checksums that a task computes.
enum class ChecksumSet : std::uint8_t {
    none,
    of_format,     ///< CRC-32, and Adler-32 of DEFLATE or xxHash-32 of LZ4: those of 3.0
    crc_and_adler, ///< of either format: those of 2.2
};

/// Checksums of the uncompressed side. Those that were not computed are 0.
struct Checksums {
    std::uint32_t crc32 = 0;
    std::uint32_t adler32 = 0;
    std::uint32_t xxhash32 = 0;
};

} // namespace opendoca
