// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A progress engine: its descriptor, and many contexts on it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/epoll.h>

#include "dma_tasks.hpp"

using namespace doca_test;

namespace {

bool is_readable(int fd, int timeout_ms)
{
    pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&entry, 1, timeout_ms) == 1;
}

class PeV3 : public DmaTaskTest {
protected:
    static constexpr int polls_for_idle = 6000; ///< more than the engine needs to poll contexts less often
    static constexpr int soon = 10000;          ///< ms; a wake-up that comes never fails the test by then

    [[nodiscard]] int handle() const
    {
        doca_notification_handle_t handle = -1;
        must(doca_pe_get_notification_handle(pe, &handle));
        return handle;
    }
    /// The loop of a program that sleeps: progress until there is nothing, request, wait, clear.
    void sleep_until(const std::function<bool()> &is_done) const
    {
        const int fd = handle();
        while (!is_done()) {
            if (progress())
                continue;
            must(doca_pe_request_notification(pe));
            ASSERT_TRUE(is_readable(fd, soon)) << "a wake-up was lost";
            must(doca_pe_clear_notification(pe, 0));
        }
    }
};

TEST_P(PeV3, ItsDescriptorIsReadableWhenThereIsSomethingToDo)
{
    DmaContext dma{dev, pe, 4};
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    const BufHandle src = source(0, 64);
    const BufHandle dst = destination(0, 640);
    Copy copy;
    ASSERT_EQ(dma.alloc(copy, src, dst), DOCA_SUCCESS);
    const int fd = handle();
    EXPECT_FALSE(is_readable(fd, 0));
    // Submitted before the request, or after it.
    ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    sleep_until([&] { return copy.num_succeeded == 1; });
    ASSERT_EQ(doca_pe_request_notification(pe), DOCA_SUCCESS);
    EXPECT_FALSE(is_readable(fd, 0));
    ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    EXPECT_TRUE(is_readable(fd, soon));
    ASSERT_EQ(doca_pe_clear_notification(pe, 0), DOCA_SUCCESS);
    sleep_until([&] { return copy.num_succeeded == 2; });
    EXPECT_EQ(handle(), fd);
    // A request clears what was not cleared.
    ASSERT_EQ(doca_pe_request_notification(pe), DOCA_SUCCESS);
    ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    EXPECT_TRUE(is_readable(fd, soon));
    run_until([&] { return copy.num_succeeded == 3; });
    ASSERT_EQ(doca_pe_request_notification(pe), DOCA_SUCCESS);
    EXPECT_FALSE(is_readable(fd, 0));
    doca_task_free(copy.as_task());
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_SUCCESS);
}

