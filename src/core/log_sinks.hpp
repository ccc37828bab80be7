// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The kinds of log backend.
#pragma once

#include <cstdio>
#include <memory>
#include <new>
#include <string_view>

#include "log_backend.hpp"

namespace opendoca {

using SinkPtr = std::unique_ptr<LogSink>;
/// Takes the lines that a buffer has collected.
using LogFlush = void (*)(char *);

// INVALID_VALUE, with a message, for what can't be a sink; NO_MEMORY.
[[nodiscard]] doca_error_t create_file_sink(FILE *file, SinkPtr &sink) noexcept;
[[nodiscard]] doca_error_t create_fd_sink(int fd, SinkPtr &sink) noexcept;
[[nodiscard]] doca_error_t create_buffer_sink(char *buffer, std::size_t capacity, LogFlush flush,
                                              SinkPtr &sink) noexcept;
[[nodiscard]] doca_error_t create_syslog_sink(const char *name, SinkPtr &sink) noexcept;

/// Null when there is no memory. In a file of its own: the system's header has names of ours.
[[nodiscard]] SinkPtr open_syslog(const char *name) noexcept;

/// Adds the backend of @p status and @p sink, which one of these has made, to @p channel.
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

/// stdout for INFO and what is more verbose, stderr for the rest. Once: a second call changes nothing.
[[nodiscard]] doca_error_t add_standard_backends(LogChannel &channel) noexcept;

/// Writes all of the text to the descriptor.
[[nodiscard]] bool write_to_fd(int fd, std::string_view text) noexcept;

} // namespace opendoca
