// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "../../../base/memory_range.hpp"
#include "../../device.hpp"

namespace opendoca::soft {

/// The pages of one registration, which count against the limit of locked memory as if a device had pinned them. Member
/// of a key; used by one thread at a time. Invariant: the count of the process is the sum of its objects of this class.
/// A forked child begins with a count of 0, since it has registered nothing itself.
class PinnedPages {
public:
    PinnedPages() noexcept = default;
    PinnedPages(const PinnedPages &) = delete;
    PinnedPages &operator=(const PinnedPages &) = delete;
    ~PinnedPages();

    /// Counts the pages of @p range, once. As registration with a card: if RLIMIT_MEMLOCK would be exceeded and the
    /// thread lacks CAP_IPC_LOCK, returns NO_MEMORY (with a limit of 0: DRIVER) after a log line, and counts nothing.
    [[nodiscard]] doca_error_t pin(const MemoryRange &range, const DeviceFunction &function) noexcept;

private:
    std::uint64_t count_ = 0; ///< pages
    pid_t owner_ = 0;         ///< the process that has counted them
};

} // namespace opendoca::soft
