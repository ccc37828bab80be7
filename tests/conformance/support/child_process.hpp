// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Other processes of a test. A program of a child is a function of the test's executable, which the child
// executes anew, so that it shares nothing with the test but a channel.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace doca_test {

/// The other end of a channel has gone.
struct ChannelClosed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Messages between two processes.
class Channel {
public:
    explicit Channel(int fd) noexcept : fd_(fd) {}
    Channel(Channel &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Channel &operator=(Channel &&other) noexcept
    {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Channel();

    template <typename T>
    void send(const T &value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        send_bytes(std::as_bytes(std::span(&value, 1)));
    }
    template <typename T>
    [[nodiscard]] T receive()
    {
        static_assert(std::is_trivially_copyable_v<T>);
        T value;
        receive_into(std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }
    void send_bytes(std::span<const std::byte> bytes);
    [[nodiscard]] std::vector<std::byte> receive_bytes();
    /// Whether a message, or the end of the other process, can be received within @p patience.
    [[nodiscard]] bool is_readable(std::chrono::milliseconds patience = {}) const;
    [[nodiscard]] int fd() const noexcept { return fd_; }
    void close() noexcept;

private:
    void receive_into(std::span<std::byte> bytes);

    int fd_;
};

/// Names a function that a child can be started with. A namespace-scope object.
class ChildProgram {
public:
    using Body = void (*)(Channel &parent);

    ChildProgram(const char *name, Body body);

    /// What main() calls first: runs the child's program when the process was started as one, and then exits.
    static void run_if_child(int argc, char **argv);
};

/// A running child. It is killed at the end, if it has not ended, and also when the test's process dies.
class ChildProcess {
public:
    /// Changes to the child's environment; null unsets.
    using Variables = std::map<std::string, const char *>;

    explicit ChildProcess(const char *program, const Variables &variables = {}, int kill_signal = SIGKILL);
    ChildProcess(const ChildProcess &) = delete;
    ChildProcess &operator=(const ChildProcess &) = delete;
    ~ChildProcess();

    [[nodiscard]] Channel &channel() noexcept { return channel_; }
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    /// By the signal of the constructor, without waiting for the end.
    void kill() const noexcept;
    /// Waits until the child has ended, and leaves it as a zombie.
    void wait_for_end() const noexcept;
    /// Waits for the end and reaps: the exit status, or 128 and the number of the signal.
    int wait();
    /// Closes the channel, which ends programs that wait for it, and waits.
    int finish();

private:
    pid_t pid_ = -1;
    int kill_signal_;
    Channel channel_{-1};
};

/// Runs @p body in a forked child of this process: its exit status, or 128 and the number of the signal.
int in_forked_child(const std::function<int()> &body);

} // namespace doca_test
