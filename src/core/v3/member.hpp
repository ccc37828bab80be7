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

/// A context that is not idle, or a graph: the unit that a progress engine polls. Belongs to the thread of its engine.
/// Each member has a completion queue of its own, so that each queue is as deep as its member needs and polls only the
/// member's own sources.
class OPENDOCA_INTERNAL Member {
public:
    Member() = default;
    Member(const Member &) = delete;
    Member &operator=(const Member &) = delete;

    /// Dispatches one completion, or does other pending work. Returns false if there is none. The member may have been
    /// destroyed when this returns.
    [[nodiscard]] bool progress() noexcept { return serve(*completions_); }
    /// The same for a caller that already has @p completions, the member's completion queue.
    [[nodiscard]] bool serve(CompletionQueue &completions) noexcept
    {
        if (completions.is_empty())
            return poll();
        const Completion &first = completions.first();
        if (!is_of_task(first) || doca_task::of(first.tag).state != TaskState::submitted) [[unlikely]]
            return take_turn_or_give();
        doca_task &task = doca_task::of(first.tag);
        return completions.try_drop() ? succeed(task) : take_turn_or_give();
    }
    virtual void arm() noexcept;
    virtual void clear() noexcept;

    [[nodiscard]] virtual std::size_t num_in_flight() const noexcept = 0;

    [[nodiscard]] doca_pe *pe() const noexcept { return pe_; }
    /// For sources: there while it is a member.
    [[nodiscard]] CompletionQueue &completions() const noexcept { return *completions_; }

protected:
    virtual ~Member();

    /// Becomes a member that is served, with room for @p depth operations, or is one no more. The sources of its
    /// operations come after the one, and go before the other.
    void join(std::uint32_t depth);
    void leave() noexcept;

    /// Nothing has ended, or a lot has, one after the other, as tasks are submitted again in their callbacks: does what
    /// else there is to do. True when it has. Only called when wants_turn().
    [[nodiscard]] virtual bool progress_more() noexcept = 0;
    /// Whether progress_more() could act now.
    [[nodiscard]] virtual bool has_more() const noexcept = 0;
    /// Any end of a task that needs more than the call of its first callback.
    virtual void task_ended(doca_task &task, const Ended &ended) noexcept = 0;

    /// Serves one end, if there is one.
    [[nodiscard]] bool end_one() noexcept;

    [[nodiscard]] bool has_news() const noexcept { return news_->load(std::memory_order_acquire); }

    static inline constinit const std::atomic<bool> no_news{false};

    doca_pe *pe_ = nullptr;                    ///< for life
    bool asks_ = false;                        ///< requests a call at each poll
    const std::atomic<bool> *news_ = &no_news; ///< requests a call while it is set; any thread may set it
    bool ends_wait_ = false; ///< progress_more() was called while completions may have been unreported

private:
    [[nodiscard]] bool poll() noexcept;
    [[nodiscard]] bool poll_in_turn() noexcept;
    [[nodiscard]] bool poll_for_end() noexcept;
    bool give_operation(Operation &operation) noexcept;
    [[nodiscard]] bool wants_turn() const noexcept { return asks_ || has_news(); }
    /// In the middle of ends.
    [[nodiscard]] bool take_turn() noexcept
    {
        ends_wait_ = true;
        return progress_more();
    }
    /// One that ended within its submit, and has succeeded.
    [[nodiscard]] static bool is_of_task(const Completion &completion) noexcept
    {
        return completion.status == DOCA_SUCCESS && !CompletionHandler::is_of_one(completion.tag);
    }
    bool take_turn_or_give() noexcept;
    bool give_first() noexcept;
    void give(Ended &ended) noexcept;
    static bool succeed(doca_task &task) noexcept; ///< true

    std::unique_ptr<CompletionQueue> completions_;
    std::uint32_t num_polls_ = 0;
    bool has_had_turn_ = false; ///< since the last end of the ring
};

} // namespace opendoca::v3
