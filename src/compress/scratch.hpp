// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>

#include <sys/mman.h>

#include <doca_error.h>

namespace opendoca {

/// A range of zeroed memory that takes no pages before they are used. Owned by one context; released with it.
class Scratch {
public:
    Scratch() noexcept = default;
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;
    ~Scratch()
    {
        if (start_ != nullptr)
            (void)munmap(start_, size_);
    }

    /// Reserves @p size bytes, once. NO_MEMORY if the address space is exhausted or limited.
    [[nodiscard]] doca_error_t reserve(std::size_t size) noexcept
    {
        void *const start =
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (start == MAP_FAILED)
            return DOCA_ERROR_NO_MEMORY;
        start_ = start;
        size_ = size;
        return DOCA_SUCCESS;
    }

    [[nodiscard]] std::byte *start() const noexcept { return static_cast<std::byte *>(start_); }

private:
    void *start_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace opendoca
