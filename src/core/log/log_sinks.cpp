// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "log_sinks.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "../process/fork.hpp"
#include "log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_LOG);

namespace opendoca {

namespace {

/// Writes to a stream of the program, and flushes after each line, so that nothing is lost if the program crashes.
class FileSink final : public LogSink {
public:
    explicit FileSink(FILE *file) noexcept : file_{file} {}

    bool write(const LogLine &line) noexcept override
    {
        flockfile(file_); // so that no other thread writes between the line and its flush
        const std::size_t size = line.text.size();
        const bool is_written = fwrite_unlocked(line.text.data(), 1, size, file_) == size;
        const bool is_flushed = fflush_unlocked(file_) == 0;
        funlockfile(file_);
        return is_written && is_flushed;
    }

private:
    FILE *file_;
};

/// Writes to a descriptor of the program, which stays open as long as the process.
class FdSink final : public LogSink {
public:
    explicit FdSink(int fd) noexcept : fd_{fd} {}

    bool write(const LogLine &line) noexcept override { return write_to_fd(fd_, line.text); }

private:
    int fd_;
};

/// Collects lines in a buffer of the program, and passes them to a handler of the program when the next line does not
/// fit. Invariant: the buffer always holds a NUL-terminated string of size_ bytes. Calls of write() are serialized,
/// also those of the handler.
class BufferSink final : public LogSink {
public:
    BufferSink(char *buffer, std::size_t capacity, LogFlush handler) noexcept
        : buffer_{buffer},
          capacity_{capacity - 1},
          handler_{handler}
    {
        buffer_[0] = '\0';
    }

    bool write(const LogLine &line) noexcept override
    {
        if (is_in_handler_)
            return true; // a message logged by a handler is dropped: it would wait for mutex_, which this thread holds
        const std::lock_guard lock{mutex_};
        bool is_handed_over = size_ + line.text.size() <= capacity_ || hand_over();
        std::string_view rest = line.text;
        // A line that is longer than the whole buffer is passed on in parts.
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

    /// Calls the handler with the collected lines, if any, and empties the buffer. Returns false if the handler threw.
    bool hand_over() noexcept
    {
        if (std::exchange(size_, 0) == 0)
            return true;
        bool has_returned = true;
        is_in_handler_ = true;
        try {
            handler_(buffer_);
        } catch (...) { // a handler may be written in C++; its exception must not unwind through the program's C code
            has_returned = false;
        }
        is_in_handler_ = false;
        buffer_[0] = '\0';
        return has_returned;
    }

    // True while this thread is in the handler of any buffer: the handlers of two buffers that log could deadlock.
    static inline thread_local bool is_in_handler_ = false;

    ForkSafeMutex mutex_;
    const ForkRegistration fork_registration_{mutex_, LockRank::log_sinks};
    char *buffer_;
    std::size_t capacity_; ///< bytes, without the terminating NUL
    std::size_t size_ = 0; ///< bytes in use, at most capacity_
    LogFlush handler_;
};

/// Logs @p why, and returns INVALID_VALUE.
doca_error_t refuse(const char *why)
{
    LOG_ERR("failed to create a log backend: %s", why);
    return DOCA_ERROR_INVALID_VALUE;
}

template <typename Kind, typename... Args>
doca_error_t create(SinkPtr &sink, Args &&...args)
{
    sink.reset(new (std::nothrow) Kind{std::forward<Args>(args)...});
    return sink != nullptr ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

} // namespace

bool write_to_fd(int fd, std::string_view text) noexcept
{
    // Usually a single write(2), so that lines of several processes are not mixed.
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written >= 0)
            text.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            return false;
    }
    return true;
}

doca_error_t create_file_sink(FILE *file, SinkPtr &sink) noexcept
{
    return file != nullptr ? create<FileSink>(sink, file) : refuse("the stream is NULL");
}

doca_error_t create_fd_sink(int fd, SinkPtr &sink) noexcept
{
    // A closed descriptor would fail for each line, or write to a file that is opened later with the same number.
    if (fcntl(fd, F_GETFD) < 0) {
        LOG_ERR("failed to create a log backend: %d is not an open file descriptor", fd);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return create<FdSink>(sink, fd);
}

doca_error_t create_buffer_sink(char *buffer, std::size_t capacity, LogFlush flush, SinkPtr &sink) noexcept
{
    if (buffer == nullptr || flush == nullptr)
        return refuse("the buffer, or its handler, is NULL");
    // One character and the NUL.
    if (capacity < 2) {
        LOG_ERR("failed to create a log backend: a buffer of %zu bytes is below the least size, 2", capacity);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return create<BufferSink>(sink, buffer, capacity, flush);
}

doca_error_t create_syslog_sink(const char *name, SinkPtr &sink) noexcept
{
    if (name == nullptr)
        return refuse("the name is NULL");
    if (*name == '\0')
        return refuse("the name is empty");
    sink = open_syslog(name);
    return sink != nullptr ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

static constinit ForkSafeMutex setup_mutex;
static const ForkRegistration setup_registration(setup_mutex, LockRank::log_setup);

doca_error_t add_standard_backends(LogChannel &channel) noexcept
{
    static constinit bool is_created = false;
    const std::lock_guard lock{setup_mutex};
    if (is_created)
        return DOCA_SUCCESS;
    // All four are allocated before the first one is added, so that a failure has no effect.
    SinkPtr to_out{new (std::nothrow) FileSink{stdout}};
    SinkPtr to_err{new (std::nothrow) FileSink{stderr}};
    std::unique_ptr<LogBackend> out{new (std::nothrow) LogBackend{channel, std::move(to_out)}};
    std::unique_ptr<LogBackend> err{new (std::nothrow) LogBackend{channel, std::move(to_err)}};
    if (!out || !err || !out->sink || !err->sink)
        return DOCA_ERROR_NO_MEMORY;
    out->limits.set_upper(LogLevel::info);
    out->limits.make_upper_final();
    err->limits.set_lower(LogLevel::warning);
    err->limits.make_lower_final();
    err->limits.make_upper_final();
    channel.add(std::move(out));
    channel.add(std::move(err));
    is_created = true;
    return DOCA_SUCCESS;
}

} // namespace opendoca
