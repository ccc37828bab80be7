// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "process.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../base/poll_one.hpp"
#include "../../../log/log.hpp"
#include "reserve.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_PROCESS);

namespace opendoca::soft {

namespace {

/// Returns whether @p fd becomes readable, as the pidfd of a process that ends does, within @p patience milliseconds.
bool becomes_readable(int pidfd, int patience) noexcept
{
    return poll_one(pidfd, POLLIN, std::chrono::milliseconds(patience)) != 0;
}

/// The fields of /proc/<pid>/stat.
struct ProcessStat {
    char state;
    unsigned flags; ///< the kernel's PF_...
    long num_threads;
    std::uint64_t start_time;
};

/// 0 or an error number.
int read_stat(pid_t pid, ProcessStat &stat) noexcept
{
    char path[32];
    std::snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    char text[1024];
    ReserveUse reserve;
    const UniqueFd file(reserve.open([&] { return open(path, O_RDONLY | O_CLOEXEC); }));
    if (!file.is_open())
        return errno;
    const ssize_t size = read(file.get(), text, sizeof(text) - 1);
    if (size < 0)
        return errno;
    text[size] = '\0';
    const char *const name_end = std::strrchr(text, ')'); // the name may hold anything, parentheses too
    // Fields 3, 9, 20 and 22.
    return name_end != nullptr && std::sscanf(name_end,
                                              ") %c %*s %*s %*s %*s %*s %u %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                              "%*s %ld %*s %" SCNu64,
                                              &stat.state, &stat.flags, &stat.num_threads, &stat.start_time) == 4
               ? 0
               : EIO;
}

} // namespace

namespace {

/// Like ProcessId::self(), but returns the error number if the identity cannot be read.
ProcessId find_self(int &error) noexcept
{
    static std::atomic<std::uint64_t> known{0};
    const ProcessId found(known.load(std::memory_order_relaxed));
    if (found.pid() == getpid()) // a forked child is another process
        return found;
    ProcessStat stat{};
    if (error = read_stat(getpid(), stat); error != 0)
        return {};
    const ProcessId self(getpid(), stat.start_time);
    known.store(self.word(), std::memory_order_relaxed);
    return self;
}

} // namespace

ProcessId ProcessId::self() noexcept
{
    int error = 0;
    return find_self(error);
}

doca_error_t ProcessId::find_out(ProcessId &self) noexcept
{
    int error = 0;
    const ProcessId found = find_self(error);
    if (found.is_nobody()) {
        LOG_ERR("this process can't read its own start time, by which other processes identify it: /proc/%d/stat: %s",
                getpid(), std::strerror(error));
        return DOCA_ERROR_NO_MEMORY;
    }
    self = found;
    return DOCA_SUCCESS;
}

namespace {

/// Implements life_of(); also returns the error number if the state is unknown.
Life ask_for_life(ProcessId process, int &error) noexcept
{
    if (process.pid() <= 0)
        return Life::ended; // no process that ever ran
    if (process.pid() == getpid()) {
        const ProcessId self = find_self(error);
        return self.is_nobody() ? Life::unknown : process == self ? Life::alive : Life::ended;
    }
    // This result needs no descriptor.
    if (kill(process.pid(), 0) != 0 && errno == ESRCH)
        return Life::ended;
    ProcessStat stat{};
    switch (error = read_stat(process.pid(), stat)) {
    case 0:
        break;
    case ENOENT:
    case ESRCH:
        return kill(process.pid(), 0) != 0 && errno == ESRCH ? Life::ended : Life::unknown; // hidepid hides it
    default:
        return Life::unknown;
    }
    // The state is that of the first thread, which may have ended long before the process.
    const bool is_zombie = (stat.state == 'Z' || stat.state == 'X') && stat.num_threads <= 1;
    return is_zombie || ProcessId(process.pid(), stat.start_time) != process ? Life::ended : Life::alive;
}

} // namespace

Life life_of(ProcessId process) noexcept
{
    int error = 0;
    return ask_for_life(process, error);
}

namespace {

/// Returns whether the first thread of @p process is ending, as all threads of a killed process do.
bool is_exiting(ProcessId process) noexcept
{
    constexpr unsigned exiting = 0x00000004; // PF_EXITING
    ProcessStat stat{};
    return read_stat(process.pid(), stat) == 0 && (stat.flags & exiting) != 0 &&
           ProcessId(process.pid(), stat.start_time) == process;
}

} // namespace

bool is_kernel_thread(pid_t pid) noexcept
{
    constexpr unsigned kernel_thread = 0x00200000; // PF_KTHREAD
    ProcessStat stat{};
    return read_stat(pid, stat) == 0 && (stat.flags & kernel_thread) != 0;
}

bool shows_descriptors(pid_t pid) noexcept
{
    char program[32];
    std::snprintf(program, sizeof(program), "/proc/%d/exe", pid);
    struct stat info {};
    return stat(program, &info) == 0; // the memory is released before the descriptors
}

std::uint64_t pid_namespace() noexcept
{
    struct stat info {};
    return stat("/proc/thread-self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

doca_error_t ProcessWatch::open(ProcessId process) noexcept
{
    process_ = process;
    pidfd_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, process.pid(), 0)));
    if (!pidfd_.is_open() && is_want(errno)) {
        LOG_ERR("pidfd_open of process %d: %s", process.pid(), std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    if (!pidfd_.is_open() && errno != ESRCH)
        LOG_INFO("pidfd_open of process %d: %s; its end is only detected by polling, and does not wake blocked waiters",
                 process.pid(), std::strerror(errno));
    int error = 0;
    const Life life = ask_for_life(process, error);
    if (life == Life::unknown && is_want(error)) {
        LOG_ERR("looking at process %d: %s", process.pid(), std::strerror(error));
        pidfd_ = UniqueFd();
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    if (life != Life::alive)
        pidfd_ = UniqueFd(); // only of a process that runs now it is certain that the descriptor is not another's
    return life == Life::ended ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;
}

bool ProcessWatch::has_ended() const noexcept
{
    return pidfd_.is_open() ? becomes_readable(pidfd_.get(), 0) : life_of(process_) == Life::ended;
}

bool ProcessWatch::is_ending() const noexcept
{
    // A killed process first releases its memory, which takes time if it is large and the machine is busy.
    constexpr int patience = 50, most_patience = 2000; // ms
    for (int waited = 0; waited < most_patience; waited += patience) {
        if (ends_within(patience))
            return true;
        if (!is_exiting(process_))
            break;
    }
    return has_ended(); // by now
}

/// @p time: ms.
bool ProcessWatch::ends_within(int time) const noexcept
{
    if (pidfd_.is_open())
        return becomes_readable(pidfd_.get(), time);
    for (int i = 0; i < time && !has_ended(); ++i)
        (void)poll_one(-1, 0, std::chrono::milliseconds(1)); // a sleep
    return has_ended();
}

DescriptorPath::DescriptorPath(pid_t pid, int fd) noexcept
{
    // If the main thread has ended, /proc/<pid> is empty except for the folders of the other threads.
    if (pid == getpid())
        std::snprintf(text_, sizeof(text_), "/proc/thread-self/fd/%d", fd);
    else
        std::snprintf(text_, sizeof(text_), "/proc/%d/fd/%d", pid, fd);
}

std::string explain_denial(pid_t pid, int error)
{
    const std::string who = "process " + std::to_string(pid);
    const std::string proc = "/proc/" + std::to_string(pid);
    struct stat info {};
    if (stat(proc.c_str(), &info) != 0)
        return who + " is not there any more";
    if (info.st_uid != geteuid()) {
        std::ifstream status(proc + "/status");
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
