// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>

#include "../../../guard.hpp"

namespace opendoca::soft {

/// Makes RDMA atomics on the memory of one process exclude each other, from whatever process and by whatever
/// path they come: the word is in the exporter's page. A holder that was killed is found out by those who
/// wait.
class AtomicLock {
public:
    /// Names this process in such words.
    [[nodiscard]] static std::uint64_t identity(std::uint32_t pid, std::uint64_t start_time) noexcept
    {
        return std::uint64_t{pid} << 32 | (start_time & 0xffffffff);
    }

    AtomicLock(std::atomic<std::uint64_t> &word, std::uint64_t self) noexcept : word_(word)
    {
        std::uint64_t holder = 0;
        // Acquire: what the last holder did to the memory happened before.
        if (!word_.compare_exchange_strong(holder, self, std::memory_order_acquire)) [[unlikely]]
            wait(self);
    }
    AtomicLock(const AtomicLock &) = delete;
    AtomicLock &operator=(const AtomicLock &) = delete;
    ~AtomicLock() { word_.store(0, std::memory_order_release); }

private:
    [[gnu::cold]] void wait(std::uint64_t self) noexcept;

    std::atomic<std::uint64_t> &word_;
};

} // namespace opendoca::soft
