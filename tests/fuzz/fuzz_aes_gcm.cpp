// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: tasks of AES-GCM with any source, lengths and cuts. Each result is that of OpenSSL's functions alone,
// each refusal is one that the header announces, and a wrong tag leaves no plaintext.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include <openssl/evp.h>

#include <doca_aes_gcm.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "target.hpp"

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t half = std::size_t{1} << 20;
constexpr std::size_t long_text = std::size_t{300} << 10; ///< more than a slice of a task
constexpr std::byte canary{0xa5};
constexpr std::uint32_t max_iv_size = 12;

const std::uint8_t raw_keys[2][32] = {{1, 2, 3}, {4, 5, 6}};

std::byte memory[2 * half]; ///< the source, and the destination
bool has_ended;

template <typename Task>
void ended(Task *, doca_data, doca_data)
{
    has_ended = true;
}

/// A running context on a software device. Lives as long as the process.
struct Context {
    Context()
    {
        doca_devinfo **list = nullptr;
        std::uint32_t count = 0;
        must(doca_devinfo_create_list(&list, &count));
        for (std::uint32_t i = 0; i != count && dev == nullptr; ++i) {
            if (doca_aes_gcm_cap_task_decrypt_is_supported(list[i]) == DOCA_SUCCESS)
                must(doca_dev_open(list[i], &dev));
        }
        must(doca_devinfo_destroy_list(list));
        // Memory that others may write is copied before it is read.
        const std::uint32_t permissions[2] = {DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
                                              DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE};
        for (std::size_t i = 0; i != 2; ++i) {
            must(doca_mmap_create(&maps[i]));
            must(doca_mmap_add_dev(maps[i], dev));
            must(doca_mmap_set_memrange(maps[i], memory, sizeof(memory)));
            must(doca_mmap_set_permissions(maps[i], permissions[i]));
            must(doca_mmap_start(maps[i]));
        }
        must(doca_buf_inventory_create(64, &inventory));
        must(doca_buf_inventory_start(inventory));
        must(doca_pe_create(&pe));
        must(doca_aes_gcm_create(dev, &gcm));
        must(doca_aes_gcm_task_encrypt_set_conf(gcm, ended, ended, 1));
        must(doca_aes_gcm_task_decrypt_set_conf(gcm, ended, ended, 1));
        must(doca_pe_connect_ctx(pe, doca_aes_gcm_as_ctx(gcm)));
        must(doca_ctx_start(doca_aes_gcm_as_ctx(gcm)));
        must(doca_aes_gcm_key_create(gcm, raw_keys[0], DOCA_AES_GCM_KEY_128, &keys[0]));
        must(doca_aes_gcm_key_create(gcm, raw_keys[1], DOCA_AES_GCM_KEY_256, &keys[1]));
    }

    doca_dev *dev = nullptr;
    doca_mmap *maps[2] = {};
    doca_buf_inventory *inventory = nullptr;
    doca_pe *pe = nullptr;
    doca_aes_gcm *gcm = nullptr;
    doca_aes_gcm_key *keys[2] = {};
};

/// What an input says about its task.
struct Choices {
    explicit Choices(Numbers &numbers)
    {
        constexpr std::uint32_t tag_sizes[] = {16, 12, 16, 12, 16, 12, 16};
        const unsigned flags = numbers.next(256);
        encrypts = (flags & 1) != 0;
        is_256 = (flags & 2) != 0;
        is_shared = (flags & 4) != 0;
        is_in_place = (flags & 8) != 0;
        is_source_cut = (flags & 16) != 0;
        is_result_cut = (flags & 32) != 0;
        is_tried = (flags & 64) != 0;
        is_long = (flags & 128) != 0 && numbers.next(16) == 15;
        const unsigned tag = numbers.next(8);
        tag_size = tag == 7 ? numbers.next(256) : tag_sizes[tag];
        iv_size = numbers.next(14); // one that is too long among them
        aad_size = numbers.next(256);
        if (aad_size == 255)
            aad_size = UINT32_MAX - numbers.next(32);
        step = numbers.next(256) + 1;
        gap = numbers.next(3); // elements that are adjacent are used in place
        shift = numbers.next(4) == 0 ? numbers.next(256) : 0;
        is_short_of_room = numbers.next(8) == 7;
        changed_at = numbers.next(256) * 17;
        change = static_cast<std::byte>(numbers.next(256));
    }

