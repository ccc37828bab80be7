// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SHA: contexts, work queues, sessions and their pieces, by calls at random: see model.hpp. OpenSSL makes the same
// digests.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../conformance/support/sha_fixture.hpp"
#include "model.hpp"
#include "queued_ctx.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t num_ctxs = 2, num_sessions = 5;
constexpr std::uint32_t depth = 4;
constexpr std::size_t message_size = 1024, longest_message = 8192, room = 64;

struct Ctx : QueuedCtx {
    doca_sha *sha = nullptr;
};

struct SessionModel {
    doca_sha_partial_session *session = nullptr;
    std::size_t ctx = 0, workq = 0;
    const ShaKind *kind = nullptr;  ///< of the message that has begun
    std::vector<std::byte> message; ///< as far as it has come
    bool is_busy = false;
};

struct Job {
    std::uint64_t number = 0;
    std::size_t ctx = 0;
    int type = 0;
    SessionModel *session = nullptr;
    BufHandle request, response;
    std::string digest; ///< that the response is to hold, if any
};

class ShaModelTest : public DeviceTest, protected Model<doca_get_error_name> {
protected:
    void SetUp() override
    {
        fill(memory, static_cast<std::uint32_t>(seed));
        for (doca_workq *&workq : workqs)
            must(doca_workq_create(depth, &workq));
        for (Ctx &ctx : ctxs) {
            must(doca_sha_create(&ctx.sha));
            must(doca_ctx_dev_add(doca_sha_as_ctx(ctx.sha), dev));
        }
    }

    void step();
    void do_ctx(Ctx &ctx);
    void do_session(SessionModel &session);
    void copy(const SessionModel &from, SessionModel &to);
    void submit(std::size_t c, std::size_t q);
    [[nodiscard]] doca_error_t plan_piece(const SessionModel &session, const Job &job, const ShaKind &kind,
                                          std::size_t length, bool is_last) const;
    void retrieve(std::size_t q);
    void clean_up();

    std::vector<std::byte> memory = std::vector<std::byte>(message_size);
    std::vector<std::byte> digests = std::vector<std::byte>(num_workqs * depth * 2 * room);
    LocalMap map{dev, memory};
    LocalMap digest_map{dev, digests};
    Inventory inventory{4 * num_workqs * depth};
    std::array<Ctx, num_ctxs> ctxs;
    std::array<doca_workq *, num_workqs> workqs{};
    std::array<SessionModel, num_sessions> sessions;
    std::array<std::vector<Job>, num_workqs> jobs;
    std::uint64_t num_jobs = 0, num_ends = 0;
};

void ShaModelTest::do_ctx(Ctx &ctx)
{
    doca_ctx *const base = doca_sha_as_ctx(ctx.sha);
    const std::size_t q = below(num_workqs);
    switch (below(8)) {
    case 0:
    case 1:
        if (answers("ctx_start", doca_ctx_start(base), unless(ctx.is_started, DOCA_ERROR_BAD_STATE)))
            ctx.is_started = true;
        break;
    case 2:
        if (one_in(4) && answers("ctx_stop", doca_ctx_stop(base), ctx.stop()))
            ctx.is_started = false;
        break;
    case 3:
        if (one_in(4) && answers("ctx_workq_rm", doca_ctx_workq_rm(base, workqs[q]), ctx.workq_rm(q)))
            ctx.is_on[q] = false;
        break;
    case 4:
        if (ctx.is_started) {
            (void)answers("sha_destroy", doca_sha_destroy(ctx.sha), DOCA_ERROR_IN_USE);
        }
        break;
    default:
        if (answers("ctx_workq_add", doca_ctx_workq_add(base, workqs[q]), ctx.workq_add(q)))
            ctx.is_on[q] = true;
    }
}

