// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The kinds of log sinks, and functions that create them.
#pragma once

#include <cstdio>
#include <memory>
#include <new>
#include <string_view>

#include "log_backend.hpp"

namespace opendoca {

using SinkPtr = std::unique_ptr<LogSink>;
/// A function of the program that receives the lines collected in a buffer, as one string.
using LogFlush = void (*)(char *);

// Functions that create sinks. INVALID_VALUE, with a message, if the arguments cannot be used for one; NO_MEMORY. The
// program must not close the file or free the buffer afterwards: sinks live as long as the process.
[[nodiscard]] doca_error_t create_file_sink(FILE *file, SinkPtr &sink) noexcept;
[[nodiscard]] doca_error_t create_fd_sink(int fd, SinkPtr &sink) noexcept;
[[nodiscard]] doca_error_t create_buffer_sink(char *buffer, std::size_t capacity, LogFlush flush,
                                              SinkPtr &sink) noexcept;
[[nodiscard]] doca_error_t create_syslog_sink(const char *name, SinkPtr &sink) noexcept;

/// Creates a sink that writes to syslog as @p name. Returns null if there is no memory. Implemented in a separate file,
/// because names of <syslog.h> are also names of log.hpp.
[[nodiscard]] SinkPtr open_syslog(const char *name) noexcept;

/// Creates a backend for @p sink, which one of the functions above has created with @p status, and adds it to @p
/// channel. Returns @p status if it is an error.
template <typename Backend>
[[nodiscard]] doca_error_t add_sink(LogChannel &channel, doca_error_t status, SinkPtr sink, Backend **backend) noexcept
{
    if (status != DOCA_SUCCESS)
        return status;
    std::unique_ptr<Backend> created{new (std::nothrow) Backend{channel, std::move(sink)}};
    if (!created)
        return DOCA_ERROR_NO_MEMORY;
    *backend = channel.add(std::move(created));
    return DOCA_SUCCESS;
}

/// Adds two backends: stdout for INFO and more verbose levels, and stderr for the others. A second call has no effect.
[[nodiscard]] doca_error_t add_standard_backends(LogChannel &channel) noexcept;

/// Writes all of @p text to @p fd. Returns false, with errno, on an error.
[[nodiscard]] bool write_to_fd(int fd, std::string_view text) noexcept;

} // namespace opendoca
