// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "../engine/completion_queue.hpp"
#include "task.hpp"

struct doca_pe;

namespace opendoca::v3 {

/// What a progress engine polls: the base of contexts and graphs. In the progress engine's list from join() to leave(),
/// that is, while a context is not idle or a graph is started. Used by the thread of its progress engine.
/// Each member has a completion queue of its own, so that each queue is as deep as its member needs and polls only the
/// member's own pollables. Parked while it has nothing to do: its progress engine does not poll it then.
class OPENDOCA_INTERNAL Member : private QueueListener {
public:
    Member() = default;
    Member(const Member &) = delete;
    Member &operator=(const Member &) = delete;

    /// Dispatches one completion, or does other pending work. Returns false if there is none. The member may have been
    /// destroyed when this returns.
    [[nodiscard]] bool progress() noexcept { return serve(*completions_); }
    /// The same for the member of @p completions. The common case does not need the member.
    [[nodiscard]] static bool serve(CompletionQueue &completions) noexcept
    {
        if (completions.is_empty())
            return of(completions).poll();
        // The common case, inline: a task completed within its submit, and it has succeeded.
        const Completion &first = completions.first();
        if (!is_plain_success(first)) [[unlikely]]
            return of(completions).take_turn_or_deliver();
        doca_task &task = doca_task::of(first.tag);
        if (task.state == TaskState::submitted) [[likely]]
            return completions.try_drop() ? succeed(task) : of(completions).take_turn_or_deliver();
        if (task.state == TaskState::with_handler && !task.pool->has_results && completions.try_drop())
            return succeed_to_handler(task);
        return of(completions).take_turn_or_deliver();
    }
    virtual void arm() noexcept;
    virtual void clear() noexcept;

    [[nodiscard]] virtual std::size_t num_in_flight() const noexcept = 0;

    [[nodiscard]] doca_pe *pe() const noexcept { return pe_; } ///< null before connect()

    // The progress engine's own.

    /// Parks the member if it has nothing to do and need not be polled for it. Returns whether it is parked.
    [[nodiscard]] bool park() noexcept;
    [[nodiscard]] bool is_parked() const noexcept { return completions_->is_parked(); }
    std::size_t index = 0;        ///< the member's place in the progress engine's list
    std::uint32_t last_found = 0; ///< the engine's count of polls when the member last had something to do
    /// Polls of active members that find nothing, without a find of its own, after which the member is parked. Default:
    /// with two members tens of microseconds, longer than a round trip; with more, never much longer.
    std::uint32_t polls_until_parked = 4096;

    /// Valid between join() and leave().
    [[nodiscard]] CompletionQueue &completions() const noexcept { return *completions_; }

protected:
    virtual ~Member();

    /// join() creates a completion queue for @p depth operations and lets the progress engine poll the member; leave()
    /// undoes both. Sources are created after join() and destroyed before leave().
    void join(std::uint32_t depth);
    void leave() noexcept;

    /// Does the member's other work: called if wants_turn(), when no completion is found, and now and then while a
    /// program submits each task again in its callback. Returns true if it has done something. The member may have been
    /// destroyed then.
    [[nodiscard]] virtual bool progress_more() noexcept = 0;
    /// Returns true if there is work that no completion and no descriptor reports, so that arm() wakes at once: a
    /// context that can become idle, a graph with ready instances. May return false although progress_more() has work.
    [[nodiscard]] virtual bool has_silent_work() const noexcept = 0;
    /// Returns whether progress_more() has nothing to do until CompletionQueue::wake_if_waiting() is called.
    [[nodiscard]] virtual bool can_park() const noexcept = 0;
    /// The member was parked, or is polled again.
    virtual void parked_changed() noexcept {}
    /// Completes a task in any way that needs more than its success callback.
    virtual void task_ended(doca_task &task, const Ended &ended) noexcept = 0;

    /// Delivers one completion, if there is one.
    [[nodiscard]] bool deliver_one() noexcept;

    // Acquire: pairs with the release store of the thread that sets the flag.
    [[nodiscard]] bool is_progress_flag_set() const noexcept { return progress_flag_->load(std::memory_order_acquire); }

    static inline constinit const std::atomic<bool> never_set{false}; ///< the flag of members that have none

    doca_pe *pe_ = nullptr;          ///< set once, by connect()
    bool is_poll_requested_ = false; ///< progress_more() is called whenever a poll finds no completion
    const std::atomic<bool> *progress_flag_ = &never_set; ///< the same while it is set; any thread may set it
    bool completions_may_be_pending_ = false;             ///< see doca_ctx::completions_may_be_pending()

private:
    [[nodiscard]] static Member &of(const CompletionQueue &completions) noexcept
    {
        return static_cast<Member &>(*completions.listener());
    }
    void queue_resumed() noexcept override;
    /// Calls poll_and_deliver(), with a turn of progress_more() if one is requested. The ring must be empty.
    [[nodiscard]] bool poll() noexcept;
    [[nodiscard]] bool poll_in_turn() noexcept;
    /// Polls the queue's pollables and delivers one completion, if there is one. The ring must be empty.
    [[nodiscard]] bool poll_and_deliver() noexcept;
    bool deliver_operation(Operation &operation) noexcept;
    bool deliver_result(doca_task &task, Ended &ended) noexcept;
    [[nodiscard]] bool wants_turn() const noexcept { return is_poll_requested_ || is_progress_flag_set(); }
    /// Gives progress_more() a turn while there are completions.
    [[nodiscard]] bool take_turn() noexcept
    {
        completions_may_be_pending_ = true;
        return progress_more();
    }
    /// Returns whether @p completion has no Operation (it completed within submit) and is a success.
    [[nodiscard]] static bool is_plain_success(const Completion &completion) noexcept
    {
        return completion.status == DOCA_SUCCESS;
    }
    /// Handles what serve() does not: other completions, and turns of progress_more().
    bool take_turn_or_deliver() noexcept;
    /// Delivers the first completion of the ring.
    bool deliver_first() noexcept;
    /// Calls the handler or a callback of the task.
    void deliver(Ended &ended) noexcept;
    static bool succeed(doca_task &task) noexcept; ///< calls the success callback; returns true
    /// Does the same with the handler of a task without a result.
    static bool succeed_to_handler(doca_task &task) noexcept;

    std::unique_ptr<CompletionQueue> completions_; ///< null unless the member is polled
    std::uint32_t num_polls_ = 0;
    bool must_deliver_next_ = false; ///< progress_more() has had its turn at this position; cleared by a delivery
};

} // namespace opendoca::v3
