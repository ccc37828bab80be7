// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "scenario.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

namespace attack {

namespace {

std::string only_part;

using namespace std::chrono_literals;

/// The first byte of each message.
enum class Told : std::uint8_t { all_worked, refused };

} // namespace

void walk_only(const std::string &part)
{
    only_part = part;
}

bool Walk::is_walked(const char *part)
{
    return only_part.empty() || only_part == part;
}

bool Patience::is_over() const
{
    const auto waited = std::chrono::steady_clock::now() - start_;
    return waited > 100ms && (waited > 20s || walk_.is_excused());
}

void Walk::complain(std::source_location where, const char *what)
{
    std::fprintf(stderr, "%s:%u: %s\n", where.file_name(), where.line(), what);
    is_good_ = false;
}

void Walk::complain(std::source_location where, doca_error_t status)
{
    complain(where, name_of(status));
}

void Walk::refused(std::source_location where, doca_error_t status)
{
    ++num_refused_;
    is_refused_here_ = true;
    if (!may_fail())
        complain(where, status);
}

void Walk::require(bool holds, const char *what, std::source_location where)
{
    if (!holds)
        complain(where, ("not true: " + std::string(what)).c_str());
}

void Walk::expect(bool has_come, const char *what, std::source_location where)
{
    if (has_come || trouble_ == Trouble::any)
        return;
    if (num_missed_++ == 0 || missed_ == nullptr) {
        missed_ = what;
        missed_where_ = where;
    }
}

/// What the other process says in its next message counts, too: it may have come to the end of this part.
bool Walk::is_excused()
{
    const Outside outside;
    Told told = Told::all_worked;
    if (!is_refused_there_ && channel_ >= 0 && recv(channel_, &told, sizeof(told), MSG_PEEK | MSG_DONTWAIT) == 1)
        is_refused_there_ = told == Told::refused;
    return is_refused_here_ || is_refused_there_ || trouble_ == Trouble::any;
}

bool Walk::wait_for(int fd)
{
    const Outside outside;
    const Patience patience(*this);
    pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
    do {
        if (poll(&entry, 1, 50) == 1)
            return true;
    } while (!patience.is_over());
    return false;
}

void Walk::end_part()
{
    (void)agree(true);
    if (missed_ != nullptr && !is_excused())
        complain(missed_where_, ("has not come, and no call was refused: " + std::string(missed_)).c_str());
    missed_ = nullptr;
    is_refused_here_ = is_refused_there_ = false;
}

std::vector<std::byte> Walk::exchange(std::span<const std::byte> mine, const std::function<void()> &meanwhile)
{
    std::vector<std::byte> theirs(4096);
    std::vector<std::byte> message = {static_cast<std::byte>(is_refused_here_ ? Told::refused : Told::all_worked)};
    message.insert(message.end(), mine.begin(), mine.end());
    if (send(channel_, message.data(), message.size(), MSG_NOSIGNAL) < 0)
        std::exit(3); // the other process has gone
    const auto receive = [&] { return recv(channel_, theirs.data(), theirs.size(), meanwhile ? MSG_DONTWAIT : 0); };
    ssize_t size = receive();
    for (; size < 0 && errno == EAGAIN; size = receive()) {
        meanwhile();
        sched_yield();
    }
    if (size <= 0)
        std::exit(3);
    theirs.resize(static_cast<std::size_t>(size));
    is_refused_there_ = is_refused_there_ || static_cast<Told>(theirs.front()) == Told::refused;
    theirs.erase(theirs.begin());
    return theirs;
}

bool Walk::agree(bool mine, const std::function<void()> &meanwhile)
{
    static constexpr std::byte yes[2] = {};
    const bool theirs = !exchange(mine ? std::span(yes) : std::span<const std::byte>(), meanwhile).empty();
    return mine && theirs;
}

} // namespace attack
