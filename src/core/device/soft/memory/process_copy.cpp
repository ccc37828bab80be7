// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "process_copy.hpp"

#include <cerrno>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

#include "../../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_PROCESS_COPY);

namespace opendoca::soft {

namespace {

/// Logs why a copy has failed, and returns the error.
doca_error_t report(const ExporterProcess &process, const std::byte *there, ssize_t result, int error) noexcept
{
    // Both system calls report the end of a process, and unmapped memory, in their own ways.
    if (result == 0 || error == ESRCH || process.is_gone_or_ending()) {
        LOG_ERR("process %d, the owner of the copied memory, has ended", process.pid());
        return DOCA_ERROR_CONNECTION_RESET;
    }
    if (error == EFAULT || error == EIO) {
        LOG_ERR("process %d has no memory at %p any more", process.pid(), static_cast<const void *>(there));
        return DOCA_ERROR_IO_FAILED;
    }
    LOG_ERR("the kernel refuses access to the memory of process %d: %s", process.pid(), std::strerror(error));
    return DOCA_ERROR_OPERATING_SYSTEM;
}

/// Returns how many bytes were copied: all, some or none. If @p is_guarded, the guard byte is the first part of the
/// call.
template <bool is_write>
std::size_t copy_by_call(const ExporterProcess &process, std::byte *here, std::byte *there, std::size_t length,
                         bool is_guarded) noexcept
{
    std::byte guard{};
    const iovec local[] = {{&guard, 1}, {here, length}};
    const iovec remote[] = {{process.guard(), 1}, {there, length}};
    const unsigned skipped = is_guarded ? 0 : 1;
    const auto call = is_write ? &process_vm_writev : &process_vm_readv;
    const ssize_t result = call(process.pid(), local + skipped, 2 - skipped, remote + skipped, 2 - skipped, 0);
    return result <= 0 ? 0 : static_cast<std::size_t>(result) - (is_guarded ? 1 : 0);
}

/// Copies by process_vm_*() if the copy is long, and what remains by /proc/<pid>/mem.
template <bool is_write>
doca_error_t copy_in_parts(const ExporterProcess &process, std::byte *here, std::byte *there,
                           std::size_t length) noexcept
{
    std::size_t done = 0;
    if (length > largest_by_file) {
        // A write is always guarded. A read without the guard may have read another process: the liveness word is
        // checked again afterwards, and the data then read once more.
        const bool is_guarded = is_write || process.is_marked_dead(process.liveness());
        done = copy_by_call<is_write>(process, here, there, length, is_guarded);
        if (!is_guarded && process.is_marked_dead(process.liveness())) [[unlikely]]
            done = copy_by_call<is_write>(process, here, there, length, true);
    }
    while (done != length) {
        const auto offset = reinterpret_cast<off_t>(there + done);
        const ssize_t result = is_write ? pwrite(process.memory_fd(), here + done, length - done, offset)
                                        : pread(process.memory_fd(), here + done, length - done, offset);
        if (result > 0)
            done += static_cast<std::size_t>(result);
        else if (result == 0 || errno != EINTR)
            return report(process, there + done, result, errno);
    }
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t read_process_in_parts(const ExporterProcess &process, std::byte *here, std::byte *there,
                                   std::size_t length) noexcept
{
    return copy_in_parts<false>(process, here, there, length);
}

doca_error_t write_process_in_parts(const ExporterProcess &process, std::byte *there, std::byte *here,
                                    std::size_t length) noexcept
{
    return copy_in_parts<true>(process, here, there, length);
}

} // namespace opendoca::soft
