// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "digest.hpp"

#include <openssl/err.h>

#include "../core/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SHA_DIGEST);

namespace opendoca {

namespace {

struct FreeAlgorithm {
    void operator()(EVP_MD *algorithm) const noexcept { EVP_MD_free(algorithm); }
};

/// The last of the errors that OpenSSL keeps for this thread. All of them are gone then.
const char *last_error() noexcept
{
    const char *const reason = ERR_reason_error_string(ERR_peek_last_error());
    ERR_clear_error();
    return reason == nullptr ? "no reason given" : reason;
}

bool succeeded(int status, const char *step, ShaKind kind) noexcept
{
    if (status == 1) [[likely]]
        return true;
    LOG_ERR("OpenSSL fails to %s %s: %s", step, facts_of(kind).name, last_error());
    return false;
}

} // namespace

doca_error_t ShaDigests::create(ShaDigests &digests)
{
    for (std::size_t i = 0; i < num_sha_kinds; ++i) {
        const char *const name = facts_of(static_cast<ShaKind>(i)).name;
        const std::unique_ptr<EVP_MD, FreeAlgorithm> algorithm(EVP_MD_fetch(nullptr, name, nullptr));
        if (algorithm == nullptr) {
            LOG_ERR("OpenSSL, as it is configured here, has no %s: %s", name, last_error());
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        Digest digest(EVP_MD_CTX_new());
        if (digest == nullptr || EVP_DigestInit_ex2(digest.get(), algorithm.get(), nullptr) != 1) {
            LOG_ERR("OpenSSL cannot set up %s: %s", name, last_error());
            return DOCA_ERROR_NO_MEMORY;
        }
        digests.digests_[i] = std::move(digest);
    }
    return DOCA_SUCCESS;
}

bool ShaDigests::begin(ShaKind kind) noexcept
{
    return succeeded(EVP_DigestInit_ex2(of(kind).get(), nullptr, nullptr), "begin", kind);
}

bool ShaDigests::update(ShaKind kind, const std::byte *data, std::size_t len) noexcept
{
    return succeeded(EVP_DigestUpdate(of(kind).get(), data, len), "go on with", kind);
}

bool ShaDigests::end(ShaKind kind, std::byte *out) noexcept
{
    return succeeded(EVP_DigestFinal_ex(of(kind).get(), reinterpret_cast<unsigned char *>(out), nullptr),
                     "end", kind);
}

bool ShaDigests::copy_from(const ShaDigests &other, ShaKind kind) noexcept
{
    Digest copy(EVP_MD_CTX_new());
    if (!succeeded(copy != nullptr && EVP_MD_CTX_copy_ex(copy.get(), other.of(kind).get()) == 1, "copy",
                   kind))
        return false;
    digests_[static_cast<std::size_t>(kind)] = std::move(copy);
    return true;
}

} // namespace opendoca
