// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "event_handle.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "../log/log.hpp"
#include "../process/fork.hpp"

OPENDOCA_LOG_SOURCE(EVENT_HANDLE);

namespace opendoca {

doca_error_t EventHandle::open() noexcept
{
    UniqueFd wake_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    ProcessFd epoll_fd(UniqueFd(epoll_create1(EPOLL_CLOEXEC)));
    if (!wake_fd.is_open() || !epoll_fd.is_open()) {
        LOG_ERR("creating the event handle: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    // watch() uses epoll_fd_. On failure, both descriptors are closed, and open() can be repeated.
    std::swap(epoll_fd_, epoll_fd);
    if (const doca_error_t status = watch(wake_fd.get()); status != DOCA_SUCCESS) {
        std::swap(epoll_fd_, epoll_fd);
        return status;
    }
    wake_fd_ = std::move(wake_fd);
    return DOCA_SUCCESS;
}

doca_error_t EventHandle::watch(int fd) noexcept
{
    epoll_event interest = {.events = EPOLLIN, .data = {.fd = fd}};
    if (epoll_ctl(epoll_fd_.get(), EPOLL_CTL_ADD, fd, &interest) != 0) {
        // Another context watches it already, and epoll holds a descriptor once: counted here.
        if (errno == EEXIST) {
            return guarded([&] {
                watched_again_.push_back(fd);
                return DOCA_SUCCESS;
            });
        }
        LOG_ERR("watching descriptor %d: %s", fd, std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    return DOCA_SUCCESS;
}

void EventHandle::unwatch(int fd) noexcept
{
    if (const auto again = std::ranges::find(watched_again_, fd); again != watched_again_.end()) {
        watched_again_.erase(again);
        return;
    }
    // Fails only if the descriptor was closed, which has removed it already.
    epoll_ctl(epoll_fd_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

std::size_t EventHandle::readable_descriptors(std::span<int> into) const noexcept
{
    std::array<epoll_event, 64> events;
    const int count =
        epoll_wait(epoll_fd_.get(), events.data(), static_cast<int>(std::min(events.size(), into.size())), 0);
    for (int i = 0; i < count; ++i)
        into[static_cast<std::size_t>(i)] = events[static_cast<std::size_t>(i)].data.fd;
    return count > 0 ? static_cast<std::size_t>(count) : 0;
}

bool EventHandle::wake() noexcept
{
    constexpr int max_attempts = 4; // retried, because the waiter depends on this write alone
    for (int tries = 0; !is_written_ && tries != max_attempts; ++tries)
        is_written_ = eventfd_write(wake_fd_.get(), 1) == 0;
    if (!is_written_)
        LOG_ERR("writing the event handle: %s", std::strerror(errno));
    return is_written_;
}

doca_error_t EventHandle::clear() noexcept
{
    // An expired timer stays readable until it is set again; one that still runs is left for the next wait.
    if (timer_end_ != Clock::time_point{} && Clock::now() >= timer_end_ && !set_timer(std::chrono::seconds(0))) {
        LOG_ERR("stopping the timer of the event handle: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    if (!is_written_)
        return DOCA_SUCCESS; // a watched descriptor made the handle readable, and its source resets it
    eventfd_t count = 0;
    if (eventfd_read(wake_fd_.get(), &count) != 0 && errno != EAGAIN) {
        LOG_ERR("reading the event handle: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    is_written_ = false;
    return DOCA_SUCCESS;
}

doca_error_t EventHandle::open_timer() noexcept
{
    if (timer_.is_open())
        return DOCA_SUCCESS;
    UniqueFd made(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!made.is_open()) {
        LOG_ERR("creating a timer: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    const doca_error_t status = watch(made.get());
    if (status == DOCA_SUCCESS)
        timer_ = std::move(made);
    return status;
}

bool EventHandle::wake_within_a_second() noexcept
{
    constexpr std::chrono::milliseconds shortest(500);
    return timer_end_ > Clock::now() + shortest || set_timer(std::chrono::seconds(1));
}

/// Sets the timer to expire after @p time; 0 stops it and discards an expiry.
bool EventHandle::set_timer(std::chrono::seconds time) noexcept
{
    // Read before the timer starts, so that it never lies after the real expiry.
    const Clock::time_point end = Clock::now() + time;
    const itimerspec value = {{0, 0}, {static_cast<time_t>(time.count()), 0}};
    if (timerfd_settime(timer_.get(), 0, &value, nullptr) != 0)
        return false;
    timer_end_ = time == time.zero() ? Clock::time_point{} : end;
    return true;
}

} // namespace opendoca
