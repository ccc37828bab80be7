// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the benchmark of compression needs of a generation: v2/ has jobs on a work queue, v3/ tasks on a progress
// engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "doca_memory.hpp"
#include "measure.hpp"

namespace opendoca::tools {

/// The source of an LZ4 operation is one compressed block, without a size in front of it.
enum class CompressOperation : std::uint8_t { compress_deflate, decompress_deflate, decompress_lz4 };

/// Returns whether the device can compress. Those that can also decompress, unless a topology says otherwise.
[[nodiscard]] bool can_compress(doca_devinfo &info);

/// Returns a loop that runs the operation on the device, one job or task at a time. The caller keeps the memory and the
/// device until the loop is destroyed.
[[nodiscard]] std::unique_ptr<Variant> make_compress_loop(doca_dev *dev, CompressOperation operation,
                                                          std::span<std::byte> source, std::span<std::byte> result);

/// Computes the checksum that the generation adds to the CRC-32 of an LZ4 operation: Adler-32 or XXH32.
[[nodiscard]] std::uint32_t second_lz4_checksum(std::span<const std::byte> content);

} // namespace opendoca::tools
