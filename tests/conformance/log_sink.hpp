// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_log.h>
#include <gtest/gtest.h>

/// A file in memory and what was written to it.
class MemoryFile {
public:
    MemoryFile() : fd_{memfd_create("log", MFD_CLOEXEC)}
    {
        // Without O_APPEND, threads that write to a memfd at once overwrite each other.
        EXPECT_EQ(fcntl(fd_, F_SETFL, O_APPEND), 0);
    }

    [[nodiscard]] int fd() const { return fd_; }

    [[nodiscard]] std::string text() const
    {
        std::string text(static_cast<std::size_t>(lseek(fd_, 0, SEEK_END)), '\0');
        EXPECT_EQ(pread(fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
        return text;
    }

    [[nodiscard]] std::vector<std::string> lines() const
    {
        std::vector<std::string> lines;
        std::istringstream stream{text()};
        for (std::string line; std::getline(stream, line);)
            lines.push_back(line);
        return lines;
    }

private:
    int fd_; // stays open: a backend that writes here lives as long as the process
};

/// A descriptor backend. Backends can't be removed, so it is silenced for good at the end.
class LogSink {
public:
    LogSink() { EXPECT_EQ(doca_log_create_fd_backend(file_.fd(), &backend_), DOCA_SUCCESS); }
    LogSink(const LogSink &) = delete;
    LogSink &operator=(const LogSink &) = delete;
    ~LogSink() { silence(backend_); }

    static void silence(doca_logger_backend *backend)
    {
        doca_log_backend_level_set(backend, DOCA_LOG_LEVEL_CRIT);
        doca_log_backend_set_upper_level_limit(backend, DOCA_LOG_LEVEL_DEBUG);
        doca_log_backend_set_lower_level_immutable(backend);
        doca_log_backend_set_upper_level_immutable(backend);
    }

    [[nodiscard]] doca_logger_backend *backend() const { return backend_; }
    [[nodiscard]] std::string text() const { return file_.text(); }
    [[nodiscard]] std::vector<std::string> lines() const { return file_.lines(); }
    [[nodiscard]] std::string last() const { return count() == 0 ? "" : lines().back(); }
    [[nodiscard]] std::size_t count() const { return file_.lines().size(); }

private:
    MemoryFile file_;
    doca_logger_backend *backend_ = nullptr;
};

constexpr std::uint32_t all_log_levels[] = {DOCA_LOG_LEVEL_CRIT, DOCA_LOG_LEVEL_ERROR, DOCA_LOG_LEVEL_WARNING,
                                            DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_DEBUG};

/// A source, and the global settings as they are in a new process.
class LogTest : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(doca_log_source_register("TEST", &source), DOCA_SUCCESS); }

    void TearDown() override
    {
        EXPECT_EQ(doca_log_source_destroy(source), DOCA_SUCCESS);
        doca_log_global_level_set(DOCA_LOG_LEVEL_INFO);
        doca_log_global_set_upper_level_limit(DOCA_LOG_LEVEL_CRIT);
        doca_log_set_bucket_time(60);
        doca_log_set_quantity(20);
    }

    /// One message of each level.
    void log_all_levels() const
    {
        for (const std::uint32_t level : all_log_levels)
            EXPECT_EQ(doca_log(level, source, 1, "level %u", level), DOCA_SUCCESS);
    }

    int source = 0;
};
