// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "gcm_key.hpp"

#include <algorithm>
#include <climits>

#include <openssl/err.h>

#include "../core/log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_AES_GCM_KEY);

namespace opendoca {

namespace {

unsigned char *bytes(std::byte *data) noexcept
{
    return reinterpret_cast<unsigned char *>(data);
}

const unsigned char *bytes(const std::byte *data) noexcept
{
    return reinterpret_cast<const unsigned char *>(data);
}

/// EVP's lengths are of type int. A multiple of the block, so that all calls but the last work on whole blocks.
constexpr std::size_t longest_call = std::size_t{1} << 30;
static_assert(longest_call <= INT_MAX);

/// Leaves the thread's queue of OpenSSL's errors, which is the program's, as it was.
class ErrorQueueGuard {
public:
    ErrorQueueGuard() noexcept { (void)ERR_set_mark(); }
    ErrorQueueGuard(const ErrorQueueGuard &) = delete;
    ErrorQueueGuard &operator=(const ErrorQueueGuard &) = delete;
    ~ErrorQueueGuard() { (void)ERR_pop_to_mark(); }
};

} // namespace

doca_error_t GcmCiphers::load() noexcept
{
    const ErrorQueueGuard guard;
    aes_128_.reset(EVP_CIPHER_fetch(nullptr, "AES-128-GCM", nullptr));
    aes_256_.reset(EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr));
    if (aes_128_ != nullptr && aes_256_ != nullptr)
        return DOCA_SUCCESS;
    LOG_ERR("OpenSSL, as it is configured here, has no AES-GCM with keys of %s bits",
            aes_128_ == nullptr ? "128" : "256");
    return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t GcmKey::create(const GcmCiphers &ciphers, const void *raw_key, std::size_t size) noexcept
{
    const ErrorQueueGuard guard;
    context_.reset(EVP_CIPHER_CTX_new());
    if (context_ == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    // The direction is set by begin(): the key schedule is the same for both.
    if (EVP_CipherInit_ex2(context_.get(), ciphers.of(size), static_cast<const unsigned char *>(raw_key), nullptr, 1,
                           nullptr) != 1) {
        LOG_ERR("OpenSSL does not take a key of %zu bytes for AES-GCM", size);
        context_.reset();
        return DOCA_ERROR_IO_FAILED;
    }
    iv_size_ = gcm_max_iv_size;
    return DOCA_SUCCESS;
}

bool GcmKey::begin(GcmDirection direction, const std::uint8_t *iv, std::uint32_t iv_size) noexcept
{
    static constexpr std::uint8_t zeros[gcm_max_iv_size] = {};
    if (iv_size == 0) {
        iv = zeros;
        iv_size = gcm_max_iv_size;
    }
    // Only when it changes: it takes as long as the rest of this function.
    if (iv_size != iv_size_) {
        if (EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_IVLEN, static_cast<int>(iv_size), nullptr) != 1)
            return false;
        iv_size_ = iv_size;
    }
    return EVP_CipherInit_ex2(context_.get(), nullptr, nullptr, iv, static_cast<int>(direction), nullptr) == 1;
}

bool GcmKey::add_aad(const std::byte *data, std::size_t size) noexcept
{
    for (std::size_t done = 0; done != size;) {
        const std::size_t part = std::min(size - done, longest_call);
        int length = 0;
        if (EVP_CipherUpdate(context_.get(), nullptr, &length, bytes(data + done), static_cast<int>(part)) != 1)
            return false;
        done += part;
    }
    return true;
}

bool GcmKey::crypt(const std::byte *in, std::byte *out, std::size_t size) noexcept
{
    for (std::size_t done = 0; done != size;) {
        const std::size_t part = std::min(size - done, longest_call);
        int length = 0;
        if (EVP_CipherUpdate(context_.get(), bytes(out + done), &length, bytes(in + done), static_cast<int>(part)) != 1)
            return false;
        done += part;
    }
    return true;
}

bool GcmKey::end_encryption(std::byte *tag) noexcept
{
    unsigned char nothing[gcm_tag_size]; // GCM has no padding: nothing is written
    int length = 0;
    return EVP_CipherFinal_ex(context_.get(), nothing, &length) == 1 &&
           EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, gcm_tag_size, tag) == 1;
}

bool GcmKey::end_decryption(std::byte *tag, std::uint32_t size) noexcept
{
    unsigned char nothing[gcm_tag_size];
    int length = 0;
    return EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(size), tag) == 1 &&
           EVP_CipherFinal_ex(context_.get(), nothing, &length) == 1;
}

} // namespace opendoca
