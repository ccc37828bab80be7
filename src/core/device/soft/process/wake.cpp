// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "wake.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_WAKE);

namespace opendoca::soft {

namespace {

/// Attempts for one wake-up: a failure may come from a momentary lack of descriptors or memory.
constexpr int most_tries = 4;

} // namespace

doca_error_t WakePipe::open() noexcept
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        LOG_ERR("creating a pipe: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    UniqueFd read_end(ends[0]), write_end(ends[1]);
    struct stat info {};
    if (fstat(write_end.get(), &info) != 0) {
        LOG_ERR("looking at a pipe: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    read_ = std::move(read_end);
    write_ = std::move(write_end);
    inode_ = info.st_ino;
    return DOCA_SUCCESS;
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

int PeerPipe::open(pid_t pid, int fd, std::uint64_t inode, ReserveUse &reserve) noexcept
{
    const UniqueFd found(reserve.open([&] { return ::open(DescriptorPath(pid, fd).c_str(), O_PATH | O_CLOEXEC); }));
    if (!found.is_open()) {
        const int error = errno;
        return error == ENOENT && shows_descriptors(pid) ? ESRCH : error;
    }
    struct stat info {};
    if (fstat(found.get(), &info) != 0)
        return errno;
    if (!S_ISFIFO(info.st_mode) || info.st_ino != inode)
        return ESRCH;
    // For reading as well: a pipe that has lost its reader would send SIGPIPE to the program.
    UniqueFd opened(reserve.open(
        [&] { return ::open(DescriptorPath(getpid(), found.get()).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK); }));
    if (!opened.is_open())
        return errno;
    fd_ = std::move(opened);
    inode_ = inode;
    return 0;
}

/// Writes one byte. A full pipe counts as success, because it is readable and so wakes its reader.
int PeerPipe::signal() const noexcept
{
    const char byte = 0;
    return write(fd_.get(), &byte, 1) >= 0 || errno == EAGAIN ? 0 : errno;
}

doca_error_t SleepingSide::open(SleepState &state) noexcept
{
    ProcessId self;
    doca_error_t status = ProcessId::find_out(self);
    if (status == DOCA_SUCCESS)
        status = pipe_.open();
    if (status != DOCA_SUCCESS)
        return status;
    // A waker that is still busy with an earlier waiter of this entry must not reset the word of this one.
    number_ = pipe_.inode() << 24;
    state.sleeping.store(0, std::memory_order_relaxed); // a previous owner may have left a value
    state.pipe_fd.store(pipe_.write_fd(), std::memory_order_relaxed);
    state.pipe_inode.store(pipe_.inode(), std::memory_order_relaxed);
    // Release: pairs with the load in WakingSide::reach().
    state.owner.store(self.word(), std::memory_order_release);
    state_ = &state;
    return DOCA_SUCCESS;
}

/// Opens the waiter's pipe if necessary. Returns 0 or an error number: ESRCH if there is no waiter any more.
int WakingSide::reach(const SleepState &state, ReserveUse &reserve) noexcept
{
    // Acquire: pairs with the store in SleepingSide::open().
    const ProcessId owner(state.owner.load(std::memory_order_acquire));
    const std::uint64_t inode = state.pipe_inode.load(std::memory_order_relaxed);
    if (pipe_.is_open() && pipe_.inode() == inode)
        return 0;
    pipe_.close();
    if (owner.is_nobody() || life_of(owner) == Life::ended)
        return ESRCH;
    return pipe_.open(owner.pid(), state.pipe_fd.load(std::memory_order_relaxed), inode, reserve);
}

/// Closes the pipe if the reserve cannot be refilled: the pipe then holds a descriptor of the reserve.
void WakingSide::keep_or_close() noexcept
{
    if (!DescriptorReserve::fill())
        pipe_.close();
}

void WakingSide::prepare(const SleepState &state) noexcept
{
    ReserveUse reserve;
    (void)reach(state, reserve);
    keep_or_close();
}

int WakingSide::try_to_signal(const SleepState &state, ReserveUse &reserve) noexcept
{
    const int error = reach(state, reserve);
    return error == 0 ? pipe_.signal() : error;
}

bool WakingSide::signal_now(SleepState &state, std::uint64_t seen) noexcept
{
    ReserveUse reserve;
    int error = try_to_signal(state, reserve);
    for (int tries = 1; error != 0 && error != ESRCH && !has_failed_ && tries < most_tries; ++tries) {
        sched_yield();
        error = try_to_signal(state, reserve);
    }
    const bool is_done = error == 0 || error == ESRCH;
    if (is_done)
        state.sleeping.compare_exchange_strong(seen, 0, std::memory_order_relaxed);
    else if (!has_failed_)
        explain_failure(state, error);
    has_failed_ = !is_done;
    keep_or_close();
    return is_done;
}

void WakingSide::explain_failure(const SleepState &state, int error) noexcept
{
    const pid_t pid = ProcessId(state.owner.load(std::memory_order_relaxed)).pid();
    if (error != EACCES && error != EPERM)
        return LOG_ERR("waking process %d: %s", pid, std::strerror(error));
    (void)guarded([&] {
        LOG_ERR("waking process %d: %s", pid, explain_denial(pid, error).c_str());
        return DOCA_SUCCESS;
    });
}

} // namespace opendoca::soft
