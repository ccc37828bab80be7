// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Finds out what in the system restricts memory sharing between two processes through the software device: users,
// security modules, namespaces, missing system calls. read_system_facts() reads and tries; check_access() judges, so
// that tests can judge facts of other systems.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace opendoca::tools {

/// The facts about the system that memory sharing depends on. Errors are errno values; 0 means that the attempt worked.
/// Filled once by read_system_facts() and constant from then on.
struct SystemFacts {
    uid_t user = 0;
    uid_t effective_user = 0;
    bool may_trace = false;        ///< has the capability SYS_PTRACE
    std::optional<int> yama_scope; ///< empty without Yama
    int dumpable = 1;              ///< of this process, see prctl(2)
    bool is_in_initial_pid_namespace = true;
    bool proc_shows_this_namespace = true;
    std::string hidepid;      ///< the mount option of /proc, or empty
    int memfd_error = 0;      ///< creating a memfd and sealing it
    int pidfd_error = 0;      ///< pidfd_open
    int membarrier_error = 0; ///< the expedited barrier across processes
    int process_vm_error = 0; ///< process_vm_readv, on this process itself

    // Tried in a child of this process on this process's memory, as an importer would.
    int shared_memory_error = 0;   ///< opening /proc/<pid>/fd/<n> and mapping it
    int ordinary_memory_error = 0; ///< process_vm_readv and /proc/<pid>/mem
};

/// The judgement of a check.
enum class Verdict : std::uint8_t {
    ok,
    limited, ///< works in part, or more slowly
    blocked  ///< no memory can be used across processes
};

/// One line of the report: a fact, its judgement, and what to do about it.
struct AccessCheck {
    const char *key; ///< the name in JSON
    const char *title;
    Verdict verdict;
    std::string found;
    std::string advice;     ///< what to change; empty if nothing has to be
    bool was_tried = false; ///< an attempt of what importers do, not a setting that may prevent it
};

/// Returns the word that is printed: "OK", "limited" or "blocked".
[[nodiscard]] const char *name_of(Verdict verdict);

/// Reads the settings and tries the system calls. Forks children for the attempts between processes, so it must be
/// called while the process has one thread.
[[nodiscard]] SystemFacts read_system_facts();

/// Judges what @p facts mean for the software device.
[[nodiscard]] std::vector<AccessCheck> check_access(const SystemFacts &facts);

/// Returns whether capability @p number of the kernel is among the effective ones in @p status, the text of
/// /proc/<pid>/status.
[[nodiscard]] bool has_capability(const std::string &status, int number);

/// Returns the value of the option hidepid of the mount at /proc, given the text of a mountinfo file. Empty if there is
/// no such option.
[[nodiscard]] std::string hidepid_in(const std::string &mountinfo);

} // namespace opendoca::tools
