// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "wake.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../log.hpp"
#include "reserve.hpp"

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

doca_error_t PeerPipe::open(pid_t pid, int fd, std::uint64_t inode) noexcept
{
    const auto report = [&](int error) {
        if (is_want(error)) {
            LOG_ERR("no descriptor or memory is left to wake process %d", pid);
            return DOCA_ERROR_NO_MEMORY;
        }
        return guarded([&] {
            LOG_ERR("can't reach the wake-up pipe of process %d: %s", pid, explain_denial(pid, error).c_str());
            return DOCA_ERROR_NOT_PERMITTED;
        });
    };
    const UniqueFd found(DescriptorReserve::open_with(
        [&] { return ::open(DescriptorPath(pid, fd).c_str(), O_PATH | O_CLOEXEC); }));
    struct stat info {};
    if (!found.is_open() || fstat(found.get(), &info) != 0)
        return report(errno);
    if (!S_ISFIFO(info.st_mode) || info.st_ino != inode) {
        LOG_ERR("descriptor %d of process %d is not the wake-up pipe any more", fd, pid);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // For reading as well: a pipe that has lost its reader would send SIGPIPE to the program.
    UniqueFd opened(DescriptorReserve::open_with([&] {
        return ::open(DescriptorPath(getpid(), found.get()).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    }));
    if (!opened.is_open())
        return report(errno);
    fd_ = std::move(opened);
    inode_ = inode;
    return DOCA_SUCCESS;
}

void PeerPipe::signal() const noexcept
{
    write_byte(fd_.get());
}

doca_error_t SleepingSide::open(SleepState &state) noexcept
{
    if (const doca_error_t status = pipe_.open(); status != DOCA_SUCCESS)
        return status;
    state.sleeping.store(0, std::memory_order_relaxed); // what the last owner may have left
    state.pipe_fd.store(pipe_.write_fd(), std::memory_order_relaxed);
    state.pipe_inode.store(pipe_.inode(), std::memory_order_relaxed);
    // Release: pairs with the load in WakingSide::reach().
    state.owner.store(ProcessId::self().word(), std::memory_order_release);
    state_ = &state;
    return DOCA_SUCCESS;
}

/// Without a pipe after SUCCESS, there is no sleeper any more. NO_MEMORY: it can't be reached for now.
doca_error_t WakingSide::reach(const SleepState &state) noexcept
{
    // Acquire: pairs with the store in SleepingSide::open().
    const ProcessId owner(state.owner.load(std::memory_order_acquire));
    const std::uint64_t inode = state.pipe_inode.load(std::memory_order_relaxed);
    if (pipe_.is_open() && pipe_.inode() == inode)
        return DOCA_SUCCESS;
    pipe_.close();
    if (owner.is_nobody() || life_of(owner) == Life::ended)
        return DOCA_SUCCESS;
    return pipe_.open(owner.pid(), state.pipe_fd.load(std::memory_order_relaxed), inode);
}

/// A descriptor that was taken from the reserve goes back there.
void WakingSide::fill_reserve() noexcept
{
    if (!DescriptorReserve::fill()) {
        pipe_.close();
        DescriptorReserve::fill();
    }
}

void WakingSide::prepare(const SleepState &state) noexcept
{
    (void)reach(state);
    fill_reserve();
}

bool WakingSide::signal_now(SleepState &state, std::uint64_t seen) noexcept
{
    const doca_error_t status = reach(state);
    if (status == DOCA_SUCCESS) {
        if (pipe_.is_open())
            pipe_.signal();
        state.sleeping.compare_exchange_strong(seen, 0, std::memory_order_relaxed);
    }
    fill_reserve();
    return status != DOCA_ERROR_NO_MEMORY;
}

} // namespace opendoca::soft
