// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "process_copy.hpp"

#include <cerrno>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

#include "../../../log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_PROCESS_COPY);

namespace opendoca::soft {

namespace {

doca_error_t report(const ExporterProcess &process, const std::byte *there, ssize_t result, int error) noexcept
{
    // Both calls tell of the end of a process in their own way, and of a hole in its memory as well.
    if (result == 0 || error == ESRCH || process.is_gone_or_ending()) {
        LOG_ERR("process %d, whose memory is copied, has ended", process.pid());
        return DOCA_ERROR_CONNECTION_RESET;
    }
    if (error == EFAULT || error == EIO) {
        LOG_ERR("process %d has no memory at %p any more", process.pid(), static_cast<const void *>(there));
        return DOCA_ERROR_IO_FAILED;
    }
    LOG_ERR("the kernel refuses access to the memory of process %d: %s", process.pid(), std::strerror(error));
    return DOCA_ERROR_OPERATING_SYSTEM;
}

/// Repeats @p step, which copies a part and says how much, until all is done.
template <typename Step>
doca_error_t repeat(const ExporterProcess &process, const std::byte *there, std::size_t length, Step step) noexcept
{
    for (std::size_t done = 0; done != length;) {
        const ssize_t result = step(done);
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
    if (length <= largest_by_file) {
        return repeat(process, there, length, [&](std::size_t done) {
            return pread(process.memory_fd(), here + done, length - done, reinterpret_cast<off_t>(there + done));
        });
    }
    return repeat(process, there, length, [&](std::size_t done) {
        const iovec local = {here + done, length - done};
        const iovec remote = {there + done, length - done};
        return process_vm_readv(process.pid(), &local, 1, &remote, 1, 0);
    });
}

doca_error_t write_process_in_parts(const ExporterProcess &process, std::byte *there, std::byte *here,
                           std::size_t length) noexcept
{
    if (length <= largest_by_file) {
        return repeat(process, there, length, [&](std::size_t done) {
            return pwrite(process.memory_fd(), here + done, length - done, reinterpret_cast<off_t>(there + done));
        });
    }
    return repeat(process, there, length, [&](std::size_t done) {
        const iovec local = {here + done, length - done};
        const iovec remote = {there + done, length - done};
        return process_vm_writev(process.pid(), &local, 1, &remote, 1, 0);
    });
}

} // namespace opendoca::soft
