// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Properties of the machine: caches, cores, and the CPU time that other processes use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../common/json.hpp"

namespace opendoca::tools {

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

/// Measures the CPU time used by others since construction: by other processes and other virtual machines.
class OthersWatch {
public:
    OthersWatch();
    /// Returns seconds of CPU time with a resolution of a hundredth of a second.
    [[nodiscard]] double seconds_of_others() const;
    [[nodiscard]] double seconds_stolen() const;

private:
    struct Reading {
        double busy = 0;
        double stolen = 0;
        double own = 0;
    };
    [[nodiscard]] static Reading read();

    Reading start_;
};

[[nodiscard]] double seconds_now();

} // namespace opendoca::tools
