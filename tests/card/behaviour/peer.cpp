// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "peer.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace card_test {

namespace {

constexpr int socket_in_peer = 3;
constexpr std::string_view role_option = "--role=";

void send_at(int socket, const Message &message)
{
    if (::send(socket, &message, sizeof(message), MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof(message)))
        throw std::runtime_error("the other process is gone");
}

Message receive_at(int socket)
{
    Message message{};
    if (recv(socket, &message, sizeof(message), 0) != static_cast<ssize_t>(sizeof(message)))
        throw std::runtime_error("the other process is gone");
    return message;
}

} // namespace

Peer::Peer(const char *side, const char *role_name)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        throw std::runtime_error("socketpair");
    // "<card>/host" or "<card>/dpu"
    std::string folder = std::getenv("OPENDOCA_CARD_SIDE");
    folder = folder.substr(0, folder.rfind('/') + 1) + side;
    const std::string option = std::string(role_option) + role_name;
    pid_ = fork();
    if (pid_ == 0) {
        setenv("OPENDOCA_CARD_SIDE", folder.c_str(), 1);
        // A copy first: dup2() to the same number would leave it to be closed by exec.
        dup2(dup(pair[1]), socket_in_peer);
        execl("/proc/self/exe", "peer", option.c_str(), static_cast<char *>(nullptr));
        _exit(127);
    }
    close(pair[1]);
    socket_ = pair[0];
}

Peer::~Peer()
{
    kill();
    close(socket_);
}

void Peer::send(const Message &message) const
{
    send_at(socket_, message);
}

Message Peer::receive() const
{
    return receive_at(socket_);
}

int Peer::wait()
{
    int status = 0;
    if (pid_ <= 0 || waitpid(pid_, &status, 0) != pid_)
        return -1;
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void Peer::kill()
{
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        wait();
    }
}

void send_to_test(const Message &message)
{
    send_at(socket_in_peer, message);
}

Message receive_from_test()
{
    return receive_at(socket_in_peer);
}

std::string role(int argc, char **argv)
{
    return argc == 2 && std::string_view(argv[1]).starts_with(role_option) ? argv[1] + role_option.size() : "";
}

} // namespace card_test
