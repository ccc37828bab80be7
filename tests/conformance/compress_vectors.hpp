// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Streams and checksums that are printed in standards or were made by other tools.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace doca_test {

enum class Format { deflate, lz4_stream, lz4_block };

struct CompressVector {
    Format format;
    std::vector<unsigned char> source;
    std::string text;
    std::uint32_t crc;    ///< 0: not known
    std::uint32_t second; ///< Adler-32 or, with its bytes reversed, xxHash-32; 0: not known
};

inline std::vector<CompressVector> compress_vectors()
{
    return {
        // A stored block (RFC 1951, 3.2.4), the text of CRC-32's check value.
        {Format::deflate,
         {1, 9, 0, 0xf6, 0xff, '1', '2', '3', '4', '5', '6', '7', '8', '9'},
         "123456789",
         0xcbf43926,
         0x091e01de},
        // Fixed Huffman codes (3.2.6), by `printf hello | gzip`.
        {Format::deflate, {0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00}, "hello", 0x3610a686, 0x062c0215},
        // A stored block that is not the last, then an empty last one with fixed codes.
        {Format::deflate, {0, 1, 0, 0xfe, 0xff, 'a', 3, 0}, "a", 0xe8b7be43, 0x00620062},
        // The end of the block is the end of the stream: zlib's trailer behind it is ignored.
        {Format::deflate,
         {0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x06, 0x2c, 0x02, 0x15},
         "hello",
         0x3610a686,
         0x062c0215},
        // Literals only, and a match of 8 at the distance 1 with the last 5 literals that the format demands.
        {Format::lz4_block, {0x90, '1', '2', '3', '4', '5', '6', '7', '8', '9'}, "123456789", 0xcbf43926, 0x67ad7b93},
        {Format::lz4_block, {0x14, 'a', 1, 0, 0x50, 'a', 'a', 'a', 'a', 'a'}, "aaaaaaaaaaaaaa", 0, 0},
        // The same in a frame: a compressed and a stored block.
        {Format::lz4_stream,
         {10, 0, 0, 0, 0x90, '1', '2', '3', '4', '5', '6', '7', '8', '9'},
         "123456789",
         0xcbf43926,
         0x67ad7b93},
        {Format::lz4_stream,
         {4, 0, 0, 0x80, '1', '2', '3', '4', 5, 0, 0, 0x80, '5', '6', '7', '8', '9'},
         "123456789",
         0xcbf43926,
         0x67ad7b93},
        // An end mark ends the source.
        {Format::lz4_stream, {2, 0, 0, 0x80, 'o', 'k', 0, 0, 0, 0, 'x', 'x'}, "ok", 0, 0},
    };
}

} // namespace doca_test
