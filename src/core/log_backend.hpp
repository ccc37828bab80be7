// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Where messages go: logs, their backends, and the limits of each.
#pragma once

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include <doca_error.h>

#include "fork.hpp"
#include "log_level.hpp"
#include "log_text.hpp"

namespace opendoca {

struct LogLine {
    std::uint32_t level;
    std::string_view text; // all of it, with the newline
    std::size_t time_size; // bytes at the start of the text that hold the time of day
};

/// The most verbose (lower) and the most severe (upper) level that is shown. Changed under one lock, read
/// without.
class LogLimits {
public:
    constexpr LogLimits(std::uint32_t lower, std::uint32_t upper) noexcept : lower_{lower}, upper_{upper} {}

    [[nodiscard]] std::uint32_t lower() const noexcept { return lower_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint32_t upper() const noexcept { return upper_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool include(std::uint32_t level) const noexcept { return level <= lower() && level >= upper(); }

    /// False, and no change, when the limit is final.
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

/// Writes lines somewhere.
class LogSink {
public:
    LogSink() = default;
    LogSink(const LogSink &) = delete;
    LogSink &operator=(const LogSink &) = delete;
    virtual ~LogSink() = default;

    /// Called by several threads at once.
    [[nodiscard]] virtual bool write(const LogLine &line) noexcept = 0;
};

class LogChannel;

/// A sink and what it shows. Each API generation has a name of its own for it.
struct LogBackend {
    LogBackend(LogChannel &of, std::unique_ptr<LogSink> where) noexcept : channel(of), sink(std::move(where)) {}

    LogChannel &channel;
    const std::unique_ptr<LogSink> sink;
    LogLimits limits{LogLevel::debug, LogLevel::critical};
    std::atomic<LogBackend *> next{nullptr};
};

using SetLogLimit = bool (LogLimits::*)(std::uint32_t);

/// A log: its backends, and the limits that they have until they are told others. Other libraries log before the
/// constructors and after the destructors of this one, so it is initialised at compile time and never destroyed.
class LogChannel {
public:
    /// Limits are @p least to @p most.
    constexpr LogChannel(std::uint32_t least, std::uint32_t most) noexcept : least_(least), most_(most) {}
    LogChannel(const LogChannel &) = delete;
    LogChannel &operator=(const LogChannel &) = delete;

    /// False when no backend shows this level.
    [[nodiscard]] bool is_shown(std::uint32_t level) const noexcept { return shown_.include(level); }
    /// Writes to every backend that shows the line's level; false when one of them failed.
    [[nodiscard]] bool write(const LogLine &line) noexcept;
    /// Gives the backend the global limits, except where its own are final, and keeps it until the process ends.
    template <typename Backend>
    Backend *add(std::unique_ptr<Backend> backend) noexcept
    {
        Backend *const added = backend.release();
        append(*added);
        return added;
    }

    /// Sets a limit of @p backend. NOT_PERMITTED when it is final, INVALID_VALUE for what is no level.
    [[nodiscard]] doca_error_t set_limit(LogBackend &backend, std::uint32_t level, SetLogLimit set);
    /// The same of all backends, except where theirs are final, and of those that are made later.
    [[nodiscard]] doca_error_t set_global_limit(std::uint32_t level, SetLogLimit set);
    void make_final(LogBackend &backend, void (LogLimits::*make)()) noexcept;
    [[nodiscard]] const LogLimits &global() const noexcept { return global_; }
    /// For its ForkRegistration.
    [[nodiscard]] ForkSafeMutex &lock() noexcept { return lock_; }

private:
    void append(LogBackend &backend) noexcept;
    [[nodiscard]] doca_error_t check_limit(std::uint32_t level) const;
    void update_shown() noexcept;
    [[nodiscard]] LogBackend *first() const noexcept;

    const std::uint32_t least_;
    const std::uint32_t most_;
    ForkSafeMutex lock_; ///< held to change limits and the list; both are read without
    LogLimits global_{LogLevel::info, LogLevel::critical};
    /// What at least one backend may show: the check that a message nobody wants is turned away by.
    LogLimits shown_{LogLevel::info, LogLevel::critical};
    std::atomic<LogBackend *> first_{nullptr};
};

/// The place of a message in the source. File and function are empty for messages of the libraries.
struct LogOrigin {
    const char *source;
    int line;
    const char *file = nullptr;
    const char *function = nullptr;
};

/// Null for a number that is no level.
[[nodiscard]] const char *log_level_tag(std::uint32_t level) noexcept;

/// Formats a message and writes it to every backend that shows its level, which is one. IO_FAILED when one of
/// them failed, INVALID_VALUE when the format cannot be carried out.
[[nodiscard]] doca_error_t write_log_message(LogChannel &channel, std::uint32_t level, const LogOrigin &origin,
                                             const char *format, va_list arguments) noexcept
    __attribute__((format(printf, 4, 0)));

// What each API generation has in its own way, and defines.

/// The log that takes the libraries' messages.
[[nodiscard]] LogChannel &library_log() noexcept;
/// What a line has between the time and the message.
void print_origin(LogText &text, std::uint32_t level, const LogOrigin &origin) noexcept;

} // namespace opendoca
