// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "own_memory.hpp"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_OWN_MEMORY);

namespace opendoca {

namespace {

/// A line of /proc/<pid>/maps: a mapping of this process.
struct Mapping {
    std::uintptr_t start;
    std::uintptr_t end;   ///< exclusive
    std::uint64_t offset; ///< of `start` in the mapped object
    std::uint64_t device; ///< of the file system; 0 like the inode for private anonymous memory
    std::uint64_t inode;
    bool is_readable;
    bool is_writable;
    bool is_shared;
    std::string path; ///< empty for anonymous memory; does not begin with a slash for special mappings
};

/// Lists the mappings of this process that overlap @p range, by ascending address. NO_MEMORY, logged, if they cannot be
/// read.
doca_error_t list_mappings(const MemoryRange &range, std::vector<Mapping> &result)
{
    const auto start = reinterpret_cast<std::uintptr_t>(range.addr);
    // Of the thread and not the process, because /proc/self is empty once the process's first thread has ended.
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen("/proc/thread-self/maps", "re"),
                                                                &std::fclose);
    if (file == nullptr) {
        LOG_ERR("reading the mappings of this process: %s", std::strerror(errno));
        return DOCA_ERROR_NO_MEMORY;
    }
    struct Line {
        ~Line() { std::free(text); }
        char *text = nullptr;
        std::size_t capacity = 0;
    } line;
    while (getline(&line.text, &line.capacity, file.get()) > 0) {
        Mapping m{};
        char flags[5] = {};
        unsigned major = 0, minor = 0;
        int path = 0;
        if (std::sscanf(line.text, "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m.start, &m.end,
                        flags, &m.offset, &major, &minor, &m.inode, &path) < 7)
            continue;
        if (m.end <= start)
            continue;
        if (m.start >= start + range.len)
            return DOCA_SUCCESS;
        m.device = makedev(major, minor);
        m.is_readable = flags[0] == 'r';
        m.is_writable = flags[1] == 'w';
        m.is_shared = flags[3] == 's';
        if (path > 0) {
            m.path = line.text + path;
            m.path.erase(m.path.find_last_not_of('\n') + 1);
        }
        result.push_back(std::move(m));
    }
    if (feof(file.get()) != 0)
        return DOCA_SUCCESS;
    LOG_ERR("reading the mappings of this process: %s", std::strerror(errno));
    return DOCA_ERROR_NO_MEMORY;
}

/// Returns whether @p mappings, those that overlap @p range by ascending address, cover all of it.
bool has_no_gap(const std::vector<Mapping> &mappings, const MemoryRange &range)
{
    auto next = reinterpret_cast<std::uintptr_t>(range.addr);
    const std::uintptr_t end = next + range.len;
    for (const auto &m : mappings) {
        if (m.start > next)
            return false;
        next = m.end;
    }
    return next >= end;
}

/// Opens @p path again if it is the regular file that @p mapping maps.
UniqueFd open_if_same(const std::string &path, const Mapping &mapping, bool for_writing)
{
    // O_PATH first: opening a device or a pipe that only has the same name could have effects. The second open() is of
    // the object that was checked, whatever the path names by then. O_NONBLOCK: a lease on the file must not block this
    // thread.
    UniqueFd place(open(path.c_str(), O_PATH | O_CLOEXEC));
    struct stat info {};
    if (!place.is_open() || fstat(place.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_dev != mapping.device ||
        info.st_ino != mapping.inode)
        return UniqueFd();
    const std::string self = "/proc/thread-self/fd/" + std::to_string(place.get());
    return UniqueFd(open(self.c_str(), (for_writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK));
}

/// Returns a descriptor of the file of @p mapping: by its path, or, for a memfd or a deleted file, through one of this
/// process's open descriptors. Closed if neither works.
UniqueFd find_descriptor(const Mapping &mapping, bool for_writing)
{
    if (!mapping.path.empty() && mapping.path.front() == '/') {
        UniqueFd fd = open_if_same(mapping.path, mapping, for_writing);
        if (fd.is_open())
            return fd;
    }
    const std::unique_ptr<DIR, int (*)(DIR *)> dir(opendir("/proc/thread-self/fd"), &closedir);
    while (const dirent *entry = dir == nullptr ? nullptr : readdir(dir.get())) {
        if (entry->d_name[0] == '.')
            continue;
        UniqueFd fd = open_if_same(std::string("/proc/thread-self/fd/") + entry->d_name, mapping, for_writing);
        if (fd.is_open())
            return fd;
    }
    return UniqueFd();
}

} // namespace

doca_error_t check_accessible(const MemoryRange &range, bool for_writing)
{
    std::vector<Mapping> mappings;
    if (const doca_error_t status = list_mappings(range, mappings); status != DOCA_SUCCESS)
        return status;
    if (!has_no_gap(mappings, range)) {
        LOG_ERR("[%p, +%zu) is not mapped throughout", static_cast<void *>(range.addr), range.len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    for (const auto &m : mappings) {
        if (!m.is_readable || (for_writing && !m.is_writable)) {
            LOG_ERR("[%p, +%zu) can't be %s from 0x%" PRIxPTR " on", static_cast<void *>(range.addr), range.len,
                    m.is_readable ? "written" : "read", m.start);
            return DOCA_ERROR_INVALID_VALUE;
        }
    }
    return DOCA_SUCCESS;
}

std::optional<SharedObject> find_shared_object(const MemoryRange &range, bool for_writing)
{
    std::vector<Mapping> mappings;
    if (list_mappings(range, mappings) != DOCA_SUCCESS || mappings.empty())
        return std::nullopt;
    // One object is only enough if all mappings are of it, shared, and contiguous in it.
    const Mapping &first = mappings.front();
    for (const auto &m : mappings) {
        if (!m.is_shared || m.device != first.device || m.inode != first.inode ||
            m.offset - first.offset != m.start - first.start)
            return std::nullopt;
    }
    SharedObject object;
    object.fd = find_descriptor(first, for_writing);
    if (!object.fd.is_open())
        return std::nullopt;
    object.device = first.device;
    object.inode = first.inode;
    object.offset = first.offset + (reinterpret_cast<std::uintptr_t>(range.addr) - first.start);
    struct stat info {};
    if (fstat(object.fd.get(), &info) != 0 || static_cast<std::uint64_t>(info.st_size) < object.offset + range.len)
        return std::nullopt; // bytes beyond the end of the file would raise SIGBUS in the peer
    return object;
}

} // namespace opendoca
