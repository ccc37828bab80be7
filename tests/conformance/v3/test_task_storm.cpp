// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Random programs: ten contexts of one engine, whose tasks are submitted, freed on their way, submitted again and
// spoiled, whose contexts are stopped and started, in callbacks and outside of them. Whatever happens, each task comes
// back once, with the right bytes, and each context becomes idle. A failure names its seed.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../support/environment.hpp"
#include "dma_tasks.hpp"
#include "storm_seeds.hpp"

namespace {

using namespace doca_test;

constexpr std::uint32_t num_contexts = 10;
constexpr std::uint32_t num_tasks = 100; // of each context
constexpr std::size_t slot_size = 64;

/// A task's place: its buffers, and where it is.
struct Slot {
    enum class Where { nowhere, in_flight, given_up };

    Copy copy;
    Where where = Where::nowhere;
    bool is_spoiled = false; ///< it has nothing to copy
    BufHandle src;
    BufHandle dst;
};

class Storm {
public:
    Storm(doca_dev *device, std::uint32_t seed) : random_(seed), dev_(device)
    {
        must(doca_pe_create(pe_.out()));
        for (std::size_t i = 0; i != from_.size(); ++i)
            from_[i] = static_cast<std::byte>(i * 7 + seed);
        from_map_ = map_of(dev_, from_);
        to_map_ = map_of(dev_, to_);
        inventory_ = inventory_of(std::size_t{2} * num_contexts * num_tasks);
        for (std::uint32_t i = 0; i != num_contexts; ++i) {
            contexts_[i] = std::make_unique<DmaContext>(dev_, pe_, num_tasks);
            contexts_[i]->on_change = [this, i](StateChange change) { changed(i, change); };
            for (std::uint32_t k = 0; k != num_tasks; ++k) {
                Slot &slot = slots_[i][k];
                const std::size_t at = (std::size_t{i} * num_tasks + k) * slot_size;
                must(doca_buf_inventory_buf_get_by_data(inventory_, from_map_, &from_[at], slot_size, slot.src.out()));
                must(doca_buf_inventory_buf_get_by_addr(inventory_, to_map_, &to_[at], slot_size, slot.dst.out()));
                slot.copy.then = [this, i, k](Copy &) { ended(i, slots_[i][k]); };
            }
        }
    }

    void run(std::uint32_t num_steps)
    {
        for (std::uint32_t step = 0; step != num_steps && !testing::Test::HasFailure(); ++step) {
            const std::uint32_t i = pick(num_contexts);
            switch (pick(16)) {
            case 0:
                if (pick(8) == 0)
                    (void)doca_ctx_stop(contexts_[i]->ctx());
                break;
            case 1:
                if (pick(4) == 0)
                    give_one_up(i);
                break;
            case 2:
                doze();
                break;
            case 3:
            case 4:
            case 5:
                // Contexts are parked after a long time without work.
                for (std::uint32_t left = pick(500) == 0 ? polls_until_parked : 1; left != 0; --left)
                    (void)doca_pe_progress(pe_);
                break;
            default:
                if (contexts_[i]->state() == DOCA_CTX_STATE_IDLE) {
                    EXPECT_EQ(doca_ctx_start(contexts_[i]->ctx()), DOCA_SUCCESS);
                } else {
                    submit_one(i);
                }
            }
            check_count();
        }
        for (std::uint32_t i = 0; i != num_contexts; ++i) {
            is_over_ = true;
            (void)doca_ctx_stop(contexts_[i]->ctx());
            for (int left = 1'000'000; left != 0 && contexts_[i]->state() != DOCA_CTX_STATE_IDLE; --left)
                (void)doca_pe_progress(pe_);
            EXPECT_EQ(contexts_[i]->state(), DOCA_CTX_STATE_IDLE);
            for (const Slot &slot : slots_[i])
                EXPECT_EQ(slot.where, Slot::Where::nowhere);
        }
        EXPECT_EQ(num_submitted, num_ended + num_given_up);
    }

    std::uint64_t num_submitted = 0;
    std::uint64_t num_ended = 0;
    std::uint64_t num_failed = 0;
    std::uint64_t num_given_up = 0;
    std::uint64_t num_stops = 0;

private:
    std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

    void submit_one(std::uint32_t i)
    {
        Slot &slot = slots_[i][pick(num_tasks)];
        if (slot.where != Slot::Where::nowhere)
            return;
        slot.is_spoiled = pick(500) == 0;
        const doca_error_t status = contexts_[i]->alloc(slot.copy, slot.src, slot.dst);
        if (contexts_[i]->state() != DOCA_CTX_STATE_RUNNING) {
            EXPECT_EQ(status, DOCA_ERROR_BAD_STATE);
            return;
        }
        if (status == DOCA_ERROR_NO_MEMORY) { // those that were given up are not back yet
            return;
        }
        ASSERT_EQ(status, DOCA_SUCCESS);
        submit(slot);
    }

    /// The task is the program's, in a callback or not. If it is refused, it is freed.
    void submit(Slot &slot)
    {
        must(doca_buf_set_data_len(slot.src, slot.is_spoiled ? 0 : slot_size));
        must(doca_buf_reset_data_len(slot.dst));
        slot.copy.num_succeeded = slot.copy.num_failed = 0;
        slot.where = Slot::Where::in_flight;
        const doca_error_t status = doca_task_submit(slot.copy.as_task());
        if (status == DOCA_SUCCESS) {
            ++num_submitted;
            return;
        }
        EXPECT_TRUE(status == DOCA_ERROR_AGAIN || status == DOCA_ERROR_BAD_STATE) << status;
        slot.where = Slot::Where::nowhere;
        doca_task_free(slot.copy.as_task());
    }

