// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Takes the place of deflate.cpp if libdeflate was not found at build time. No device then supports a task that would
// need it, so only has_deflate() is ever called.
#include <cstddef>
#include <cstdint>
#include <span>

#include "deflate.hpp"

namespace opendoca {

bool has_deflate() noexcept
{
    return false;
}

DeflateCompressor::DeflateCompressor() = default;

void DeflateCompressor::Delete::operator()(libdeflate_compressor *) const noexcept {}

CodecResult DeflateCompressor::compress(std::span<const std::byte>, std::span<std::byte>, std::size_t &) noexcept
{
    return CodecResult::bad_data;
}

DeflateDecompressor::DeflateDecompressor() = default;

void DeflateDecompressor::Delete::operator()(libdeflate_decompressor *) const noexcept {}

CodecResult DeflateDecompressor::decompress(std::span<const std::byte>, std::span<std::byte>, std::size_t &) noexcept
{
    return CodecResult::bad_data;
}

std::uint32_t crc32_of(std::span<const std::byte>) noexcept
{
    return 0;
}

std::uint32_t adler32_of(std::span<const std::byte>) noexcept
{
    return 0;
}

} // namespace opendoca
