// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Operations on a counter. How one is made, exported and imported is in counter_setup.cpp.
#include "counter.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <sched.h>

#include "../../../wait_notice.hpp"
#include "../memory/process_copy.hpp"
#include "counter_waits.hpp"

#include "../../../log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_COUNTER);

namespace opendoca::soft {

namespace {

/// Loads between two checks of whether the other side lives, which cost a system call for each process.
constexpr std::uint32_t rounds_of_loads = 1 << 8;
constexpr std::uint32_t rounds_of_calls_spinning = 1 << 16;
constexpr std::uint32_t rounds_of_calls_yielding = 1 << 10;

/// Leaves the core to the other thread on it, and takes less power.
inline void pause() noexcept
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
}

} // namespace

doca_error_t SoftCounter::explain_end() const noexcept
{
    if (process_ == nullptr)
        LOG_ERR("the process that was to update the sync event has ended");
    else if (process_->is_gone())
        LOG_ERR("process %d, which holds the sync event, has ended", process_->pid());
    else
        LOG_ERR("process %d has destroyed the sync event", process_->pid());
    return DOCA_ERROR_CONNECTION_RESET;
}

void SoftCounter::tell_of_wait(const WaitCondition &condition) noexcept
{
    std::uint64_t value = 0;
    if (has_told_of_wait_.exchange(true, std::memory_order_relaxed) || confirm(value) != DOCA_SUCCESS)
        return;
    const bool has_no_publisher = awaits_importers() && page_->num_importers.load(std::memory_order_relaxed) == 0;
    const bool is_equal = condition.count == 1;
    const bool is_not_equal = condition.count == UINT64_MAX && condition.first != 1;
    LOG_INFO("waiting for a sync event of process %d %s %" PRIu64 " (mask 0x%" PRIx64 "); it is %" PRIu64 "%s",
             process_ == nullptr ? self_.pid() : process_->pid(),
             is_equal ? "to be" : (is_not_equal ? "not to be" : "to exceed"),
             is_equal ? condition.first : condition.first - 1, condition.mask, value,
             has_no_publisher ? ", and no process of the DPU has imported it yet" : "");
}

doca_error_t SoftCounter::read_word(std::uint64_t &value) const noexcept
{
    if (word_ == nullptr)
        return read_process(*process_, reinterpret_cast<std::byte *>(&value), imported_word_->range().addr,
                            sizeof(value));
    value = word().load(std::memory_order_seq_cst);
    return DOCA_SUCCESS;
}

doca_error_t SoftCounter::write_word(std::uint64_t value) const noexcept
{
    if (word_ == nullptr)
        return write_process(*process_, imported_word_->range().addr, reinterpret_cast<std::byte *>(&value),
                             sizeof(value));
    word().store(value, std::memory_order_seq_cst);
    return DOCA_SUCCESS;
}

/// @p change makes the new value of the old one, and sleepers hear of it. A program's own atomic additions are
/// respected where this process reaches the word itself.
template <typename Change>
doca_error_t SoftCounter::change_locked(std::uint64_t &before, Change change) noexcept
{
    std::uint64_t after = 0;
    {
        const ProcessLock guard(page_->lock, self_);
        // The owner marks the end, then takes the lock: nobody touches its memory after that.
        if (!is_holder_there())
            return explain_end();
        if (word_ != nullptr) {
            before = word().load(std::memory_order_relaxed);
            do
                after = change(before);
            while (!word().compare_exchange_weak(before, after, std::memory_order_seq_cst));
        } else {
            if (const doca_error_t status = read_word(before); status != DOCA_SUCCESS)
                return status;
            after = change(before);
            if (const doca_error_t status = write_word(after); status != DOCA_SUCCESS)
                return status;
        }
    }
    announce(after);
    return DOCA_SUCCESS;
}

// What is done under the lock is apart, so that the others need no stack.

doca_error_t SoftCounter::get_locked(std::uint64_t &value) const noexcept
{
    const ProcessLock guard(page_->lock, self_);
    return is_holder_there() ? read_word(value) : explain_end();
}

doca_error_t SoftCounter::set_locked(std::uint64_t value) noexcept
{
    std::uint64_t before = 0;
    return change_locked(before, [value](std::uint64_t) { return value; });
}

