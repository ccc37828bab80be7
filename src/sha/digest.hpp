// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// OpenSSL's part of the work.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <openssl/evp.h>

#include <doca_error.h>

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

/// Running hashes, one of each kind: all memory is taken at creation. At most one of them is in use at a
/// time.
class ShaDigests {
public:
    /// NOT_SUPPORTED when OpenSSL, as it is configured here, lacks one of the kinds.
    [[nodiscard]] static doca_error_t create(ShaDigests &digests);
    [[nodiscard]] bool exist() const noexcept { return of(ShaKind::sha1) != nullptr; }

    // False when OpenSSL fails, which it is not known to do.

    [[nodiscard]] bool begin(ShaKind kind) noexcept;
    [[nodiscard]] bool update(ShaKind kind, const std::byte *data, std::size_t len) noexcept;
    /// Writes the digest to @p out.
    [[nodiscard]] bool end(ShaKind kind, std::byte *out) noexcept;
    /// Takes over the state of @p other. Allocates; nothing has changed when it fails.
    [[nodiscard]] bool copy_from(const ShaDigests &other, ShaKind kind) noexcept;

private:
    struct Free {
        void operator()(EVP_MD_CTX *digest) const noexcept { EVP_MD_CTX_free(digest); }
    };
    using Digest = std::unique_ptr<EVP_MD_CTX, Free>;

    [[nodiscard]] const Digest &of(ShaKind kind) const noexcept
    {
        return digests_[static_cast<std::size_t>(kind)];
    }

    std::array<Digest, num_sha_kinds> digests_;
};

} // namespace opendoca
