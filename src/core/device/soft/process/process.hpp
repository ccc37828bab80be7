// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The identity of a process, whether it runs, and why the kernel denies access to it.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

#include <doca_error.h>

#include "../../../base/unique_fd.hpp"

namespace opendoca::soft {

/// Identifies a process in one word of shared memory by its id and its start time, which distinguishes it from a later
/// process with the same id. A word of 0 identifies no process.
class ProcessId {
public:
    static constexpr int pid_bits = 22; ///< the kernel's largest limit for process ids is 1 << 22

    constexpr ProcessId() noexcept = default;
    constexpr explicit ProcessId(std::uint64_t word) noexcept : word_(word) {}
    constexpr ProcessId(pid_t pid, std::uint64_t start_time) noexcept
        : word_(start_time << pid_bits | static_cast<std::uint32_t>(pid))
    {
    }

    /// Returns this process. Returns the word 0 while /proc cannot be read for lack of descriptors or memory; the first
    /// success is kept.
    [[nodiscard]] static ProcessId self() noexcept;
    /// The same for callers that are about to share something with other processes and need a valid identity.
    /// NO_MEMORY, with a message.
    [[nodiscard]] static doca_error_t find_out(ProcessId &self) noexcept;

    [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }
    [[nodiscard]] constexpr pid_t pid() const noexcept { return static_cast<pid_t>(word_ & ((1U << pid_bits) - 1)); }
    [[nodiscard]] constexpr std::uint64_t start_time() const noexcept { return word_ >> pid_bits; }
    [[nodiscard]] constexpr bool is_nobody() const noexcept { return word_ == 0; }
    constexpr bool operator==(const ProcessId &) const noexcept = default;

private:
    std::uint64_t word_ = 0; ///< the start time, in clock ticks since boot, above the id
};

/// The state of a process according to the kernel. If it cannot be determined for lack of descriptors or memory, it is
/// unknown and is treated as alive: nothing that the process may still use is taken from it.
enum class Life : std::uint8_t { alive, ended, unknown };

/// Returns whether the process runs. Allocates nothing.
[[nodiscard]] Life life_of(ProcessId process) noexcept;

/// Returns true only if @p pid is certainly a thread of the kernel, which has no memory of its own.
[[nodiscard]] bool is_kernel_thread(pid_t pid) noexcept;

/// Detects the end of another process by a pidfd. Without one (before Linux 5.3, in some sandboxes, under tools such as
/// valgrind) it compares the id and the start time.
class ProcessWatch {
public:
    /// Starts watching; called once. INVALID_VALUE: the process has ended. OPERATING_SYSTEM: descriptors or memory have
    /// run out; the process is watched, but without a descriptor, for which another ProcessWatch is needed. The reserve
    /// is not used, because the pidfd would keep its descriptor.
    [[nodiscard]] doca_error_t open(ProcessId process) noexcept;

    /// Becomes readable when the process ends; -1 if there is no pidfd, or none that certainly belongs to this process.
    [[nodiscard]] int fd() const noexcept { return pidfd_.get(); }
    /// Returns true only if the process has certainly ended.
    [[nodiscard]] bool has_ended() const noexcept;
    /// The same for a process that may just be ending, with files and memory already out of reach. May block for a
    /// short time.
    [[nodiscard]] bool is_ending() const noexcept;

private:
    [[nodiscard]] bool ends_within(int time) const noexcept;

    ProcessId process_;
    UniqueFd pidfd_;
};

/// Returns true only if each open descriptor of the process appears in /proc/<pid>/fd. That directory is empty if the
/// main thread has ended, although other threads still have descriptors open.
[[nodiscard]] bool shows_descriptors(pid_t pid) noexcept;

/// The inode of this process's PID namespace, or 0.
[[nodiscard]] std::uint64_t pid_namespace() noexcept;

/// "/proc/<pid>/fd/<fd>", the path by which other processes of the same user open a descriptor of a process.
class DescriptorPath {
public:
    DescriptorPath(pid_t pid, int fd) noexcept;
    [[nodiscard]] const char *c_str() const noexcept { return text_; }

private:
    char text_[40];
};

/// Returns a sentence on why the kernel denies this process the files or the memory of @p pid.
[[nodiscard]] std::string explain_denial(pid_t pid, int error);

} // namespace opendoca::soft
