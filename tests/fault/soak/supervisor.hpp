// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The process that starts the two sides, kills them, and sees whether all comes right again.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.hpp"

namespace soak {

struct Options {
    double seconds = 20;
    std::uint64_t jobs = 0;
    std::uint64_t kills = 10;
    std::uint64_t seed = 0;
    double patience = 60;
    bool keeps_log = false;
    std::string devices[2]; ///< of the sides, by name; empty for the first that does RDMA
};

inline double now()
{
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

inline void sleep_for(std::uint64_t nanoseconds)
{
    const timespec time = {static_cast<time_t>(nanoseconds / 1000000000), static_cast<long>(nanoseconds % 1000000000)};
    nanosleep(&time, nullptr);
}

class Supervisor {
public:
    explicit Supervisor(const Options &options) : options_(options), random_(mix(options.seed, 3))
    {
        void *const page = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED)
            throw std::runtime_error("no shared memory");
        control_ = new (page) Control();
        control_->seed = options.seed;
        control_->patience = options.patience;
        control_->keeps_log = options.keeps_log;
        for (const int side : {0, 1})
            control_->devices[side] = options.devices[side].empty() ? nullptr : options.devices[side].c_str();
    }
    Supervisor(const Supervisor &) = delete;
    Supervisor &operator=(const Supervisor &) = delete;
    ~Supervisor()
    {
        for (const int side : {0, 1}) {
            if (pids_[side] > 0)
                end_by(side, SIGKILL);
        }
        munmap(control_, sizeof(Control));
    }

    void run()
    {
        start_ = now();
        double next_report = start_ + 5;
        for (const int side : {0, 1})
            spawn(side);
        while (!is_enough()) {
            run_epoch();
            if (now() >= next_report) {
                next_report = now() + 5;
                std::cerr << "soak_rdma: " << static_cast<int>(now() - start_) << " s, " << num_jobs() << " jobs, "
                          << num_kills_ << " kills, epoch " << epoch_ << '\n';
            }
        }
        control_->is_ending.store(true, std::memory_order_release);
        const int statuses[] = {reap(0), reap(1)};
        check_failures();
        for (const int side : {0, 1}) {
            if (!WIFEXITED(statuses[side]) || WEXITSTATUS(statuses[side]) != 0)
                throw std::runtime_error("side " + std::to_string(side) + " ended with wait status " +
                                         std::to_string(statuses[side]));
        }
    }

    void print_summary() const
    {
        const auto total = [&](auto field) {
            return (control_->sides[0].*field).load() + (control_->sides[1].*field).load();
        };
        std::cout << "soak_rdma: " << num_jobs() << " jobs in " << static_cast<int>(now() - start_ + 0.5) << " s, seed "
                  << options_.seed << "\n ";
        for (std::size_t kind = 0; kind < num_kinds; ++kind)
            std::cout << ' ' << kind_names[kind] << ' '
                      << control_->sides[0].submitted[kind] + control_->sides[1].submitted[kind];
        std::cout << "\n  " << total(&SideControl::succeeded) << " succeeded (" << (total(&SideControl::bytes) >> 20)
                  << " MiB), " << total(&SideControl::failed) << " failed or flushed on purpose\n  " << epoch_
                  << " connections, " << num_kills_ << " kills, " << num_faults_ << " other faults, "
                  << total(&SideControl::recoveries) << " recoveries of survivors\n  " << total(&SideControl::waits)
                  << " waits for events, " << total(&SideControl::late_waits) << " of them ended late; "
                  << total(&SideControl::fd_checks) << " checks for leaks\n";
    }

    /// Of the connections that wait for events, some may end by time when the machine is busy, but not many.
    void check_wake_ups() const
    {
        const std::uint64_t waits = control_->sides[0].waits + control_->sides[1].waits;
        const std::uint64_t late = control_->sides[0].late_waits + control_->sides[1].late_waits;
        if (late > 20 && late > waits / 20)
            throw std::runtime_error(std::to_string(late) + " of " + std::to_string(waits) +
                                     " waits were not ended by an event, though a job was there");
    }

private:
    [[nodiscard]] std::uint64_t num_jobs() const
    {
        std::uint64_t jobs = 0;
        for (const SideControl &side : control_->sides) {
            for (const auto &count : side.submitted)
                jobs += count.load(std::memory_order_relaxed);
        }
        return jobs;
    }

    /// How much of the run is behind, from 0 to 1.
    [[nodiscard]] double progress() const
    {
        double part = options_.seconds > 0 ? (now() - start_) / options_.seconds : 1;
        if (options_.jobs > 0)
            part = std::min(part, static_cast<double>(num_jobs()) / static_cast<double>(options_.jobs));
        return std::min(part, 1.0);
    }
    [[nodiscard]] bool is_enough() const { return progress() >= 1 && num_kills_ >= options_.kills && epoch_ > 2; }

    void spawn(int side)
    {
        std::cout.flush();
        const pid_t parent = getpid();
        const std::uint64_t incarnation = ++num_spawned_;
        const pid_t pid = fork();
        if (pid < 0)
            throw std::runtime_error("fork");
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            // exit, and not _exit: leak sanitizers look then.
            std::exit(getppid() == parent ? run_worker(*control_, side, incarnation) : 0);
        }
        pids_[side] = pid;
    }

