// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "deflate.hpp"

#include <new>

#include <libdeflate.h>

namespace opendoca {

namespace {

/// libdeflate has levels from 1 to 12; see docs/compress.md for the choice.
constexpr int compression_level = 1;

template <typename Object>
Object *or_throw(Object *object)
{
    if (object == nullptr)
        throw std::bad_alloc();
    return object;
}

} // namespace

bool has_deflate() noexcept
{
    return true;
}

DeflateCompressor::DeflateCompressor() : compressor_(or_throw(libdeflate_alloc_compressor(compression_level))) {}

void DeflateCompressor::Delete::operator()(libdeflate_compressor *compressor) const noexcept
{
    libdeflate_free_compressor(compressor);
}

CodecResult DeflateCompressor::compress(std::span<const std::byte> in, std::span<std::byte> out,
                                        std::size_t &length) noexcept
{
    const std::size_t written =
        libdeflate_deflate_compress(compressor_.get(), in.data(), in.size(), out.data(), out.size());
    if (written == 0)
        return CodecResult::no_room;
    length = written;
    return CodecResult::success;
}

DeflateDecompressor::DeflateDecompressor() : decompressor_(or_throw(libdeflate_alloc_decompressor())) {}

void DeflateDecompressor::Delete::operator()(libdeflate_decompressor *decompressor) const noexcept
{
    libdeflate_free_decompressor(decompressor);
}

CodecResult DeflateDecompressor::decompress(std::span<const std::byte> in, std::span<std::byte> out,
                                            std::size_t &length) noexcept
{
    std::size_t consumed = 0;
    std::size_t written = 0;
    switch (libdeflate_deflate_decompress_ex(decompressor_.get(), in.data(), in.size(), out.data(), out.size(),
                                             &consumed, &written)) {
    case LIBDEFLATE_SUCCESS:
        length = written;
        return CodecResult::success;
    case LIBDEFLATE_INSUFFICIENT_SPACE:
        return CodecResult::no_room;
    default:
        return CodecResult::bad_data;
    }
}

std::uint32_t crc32_of(std::span<const std::byte> data) noexcept
{
    return libdeflate_crc32(0, data.data(), data.size());
}

std::uint32_t adler32_of(std::span<const std::byte> data) noexcept
{
    return libdeflate_adler32(1, data.data(), data.size());
}

} // namespace opendoca
