// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "other_process.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.hpp"

namespace opendoca::tools {

void fail(const char *what)
{
    throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

void make_socket_pair(UniqueFd &first, UniqueFd &second, int type)
{
    int ends[2];
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0)
        fail("socketpair");
    first = UniqueFd(ends[0]);
    second = UniqueFd(ends[1]);
}

OtherProcess::OtherProcess(int cpu, const std::function<void(int channel)> &serve, int type)
{
    UniqueFd other_end;
    make_socket_pair(channel_, other_end, type);
    // Buffered output would otherwise be printed by both processes.
    const pid_t parent = getpid();
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ < 0)
        fail("fork");
    if (pid_ != 0)
        return;
    // The parent may have ended before prctl(), which the signal does not cover.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    channel_ = UniqueFd();
    if (getppid() != parent)
        _exit(0);
    try {
        if (cpu >= 0)
            pin_to(cpu);
        serve(other_end.get());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "doca_bench: the other process: %s\n", error.what());
        _exit(1);
    }
    // _exit: destructors and exit handlers belong to the parent.
    _exit(0);
}

OtherProcess::~OtherProcess()
{
    channel_ = UniqueFd(); // closing it ends the other process
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
}

} // namespace opendoca::tools
