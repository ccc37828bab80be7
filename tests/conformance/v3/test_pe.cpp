// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A progress engine: its descriptor, and many contexts on it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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
    static constexpr int soon = 10000; ///< ms; a wake-up that comes never fails the test by then

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
