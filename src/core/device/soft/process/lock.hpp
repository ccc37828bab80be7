// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "process.hpp"

namespace opendoca::soft {

/// Holds a lock that threads of several processes share. The lock is a word: 0, or the ProcessId of its holder. The
/// guarded data must be consistent at every instruction, because waiters take the lock over from a dead holder. A
/// thread holds at most one such lock.
///
/// Other processes can store anything in the word. That cannot damage a waiter's own memory, and a waiter waits only
/// for a process that is alive and has the page mapped. The threads of one process first acquire a word in private
/// memory; a thread that holds it and finds its own process in the shared word finds a value that none of these threads
/// has stored.
class ProcessLock {
public:
    ProcessLock(std::atomic<std::uint64_t> &word, ProcessId self) noexcept : word_(word), own_word_(own_word_for(word))
    {
        std::uint64_t thread = 0, holder = 0;
        // Acquire: both pair with the releases in release().
        const bool is_first = own_word_.compare_exchange_strong(thread, self.word(), std::memory_order_acquire);
        if (!is_first || !word_.compare_exchange_strong(holder, self.word(), std::memory_order_acquire)) [[unlikely]]
            wait(self, is_first);
    }
    ProcessLock(const ProcessLock &) = delete;
    ProcessLock &operator=(const ProcessLock &) = delete;
    ~ProcessLock() { release(word_, own_word_); }

    /// Calls @p action with the lock on @p word held, for a caller that must not call a function to wait. Returns
    /// false, without a call, if the lock is not free.
    template <typename Action>
    [[gnu::always_inline]] [[nodiscard]] static bool try_with(std::atomic<std::uint64_t> &word, ProcessId self,
                                                              Action action) noexcept
    {
        std::atomic<std::uint64_t> &own_word = own_word_for(word);
        std::uint64_t thread = 0, holder = 0;
        // Acquire: as in the constructor.
        if (!own_word.compare_exchange_strong(thread, self.word(), std::memory_order_acquire)) [[unlikely]]
            return false;
        if (!word.compare_exchange_strong(holder, self.word(), std::memory_order_acquire)) [[unlikely]] {
            own_word.store(0, std::memory_order_release);
            return false;
        }
        action();
        release(word, own_word);
        return true;
    }

private:
    static constexpr std::size_t num_own_words = 64;
    /// The process of the thread that holds the word, so that a forked child detects a word that it has inherited.
    struct alignas(64) OwnWord {
        std::atomic<std::uint64_t> word;
    };
    static OwnWord own_words_[num_own_words];

    /// The private word for a shared one. Several locks may use one private word. A process maps each page once (see
    /// SealedPage), so the address identifies the lock.
    [[nodiscard]] static std::atomic<std::uint64_t> &own_word_for(const std::atomic<std::uint64_t> &word) noexcept
    {
        return own_words_[reinterpret_cast<std::uintptr_t>(&word) / 4096 % num_own_words].word;
    }

    static void release(std::atomic<std::uint64_t> &word, std::atomic<std::uint64_t> &own_word) noexcept
    {
        word.store(0, std::memory_order_release);
        own_word.store(0, std::memory_order_release);
    }
    [[gnu::cold]] void wait(ProcessId self, bool is_first) noexcept;
    void wait_for_own_threads(ProcessId self) noexcept;

    std::atomic<std::uint64_t> &word_;
    std::atomic<std::uint64_t> &own_word_;
};

} // namespace opendoca::soft
