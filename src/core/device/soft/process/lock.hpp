// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>

#include "process.hpp"

namespace opendoca::soft {

/// Holds a lock that threads of several processes share: a word, which is 0 or names the process that holds it.
/// What it guards must be right at any point of its holder's death, since those who wait take it from the dead.
/// Whatever another process stores in the word, a waiter's own memory stays whole: at worst it waits for a process
/// that lives.
class ProcessLock {
public:
    ProcessLock(std::atomic<std::uint64_t> &word, ProcessId self) noexcept : word_(word)
    {
        std::uint64_t holder = 0;
        // Acquire: pairs with the release in the destructor.
        if (!word_.compare_exchange_strong(holder, self.word(), std::memory_order_acquire)) [[unlikely]]
            wait(self);
    }
    ProcessLock(const ProcessLock &) = delete;
    ProcessLock &operator=(const ProcessLock &) = delete;
    ~ProcessLock() { word_.store(0, std::memory_order_release); }

private:
    [[gnu::cold]] void wait(ProcessId self) noexcept;

    std::atomic<std::uint64_t> &word_;
};

} // namespace opendoca::soft
