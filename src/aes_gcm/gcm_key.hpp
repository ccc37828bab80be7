// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The cipher: libcrypto's AES-GCM, on the CPU of the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <openssl/evp.h>

#include <doca_error.h>

namespace opendoca {

/// The values are those of EVP_CipherInit_ex2().
enum class GcmDirection : int { decrypt = 0, encrypt = 1 };

inline constexpr std::size_t gcm_tag_size = 16;      ///< bytes; a shorter tag is its beginning
inline constexpr std::uint32_t gcm_max_iv_size = 12; ///< bytes

/// AES-GCM as OpenSSL's providers implement it, for both lengths of keys. Looked up once, since a lookup takes a lock
/// and allocates. Owned by a context object; immutable, so any thread may read it.
class GcmCiphers {
public:
    /// NOT_SUPPORTED, after a log line, if OpenSSL, as it is configured, has no AES-GCM.
    [[nodiscard]] doca_error_t load() noexcept;

    /// Returns the cipher for a key of @p key_size bytes, 16 or 32.
    [[nodiscard]] const EVP_CIPHER *of(std::size_t key_size) const noexcept
    {
        return key_size == 16 ? aes_128_.get() : aes_256_.get();
    }

private:
    struct Free {
        void operator()(EVP_CIPHER *cipher) const noexcept { EVP_CIPHER_free(cipher); }
    };

    std::unique_ptr<EVP_CIPHER, Free> aes_128_;
    std::unique_ptr<EVP_CIPHER, Free> aes_256_;
};

/// A key, with the cipher's state for one message at a time: begin(), add_aad() as often as needed, crypt() as often as
/// needed, then one of the functions that end a message. A message that is not ended is dropped by the next begin().
/// Owned by a front end's key; used by one thread at a time. Allocates nothing after create(). Each function returns
/// false if OpenSSL fails, and, where stated, for a wrong tag. The destructor overwrites the key.
class GcmKey {
public:
    /// Expands the @p size bytes (16 or 32) of a key. NO_MEMORY; IO_FAILED, after a log line, if OpenSSL refuses it.
    [[nodiscard]] doca_error_t create(const GcmCiphers &ciphers, const void *raw_key, std::size_t size) noexcept;

    /// Begins a message. @p iv_size is at most gcm_max_iv_size; 0 stands for an IV of 12 zero bytes.
    [[nodiscard]] bool begin(GcmDirection direction, const std::uint8_t *iv, std::uint32_t iv_size) noexcept;
    /// Adds authenticated data. Must precede crypt().
    [[nodiscard]] bool add_aad(const std::byte *data, std::size_t size) noexcept;
    /// Encrypts or decrypts @p size bytes. @p in and @p out are equal or do not overlap.
    [[nodiscard]] bool crypt(const std::byte *in, std::byte *out, std::size_t size) noexcept;
    /// Writes the gcm_tag_size bytes of the tag.
    [[nodiscard]] bool end_encryption(std::byte *tag) noexcept;
    /// Returns whether @p tag, of @p size bytes, is right. Takes the same time for every wrong tag.
    [[nodiscard]] bool end_decryption(std::byte *tag, std::uint32_t size) noexcept;

private:
    struct Free {
        void operator()(EVP_CIPHER_CTX *context) const noexcept { EVP_CIPHER_CTX_free(context); }
    };

    std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
    std::uint32_t iv_size_ = gcm_max_iv_size; ///< that the context is set to
};

} // namespace opendoca
