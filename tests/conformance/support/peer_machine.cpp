// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A channel between machines is a TCP connection: first the name of the program, which is empty when the
// server is to end, and then messages both ways, each behind its length. Both machines are trusted, and of
// the same byte order.
#include "peer_machine.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace doca_test {

namespace {

constexpr const char *host_variable = "OPENDOCA_TEST_PEER_HOST";
constexpr const char *program_variable = "OPENDOCA_TEST_PEER_PROGRAM"; ///< from a test to its relay
constexpr int connect_seconds = 60;                                    ///< the other machine may have to start first

[[noreturn]] void fail(const std::string &what)
{
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

/// Waits until the bytes are there; false at the end of the connection.
[[nodiscard]] bool read_all(int socket, std::span<std::byte> bytes)
{
    while (!bytes.empty()) {
        const ssize_t size = recv(socket, bytes.data(), bytes.size(), 0);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return false;
        bytes = bytes.subspan(static_cast<std::size_t>(size));
    }
    return true;
}

void write_all(int socket, std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        const ssize_t size = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (size < 0 && errno != EINTR)
            throw ChannelClosed(std::string("send: ") + std::strerror(errno));
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    }
}

void write_message(int socket, std::span<const std::byte> bytes)
{
    const std::uint32_t size = static_cast<std::uint32_t>(bytes.size());
    write_all(socket, std::as_bytes(std::span(&size, 1)));
    write_all(socket, bytes);
}

[[nodiscard]] std::vector<std::byte> read_message(int socket)
{
    std::uint32_t size = 0;
    if (!read_all(socket, std::as_writable_bytes(std::span(&size, 1))))
        throw ChannelClosed("the other machine has gone");
    std::vector<std::byte> bytes(size);
    if (!read_all(socket, bytes))
        throw ChannelClosed("the other machine has gone");
    return bytes;
}

/// Passes messages on until one side has gone, which is a ChannelClosed, or until @p request is readable.
void relay(Channel &channel, int socket, int request = -1)
{
    for (;;) {
        pollfd ends[] = {{.fd = channel.fd(), .events = POLLIN, .revents = 0},
                         {.fd = socket, .events = POLLIN, .revents = 0},
                         {.fd = request, .events = POLLIN, .revents = 0}};
        if (poll(ends, 3, -1) < 0 && errno != EINTR)
            fail("poll");
        if (ends[2].revents != 0)
            return;
        if (ends[0].revents != 0)
            write_message(socket, channel.receive_bytes());
        if (ends[1].revents != 0)
            channel.send_bytes(read_message(socket));
    }
}

/// A connection to the machine that serves, as soon as it does.
[[nodiscard]] int connect_to_server()
{
    const char *const text = std::getenv(host_variable);
    const std::string where = text != nullptr ? text : "";
    const std::size_t colon = where.rfind(':');
    if (colon == std::string::npos)
        throw std::runtime_error(std::string(host_variable) + " is '" + where + "', and not address:port");
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo *address = nullptr;
    if (getaddrinfo(where.substr(0, colon).c_str(), where.substr(colon + 1).c_str(), &hints, &address) != 0)
        throw std::runtime_error("no address: " + where);
    for (int tries = 0;; ++tries) {
        const int socket = ::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (socket >= 0 && connect(socket, address->ai_addr, address->ai_addrlen) == 0) {
            freeaddrinfo(address);
            const int on = 1;
            setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            return socket;
        }
        if (tries == connect_seconds * 5)
            fail("connecting to " + where);
        close(socket);
        const timespec pause = {0, 200'000'000}; // a machine that starts can't tell when it is ready
        nanosleep(&pause, nullptr);
    }
}

const ChildProgram relay_program("relay-to-peer-machine", [](Channel &parent) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    const int socket = connect_to_server();
    const std::string_view program = std::getenv(program_variable);
    write_message(socket, std::as_bytes(std::span(program)));
    relay(parent, socket, signalfd(-1, &signals, SFD_CLOEXEC));
    // The test kills the program: it has ended when the server closes the connection.
    shutdown(socket, SHUT_WR);
    while (true)
        (void)read_message(socket);
});

/// In a process of its own: the child lives as long as the connection.
[[noreturn]] void serve_one(int socket, const std::string &program)
{
    try {
        ChildProcess child(program.c_str());
        relay(child.channel(), socket);
    } catch (const ChannelClosed &) {
    } catch (const std::exception &error) {
        std::fprintf(stderr, "serving %s: %s\n", program.c_str(), error.what());
        _exit(1);
    }
    _exit(0);
}

[[noreturn]] void serve(int port)
{
    sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(static_cast<std::uint16_t>(port));
    const int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(listener, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0 || listen(listener, 64) != 0)
        fail("listening");
    bool has_failed = false;
    for (;;) {
        const int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0)
            continue;
        const int no_delay = 1;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof(no_delay));
        const std::vector<std::byte> message = read_message(socket);
        const std::string program(reinterpret_cast<const char *>(message.data()), message.size());
        if (!program.empty() && fork() == 0)
            serve_one(socket, program);
        int status = 0;
        while (waitpid(-1, &status, program.empty() ? 0 : WNOHANG) > 0)
            has_failed = has_failed || status != 0;
        close(socket);
        if (program.empty())
            std::exit(has_failed ? 1 : 0);
    }
}

} // namespace

std::string peer_device(const std::string &device)
{
    const char *const other = std::getenv("OPENDOCA_TEST_PEER_DEVICE");
    return other != nullptr ? other : device;
}

PeerProgram::PeerProgram(const char *program) : name(program)
{
    if (std::getenv(host_variable) == nullptr)
        return;
    name = "relay-to-peer-machine";
    variables[program_variable] = program;
    kill_signal = SIGTERM;
}

void serve_if_asked(int argc, char **argv)
{
    const std::string_view option = argc > 1 ? argv[1] : "";
    try {
        if (option == "--serve" && argc == 3)
            serve(std::atoi(argv[2]));
        if (option == "--release" && argc == 2) {
            const int socket = connect_to_server();
            write_message(socket, {});
            std::byte end;
            std::exit(read_all(socket, {&end, 1}) ? 1 : 0); // waits for the server's end
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
        std::exit(1);
    }
}

} // namespace doca_test