    [[nodiscard]] bool is_tag_valid() const { return tag_size == 12 || tag_size == 16; }

    bool encrypts, is_256, is_shared, is_in_place, is_source_cut, is_result_cut, is_tried, is_long, is_short_of_room;
    std::uint32_t tag_size, iv_size, aad_size;
    std::size_t step, gap;  ///< bytes of an element, and between two
    std::size_t shift;      ///< bytes from the source to a result in place
    std::size_t changed_at; ///< where right ciphertext is made wrong
    std::byte change;       ///< by which bits; none: it stays right
    std::uint8_t iv[16] = {};
};

void check(int status)
{
    require(status == 1, "OpenSSL accepts it");
}

const unsigned char *raw(const std::byte *bytes)
{
    return reinterpret_cast<const unsigned char *>(bytes);
}

/// Starts the one cipher context of this file, and gives it the AAD.
EVP_CIPHER_CTX *begin_openssl(const Choices &choices, bool encrypts, Input aad)
{
    static EVP_CIPHER_CTX *const context = EVP_CIPHER_CTX_new();
    static const std::uint8_t zeros[max_iv_size] = {};
    const bool has_iv = choices.iv_size != 0;
    int length = 0;
    check(EVP_CipherInit_ex(context, choices.is_256 ? EVP_aes_256_gcm() : EVP_aes_128_gcm(), nullptr, nullptr, nullptr,
                            encrypts ? 1 : 0));
    check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN,
                              static_cast<int>(has_iv ? choices.iv_size : max_iv_size), nullptr));
    check(EVP_CipherInit_ex(context, nullptr, nullptr, raw_keys[choices.is_256 ? 1 : 0], has_iv ? choices.iv : zeros,
                            encrypts ? 1 : 0));
    if (!aad.empty())
        check(EVP_CipherUpdate(context, nullptr, &length, raw(aad.data()), static_cast<int>(aad.size())));
    return context;
}

/// AAD, ciphertext and tag, by OpenSSL.
Bytes sealed(const Choices &choices, Input plain)
{
    const Input aad = plain.first(choices.aad_size), text = plain.subspan(choices.aad_size);
    EVP_CIPHER_CTX *const context = begin_openssl(choices, true, aad);
    Bytes out(aad.begin(), aad.end());
    out.resize(plain.size() + choices.tag_size);
    auto *const to = reinterpret_cast<unsigned char *>(out.data() + aad.size());
    unsigned char nothing[16];
    int length = 0;
    if (!text.empty())
        check(EVP_CipherUpdate(context, to, &length, raw(text.data()), static_cast<int>(text.size())));
    check(EVP_CipherFinal_ex(context, nothing, &length));
    check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, static_cast<int>(choices.tag_size), to + text.size()));
    return out;
}

/// AAD and plaintext, by OpenSSL, or nothing if the tag is wrong.
std::optional<Bytes> opened(const Choices &choices, Input source)
{
    const Input aad = source.first(choices.aad_size);
    const Input text = source.subspan(aad.size(), source.size() - aad.size() - choices.tag_size);
    EVP_CIPHER_CTX *const context = begin_openssl(choices, false, aad);
    Bytes out(aad.begin(), aad.end());
    out.resize(aad.size() + text.size());
    auto *const to = reinterpret_cast<unsigned char *>(out.data() + aad.size());
    unsigned char tag[16], nothing[16];
    int length = 0;
    std::memcpy(tag, source.data() + out.size(), choices.tag_size);
    check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, static_cast<int>(choices.tag_size), tag));
    if (!text.empty())
        check(EVP_CipherUpdate(context, to, &length, raw(text.data()), static_cast<int>(text.size())));
    if (EVP_CipherFinal_ex(context, nothing, &length) != 1)
        return {};
    return out;
}

