// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "barrier.hpp"

#include <atomic>
#include <ctime>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace opendoca::soft {

namespace {

enum class Found : unsigned char { not_yet, no, yes };

long membarrier(int command) noexcept
{
    return syscall(SYS_membarrier, command, 0, 0);
}

} // namespace

bool allow_barriers_by_others() noexcept
{
    // Not static variables of the functions: a child that is forked while another thread initialises one would wait for
    // that thread. Two threads find the same.
    static std::atomic<Found> registered{Found::not_yet};
    Found found = registered.load(std::memory_order_relaxed);
    if (found == Found::not_yet) {
        found = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0 ? Found::yes : Found::no;
        registered.store(found, std::memory_order_relaxed);
    }
    return found == Found::yes;
}

bool can_make_barriers() noexcept
{
    static std::atomic<Found> has_command{Found::not_yet};
    Found found = has_command.load(std::memory_order_relaxed);
    if (found == Found::not_yet) {
        const long commands = membarrier(MEMBARRIER_CMD_QUERY);
        found = commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0 ? Found::yes : Found::no;
        has_command.store(found, std::memory_order_relaxed);
    }
    return found == Found::yes;
}

void heavy_barrier() noexcept
{
    // The barrier of this process itself, which membarrier() does not replace: on Arm an acquire load may pass the
    // store before it.
    __sync_synchronize(); // as a fence of <atomic>, of which g++ with the thread sanitizer warns
    if (!can_make_barriers())
        return;
    // The expedited command fails while the kernel has no memory; the other one needs none. If a seccomp filter has
    // forbidden both since the start, this waits instead: no processor delays a store for 100 ms.
    for (int i = 0;
         i < 100 && membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0 && membarrier(MEMBARRIER_CMD_GLOBAL) != 0; ++i) {
        const timespec moment = {0, 1'000'000};
        nanosleep(&moment, nullptr);
    }
}

} // namespace opendoca::soft
