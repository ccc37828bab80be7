// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What in the system stands between two processes that share memory by the software device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace opendoca::tools {

/// What was found out about the system. An error is an errno value, 0 where it worked.
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

    // Tried by a child of this process, with this process's memory, as an importer would.
    int shared_memory_error = 0;   ///< opening /proc/<pid>/fd/<n> and mapping it
    int ordinary_memory_error = 0; ///< process_vm_readv and /proc/<pid>/mem
};

enum class Verdict : std::uint8_t {
    ok,
    limited, ///< something works that is not all, or works more slowly
    blocked  ///< no memory can be used across processes
};

struct AccessCheck {
    const char *key; ///< in JSON
    const char *title;
    Verdict verdict;
    std::string found;
    std::string advice;     ///< empty when there is nothing to be done
    bool was_tried = false; ///< what processes do, not a setting that may be in their way
};

[[nodiscard]] const char *name_of(Verdict verdict);

[[nodiscard]] SystemFacts read_system_facts();

/// What @p facts mean for the software device.
[[nodiscard]] std::vector<AccessCheck> check_access(const SystemFacts &facts);

/// Whether the text of /proc/<pid>/status has a capability of the kernel among the effective ones.
[[nodiscard]] bool has_capability(const std::string &status, int number);

/// The value of the option hidepid of the mount of /proc in the text of a mountinfo file, or nothing.
[[nodiscard]] std::string hidepid_in(const std::string &mountinfo);

} // namespace opendoca::tools
