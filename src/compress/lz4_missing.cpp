// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Takes the place of lz4.cpp if liblz4 or libxxhash was not found at build time. No device then supports a task that
// would need them, so only has_lz4() is ever called.
#include <cstddef>
#include <cstdint>
#include <span>

#include "lz4.hpp"

namespace opendoca {

bool has_lz4() noexcept
{
    return false;
}

CodecResult decompress_lz4_block(std::span<const std::byte>, std::span<std::byte>, std::size_t &) noexcept
{
    return CodecResult::bad_data;
}

CodecResult decompress_lz4_stream(std::span<const std::byte>, std::span<std::byte>, Lz4StreamFlags,
                                  std::size_t &) noexcept
{
    return CodecResult::bad_data;
}

std::uint32_t xxhash32_of(std::span<const std::byte>) noexcept
{
    return 0;
}

} // namespace opendoca