    [[nodiscard]] int reap(int side)
    {
        int status = 0;
        const double end = now() + options_.patience;
        while (waitpid(pids_[side], &status, WNOHANG) == 0) {
            if (now() > end)
                throw std::runtime_error("side " + std::to_string(side) + " does not end");
            sleep_for(100000);
        }
        pids_[side] = -1;
        return status;
    }

    void end_by(int side, int signal)
    {
        kill(pids_[side], signal);
        int status = 0;
        while (waitpid(pids_[side], &status, 0) < 0 && errno == EINTR) {
        }
        pids_[side] = -1;
    }

    void check_failures()
    {
        std::string text;
        for (const SideControl &side : control_->sides) {
            if (side.has_failed.load(std::memory_order_acquire))
                text += (text.empty() ? "" : "\n  ") + std::string(side.failure);
        }
        for (const int side : {0, 1}) {
            int status = 0;
            if (pids_[side] <= 0 || waitpid(pids_[side], &status, WNOHANG) <= 0)
                continue;
            pids_[side] = -1;
            text += (text.empty() ? "side " : "\n  side ") + std::to_string(side) + " has ended, wait status " +
                    std::to_string(status);
        }
        if (!text.empty())
            throw std::runtime_error(text);
    }

    [[nodiscard]] Plan make_plan()
    {
        Plan plan{};
        const double due = static_cast<double>(options_.kills) * progress();
        const std::uint64_t choice = random_.below(12);
        if (static_cast<double>(num_kills_) < due || progress() >= 1)
            plan.fault = Fault::kill;
        else if (choice == 0)
            plan.fault = Fault::short_receive;
        else if (choice == 1)
            plan.fault = Fault::early_stop;
        for (const int side : {0, 1}) {
            plan.quota[side] = 20 + random_.log_up_to(20000);
            plan.is_event_driven[side] = random_.one_in(3);
            plan.is_rebuilt[side] = random_.one_in(4);
        }
        return plan;
    }

    void run_epoch()
    {
        const Plan plan = make_plan();
        num_faults_ += plan.fault == Fault::short_receive || plan.fault == Fault::early_stop ? 1 : 0;
        control_->plan = plan;
        control_->epoch.store(++epoch_, std::memory_order_release);
        const double end = now() + options_.patience;
        bool is_killed[2] = {false, false};
        if (plan.fault == Fault::kill)
            kill_some(is_killed, end);
        while (!is_done(is_killed)) {
            check_failures();
            if (now() > end)
                throw std::runtime_error("epoch " + std::to_string(epoch_) + " hangs: " + describe());
            sleep_for(20000);
        }
        for (const int side : {0, 1}) {
            if (is_killed[side]) {
                control_->sides[side].done.store(epoch_, std::memory_order_relaxed);
                spawn(side);
            }
        }
    }

    [[nodiscard]] bool is_done(const bool (&is_killed)[2]) const
    {
        return std::ranges::all_of(std::array{0, 1}, [&](int side) {
            // Pairs with the release at the end of the epoch: its checks are behind.
            return is_killed[side] || control_->sides[side].done.load(std::memory_order_acquire) == epoch_;
        });
    }

    /// At any time of the epoch, set-up included.
    void kill_some(bool (&is_killed)[2], double end)
    {
        const int victim = static_cast<int>(random_.below(2));
        if (!random_.one_in(6)) {
            while (control_->sides[victim].connected.load(std::memory_order_acquire) != epoch_) {
                check_failures();
                if (now() > end)
                    throw std::runtime_error("epoch " + std::to_string(epoch_) + " hangs: " + describe());
                sleep_for(20000);
            }
        }
        sleep_for(random_.log_up_to(30000000));
        const bool both = random_.one_in(10);
        for (const int side : {victim, 1 - victim}) {
            if (side != victim && !both)
                break;
            check_failures();
            end_by(side, SIGKILL);
            is_killed[side] = true;
            ++num_kills_;
            control_->sides[side].dead.store(epoch_, std::memory_order_release);
        }
    }

    [[nodiscard]] std::string describe() const
    {
        std::string text;
        for (const SideControl &side : control_->sides) {
            text += text.empty() ? "" : "; ";
            text += "stage " + std::to_string(side.stage) + ", ready " + std::to_string(side.ready) + ", connected " +
                    std::to_string(side.connected) + ", sent_all " + std::to_string(side.sent_all) + ", quiet " +
                    std::to_string(side.quiet) + ", broken " + std::to_string(side.broken) + ", over " +
                    std::to_string(side.over) + ", done " + std::to_string(side.done);
        }
        return text;
    }

    const Options &options_;
    Random random_;
    Control *control_;
    pid_t pids_[2] = {-1, -1};
    std::uint64_t num_spawned_ = 0;
    std::uint64_t num_kills_ = 0;
    std::uint64_t num_faults_ = 0;
    std::uint32_t epoch_ = 0;
    double start_ = 0;
};

} // namespace soak
