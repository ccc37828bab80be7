// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace doca_test {

namespace {

constexpr const char *child_option = "--child-program";
constexpr int reply_seconds = 120; // then a peer that hangs becomes a failure

std::map<std::string, ChildProgram::Body> &programs()
{
    static std::map<std::string, ChildProgram::Body> instance;
    return instance;
}

void check(bool holds, const char *what)
{
    if (!holds)
        throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

/// With a time limit on the socket, the kernel does not go on by itself after a SIGSTOP and SIGCONT.
ssize_t receive_message(int fd, void *buffer, std::size_t size, int flags)
{
    ssize_t received;
    do
        received = recv(fd, buffer, size, flags);
    while (received < 0 && errno == EINTR);
    return received;
}

int status_of(const int wait_status)
{
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

} // namespace

Channel::~Channel()
{
    close();
}

void Channel::close() noexcept
{
    if (fd_ >= 0)
        ::close(std::exchange(fd_, -1));
}

void Channel::send_bytes(std::span<const std::byte> bytes)
{
    if (::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
        throw ChannelClosed(std::string("send: ") + std::strerror(errno));
}

std::vector<std::byte> Channel::receive_bytes()
{
    char probe;
    const ssize_t size = receive_message(fd_, &probe, 1, MSG_PEEK | MSG_TRUNC);
    if (size <= 0)
        throw ChannelClosed(size == 0 ? "the other process has gone" : std::strerror(errno));
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    receive_into(bytes);
    return bytes;
}

void Channel::receive_into(std::span<std::byte> bytes)
{
    const ssize_t size = receive_message(fd_, bytes.data(), bytes.size(), MSG_TRUNC);
    if (size <= 0)
        throw ChannelClosed(size == 0 ? "the other process has gone" : std::strerror(errno));
    if (size != static_cast<ssize_t>(bytes.size()))
        throw std::runtime_error("a message of " + std::to_string(size) + " bytes, not " +
                                 std::to_string(bytes.size()));
}

bool Channel::is_readable(std::chrono::milliseconds patience) const
{
    pollfd channel = {.fd = fd_, .events = POLLIN, .revents = 0};
    return poll(&channel, 1, static_cast<int>(patience.count())) == 1;
}

ChildProgram::ChildProgram(const char *name, Body body)
{
    programs()[name] = body;
}

void ChildProgram::run_if_child(int argc, char **argv)
{
    if (argc != 4 || std::string_view(argv[1]) != child_option)
        return;
    Channel parent(std::atoi(argv[3]));
    try {
        programs().at(argv[2])(parent);
    } catch (const ChannelClosed &) {
        std::exit(0); // the test needs no more
    } catch (const std::exception &error) {
        std::fprintf(stderr, "child program %s: %s\n", argv[2], error.what());
        std::exit(1);
    }
    std::exit(0);
}

ChildProcess::ChildProcess(const char *program, const Variables &variables, int kill_signal) : kill_signal_(kill_signal)
{
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    const timeval patience = {reply_seconds, 0};
    for (const int end : ends)
        check(setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0, "setsockopt");
    const std::string number = std::to_string(ends[1]);
    const char *const argv[] = {"/proc/self/exe", child_option, program, number.c_str(), nullptr};

    // Made before the fork: between it and execve, only what is safe in a signal handler may be called.
    std::vector<std::string> environment;
    for (char **variable = environ; *variable != nullptr; ++variable) {
        const std::string text = *variable;
        if (!variables.contains(text.substr(0, text.find('='))))
            environment.push_back(text);
    }
    for (const auto &[name, value] : variables) {
        if (value != nullptr)
            environment.push_back(name + "=" + value);
    }
    std::vector<char *> envp;
    for (std::string &text : environment)
        envp.push_back(text.data());
    envp.push_back(nullptr);

    const pid_t parent = getpid();
    pid_ = fork();
    check(pid_ >= 0, "fork");
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent && fcntl(ends[1], F_SETFD, 0) == 0)
            execve(argv[0], const_cast<char **>(argv), envp.data());
        _exit(127);
    }
    channel_ = Channel(ends[0]);
    close(ends[1]);
}

ChildProcess::~ChildProcess()
{
    if (pid_ < 0)
        return;
    kill();
    wait();
}

void ChildProcess::kill() const noexcept
{
    ::kill(pid_, kill_signal_);
}

void ChildProcess::wait_for_end() const noexcept
{
    siginfo_t info;
    while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
}

int ChildProcess::wait()
{
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status_of(status);
}

int ChildProcess::finish()
{
    channel_.close();
    return wait();
}

int in_forked_child(const std::function<int()> &body)
{
    std::fflush(nullptr);
    const pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        int status = 125;
        try {
            status = body();
        } catch (const std::exception &error) {
            std::fprintf(stderr, "forked child: %s\n", error.what());
        }
        std::fflush(nullptr);
        _exit(status);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status_of(status);
}

} // namespace doca_test
