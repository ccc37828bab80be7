// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The hash functions: libcrypto's, on the CPU of the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>

// OpenSSL 3 deprecates the functions of a single algorithm in favour of those that find an algorithm by its name. The
// latter allocate memory for the search and for each message, and an allocation that fails while OpenSSL initialises
// itself makes it fail for the rest of the process. The functions used here keep their state in the caller's memory,
// and cannot fail.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace opendoca {

/// The algorithms. Values are indices of sha_facts, and equal to those of doca_sha_algorithm.
enum class ShaKind : std::uint32_t { sha1, sha256, sha512 };

inline constexpr std::size_t num_sha_kinds = 3;

/// Constants of an algorithm.
struct ShaFacts {
    const char *name;
    std::uint32_t digest_size; ///< bytes
    std::uint32_t block_size;  ///< bytes that are hashed together; pieces of a message are multiples of it
};

inline constexpr ShaFacts sha_facts[num_sha_kinds] = {
    {"SHA1", 20, 64},
    {"SHA256", 32, 64},
    {"SHA512", 64, 128},
};

/// Returns the constants of @p kind.
[[nodiscard]] constexpr const ShaFacts &facts_of(ShaKind kind) noexcept
{
    return sha_facts[static_cast<std::size_t>(kind)];
}

/// The hash of a message that is in progress: a value without resources. A copy continues independently. One thread at
/// a time may use it.
class ShaDigest {
public:
    /// Begins a message. Must precede update() and end().
    void begin(ShaKind kind) noexcept;
    /// Appends @p len bytes to the message.
    void update(const std::byte *data, std::size_t len) noexcept;
    /// Writes the digest, facts_of(kind).digest_size bytes, to @p out. Only begin() may follow.
    void end(std::byte *out) noexcept;

private:
    ShaKind kind_ = ShaKind::sha1; ///< selects the member of the union
    union {
        SHA_CTX sha1_{};
        SHA256_CTX sha256_;
        SHA512_CTX sha512_;
    };
};

} // namespace opendoca