void ShaModelTest::do_session(SessionModel &session)
{
    const std::size_t c = below(num_ctxs), q = below(num_workqs);
    if (session.session == nullptr) {
        doca_sha_partial_session *made = nullptr;
        if (answers("session_create", doca_sha_partial_session_create(ctxs[c].sha, workqs[q], &made),
                    unless(!ctxs[c].is_on[q], DOCA_ERROR_INVALID_VALUE)))
            session = {made, c, q, nullptr, {}, false};
        return;
    }
    const bool is_its = c == session.ctx && q == session.workq;
    if (one_in(2))
        copy(session, sessions[below(num_sessions)]);
    else if (one_in(3) &&
             answers("session_destroy", doca_sha_partial_session_destroy(ctxs[c].sha, workqs[q], session.session),
                     unless(!is_its || session.is_busy, DOCA_ERROR_INVALID_VALUE)))
        session.session = nullptr;
}

void ShaModelTest::copy(const SessionModel &from, SessionModel &to)
{
    if (to.session == nullptr)
        return;
    const bool is_possible = to.ctx == from.ctx && to.workq == from.workq && !from.is_busy && !to.is_busy;
    if (answers("session_copy",
                doca_sha_partial_session_copy(ctxs[from.ctx].sha, workqs[from.workq], from.session, to.session),
                unless(!is_possible, DOCA_ERROR_INVALID_VALUE))) {
        to.kind = from.kind;
        to.message = std::vector(from.message);
    }
}

doca_error_t ShaModelTest::plan_piece(const SessionModel &session, const Job &job, const ShaKind &kind,
                                      std::size_t length, bool is_last) const
{
    const bool fits = data_len_of(job.request) != 0;
    return unless(
        !fits, DOCA_ERROR_INVALID_VALUE,
        unless(session.is_busy, DOCA_ERROR_BAD_STATE,
               unless((session.kind != nullptr && session.kind != &kind) || (!is_last && length % kind.block_size != 0),
                      DOCA_ERROR_INVALID_VALUE)));
}

void ShaModelTest::submit(std::size_t c, std::size_t q)
{
    Ctx &ctx = ctxs[c];
    const ShaKind &kind = sha_kinds[below(std::size(sha_kinds))];
    Job job;
    job.number = ++num_jobs;
    job.ctx = c;
    std::size_t length = one_in(16) ? 0 : 1 + below(message_size);
    if (!one_in(4))
        length -= length % kind.block_size;
    const std::size_t at = below(message_size - length + 1);
    const bool has_room = !one_in(16);
    std::size_t slot = 0; // one that no job has
    while (std::ranges::any_of(jobs, [&](const std::vector<Job> &all) {
        return std::ranges::any_of(all, [&](const Job &one) { return data_of(one.response) == &digests[slot * room]; });
    }))
        ++slot;
    job.request = inventory.full(map, &memory[at], length);
    job.response = inventory.empty(digest_map, &digests[slot * room], has_room ? room : kind.digest_size - 1);
    const std::span<const std::byte> bytes = std::span(memory).subspan(at, length);
    const bool is_full = jobs[q].size() == depth;
    doca_error_t status = DOCA_SUCCESS, wanted = ctx.submit(q);
    if (one_in(2)) {
        doca_sha_job whole = sha_job(doca_sha_as_ctx(ctx.sha), kind, job.request, job.response);
        job.type = whole.base.type;
        whole.base.user_data.u64 = job.number;
        wanted = unless(wanted != DOCA_SUCCESS, wanted,
                        unless(!has_room, DOCA_ERROR_INVALID_VALUE, unless(is_full, DOCA_ERROR_NO_MEMORY)));
        status = doca_workq_submit(workqs[q], &whole.base);
        if (answers("workq_submit of a message", status, wanted))
            job.digest = openssl_digest(kind, bytes);
    } else {
        SessionModel &session = sessions[below(num_sessions)];
        if (session.session == nullptr)
            return;
        const bool is_its = session.ctx == c && session.workq == q;
        const bool is_last = one_in(3) || session.message.size() + length > longest_message;
        doca_sha_partial_job piece =
            piece_job(doca_sha_as_ctx(ctx.sha), kind, job.request, job.response, session.session, is_last);
        job.type = piece.sha_job.base.type;
        piece.sha_job.base.user_data.u64 = job.number;
        wanted = unless(wanted != DOCA_SUCCESS, wanted,
                        unless(!is_its || length == 0 || !has_room, DOCA_ERROR_INVALID_VALUE,
                               plan_piece(session, job, kind, length, is_last)));
        wanted = unless(wanted != DOCA_SUCCESS, wanted, unless(is_full, DOCA_ERROR_NO_MEMORY));
        status = doca_workq_submit(workqs[q], &piece.sha_job.base);
        if (answers("workq_submit of a piece", status, wanted)) {
            job.session = &session;
            session.is_busy = true;
            session.kind = &kind;
            session.message.insert(session.message.end(), bytes.begin(), bytes.end());
            if (is_last) {
                job.digest = openssl_digest(kind, session.message);
                session.kind = nullptr;
                session.message.clear();
            }
        }
    }
    if (status != DOCA_SUCCESS)
        return;
    ++ctx.in_flight[q];
    jobs[q].push_back(std::move(job));
}