TEST_P(PeV3, TheLastFreeWakesTheWaiterForIdle)
{
    DmaContext dma{dev, pe, 4};
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    Copy copy;
    ASSERT_EQ(dma.alloc(copy, nullptr, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_ERROR_IN_PROGRESS);
    ASSERT_EQ(doca_pe_request_notification(pe), DOCA_SUCCESS);
    EXPECT_FALSE(is_readable(handle(), 0));
    doca_task_free(copy.as_task());
    EXPECT_TRUE(is_readable(handle(), soon));
    ASSERT_EQ(doca_pe_clear_notification(pe, 0), DOCA_SUCCESS);
    sleep_until([&] { return dma.state() == DOCA_CTX_STATE_IDLE; });
}

TEST_P(PeV3, ManyCopiesOfASleeperAreAllSeen)
{
    ASSERT_EQ(doca_pe_set_event_mode(pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL), DOCA_SUCCESS);
    EXPECT_EQ(doca_pe_set_event_mode(pe, no_value<doca_pe_event_mode>(2)), DOCA_ERROR_INVALID_VALUE);
    constexpr int rounds = 500;
    DmaContext dma{dev, pe, 4};
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    const BufHandle src = source(0, 64);
    const BufHandle dst = destination(0, 64);
    Copy copy;
    ASSERT_EQ(dma.alloc(copy, src, dst), DOCA_SUCCESS);
    copy.then = [&](Copy &self) {
        must(doca_buf_reset_data_len(dst));
        if (self.num_succeeded < rounds) {
            EXPECT_EQ(doca_task_submit(self.as_task()), DOCA_SUCCESS);
        }
    };
    ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    sleep_until([&] { return copy.num_succeeded == rounds; });
    doca_task_free(copy.as_task());
    EXPECT_EQ(doca_ctx_stop(dma.ctx()), DOCA_SUCCESS);
}

TEST_P(PeV3, AThousandTasksInFlightOnTenContexts)
{
    constexpr std::uint32_t num_contexts = 10;
    constexpr std::uint32_t each = 100;
    std::vector<std::unique_ptr<DmaContext>> contexts;
    std::vector<BufHandle> bufs;
    std::vector<Copy> copies(num_contexts * each);
    std::size_t num_ended = 0;
    for (std::uint32_t c = 0; c != num_contexts; ++c) {
        contexts.push_back(std::make_unique<DmaContext>(dev, pe, each));
        ASSERT_EQ(doca_ctx_start(contexts.back()->ctx()), DOCA_SUCCESS);
        for (std::uint32_t i = 0; i != each; ++i) {
            const std::size_t at = (c * each + i) * 32;
            bufs.push_back(source(at, 32));
            bufs.push_back(destination(at, 32));
            Copy &copy = copies[c * each + i];
            ASSERT_EQ(contexts[c]->alloc(copy, bufs[bufs.size() - 2], bufs.back()), DOCA_SUCCESS);
            copy.then = [&](Copy &) { ++num_ended; };
        }
    }
    for (const Copy &copy : copies)
        ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    std::size_t count = 0;
    EXPECT_EQ(doca_pe_get_num_inflight_tasks(pe, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, copies.size());
    run_until([&] { return num_ended == copies.size(); });
    EXPECT_TRUE(std::equal(dst_memory.begin(), dst_memory.begin() + 32000, src_memory.begin()));
    // All contexts had their turn: the end of one stops the others, in their callbacks' places.
    for (const Copy &copy : copies) {
        EXPECT_EQ(copy.num_succeeded, 1);
        doca_task_free(copy.as_task());
    }
    for (const auto &dma : contexts)
        EXPECT_EQ(doca_ctx_stop(dma->ctx()), DOCA_SUCCESS);
    EXPECT_FALSE(progress());
}

TEST_P(PeV3, ABusyContextDoesNotStarveOthers)
{
    DmaContext busy{dev, pe, 1};
    DmaContext other{dev, pe, 1};
    ASSERT_EQ(doca_ctx_start(busy.ctx()), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_start(other.ctx()), DOCA_SUCCESS);
    const BufHandle src = source(0, 64);
    const BufHandle dst = destination(0, 64);
    const BufHandle dst_of_other = destination(64, 64);
    Copy forever;
    Copy copy;
    ASSERT_EQ(busy.alloc(forever, src, dst), DOCA_SUCCESS);
    ASSERT_EQ(other.alloc(copy, src, dst_of_other), DOCA_SUCCESS);
    bool goes_on = true;
    forever.then = [&](Copy &self) {
        must(doca_buf_reset_data_len(dst));
        if (goes_on) {
            EXPECT_EQ(doca_task_submit(self.as_task()), DOCA_SUCCESS);
        }
    };
    ASSERT_EQ(doca_task_submit(forever.as_task()), DOCA_SUCCESS);
    ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    run_until([&] { return copy.has_ended(); });
    goes_on = false;
    run_until([&] { return in_flight(busy.ctx()) == 0; });
    // The one stops the other in its callback, which has nothing in flight: at once.
    doca_task_free(copy.as_task());
    must(doca_buf_reset_data_len(dst));
    forever.then = [&](Copy &) { EXPECT_EQ(doca_ctx_stop(other.ctx()), DOCA_SUCCESS); };
    const int before = forever.num_succeeded;
    ASSERT_EQ(doca_task_submit(forever.as_task()), DOCA_SUCCESS);
    run_until([&] { return forever.num_succeeded == before + 1; });
    EXPECT_EQ(other.state(), DOCA_CTX_STATE_IDLE);
    doca_task_free(forever.as_task());
    EXPECT_EQ(doca_ctx_stop(busy.ctx()), DOCA_SUCCESS);
}

/// After many polls that find nothing, the engine polls most contexts less often. What is submitted to one of them is
/// found by the next poll all the same, and its copy is there.
TEST_P(PeV3, a_context_without_work_for_long_completes_the_next_copy_at_once)
{
    constexpr std::size_t num_contexts = 20;
    std::vector<std::unique_ptr<DmaContext>> contexts;
    std::vector<BufHandle> bufs;
    std::vector<Copy> copies(num_contexts);
    for (std::size_t i = 0; i != num_contexts; ++i) {
        contexts.push_back(std::make_unique<DmaContext>(dev, pe, 1));
        ASSERT_EQ(doca_ctx_start(contexts[i]->ctx()), DOCA_SUCCESS);
        bufs.push_back(source(i * 64, 64));
        bufs.push_back(destination(i * 64, 64));
        ASSERT_EQ(contexts[i]->alloc(copies[i], bufs[2 * i], bufs[2 * i + 1]), DOCA_SUCCESS);
    }
    for (int round = 1; round != 4; ++round) {
        for (int i = 0; i != polls_for_idle; ++i)
            ASSERT_FALSE(progress());
        for (std::size_t i = 0; i != num_contexts; ++i) {
            must(doca_buf_reset_data_len(bufs[2 * i + 1]));
            ASSERT_EQ(doca_task_submit(copies[i].as_task()), DOCA_SUCCESS);
            if (is_soft(GetParam())) {
                EXPECT_TRUE(progress());
                EXPECT_EQ(copies[i].num_succeeded, round) << "of context " << i;
            }
            run_until([&] { return copies[i].num_succeeded == round; });
        }
        EXPECT_TRUE(std::equal(dst_memory.begin(), dst_memory.begin() + num_contexts * 64, src_memory.begin()));
        std::ranges::fill(dst_memory, std::byte{0});
    }
    // A stop is no less prompt.
    for (int i = 0; i != polls_for_idle; ++i)
        ASSERT_FALSE(progress());
    for (std::size_t i = 0; i != num_contexts; ++i) {
        EXPECT_EQ(doca_ctx_stop(contexts[i]->ctx()), DOCA_ERROR_IN_PROGRESS);
        doca_task_free(copies[i].as_task());
        EXPECT_TRUE(progress());
        EXPECT_EQ(contexts[i]->state(), DOCA_CTX_STATE_IDLE);
    }
}

/// Contexts start, copy, wait and stop in random order, some inside of the callbacks of others, by a program that polls
/// and sleeps. Each copy comes back once.
TEST_P(PeV3, contexts_come_and_go_among_others_without_work)
{
    constexpr std::size_t num_contexts = 24;
    const std::uint32_t seed = std::random_device()();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::minstd_rand random(seed);
    const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
    struct Slot {
        std::unique_ptr<DmaContext> context;
        BufHandle src, dst;
        Copy copy;
        int num_submitted = 0;
    };
    std::vector<Slot> slots(num_contexts);
    const auto start = [&](std::size_t i) {
        Slot &slot = slots[i];
        slot.context = std::make_unique<DmaContext>(dev, pe, 1);
        must(doca_ctx_start(slot.context->ctx()));
        slot.src = source(i * 64, 64);
        slot.dst = destination(i * 64, 64);
        slot.copy = Copy{};
        slot.num_submitted = 0;
        must(slot.context->alloc(slot.copy, slot.src, slot.dst));
    };
    /// All copies of the slot must have come back.
    const auto stop = [&](std::size_t i) {
        Slot &slot = slots[i];
        doca_task_free(slot.copy.as_task());
        must(doca_ctx_stop(slot.context->ctx()));
        slot.context.reset();
    };
    for (int step = 0; step != 600; ++step) {
        const std::size_t i = pick(num_contexts), other = pick(num_contexts);
        Slot &slot = slots[i];
        switch (pick(6)) {
        case 0:
            if (slot.context == nullptr)
                start(i);
            break;
        case 1:
            if (slot.context != nullptr)
                stop(i);
            break;
        case 2:
            for (std::uint32_t left = pick(polls_for_idle); left != 0; --left)
                ASSERT_FALSE(progress());
            break;
        default:
            if (slot.context == nullptr)
                break;
            must(doca_buf_reset_data_len(slot.dst));
            slot.copy.then = [&, other, i](Copy &) {
                if (other != i && slots[other].context != nullptr)
                    stop(other);
                else if (other != i)
                    start(other);
            };
            ++slot.num_submitted;
            ASSERT_EQ(doca_task_submit(slot.copy.as_task()), DOCA_SUCCESS);
            const auto has_come_back = [&] { return slot.copy.num_succeeded == slot.num_submitted; };
            if (pick(2) == 0)
                run_until(has_come_back);
            else
                sleep_until(has_come_back);
        }
    }
    for (std::size_t i = 0; i != num_contexts; ++i) {
        if (slots[i].context != nullptr)
            stop(i);
    }
    EXPECT_FALSE(progress());
}

TEST(PeWithoutContexts, HasNothingToDo)
{
    PeHandle pe;
    EXPECT_EQ(doca_pe_create(nullptr), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(doca_pe_create(pe.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_pe_progress(pe), 0);
    EXPECT_EQ(doca_pe_progress(nullptr), 0);
    doca_notification_handle_t handle = -1;
    EXPECT_EQ(doca_pe_get_notification_handle(pe, &handle), DOCA_SUCCESS);
    EXPECT_EQ(doca_pe_request_notification(pe), DOCA_SUCCESS);
    EXPECT_FALSE(is_readable(handle, 0));
    EXPECT_EQ(doca_pe_clear_notification(pe, 0), DOCA_SUCCESS);
    EXPECT_EQ(doca_pe_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
}

INSTANTIATE_FOR_COPYING_DEVICES(PeV3);

} // namespace
