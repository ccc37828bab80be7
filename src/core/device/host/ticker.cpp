// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "ticker.hpp"

#include <cerrno>
#include <cstring>

#include <sys/timerfd.h>

#include "../../engine/completion_queue.hpp"
#include "../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_TICKER);

namespace opendoca {

namespace {

constexpr long period = 1'000'000; ///< nanoseconds

} // namespace

/// The members are set last, so that a failed open() can be repeated.
doca_error_t Ticker::open(CompletionQueue &completions)
{
    UniqueFd made(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    if (!made.is_open()) {
        LOG_ERR("creating a timer: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    const doca_error_t status = completions.watch(made.get());
    if (status == DOCA_SUCCESS) {
        timer_ = std::move(made);
        completions_ = &completions;
    }
    return status;
}

Ticker::~Ticker()
{
    if (timer_.is_open())
        completions_->unwatch(timer_.get());
}

void Ticker::start() noexcept
{
    // Nothing reads the timer: once expired, the descriptor stays readable until stop(). So one expiry is enough to
    // keep the thread polling.
    const itimerspec once = {{0, 0}, {0, period}};
    if (timer_.is_open())
        (void)timerfd_settime(timer_.get(), 0, &once, nullptr);
}

/// Stopping also discards an expiry that was not read, so that the descriptor is not readable afterwards.
void Ticker::stop() noexcept
{
    const itimerspec never{};
    if (timer_.is_open())
        (void)timerfd_settime(timer_.get(), 0, &never, nullptr);
}

} // namespace opendoca
