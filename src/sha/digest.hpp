// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// OpenSSL's part of the work.
#pragma once

#include <cstddef>
#include <cstdint>

// OpenSSL 3 advises against the functions that are bound to one algorithm, for the sake of those that find it by its
// name. Those allocate memory when they look, and for each message; and an allocation that fails while OpenSSL sets
// itself up makes it fail for the rest of the process. These have their state here, and can't fail.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace opendoca {

enum class ShaKind : std::uint32_t { sha1, sha256, sha512 };

inline constexpr std::size_t num_sha_kinds = 3;

struct ShaFacts {
    const char *name;
    std::uint32_t digest_size; ///< bytes
    std::uint32_t block_size;  ///< bytes
};

inline constexpr ShaFacts sha_facts[num_sha_kinds] = {
    {"SHA1", 20, 64},
    {"SHA256", 32, 64},
    {"SHA512", 64, 128},
};

[[nodiscard]] constexpr const ShaFacts &facts_of(ShaKind kind) noexcept
{
    return sha_facts[static_cast<std::size_t>(kind)];
}

/// The hash of a message that is under way. A copy goes on by itself.
class ShaDigest {
public:
    void begin(ShaKind kind) noexcept;
    void update(const std::byte *data, std::size_t len) noexcept;
    /// Writes the digest to @p out. What follows is begin().
    void end(std::byte *out) noexcept;

private:
    ShaKind kind_ = ShaKind::sha1;
    union {
        SHA_CTX sha1_{};
        SHA256_CTX sha256_;
        SHA512_CTX sha512_;
    };
};

} // namespace opendoca
