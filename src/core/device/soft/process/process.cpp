// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "process.hpp"

#include <cstring>
#include <fstream>
#include <sstream>

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../unique_fd.hpp"

namespace opendoca::soft {

namespace {

std::string proc_path(pid_t pid, const char *name)
{
    return "/proc/" + std::to_string(pid) + "/" + name;
}

} // namespace

std::optional<std::uint64_t> process_start_time(pid_t pid)
{
    std::ifstream file(proc_path(pid, "stat"));
    std::string text;
    if (!std::getline(file, text, '\0'))
        return std::nullopt;
    const auto name_end = text.rfind(')'); // the name may hold anything, parentheses too
    if (name_end == std::string::npos)
        return std::nullopt;
    std::istringstream fields(text.substr(name_end + 1));
    std::string skipped;
    for (int field = 3; field < 22; ++field)
        fields >> skipped;
    std::uint64_t start_time = 0;
    return fields >> start_time ? std::optional(start_time) : std::nullopt;
}

std::uint64_t pid_namespace()
{
    struct stat info {};
    return stat("/proc/thread-self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

bool is_running(pid_t pid, std::uint64_t start_time)
{
    // The state in /proc/<pid>/stat is the first thread's, which may have ended long before the process.
    const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    return pidfd.is_open() && process_start_time(pid) == start_time && !has_ended(pidfd.get());
}

bool has_ended(int pidfd) noexcept
{
    pollfd exit = {.fd = pidfd, .events = POLLIN, .revents = 0};
    return poll(&exit, 1, 0) != 0;
}

bool is_ending(int pidfd) noexcept
{
    constexpr int patience = 50; // milliseconds: a process that was killed first gives its memory back
    pollfd exit = {.fd = pidfd, .events = POLLIN, .revents = 0};
    return poll(&exit, 1, patience) == 1;
}

std::string explain_denial(pid_t pid, int error)
{
    const std::string who = "process " + std::to_string(pid);
    struct stat info {};
    if (stat(proc_path(pid, "").c_str(), &info) != 0)
        return who + " is not there any more";
    if (info.st_uid != geteuid()) {
        std::ifstream status(proc_path(pid, "status"));
        for (std::string line; std::getline(status, line);) {
            unsigned real = 0, effective = 0;
            if (std::sscanf(line.c_str(), "Uid: %u %u", &real, &effective) == 2 && effective == geteuid())
                return who + " is not dumpable (it changed its user, has file capabilities, or called "
                             "prctl(PR_SET_DUMPABLE, 0)), so that others can't reach it";
        }
        return who + " belongs to user " + std::to_string(info.st_uid) + ", this one to user " +
               std::to_string(geteuid()) + "; the software device works between processes of one user";
    }
    int scope = 0;
    std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
    if (scope >= 2)
        return "Yama (kernel.yama.ptrace_scope = " + std::to_string(scope) +
               ") forbids access to the memory of other processes; share the memory by memfd or file "
               "instead, or "
               "lower the setting to 1";
    if (scope == 1)
        return "Yama (kernel.yama.ptrace_scope = 1) forbids it, because " + who +
               " did not name this one by PR_SET_PTRACER";
    return "the kernel refuses access to " + who + " (" + std::strerror(error) +
           "), as where it is not dumpable, in a "
           "container without the capability SYS_PTRACE, or with a seccomp filter";
}

} // namespace opendoca::soft
