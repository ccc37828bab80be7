// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "event_pipe.hpp"

#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "process.hpp"

namespace opendoca::card {

std::shared_ptr<EventPipe> EventPipe::create(UniqueFd &program_end, Reads reads)
{
    int ends[2];
    // O_DIRECT: each write is a packet, and each read returns one.
    if (pipe2(ends, O_CLOEXEC | (reads == Reads::one ? O_DIRECT : 0)) != 0)
        return nullptr;
    UniqueFd read_end(ends[0]);
    auto result = std::make_shared<EventPipe>();
    result->write_end_ = UniqueFd(ends[1]);
    struct stat state {};
    // Only the card's end is non-blocking: a program that does not read its events must not block the card.
    if (fcntl(ends[1], F_SETFL, O_NONBLOCK | fcntl(ends[1], F_GETFL)) != 0 || fstat(ends[0], &state) != 0)
        return nullptr;
    // Both ends of a pipe have the same inode, so it identifies the program's end as well.
    result->inode_ = state.st_ino;
    result->device_ = state.st_dev;
    program_end = std::move(read_end);
    return result;
}

bool EventPipe::write(const void *event, std::size_t size) const
{
    return ::write(write_end_.get(), event, size) == static_cast<ssize_t>(size);
}

std::uint32_t EventPipe::remove_unread(std::uint64_t element, std::size_t size) const
{
    // Opened anew, because O_NONBLOCK belongs to the open file, and the program sets it for its own.
    const UniqueFd read_end(
        open(("/proc/self/fd/" + std::to_string(write_end_.get())).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!read_end.is_open())
        return 0;
    // A pipe holds 64 KiB by default, so one read empties it. Events are written whole, since they are shorter than
    // PIPE_BUF.
    std::vector<std::uint8_t> events(1 << 16);
    const ssize_t got = read(read_end.get(), events.data(), events.size());
    std::uint32_t taken = 0;
    for (std::size_t at = 0; got > 0 && at + size <= static_cast<std::size_t>(got); at += size) {
        if (std::memcmp(events.data() + at, &element, sizeof(element)) == 0)
            ++taken;
        else
            write(events.data() + at, size); // fits, since it was just read
    }
    return taken;
}

std::size_t EventPipe::unread_bytes() const
{
    int bytes = 0;
    return ioctl(write_end_.get(), FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

bool EventPipe::is_closed_by_program() const
{
    // POLLERR at the write end means that no read end is left. It is reported without being requested.
    pollfd state{write_end_.get(), 0, 0};
    return poll(&state, 1, 0) > 0 && (state.revents & POLLERR) != 0;
}

bool EventPipe::is_open_in(const Process &process, int fd) const
{
    struct stat state {};
    const std::string path = "/proc/" + std::to_string(process.pid()) + "/fd/" + std::to_string(fd);
    return fd >= 0 && stat(path.c_str(), &state) == 0 && state.st_ino == inode_ && state.st_dev == device_;
}

} // namespace opendoca::card
