// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "ucx.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <tuple>

#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/unique_fd.hpp"
#include "machine.hpp"

namespace opendoca::tools {

namespace {

constexpr double patience = 30; ///< seconds

/// A program that is gone at the end, whatever happens.
class Child {
public:
    /// @p output takes what it prints, or is -1.
    Child(const std::vector<std::string> &argv, const std::string &transports, int output)
    {
        std::vector<std::string> environment = {"UCX_TLS=" + transports, "UCX_LOG_LEVEL=error"};
        for (char **variable = environ; *variable != nullptr; ++variable) {
            if (std::strncmp(*variable, "UCX_", 4) != 0)
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
        const int status = posix_spawnp(&pid_, argv[0].c_str(), &actions, nullptr, pointers(argv).data(),
                                        pointers(environment).data());
        posix_spawn_file_actions_destroy(&actions);
        if (status != 0)
            throw std::runtime_error(argv[0] + ": " + std::strerror(status) +
                                     " (Debian's package is ucx-utils)");
    }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;
    ~Child()
    {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            (void)wait();
        }
    }

    /// The wait status.
    int wait()
    {
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return status;
    }

private:
    static std::vector<char *> pointers(const std::vector<std::string> &texts)
    {
        std::vector<char *> result;
        for (const std::string &text : texts)
            result.push_back(const_cast<char *>(text.c_str()));
        result.push_back(nullptr);
        return result;
    }

    pid_t pid_ = -1;
};

/// A TCP port that nobody uses now.
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

/// Its output, and whether it has ended well.
std::pair<std::string, bool> output_of(const std::vector<std::string> &argv, const std::string &transports)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    Child child(argv, transports, writer.get());
    writer = UniqueFd();
    std::string text = read_all(reader.get());
    const int status = child.wait();
    return {std::move(text), WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

UcxTest ucp(std::string name, const RdmaCase &what)
{
    std::vector<std::string> arguments = {"-t", name};
    const bool is_alone =
        what.test == RdmaTest::latency && what.op != RdmaOp::write && what.op != RdmaOp::send;
    if (is_alone)
        arguments.insert(arguments.end(), {"-O", "1"});
    return {std::move(name), std::move(arguments),
            what.memory == MemoryKind::shared ? "posix,self" : "posix,cma,self"};
}

UcxTest cma(std::string name, const RdmaCase &what)
{
    std::vector<std::string> arguments = {"-d", "memory", "-x", "cma", "-D", "zcopy", "-t", name};
    if (what.test == RdmaTest::latency)
        arguments.insert(arguments.end(), {"-O", "1"});
    return {"cma " + name, std::move(arguments), "cma"};
}

} // namespace

std::optional<UcxTest> ucx_test_of(const RdmaCase &what)
{
    if (what.waits_for_events)
        return std::nullopt;
    const bool is_rate = what.test == RdmaTest::rate;
    const bool is_shared = what.memory == MemoryKind::shared;
    switch (what.op) {
    case RdmaOp::write:
        if (is_shared)
            return ucp(is_rate ? "ucp_put_bw" : "ucp_put_lat", what);
        return is_rate ? std::optional(cma("put_bw", what)) : std::nullopt;
    case RdmaOp::read:
        return is_shared ? ucp("ucp_get", what) : cma("get", what);
    case RdmaOp::send:
        return ucp(is_rate ? "tag_bw" : "tag_lat", what);
    case RdmaOp::fetch_add:
        return is_shared ? std::optional(ucp("ucp_fadd", what)) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<double> parse_ucx_output(const std::string &output)
{
    // The number of operations in a second is the last column; the times have too few digits.
    const std::size_t end = output.find_last_not_of(" \n") + 1;
    const std::size_t start = output.rfind(',', end) + 1;
    const std::size_t line = output.rfind('\n', end == 0 ? 0 : end - 1) + 1;
    if (start <= line || std::count(output.begin() + static_cast<std::ptrdiff_t>(line),
                                    output.begin() + static_cast<std::ptrdiff_t>(end), ',') != 7)
        return std::nullopt;
    double rate = 0;
    const auto [rest, error] = std::from_chars(output.data() + start, output.data() + end, rate);
    if (error != std::errc() || rest != output.data() + end || !(rate > 0))
        return std::nullopt;
    return 1e9 / rate;
}

Ucx::Ucx(std::string program, std::vector<int> cpus) : program_(std::move(program)), cpus_(std::move(cpus))
{
    (void)output_of({program_, "-h"}, "self");
}

double Ucx::run(const UcxTest &test, std::size_t size, std::size_t iterations) const
{
    const std::string port = std::to_string(free_port());
    std::vector<std::string> server = {program_, "-p", port};
    std::vector<std::string> client = {program_, "127.0.0.1", "-p", port, "-f", "-v"};
    if (!cpus_.empty()) {
        server.insert(server.end(), {"-c", std::to_string(cpus_[1])});
        client.insert(client.end(), {"-c", std::to_string(cpus_[0])});
    }
    client.insert(client.end(), test.arguments.begin(), test.arguments.end());
    client.insert(client.end(), {"-s", std::to_string(size), "-n", std::to_string(iterations), "-w",
                                 std::to_string(iterations / 10 + 1)});
    Child listener(server, test.transports, -1);
    std::string output;
    for (const double end = seconds_now() + patience; seconds_now() < end;) {
        bool has_ended_well = false;
        std::tie(output, has_ended_well) = output_of(client, test.transports);
        if (has_ended_well) {
            if (const auto nanoseconds = parse_ucx_output(output))
                return *nanoseconds;
            break;
        }
        if (output.find("onnection refused") == std::string::npos &&
            output.find("onnect") == std::string::npos)
            break;
        const timespec pause = {0, 10000000}; // the server needs a moment until it listens
        nanosleep(&pause, nullptr);
    }
    throw std::runtime_error(program_ + " with " + test.name + " has failed:\n" + output);
}

} // namespace opendoca::tools
