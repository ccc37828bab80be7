// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../common/files.hpp"

namespace opendoca::tools {

namespace {

/// Returns the CPU's model; the architecture where /proc/cpuinfo has no model, as on many ARM machines.
std::string cpu_model()
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name") && line.find(": ") != std::string::npos)
            return line.substr(line.find(": ") + 2);
    }
    utsname name{};
    return uname(&name) == 0 ? name.machine : "unknown";
}

std::string kernel_release()
{
    utsname name{};
    return uname(&name) == 0 ? name.release : "unknown";
}

/// Parses a size such as "32768K"; returns bytes, or 0.
std::size_t parse_size(const std::string &text)
{
    std::size_t value = 0;
    char unit = 0;
    if (std::sscanf(text.c_str(), "%zu%c", &value, &unit) < 1)
        return 0;
    return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : value;
}

/// Returns the seconds of a clock.
double seconds_of(clockid_t clock)
{
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

} // namespace

double seconds_now()
{
    return seconds_of(CLOCK_MONOTONIC);
}

CacheSizes cache_sizes()
{
    CacheSizes sizes;
    std::error_code is_hidden; // ignored: some containers hide these files, and the defaults apply
    for (const auto &entry : std::filesystem::directory_iterator("/sys/devices/system/cpu/cpu0/cache", is_hidden)) {
        const std::filesystem::path &place = entry.path();
        const std::string level = first_line(place / "level");
        const std::size_t size = parse_size(first_line(place / "size"));
        if (size == 0)
            continue;
        // The first level has another entry for instructions.
        if (level == "1" && first_line(place / "type") == "Data")
            sizes.l1d = size;
        else if (level == "2")
            sizes.l2 = size;
        else if (level == "3")
            sizes.l3 = size;
    }
    return sizes;
}

std::vector<int> allowed_cpus()
{
    cpu_set_t set;
    std::vector<int> cpus;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set))
            cpus.push_back(cpu);
    }
    return cpus;
}

void pin_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0)
        throw std::runtime_error("pinning to CPU " + std::to_string(cpu) + ": " + std::strerror(errno));
}

Json describe_machine()
{
    const CacheSizes caches = cache_sizes();
    Json cache_json = Json::object();
    cache_json.set("l1d", caches.l1d).set("l2", caches.l2).set("l3", caches.l3);
    Json json = Json::object();
    json.set("cpu", cpu_model())
        .set("cpus", sysconf(_SC_NPROCESSORS_ONLN))
        .set("cache_bytes", std::move(cache_json))
        .set("kernel", kernel_release())
        .set("libc", std::string("glibc ") + gnu_get_libc_version())
        .set("transparent_hugepage", first_line("/sys/kernel/mm/transparent_hugepage/enabled"))
        .set("load_average", first_line("/proc/loadavg"));
    return json;
}

std::string describe_machine_briefly()
{
    const CacheSizes caches = cache_sizes();
    return cpu_model() + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " CPUs, L1d " +
           std::to_string(caches.l1d >> 10) + " KiB, L2 " + std::to_string(caches.l2 >> 10) + " KiB, L3 " +
           std::to_string(caches.l3 >> 10) + " KiB, Linux " + kernel_release() + ", glibc " + gnu_get_libc_version();
}

OtherCpuTime::OtherCpuTime() : start_(read()) {}

OtherCpuTime::Reading OtherCpuTime::read()
{
    // /proc/stat, in ticks: user nice system idle iowait irq softirq steal
    unsigned long long ticks[8] = {};
    std::ifstream file("/proc/stat");
    std::string word;
    file >> word;
    for (auto &count : ticks)
        file >> count;
    // Idle time and the time of waiting for I/O do not count.
    const auto second = static_cast<double>(sysconf(_SC_CLK_TCK));
    const auto seconds = [&](int i) { return static_cast<double>(ticks[i]) / second; };
    return {seconds(0) + seconds(1) + seconds(2) + seconds(5) + seconds(6), seconds(7),
            seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
}

double OtherCpuTime::seconds_of_others() const
{
    // The two clocks have different resolutions, so the difference may be slightly negative.
    const Reading now = read();
    return std::max(0.0, (now.busy - start_.busy) - (now.own - start_.own));
}

double OtherCpuTime::seconds_stolen() const
{
    return read().stolen - start_.stolen;
}

} // namespace opendoca::tools
