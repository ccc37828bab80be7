// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Where messages go: the limits of each backend, and the list of all backends.
#pragma once

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <doca_error.h>

#include "log_level.hpp"

struct doca_logger_backend;

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
    [[nodiscard]] bool include(std::uint32_t level) const noexcept
    {
        return level <= lower() && level >= upper();
    }

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

/// False when no backend shows this level.
[[nodiscard]] bool is_log_level_shown(std::uint32_t level) noexcept;

/// Null for a number that is no level.
[[nodiscard]] const char *log_level_tag(std::uint32_t level) noexcept;

/// Formats a message and writes it to every backend that shows its level, which is one. IO_FAILED when one of
/// them failed, INVALID_VALUE when the format cannot be carried out.
[[nodiscard]] doca_error_t write_log_message(std::uint32_t level, const char *source, int line,
                                             const char *format, va_list arguments) noexcept
    __attribute__((format(printf, 4, 0)));

/// Writes to every backend that shows the line's level; false when one of them failed.
[[nodiscard]] bool write_log_line(const LogLine &line) noexcept;

/// Gives the backend the global limits, except where its own are final, and keeps it until the process ends.
doca_logger_backend *add_log_backend(std::unique_ptr<doca_logger_backend> backend) noexcept;

/// Sets a limit of @p backend. NOT_PERMITTED when it is final, INVALID_VALUE for what is no level.
using SetLogLimit = bool (LogLimits::*)(std::uint32_t);
[[nodiscard]] doca_error_t set_log_limit(doca_logger_backend &backend, std::uint32_t level, SetLogLimit set);
/// The same of all backends, except where theirs are final, and of those that are made later.
[[nodiscard]] doca_error_t set_global_log_limit(std::uint32_t level, SetLogLimit set);
void make_log_limit_final(doca_logger_backend &backend, void (LogLimits::*make)()) noexcept;
[[nodiscard]] std::uint32_t global_log_level() noexcept;

/// Writes all of the text to the descriptor.
[[nodiscard]] bool write_to_fd(int fd, std::string_view text) noexcept;

} // namespace opendoca

struct doca_logger_backend {
    doca_logger_backend() = default;
    doca_logger_backend(const doca_logger_backend &) = delete;
    doca_logger_backend &operator=(const doca_logger_backend &) = delete;
    virtual ~doca_logger_backend() = default;

    /// Called by several threads at once.
    [[nodiscard]] virtual bool write(const opendoca::LogLine &line) noexcept = 0;

    opendoca::LogLimits limits{opendoca::LogLevel::debug, opendoca::LogLevel::critical};
    std::atomic<doca_logger_backend *> next{nullptr};
};
