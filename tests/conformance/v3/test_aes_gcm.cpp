// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Results of AES-GCM tasks: known answers, the same as OpenSSL, lists, in place, wrong tags.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "aes_gcm_tasks.hpp"

namespace doca_test {
namespace {

class AesGcmResults : public AesGcmTest {
protected:
    /// Encrypts, compares with @p sealed, decrypts that and compares with the message.
    void expect_both_ways(const GcmMessage &message, const Bytes &sealed)
    {
        used = 0;
        const BufHandle plain = source(message.plain()), there = room(sealed.size());
        ASSERT_EQ(once<Way::encrypt>(message, plain, there), DOCA_SUCCESS);
        EXPECT_EQ(data_of(there), sealed);
        const BufHandle back = room(message.plain().size());
        ASSERT_EQ(once<Way::decrypt>(message, there, back), DOCA_SUCCESS);
        EXPECT_EQ(data_of(back), message.plain());
    }
};

INSTANTIATE_FOR_ENCRYPTING_DEVICES(AesGcmResults);

TEST_P(AesGcmResults, KnownAnswers)
{
    for (const GcmVector &vector : gcm_vectors) {
        SCOPED_TRACE(vector.name);
        for (const std::uint32_t tag_size : {16U, 12U}) {
            const GcmMessage message{bytes_of(vector.key), bytes_of(vector.iv), bytes_of(vector.aad),
                                     bytes_of(vector.plaintext), tag_size};
            expect_both_ways(message, message.aad + bytes_of(vector.ciphertext) +
                                          bytes_of(vector.tag.substr(0, 2 * std::size_t{tag_size})));
        }
    }
}

TEST_P(AesGcmResults, AreThoseOfOpenSslForAllLengths)
{
    std::uint32_t seed = 0;
    for (const std::size_t text : {0U, 1U, 15U, 16U, 17U, 63U, 64U, 255U, 1000U, 4096U, 65537U}) {
        for (const std::size_t aad : {0U, 1U, 9U, 16U, 17U, 300U}) {
            ++seed;
            const GcmMessage message{some_bytes(seed % 2 == 0 ? 16 : 32, seed), some_bytes(12, seed + 1),
                                     some_bytes(aad, seed + 2), some_bytes(text, seed + 3), seed % 3 == 0 ? 12U : 16U};
            SCOPED_TRACE(testing::Message() << aad << " bytes of AAD and " << text << " of text");
            expect_both_ways(message, sealed_by_openssl(message));
        }
    }
}

TEST_P(AesGcmResults, ShorterIvsAreHashedAndNoneIsTwelveZeros)
{
    for (std::size_t length = 0; length <= 12; ++length) {
        SCOPED_TRACE(length);
        const GcmMessage message{some_bytes(16, 1), some_bytes(length, 2), some_bytes(5, 3), some_bytes(100, 4), 16};
        expect_both_ways(message, sealed_by_openssl(message));
    }
}

TEST_P(AesGcmResults, ListsMayBeSplitAnywhere)
{
    const GcmMessage message{some_bytes(32, 1), some_bytes(12, 2), some_bytes(5, 3), some_bytes(35, 4), 16};
    const Bytes plain = message.plain(), sealed = sealed_by_openssl(message);
    for (std::size_t cut = 0; cut <= plain.size(); ++cut) {
        // The destination is cut elsewhere, and there are buffers without bytes.
        const std::size_t other = (cut * 7 + 3) % sealed.size();
        used = 0;
        const BufHandle src = list(plain, {cut, cut}, false);
        const BufHandle dst = list(sealed, {0, other, other}, true);
        ASSERT_EQ(once<Way::encrypt>(message, src, dst), DOCA_SUCCESS) << cut;
        EXPECT_EQ(data_of(dst), sealed) << cut;
    }
    for (std::size_t cut = 0; cut <= sealed.size(); ++cut) {
        const std::size_t other = (cut * 7 + 3) % plain.size();
        used = 0;
        const BufHandle src = list(sealed, {cut, std::min(cut + 1, sealed.size())}, false);
        const BufHandle dst = list(plain, {other, other}, true);
        ASSERT_EQ(once<Way::decrypt>(message, src, dst), DOCA_SUCCESS) << cut;
        EXPECT_EQ(data_of(dst), plain) << cut;
    }
}

TEST_P(AesGcmResults, EveryByteMayBeABufferOfItsOwn)
{
    const GcmMessage message{some_bytes(16, 1), some_bytes(12, 2), some_bytes(20, 3), some_bytes(77, 4), 12};
    const Bytes plain = message.plain(), sealed = sealed_by_openssl(message);
    const auto every = [](std::size_t length) {
        std::vector<std::size_t> ends;
        for (std::size_t end = 1; end < length; ++end)
            ends.push_back(end);
        return ends;
    };
    const BufHandle src = list(plain, every(plain.size()), false);
    const BufHandle dst = list(sealed, every(sealed.size()), true);
    ASSERT_EQ(once<Way::encrypt>(message, src, dst), DOCA_SUCCESS);
    EXPECT_EQ(data_of(dst), sealed);
    const BufHandle back = list(plain, every(plain.size()), true);
    ASSERT_EQ(once<Way::decrypt>(message, dst, back), DOCA_SUCCESS);
    EXPECT_EQ(data_of(back), plain);
}

TEST_P(AesGcmResults, AreWrittenBehindTheDataOfEachBuffer)
{
    const GcmMessage message{some_bytes(16, 1), some_bytes(12, 2), some_bytes(3, 3), some_bytes(30, 4), 16};
    const BufHandle src = source(message.plain());
    const BufHandle head = room(20);
    BufHandle second = room(100);
    must(doca_buf_set_data_len(head, 10));
    must(doca_buf_set_data_len(second, 5));
    doca_buf *const tail = second;
    must(doca_buf_chain_list(head, second.release()));
    ASSERT_EQ(once<Way::encrypt>(message, src, head), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(head), 20u);
    EXPECT_EQ(data_len_of(tail), 5u + 49 - 10);
    const Bytes all = data_of(head), sealed = sealed_by_openssl(message);
    EXPECT_TRUE(std::equal(sealed.begin(), sealed.begin() + 10, all.begin() + 10));
    EXPECT_TRUE(std::equal(sealed.begin() + 10, sealed.end(), all.begin() + 25));
}

TEST_P(AesGcmResults, MayBeWrittenOverTheSource)
{
    for (const std::size_t text : {0U, 50U, 4096U, 600000U}) {
        const GcmMessage message{some_bytes(32, 1), some_bytes(12, 2), some_bytes(13, 3), some_bytes(text, 4), 16};
        const Bytes plain = message.plain(), sealed = sealed_by_openssl(message);
        used = 0;
        std::uint8_t *const at = take(sealed.size());
        std::copy(plain.begin(), plain.end(), at);
        const BufHandle src = data_at(at, plain.size()), dst = room_at(at, sealed.size());
        ASSERT_EQ(once<Way::encrypt>(message, src, dst), DOCA_SUCCESS);
        EXPECT_EQ(data_of(dst), sealed);
        const BufHandle back = room_at(at, sealed.size());
        ASSERT_EQ(once<Way::decrypt>(message, dst, back), DOCA_SUCCESS);
        EXPECT_EQ(data_of(back), plain);
    }
}

TEST_P(AesGcmResults, LongTextsAreProcessedInSlices)
{
    // Around the length of a slice, and several slices; the AAD counts as well.
    for (const std::size_t text : {262131U, 262132U, 524288U, 1000000U}) {
        for (const std::size_t aad : {13U, 300000U}) {
            const GcmMessage message{some_bytes(16, 1), some_bytes(12, 2), some_bytes(aad, 3), some_bytes(text, 4), 16};
            SCOPED_TRACE(testing::Message() << aad << " bytes of AAD and " << text << " of text");
            expect_both_ways(message, sealed_by_openssl(message));
        }
    }
}

/// A message with one thing wrong.
class WrongTag : public AesGcmTest {
protected:
    /// Expects that @p sealed is refused in the callback and that nothing of it is left.
    void expect_refused(const GcmMessage &message, const Bytes &sealed, const std::vector<std::size_t> &ends = {})
    {
        const std::size_t result = sealed.size() - message.tag_size;
        const BufHandle src = list(sealed, ends, false);
        const BufHandle dst = list(Bytes(result), ends, true);
        EXPECT_EQ(once<Way::decrypt>(message, src, dst), DOCA_ERROR_IO_FAILED);
        std::size_t skipped = 0;
        for (doca_buf *buf = dst; buf != nullptr;) {
            EXPECT_EQ(data_len_of(buf), 0u);
            void *head = nullptr;
            std::size_t length = 0;
            must(doca_buf_get_head(buf, &head));
            must(doca_buf_get_len(buf, &length));
            const auto *const bytes = static_cast<std::uint8_t *>(head);
            for (std::size_t i = 0; i != length; ++i, ++skipped) {
                if (skipped >= message.aad.size()) {
                    ASSERT_EQ(bytes[i], 0) << "plaintext is left at " << skipped;
                }
            }
            must(doca_buf_get_next_in_list(buf, &buf));
        }
    }
};

INSTANTIATE_FOR_ENCRYPTING_DEVICES(WrongTag);

TEST_P(WrongTag, EachChangedByteIsDetected)
{
    for (const std::uint32_t tag_size : {12U, 16U}) {
        const GcmMessage message{some_bytes(16, 1), some_bytes(12, 2), some_bytes(7, 3), some_bytes(40, 4), tag_size};
        const Bytes sealed = sealed_by_openssl(message);
        for (std::size_t i = 0; i != sealed.size(); ++i) {
            used = 0;
            std::fill(memory.begin(), memory.begin() + 4096, std::byte{0});
            Bytes changed = sealed;
            changed[i] ^= 1U << i % 8;
            expect_refused(message, changed);
        }
    }
}

TEST_P(WrongTag, AnotherKeyIvOrSplitIsDetected)
{
    const GcmMessage message{some_bytes(32, 1), some_bytes(12, 2), some_bytes(7, 3), some_bytes(400, 4), 16};
    const Bytes sealed = sealed_by_openssl(message);
    GcmMessage other = message;
    other.key[31] ^= 1;
    expect_refused(other, sealed);
    other = message;
    other.iv[0] ^= 1;
    expect_refused(other, sealed);
    other = message;
    other.aad.pop_back(); // one byte of the AAD as text
    expect_refused(other, sealed);
    other = message;
    other.tag_size = 12; // the end of the tag as a tag
    expect_refused(other, sealed);
}

TEST_P(WrongTag, NoPlaintextIsLeftInListsAndAfterSlices)
{
    const GcmMessage message{some_bytes(16, 1), some_bytes(12, 2), some_bytes(100, 3), some_bytes(700000, 4), 16};
    Bytes sealed = sealed_by_openssl(message);
    sealed.back() ^= 0x80;
    expect_refused(message, sealed, {1, 50, 99, 101, 5000, 300000});
}

TEST_P(WrongTag, ContextGoesOnAndTheTaskCanBeSubmittedAgain)
{
    const GcmMessage message{some_bytes(16, 1), some_bytes(12, 2), some_bytes(7, 3), some_bytes(40, 4), 16};
    Bytes sealed = sealed_by_openssl(message);
    const BufHandle good = source(sealed);
    sealed[20] ^= 1;
    const BufHandle bad = source(sealed), dst = room(100);
    const GcmKeyHandle key = context.key(message.key);
    doca_aes_gcm_task_decrypt *const task = alloc<Way::decrypt>(message, key, bad, dst);
    for (int i = 0; i != 20; ++i) {
        doca_aes_gcm_task_decrypt_set_src(task, bad);
        EXPECT_EQ(run(doca_aes_gcm_task_decrypt_as_task(task)), DOCA_ERROR_IO_FAILED);
        doca_aes_gcm_task_decrypt_set_src(task, good);
        must(doca_buf_reset_data_len(dst));
        ASSERT_EQ(run(doca_aes_gcm_task_decrypt_as_task(task)), DOCA_SUCCESS);
        EXPECT_EQ(data_of(dst), message.plain());
        must(doca_buf_reset_data_len(dst));
    }
    doca_task_free(doca_aes_gcm_task_decrypt_as_task(task));
}

TEST_P(WrongTag, TaskFollowedByAShorterTagAndAnEncryptionWithTheSameKey)
{
    GcmMessage message{some_bytes(16, 1), some_bytes(12, 2), {}, some_bytes(40, 4), 16};
    const GcmKeyHandle key = context.key(message.key);
    for (const std::uint32_t tag_size : {16U, 12U, 16U}) {
        message.tag_size = tag_size;
        const Bytes sealed = sealed_by_openssl(message);
        const BufHandle src = source(sealed), plain = source(message.plain()), dst = room(100), other = room(100);
        doca_aes_gcm_task_decrypt *const decrypt = alloc<Way::decrypt>(message, key, src, dst);
        doca_aes_gcm_task_encrypt *const encrypt = alloc<Way::encrypt>(message, key, plain, other);
        EXPECT_EQ(run(doca_aes_gcm_task_decrypt_as_task(decrypt)), DOCA_SUCCESS);
        EXPECT_EQ(run(doca_aes_gcm_task_encrypt_as_task(encrypt)), DOCA_SUCCESS);
        EXPECT_EQ(data_of(dst), message.plain());
        EXPECT_EQ(data_of(other), sealed);
        doca_task_free(doca_aes_gcm_task_decrypt_as_task(decrypt));
        doca_task_free(doca_aes_gcm_task_encrypt_as_task(encrypt));
    }
}

} // namespace
} // namespace doca_test
