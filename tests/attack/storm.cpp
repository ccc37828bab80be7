// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A process exports memory, stops the export and exports again; others copy from and to it. At random moments
// they are killed, stopped for a while, without descriptors, or get a signal every 30 us. When doca_mmap_stop
// has returned, nobody writes; it returns; nobody crashes; and what the killed held comes back.
//
//     attack_storm [--kills N] [--stops N] [--seed N]
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options.hpp"
#include "storm_sides.hpp"

namespace {

using namespace attack;
using Clock = std::chrono::steady_clock;

constexpr std::size_t size = std::size_t{1} << 20;
constexpr auto patience_of_all = std::chrono::seconds(60); ///< without any progress
constexpr std::byte after_stop{0xee};
constexpr std::int64_t size_of_reserve = 2;

/// What the processes tell each other, in memory that stays when one is killed.
struct Shared {
    std::atomic<std::uint32_t> sequence{0}; ///< odd while the descriptor is changed
    std::uint32_t descriptor_size = 0;
    std::byte descriptor[256] = {};
    std::atomic<bool> is_over{false};
    std::atomic<std::uint64_t> revocations{0}; ///< that have returned
    std::atomic<std::uint64_t> copies{0};
    std::atomic<std::uint64_t> late_writes{0}; ///< after a stop
    std::atomic<std::uint64_t> leaks{0};
};

Shared *shared = nullptr;
std::atomic<std::uint64_t> num_signals{0};

void get_signals(bool wanted)
{
    struct sigaction action {};
    action.sa_handler = [](int) { num_signals.fetch_add(1, std::memory_order_relaxed); };
    sigaction(SIGALRM, &action, nullptr); // and no SA_RESTART
    const itimerval often = {{0, wanted ? 30 : 0}, {0, wanted ? 30 : 0}};
    setitimer(ITIMER_REAL, &often, nullptr);
}

/// No descriptor can be opened any more, or again as before.
void starve(bool wanted)
{
    static rlimit usual = [] {
        rlimit limit{};
        getrlimit(RLIMIT_NOFILE, &limit);
        return limit;
    }();
    const rlimit limit = {wanted ? 0 : usual.rlim_cur, usual.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
}

int be_exporter(std::uint32_t seed)
{
    std::mt19937 random(seed);
    const bool is_shareable = seed % 2 == 0;
    const int fd = memfd_create("storm", MFD_CLOEXEC);
    if (ftruncate(fd, size) != 0)
        return 1;
    auto *const memory = static_cast<std::byte *>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, is_shareable ? MAP_SHARED : MAP_PRIVATE, fd, 0));
    Walk walk(Role::host, -1, Trouble::none);
    const Device dev(walk, "soft_pf0");
    if (!dev.is_open())
        return 1;
    std::int64_t usual_descriptors = 0;
    for (std::uint64_t round = 0; !shared->is_over; ++round) {
        std::optional<Export> exported(std::in_place, walk, dev, std::span(memory, size));
        const std::span<const std::byte> descriptor = exported->descriptor();
        if (descriptor.empty())
            return 1;
        shared->sequence.fetch_add(1);
        std::memcpy(shared->descriptor, descriptor.data(), descriptor.size());
        shared->descriptor_size = static_cast<std::uint32_t>(descriptor.size());
        shared->sequence.fetch_add(1);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));

        const bool is_starved = random() % 3 == 0, has_signals = random() % 4 == 0;
        get_signals(has_signals);
        starve(is_starved);
        if (exported->stop() != DOCA_SUCCESS)
            return 1;
        std::memset(memory, std::to_integer<int>(after_stop), size);
        const auto end = Clock::now() + std::chrono::microseconds(200 + random() % 500);
        bool is_changed = false;
        do
            is_changed = memory[0] != after_stop || std::memcmp(memory, memory + 1, size - 1) != 0;
        while (!is_changed && Clock::now() < end);
        shared->late_writes += is_changed;
        starve(false);
        get_signals(false);
        exported.reset();
        ++shared->revocations;
        const std::int64_t descriptors = count_resources().descriptors;
        if (round == 8)
            usual_descriptors = descriptors;
        // The library's reserve, if it was empty then, has been filled since.
        shared->leaks += round > 8 && descriptors > usual_descriptors + size_of_reserve;
    }
    return 0;
}

void copy_until_it_fails(Import &imported, std::span<std::byte> own, std::mt19937 &random)
{
    while (imported.is_made() && !shared->is_over) {
        static constexpr std::size_t sizes[] = {64, 4096, 20'000, 300'000, size};
        const std::size_t bytes = sizes[random() % std::size(sizes)];
        if (imported.copy(random() % 4 != 0, bytes) != DOCA_SUCCESS)
            return;
        std::memset(own.data(), 0x11, 64);
        ++shared->copies;
    }
}

