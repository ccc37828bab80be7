// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "process.hpp"

namespace opendoca::soft {

/// Holds a lock that threads of several processes share: a word, which is 0 or names the process that holds it.
/// What it guards must be right at any point of its holder's death, since those who wait take it from the dead.
/// A thread holds one at a time.
///
/// Others can store anything in the word. A waiter's own memory stays whole, and it waits for nobody but a process that
/// lives and has the page mapped. Which of its own threads holds the lock, a process knows from its own memory: they
/// pass one by one through a word there, so that who has that one, and finds the process's name in the shared one,
/// finds what none of them has written.
class ProcessLock {
public:
    ProcessLock(std::atomic<std::uint64_t> &word, ProcessId self) noexcept : word_(word), own_word_(own_word_for(word))
    {
        std::uint64_t thread = 0, holder = 0;
        // Acquire: both pair with the releases in the destructor.
        const bool is_first = own_word_.compare_exchange_strong(thread, self.word(), std::memory_order_acquire);
        if (!is_first || !word_.compare_exchange_strong(holder, self.word(), std::memory_order_acquire)) [[unlikely]]
            wait(self, is_first);
    }
    ProcessLock(const ProcessLock &) = delete;
    ProcessLock &operator=(const ProcessLock &) = delete;
    ~ProcessLock()
    {
        word_.store(0, std::memory_order_release);
        own_word_.store(0, std::memory_order_release);
    }

private:
    static constexpr std::size_t num_own_words = 64;
    /// Names the process of the thread that has it, so that a forked child knows what it has inherited.
    struct alignas(64) OwnWord {
        std::atomic<std::uint64_t> word;
    };
    static OwnWord own_words_[num_own_words];

    /// A process maps each page once, see SealedPage. Locks may share a word.
    [[nodiscard]] static std::atomic<std::uint64_t> &own_word_for(const std::atomic<std::uint64_t> &word) noexcept
    {
        return own_words_[reinterpret_cast<std::uintptr_t>(&word) / 4096 % num_own_words].word;
    }

    [[gnu::cold]] void wait(ProcessId self, bool is_first) noexcept;
    void wait_for_own_threads(ProcessId self) noexcept;

    std::atomic<std::uint64_t> &word_;
    std::atomic<std::uint64_t> &own_word_;
};

} // namespace opendoca::soft
