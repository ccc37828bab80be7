// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/own_port.hpp"

namespace doca_test {

/// Processes of storm_peer.cpp, which connect to the test again and again. One that is killed has a successor.
class StormPeers {
public:
    StormPeers(std::string library, std::string device, std::uint32_t count)
        : library_(std::move(library)),
          device_(std::move(device)),
          pids_(count)
    {
        for (pid_t &pid : pids_)
            start(pid);
    }
    StormPeers(const StormPeers &) = delete;
    StormPeers &operator=(const StormPeers &) = delete;
    ~StormPeers()
    {
        for (const pid_t pid : pids_)
            end(pid);
    }

    /// Where they ask for connections; a name for Comch.
    [[nodiscard]] static std::uint16_t port() { return own_port(PortBlock::size - 1); }
    void kill_one(std::uint32_t number)
    {
        pid_t &pid = pids_[number % pids_.size()];
        end(pid);
        start(pid);
    }

private:
    void start(pid_t &pid)
    {
        const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "storm_peer";
        const std::string number = std::to_string(port());
        const char *const arguments[] = {program.c_str(), library_.c_str(), device_.c_str(), number.c_str(), nullptr};
        posix_spawn_file_actions_t quiet; // of what it says of deaths and refusals there is no end
        posix_spawn_file_actions_init(&quiet);
        posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        const int error =
            posix_spawn(&pid, program.c_str(), &quiet, nullptr, const_cast<char *const *>(arguments), environ);
        posix_spawn_file_actions_destroy(&quiet);
        if (error != 0)
            throw std::runtime_error("a process can't be started");
    }
    static void end(pid_t pid)
    {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }

    const std::string library_;
    const std::string device_;
    std::vector<pid_t> pids_;
};

} // namespace doca_test
