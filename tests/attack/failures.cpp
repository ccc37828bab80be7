// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Every allocation and every system call of the library fails once, one in each walk through the API: nothing
// crashes or hangs, and the next walk works and finds nothing leaked.
//
//     attack_failures [--role host|dpu] [--kind allocations|system_calls] [--warm] [--part NAME] [--from K] [--to K]
//     [--step N]
//
// With a part alone, both processes do that before anything else: what the first part of a walk has made is not there.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing.hpp"
#include "options.hpp"
#include "scenario.hpp"

namespace {

using namespace attack;

constexpr unsigned seconds_to_end = 60; ///< of both walks; they take some milliseconds

/// What a process that was attacked tells of itself.
struct Report {
    std::uint64_t counted;
    std::uint64_t calls;
    std::uint64_t refused;
    Resources left;
    char function[32];
    bool was_struck;
};

struct Plan {
    Role role = Role::host;
    Failing kind = Failing::allocations;
    bool is_warm = false;
};

Trouble trouble_of(std::uint64_t k)
{
    return k == 0 ? Trouble::none : Trouble::one_failure;
}

/// The attacked process: a walk in which number @p k fails, between walks in which nothing does.
int be_attacked(const Plan &plan, std::uint64_t k, int channel, Report &report)
{
    const Resources before = count_resources();
    if (plan.is_warm && !Walk(plan.role, channel, Trouble::none).run())
        return 1;
    Walk walk(plan.role, channel, trouble_of(k));
    fail_at(plan.kind, k);
    const bool is_good = walk.run();
    report.counted = counted();
    report.calls = walk.num_calls();
    report.refused = walk.num_refused();
    report.was_struck = failed_function() != nullptr;
    std::snprintf(report.function, sizeof(report.function), "%s", report.was_struck ? failed_function() : "");
    fail_at(Failing::nothing, 0);
    if (!is_good || !Walk(plan.role, channel, Trouble::none).run())
        return 1;
    const Resources after = count_resources();
    report.left = {after.allocations - before.allocations, after.descriptors - before.descriptors,
                   after.mappings - before.mappings};
    return 0;
}

/// The other one, which nothing happens to; but what it does with the attacked one may fail.
int be_peer(const Plan &plan, std::uint64_t k, int channel)
{
    const Role role = plan.role == Role::host ? Role::dpu : Role::host;
    if (plan.is_warm && !Walk(role, channel, Trouble::none).run())
        return 1;
    return Walk(role, channel, trouble_of(k)).run() && Walk(role, channel, Trouble::none).run() ? 0 : 1;
}

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
    alarm(seconds_to_end);
    _exit(body());
}

int end_of(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Two processes: true when both have ended well.
bool run_pair(const Plan &plan, std::uint64_t k, Report &report)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        std::exit(2);
    report = {};
    const pid_t peer = start([&] {
        close(ends[0]);
        return be_peer(plan, k, ends[1]);
    });
    const pid_t attacked = start([&] {
        close(ends[1]);
        return be_attacked(plan, k, ends[0], report);
    });
    close(ends[0]);
    close(ends[1]);
    const int status = end_of(attacked), peers_status = end_of(peer);
    if (status == 0 && peers_status == 0)
        return true;
    const auto how = [](int code) {
        return code == 128 + SIGALRM ? "hung"
               : code >= 128         ? "crashed"
               : code == 3           ? "was left alone"
               : code == 0           ? "was well"
                                     : "went wrong";
    };
    std::printf("number %llu (%s): the attacked process %s (%d), its peer %s (%d)\n",
                static_cast<unsigned long long>(k), report.function, how(status), status, how(peers_status),
                peers_status);
    return false;
}

} // namespace

int main(int argc, char **argv)
{
    find_failed_function = failed_function;
    std::uint64_t from = 1, to = UINT64_MAX, step = 1;
    Plan plan;
    bool is_host = plan.role == Role::host, strikes_allocations = plan.kind == Failing::allocations;
    const Option options[] = {choice_option("--role", "host", "dpu", is_host),
                              choice_option("--kind", "allocations", "system_calls", strikes_allocations),
                              {"--part", "NAME",
                               [](const std::string &name) {
                                   walk_only(name);
                                   return !name.empty();
                               }},
                              {"--warm", "", [&](const std::string &) { return plan.is_warm = true; }},
                              number_option("--from", from),
                              number_option("--to", to),
                              number_option("--step", step)};
    if (!read_options({argv, static_cast<std::size_t>(argc)}, options))
        return 2;
    plan.role = is_host ? Role::host : Role::dpu;
    plan.kind = strikes_allocations ? Failing::allocations : Failing::system_calls;
    setenv("DOCA_SOFT", "1", 1);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    silence();
    auto *const report =
        static_cast<Report *>(mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

    // What is there after walks in which nothing fails.
    if (!run_pair(plan, 0, *report))
        return 1;
    const Resources usual = report->left;
    const std::uint64_t expected = report->counted;
    std::uint64_t tried = 0, refused = 0, bad = 0;
    std::map<std::string, std::uint64_t> functions;
    for (std::uint64_t k = from; k <= to; k += step) {
        const bool is_good = run_pair(plan, k, *report);
        if (is_good && !report->was_struck)
            break; // there are no more
        ++tried;
        bad += !is_good;
        refused += report->refused != 0;
        ++functions[report->function];
        if (is_good && report->left != usual) {
            ++bad;
            std::printf("number %llu (%s): %lld allocations, %lld descriptors and %lld mappings are left\n",
                        static_cast<unsigned long long>(k), report->function,
                        static_cast<long long>(report->left.allocations - usual.allocations),
                        static_cast<long long>(report->left.descriptors - usual.descriptors),
                        static_cast<long long>(report->left.mappings - usual.mappings));
        }
    }
    std::printf("%s, %s, %s: about %llu in a walk; %llu tried, %llu answered with an error, %llu survived, "
                "%llu bad\n",
                plan.role == Role::host ? "host" : "DPU",
                plan.kind == Failing::allocations ? "allocations" : "system calls", plan.is_warm ? "warm" : "cold",
                static_cast<unsigned long long>(expected), static_cast<unsigned long long>(tried),
                static_cast<unsigned long long>(refused), static_cast<unsigned long long>(tried - bad),
                static_cast<unsigned long long>(bad));
    for (const auto &[function, times] : functions)
        std::printf("    %-18s %llu\n", function.c_str(), static_cast<unsigned long long>(times));
    return bad == 0 && tried != 0 ? 0 : 1;
}
