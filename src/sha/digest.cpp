// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "digest.hpp"

namespace opendoca {

// All functions of OpenSSL used here return 1 in any case.

void ShaDigest::begin(ShaKind kind) noexcept
{
    kind_ = kind;
    switch (kind) {
    case ShaKind::sha1:
        (void)SHA1_Init(&sha1_);
        return;
    case ShaKind::sha256:
        (void)SHA256_Init(&sha256_);
        return;
    case ShaKind::sha512:
        (void)SHA512_Init(&sha512_);
        return;
    }
}

void ShaDigest::update(const std::byte *data, std::size_t len) noexcept
{
    switch (kind_) {
    case ShaKind::sha1:
        (void)SHA1_Update(&sha1_, data, len);
        return;
    case ShaKind::sha256:
        (void)SHA256_Update(&sha256_, data, len);
        return;
    case ShaKind::sha512:
        (void)SHA512_Update(&sha512_, data, len);
        return;
    }
}

void ShaDigest::end(std::byte *out) noexcept
{
    auto *const digest = reinterpret_cast<unsigned char *>(out);
    switch (kind_) {
    case ShaKind::sha1:
        (void)SHA1_Final(digest, &sha1_);
        return;
    case ShaKind::sha256:
        (void)SHA256_Final(digest, &sha256_);
        return;
    case ShaKind::sha512:
        (void)SHA512_Final(digest, &sha512_);
        return;
    }
}

} // namespace opendoca
