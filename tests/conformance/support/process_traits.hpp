// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What a process of a test is like, and what it holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <semaphore>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <grp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child_process.hpp"
#include "handle.hpp"
#include "start_time.hpp"

namespace doca_test {

/// Makes this process one of @p user, or with 0 leaves it as it is, and sets whether others may look into it.
inline void become(uid_t user, bool is_dumpable)
{
    if (user != 0) {
        must_hold(setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0,
                  "the process changes its user");
        must_hold(prctl(PR_SET_DUMPABLE, 1) == 0, "the process is dumpable again");
    }
    if (!is_dumpable)
        must_hold(prctl(PR_SET_DUMPABLE, 0) == 0, "the process is not dumpable");
}

/// Does @p body in another thread, with which the process ends. The body ends the main thread by the function
/// that it is given.
[[noreturn]] inline void
go_on_without_main_thread(Channel &parent,
                          const std::function<void(Channel &, const std::function<void()> &end_main)> &body)
{
    auto *const may_end = new std::binary_semaphore(0); // outlives this thread
    std::thread([channel = std::move(parent), body, may_end, main = pthread_self()]() mutable {
        int status = 1;
        try {
            body(channel, [&] {
                may_end->release();
                pthread_join(main, nullptr);
            });
            status = 0;
        } catch (const ChannelClosed &) {
            status = 0;
        } catch (const std::exception &error) {
            std::fprintf(stderr, "child without main thread: %s\n", error.what());
        }
        _exit(status);
    }).detach();
    may_end->acquire();
    pthread_exit(nullptr);
}

/// Takes all descriptors that this process can have from now on, and gives them.
inline std::vector<int> take_all_descriptors()
{
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, 256);
    must_hold(setrlimit(RLIMIT_NOFILE, &limit) == 0, "descriptors are limited");
    std::vector<int> taken;
    for (int fd = dup(STDERR_FILENO); fd >= 0; fd = dup(STDERR_FILENO))
        taken.push_back(fd);
    return taken;
}

/// What a process must give back: descriptors, and mappings that others could share.
struct Resources {
    std::size_t descriptors = 0;
    std::size_t shared_mappings = 0;
    std::size_t shm_files = 0;

    bool operator==(const Resources &) const = default;
};

inline Resources resources_in_use()
{
    namespace fs = std::filesystem;
    Resources found;
    const auto count = [](const char *path) {
        std::size_t entries = 0;
        std::error_code error;
        for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
            ++entries;
        return entries;
    };
    found.descriptors = count("/proc/self/fd");
    found.shm_files = count("/dev/shm");
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        found.shared_mappings += line[line.find(' ') + 4] == 's';
    return found;
}

inline std::ostream &operator<<(std::ostream &stream, const Resources &resources)
{
    return stream << resources.descriptors << " descriptors, " << resources.shared_mappings << " shared mappings, "
                  << resources.shm_files << " files in /dev/shm";
}

} // namespace doca_test
