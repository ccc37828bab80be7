// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>

namespace opendoca::card {

namespace {

constexpr std::size_t max_ranges = 512;          // ranges of one process_vm_readv; the kernel accepts 1024
constexpr std::uint64_t min_page_size = 1 << 12; // minimum over all machines

/// Returns whether `bytes` at both addresses are within the same page.
bool is_in_page_of(std::uint64_t one, std::uint64_t other, std::size_t bytes)
{
    return one / min_page_size == other / min_page_size && one % min_page_size + bytes <= min_page_size &&
           other % min_page_size + bytes <= min_page_size;
}

/// Builds the range of a remote process.
iovec remote_part(std::uint64_t address, std::size_t length)
{
    return {reinterpret_cast<void *>(address), length};
}

} // namespace

Process::Process(pid_t pid, UniqueFd pidfd, UniqueFd memory)
    : pid_(pid),
      pidfd_(std::move(pidfd)),
      memory_(std::move(memory))
{
}

std::shared_ptr<Process> Process::open(pid_t pid)
{
    UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd.is_open())
        return nullptr;
    // Either of the file and process_vm_readv may be refused while the other works, so a failure here is ignored.
    UniqueFd memory(::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
    return std::shared_ptr<Process>(new Process(pid, std::move(pidfd), std::move(memory)));
}

bool Process::is_dead() const
{
    pollfd state{pidfd_.get(), POLLIN, 0};
    return poll(&state, 1, 0) != 0;
}

bool Process::has_capability(unsigned number) const
{
    const std::string path = "/proc/" + std::to_string(pid_) + "/status";
    std::FILE *status = std::fopen(path.c_str(), "re");
    std::array<char, 256> line{};
    std::uint64_t effective = 0;
    while (status != nullptr && std::fgets(line.data(), line.size(), status) != nullptr) {
        if (std::sscanf(line.data(), "CapEff: %" SCNx64, &effective) == 1)
            break;
    }
    if (status != nullptr)
        std::fclose(status);
    return (effective >> number & 1) != 0;
}

Access Process::failure() const
{
    if (errno == ESRCH || is_dead())
        return Access::gone;
    // A process that is being killed loses its memory before its descriptors. Its statm then shows 0 pages.
    std::array<char, 64> text{};
    const UniqueFd file(::open(("/proc/" + std::to_string(pid_) + "/statm").c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open() || ::read(file.get(), text.data(), text.size() - 1) <= 0)
        return Access::gone;
    return std::strncmp(text.data(), "0 ", 2) == 0 ? Access::gone : Access::fault;
}

ssize_t Process::transfer(bool is_write, std::span<const iovec> local, std::span<const iovec> remote) const
{
    // A full barrier: it orders the read of a doorbell record before the reads of the requests that it announces (pairs
    // with the program's barrier between request and doorbell), and the write of data before the write of its
    // completion (pairs with the program's load barrier after it has read the owner byte). System calls alone are no
    // barrier on Arm.
    __sync_synchronize(); // in place of std::atomic_thread_fence, about which g++ warns with -fsanitize=thread
    if (!uses_file_) {
        const auto call = is_write ? process_vm_writev : process_vm_readv;
        const ssize_t done = call(pid_, local.data(), local.size(), remote.data(), remote.size(), 0);
        if (done >= 0 || (errno != EPERM && errno != ENOSYS) || !memory_.is_open())
            return done;
        uses_file_ = true; // for example by a container's seccomp filter
    }
    ssize_t sum = 0;
    for (std::size_t i = 0, offset = 0; i < remote.size(); ++i) {
        // Callers pass one local range, or local ranges of the same lengths as the remote ones.
        std::uint8_t *at =
            static_cast<std::uint8_t *>(local[local.size() == 1 ? 0 : i].iov_base) + (local.size() == 1 ? offset : 0);
        const auto place = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(remote[i].iov_base));
        const ssize_t done = is_write ? pwrite(memory_.get(), at, remote[i].iov_len, place)
                                      : pread(memory_.get(), at, remote[i].iov_len, place);
        if (done < 0)
            return sum != 0 ? sum : (errno = errno == EIO ? EFAULT : errno, -1);
        sum += done;
        offset += static_cast<std::size_t>(done);
        if (static_cast<std::size_t>(done) != remote[i].iov_len)
            break;
    }
    return sum;
}

Access Process::read(std::uint64_t from, void *to, std::size_t length) const
{
    if (length == 0)
        return Access::done;
    const iovec local{to, length}, remote = remote_part(from, length);
    errno = EFAULT; // for a transfer that is shorter than requested
    return transfer(false, {&local, 1}, {&remote, 1}) == static_cast<ssize_t>(length) ? Access::done : failure();
}

Access Process::write(std::uint64_t to, const void *from, std::size_t length) const
{
    if (length == 0)
        return Access::done;
    const iovec local{const_cast<void *>(from), length}, remote = remote_part(to, length);
    errno = EFAULT; // for a transfer that is shorter than requested
    return transfer(true, {&local, 1}, {&remote, 1}) == static_cast<ssize_t>(length) ? Access::done : failure();
}

Access Process::write_in_order(std::initializer_list<Part> parts) const
{
#if defined(__x86_64__)
    // The kernel copies the ranges one after the other, and x86-64 keeps the order of stores. Within one range the
    // order of the copy is undefined.
    constexpr std::size_t max_parts = 2;
    std::array<iovec, max_parts> local{}, remote{};
    std::size_t count = 0, length = 0;
    for (const Part &part : parts) {
        local[count] = {part.bytes.data(), part.bytes.size()};
        remote[count++] = remote_part(part.address, part.bytes.size());
        length += part.bytes.size();
    }
    errno = EFAULT; // for a transfer that is shorter than requested
    return transfer(true, {local.data(), count}, {remote.data(), count}) == static_cast<ssize_t>(length) ? Access::done
                                                                                                         : failure();
#else
    for (const Part &part : parts) {
        if (const Access access = write(part.address, part.bytes.data(), part.bytes.size()); access != Access::done)
            return access;
    }
    return Access::done;
#endif
}

void Process::read_pieces(std::span<const std::uint64_t> from, std::size_t piece, std::uint8_t *to,
                          std::span<bool> is_read) const
{
    // Each range costs the kernel a page lookup. Doorbell records share pages, so consecutive addresses in one page are
    // read as one range, including what lies between them.
    struct Range {
        std::size_t pieces; // number of pieces that lie in the range
        std::uint64_t address;
        std::size_t length; // in bytes
    };
    static std::vector<std::uint8_t> bounce; // static, since only the event loop's thread reads records
    std::array<Range, max_ranges> ranges;
    std::array<iovec, max_ranges> remote;
    std::ranges::fill(is_read, false);
    for (std::size_t next = 0; next < from.size();) {
        std::size_t count = 0, bytes = 0;
        for (std::size_t i = next; i < from.size() && count < max_ranges; ++count) {
            Range &range = ranges[count] = {1, from[i], piece};
            for (++i; i < from.size() && is_in_page_of(range.address, from[i], piece); ++i, ++range.pieces) {
                const std::uint64_t end = std::max(range.address + range.length, from[i] + piece);
                range.address = std::min(range.address, from[i]);
                range.length = end - range.address;
            }
            remote[count] = remote_part(range.address, range.length);
            bytes += range.length;
        }
        bounce.resize(bytes);
        const iovec local{bounce.data(), bytes};
        ssize_t left = transfer(false, {&local, 1}, {remote.data(), count});
        const std::uint8_t *at = bounce.data();
        bool has_failed = false;
        for (std::size_t i = 0; i < count && !has_failed; ++i) {
            const Range &range = ranges[i];
            has_failed = left < static_cast<ssize_t>(range.length);
            for (const std::size_t end = next + range.pieces; next < end; ++next) {
                is_read[next] = !has_failed;
                if (has_failed) // the program has unmapped this page; other pieces are still read
                    std::memset(to + next * piece, 0, piece);
                else
                    std::memcpy(to + next * piece, at + (from[next] - range.address), piece);
            }
            at += range.length;
            left -= static_cast<ssize_t>(range.length);
        }
    }
}

} // namespace opendoca::card
