// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "log_backend.hpp"

#include <algorithm>
#include <mutex>

#include <unistd.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(DOCA_LOG);

using opendoca::is_log_limit;
using opendoca::LogLimits;

namespace {

// Other libraries log before the constructors and after the destructors of this one, so all of this is
// initialised at compile time and never destroyed.
constinit std::mutex limits_mutex; // held to change limits and the list; both are read without
constinit LogLimits global_limits{DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_CRIT};
constinit std::atomic<doca_logger_backend *> first_backend{nullptr};

// What at least one backend may show: the check that a message nobody wants is turned away by.
constinit LogLimits shown_limits{DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_CRIT};

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

doca_error_t refuse_limit(std::uint32_t level)
{
    DOCA_LOG_ERR("log level %u is not in the range %d to %d", level, DOCA_LOG_LEVEL_CRIT,
                 DOCA_LOG_LEVEL_DEBUG);
    return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t refuse_null_backend()
{
    DOCA_LOG_ERR("the log backend is NULL");
    return DOCA_ERROR_INVALID_VALUE;
}

using SetLimit = bool (LogLimits::*)(std::uint32_t);

doca_error_t set_limit(doca_logger_backend *backend, std::uint32_t level, SetLimit set, const char *which)
{
    if (backend == nullptr)
        return refuse_null_backend();
    if (!is_log_limit(level))
        return refuse_limit(level);
    std::unique_lock lock{limits_mutex};
    if ((backend->limits.*set)(level)) {
        update_shown_limits();
        return DOCA_SUCCESS;
    }
    lock.unlock();
    DOCA_LOG_ERR("the %s level limit of this log backend was made immutable", which);
    return DOCA_ERROR_NOT_PERMITTED;
}

doca_error_t set_global_limit(std::uint32_t level, SetLimit set)
{
    if (!is_log_limit(level))
        return refuse_limit(level);
    const std::lock_guard lock{limits_mutex};
    (global_limits.*set)(level);
    for (doca_logger_backend *backend = first(); backend != nullptr; backend = next(backend))
        (backend->limits.*set)(level);
    update_shown_limits();
    return DOCA_SUCCESS;
}

} // namespace

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

bool opendoca::is_log_level_shown(std::uint32_t level) noexcept
{
    return shown_limits.include(level);
}

bool opendoca::write_log_line(const LogLine &line) noexcept
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

doca_logger_backend *opendoca::add_log_backend(std::unique_ptr<doca_logger_backend> backend) noexcept
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

doca_error_t doca_log_backend_level_set(struct doca_logger_backend *logger, uint32_t level)
{
    return set_limit(logger, level, &LogLimits::set_lower, "lower");
}

doca_error_t doca_log_backend_set_upper_level_limit(struct doca_logger_backend *logger,
                                                    uint32_t upper_level_limit)
{
    return set_limit(logger, upper_level_limit, &LogLimits::set_upper, "upper");
}

doca_error_t doca_log_backend_set_lower_level_immutable(struct doca_logger_backend *logger)
{
    if (logger == nullptr)
        return refuse_null_backend();
    const std::lock_guard lock{limits_mutex};
    logger->limits.make_lower_final();
    return DOCA_SUCCESS;
}

doca_error_t doca_log_backend_set_upper_level_immutable(struct doca_logger_backend *logger)
{
    if (logger == nullptr)
        return refuse_null_backend();
    const std::lock_guard lock{limits_mutex};
    logger->limits.make_upper_final();
    return DOCA_SUCCESS;
}

doca_error_t doca_log_global_level_set(uint32_t level)
{
    return set_global_limit(level, &LogLimits::set_lower);
}

doca_error_t doca_log_global_set_upper_level_limit(uint32_t upper_level_limit)
{
    return set_global_limit(upper_level_limit, &LogLimits::set_upper);
}

uint32_t doca_log_global_level_get(void)
{
    return global_limits.lower();
}