void ShaModelTest::retrieve(std::size_t q)
{
    doca_event event = {};
    if (jobs[q].empty()) {
        (void)answers("progress_retrieve", doca_workq_progress_retrieve(workqs[q], &event, 0), DOCA_ERROR_AGAIN);
        return;
    }
    if (!answers("progress_retrieve", wait_for(workqs[q], event), DOCA_SUCCESS))
        return;
    const auto job = std::ranges::find(jobs[q], event.user_data.u64, &Job::number);
    if (job == jobs[q].end() || job->type != event.type)
        return complain("no such job");
    EXPECT_EQ(hex({data_of(job->response), data_len_of(job->response)}), job->digest) << where();
    if (job->session != nullptr)
        job->session->is_busy = false;
    --ctxs[job->ctx].in_flight[q];
    ++num_ends;
    jobs[q].erase(job);
}

void ShaModelTest::step()
{
    const std::size_t what = below(10);
    if (what < 2)
        do_ctx(ctxs[below(num_ctxs)]);
    else if (what < 4)
        do_session(sessions[below(num_sessions)]);
    else if (what < 7)
        submit(below(num_ctxs), below(num_workqs));
    else
        retrieve(below(num_workqs));
}

/// In the order that always works.
void ShaModelTest::clean_up()
{
    for (std::size_t q = 0; q != num_workqs; ++q) {
        while (!jobs[q].empty() && !HasFailure())
            retrieve(q);
    }
    for (const SessionModel &session : sessions) {
        if (session.session != nullptr) {
            EXPECT_EQ(doca_sha_partial_session_destroy(ctxs[session.ctx].sha, workqs[session.workq], session.session),
                      DOCA_SUCCESS);
        }
    }
    for (Ctx &ctx : ctxs) {
        doca_ctx *const base = doca_sha_as_ctx(ctx.sha);
        for (std::size_t q = 0; q != num_workqs; ++q) {
            if (ctx.is_on[q]) {
                EXPECT_EQ(doca_ctx_workq_rm(base, workqs[q]), DOCA_SUCCESS);
            }
        }
        if (ctx.is_started) {
            EXPECT_EQ(doca_ctx_stop(base), DOCA_SUCCESS);
        }
        EXPECT_EQ(doca_sha_destroy(ctx.sha), DOCA_SUCCESS);
    }
    for (doca_workq *const workq : workqs) {
        EXPECT_EQ(doca_workq_destroy(workq), DOCA_SUCCESS);
    }
}

TEST_P(ShaModelTest, CallsAndResultsMatchTheModel)
{
    run([&] { step(); });
    if (!HasFailure())
        clean_up();
    tell(num_ends);
}
INSTANTIATE_FOR_DEVICES(ShaModelTest, can_hash);

} // namespace
