// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DEFLATE and its checksums: libdeflate's, on the CPU of the calling thread. Without libdeflate at build time,
// deflate_missing.cpp takes the place of deflate.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "codec.hpp"

struct libdeflate_compressor;
struct libdeflate_decompressor;

namespace opendoca {

/// Returns whether the library was built with libdeflate. Without it the classes and functions of this file must not be
/// used.
[[nodiscard]] bool has_deflate() noexcept;

/// Compresses to raw DEFLATE. One thread at a time may use it. All memory is allocated at creation.
class DeflateCompressor {
public:
    /// Bytes of the destination beyond the result that compress() may need: libdeflate reports that a result does not
    /// fit if it would end within the last bytes of the destination.
    static constexpr std::size_t slack = 64;

    /// Throws std::bad_alloc.
    DeflateCompressor();

    /// Writes one complete stream to the beginning of @p out. Sets @p length to its bytes only on success.
    [[nodiscard]] CodecResult compress(std::span<const std::byte> in, std::span<std::byte> out,
                                       std::size_t &length) noexcept;

private:
    struct Delete {
        void operator()(libdeflate_compressor *compressor) const noexcept;
    };
    std::unique_ptr<libdeflate_compressor, Delete> compressor_;
};

/// Decompresses raw DEFLATE. One thread at a time may use it. All memory is allocated at creation.
class DeflateDecompressor {
public:
    /// Throws std::bad_alloc.
    DeflateDecompressor();

    /// Writes the content of the stream that @p in begins with to the beginning of @p out. Sets @p length to its bytes
    /// only on success. Bytes of @p in behind the final block are ignored.
    [[nodiscard]] CodecResult decompress(std::span<const std::byte> in, std::span<std::byte> out,
                                         std::size_t &length) noexcept;

private:
    struct Delete {
        void operator()(libdeflate_decompressor *decompressor) const noexcept;
    };
    std::unique_ptr<libdeflate_decompressor, Delete> decompressor_;
};

/// Return the checksums of zlib's functions of the same names.
[[nodiscard]] std::uint32_t crc32_of(std::span<const std::byte> data) noexcept;
[[nodiscard]] std::uint32_t adler32_of(std::span<const std::byte> data) noexcept;

} // namespace opendoca
