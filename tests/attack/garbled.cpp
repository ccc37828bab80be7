// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Two processes walk through the API while a third one of the same user writes anything into all that they
// share. Their calls may fail, and what they copy may be wrong; they may not crash or hang, and nothing may
// be written beside what was exported, which the walks' own memory would show to sanitizers and the heap's
// checks.
//
//     attack_garbled [--walks N] [--seed N]
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../src/core/base/unique_fd.hpp"
#include "../conformance/support/start_time.hpp"
#include "options.hpp"
#include "scenario.hpp"

namespace {

using namespace attack;

constexpr unsigned seconds_to_end = 120; ///< of a walk, each of whose waits may last until it gives up

template <typename Body>
pid_t start(Body body)
{
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(2);
    _exit(body());
}

/// The pages that two processes share, as far as a third one can write to them.
class Garbler {
public:
    /// @p names: what a word would hold that belongs to one of the processes that live.
    Garbler(std::uint32_t seed, std::vector<std::uint64_t> names) : random_(seed), names_(std::move(names)) {}
    Garbler(const Garbler &) = delete;
    Garbler &operator=(const Garbler &) = delete;
    ~Garbler()
    {
        for (const auto &[inode, page] : pages_)
            munmap(page.start, page.size);
    }

    void find(pid_t pid)
    {
        const std::string path = "/proc/" + std::to_string(pid) + "/fd";
        DIR *const fds = opendir(path.c_str());
        if (fds == nullptr)
            return;
        while (const dirent *const entry = readdir(fds)) {
            const std::string file = path + "/" + entry->d_name;
            char target[128] = {};
            if (readlink(file.c_str(), target, sizeof(target) - 1) <= 0 ||
                std::string(target).find("memfd:opendoca") == std::string::npos)
                continue;
            const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC);
            struct stat info {};
            if (fd >= 0 && fstat(fd, &info) == 0 && !pages_.contains(info.st_ino)) {
                void *const start =
                    mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
                if (start != MAP_FAILED)
                    pages_[info.st_ino] = {static_cast<unsigned char *>(start), static_cast<std::size_t>(info.st_size)};
            }
            if (fd >= 0)
                close(fd);
        }
        closedir(fds);
    }
    void garble()
    {
        for (const auto &[inode, page] : pages_) {
            for (int i = 0; i < 16; ++i) {
                // What stands at the beginning is used most.
                const std::size_t bound = random_() % 2 == 0 ? std::min<std::size_t>(page.size, 1024) : page.size;
                page.start[random_() % bound] = static_cast<unsigned char>(random_());
                ++num_writes;
            }
            if (random_() % 4 == 0) {
                const std::size_t bound = random_() % 2 == 0 ? std::min<std::size_t>(page.size, 1024) : page.size;
                const std::size_t at = random_() % (bound / sizeof(std::uint64_t)) * sizeof(std::uint64_t);
                std::memcpy(page.start + at, &names_[random_() % names_.size()], sizeof(std::uint64_t));
                num_writes += sizeof(std::uint64_t);
            }
        }
    }
    [[nodiscard]] std::size_t num_pages() const { return pages_.size(); }

    std::uint64_t num_writes = 0;

private:
    struct Page {
        unsigned char *start;
        std::size_t size;
    };
    std::mt19937 random_;
    std::vector<std::uint64_t> names_;
    std::map<ino_t, Page> pages_;
};

/// The name of a process, as owners of what is shared are named: see process.hpp.
std::uint64_t name_of(pid_t pid)
{
    return doca_test::start_time_of(pid) << 22 | static_cast<std::uint32_t>(pid);
}

/// Writes to stderr where the process has crashed, and lets the signal end it. May deadlock in the allocator; the alarm
/// ends the process then.
void report_backtrace(int signal)
{
    std::signal(signal, SIG_DFL);
    void *frames[64];
    backtrace_symbols_fd(frames, backtrace(frames, 64), STDERR_FILENO);
    raise(signal);
}

/// Prints the last lines of a side's stderr.
void print_end_of(int report)
{
    constexpr off_t most = 8192;
    char text[most];
    const off_t end = lseek(report, 0, SEEK_END);
    const ssize_t size = pread(report, text, sizeof(text), std::max<off_t>(end - most, 0));
    std::printf("%.*s\n", static_cast<int>(std::max<ssize_t>(size, 0)), text);
}

/// How a child has ended, if it has.
bool has_ended(pid_t child, int &status)
{
    return waitpid(child, &status, WNOHANG) == child;
}

} // namespace

int main(int argc, char **argv)
{
    std::uint64_t walks = 20, seed = std::random_device()();
    const Option options[] = {number_option("--walks", walks), number_option("--seed", seed)};
    if (!read_options({argv, static_cast<std::size_t>(argc)}, options))
        return 2;
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    setenv("DOCA_SOFT", "1", 1);
    silence();
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    std::uint64_t writes = 0, pages = 0, bad = 0;
    for (std::uint64_t walk = 0; walk < walks; ++walk) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
            return 2;
        pid_t children[2];
        const opendoca::UniqueFd reports[2] = {opendoca::UniqueFd(memfd_create("host", MFD_CLOEXEC)),
                                               opendoca::UniqueFd(memfd_create("DPU", MFD_CLOEXEC))};
        for (const int side : {0, 1}) {
            children[side] = start([&] {
                alarm(seconds_to_end);
                close(ends[1 - side]);
                // Wrong copies are reported where something was garbled, which is no failure here.
                dup2(reports[side].get(), STDERR_FILENO);
                std::signal(SIGABRT, report_backtrace);
                std::signal(SIGSEGV, report_backtrace);
                (void)Walk(side == 0 ? Role::host : Role::dpu, ends[side], Trouble::any).run();
                return 0;
            });
        }
        close(ends[0]);
        close(ends[1]);
        Garbler garbler(static_cast<std::uint32_t>(random()), {name_of(1), name_of(children[0]), name_of(children[1])});
        bool is_running[2] = {true, true};
        while (is_running[0] || is_running[1]) {
            for (const int side : {0, 1}) {
                int status = 0;
                if (!is_running[side])
                    continue;
                garbler.find(children[side]);
                if (!has_ended(children[side], status))
                    continue;
                is_running[side] = false;
                if (WIFSIGNALED(status)) {
                    std::printf("walk %llu: the %s %s (signal %d)\n", static_cast<unsigned long long>(walk),
                                side == 0 ? "host" : "DPU", WTERMSIG(status) == SIGALRM ? "hung" : "crashed",
                                WTERMSIG(status));
                    print_end_of(reports[side].get());
                    ++bad;
                }
            }
            garbler.garble();
            usleep(100 + static_cast<useconds_t>(random() % 400));
        }
        writes += garbler.num_writes;
        pages += garbler.num_pages();
    }
    std::printf("%llu walks, %llu bytes written into %llu pages, %llu bad\n", static_cast<unsigned long long>(walks),
                static_cast<unsigned long long>(writes), static_cast<unsigned long long>(pages),
                static_cast<unsigned long long>(bad));
    return bad == 0 && pages != 0 ? 0 : 1;
}
