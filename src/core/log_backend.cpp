// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "log_backend.hpp"

#include <algorithm>
#include <cerrno>
#include <mutex>

#include <unistd.h>

#include "log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_LOG);

namespace opendoca {

namespace {

// Other libraries log before the constructors and after the destructors of this one, so all of this is
// initialised at compile time and never destroyed.
constinit std::mutex limits_mutex; // held to change limits and the list; both are read without
constinit LogLimits global_limits{LogLevel::info, LogLevel::critical};
constinit std::atomic<doca_logger_backend *> first_backend{nullptr};

// What at least one backend may show: the check that a message nobody wants is turned away by.
constinit LogLimits shown_limits{LogLevel::info, LogLevel::critical};

// Acquire: pairs with the release in add_log_backend, so that a backend found in the list is complete.
doca_logger_backend *first() noexcept
{
    return first_backend.load(std::memory_order_acquire);
}

doca_logger_backend *next(const doca_logger_backend *backend) noexcept
{
    return backend->next.load(std::memory_order_acquire);
}

void update_shown_limits() noexcept
{
    const doca_logger_backend *backend = first();
    std::uint32_t lower = backend == nullptr ? global_limits.lower() : backend->limits.lower();
    std::uint32_t upper = backend == nullptr ? global_limits.upper() : backend->limits.upper();
    for (; backend != nullptr; backend = next(backend)) {
        lower = std::max(lower, backend->limits.lower());
        upper = std::min(upper, backend->limits.upper());
    }
    shown_limits.set_lower(lower);
    shown_limits.set_upper(upper);
}

doca_error_t check_limit(std::uint32_t level)
{
    if (level >= LogLevel::critical && level <= LogLevel::debug)
        return DOCA_SUCCESS;
    LOG_ERR("log level %u is not in the range %u to %u", level, LogLevel::critical, LogLevel::debug);
    return DOCA_ERROR_INVALID_VALUE;
}

} // namespace

doca_error_t set_log_limit(doca_logger_backend &backend, std::uint32_t level, SetLogLimit set)
{
    if (const doca_error_t status = check_limit(level); status != DOCA_SUCCESS)
        return status;
    std::unique_lock lock{limits_mutex};
    if ((backend.limits.*set)(level)) {
        update_shown_limits();
        return DOCA_SUCCESS;
    }
    lock.unlock();
    LOG_ERR("level %u: this limit of the log backend was made immutable", level);
    return DOCA_ERROR_NOT_PERMITTED;
}

doca_error_t set_global_log_limit(std::uint32_t level, SetLogLimit set)
{
    if (const doca_error_t status = check_limit(level); status != DOCA_SUCCESS)
        return status;
    const std::lock_guard lock{limits_mutex};
    (global_limits.*set)(level);
    for (doca_logger_backend *backend = first(); backend != nullptr; backend = next(backend))
        (backend->limits.*set)(level);
    update_shown_limits();
    return DOCA_SUCCESS;
}

void make_log_limit_final(doca_logger_backend &backend, void (LogLimits::*make)()) noexcept
{
    const std::lock_guard lock{limits_mutex};
    (backend.limits.*make)();
}

std::uint32_t global_log_level() noexcept
{
    return global_limits.lower();
}

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

bool is_log_level_shown(std::uint32_t level) noexcept
{
    return shown_limits.include(level);
}

bool write_to_fd(int fd, std::string_view text) noexcept
{
    while (!text.empty()) { // a single write(2), unless it is cut short
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written >= 0)
            text.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            return false;
    }
    return true;
}

bool write_log_line(const LogLine &line) noexcept
{
    doca_logger_backend *backend = first();
    if (backend == nullptr)
        return !global_limits.include(line.level) || write_to_fd(STDERR_FILENO, line.text);
    bool is_written = true;
    for (; backend != nullptr; backend = next(backend)) {
        if (backend->limits.include(line.level) && !backend->write(line))
            is_written = false;
    }
    return is_written;
}

doca_logger_backend *add_log_backend(std::unique_ptr<doca_logger_backend> backend) noexcept
{
    const std::lock_guard lock{limits_mutex};
    backend->limits.set_lower(global_limits.lower());
    backend->limits.set_upper(global_limits.upper());
    std::atomic<doca_logger_backend *> *end = &first_backend;
    while (doca_logger_backend *present = end->load(std::memory_order_relaxed))
        end = &present->next;
    doca_logger_backend *added = backend.release();
    end->store(added, std::memory_order_release);
    update_shown_limits();
    return added;
}

} // namespace opendoca
