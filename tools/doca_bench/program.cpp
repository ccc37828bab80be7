// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "program.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <stdexcept>

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/core/base/unique_fd.hpp"
#include "machine.hpp"

namespace opendoca::tools {

namespace {

constexpr double seconds_of_patience = 30; ///< limit for a server to start

/// Returns an argument vector; it refers to @p texts.
std::vector<char *> pointers(const std::vector<std::string> &texts)
{
    std::vector<char *> result;
    for (const std::string &text : texts)
        result.push_back(const_cast<char *>(text.c_str()));
    result.push_back(nullptr);
    return result;
}

/// Reads until all writers have closed their ends.
std::string read_all(int fd)
{
    std::string text;
    char part[4096];
    ssize_t size = 0;
    while ((size = read(fd, part, sizeof(part))) > 0 || (size < 0 && errno == EINTR)) {
        if (size > 0)
            text.append(part, static_cast<std::size_t>(size));
    }
    return text;
}

} // namespace

Program::Program(const Command &command, int output)
{
    // The first of equal names counts, so added variables replace inherited ones.
    std::vector<std::string> environment = command.environment;
    for (char **variable = environ; *variable != nullptr; ++variable) {
        if (command.without.empty() || std::strncmp(*variable, command.without.c_str(), command.without.size()) != 0)
            environment.emplace_back(*variable);
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    for (const int number : {1, 2}) {
        if (output >= 0)
            posix_spawn_file_actions_adddup2(&actions, output, number);
        else
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0);
    }
    const int status = posix_spawnp(&pid_, command.argv[0].c_str(), &actions, nullptr, pointers(command.argv).data(),
                                    pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    if (status != 0)
        throw std::runtime_error(command.argv[0] + ": " + std::strerror(status) + " (Debian's package is " +
                                 command.package + ")");
    if (command.cpu >= 0) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET(static_cast<unsigned>(command.cpu), &cpus);
        // After the start, so a short part of the program may run elsewhere.
        (void)sched_setaffinity(pid_, sizeof(cpus), &cpus);
    }
}

Program::~Program()
{
    if (pid_ > 0) {
        kill(pid_, SIGKILL);
        (void)wait();
    }
}

int Program::wait()
{
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
}

std::pair<std::string, bool> output_of(const Command &command)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    Program program(command, writer.get());
    // Only the program keeps the pipe open now, so reading ends with it.
    writer = UniqueFd();
    std::string text = read_all(reader.get());
    const int status = program.wait();
    return {std::move(text), WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

std::string output_of_client(const Command &server, const Command &client)
{
    // The listener is killed when this function returns.
    const Program listener(server, -1);
    std::string output;
    for (const double end = seconds_now() + seconds_of_patience; seconds_now() < end;) {
        auto [text, has_ended_well] = output_of(client);
        output = std::move(text);
        if (has_ended_well)
            return output;
        // "connect" or "Connection" in the message means that the server does not listen yet. Other errors are final.
        if (output.find("onnect") == std::string::npos)
            break;
        const timespec pause = {0, 10000000}; // gives the server time until it listens
        nanosleep(&pause, nullptr);
    }
    throw std::runtime_error(client.argv[0] + " has failed:\n" + output);
}

int free_port()
{
    const UniqueFd probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (!probe.is_open() || bind(probe.get(), reinterpret_cast<sockaddr *>(&address), size) != 0 ||
        getsockname(probe.get(), reinterpret_cast<sockaddr *>(&address), &size) != 0)
        throw std::runtime_error(std::string("finding a free port: ") + std::strerror(errno));
    return ntohs(address.sin_port);
}

} // namespace opendoca::tools
