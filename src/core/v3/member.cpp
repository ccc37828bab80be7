// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How a progress engine finds and delivers completions. The fast path is inline in member.hpp; everything that it does
// not handle is here, in functions of their own, so that the fast path saves no registers for it.
#include "member.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ctx.hpp"
#include "pe.hpp"

namespace opendoca::v3 {

namespace {

/// Polls after which progress_more() has a turn in any case.
constexpr std::uint32_t polls_between_turns = 64;

} // namespace

Member::~Member() = default;

void Member::join(std::uint32_t depth)
{
    auto completions = std::make_unique<CompletionQueue>(std::max(depth, 1U));
    completions->share_root(pe_->root());
    completions->set_listener(*this);
    completions_ = std::move(completions);
    pe_->add(*this);
}

void Member::leave() noexcept
{
    pe_->remove(*this);
    completions_.reset();
}

bool Member::park() noexcept
{
    if (!can_park() || !completions_->park())
        return false;
    parked_changed();
    return true;
}

void Member::queue_resumed() noexcept
{
    pe_->activate(*this);
    parked_changed();
}

void Member::arm() noexcept
{
    completions_->arm();
    // Work that no completion reports, such as becoming idle, must not wait for one.
    if (is_poll_requested_ && has_silent_work())
        completions_->wake();
}

void Member::clear() noexcept
{
    // Reads the shared descriptor; the progress engine reads it again and reports errors.
    (void)completions_->clear();
}

[[gnu::always_inline]] inline bool Member::poll_and_deliver() noexcept
{
    Operation *const operation = completions_->poll();
    if (operation != nullptr)
        return deliver_operation(*operation);
    return !completions_->is_empty() && deliver_first();
}

/// Not inlined: most polls of a progress engine with several members come here.
[[gnu::noinline]] bool Member::poll() noexcept
{
    if (wants_turn()) [[unlikely]]
        return poll_in_turn();
    return poll_and_deliver();
}

/// Delivers a success of @p task, which is in state with_result. Returns true.
[[gnu::always_inline]] inline bool Member::deliver_result(doca_task &task, Ended &ended) noexcept
{
    ended.status = task.pool->set_result(task, ended);
    // Some results are reported to the program inside set_result(), and the program may free the task there.
    if (ended.status == DOCA_SUCCESS && task.state == TaskState::with_result) [[likely]]
        return succeed(task);
    task_ended(task, ended);
    return true;
}

/// Delivers a successful operation for which no completion was made. Returns true. Releases it first: the callback may
/// submit again, and needs the credit.
[[gnu::noinline]] bool Member::deliver_operation(Operation &operation) noexcept
{
    doca_task &task = doca_task::of(operation.tag);
    if (task.state == TaskState::submitted) {
        completions_->release(operation);
        return succeed(task);
    }
    Ended ended;
    ended.tag = operation.tag;
    ended.source = operation.source;
    ended.status = DOCA_SUCCESS;
    operation.read_result(ended.result);
    completions_->release(operation);
    if (task.state == TaskState::with_result) [[likely]]
        return deliver_result(task, ended);
    deliver(ended);
    return true;
}

[[gnu::noinline]] bool Member::poll_in_turn() noexcept
{
    // The pollables can be as busy as the ring, so progress_more() has a turn although they may have completions.
    if (++num_polls_ % polls_between_turns == 0 && take_turn())
        return true;
    if (poll_and_deliver())
        return true;
    completions_may_be_pending_ = false;
    return progress_more();
}

bool Member::deliver_one() noexcept
{
    return completions_->is_empty() ? poll_and_deliver() : deliver_first();
}

/// A program that submits each task again in its callback never lets the ring run empty, so progress_more() gets a turn
/// when a poll of the pollables is due.
[[gnu::noinline]] bool Member::take_turn_or_deliver() noexcept
{
    if (wants_turn() && completions_->is_poll_due() && !std::exchange(must_deliver_next_, true) && take_turn())
        return true;
    must_deliver_next_ = false;
    return deliver_first();
}

[[gnu::noinline]] bool Member::succeed_to_handler(doca_task &task) noexcept
{
    TaskPool &pool = *task.pool;
    task.status = DOCA_SUCCESS;
    task.state = TaskState::owned;
    std::exchange(task.handler, nullptr)->ended(DOCA_SUCCESS);
    return doca_ctx::callback_returned(pool);
}

bool Member::deliver_first() noexcept
{
    if (completions_->is_empty())
        return false;
    const Completion &first = completions_->first();
    // The common completion needs its tag, source and length only.
    if (is_plain_success(first)) {
        Ended ended = {first.tag, first.source, DOCA_SUCCESS, {first.length}};
        // Dropped first: the callback may submit again, and needs the credit.
        completions_->drop();
        deliver(ended);
        return true;
    }
    Ended ended;
    (void)completions_->pop(ended);
    deliver(ended);
    return true;
}

void Member::deliver(Ended &ended) noexcept
{
    doca_task &task = doca_task::of(ended.tag);
    if (ended.status == DOCA_SUCCESS && task.state == TaskState::with_result)
        return (void)deliver_result(task, ended);
    task_ended(task, ended);
}

} // namespace opendoca::v3
