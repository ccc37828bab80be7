// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Formats the arguments of a log call as a line of text, and passes the line to the backends.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include <pthread.h>

#include "../base/release.hpp"
#include "deferred_log.hpp"
#include "log.hpp"
#include "log_backend.hpp"
#include "log_text.hpp"

namespace opendoca {

namespace {

/// Preserves errno, which the caller may use after it has logged, and disables cancellation of the thread, which could
/// otherwise end with a lock held. For the duration of one log call, on the stack.
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

/// Prints the local time of day with microseconds.
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
    // Sinks with a time of their own (syslog) leave this part out.
    const std::size_t time_size = text.view().size();
    print_origin(text, level, origin);
    if (!text.vprint(format, arguments))
        return DOCA_ERROR_INVALID_VALUE;
    text.end_line();
    const LogLine line = {level, text.view(), time_size};
    // A scope that holds a lock collects the libraries' lines. If it has no memory for this one, it is written at once:
    // a deadlock is only possible if a backend of the program uses the locked object.
    DeferredLog *const deferred = &channel == &library_log() ? DeferredLog::current() : nullptr;
    if (deferred != nullptr && deferred->keep(line))
        return DOCA_SUCCESS;
    return channel.write(line) ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

// Logs the release once per process, if debugging messages are shown, so that problem reports contain it.
static void log_release_once() noexcept
{
    static std::atomic<bool> is_logged = false;
    if (!is_logged.exchange(true, std::memory_order_relaxed))
        log(LogLevel::debug, "DOCA_LOG", __LINE__, "opendoca %s", release());
}

void log(std::uint32_t level, const char *source, int line, const char *format, ...) noexcept
{
    LogChannel &channel = library_log();
    // Checked before anything is formatted: most messages are not shown.
    if (!channel.is_shown(level))
        return;
    if (channel.is_shown(LogLevel::debug))
        log_release_once();
    va_list arguments;
    va_start(arguments, format);
    // Ignored: the failure of a backend cannot be logged.
    (void)write_log_message(channel, level, {source, line}, format, arguments);
    va_end(arguments);
}

} // namespace opendoca