doca_error_t SoftCounter::add_locked(std::uint64_t value, std::uint64_t &fetched) noexcept
{
    std::uint64_t before = 0;
    const doca_error_t status = change_locked(before, [value](std::uint64_t old) { return old + value; });
    if (status == DOCA_SUCCESS)
        fetched = before;
    return status;
}

doca_error_t SoftCounter::get(std::uint64_t &value) noexcept
{
    if (is_locked_) [[unlikely]]
        return get_locked(value);
    if (!is_holder_there()) [[unlikely]]
        return explain_end();
    value = word().load(std::memory_order_seq_cst);
    return DOCA_SUCCESS;
}

doca_error_t SoftCounter::set(std::uint64_t value) noexcept
{
    if (is_locked_) [[unlikely]]
        return set_locked(value);
    if (!is_holder_there()) [[unlikely]]
        return explain_end();
    fetch_sleeper();
    word().store(value, std::memory_order_seq_cst);
    announce(value);
    return DOCA_SUCCESS;
}

doca_error_t SoftCounter::add(std::uint64_t value, std::uint64_t &fetched) noexcept
{
    if (is_locked_) [[unlikely]]
        return add_locked(value, fetched);
    if (!is_holder_there()) [[unlikely]]
        return explain_end();
    fetch_sleeper();
    const std::uint64_t before = word().fetch_add(value, std::memory_order_seq_cst);
    announce(before + value);
    fetched = before;
    return DOCA_SUCCESS;
}

doca_error_t SoftCounter::peek(std::uint64_t &value) noexcept
{
    if (!is_locked_) [[likely]] {
        value = word().load(std::memory_order_seq_cst);
        return DOCA_SUCCESS;
    }
    // In the process of the owner, the memory may go with the event.
    if (process_ != nullptr && process_->is_self())
        return confirm(value);
    return read_word(value);
}

/// Memory that is still mapped here after the death of its owner holds what was reached until then.
doca_error_t SoftCounter::confirm(std::uint64_t &value) noexcept
{
    if (!is_locked_)
        return peek(value);
    const ProcessLock guard(page_->lock, self_);
    return process_ != nullptr && has_ended() ? explain_end() : read_word(value);
}

doca_error_t SoftCounter::look(const WaitCondition &condition, bool &is_met) noexcept
{
    std::uint64_t value = 0;
    doca_error_t status = peek(value);
    if (is_locked_ && status == DOCA_SUCCESS && condition.is_met_by(value))
        status = confirm(value);
    is_met = status == DOCA_SUCCESS && condition.is_met_by(value);
    return status;
}

/// What was reached before the other side has ended counts: the counter is looked at first.
doca_error_t SoftCounter::wait(const WaitCondition &condition, WhileWaiting how) noexcept
{
    std::optional<Importers> importers; // large, and mostly not needed
    WaitNotice notice;
    const std::uint32_t rounds_of_calls =
        how == WhileWaiting::spin ? rounds_of_calls_spinning : rounds_of_calls_yielding;
    for (std::uint32_t round = 1;; ++round) {
        bool is_met = false;
        if (const doca_error_t status = look(condition, is_met); status != DOCA_SUCCESS)
            return status;
        if (is_met)
            return DOCA_SUCCESS;
        if (round % rounds_of_loads == 0) [[unlikely]] {
            if (round % rounds_of_calls == 0) {
                if (awaits_importers()) {
                    if (!importers)
                        importers.emplace(*page_);
                    importers->refresh(true);
                }
                if (notice.is_due())
                    tell_of_wait(condition);
            }
            if (is_deserted(importers ? &*importers : nullptr)) {
                // The target may have been reached between the last check and the end.
                const doca_error_t status = look(condition, is_met);
                return status == DOCA_SUCCESS && !is_met ? explain_end() : status;
            }
        }
        if (how == WhileWaiting::spin)
            pause();
        else
            sched_yield();
    }
}

doca_error_t SoftCounter::create_waits(CompletionQueue &completions, std::unique_ptr<CounterWaits> &waits)
{
    auto created = std::make_unique<SoftCounterWaits>(*this, completions);
    const doca_error_t status = created->open();
    if (status == DOCA_SUCCESS)
        waits = std::move(created);
    return status;
}

} // namespace opendoca::soft
