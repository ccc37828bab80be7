// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SHA in several jobs: sessions, how a message may be cut, and copies of a state.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "sha_vectors.hpp"
#include "support/graph_fixture.hpp"
#include "support/log_capture.hpp"
#include "support/sanitizers.hpp"
#include "support/sha_fixture.hpp"

using namespace doca_test;

namespace {

class ShaPartialTest : public ShaTest {
protected:
    /// Hashes [offset, offset + len) in one more piece.
    [[nodiscard]] doca_error_t add(const Session &session, const ShaKind &kind, std::size_t offset, std::size_t len,
                                   doca_buf *to, bool is_last = false) const
    {
        const BufHandle from = request(offset, len);
        return session.run(kind, from, to, is_last);
    }
    /// Hashes [offset, offset + len) as the last piece: the digest.
    [[nodiscard]] std::string finish(const Session &session, const ShaKind &kind, std::size_t offset,
                                     std::size_t len) const
    {
        const BufHandle to = response();
        EXPECT_EQ(add(session, kind, offset, len, to, true), DOCA_SUCCESS);
        return text_of(to);
    }
    [[nodiscard]] std::string expected(const ShaKind &kind, std::size_t len) const
    {
        return openssl_digest(kind, message(0, len));
    }

    const ShaKind &sha1 = sha_kinds[0];
    const ShaKind &sha256 = sha_kinds[1];
    const ShaKind &sha512 = sha_kinds[2];
};
INSTANTIATE_FOR_DEVICES(ShaPartialTest, can_hash);

class ShaSplitTest : public ShaPartialTest {};
INSTANTIATE_FOR_FEW_DEVICES(ShaSplitTest, can_hash);

TEST_P(ShaPartialTest, a_message_in_one_piece)
{
    const Session session(engine);
    for (const ShaKind &kind : sha_kinds) {
        for (const std::size_t len : {1, 64, 100, 128, 1000})
            EXPECT_EQ(finish(session, kind, 0, len), expected(kind, len)) << kind.name << ", " << len;
    }
}

TEST_P(ShaPartialTest, response_is_not_touched_before_the_last_piece)
{
    const Session session(engine);
    for (const ShaKind &kind : sha_kinds) {
        fill(digest_memory, 7);
        const BufHandle to = response();
        for (std::size_t i = 0; i < 5; ++i) {
            EXPECT_EQ(add(session, kind, 128 * i, 128, to), DOCA_SUCCESS);
            EXPECT_EQ(data_len_of(to), 0u);
            EXPECT_TRUE(is_filled(digest_memory, 7));
        }
        EXPECT_EQ(add(session, kind, 640, 3, to, true), DOCA_SUCCESS);
        EXPECT_EQ(text_of(to), expected(kind, 643));
    }
}

TEST_P(ShaPartialTest, last_piece_of_whole_blocks)
{
    const Session session(engine);
    for (const ShaKind &kind : sha_kinds) {
        const BufHandle to = response();
        EXPECT_EQ(add(session, kind, 0, kind.block_size, to), DOCA_SUCCESS);
        EXPECT_EQ(finish(session, kind, kind.block_size, kind.block_size), expected(kind, 2 * kind.block_size));
    }
}

TEST_P(ShaPartialTest, pieces_that_are_no_multiple_of_the_block)
{
    const Session session(engine);
    for (const ShaKind &kind : sha_kinds) {
        const std::size_t block = kind.block_size;
        const BufHandle to = response();
        for (const std::size_t len : {std::size_t{1}, block - 1, block + 1, block / 2, 3 * block / 2, 10 * block - 1}) {
            const LogCapture log;
            EXPECT_EQ(add(session, kind, 0, len, to), DOCA_ERROR_INVALID_VALUE) << kind.name << ", " << len;
            EXPECT_LOGGED(log, "multiples of " + std::to_string(block));
        }
        // A piece that was refused has changed nothing.
        EXPECT_EQ(add(session, kind, 0, block, to), DOCA_SUCCESS);
        EXPECT_EQ(add(session, kind, 0, block + 1, to), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(finish(session, kind, block, 10), expected(kind, block + 10));
    }
}

TEST_P(ShaPartialTest, a_chain_counts_as_a_whole)
{
    const Session session(engine);
    const BufHandle whole_blocks = request(0, 10); // no part of it is a multiple
    must(doca_buf_list_chain(whole_blocks, request(10, 0).release()));
    must(doca_buf_list_chain(whole_blocks, request(10, 118).release()));
    const BufHandle rest = request(128, 1);
    must(doca_buf_list_chain(rest, request(129, 71).release()));
    for (const ShaKind &kind : sha_kinds) {
        const BufHandle to = response();
        EXPECT_EQ(session.run(kind, whole_blocks, to, false), DOCA_SUCCESS);
        EXPECT_EQ(session.run(kind, rest, to, true), DOCA_SUCCESS);
        EXPECT_EQ(text_of(to), expected(kind, 200));
    }
}

TEST_P(ShaSplitTest, known_answers_in_pieces)
{
    const Session session(engine);
    for (const ShaVector &vector : sha_vectors) {
        const std::string text = vector.message();
        std::vector<std::byte> bytes(text.size());
        std::memcpy(bytes.data(), text.data(), text.size());
        const LocalMap text_map(dev, bytes);
        for (std::size_t i = 0; i < std::size(sha_kinds); ++i) {
            // From one block a piece to the whole in one piece.
            const std::size_t factor = text.size() > 10000 ? 37 : 2;
            for (std::size_t piece = 128; piece < factor * text.size(); piece *= factor) {
                const BufHandle to = response();
                std::size_t done = 0;
                for (bool is_last = false; !is_last; done += piece) {
                    const std::size_t len = std::min(piece, text.size() - done);
                    is_last = len == text.size() - done;
                    const BufHandle from = inventory.full(text_map, &bytes[done], len);
                    ASSERT_EQ(session.run(sha_kinds[i], from, to, is_last), DOCA_SUCCESS);
                }
                ASSERT_EQ(text_of(to), vector.digests[i])
                    << sha_kinds[i].name << ", " << text.size() << " in pieces of " << piece;
            }
        }
    }
}

TEST_P(ShaSplitTest, random_cuts_against_openssl)
{
    std::mt19937 random(2);
    const Session session(engine);
    for (int i = 0; i < times(300); ++i) {
        const ShaKind &kind = sha_kinds[random() % 3];
        const std::size_t len = 1 + (std::size_t{random()} << 20 | random()) % (std::size_t{1} << (1 + random() % 15));
        const BufHandle to = response();
        std::size_t done = 0;
        for (int pieces = 0; pieces < 20; ++pieces) {
            const std::size_t piece = (1 + random() % 32) * kind.block_size;
            if (piece >= len - done)
                break;
            ASSERT_EQ(add(session, kind, done, piece, to), DOCA_SUCCESS);
            done += piece;
        }
        ASSERT_EQ(finish(session, kind, done, len - done), expected(kind, len)) << kind.name << ", " << len;
    }
}

TEST_P(ShaPartialTest, sessions_take_turns)
{
    const Session a(engine), b(engine), c(engine);
    const BufHandle to = response();
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(add(a, sha1, 128 * i, 128, to), DOCA_SUCCESS);
        EXPECT_EQ(add(b, sha512, 128 * i, 128, to), DOCA_SUCCESS);
        EXPECT_EQ(add(c, sha1, 64 * i, 64, to), DOCA_SUCCESS);
        const BufHandle from = request(0, 11), whole = response(); // and messages in one job between them
        EXPECT_EQ(engine.hash(sha1, from, whole), DOCA_SUCCESS);
        EXPECT_EQ(text_of(whole), expected(sha1, 11));
    }
    EXPECT_EQ(finish(b, sha512, 512, 5), expected(sha512, 517));
    EXPECT_EQ(finish(a, sha1, 512, 5), expected(sha1, 517));
    EXPECT_EQ(finish(c, sha1, 256, 5), expected(sha1, 261));
}

TEST_P(ShaPartialTest, pieces_of_two_sessions_in_flight_at_once)
{
    const Session a(engine), b(engine);
    const BufHandle from = request(0, 50);
    const BufHandle to_a = inventory.empty(digest_map, &digest_memory[0], 64);
    const BufHandle to_b = inventory.empty(digest_map, &digest_memory[64], 64);
    EXPECT_EQ(engine.submit(a.job(sha256, from, to_a, true)), DOCA_SUCCESS);
    EXPECT_EQ(engine.submit(b.job(sha512, from, to_b, true)), DOCA_SUCCESS);
    EXPECT_EQ(engine.result_of(sha256.partial_job), DOCA_SUCCESS);
    EXPECT_EQ(engine.result_of(sha512.partial_job), DOCA_SUCCESS);
    EXPECT_EQ(text_of(to_a), expected(sha256, 50));
    EXPECT_EQ(text_of(to_b), expected(sha512, 50));
}

TEST_P(ShaPartialTest, one_piece_of_a_session_in_flight)
{
    const Session session(engine), other(engine);
    const BufHandle first = request(0, 128), second = request(128, 10), to = response();
    ASSERT_EQ(engine.submit(session.job(sha256, first, to, false)), DOCA_SUCCESS);
    EXPECT_EQ(engine.submit(session.job(sha256, second, to, true)), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(session.copy_to(other), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(other.copy_to(session), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_partial_session_destroy(engine.sha(), engine.workq(), session), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(engine.result_of(sha256.partial_job), DOCA_SUCCESS);
    EXPECT_EQ(session.run(sha256, second, to, true), DOCA_SUCCESS);
    EXPECT_EQ(text_of(to), expected(sha256, 138));
}

/// No event reports the end of the piece, and its session is free all the same.
TEST_P(ShaPartialTest, a_piece_of_a_graph_node_without_an_event_frees_its_session)
{
    const Session session(engine);
    const BufHandle first = request(0, 64), second = request(64, 10), to = response();
    doca_sha_partial_job piece = session.job(sha256, first, to, false);
    {
        TestGraph graph;
        doca_graph_node *const node = graph.add_job(sha256.partial_job, engine.ctx());
        graph.start_on(engine.workq());
        const InstanceHandle instance = graph.instance();
        must(doca_graph_instance_set_ctx_node_data(instance, node, &piece.sha_job.base, nullptr));
        EXPECT_EQ(run_instance(engine.workq(), instance), DOCA_SUCCESS);
    }
    EXPECT_EQ(session.run(sha256, second, to, true), DOCA_SUCCESS);
    EXPECT_EQ(text_of(to), expected(sha256, 74));
}

TEST_P(ShaPartialTest, pieces_of_another_kind)
{
    const Session session(engine);
    const BufHandle to = response();
    EXPECT_EQ(add(session, sha256, 0, 128, to), DOCA_SUCCESS);
    for (const ShaKind &kind : {sha1, sha512}) {
        EXPECT_EQ(add(session, kind, 128, 128, to), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(add(session, kind, 128, 10, to, true), DOCA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(finish(session, sha256, 128, 10), expected(sha256, 138));
    EXPECT_EQ(finish(session, sha512, 0, 10), expected(sha512, 10)) << "the next message may be of any kind";
}

TEST_P(ShaPartialTest, sessions_of_others)
{
    const ShaEngine elsewhere(dev);
    WorkqHandle second;
    must(doca_workq_create(1, second.out()));
    must(doca_ctx_workq_add(engine.ctx(), second));
    doca_sha_partial_session *of_second = nullptr;
    must(doca_sha_partial_session_create(engine.sha(), second, &of_second));
    {
        const Session own(engine), foreign(elsewhere);
        const BufHandle from = request(0, 10), to = response();
        for (doca_sha_partial_session *const session : {static_cast<doca_sha_partial_session *>(nullptr),
                                                        static_cast<doca_sha_partial_session *>(foreign), of_second}) {
            EXPECT_EQ(engine.run(piece_job(engine.ctx(), sha1, from, to, session, true)), DOCA_ERROR_INVALID_VALUE);
            EXPECT_EQ(doca_sha_partial_session_destroy(engine.sha(), engine.workq(), session),
                      DOCA_ERROR_INVALID_VALUE);
            EXPECT_EQ(own.copy_to(session), DOCA_ERROR_INVALID_VALUE);
            EXPECT_EQ(doca_sha_partial_session_copy(engine.sha(), engine.workq(), session, own),
                      DOCA_ERROR_INVALID_VALUE);
        }
        EXPECT_EQ(data_len_of(to), 0u);
    }
    EXPECT_EQ(doca_ctx_workq_rm(engine.ctx(), second), DOCA_SUCCESS);
    EXPECT_EQ(doca_sha_partial_session_destroy(engine.sha(), second, of_second), DOCA_SUCCESS)
        << "also when the queue was taken off";
}

TEST_P(ShaPartialTest, create_refuses_bad_values)
{
    WorkqHandle workq;
    must(doca_workq_create(1, workq.out()));
    doca_sha_partial_session *session = untouched<doca_sha_partial_session>();
    EXPECT_EQ(doca_sha_partial_session_create(nullptr, engine.workq(), &session), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_partial_session_create(engine.sha(), nullptr, &session), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_partial_session_create(engine.sha(), engine.workq(), nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_partial_session_create(engine.sha(), workq, &session), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(session, untouched<doca_sha_partial_session>());
    const Session own(engine);
    EXPECT_EQ(doca_sha_partial_session_destroy(nullptr, engine.workq(), own), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_partial_session_destroy(engine.sha(), nullptr, own), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_partial_session_copy(nullptr, engine.workq(), own, own), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_sha_partial_session_copy(engine.sha(), nullptr, own, own), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(ShaPartialTest, a_session_outlives_a_break_of_its_queue)
{
    const Session session(engine);
    const BufHandle to = response();
    EXPECT_EQ(add(session, sha256, 0, 128, to), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_rm(engine.ctx(), engine.workq()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_add(engine.ctx(), engine.workq()), DOCA_SUCCESS);
    EXPECT_EQ(finish(session, sha256, 128, 10), expected(sha256, 138));
}

// Copies

TEST_P(ShaPartialTest, messages_with_the_same_beginning)
{
    const Session session(engine), copy(engine);
    const BufHandle to = response();
    for (const ShaKind &kind : sha_kinds) {
        EXPECT_EQ(add(session, kind, 0, 256, to), DOCA_SUCCESS);
        EXPECT_EQ(session.copy_to(copy), DOCA_SUCCESS);
        EXPECT_EQ(finish(session, kind, 256, 100), expected(kind, 356));
        EXPECT_EQ(add(copy, kind, 256, 128, to), DOCA_SUCCESS);
        EXPECT_EQ(finish(copy, kind, 384, 1), expected(kind, 385));
    }
}

TEST_P(ShaPartialTest, a_copy_replaces_a_begun_message)
{
    const Session session(engine), copy(engine);
    const BufHandle to = response();
    EXPECT_EQ(add(copy, sha512, 512, 128, to), DOCA_SUCCESS);
    EXPECT_EQ(add(session, sha1, 0, 64, to), DOCA_SUCCESS);
    EXPECT_EQ(session.copy_to(copy), DOCA_SUCCESS);
    EXPECT_EQ(add(copy, sha512, 640, 128, to), DOCA_ERROR_INVALID_VALUE) << "it is a SHA-1 now";
    EXPECT_EQ(finish(copy, sha1, 64, 10), expected(sha1, 74));

    EXPECT_EQ(copy.copy_to(session), DOCA_SUCCESS) << "between two messages";
    EXPECT_EQ(finish(session, sha1, 0, 10), expected(sha1, 10)) << "what had begun is gone";
}

TEST_P(ShaPartialTest, a_copy_to_itself_changes_nothing)
{
    const Session session(engine);
    const BufHandle to = response();
    EXPECT_EQ(add(session, sha256, 0, 64, to), DOCA_SUCCESS);
    EXPECT_EQ(session.copy_to(session), DOCA_SUCCESS);
    EXPECT_EQ(finish(session, sha256, 64, 10), expected(sha256, 74));
}

} // namespace
