// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the kernel tells about processes, and why it lets one not reach into another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace opendoca::soft {

/// When the process started, in clock ticks since boot: tells it from a later one with the same id.
[[nodiscard]] std::optional<std::uint64_t> process_start_time(pid_t pid);

/// The inode of this process's PID namespace, or 0.
[[nodiscard]] std::uint64_t pid_namespace();

/// Whether @p pid runs, and is the process that started at @p start_time.
[[nodiscard]] bool is_running(pid_t pid, std::uint64_t start_time);

/// Whether the process of @p pidfd has ended.
[[nodiscard]] bool has_ended(int pidfd) noexcept;

/// Whether the process of @p pidfd has ended, or is just ending: its files and memory can't be reached any more then.
[[nodiscard]] bool is_ending(int pidfd) noexcept;

/// A sentence on why the kernel keeps this process from the files or the memory of @p pid.
[[nodiscard]] std::string explain_denial(pid_t pid, int error);

} // namespace opendoca::soft
