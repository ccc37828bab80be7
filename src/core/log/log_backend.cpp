// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "log_backend.hpp"

#include <algorithm>

#include <unistd.h>

#include "log.hpp"
#include "log_sinks.hpp"

OPENDOCA_LOG_SOURCE(DOCA_LOG);

namespace opendoca {

// Acquire: pairs with the release in append(), so that a backend found in the list is complete.
LogBackend *LogChannel::first() const noexcept
{
    return first_.load(std::memory_order_acquire);
}

// Acquire: pairs with the release in append(), like first().
static LogBackend *next(const LogBackend *backend) noexcept
{
    return backend->next.load(std::memory_order_acquire);
}

/// Recomputes the filter of is_shown(). The caller holds the lock. A message during the update may be filtered by the
/// old limits.
void LogChannel::update_shown() noexcept
{
    const LogBackend *backend = first();
    // The widest limits of all backends. Without one, write() uses the global ones.
    std::uint32_t lower = backend == nullptr ? global_.lower() : backend->limits.lower();
    std::uint32_t upper = backend == nullptr ? global_.upper() : backend->limits.upper();
    for (; backend != nullptr; backend = next(backend)) {
        lower = std::max(lower, backend->limits.lower());
        upper = std::min(upper, backend->limits.upper());
    }
    shown_.set_lower(lower);
    shown_.set_upper(upper);
}

doca_error_t LogChannel::check_limit(std::uint32_t level) const
{
    // All levels are multiples of the same number.
    constexpr std::uint32_t step = LogLevel::critical - LogLevel::disable;
    if (level >= least_ && level <= most_ && level % step == 0)
        return DOCA_SUCCESS;
    LOG_ERR("%u is no log level: those are %u to %u in steps of %u", level, least_, most_, step);
    return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t LogChannel::set_limit(LogBackend &backend, std::uint32_t level, SetLogLimit set)
{
    if (const doca_error_t status = check_limit(level); status != DOCA_SUCCESS)
        return status;
    std::unique_lock lock{lock_};
    // Under the lock, so that update_shown() sees a consistent set of limits.
    if ((backend.limits.*set)(level)) {
        update_shown();
        return DOCA_SUCCESS;
    }
    lock.unlock(); // a backend that logs this may call the program, which may change limits
    LOG_ERR("level %u: this limit of the log backend was fixed, and stays as it is", level);
    return DOCA_ERROR_NOT_PERMITTED;
}

doca_error_t LogChannel::set_global_limit(std::uint32_t level, SetLogLimit set)
{
    if (const doca_error_t status = check_limit(level); status != DOCA_SUCCESS)
        return status;
    const std::lock_guard lock{lock_};
    (global_.*set)(level);
    // Final limits stay, which is not an error here.
    for (LogBackend *backend = first(); backend != nullptr; backend = next(backend))
        (backend->limits.*set)(level);
    update_shown();
    return DOCA_SUCCESS;
}

/// Makes a limit of @p backend final by @p make, a member of LogLimits.
void LogChannel::make_final(LogBackend &backend, void (LogLimits::*make)()) noexcept
{
    const std::lock_guard lock{lock_};
    (backend.limits.*make)();
}

// The channel's lock guards the flags and serializes writers; readers only load the levels.
bool LogLimits::set_lower(std::uint32_t level) noexcept
{
    if (!lower_is_final_)
        lower_.store(level, std::memory_order_relaxed);
    return !lower_is_final_;
}

bool LogLimits::set_upper(std::uint32_t level) noexcept
{
    if (!upper_is_final_)
        upper_.store(level, std::memory_order_relaxed);
    return !upper_is_final_;
}

bool LogChannel::write(const LogLine &line) noexcept
{
    LogBackend *backend = first();
    if (backend == nullptr)
        return !global_.include(line.level) || write_to_fd(STDERR_FILENO, line.text);
    // A backend that fails does not keep the others from writing.
    bool is_written = true;
    for (; backend != nullptr; backend = next(backend)) {
        if (backend->limits.include(line.level) && !backend->sink->write(line))
            is_written = false;
    }
    return is_written;
}

void LogChannel::append(LogBackend &backend) noexcept
{
    const std::lock_guard lock{lock_};
    backend.limits.set_lower(global_.lower());
    backend.limits.set_upper(global_.upper());
    // At the end, so that lines go to the backends in the order of their creation. Relaxed: the list is changed under
    // the lock only. Release: pairs with first() and next(), whose callers hold no lock.
    std::atomic<LogBackend *> *end = &first_;
    while (LogBackend *present = end->load(std::memory_order_relaxed))
        end = &present->next;
    end->store(&backend, std::memory_order_release);
    update_shown();
}

} // namespace opendoca
