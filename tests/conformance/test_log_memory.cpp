// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the log does when there is no memory.
#include <cstddef>
#include <new>
#include <string>

#include "log_sink.hpp"

// The thread sanitizer of clang has an operator new of its own that a program can't replace.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OPERATOR_NEW_IS_TAKEN
#endif
#endif

#ifndef OPERATOR_NEW_IS_TAKEN

namespace {

thread_local bool heap_is_exhausted = false;

} // namespace

// The library allocates by these, and takes ours.
__attribute__((visibility("default"))) void *operator new[](std::size_t size, const std::nothrow_t &) noexcept
{
    return heap_is_exhausted ? nullptr : ::operator new[](size);
}

__attribute__((visibility("default"))) void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    return heap_is_exhausted ? nullptr : ::operator new(size);
}

TEST_F(LogTest, long_message_is_cut_when_there_is_no_memory)
{
    const LogSink sink;
    const std::string message(5000, 'x');
    heap_is_exhausted = true;
    const doca_error_t status = doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "%s", message.c_str());
    heap_is_exhausted = false;
    EXPECT_EQ(status, DOCA_SUCCESS);
    EXPECT_EQ(sink.text().size(), 1024u);
    EXPECT_TRUE(sink.text().ends_with("xxx...\n")) << sink.text();
}

TEST_F(LogTest, backend_needs_memory)
{
    char buffer[8];
    doca_logger_backend *backend = nullptr;
    heap_is_exhausted = true;
    const doca_error_t for_fd = doca_log_create_fd_backend(STDERR_FILENO, &backend);
    const doca_error_t for_file = doca_log_create_file_backend(stderr, &backend);
    const doca_error_t for_buffer = doca_log_create_buffer_backend(
        buffer, 8, [](char *) {}, &backend);
    const doca_error_t for_syslog = doca_log_create_syslog_backend("name", &backend);
    heap_is_exhausted = false;
    EXPECT_EQ(for_fd, DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(for_file, DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(for_buffer, DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(for_syslog, DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(backend, nullptr);
}

#endif
