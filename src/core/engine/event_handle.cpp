// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "event_handle.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "../log.hpp"

OPENDOCA_LOG_SOURCE(EVENT_HANDLE);

namespace opendoca {

doca_error_t EventHandle::open() noexcept
{
    UniqueFd own(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    UniqueFd handle(epoll_create1(EPOLL_CLOEXEC));
    if (!own.is_open() || !handle.is_open()) {
        LOG_ERR("creating the event handle: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    std::swap(handle_, handle);
    if (const doca_error_t status = watch(own.get()); status != DOCA_SUCCESS) {
        std::swap(handle_, handle);
        return status;
    }
    own_ = std::move(own);
    return DOCA_SUCCESS;
}

doca_error_t EventHandle::watch(int fd) noexcept
{
    epoll_event interest = {.events = EPOLLIN, .data = {.fd = fd}};
    if (epoll_ctl(handle_.get(), EPOLL_CTL_ADD, fd, &interest) != 0) {
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
    epoll_ctl(handle_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void EventHandle::wake() noexcept
{
    if (std::exchange(is_written_, true))
        return;
    if (eventfd_write(own_.get(), 1) != 0)
        LOG_ERR("writing the event handle: %s", std::strerror(errno));
}

doca_error_t EventHandle::clear() noexcept
{
    if (!std::exchange(is_written_, false))
        return DOCA_SUCCESS; // what was readable was a source's
    eventfd_t count = 0;
    if (eventfd_read(own_.get(), &count) != 0 && errno != EAGAIN) {
        LOG_ERR("reading the event handle: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    return DOCA_SUCCESS;
}

} // namespace opendoca
