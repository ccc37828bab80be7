// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The codecs and checksums of zlib, and the compression of liblz4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <lz4.h>
#include <lz4frame.h>
#include <zlib.h>

#include <gtest/gtest.h>

#include "compress_data.hpp"

namespace doca_test {

/// Compresses with zlib. @p window_bits: negative for raw DEFLATE.
inline Bytes deflated(std::span<const std::byte> data, int level = 9, int window_bits = -MAX_WBITS)
{
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY), Z_OK);
    Bytes out(deflateBound(&stream, data.size()));
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<std::byte *>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef *>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

/// Decompresses raw DEFLATE with zlib. @p size: of the content.
inline Bytes inflated(std::span<const std::byte> data, std::size_t size)
{
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
    Bytes out(size + 1);
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<std::byte *>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef *>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    EXPECT_EQ(stream.avail_in, 0u) << "bytes behind the final block";
    out.resize(stream.total_out);
    inflateEnd(&stream);
    return out;
}

inline std::uint32_t zlib_crc(std::span<const std::byte> data)
{
    return static_cast<std::uint32_t>(
        crc32(0, reinterpret_cast<const Bytef *>(data.data()), static_cast<uInt>(data.size())));
}

inline std::uint32_t zlib_adler(std::span<const std::byte> data)
{
    return static_cast<std::uint32_t>(
        adler32(1, reinterpret_cast<const Bytef *>(data.data()), static_cast<uInt>(data.size())));
}

inline Bytes lz4_block(std::span<const std::byte> data)
{
    Bytes out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(data.size()))));
    const int length =
        LZ4_compress_default(reinterpret_cast<const char *>(data.data()), reinterpret_cast<char *>(out.data()),
                             static_cast<int>(data.size()), static_cast<int>(out.size()));
    EXPECT_GT(length, 0);
    out.resize(static_cast<std::size_t>(length));
    return out;
}

/// The blocks of an LZ4 frame, and the content checksum at its end as a program on this machine reads it.
struct Lz4Frame {
    Bytes blocks;
    std::uint32_t checksum;
};

inline Lz4Frame lz4_frame(std::span<const std::byte> data, bool has_block_checksum, bool are_blocks_independent)
{
    LZ4F_preferences_t preferences{};
    preferences.frameInfo.blockSizeID = LZ4F_max64KB;
    preferences.frameInfo.blockMode = are_blocks_independent ? LZ4F_blockIndependent : LZ4F_blockLinked;
    preferences.frameInfo.blockChecksumFlag = has_block_checksum ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
    preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    Bytes out(LZ4F_compressFrameBound(data.size(), &preferences));
    const std::size_t length = LZ4F_compressFrame(out.data(), out.size(), data.data(), data.size(), &preferences);
    EXPECT_FALSE(LZ4F_isError(length));
    constexpr std::size_t header = 7, end_mark = 4, checksum_size = 4; // the descriptor has no content size
    Lz4Frame frame{{out.begin() + header, out.begin() + static_cast<std::ptrdiff_t>(length - end_mark - checksum_size)},
                   0};
    std::memcpy(&frame.checksum, &out[length - checksum_size], checksum_size);
    return frame;
}

} // namespace doca_test
