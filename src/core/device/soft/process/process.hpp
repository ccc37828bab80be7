// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Who a process is, whether it runs, and why the kernel lets one not reach into another.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

#include <doca_error.h>

#include "../../../unique_fd.hpp"

namespace opendoca::soft {

/// Names a process in a word of shared memory: its id, and when it started, which tells it from a later process
/// with the same id. A word of 0 names nobody.
class ProcessId {
public:
    static constexpr int pid_bits = 22; ///< the kernel's largest limit for process ids is 1 << 22

    constexpr ProcessId() noexcept = default;
    constexpr explicit ProcessId(std::uint64_t word) noexcept : word_(word) {}
    constexpr ProcessId(pid_t pid, std::uint64_t start_time) noexcept
        : word_(start_time << pid_bits | static_cast<std::uint32_t>(pid))
    {
    }

    /// This process. Nobody as long as /proc could not be read, for want of descriptors or memory; once it is known, it
    /// stays known.
    [[nodiscard]] static ProcessId self() noexcept;
    /// The same for what begins to share something with other processes: it must not do so as nobody. NO_MEMORY, with a
    /// message.
    [[nodiscard]] static doca_error_t find_out(ProcessId &self) noexcept;

    [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }
    [[nodiscard]] constexpr pid_t pid() const noexcept
    {
        return static_cast<pid_t>(word_ & ((1U << pid_bits) - 1));
    }
    [[nodiscard]] constexpr std::uint64_t start_time() const noexcept { return word_ >> pid_bits; }
    [[nodiscard]] constexpr bool is_nobody() const noexcept { return word_ == 0; }
    constexpr bool operator==(const ProcessId &) const noexcept = default;

private:
    std::uint64_t word_ = 0; ///< the start time, in clock ticks since boot, above the id
};

/// What the kernel says about a process. Unknown, because descriptors or memory have run out, counts as alive:
/// nothing that it may still use is taken from it.
enum class Life : std::uint8_t { alive, ended, unknown };

/// Whether the process runs. Allocates nothing.
[[nodiscard]] Life life_of(ProcessId process) noexcept;

/// For certain: a thread of the kernel, which has no memory of its own.
[[nodiscard]] bool is_kernel_thread(pid_t pid) noexcept;

/// Sees the end of another process: by a pidfd; where the system gives none, as before Linux 5.3, in some sandboxes
/// and under tools such as valgrind, by asking for its id and start time.
class ProcessWatch {
public:
    /// Only once. INVALID_VALUE when it has ended, OPERATING_SYSTEM when descriptors or memory have run out: it is
    /// watched all the same, but has no descriptor, for which another ProcessWatch is needed. The reserve is of no help
    /// here: the descriptor would stay, and the reserve be gone.
    [[nodiscard]] doca_error_t open(ProcessId process) noexcept;

    /// Becomes readable at the end; -1 where there is no pidfd, or none that is certainly this process's.
    [[nodiscard]] int fd() const noexcept { return pidfd_.get(); }
    /// For certain.
    [[nodiscard]] bool has_ended() const noexcept;
    /// The same for a process that may just be ending: its files and its memory can't be reached any more then.
    /// Takes its time.
    [[nodiscard]] bool is_ending() const noexcept;

private:
    [[nodiscard]] bool ends_within(int time) const noexcept;

    ProcessId process_;
    UniqueFd pidfd_;
};

/// For certain: one that is not found at its /proc/<pid>/fd is closed. A process whose main thread has ended shows none
/// there, and has others open.
[[nodiscard]] bool shows_descriptors(pid_t pid) noexcept;

/// The inode of this process's PID namespace, or 0.
[[nodiscard]] std::uint64_t pid_namespace() noexcept;

/// "/proc/<pid>/fd/<fd>", by which others of the same user reach what a process has at a descriptor.
class DescriptorPath {
public:
    DescriptorPath(pid_t pid, int fd) noexcept;
    [[nodiscard]] const char *c_str() const noexcept { return text_; }

private:
    char text_[40];
};

/// A sentence on why the kernel keeps this process from the files or the memory of @p pid.
[[nodiscard]] std::string explain_denial(pid_t pid, int error);

} // namespace opendoca::soft
