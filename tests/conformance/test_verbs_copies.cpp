// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies on RDMA devices of which the device fails one: the work queue's queue pair breaks with it, and all
// others are done all the same. The device is made to fail by a wrong key on a receive's way to it.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <doca_rdma_bridge.h>
#include <infiniband/verbs.h>

#include "support/dma_fixture.hpp"
#include "support/plain_verbs.hpp"

namespace {

using namespace doca_test;

bool copies_by_queue_pairs(doca_devinfo *info)
{
    return can_copy(info) && has_protection_domain(info);
}

/// Stands between the library and a device's ibv_post_recv() for as long as it lives, and spoils some
/// receives.
class Saboteur {
public:
    explicit Saboteur(doca_dev *dev)
    {
        ibv_pd *pd = nullptr;
        must(doca_dev_get_pd(dev, &pd));
        context_ = pd->context;
        real_ = std::exchange(context_->ops.post_recv, post_recv);
        num_seen_ = 0;
        spoiled_.clear();
    }
    Saboteur(const Saboteur &) = delete;
    Saboteur &operator=(const Saboteur &) = delete;
    ~Saboteur() { context_->ops.post_recv = real_; }

    /// Receives that were posted.
    [[nodiscard]] static std::size_t num_seen() { return num_seen_; }
    /// The receive that is posted after @p number others, counted from now on.
    void spoil(std::size_t number) { spoiled_.push_back(num_seen_ + number); }

private:
    static int post_recv(ibv_qp *pair, ibv_recv_wr *request, ibv_recv_wr **bad)
    {
        if (std::ranges::find(spoiled_, num_seen_++) != spoiled_.end())
            request->sg_list[0].lkey ^= 0x00ffff00;
        return real_(pair, request, bad);
    }

    ibv_context *context_;
    static inline int (*real_)(ibv_qp *, ibv_recv_wr *, ibv_recv_wr **) = nullptr;
    static inline std::size_t num_seen_ = 0;
    static inline std::vector<std::size_t> spoiled_;
};

class VerbsCopies : public DmaTest {
protected:
    static constexpr std::size_t num_jobs = 12;
    static constexpr std::size_t part = 1024;

    struct Job {
        BufHandle dst;
        BufHandle src;
    };

    void SetUp() override
    {
        DmaTest::SetUp();
        const Saboteur observer(dev);
        doca_event event = {};
        const BufHandle dst = destination(0, part), src = source(0, part);
        ASSERT_EQ(engine.submit(dst, src, 0), DOCA_SUCCESS);
        ASSERT_EQ(wait_for(engine.workq(), event), DOCA_SUCCESS);
        if (Saboteur::num_seen() == 0)
            GTEST_SKIP() << "the device copies by itself, and posts no receives";
    }
    /// Jobs of different lengths; every third has lists if @p with_lists says so.
    void make_jobs(bool with_lists)
    {
        for (std::size_t i = 0; i != num_jobs; ++i) {
            const std::size_t length = 32 + 70 * i;
            Job job{destination(i * part, part), source(i * part, length)};
            if (with_lists && i % 3 == 1) {
                job.src = source(i * part, length / 2);
                must(doca_buf_list_chain(job.src, source(i * part + length / 2, length - length / 2).release()));
            }
            jobs.push_back(std::move(job));
        }
    }

    void submit_all()
    {
        for (std::size_t i = 0; i != num_jobs; ++i)
            ASSERT_EQ(engine.submit(jobs[i].dst, jobs[i].src, i), DOCA_SUCCESS);
    }

    /// Retrieves all, each once. Gives those that have failed.
    std::vector<std::uint64_t> drain()
    {
        std::vector<std::uint64_t> failed, seen;
        for (std::size_t i = 0; i != num_jobs; ++i) {
            doca_event event = {};
            const doca_error_t status = wait_for(engine.workq(), event);
            EXPECT_EQ(event.type, DOCA_DMA_JOB_MEMCPY);
            seen.push_back(event.user_data.u64);
            if (status != DOCA_SUCCESS) {
                EXPECT_EQ(status, DOCA_ERROR_IO_FAILED);
                EXPECT_NE(event.result.u64, static_cast<std::uint64_t>(DOCA_SUCCESS));
                failed.push_back(event.user_data.u64);
            }
        }
        doca_event event = {};
        EXPECT_EQ(engine.retrieve(event), DOCA_ERROR_AGAIN);
        std::ranges::sort(seen);
        for (std::size_t i = 0; i != num_jobs; ++i)
            EXPECT_EQ(seen[i], i);
        return failed;
    }

    /// Everything has arrived but what is of @p failed, whose destinations are as empty as before.
    void expect_arrived(const std::vector<std::uint64_t> &failed)
    {
        for (std::size_t i = 0; i != num_jobs; ++i) {
            const bool is_failed = std::ranges::find(failed, i) != failed.end();
            const std::size_t length = 32 + 70 * i;
            EXPECT_EQ(data_len_of(jobs[i].dst), is_failed ? 0 : length) << i;
            if (!is_failed) {
                EXPECT_EQ(std::memcmp(&dst_memory[i * part], &src_memory[i * part], length), 0) << i;
            }
            must(doca_buf_reset_data_len(jobs[i].dst));
        }
    }

    void expect_all_well()
    {
        fill(dst_memory, 3);
        submit_all();
        EXPECT_TRUE(drain().empty());
        expect_arrived({});
    }

    void expect_one_failure(std::uint64_t number)
    {
        Saboteur saboteur(dev);
        fill(dst_memory, 4);
        saboteur.spoil(number);
        submit_all();
        const std::vector<std::uint64_t> failed = drain();
        EXPECT_EQ(failed, std::vector<std::uint64_t>{number});
        expect_arrived(failed);
        expect_all_well();
    }

    std::vector<Job> jobs;
};
INSTANTIATE_FOR_DEVICES(VerbsCopies, copies_by_queue_pairs);

TEST_P(VerbsCopies, OneThatFailsHarmsNoOther)
{
    make_jobs(false);
    expect_all_well();
    for (const std::size_t number : {std::size_t{0}, std::size_t{5}, num_jobs - 1})
        expect_one_failure(number);
}

TEST_P(VerbsCopies, OneThatFailsAmongListsHarmsNoOther)
{
    make_jobs(true);
    expect_all_well();
    for (const std::size_t number : {std::size_t{3}, std::size_t{4}, std::size_t{7}})
        expect_one_failure(number);
}

TEST_P(VerbsCopies, SeveralCanFail)
{
    make_jobs(true);
    Saboteur saboteur(dev);
    saboteur.spoil(2);
    // What is posted again is counted again: the receives of the first recovery come after those of all jobs.
    saboteur.spoil(num_jobs + 3);
    fill(dst_memory, 4);
    submit_all();
    const std::vector<std::uint64_t> failed = drain();
    EXPECT_EQ(failed.size(), 2U);
    EXPECT_EQ(std::ranges::count(failed, 2U), 1);
    expect_arrived(failed);
    expect_all_well();
}

} // namespace