    void ended(std::uint32_t i, Slot &slot)
    {
        ++num_ended;
        EXPECT_EQ(slot.where, Slot::Where::in_flight) << "a task came back that was not on its way";
        EXPECT_EQ(slot.copy.num_succeeded + slot.copy.num_failed, 1);
        slot.where = Slot::Where::nowhere;
        num_failed += static_cast<std::uint64_t>(slot.copy.num_failed);
        if (slot.copy.num_succeeded != 0) {
            EXPECT_FALSE(slot.is_spoiled);
            EXPECT_EQ(slot.copy.status, DOCA_SUCCESS);
            check_bytes(slot);
        } else {
            EXPECT_NE(slot.copy.status, DOCA_SUCCESS);
        }
        const std::uint32_t what = is_over_ ? 0 : pick(8);
        if (what < 3) {
            slot.is_spoiled = false;
            submit(slot);
        } else {
            doca_task_free(slot.copy.as_task());
        }
        if (what == 7 && pick(64) == 0) {
            EXPECT_EQ(doca_ctx_stop(contexts_[i]->ctx()), DOCA_ERROR_IN_PROGRESS) << "this task still counts";
        }
        if (what == 6)
            submit_one(pick(num_contexts));
    }

    void check_bytes(const Slot &slot) const
    {
        void *src = nullptr, *dst = nullptr;
        must(doca_buf_get_data(slot.src, &src));
        must(doca_buf_get_data(slot.dst, &dst));
        EXPECT_EQ(data_len_of(slot.dst), slot_size);
        EXPECT_EQ(0, std::memcmp(src, dst, slot_size));
    }

    void changed(std::uint32_t i, StateChange change)
    {
        if (change.to != DOCA_CTX_STATE_IDLE)
            return;
        ++num_stops;
        EXPECT_EQ(in_flight(contexts_[i]->ctx()), 0u);
        for (Slot &slot : slots_[i]) {
            EXPECT_NE(slot.where, Slot::Where::in_flight) << "a context is idle, and has not given this task back";
            slot.where = Slot::Where::nowhere;
        }
    }

    /// Frees a task on its way, of which nobody hears again. Its buffers stay until the context is idle.
    void give_one_up(std::uint32_t i)
    {
        Slot &slot = slots_[i][pick(num_tasks)];
        if (slot.where != Slot::Where::in_flight)
            return;
        slot.where = Slot::Where::given_up;
        ++num_given_up;
        doca_task_free(slot.copy.as_task());
    }

    /// Sleeps no time: what is there has to be seen, and what is submitted meanwhile has to work.
    void doze()
    {
        must(doca_pe_request_notification(pe_));
        submit_one(pick(num_contexts));
        must(doca_pe_clear_notification(pe_, 0));
    }

    void check_count() const
    {
        std::size_t in_engine = 0, given_up = 0, here = 0;
        must(doca_pe_get_num_inflight_tasks(pe_, &in_engine));
        for (const auto &slots : slots_) {
            for (const Slot &slot : slots) {
                here += slot.where == Slot::Where::in_flight;
                given_up += slot.where == Slot::Where::given_up;
            }
        }
        EXPECT_GE(in_engine, here);
        EXPECT_LE(in_engine, here + given_up);
    }

    std::minstd_rand random_;
    bool is_over_ = false;
    doca_dev *dev_;
    std::vector<std::byte> from_ = std::vector<std::byte>(num_contexts * num_tasks * slot_size);
    std::vector<std::byte> to_ = std::vector<std::byte>(num_contexts * num_tasks * slot_size);
    PeHandle pe_;
    MmapHandle from_map_, to_map_;
    InventoryHandle inventory_;
    std::array<std::array<Slot, num_tasks>, num_contexts> slots_{};
    std::array<std::unique_ptr<DmaContext>, num_contexts> contexts_;
};

class TaskStorm : public testing::TestWithParam<std::string> {
protected:
    /// What becomes of a storm is the device's matter, too: of all of them together, all kinds of ends are certain.
    void run()
    {
        const std::uint32_t count = storms();
        std::uint64_t num_ended = 0, num_failed = 0, num_given_up = 0, num_stops = 0;
        with_seeds(count, [&](std::uint32_t seed) {
            const DevHandle dev = open_device(GetParam());
            const auto one = std::make_unique<Storm>(dev, seed);
            one->run(20'000);
            num_ended += one->num_ended;
            num_failed += one->num_failed;
            num_given_up += one->num_given_up;
            num_stops += one->num_stops;
        });
        EXPECT_GT(num_ended, count * 2'000);
        EXPECT_GT(num_failed, 0u);
        EXPECT_GT(num_given_up, 0u);
        EXPECT_GT(num_stops, count * num_contexts);
    }
};

TEST_P(TaskStorm, each_task_comes_back_once)
{
    run();
}

TEST_P(TaskStorm, each_task_comes_back_once_from_a_device_that_fails)
{
    if (!is_soft(GetParam()))
        GTEST_SKIP() << "only software devices fail on request";
    const Environment faults("DOCA_SOFT_FAULTS", "job:dma=0.1%,full:dma=2%");
    run();
}

INSTANTIATE_FOR_COPYING_DEVICES(TaskStorm);

} // namespace
