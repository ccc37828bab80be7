// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "wake.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.hpp"

#include "../../../log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_WAKE);

namespace opendoca::soft {

namespace {

/// A full pipe is as good as a written one: its reader wakes.
void write_byte(int fd) noexcept
{
    const char byte = 0;
    while (write(fd, &byte, 1) < 0 && errno == EINTR) {
    }
}

} // namespace

doca_error_t WakePipe::open() noexcept
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        LOG_ERR("creating a pipe: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    read_ = UniqueFd(ends[0]);
    write_ = UniqueFd(ends[1]);
    return DOCA_SUCCESS;
}

std::uint64_t WakePipe::inode() const noexcept
{
    struct stat info{};
    return fstat(write_.get(), &info) == 0 ? info.st_ino : 0;
}

void WakePipe::signal() const noexcept
{
    write_byte(write_.get());
}

bool WakePipe::drain() const noexcept
{
    bool was_written = false;
    char bytes[256];
    ssize_t count = 0;
    do {
        count = read(read_.get(), bytes, sizeof(bytes));
        was_written = was_written || count > 0;
    } while (count == static_cast<ssize_t>(sizeof(bytes)) || (count < 0 && errno == EINTR));
    return was_written;
}

doca_error_t PeerPipe::open(std::int32_t pid, std::int32_t fd, std::uint64_t inode)
{
    // Where the main thread has ended, /proc/<pid> is empty but for what other threads have there.
    const std::string place =
        "/proc/" + (pid == getpid() ? "thread-self" : std::to_string(pid)) + "/fd/" + std::to_string(fd);
    const UniqueFd found(::open(place.c_str(), O_PATH | O_CLOEXEC));
    struct stat info{};
    if (!found.is_open() || fstat(found.get(), &info) != 0) {
        const int error = errno;
        LOG_ERR("can't reach the wake-up pipe of process %d: %s", pid, explain_denial(pid, error).c_str());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (!S_ISFIFO(info.st_mode) || (inode != 0 && info.st_ino != inode)) {
        LOG_ERR("descriptor %d of process %d is not the wake-up pipe any more", fd, pid);
        return DOCA_ERROR_INVALID_VALUE;
    }
    const std::string self = "/proc/thread-self/fd/" + std::to_string(found.get());
    // For reading as well: a pipe that has lost its reader would send SIGPIPE to the program.
    fd_ = UniqueFd(::open(self.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
    if (!fd_.is_open()) {
        LOG_ERR("can't open the wake-up pipe of process %d: %s", pid, std::strerror(errno));
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

void PeerPipe::signal() const noexcept
{
    write_byte(fd_.get());
}

} // namespace opendoca::soft
