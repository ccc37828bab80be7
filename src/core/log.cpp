// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// From the arguments of a log call to a line of text.
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <ctime>

#include <pthread.h>

#include <doca_log.h>

#include "log.hpp"
#include "log_backend.hpp"
#include "log_source.hpp"
#include "log_text.hpp"

namespace {

// Null for a number that is no level.
constexpr const char *level_tag(std::uint32_t level) noexcept
{
    switch (level) {
    case DOCA_LOG_LEVEL_CRIT:
        return "CRT";
    case DOCA_LOG_LEVEL_ERROR:
        return "ERR";
    case DOCA_LOG_LEVEL_WARNING:
        return "WRN";
    case DOCA_LOG_LEVEL_INFO:
        return "INF";
    case DOCA_LOG_LEVEL_DEBUG:
        return "DBG";
    default:
        return nullptr;
    }
}

// A program may look at errno after it has logged, and must not be cancelled within a line.
class CallerState {
public:
    CallerState() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_); }
    CallerState(const CallerState &) = delete;
    CallerState &operator=(const CallerState &) = delete;
    ~CallerState()
    {
        pthread_setcancelstate(cancel_state_, nullptr);
        errno = errno_;
    }

private:
    int errno_ = errno;
    int cancel_state_ = PTHREAD_CANCEL_ENABLE;
};

void print_time(opendoca::LogText &text) noexcept
{
    timespec now{};
    std::tm local{};
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    text.print("[%02d:%02d:%02d:%06ld]", local.tm_hour, local.tm_min, local.tm_sec, now.tv_nsec / 1000);
}

// The message passed the checks that cost nothing: now it is worth its formatting.
doca_error_t write_message(std::uint32_t level, const char *source, int line, const char *format,
                           va_list arguments) noexcept
{
    const CallerState state_of_caller;
    opendoca::LogText text;
    print_time(text);
    const std::size_t time_size = text.view().size();
    text.print("[DOCA][%s][%s:%d]: ", level_tag(level), source, line);
    if (!text.vprint(format, arguments))
        return DOCA_ERROR_INVALID_VALUE;
    text.end_line();
    return opendoca::write_log_line({level, text.view(), time_size}) ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

constexpr int no_bucket = 0;

doca_error_t log_message(std::uint32_t level, int source, int line, int bucket, const char *format,
                         va_list arguments) noexcept
{
    const char *name = opendoca::log_source_name(source);
    if (format == nullptr || level_tag(level) == nullptr || name == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (!opendoca::is_log_level_shown(level))
        return DOCA_SUCCESS;
    if (bucket != no_bucket && !opendoca::log_bucket_admits(bucket))
        return DOCA_SUCCESS;
    return write_message(level, name, line, format, arguments);
}

} // namespace

void opendoca::log(LogLevel level, const char *source, int line, const char *format, ...) noexcept
{
    if (!is_log_level_shown(static_cast<std::uint32_t>(level)))
        return;
    va_list arguments;
    va_start(arguments, format);
    // A backend that cannot write is nothing that a message could tell.
    (void)write_message(static_cast<std::uint32_t>(level), source, line, format, arguments);
    va_end(arguments);
}

doca_error_t doca_log(uint32_t level, int source, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const doca_error_t status = log_message(level, source, line, no_bucket, format, arguments);
    va_end(arguments);
    return status;
}

doca_error_t doca_log_developer(uint32_t level, int source, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const doca_error_t status = log_message(level, source, line, no_bucket, format, arguments);
    va_end(arguments);
    return status;
}

doca_error_t doca_log_rate_limit(uint32_t level, int source, int line, int bucket, const char *format, ...)
{
    if (!opendoca::log_bucket_exists(bucket))
        return DOCA_ERROR_INVALID_VALUE;
    va_list arguments;
    va_start(arguments, format);
    const doca_error_t status = log_message(level, source, line, bucket, format, arguments);
    va_end(arguments);
    return status;
}