/// Returns a list of @p length bytes at @p at; without @p data it is empty.
doca_buf *list_of(const Context &context, const Choices &choices, std::byte *at, std::size_t length, bool is_cut,
                  bool has_data)
{
    constexpr std::size_t max_elements = 20;
    const std::size_t step = is_cut ? std::max(choices.step, length / max_elements + 1) : length;
    doca_buf *head = nullptr;
    for (std::size_t done = 0; done != length || head == nullptr;) {
        const std::size_t part = std::min(length - done, step);
        doca_buf *buf = nullptr;
        must(doca_buf_inventory_buf_get_by_args(context.inventory, context.maps[choices.is_shared ? 1 : 0], at, part,
                                                at, has_data ? part : 0, &buf));
        if (head == nullptr)
            head = buf;
        else
            must(doca_buf_chain_list(head, buf));
        at += part + choices.gap;
        done += part;
    }
    return head;
}

template <typename Visit>
void for_each(const doca_buf *list, Visit visit)
{
    for (auto *buf = const_cast<doca_buf *>(list); buf != nullptr;) {
        void *head = nullptr;
        std::size_t size = 0, data = 0;
        must(doca_buf_get_head(buf, &head));
        must(doca_buf_get_len(buf, &size));
        must(doca_buf_get_data_len(buf, &data));
        visit(static_cast<std::byte *>(head), size, data);
        must(doca_buf_get_next_in_list(buf, &buf));
    }
}

/// Copies @p data to the memory of a list.
void fill(const doca_buf *list, Input data)
{
    for_each(list, [&](std::byte *head, std::size_t size, std::size_t) {
        std::ranges::copy(data.first(size), head);
        data = data.subspan(size);
    });
}

/// Returns the memory of a list, with data or not.
Bytes memory_of(const doca_buf *list)
{
    Bytes all;
    for_each(list,
             [&](const std::byte *head, std::size_t size, std::size_t) { all.insert(all.end(), head, head + size); });
    return all;
}

std::size_t length_of(const doca_buf *list)
{
    std::size_t length = 0;
    for_each(list, [&](std::byte *, std::size_t, std::size_t data) { length += data; });
    return length;
}

/// Not ==, which compares these byte by byte.
bool is_equal(const Bytes &a, const Bytes &b)
{
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// Runs a task whose lengths are set after its allocation, so that the submit has to check them.
template <typename Task, typename Allocate, typename SetIv, typename SetTag, typename SetAad>
doca_error_t run_task(const Context &context, Choices &choices, const doca_buf *src, doca_buf *dst, Allocate allocate,
                      doca_task *(*as_task)(Task *), SetIv set_iv, SetTag set_tag_size, SetAad set_aad_size)
{
    Task *task = nullptr;
    must(allocate(context.gcm, src, dst, context.keys[choices.is_256 ? 1 : 0], nullptr, 0, 16, 0, doca_data{}, &task));
    set_iv(task, choices.iv, choices.iv_size);
    set_tag_size(task, choices.tag_size);
    set_aad_size(task, choices.aad_size);
    has_ended = false;
    doca_error_t status = choices.is_tried ? doca_task_try_submit(as_task(task)) : doca_task_submit(as_task(task));
    // The IV is the program's again.
    std::uint8_t iv[sizeof(choices.iv)];
    std::memcpy(iv, choices.iv, sizeof(iv));
    std::memset(choices.iv, 0xff, sizeof(choices.iv));
    if (status == DOCA_SUCCESS) {
        while (!has_ended)
            (void)doca_pe_progress(context.pe);
    } else {
        require(choices.is_tried && !has_ended, "a submit reports errors by the callback");
        require(status == DOCA_ERROR_INVALID_VALUE, "what a submit can find is INVALID_VALUE");
    }
    status = doca_task_get_status(as_task(task));
    std::memcpy(choices.iv, iv, sizeof(iv));
    doca_task_free(as_task(task));
    return status;
}

} // namespace

