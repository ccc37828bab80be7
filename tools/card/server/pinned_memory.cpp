// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "pinned_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string>

#include <linux/capability.h>
#include <unistd.h>

namespace opendoca::card {

namespace {

/// Returns the page size of the machine.
std::uint64_t bytes_of_page()
{
    static const auto size = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return size;
}

/// Closes a file of the C library; for std::unique_ptr.
struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// Opens a file of /proc/PID.
File open_proc(const Process &process, const char *name)
{
    return File(std::fopen(("/proc/" + std::to_string(process.pid()) + "/" + name).c_str(), "re"));
}

/// One line of /proc/PID/maps: the range [begin, end) of the process's memory, and how it may be accessed.
struct Mapping {
    std::uint64_t begin, end;
    bool is_readable, is_writable;
    bool has_file; ///< backed by a file, which may be shorter than the mapping
};

/// Parses a line of /proc/PID/maps.
std::optional<Mapping> parse_mapping(const char *line)
{
    Mapping mapping{};
    char protection[5] = {};
    std::uint64_t inode = 0;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %" SCNu64, &mapping.begin, &mapping.end, protection,
                    &inode) != 4)
        return std::nullopt;
    mapping.is_readable = protection[0] == 'r';
    mapping.is_writable = protection[1] == 'w';
    mapping.has_file = inode != 0;
    return mapping;
}

/// Returns whether all of [begin, end) is mapped with the required protection. The cost depends on the number of
/// mappings, not on the length. A page beyond the end of a mapped file cannot be pinned: the pages of a file that exist
/// are at the front of its mapping, so it is sufficient to read the last byte of each file's part.
bool is_mapped(const Process &process, std::uint64_t begin, std::uint64_t end, bool is_written)
{
    const File maps = open_proc(process, "maps");
    char line[512];
    bool is_line_start = true;
    while (begin < end && maps != nullptr && std::fgets(line, sizeof(line), maps.get()) != nullptr) {
        const bool starts = std::exchange(is_line_start, std::strchr(line, '\n') != nullptr);
        if (!starts)
            continue; // continuation of a line with a long file name
        const std::optional<Mapping> mapping = parse_mapping(line);
        if (!mapping || mapping->end <= begin)
            continue;
        if (mapping->begin > begin || !(is_written ? mapping->is_writable : mapping->is_readable))
            return false;
        begin = std::min(end, mapping->end);
        std::uint8_t byte = 0;
        if (mapping->has_file && mapping->is_readable && process.read(begin - 1, &byte, 1) != Access::done)
            return false;
    }
    return begin >= end;
}

/// Returns the soft limit of locked memory in bytes; "unlimited" is the largest number.
std::uint64_t lock_limit(const Process &process)
{
    constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    const File limits = open_proc(process, "limits");
    char line[256];
    std::uint64_t limit = none;
    while (limits != nullptr && std::fgets(line, sizeof(line), limits.get()) != nullptr) {
        if (std::sscanf(line, "Max locked memory %" SCNu64, &limit) == 1)
            break;
    }
    return limit;
}

} // namespace

PinnedMemory::PinnedMemory(std::shared_ptr<Process> process, std::uint64_t pages)
    : process_(std::move(process)),
      pages_(pages)
{
    process_->pinned_pages += pages_;
}

PinnedMemory::~PinnedMemory()
{
    if (process_ != nullptr)
        process_->pinned_pages -= pages_;
}

int pin_memory(const std::shared_ptr<Process> &process, std::uint64_t start, std::uint64_t length, bool is_written,
               PinnedMemory &pinned)
{
    const std::uint64_t page = bytes_of_page(), begin = start / page * page;
    // The last page of the address space is excluded, so that rounding up cannot wrap around.
    const std::uint64_t last = std::numeric_limits<std::uint64_t>::max() - page;
    if (length == 0 || length > last || start > last - length)
        return EINVAL;
    const std::uint64_t end = (start + length + page - 1) / page * page, pages = (end - begin) / page;
    const std::uint64_t limit = lock_limit(*process), wanted = process->pinned_pages + pages;
    if (wanted > limit / page && !process->has_capability(CAP_IPC_LOCK)) {
        std::fprintf(stderr,
                     "process %d: refused to pin %" PRIu64 " bytes: the sum would be %" PRIu64
                     " KiB, the limit of locked memory (ulimit -l) is %" PRIu64
                     " KiB, and the process lacks CAP_IPC_LOCK\n",
                     process->pid(), length, wanted * page / 1024, limit / 1024);
        return limit == 0 ? EPERM : ENOMEM;
    }
    if (!is_mapped(*process, begin, end, is_written))
        return EFAULT;
    pinned = PinnedMemory(process, pages);
    return 0;
}

int DoorbellRecordPages::pin(const std::shared_ptr<Process> &process, std::uint64_t record,
                             std::shared_ptr<PinnedMemory> &pinned)
{
    // Destroyed queues have released their pins.
    std::erase_if(pages_, [](const auto &entry) { return entry.second.expired(); });
    const std::uint64_t page = record / bytes_of_page() * bytes_of_page();
    std::weak_ptr<PinnedMemory> &entry = pages_[{process.get(), page}];
    pinned = entry.lock();
    if (pinned != nullptr)
        return 0;
    PinnedMemory memory;
    if (const int error = pin_memory(process, page, bytes_of_page(), false, memory))
        return error;
    pinned = std::make_shared<PinnedMemory>(std::move(memory));
    entry = pinned;
    return 0;
}

} // namespace opendoca::card
