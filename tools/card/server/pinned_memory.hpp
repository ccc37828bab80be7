// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory of a program that the kernel would pin for a device: registered memory, queues, doorbell records.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "process.hpp"

namespace opendoca::card {

/// Pages that count against a process's RLIMIT_MEMLOCK as long as this object exists. Pages in several ranges count
/// once for each range, as in the kernel. Only the count is modelled: the pages are not locked. A member of the object
/// that uses the memory; move-only, so each range is counted exactly once.
class PinnedMemory {
public:
    PinnedMemory() = default;
    PinnedMemory(std::shared_ptr<Process> process, std::uint64_t pages);
    PinnedMemory(PinnedMemory &&other) noexcept
        : process_(std::move(other.process_)),
          pages_(std::exchange(other.pages_, 0))
    {
    }
    PinnedMemory &operator=(PinnedMemory &&other) noexcept
    {
        std::swap(process_, other.process_);
        std::swap(pages_, other.pages_);
        return *this;
    }
    ~PinnedMemory();

private:
    std::shared_ptr<Process> process_;
    std::uint64_t pages_ = 0; ///< number of pages of the machine's page size
};

/// Checks and pins `length` bytes at `start`. Returns 0 and sets `pinned`, or returns an errno and changes nothing:
/// EINVAL for an empty range or one that wraps around, EPERM if the limit is 0, ENOMEM if RLIMIT_MEMLOCK would be
/// exceeded, EFAULT if a page is not mapped or lacks the required protection. A process with CAP_IPC_LOCK has no limit.
[[nodiscard]] int pin_memory(const std::shared_ptr<Process> &process, std::uint64_t start, std::uint64_t length,
                             bool is_written, PinnedMemory &pinned);

/// The pinned pages of the doorbell records of one open file. Records in the same page share one pin, as in the
/// kernel. A member of OpenFile. The queues own the pins; this class only finds one that exists.
class DoorbellRecordPages {
public:
    /// Pins the page of a doorbell record. Returns as pin_memory() does.
    [[nodiscard]] int pin(const std::shared_ptr<Process> &process, std::uint64_t record,
                          std::shared_ptr<PinnedMemory> &pinned);

private:
    std::map<std::pair<const Process *, std::uint64_t>, std::weak_ptr<PinnedMemory>> pages_; ///< by process and address
};

} // namespace opendoca::card
