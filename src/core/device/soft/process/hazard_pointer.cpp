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

#include "../../../log/log.hpp"
#include "directory.hpp"
#include "mapping.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_REVOKE);

namespace opendoca::soft {

namespace {

using Clock = std::chrono::steady_clock;

/// How long to wait before the first query of the kernel: an importer usually withdraws within this time, and a query
/// takes longer.
constexpr std::chrono::milliseconds between_questions{5};
/// How long to wait before the kernel is queried whether a living owner has mapped the page, which reads a long table.
constexpr std::chrono::milliseconds between_looks_at_readers{100};
constexpr int questions_before_warning = 200;

std::atomic<std::uint16_t> own_pointers[max_hazard_pointers]; ///< how many queues have each

/// Returns true only if @p owner, which is alive, certainly does not hold @p pointer of this process's page.
bool is_certainly_not_held(const HazardPage &page, const HazardPointer &pointer, ProcessId owner) noexcept
{
    return (owner.pid() != getpid() || !OwnHazardPointers::has(page.index_of(pointer))) &&
           has_certainly_not_mapped(owner, &page);
}

/// Waits until @p pointer no longer names export @p number, or no living process holds it. @p start is the time of the
/// first wait for any pointer of the page, or 0: the time limit holds for all pointers together, however many are
/// garbled.
void wait_for(const HazardPage &page, HazardPointer &pointer, std::uint32_t number, Clock::time_point &start) noexcept
{
    const std::uint32_t mark = number + 1;
    Clock::time_point next_question{}, next_look{};
    for (int questions = 0;;) {
        // Acquire: pairs with the release in HazardPointer::withdraw().
        const std::uint32_t in_use = pointer.in_use.load(std::memory_order_seq_cst);
        if ((in_use & 0xffff) != mark && in_use >> 16 != mark)
            return;
        const Clock::time_point now = Clock::now();
        if (start == Clock::time_point{})
            start = now;
        if (next_question == Clock::time_point{}) {
            next_question = start + between_questions;
            next_look = start + between_looks_at_readers;
        }
        if (now >= next_question) {
            const ProcessId owner(pointer.owner.load(std::memory_order_acquire));
            // The pointer of a process that has died stays as it is; its next user clears it.
            if (life_of(owner) == Life::ended)
                return;
            if (now >= next_look) {
                if (is_certainly_not_held(page, pointer, owner))
                    return;
                next_look = now + between_looks_at_readers;
            }
            next_question = now + between_questions;
            if (++questions == questions_before_warning)
                LOG_WARN("waiting for process %d, which is in the middle of a copy of exported memory", owner.pid());
        }
        // The importer wakes this thread when it withdraws. The time limit is for an importer that dies.
        const timespec limit = {0, std::chrono::nanoseconds(between_questions).count()};
        syscall(SYS_futex, &pointer.in_use, FUTEX_WAIT, in_use, &limit, nullptr, 0);
    }
}

} // namespace

void HazardPointer::wake_revoker() noexcept
{
    syscall(SYS_futex, &in_use, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void OwnHazardPointers::clear() noexcept
{
    for (auto &uses : own_pointers)
        uses.store(0, std::memory_order_relaxed);
}

void OwnHazardPointers::add(std::uint32_t index) noexcept
{
    // Called before the queue's first announcement: a revoker that sees the announcement behind heavy_barrier() sees
    // this entry as well.
    own_pointers[index].fetch_add(1, std::memory_order_seq_cst);
}

void OwnHazardPointers::remove(std::uint32_t index) noexcept
{
    // Release: pairs with the load in has(). What the queue did to the memory happened before.
    own_pointers[index].fetch_sub(1, std::memory_order_release);
}

bool OwnHazardPointers::has(std::uint32_t index) noexcept
{
    return own_pointers[index].load(std::memory_order_acquire) != 0;
}

HazardPointer *HazardPage::take() noexcept
{
    HazardPointer *const pointer = take_entry(pointers);
    if (pointer == nullptr)
        return nullptr;
    pointer->in_use.store(0, std::memory_order_relaxed); // the previous owner may have left a value
    // Sequentially consistent: before the first announcement in the pointer. Pairs with the load in revoke().
    raise_to(num_pointers, index_of(*pointer) + 1);
    return pointer;
}

void HazardPage::revoke(std::atomic<std::uint64_t> &generation, std::uint32_t number) noexcept
{
    generation.fetch_add(1, std::memory_order_seq_cst);
    // Pairs with HazardPointer::announce(): after it, either its pointer is seen here, or the new generation there.
    heavy_barrier();
    const std::uint32_t count = std::min(num_pointers.load(std::memory_order_seq_cst), max_hazard_pointers);
    Clock::time_point start{};
    for (HazardPointer &pointer : std::span(pointers, count))
        wait_for(*this, pointer, number, start);
}

} // namespace opendoca::soft
