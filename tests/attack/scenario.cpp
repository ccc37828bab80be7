// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "scenario.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sched.h>
#include <sys/socket.h>

namespace attack {

void Walk::complain(std::source_location where, doca_error_t status)
{
    std::fprintf(stderr, "%s:%u: %s\n", where.file_name(), where.line(), name_of(status));
    is_good_ = false;
}

void Walk::require(bool holds, const char *what, std::source_location where)
{
    if (holds)
        return;
    std::fprintf(stderr, "%s:%u: not true: %s\n", where.file_name(), where.line(), what);
    is_good_ = false;
}

std::vector<std::byte> Walk::exchange(std::span<const std::byte> mine, const std::function<void()> &meanwhile)
{
    static const std::byte nothing{};
    const std::byte *const data = mine.empty() ? &nothing : mine.data();
    std::vector<std::byte> theirs(4096);
    // A message of one byte stands for none: everything that is told here is longer.
    if (send(channel_, data, mine.empty() ? 1 : mine.size(), MSG_NOSIGNAL) < 0)
        std::exit(3); // the other process has gone
    const auto receive = [&] {
        return recv(channel_, theirs.data(), theirs.size(), meanwhile ? MSG_DONTWAIT : 0);
    };
    ssize_t size = receive();
    for (; size < 0 && errno == EAGAIN; size = receive()) {
        meanwhile();
        sched_yield();
    }
    if (size <= 0)
        std::exit(3);
    theirs.resize(size == 1 ? 0 : static_cast<std::size_t>(size));
    return theirs;
}

bool Walk::agree(bool mine, const std::function<void()> &meanwhile)
{
    static constexpr std::byte yes[2] = {};
    const bool theirs = !exchange(mine ? std::span(yes) : std::span<const std::byte>(), meanwhile).empty();
    return mine && theirs;
}

} // namespace attack