void test_input(Input input)
{
    static const Context context;
    Numbers numbers(input);
    Choices choices(numbers);
    for (std::uint8_t &byte : choices.iv)
        byte = static_cast<std::uint8_t>(numbers.next(256));
    const Input rest = numbers.rest();
    if (rest.size() > half / 4)
        return;
    Bytes source(rest.begin(), rest.end());
    if (choices.is_long && !rest.empty() && rest.size() < long_text) {
        source.resize(long_text);
        for (std::size_t done = rest.size(); done < long_text; done *= 2)
            std::memcpy(&source[done], source.data(), std::min(done, long_text - done));
    }
    // Random bytes never have the right tag: most ciphertexts are right ones, changed in one byte or not.
    const bool has_valid_sizes = choices.is_tag_valid() && choices.iv_size <= max_iv_size;
    if (!choices.encrypts && has_valid_sizes && source.size() >= choices.aad_size) {
        source = sealed(choices, source);
        source[choices.changed_at % source.size()] ^= choices.change;
    }

    const std::size_t tag = choices.tag_size;
    const std::size_t needed = choices.aad_size + (choices.encrypts ? 0 : tag);
    const bool has_valid_lengths = has_valid_sizes && source.size() >= needed;
    std::optional<Bytes> expected;
    if (has_valid_lengths)
        expected = choices.encrypts ? sealed(choices, source) : opened(choices, source);
    const std::size_t result = choices.encrypts ? source.size() + tag : source.size() - std::min(source.size(), tag);
    const std::size_t room = result - (choices.is_short_of_room && result != 0 ? 1 : 0);
    const bool is_in_place = choices.is_in_place && !choices.is_source_cut;
    std::byte *const to = is_in_place ? memory + choices.shift : memory + half;
    std::fill_n(to, room + 64, canary);
    doca_buf *const src = list_of(context, choices, memory, source.size(), choices.is_source_cut, true);
    doca_buf *const dst = list_of(context, choices, to, room, choices.is_result_cut && !is_in_place, false);
    fill(src, source);

    const bool overlaps = is_in_place && choices.shift != 0 && choices.shift < source.size() && result != 0;
    const bool is_valid = has_valid_lengths && room >= result && !overlaps;
    const bool is_too_long = has_valid_lengths && room < result;
    const doca_error_t status =
        choices.encrypts ? run_task(context, choices, src, dst, doca_aes_gcm_task_encrypt_alloc_init,
                                    doca_aes_gcm_task_encrypt_as_task, doca_aes_gcm_task_encrypt_set_iv,
                                    doca_aes_gcm_task_encrypt_set_tag_size, doca_aes_gcm_task_encrypt_set_aad_size)
                         : run_task(context, choices, src, dst, doca_aes_gcm_task_decrypt_alloc_init,
                                    doca_aes_gcm_task_decrypt_as_task, doca_aes_gcm_task_decrypt_set_iv,
                                    doca_aes_gcm_task_decrypt_set_tag_size, doca_aes_gcm_task_decrypt_set_aad_size);
    require((is_valid || is_too_long) == (status != DOCA_ERROR_INVALID_VALUE),
            "lengths that do not suit each other are INVALID_VALUE, no others");
    require(!is_too_long || status == DOCA_ERROR_IO_FAILED, "a result that does not fit is IO_FAILED");
    const Bytes written = memory_of(dst);
    if (!is_valid) {
        require(is_equal(memory_of(src), source), "a task that is refused changes no source");
        require(is_in_place || std::ranges::count(written, canary) == static_cast<std::ptrdiff_t>(written.size()),
                "a task that is refused writes nothing");
    } else if (expected) {
        require(status == DOCA_SUCCESS, "what is authentic is accepted");
        require(is_equal(written, *expected), "the result is that of OpenSSL");
        require(length_of(dst) == result, "the data lengths are those of the result");
    } else {
        require(status == DOCA_ERROR_IO_FAILED, "a wrong tag is IO_FAILED");
        require(std::all_of(written.begin() + static_cast<std::ptrdiff_t>(choices.aad_size), written.end(),
                            [](std::byte byte) { return byte == std::byte{0}; }),
                "a wrong tag leaves no plaintext");
    }
    require(status == DOCA_SUCCESS || length_of(dst) == 0, "a task that fails writes no data");
    for_each(dst, [&](const std::byte *head, std::size_t size, std::size_t) {
        require(is_in_place || std::count(head + size, head + size + choices.gap, canary) ==
                                   static_cast<std::ptrdiff_t>(choices.gap),
                "nothing is written between the elements");
    });
    must(doca_buf_dec_refcount(src, nullptr));
    must(doca_buf_dec_refcount(dst, nullptr));
}