int be_importer(std::uint32_t seed)
{
    std::mt19937 random(seed);
    Walk walk(Role::dpu, -1, Trouble::any);
    const Device dev(walk, "soft_p0");
    if (!dev.is_open())
        return 1;
    std::vector<std::byte> own(size, std::byte{0x11});
    get_signals(random() % 4 == 0);
    std::uint32_t last = 0;
    while (!shared->is_over) {
        std::byte descriptor[sizeof(Shared::descriptor)];
        const std::uint32_t sequence = shared->sequence;
        const std::uint32_t length = shared->descriptor_size;
        std::memcpy(descriptor, shared->descriptor, sizeof(descriptor));
        if (sequence == last || sequence % 2 != 0 || sequence != shared->sequence || length > sizeof(descriptor)) {
            sched_yield();
            continue;
        }
        last = sequence;
        Import imported(walk, dev, {descriptor, length}, own);
        copy_until_it_fails(imported, own, random);
    }
    return 0;
}

/// A process of the storm, which is begun anew when it has been killed.
class Victim {
public:
    explicit Victim(int (*body)(std::uint32_t)) : body_(body) {}

    void start(std::uint32_t seed)
    {
        const pid_t parent = getpid();
        pid_ = fork();
        if (pid_ != 0)
            return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(2);
        _exit(body_(seed));
    }
    void kill_and_start(std::uint32_t seed)
    {
        ::kill(pid_, SIGKILL);
        (void)wait();
        start(seed);
    }
    void send(int signal) const { ::kill(pid_, signal); }
    /// Whether it has ended by itself, which it is not to do.
    [[nodiscard]] bool has_ended() const
    {
        siginfo_t info{};
        return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
    }
    int wait()
    {
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

private:
    int (*body_)(std::uint32_t);
    pid_t pid_ = -1;
};

} // namespace

int main(int argc, char **argv)
{
    std::uint64_t kills = 200, stops = 50, seed = std::random_device()();
    const Option options[] = {number_option("--kills", kills), number_option("--stops", stops),
                              number_option("--seed", seed)};
    if (!read_options({argv, static_cast<std::size_t>(argc)}, options))
        return 2;
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    setenv("DOCA_SOFT", "1", 1);
    silence();
    shared = new (mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared;

    std::mt19937 random(static_cast<std::uint32_t>(seed));
    Victim exporter(be_exporter);
    Victim importers[] = {Victim(be_importer), Victim(be_importer), Victim(be_importer)};
    exporter.start(static_cast<std::uint32_t>(random()));
    for (Victim &importer : importers)
        importer.start(static_cast<std::uint32_t>(random()));

    int bad = 0;
    std::uint64_t killed = 0, stopped = 0, revocations = 0;
    auto progress_at = Clock::now();
    while ((killed < kills || stopped < stops) && bad == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
        Victim &importer = importers[random() % std::size(importers)];
        if (stopped < stops && random() % 4 == 0) {
            Victim &victim = random() % 4 == 0 ? exporter : importer;
            victim.send(SIGSTOP);
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
            victim.send(SIGCONT);
            ++stopped;
        } else if (killed < kills) {
            (random() % 16 == 0 ? exporter : importer).kill_and_start(static_cast<std::uint32_t>(random()));
            ++killed;
        }
        bad += exporter.has_ended();
        for (const Victim &each : importers)
            bad += each.has_ended();
        if (const std::uint64_t now = shared->revocations; now != revocations) {
            revocations = now;
            progress_at = Clock::now();
        } else if (Clock::now() - progress_at > patience_of_all) {
            std::printf("doca_mmap_stop does not return\n");
            ++bad;
        }
    }
    // Whoever is still there goes on to a good end.
    const std::uint64_t before = shared->revocations;
    const auto end = Clock::now() + patience_of_all;
    while (bad == 0 && shared->revocations < before + 20 && Clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (shared->revocations < before + 20 && bad == 0) {
        std::printf("it does not go on after the storm\n");
        ++bad;
    }
    shared->is_over = true;
    for (Victim *const each : {&exporter, &importers[0], &importers[1], &importers[2]}) {
        if (const int status = each->wait(); status != 0) {
            std::printf("a process has ended with %d\n", status);
            ++bad;
        }
    }
    std::printf("%llu kills, %llu stops, %llu copies; %llu times doca_mmap_stop has returned, %llu times "
                "something was "
                "written after it, %llu times a descriptor was left\n",
                static_cast<unsigned long long>(killed), static_cast<unsigned long long>(stopped),
                static_cast<unsigned long long>(shared->copies.load()),
                static_cast<unsigned long long>(shared->revocations.load()),
                static_cast<unsigned long long>(shared->late_writes.load()),
                static_cast<unsigned long long>(shared->leaks.load()));
    return bad == 0 && shared->late_writes == 0 && shared->leaks == 0 ? 0 : 1;
}
