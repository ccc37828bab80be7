// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Log messages of this project's libraries. The public doca_log.h has a different ABI in each API generation, so only
// front ends use it.
#pragma once

#include <cstdint>

#include "../base/guard.hpp"
#include "log_level.hpp"

namespace opendoca {

/// Writes one line to every backend that shows @p level, one of struct LogLevel. @p source and @p line identify the
/// caller. Thread-safe, and preserves errno.
OPENDOCA_INTERNAL void log(std::uint32_t level, const char *source, int line, const char *format, ...) noexcept
    __attribute__((cold, format(printf, 4, 5)));

/// Returns a hash of a file's name, by which files that are compiled as one unit have separate log sources.
consteval std::uint64_t file_id(const char *path)
{
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (; *path != '\0'; ++path)
        hash = (hash ^ static_cast<unsigned char>(*path)) * 0x100000001b3;
    return hash;
}

/// Makes the compilation of a file fail that logs without a source.
template <std::uint64_t file>
consteval const char *unnamed_log_source()
{
    static_assert(file == 0, "a file that logs names its source, by OPENDOCA_LOG_SOURCE");
    return nullptr;
}

/// The name in the messages of the file with the ID @p file.
template <std::uint64_t file>
inline constexpr const char *log_source = unnamed_log_source<file>();

} // namespace opendoca

/// Sets the name in the messages of this file. Used once in each file that logs, outside of namespaces.
#define OPENDOCA_LOG_SOURCE(NAME)                                                                                      \
    template <>                                                                                                        \
    inline constexpr const char *opendoca::log_source<::opendoca::file_id(__FILE__)> = #NAME

/// Logs a message of this file. @p level is one of struct LogLevel; the rest is as for printf().
#define LOG_AT(level, ...)                                                                                             \
    ::opendoca::log(level, ::opendoca::log_source<::opendoca::file_id(__FILE__)>, __LINE__, __VA_ARGS__)
#define OPENDOCA_LOG(level, ...) LOG_AT(::opendoca::LogLevel::level, __VA_ARGS__)
#define LOG_ERR(...) OPENDOCA_LOG(error, __VA_ARGS__)
#define LOG_WARN(...) OPENDOCA_LOG(warning, __VA_ARGS__)
#define LOG_INFO(...) OPENDOCA_LOG(info, __VA_ARGS__)
#define LOG_DBG(...) OPENDOCA_LOG(debug, __VA_ARGS__)
