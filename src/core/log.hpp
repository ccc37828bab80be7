// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages of our own libraries. doca_log.h has another ABI in each API generation, so only front ends use
// it.
#pragma once

#include "guard.hpp"
#include "log_level.hpp"

namespace opendoca {

/// Writes one line to every backend that shows @p level, one of struct LogLevel. Thread-safe, and leaves
/// errno as it is.
OPENDOCA_INTERNAL void log(std::uint32_t level, const char *source, int line, const char *format,
                           ...) noexcept __attribute__((cold, format(printf, 4, 5)));

} // namespace opendoca

/// Once in each file that logs, outside of namespaces: the name that its messages carry.
#define OPENDOCA_LOG_SOURCE(NAME) [[maybe_unused]] static constexpr char opendoca_log_source[] = #NAME

#define OPENDOCA_LOG(level, ...)                                                                             \
    ::opendoca::log(::opendoca::LogLevel::level, opendoca_log_source, __LINE__, __VA_ARGS__)
#define LOG_ERR(...) OPENDOCA_LOG(error, __VA_ARGS__)
#define LOG_WARN(...) OPENDOCA_LOG(warning, __VA_ARGS__)
#define LOG_INFO(...) OPENDOCA_LOG(info, __VA_ARGS__)
#define LOG_DBG(...) OPENDOCA_LOG(debug, __VA_ARGS__)
