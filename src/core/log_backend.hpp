// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Where messages go: the limits of each backend, and the list of all backends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <doca_log.h>

namespace opendoca {

struct LogLine {
    std::uint32_t level;
    std::string_view text; // all of it, with the newline
    std::size_t time_size; // bytes at the start of the text that hold the time of day
};

[[nodiscard]] constexpr bool is_log_limit(std::uint32_t level) noexcept
{
    return level >= DOCA_LOG_LEVEL_CRIT && level <= DOCA_LOG_LEVEL_DEBUG;
}

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

/// Writes to every backend that shows the line's level; false when one of them failed.
[[nodiscard]] bool write_log_line(const LogLine &line) noexcept;

/// Gives the backend the global limits, except where its own are final, and keeps it until the process ends.
doca_logger_backend *add_log_backend(std::unique_ptr<doca_logger_backend> backend) noexcept;

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

    opendoca::LogLimits limits{DOCA_LOG_LEVEL_DEBUG, DOCA_LOG_LEVEL_CRIT};
    std::atomic<doca_logger_backend *> next{nullptr};
};
