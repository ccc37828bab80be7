// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// An AES-GCM context with memory and keys, and the same computation by OpenSSL's functions alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <openssl/evp.h>

#include <doca_aes_gcm.h>

#include "../aes_gcm_vectors.hpp"
#include "objects.hpp"

namespace doca_test {

using AesGcmHandle = Handle<doca_aes_gcm, doca_aes_gcm_destroy>;
using GcmKeyHandle = Handle<doca_aes_gcm_key, doca_aes_gcm_key_destroy>;
using Bytes = std::vector<std::uint8_t>;

inline Bytes bytes_of(std::string_view hex)
{
    Bytes bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes.push_back(static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
    return bytes;
}

inline Bytes operator+(Bytes a, const Bytes &b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// Bytes that depend on @p seed.
inline Bytes some_bytes(std::size_t size, std::uint32_t seed)
{
    Bytes bytes(size);
    std::uint32_t state = seed * 2654435761U + 1;
    for (std::uint8_t &byte : bytes) {
        state = state * 1664525U + 1013904223U;
        byte = static_cast<std::uint8_t>(state >> 24);
    }
    return bytes;
}

/// What goes into an encryption besides the key's object.
struct GcmMessage {
    Bytes key;
    Bytes iv;
    Bytes aad;
    Bytes text;
    std::uint32_t tag_size = 16;

    [[nodiscard]] Bytes plain() const { return aad + text; }
};

/// AAD, ciphertext and tag by OpenSSL's functions, one call for each.
inline Bytes sealed_by_openssl(const GcmMessage &message)
{
    const std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX *)> context(EVP_CIPHER_CTX_new(),
                                                                              EVP_CIPHER_CTX_free);
    const auto check = [](int status) {
        if (status != 1)
            throw std::runtime_error("OpenSSL");
    };
    const EVP_CIPHER *const cipher = message.key.size() == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm();
    const Bytes iv = message.iv.empty() ? Bytes(12) : message.iv;
    check(EVP_EncryptInit_ex(context.get(), cipher, nullptr, nullptr, nullptr));
    check(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_IVLEN, static_cast<int>(iv.size()), nullptr));
    check(EVP_EncryptInit_ex(context.get(), nullptr, nullptr, message.key.data(), iv.data()));
    int length = 0;
    Bytes sealed = message.aad + message.text + Bytes(message.tag_size);
    if (!message.aad.empty())
        check(EVP_EncryptUpdate(context.get(), nullptr, &length, message.aad.data(),
                                static_cast<int>(message.aad.size())));
    std::uint8_t *const text = sealed.data() + message.aad.size();
    if (!message.text.empty())
        check(EVP_EncryptUpdate(context.get(), text, &length, message.text.data(),
                                static_cast<int>(message.text.size())));
    std::uint8_t nothing[16];
    check(EVP_EncryptFinal_ex(context.get(), nothing, &length));
    check(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(message.tag_size),
                              text + message.text.size()));
    return sealed;
}

/// The devices with AES-GCM: the first software device, and every other.
inline std::vector<std::string> encrypting_devices()
{
    std::vector<std::string> names;
    bool has_soft = false;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        const std::string name = ibdev_of(info);
        if (doca_aes_gcm_cap_task_encrypt_is_supported(info) == DOCA_SUCCESS &&
            !(is_soft(name) && std::exchange(has_soft, true)))
            names.push_back(name);
    }
    return names;
}

enum class Way { encrypt, decrypt };

/// The functions of one kind of tasks, under one name each.
template <Way way>
struct Gcm;

