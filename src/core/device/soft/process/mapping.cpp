// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "mapping.hpp"

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "reserve.hpp"

namespace opendoca::soft {

namespace {

constexpr char own_maps[] = "/proc/thread-self/maps"; // the main thread may have ended

/// The file of a mapping, as /proc/<pid>/maps shows it. The device can differ from that of stat(), so only such lines
/// are compared with each other.
struct MappedFile {
    unsigned major;
    unsigned minor;
    std::uint64_t inode;
    bool operator==(const MappedFile &) const = default;
};

/// Calls @p visit(begin, end, file) for each line of the maps at @p path. Returns 0 or an error number; ESRCH if there
/// is no line, since the process then has no address space.
template <typename Visit>
int visit_maps(ReserveUse &reserve, const char *path, Visit visit) noexcept
{
    const UniqueFd file(reserve.open([&] { return open(path, O_RDONLY | O_CLOEXEC); }));
    if (!file.is_open())
        return errno;
    bool is_empty = true;
    char line[128]; // long enough for the fields that are compared
    std::size_t length = 0;
    for (;;) {
        char text[2048];
        const ssize_t size = read(file.get(), text, sizeof(text));
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return errno;
        if (size == 0)
            return is_empty ? ESRCH : 0;
        for (const char c : std::span(text, static_cast<std::size_t>(size))) {
            if (c != '\n') {
                if (length < sizeof(line) - 1)
                    line[length++] = c;
                continue;
            }
            line[length] = '\0';
            length = 0;
            std::uint64_t begin = 0, end = 0;
            MappedFile mapped{};
            if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %x:%x %" SCNu64, &begin, &end, &mapped.major,
                            &mapped.minor, &mapped.inode) != 5)
                return EIO;
            visit(begin, end, mapped);
            is_empty = false;
        }
    }
}

/// Counts the mappings of @p wanted. One that exists during the whole call is counted, whatever else changes, since the
/// kernel lists mappings by address.
int count_mappings(ReserveUse &reserve, const char *path, const MappedFile &wanted, std::uint32_t &count) noexcept
{
    count = 0;
    return visit_maps(reserve, path,
                      [&](std::uint64_t, std::uint64_t, const MappedFile &file) { count += file == wanted; });
}

/// Counts them for a process whose main thread has ended, by a thread that still runs: all threads share one address
/// space.
int count_by_threads(ReserveUse &reserve, pid_t pid, const MappedFile &wanted, std::uint32_t &count) noexcept
{
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/%d/task", pid);
    const UniqueFd tasks(reserve.open([&] { return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (!tasks.is_open())
        return errno;
    for (;;) {
        alignas(dirent64) char entries[1024]; // by the system call, since readdir() allocates
        const long size = syscall(SYS_getdents64, tasks.get(), entries, sizeof(entries));
        if (size <= 0)
            return size < 0 ? errno : ESRCH;
        for (long at = 0; at < size;) {
            const auto &entry = *reinterpret_cast<const dirent64 *>(entries + at);
            at += entry.d_reclen;
            const long thread = std::strtol(entry.d_name, nullptr, 10); // 0 for . and ..
            std::snprintf(path, sizeof(path), "/proc/%d/task/%ld/maps", pid, thread);
            if (const int error = thread != 0 ? count_mappings(reserve, path, wanted, count) : ESRCH;
                error != ESRCH && error != ENOENT)
                return error;
        }
    }
}

/// Returns true only if, according to the kernel's list of file locks, @p pid has not locked @p page, as processes that
/// map it do. Every process may read that list. Returns false if the list cannot be read with one call, since lines may
/// move between two calls, or if it does not show this process's own lock: some containers have an empty file in its
/// place.
bool has_no_lock(ReserveUse &reserve, pid_t pid, const MappedFile &page) noexcept
{
    const UniqueFd file(reserve.open([&] { return open("/proc/locks", O_RDONLY | O_CLOEXEC); }));
    if (!file.is_open())
        return false;
    char text[4096]; // the kernel returns at most a page in one call
    const ssize_t size = read(file.get(), text, sizeof(text) - 1);
    char more = 0;
    if (size < 0 || read(file.get(), &more, 1) != 0)
        return false;
    text[size] = '\0';
    bool has_own = false;
    for (const char *line = text; *line != '\0';) {
        int owner = 0;
        MappedFile locked{};
        if (std::sscanf(line, "%*s FLOCK %*s %*s %d %x:%x:%" SCNu64, &owner, &locked.major, &locked.minor,
                        &locked.inode) == 4 &&
            locked == page) {
            if (owner == pid)
                return false;
            has_own = has_own || owner == getpid();
        }
        const char *const end = std::strchr(line, '\n');
        if (end == nullptr)
            return false;
        line = end + 1;
    }
    return has_own;
}

} // namespace

bool has_certainly_not_mapped(ProcessId process, const void *here) noexcept
{
    ReserveUse reserve;
    // If this process's own maps do not show the page, as in some sandboxes, those of others do not either.
    const auto addr = reinterpret_cast<std::uintptr_t>(here);
    MappedFile page{};
    if (visit_maps(reserve, own_maps,
                   [&](std::uint64_t begin, std::uint64_t end, const MappedFile &file) {
                       if (begin <= addr && addr < end)
                           page = file;
                   }) != 0 ||
        page.inode == 0)
        return false;
    std::uint32_t count = 0;
    if (process.pid() == getpid())
        return count_mappings(reserve, own_maps, page, count) == 0 && count == 1;
    char path[32];
    std::snprintf(path, sizeof(path), "/proc/%d/maps", process.pid());
    int error = count_mappings(reserve, path, page, count);
    if (error == ESRCH) {
        if (is_kernel_thread(process.pid()))
            return true;
        error = count_by_threads(reserve, process.pid(), page, count);
    }
    // A process that the kernel hides from this one may nevertheless have opened the page: one that is not dumpable, or
    // that has more capabilities, such as init. If it has mapped the page, it has also locked it.
    if (error == EACCES || error == EPERM)
        return has_no_lock(reserve, process.pid(), page);
    return error == 0 && count == 0;
}

} // namespace opendoca::soft
