// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compression, erasure coding and AES-GCM, which the CPU carries out: tasks that end within their submission, and long
// ones, which end later. What OpenSSL allocates once in a process, and keeps, is there before anything fails.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <doca_aes_gcm.h>
#include <doca_compress.h>
#include <doca_erasure_coding.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "parts.hpp"

namespace attack {

namespace {

constexpr std::size_t lengths[] = {1024, std::size_t{384} << 10};
constexpr std::size_t room = std::size_t{512} << 10;

/// The memory of a part: a source with bytes that compress well, and room for two results.
class Memory {
public:
    Memory(Walk &walk, doca_dev *dev)
        : bytes_(3 * room, std::byte{3}),
          map_(walk, dev, bytes_, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE),
          inventory_(walk, 16)
    {
    }

    [[nodiscard]] bool is_made() const { return map_.is_made() && inventory_.is_made(); }
    [[nodiscard]] doca_buf *source(std::size_t length) { return inventory_.make(map_, bytes_.data(), length, true); }
    [[nodiscard]] doca_buf *result(std::size_t number, std::size_t length = room)
    {
        return inventory_.make(map_, bytes_.data() + (1 + number) * room, length, false);
    }
    [[nodiscard]] std::byte *result_at(std::size_t number) { return bytes_.data() + (1 + number) * room; }

private:
    std::vector<std::byte> bytes_;
    Map map_;
    Inventory inventory_;
};

/// Allocates a task by @p alloc and runs it: whether it has succeeded.
template <typename Task, typename Alloc>
bool run_task(Walk &walk, Engine &engine, doca_task *(*as_task)(Task *), Alloc alloc)
{
    End &end = new_end();
    Task *task = nullptr;
    return walk.call([&] { return alloc(doca_data{.ptr = &end}, &task); }) &&
           walk.call([&] { return engine.run(as_task(task), end); });
}

} // namespace

void walk_through_compression(Walk &walk, doca_dev *dev)
{
    if (doca_compress_cap_task_compress_deflate_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS)
        return;
    Memory memory(walk, dev);
    Engine engine(walk);
    Owned<doca_compress> compress(walk, doca_compress_destroy);
    using Compress = doca_compress_task_compress_deflate;
    using Decompress = doca_compress_task_decompress_deflate;
    if (!memory.is_made() || !engine.is_made() ||
        !walk.call([&] { return doca_compress_create(dev, compress.out()); }) || !walk.call([&] {
            return doca_compress_task_compress_deflate_set_conf(compress, record_end<Compress>, record_end<Compress>,
                                                                2);
        }) ||
        !walk.call([&] {
            return doca_compress_task_decompress_deflate_set_conf(compress, record_end<Decompress>,
                                                                  record_end<Decompress>, 2);
        }))
        return;
    Running running(walk, engine, doca_compress_as_ctx(compress));
    for (const std::size_t length : lengths) {
        doca_buf *const src = memory.source(length), *const packed = memory.result(0), *const back = memory.result(1);
        if (!running.is_started() || src == nullptr || packed == nullptr || back == nullptr)
            return;
        if (run_task(walk, engine, doca_compress_task_compress_deflate_as_task,
                     [&](doca_data data, Compress **task) {
                         return doca_compress_task_compress_deflate_alloc_init(compress, src, packed, data, task);
                     }) &&
            run_task(walk, engine, doca_compress_task_decompress_deflate_as_task,
                     [&](doca_data data, Decompress **task) {
                         return doca_compress_task_decompress_deflate_alloc_init(compress, packed, back, data, task);
                     }))
            walk.require(memory.result_at(1)[length - 1] == std::byte{3}, "what was compressed comes back");
    }
}

void walk_through_erasure_coding(Walk &walk, doca_dev *dev)
{
    if (doca_ec_cap_task_create_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS)
        return;
    Memory memory(walk, dev);
    Engine engine(walk);
    Owned<doca_ec> ec(walk, doca_ec_destroy);
    Owned<doca_ec_matrix> matrix(walk, doca_ec_matrix_destroy), recovery(walk, doca_ec_matrix_destroy);
    std::uint32_t missing[] = {0};
    using Create = doca_ec_task_create;
    if (!memory.is_made() || !engine.is_made() || !walk.call([&] { return doca_ec_create(dev, ec.out()); }) ||
        !walk.call([&] { return doca_ec_task_create_set_conf(ec, record_end<Create>, record_end<Create>, 2); }) ||
        !walk.call([&] { return doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 3, 1, matrix.out()); }) ||
        !walk.call([&] { return doca_ec_matrix_create_recover(ec, matrix, missing, 1, recovery.out()); }))
        return;
    Running running(walk, engine, doca_ec_as_ctx(ec));
    for (const std::size_t length : lengths) {
        const std::size_t size = length / 3 / 64 * 64 * 3;
        doca_buf *const src = memory.source(size), *const dst = memory.result(0);
        if (!running.is_started() || src == nullptr || dst == nullptr)
            return;
        if (run_task(walk, engine, doca_ec_task_create_as_task, [&](doca_data data, Create **task) {
                return doca_ec_task_create_allocate_init(ec, matrix, src, dst, data, task);
            }))
            walk.require(memory.result_at(0)[size / 3 - 1] == std::byte{3}, "the redundancy is there");
    }
}

