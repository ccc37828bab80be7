// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Properties of the machine: caches, CPUs, and the CPU time that other processes use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../common/json.hpp"

namespace opendoca::tools {

/// Sizes of the data caches of the first CPU in bytes. The defaults are used for caches that the kernel does not
/// report.
struct CacheSizes {
    std::size_t l1d = 32 << 10;
    std::size_t l2 = 1 << 20;
    std::size_t l3 = 16 << 20;
};

/// Reads the cache sizes from the kernel: the C library reports a wrong L3 size for some AMD processors.
[[nodiscard]] CacheSizes cache_sizes();

/// Returns the CPUs that this process may run on, in ascending order.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Pins the calling thread to @p cpu. Throws if it can't.
void pin_to(int cpu);

/// Returns model, kernel, caches and so on for reports.
[[nodiscard]] Json describe_machine();
/// Returns the same in one line.
[[nodiscard]] std::string describe_machine_briefly();

/// Measures the CPU time that others have used since construction: other processes of this machine, and other virtual
/// machines (stolen time). Constant after construction; any thread may read it.
class OtherCpuTime {
public:
    OtherCpuTime();
    /// Returns seconds of CPU time with a resolution of a hundredth of a second.
    [[nodiscard]] double seconds_of_others() const;
    /// Returns the seconds in which the hypervisor ran others while a CPU of this machine was busy.
    [[nodiscard]] double seconds_stolen() const;

private:
    /// The counters at one moment, in seconds since the machine's or the process's start.
    struct Reading {
        double busy = 0;
        double stolen = 0;
        double own = 0;
    };
    [[nodiscard]] static Reading read();

    Reading start_;
};

/// Returns the seconds of a monotonic clock, for differences.
[[nodiscard]] double seconds_now();

} // namespace opendoca::tools
