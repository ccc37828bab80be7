// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the libraries of either generation logged. One backend for the process, since backends stay.
#pragma once

#include <cstddef>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <doca_log.h>
#include <doca_version.h>

namespace doca_test {

/// What was logged since its creation.
class LogCapture {
public:
    LogCapture() : begin_(lseek(fd(), 0, SEEK_END)) {}

    [[nodiscard]] std::string text() const
    {
        std::string text(static_cast<std::size_t>(lseek(fd(), 0, SEEK_END) - begin_), '\0');
        const ssize_t size = pread(fd(), text.data(), text.size(), begin_);
        text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        return text;
    }

    [[nodiscard]] bool has(const std::string &part) const { return text().find(part) != std::string::npos; }

private:
    static int fd()
    {
        static const int file = [] {
            const int made = memfd_create("log", MFD_CLOEXEC);
            fcntl(made, F_SETFL, O_APPEND); // threads that write at once must not overwrite each other
#ifdef DOCA_VERSION_MAJOR                   // 3.0
            doca_log_backend *backend = nullptr;
            EXPECT_EQ(doca_log_backend_create_with_fd_sdk(made, &backend), DOCA_SUCCESS);
#else
            doca_logger_backend *backend = nullptr;
            EXPECT_EQ(doca_log_create_fd_backend(made, &backend), DOCA_SUCCESS);
#endif
            return made;
        }();
        return file;
    }

    off_t begin_;
};

} // namespace doca_test

/// The log, since @p capture, names @p part.
#define EXPECT_LOGGED(capture, part)                                                                                   \
    EXPECT_TRUE((capture).has(part)) << "the log has no '" << (part) << "':\n" << (capture).text()
