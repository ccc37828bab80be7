// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A peer without DOCA: the program bare_rdma_cm.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace doca_test {

/// A process of the program of librdmacm.
class Foreign {
public:
    Foreign(const char *side, const std::string &address, std::uint16_t port, const char *way)
    {
        const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "bare_rdma_cm";
        const std::string number = std::to_string(port);
        std::array<int, 2> pipe{};
        must_be(pipe2(pipe.data(), O_CLOEXEC) == 0);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
        const char *const arguments[] = {program.c_str(), side, address.c_str(), number.c_str(), way, nullptr};
        must_be(posix_spawn(&pid_, program.c_str(), &actions, nullptr, const_cast<char *const *>(arguments), environ) ==
                0);
        posix_spawn_file_actions_destroy(&actions);
        close(pipe[1]);
        output_ = pipe[0];
    }
    Foreign(const Foreign &) = delete;
    Foreign &operator=(const Foreign &) = delete;
    ~Foreign()
    {
        if (pid_ > 0) {
            kill(pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
        close(output_);
    }

    /// Until it prints "ready".
    void wait_until_ready()
    {
        char byte = 0;
        while (byte != '\n')
            ASSERT_EQ(::read(output_, &byte, 1), 1) << "it has ended";
    }
    [[nodiscard]] bool has_ended()
    {
        if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_)
            pid_ = -1;
        return pid_ < 0;
    }
    [[nodiscard]] bool was_well() const { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }

private:
    static void must_be(bool is_so)
    {
        if (!is_so)
            throw std::runtime_error("a process can't be started");
    }

    pid_t pid_ = -1;
    int output_ = -1;
    int status_ = -1;
};

} // namespace doca_test
