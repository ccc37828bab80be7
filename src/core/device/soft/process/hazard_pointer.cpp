// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "hazard_pointer.hpp"

#include <algorithm>
#include <chrono>
#include <climits>
#include <ctime>
#include <span>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../log.hpp"
#include "directory.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_REVOKE);

namespace opendoca::soft {

namespace {

using Clock = std::chrono::steady_clock;

/// Mostly an importer is just about to withdraw, and asking the kernel at once would take longer than waiting for it.
constexpr std::chrono::milliseconds between_questions{5};
constexpr int questions_before_warning = 200;

/// Waits until @p pointer does not name export @p number any more, or its owner has ended.
void wait_for(HazardPointer &pointer, std::uint32_t number) noexcept
{
    const std::uint32_t mark = number + 1;
    Clock::time_point next_question{};
    for (int questions = 0;;) {
        // Acquire: pairs with the release in HazardPointer::withdraw().
        const std::uint32_t in_use = pointer.in_use.load(std::memory_order_seq_cst);
        if ((in_use & 0xffff) != mark && in_use >> 16 != mark)
            return;
        if (const Clock::time_point now = Clock::now(); now >= next_question) {
            const ProcessId owner(pointer.owner.load(std::memory_order_acquire));
            // The pointer of one that has died stays as it is: who takes it next cleans it up.
            if (next_question != Clock::time_point{} && life_of(owner) == Life::ended)
                return;
            next_question = now + between_questions;
            if (++questions == questions_before_warning)
                LOG_WARN("waiting for process %d, which is in the middle of a copy of exported memory", owner.pid());
        }
        // The importer wakes us when it withdraws; the limit is there for one that dies.
        const timespec limit = {0, std::chrono::nanoseconds(between_questions).count()};
        syscall(SYS_futex, &pointer.in_use, FUTEX_WAIT, in_use, &limit, nullptr, 0);
    }
}

} // namespace

void HazardPointer::wake_revoker() noexcept
{
    syscall(SYS_futex, &in_use, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

HazardPointer *HazardPage::take() noexcept
{
    HazardPointer *const pointer = take_entry(pointers);
    if (pointer == nullptr)
        return nullptr;
    pointer->in_use.store(0, std::memory_order_relaxed); // what the last owner may have left
    // Sequentially consistent: before the first announcement in the pointer. Pairs with the load in revoke().
    raise_to(num_pointers, static_cast<std::uint32_t>(pointer - pointers) + 1);
    return pointer;
}

void HazardPage::revoke(std::atomic<std::uint64_t> &generation, std::uint32_t number) noexcept
{
    generation.fetch_add(1, std::memory_order_seq_cst);
    // Pairs with HazardPointer::announce(): after it, either its pointer is seen here, or the new generation there.
    barrier_for_all();
    const std::uint32_t count = std::min(num_pointers.load(std::memory_order_seq_cst), max_hazard_pointers);
    for (HazardPointer &pointer : std::span(pointers, count))
        wait_for(pointer, number);
}

} // namespace opendoca::soft
