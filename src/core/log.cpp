// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// From the arguments of a log call to a line of text.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include <pthread.h>

#include "deferred_log.hpp"
#include "log.hpp"
#include "log_backend.hpp"
#include "log_text.hpp"
#include "release.hpp"

namespace opendoca {

namespace {

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

void print_time(LogText &text) noexcept
{
    timespec now{};
    std::tm local{};
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    text.print("[%02d:%02d:%02d:%06ld]", local.tm_hour, local.tm_min, local.tm_sec, now.tv_nsec / 1000);
}

} // namespace

const char *log_level_tag(std::uint32_t level) noexcept
{
    switch (level) {
    case LogLevel::critical:
        return "CRT";
    case LogLevel::error:
        return "ERR";
    case LogLevel::warning:
        return "WRN";
    case LogLevel::info:
        return "INF";
    case LogLevel::debug:
        return "DBG";
    case LogLevel::trace:
        return "TRC";
    default:
        return nullptr;
    }
}

doca_error_t write_log_message(LogChannel &channel, std::uint32_t level, const LogOrigin &origin, const char *format,
                               va_list arguments) noexcept
{
    const CallerState state_of_caller;
    LogText text;
    print_time(text);
    const std::size_t time_size = text.view().size();
    print_origin(text, level, origin);
    if (!text.vprint(format, arguments))
        return DOCA_ERROR_INVALID_VALUE;
    text.end_line();
    const LogLine line = {level, text.view(), time_size};
    DeferredLog *const deferred = &channel == &library_log() ? DeferredLog::current() : nullptr;
    if (deferred != nullptr && deferred->keep(line))
        return DOCA_SUCCESS;
    return channel.write(line) ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

// Writes the release once into each log that is long enough for a problem report.
static void log_release_once() noexcept
{
    static std::atomic<bool> is_logged = false;
    if (!is_logged.exchange(true, std::memory_order_relaxed))
        log(LogLevel::debug, "DOCA_LOG", __LINE__, "opendoca %s", release());
}

void log(std::uint32_t level, const char *source, int line, const char *format, ...) noexcept
{
    LogChannel &channel = library_log();
    if (!channel.is_shown(level))
        return;
    if (channel.is_shown(LogLevel::debug))
        log_release_once();
    va_list arguments;
    va_start(arguments, format);
    // A backend that cannot write cannot report this either.
    (void)write_log_message(channel, level, {source, line}, format, arguments);
    va_end(arguments);
}

} // namespace opendoca
