// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The destinations of log messages: channels, their backends, and the limits of each.
#pragma once

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include <doca_error.h>

#include "../process/fork.hpp"
#include "log_level.hpp"
#include "log_text.hpp"

namespace opendoca {

/// A formatted message. The text belongs to the caller of write().
struct LogLine {
    std::uint32_t level;   ///< one of LogLevel
    std::string_view text; ///< the whole line, with the newline
    std::size_t time_size; ///< bytes of the time of day at the start of the text
};

/// The most verbose (lower) and the most severe (upper) level that is shown. Changed under the channel's lock, and read
/// without it. Relaxed: a message during a change may be judged by the old limits. Either limit can be made final: it
/// never changes afterwards.
class LogLimits {
public:
    constexpr LogLimits(std::uint32_t lower, std::uint32_t upper) noexcept : lower_{lower}, upper_{upper} {}

    [[nodiscard]] std::uint32_t lower() const noexcept { return lower_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint32_t upper() const noexcept { return upper_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool include(std::uint32_t level) const noexcept { return level <= lower() && level >= upper(); }

    /// Changes a limit. Returns false, without any change, if it is final.
    bool set_lower(std::uint32_t level) noexcept;
    bool set_upper(std::uint32_t level) noexcept;
    void make_lower_final() noexcept { lower_is_final_ = true; }
    void make_upper_final() noexcept { upper_is_final_ = true; }

private:
    std::atomic<std::uint32_t> lower_;
    std::atomic<std::uint32_t> upper_;
    bool lower_is_final_ = false;
    bool upper_is_final_ = false;
};

/// The destination of a backend: a file, a buffer of the program, or syslog. Owned by its backend. Thread-safe.
class LogSink {
public:
    LogSink() = default;
    LogSink(const LogSink &) = delete;
    LogSink &operator=(const LogSink &) = delete;
    virtual ~LogSink() = default;

    /// Writes @p line as a whole. Called by several threads at once. Returns false if it could not be written.
    [[nodiscard]] virtual bool write(const LogLine &line) noexcept = 0;
};

class LogChannel;

/// A sink and the levels that it shows. Each API generation derives its own type from it. Never destroyed, since any
/// thread may be using it.
struct LogBackend {
    LogBackend(LogChannel &of, std::unique_ptr<LogSink> where) noexcept : channel(of), sink(std::move(where)) {}

    LogChannel &channel;
    const std::unique_ptr<LogSink> sink;
    LogLimits limits{LogLevel::debug, LogLevel::critical};
    std::atomic<LogBackend *> next{nullptr}; ///< link of the channel's list; stored once, with release
};

using SetLogLimit = bool (LogLimits::*)(std::uint32_t); ///< set_lower() or set_upper()

/// A log: a list of backends, and the limits that new ones get. Thread-safe: the list only grows and is read without a
/// lock. Other libraries log before the constructors and after the destructors of this one, so it is initialised at
/// compile time and never destroyed. Without a backend, messages go to the standard error output.
class LogChannel {
public:
    /// Programs may set limits from @p least to @p most.
    constexpr LogChannel(std::uint32_t least, std::uint32_t most) noexcept : least_(least), most_(most) {}
    LogChannel(const LogChannel &) = delete;
    LogChannel &operator=(const LogChannel &) = delete;

    /// Returns false if no backend shows this level.
    [[nodiscard]] bool is_shown(std::uint32_t level) const noexcept { return shown_.include(level); }
    /// Writes to every backend that shows the line's level. Returns false if one of them has failed.
    [[nodiscard]] bool write(const LogLine &line) noexcept;
    /// Adds the backend until the process ends, and sets those of its limits that are not final to the global ones.
    template <typename Backend>
    Backend *add(std::unique_ptr<Backend> backend) noexcept
    {
        Backend *const added = backend.release();
        append(*added);
        return added;
    }

    /// Sets a limit of @p backend. NOT_PERMITTED if it is final, INVALID_VALUE if @p level is not a level.
    [[nodiscard]] doca_error_t set_limit(LogBackend &backend, std::uint32_t level, SetLogLimit set);
    /// Sets the limit of all backends, except where it is final, and of those that are created later.
    [[nodiscard]] doca_error_t set_global_limit(std::uint32_t level, SetLogLimit set);
    void make_final(LogBackend &backend, void (LogLimits::*make)()) noexcept;
    [[nodiscard]] const LogLimits &global() const noexcept { return global_; }
    /// Returns the lock, for its ForkRegistration.
    [[nodiscard]] ForkSafeMutex &lock() noexcept { return lock_; }

private:
    void append(LogBackend &backend) noexcept;
    [[nodiscard]] doca_error_t check_limit(std::uint32_t level) const;
    void update_shown() noexcept;
    [[nodiscard]] LogBackend *first() const noexcept;

    const std::uint32_t least_;
    const std::uint32_t most_;
    ForkSafeMutex lock_; ///< held to change limits and the list; both are read without it
    LogLimits global_{LogLevel::info, LogLevel::critical}; ///< of backends that are created later
    /// The levels that at least one backend may show. Other messages are dropped after this one check.
    LogLimits shown_{LogLevel::info, LogLevel::critical};
    std::atomic<LogBackend *> first_{nullptr};
};

/// The place of a message in the source code. File and function are null for messages of the libraries.
struct LogOrigin {
    const char *source;
    int line;
    const char *file = nullptr;
    const char *function = nullptr;
};

/// Returns the three letters of a level, or null if @p level is not one.
[[nodiscard]] const char *log_level_tag(std::uint32_t level) noexcept;

/// Formats a message and writes it to every backend of @p channel that shows @p level, one of LogLevel. IO_FAILED if
/// one of them has failed, INVALID_VALUE if the format is invalid.
[[nodiscard]] doca_error_t write_log_message(LogChannel &channel, std::uint32_t level, const LogOrigin &origin,
                                             const char *format, va_list arguments) noexcept
    __attribute__((format(printf, 4, 0)));

// Defined by each API generation.

/// Returns the log for the libraries' messages.
[[nodiscard]] LogChannel &library_log() noexcept;
/// Prints the part of a line between the time and the message.
void print_origin(LogText &text, std::uint32_t level, const LogOrigin &origin) noexcept;

} // namespace opendoca
