// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Operations that are processed in slices: order, turns, drops and flushes, also of work that ends by itself only.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "../../src/core/engine/sliced_queue.hpp"
#include "front_end.hpp"

using namespace doca_test;

namespace {

/// A source whose operations have as many slices as they are given. Those of another thread end when the test lets
/// them.
class Slices final : public opendoca::SlicedQueue {
public:
    explicit Slices(opendoca::CompletionQueue &completions, bool is_of_another_thread = false)
        : SlicedQueue(completions),
          is_of_another_thread_(is_of_another_thread)
    {
    }

    void submit(Task &task, int num_slices) { append(task.tag()).payload<int>() = num_slices; }
    void let_end() { left_ = 0; }

    int num_turns = 0;
    int num_waits = 0;
    int num_ended = 0;

private:
    [[nodiscard]] doca_error_t begin(opendoca::Operation &operation) noexcept override
    {
        left_ = operation.payload<int>();
        return DOCA_ERROR_IN_PROGRESS;
    }
    [[nodiscard]] doca_error_t advance() noexcept override
    {
        ++num_turns;
        if (is_of_another_thread_ && left_ != 0)
            return DOCA_ERROR_AGAIN;
        return --left_ > 0 ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS;
    }
    [[nodiscard]] bool cancel() noexcept override { return !is_of_another_thread_ || left_ == 0; }
    void wait_and_discard() noexcept override
    {
        ++num_waits;
        left_ = 0;
    }
    void ended(opendoca::Operation &) noexcept override { ++num_ended; }

    const bool is_of_another_thread_;
    int left_ = 0;
};

/// Lets a task note its end.
Task::Callback noted_in(std::vector<Task *> &order)
{
    return [&order](Task &task) { order.push_back(&task); };
}

TEST(SlicedQueue, QueuesOfOneThreadTakeTurnsAlsoWhenOneHasNothingLeft)
{
    TaskEngine engine;
    Slices first(engine.completions), second(engine.completions), third(engine.completions);
    Task one, two, three;
    first.submit(one, 1);
    second.submit(two, 3);
    third.submit(three, 3);
    EXPECT_TRUE(engine.progress()); // the end of the first one
    EXPECT_TRUE(one.has_ended());
    EXPECT_EQ(first.num_turns, 1);
    EXPECT_EQ(second.num_turns, 1);
    EXPECT_EQ(third.num_turns, 1);
    EXPECT_FALSE(first.is_waiting());
    EXPECT_TRUE(second.is_waiting());
    while (!two.has_ended() || !three.has_ended())
        (void)engine.progress();
    EXPECT_EQ(second.num_turns, 3);
    EXPECT_EQ(third.num_turns, 3);
}

TEST(SlicedQueue, OperationsEndInOrderAndReportProgress)
{
    TaskEngine engine;
    Slices slices(engine.completions);
    std::vector<Task *> order;
    Task one(noted_in(order)), two(noted_in(order)), three(noted_in(order));
    EXPECT_FALSE(slices.take_progress());
    slices.submit(one, 2);
    slices.submit(two, 1);
    slices.submit(three, 2);
    EXPECT_FALSE(engine.progress()) << "a slice is no completion";
    EXPECT_TRUE(slices.take_progress());
    EXPECT_FALSE(slices.take_progress());
    while (order.size() != 3)
        (void)engine.progress();
    EXPECT_EQ(order, (std::vector<Task *>{&one, &two, &three}));
    EXPECT_EQ(slices.num_turns, 5);
    EXPECT_EQ(slices.num_ended, 3);
}

TEST(SlicedQueue, DroppedOperationsEndAtOnceAndTheOthersKeepTheirOrder)
{
    TaskEngine engine;
    Slices slices(engine.completions);
    std::vector<Task *> order;
    Task one(noted_in(order)), two(noted_in(order)), three(noted_in(order)), four(noted_in(order));
    for (Task *const task : {&one, &two, &three, &four})
        slices.submit(*task, 2);
    EXPECT_FALSE(engine.progress());
    slices.drop(three.tag());
    EXPECT_TRUE(engine.progress());
    EXPECT_EQ(three.status(), DOCA_ERROR_SHUTDOWN);
    slices.drop(three.tag()); // it has completed: nothing happens
    while (order.size() != 4)
        (void)engine.progress();
    EXPECT_EQ(order, (std::vector<Task *>{&three, &one, &two, &four}));
    EXPECT_EQ(slices.num_turns, 6) << "the one that was in progress went on";
    EXPECT_EQ(slices.num_waits, 0);
}

TEST(SlicedQueue, FlushLetsWorkEndThatCannotBeCancelledAndKeepsTheOrder)
{
    TaskEngine engine;
    Slices slices(engine.completions, true);
    std::vector<Task *> order;
    Task one(noted_in(order)), two(noted_in(order)), three(noted_in(order));
    for (Task *const task : {&one, &two, &three})
        slices.submit(*task, 1);
    EXPECT_FALSE(engine.progress());
    EXPECT_TRUE(slices.take_progress()) << "it was begun";
    slices.flush();
    EXPECT_FALSE(engine.progress());
    EXPECT_FALSE(slices.take_progress()) << "there is nothing to do but to wait";
    slices.drop(two.tag());
    EXPECT_TRUE(engine.progress());
    EXPECT_TRUE(two.has_ended());
    EXPECT_FALSE(one.has_ended() || three.has_ended());
    slices.let_end();
    while (order.size() != 3)
        (void)engine.progress();
    EXPECT_EQ(order, (std::vector<Task *>{&two, &one, &three}));
    EXPECT_EQ(one.status(), DOCA_SUCCESS);
    EXPECT_EQ(three.status(), DOCA_ERROR_SHUTDOWN);
}

TEST(SlicedQueue, DropWaitsForWorkThatCannotBeCancelled)
{
    TaskEngine engine;
    Slices slices(engine.completions, true);
    Task one, two;
    slices.submit(one, 1);
    slices.submit(two, 1);
    EXPECT_FALSE(engine.progress());
    slices.flush();
    slices.drop(one.tag());
    EXPECT_EQ(slices.num_waits, 1);
    while (!one.has_ended() || !two.has_ended())
        ASSERT_TRUE(engine.progress());
    EXPECT_EQ(one.status(), DOCA_ERROR_SHUTDOWN);
    EXPECT_EQ(two.status(), DOCA_ERROR_SHUTDOWN) << "it was flushed before";
}

} // namespace