#define DOCA_TEST_GCM_FUNCTIONS(way_name)                                                                              \
    template <>                                                                                                        \
    struct Gcm<Way::way_name> {                                                                                        \
        using Task = doca_aes_gcm_task_##way_name;                                                                     \
        static constexpr auto is_supported = doca_aes_gcm_cap_task_##way_name##_is_supported;                          \
        static constexpr auto max_iv_len = doca_aes_gcm_cap_task_##way_name##_get_max_iv_len;                          \
        static constexpr auto tag_96 = doca_aes_gcm_cap_task_##way_name##_is_tag_96_supported;                         \
        static constexpr auto tag_128 = doca_aes_gcm_cap_task_##way_name##_is_tag_128_supported;                       \
        static constexpr auto key_type = doca_aes_gcm_cap_task_##way_name##_is_key_type_supported;                     \
        static constexpr auto max_buf_size = doca_aes_gcm_cap_task_##way_name##_get_max_buf_size;                      \
        static constexpr auto max_list = doca_aes_gcm_cap_task_##way_name##_get_max_list_buf_num_elem;                 \
        static constexpr auto set_conf = doca_aes_gcm_task_##way_name##_set_conf;                                      \
        static constexpr auto alloc_init = doca_aes_gcm_task_##way_name##_alloc_init;                                  \
        static constexpr auto as_task = doca_aes_gcm_task_##way_name##_as_task;                                        \
        static constexpr auto set_src = doca_aes_gcm_task_##way_name##_set_src;                                        \
        static constexpr auto get_src = doca_aes_gcm_task_##way_name##_get_src;                                        \
        static constexpr auto set_dst = doca_aes_gcm_task_##way_name##_set_dst;                                        \
        static constexpr auto get_dst = doca_aes_gcm_task_##way_name##_get_dst;                                        \
        static constexpr auto set_key = doca_aes_gcm_task_##way_name##_set_key;                                        \
        static constexpr auto get_key = doca_aes_gcm_task_##way_name##_get_key;                                        \
        static constexpr auto set_iv = doca_aes_gcm_task_##way_name##_set_iv;                                          \
        static constexpr auto get_iv = doca_aes_gcm_task_##way_name##_get_iv;                                          \
        static constexpr auto set_tag_size = doca_aes_gcm_task_##way_name##_set_tag_size;                              \
        static constexpr auto get_tag_size = doca_aes_gcm_task_##way_name##_get_tag_size;                              \
        static constexpr auto set_aad_size = doca_aes_gcm_task_##way_name##_set_aad_size;                              \
        static constexpr auto get_aad_size = doca_aes_gcm_task_##way_name##_get_aad_size;                              \
    }
DOCA_TEST_GCM_FUNCTIONS(encrypt);
DOCA_TEST_GCM_FUNCTIONS(decrypt);
#undef DOCA_TEST_GCM_FUNCTIONS

/// An AES-GCM context. Counts the tasks that end, and stores the user data of each, in order.
class GcmContext {
public:
    GcmContext(doca_dev *dev, doca_pe *pe, std::uint32_t num_tasks)
    {
        must(doca_aes_gcm_create(dev, gcm_.out()));
        must(
            doca_aes_gcm_task_encrypt_set_conf(gcm_, ended<Way::encrypt, true>, ended<Way::encrypt, false>, num_tasks));
        must(
            doca_aes_gcm_task_decrypt_set_conf(gcm_, ended<Way::decrypt, true>, ended<Way::decrypt, false>, num_tasks));
        must(doca_ctx_set_user_data(ctx(), {.ptr = this}));
        must(doca_pe_connect_ctx(pe, ctx()));
    }
    GcmContext(const GcmContext &) = delete;
    GcmContext &operator=(const GcmContext &) = delete;

    [[nodiscard]] doca_aes_gcm *get() const { return gcm_; }
    [[nodiscard]] doca_ctx *ctx() const { return doca_aes_gcm_as_ctx(gcm_); }
    void stop(doca_pe *pe) const
    {
        const doca_error_t status = doca_ctx_stop(ctx());
        EXPECT_TRUE(status == DOCA_SUCCESS || status == DOCA_ERROR_IN_PROGRESS);
        while (state_of(ctx()) != DOCA_CTX_STATE_IDLE)
            ASSERT_EQ(doca_pe_progress(pe), 1);
    }
    [[nodiscard]] GcmKeyHandle key(const Bytes &raw) const
    {
        GcmKeyHandle key;
        must(doca_aes_gcm_key_create(gcm_, raw.data(), raw.size() == 16 ? DOCA_AES_GCM_KEY_128 : DOCA_AES_GCM_KEY_256,
                                     key.out()));
        return key;
    }

    std::vector<std::uint64_t> succeeded;
    std::vector<std::uint64_t> failed;
    bool frees_tasks = false; ///< in the callbacks

    [[nodiscard]] std::size_t num_ended() const { return succeeded.size() + failed.size(); }

private:
    template <Way way, bool has_succeeded>
    static void ended(typename Gcm<way>::Task *task, doca_data task_data, doca_data ctx_data)
    {
        auto &context = *static_cast<GcmContext *>(ctx_data.ptr);
        doca_task *const as_task = Gcm<way>::as_task(task);
        EXPECT_EQ(doca_task_get_status(as_task) == DOCA_SUCCESS, has_succeeded);
        (has_succeeded ? context.succeeded : context.failed).push_back(task_data.u64);
        if (context.frees_tasks)
            doca_task_free(as_task);
    }

    AesGcmHandle gcm_;
};

/// A running context on one device, with memory to cut buffers from.
class AesGcmTest : public testing::TestWithParam<std::string> {
protected:
    static constexpr std::size_t size = std::size_t{4} << 20;
    static constexpr std::uint32_t num_tasks = 8;

