// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The kinds of backend, and the functions that create them.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <fcntl.h>
#include <syslog.h>
#include <unistd.h>

#include <doca_log.h>

#include "../log_backend.hpp"

DOCA_LOG_REGISTER(DOCA_LOG);

using opendoca::LogLine;

namespace {

class FileBackend final : public doca_logger_backend {
public:
    explicit FileBackend(FILE *file) noexcept : file_{file} {}

    bool write(const LogLine &line) noexcept override
    {
        flockfile(file_); // the line and its flush are one
        const std::size_t size = line.text.size();
        const bool is_written = fwrite_unlocked(line.text.data(), 1, size, file_) == size;
        const bool is_flushed = fflush_unlocked(file_) == 0;
        funlockfile(file_);
        return is_written && is_flushed;
    }

private:
    FILE *file_;
};

class FdBackend final : public doca_logger_backend {
public:
    explicit FdBackend(int fd) noexcept : fd_{fd} {}

    bool write(const LogLine &line) noexcept override { return opendoca::write_to_fd(fd_, line.text); }

private:
    int fd_;
};

class BufferBackend final : public doca_logger_backend {
public:
    BufferBackend(char *buffer, std::size_t capacity, log_flush_callback handler) noexcept
        : buffer_{buffer},
          capacity_{capacity - 1},
          handler_{handler}
    {
        buffer_[0] = '\0';
    }

    bool write(const LogLine &line) noexcept override
    {
        if (is_in_handler_)
            return true; // what a handler logs would wait for the handler itself
        const std::lock_guard lock{mutex_};
        bool is_handed_over = size_ + line.text.size() <= capacity_ || hand_over();
        std::string_view rest = line.text;
        while (rest.size() > capacity_) {
            append(rest.substr(0, capacity_));
            rest.remove_prefix(capacity_);
            is_handed_over = hand_over() && is_handed_over;
        }
        append(rest);
        return is_handed_over;
    }

private:
    void append(std::string_view text) noexcept
    {
        std::memcpy(buffer_ + size_, text.data(), text.size());
        size_ += text.size();
        buffer_[size_] = '\0';
    }

    bool hand_over() noexcept
    {
        if (std::exchange(size_, 0) == 0)
            return true;
        bool has_returned = true;
        is_in_handler_ = true;
        try {
            handler_(buffer_);
        } catch (...) { // a handler in C++ may throw, and must not unwind through a C function
            has_returned = false;
        }
        is_in_handler_ = false;
        buffer_[0] = '\0';
        return has_returned;
    }

    // In the handler of any buffer backend: two of them could wait for each other.
    static inline thread_local bool is_in_handler_ = false;

    std::mutex mutex_;
    char *buffer_;
    std::size_t capacity_; // without the terminating NUL
    std::size_t size_ = 0;
    log_flush_callback handler_;
};

class SyslogBackend final : public doca_logger_backend {
public:
    // openlog keeps the pointer, so the name must live as long as the process, as backends do.
    explicit SyslogBackend(std::unique_ptr<char[]> name) noexcept : name_{std::move(name)}
    {
        openlog(name_.get(), LOG_PID, LOG_USER);
    }

    bool write(const LogLine &line) noexcept override
    {
        std::string_view text = line.text.substr(line.time_size);
        text.remove_suffix(1);
        syslog(priority(line.level), "%.*s", static_cast<int>(text.size()), text.data());
        return true;
    }

private:
    static int priority(std::uint32_t level) noexcept
    {
        switch (level) {
        case DOCA_LOG_LEVEL_CRIT:
            return LOG_CRIT;
        case DOCA_LOG_LEVEL_ERROR:
            return LOG_ERR;
        case DOCA_LOG_LEVEL_WARNING:
            return LOG_WARNING;
        case DOCA_LOG_LEVEL_INFO:
            return LOG_INFO;
        default:
            return LOG_DEBUG;
        }
    }

    std::unique_ptr<char[]> name_;
};

doca_error_t refuse(const char *why)
{
    DOCA_LOG_ERR("failed to create a log backend: %s", why);
    return DOCA_ERROR_INVALID_VALUE;
}

template <typename Kind, typename... Args>
doca_error_t create(doca_logger_backend **backend, Args &&...args)
{
    std::unique_ptr<Kind> created{new (std::nothrow) Kind{std::forward<Args>(args)...}};
    if (!created)
        return DOCA_ERROR_NO_MEMORY;
    *backend = opendoca::add_log_backend(std::move(created));
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t doca_log_create_file_backend(FILE *fptr, struct doca_logger_backend **backend)
{
    if (fptr == nullptr || backend == nullptr)
        return refuse("the stream, or the place to return the backend in, is NULL");
    return create<FileBackend>(backend, fptr);
}

doca_error_t doca_log_create_fd_backend(int fd, struct doca_logger_backend **backend)
{
    if (backend == nullptr)
        return refuse("the place to return it in is NULL");
    if (fcntl(fd, F_GETFD) < 0) {
        DOCA_LOG_ERR("failed to create a log backend: %d is not an open file descriptor", fd);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return create<FdBackend>(backend, fd);
}

doca_error_t doca_log_create_buffer_backend(char *buffer, size_t capacity, log_flush_callback handler,
                                            struct doca_logger_backend **backend)
{
    if (buffer == nullptr || handler == nullptr || backend == nullptr)
        return refuse("the buffer, its handler, or the place to return the backend in, is NULL");
    if (capacity < 2) {
        DOCA_LOG_ERR("failed to create a log backend: a buffer of %zu bytes is below the least size, 2",
                     capacity);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return create<BufferBackend>(backend, buffer, capacity, handler);
}

doca_error_t doca_log_create_syslog_backend(const char *name, struct doca_logger_backend **backend)
{
    if (name == nullptr || backend == nullptr)
        return refuse("the name, or the place to return the backend in, is NULL");
    if (*name == '\0')
        return refuse("the name is empty");
    const std::size_t size = std::strlen(name) + 1;
    std::unique_ptr<char[]> copy{new (std::nothrow) char[size]};
    if (!copy)
        return DOCA_ERROR_NO_MEMORY;
    std::memcpy(copy.get(), name, size);
    return create<SyslogBackend>(backend, std::move(copy));
}

doca_error_t doca_log_create_standard_backend(void)
{
    static constinit std::mutex mutex;
    static constinit bool is_created = false;
    const std::lock_guard lock{mutex};
    if (is_created)
        return DOCA_SUCCESS;
    std::unique_ptr<FileBackend> out{new (std::nothrow) FileBackend{stdout}};
    std::unique_ptr<FileBackend> err{new (std::nothrow) FileBackend{stderr}};
    if (!out || !err)
        return DOCA_ERROR_NO_MEMORY;
    out->limits.set_upper(DOCA_LOG_LEVEL_INFO);
    out->limits.make_upper_final();
    err->limits.set_lower(DOCA_LOG_LEVEL_WARNING);
    err->limits.make_lower_final();
    err->limits.make_upper_final();
    opendoca::add_log_backend(std::move(out));
    opendoca::add_log_backend(std::move(err));
    is_created = true;
    return DOCA_SUCCESS;
}