void load_openssl()
{
    (void)ERR_set_mark(); // the thread's queue of errors
    (void)ERR_pop_to_mark();
    constexpr unsigned char key[32] = {}, iv[12] = {};
    for (const char *const name : {"AES-128-GCM", "AES-256-GCM"}) {
        EVP_CIPHER *const cipher = EVP_CIPHER_fetch(nullptr, name, nullptr); // stays in OpenSSL's store
        EVP_CIPHER_CTX *const context = EVP_CIPHER_CTX_new();
        if (cipher == nullptr || context == nullptr || EVP_EncryptInit_ex2(context, cipher, key, iv, nullptr) != 1)
            std::exit(2);
        EVP_CIPHER_CTX_free(context);
        EVP_CIPHER_free(cipher);
    }
}

void walk_through_aes_gcm(Walk &walk, doca_dev *dev)
{
    if (doca_aes_gcm_cap_task_encrypt_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS)
        return;
    constexpr std::uint32_t tag = 16, aad = 20;
    const std::uint8_t raw_key[32] = {1}, iv[12] = {2};
    Memory memory(walk, dev);
    Engine engine(walk);
    Owned<doca_aes_gcm> gcm(walk, doca_aes_gcm_destroy);
    Owned<doca_aes_gcm_key> key(walk, doca_aes_gcm_key_destroy);
    using Encrypt = doca_aes_gcm_task_encrypt;
    using Decrypt = doca_aes_gcm_task_decrypt;
    if (!memory.is_made() || !engine.is_made() || !walk.call([&] { return doca_aes_gcm_create(dev, gcm.out()); }) ||
        !walk.call([&] { return doca_aes_gcm_key_create(gcm, raw_key, DOCA_AES_GCM_KEY_256, key.out()); }) ||
        !walk.call(
            [&] { return doca_aes_gcm_task_encrypt_set_conf(gcm, record_end<Encrypt>, record_end<Encrypt>, 2); }) ||
        !walk.call(
            [&] { return doca_aes_gcm_task_decrypt_set_conf(gcm, record_end<Decrypt>, record_end<Decrypt>, 2); }))
        return;
    Running running(walk, engine, doca_aes_gcm_as_ctx(gcm));
    for (const std::size_t length : lengths) {
        doca_buf *const src = memory.source(length), *const sealed = memory.result(0), *const back = memory.result(1);
        if (!running.is_started() || src == nullptr || sealed == nullptr || back == nullptr)
            return;
        if (run_task(walk, engine, doca_aes_gcm_task_encrypt_as_task,
                     [&](doca_data data, Encrypt **task) {
                         return doca_aes_gcm_task_encrypt_alloc_init(gcm, src, sealed, key, iv, sizeof(iv), tag, aad,
                                                                     data, task);
                     }) &&
            run_task(walk, engine, doca_aes_gcm_task_decrypt_as_task, [&](doca_data data, Decrypt **task) {
                return doca_aes_gcm_task_decrypt_alloc_init(gcm, sealed, back, key, iv, sizeof(iv), tag, aad, data,
                                                            task);
            }))
            walk.require(memory.result_at(1)[length - 1] == std::byte{3}, "what was encrypted comes back");
    }
}

} // namespace attack