    void SetUp() override { must(doca_ctx_start(context.ctx())); }
    void TearDown() override { context.stop(pe); }

    [[nodiscard]] static doca_pe *created(PeHandle &engine)
    {
        must(doca_pe_create(engine.out()));
        return engine;
    }

    /// Memory after what was taken before.
    std::uint8_t *take(std::size_t length)
    {
        auto *const at = reinterpret_cast<std::uint8_t *>(&memory[used]);
        used += length;
        if (used > size)
            throw std::runtime_error("the test has no memory left");
        return at;
    }
    BufHandle data_at(std::uint8_t *at, std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_data(inventory, map, at, length, buf.out()));
        return buf;
    }
    BufHandle room_at(std::uint8_t *at, std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, at, length, buf.out()));
        return buf;
    }
    BufHandle source(const Bytes &bytes)
    {
        std::uint8_t *const at = take(bytes.size() + 1);
        std::copy(bytes.begin(), bytes.end(), at);
        return data_at(at, bytes.size());
    }
    BufHandle room(std::size_t length) { return room_at(take(length + 1), length); }
    /// A list of buffers with these bytes, or with room for as many if @p is_room, which end at @p ends and at the end.
    BufHandle list(const Bytes &bytes, const std::vector<std::size_t> &ends, bool is_room)
    {
        BufHandle head;
        std::size_t from = 0;
        for (std::size_t i = 0; i <= ends.size(); ++i) {
            const std::size_t to = i < ends.size() ? ends[i] : bytes.size();
            const Bytes part(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                             bytes.begin() + static_cast<std::ptrdiff_t>(to));
            BufHandle buf = is_room ? room(part.size()) : source(part);
            if (head == nullptr)
                head = std::move(buf);
            else
                must(doca_buf_chain_list(head, buf.release()));
            from = to;
        }
        return head;
    }
    static Bytes data_of(const doca_buf *list)
    {
        Bytes bytes;
        for (auto *buf = const_cast<doca_buf *>(list); buf != nullptr;) {
            void *data = nullptr;
            must(doca_buf_get_data(buf, &data));
            const auto *const from = static_cast<std::uint8_t *>(data);
            bytes.insert(bytes.end(), from, from + data_len_of(buf));
            must(doca_buf_get_next_in_list(buf, &buf));
        }
        return bytes;
    }

    template <Way way>
    typename Gcm<way>::Task *alloc(const GcmMessage &message, doca_aes_gcm_key *key, const doca_buf *src, doca_buf *dst,
                                   std::uint64_t user_data = 7)
    {
        typename Gcm<way>::Task *task = nullptr;
        must(Gcm<way>::alloc_init(context.get(), src, dst, key, message.iv.data(),
                                  static_cast<std::uint32_t>(message.iv.size()), message.tag_size,
                                  static_cast<std::uint32_t>(message.aad.size()), {.u64 = user_data}, &task));
        return task;
    }
    /// Submits @p task and serves its end: the status.
    doca_error_t run(doca_task *task)
    {
        const std::size_t before = context.num_ended();
        EXPECT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        EXPECT_EQ(context.num_ended(), before) << "a submit calls no callback";
        while (context.num_ended() == before)
            EXPECT_EQ(doca_pe_progress(pe), 1);
        EXPECT_EQ(state_of(context.ctx()), DOCA_CTX_STATE_RUNNING);
        return doca_task_get_status(task);
    }
    /// Encrypts or decrypts in one task.
    template <Way way>
    doca_error_t once(const GcmMessage &message, const doca_buf *src, doca_buf *dst)
    {
        const GcmKeyHandle key = context.key(message.key);
        auto *const task = alloc<way>(message, key, src, dst);
        const doca_error_t status = run(Gcm<way>::as_task(task));
        doca_task_free(Gcm<way>::as_task(task));
        return status;
    }

    std::vector<std::byte> memory = std::vector<std::byte>(size);
    std::size_t used = 0;
    DevHandle dev = open_device(GetParam());
    MmapHandle map = map_of(dev, memory);
    InventoryHandle inventory = inventory_of(2048);
    PeHandle pe;
    GcmContext context{dev, created(pe), num_tasks};
};

} // namespace doca_test

/// A suite whose parameter is the name of a device.
#define INSTANTIATE_FOR_ENCRYPTING_DEVICES(suite)                                                                      \
    GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);                                                              \
    INSTANTIATE_TEST_SUITE_P(device, suite, testing::ValuesIn(doca_test::encrypting_devices()),                        \
                             doca_test::name_of_device)
