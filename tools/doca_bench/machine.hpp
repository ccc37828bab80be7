// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The machine: its caches, its cores, and who else uses them.
#pragma once

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

/// As the kernel tells them: the C library is wrong about the L3 of some AMD processors.
[[nodiscard]] CacheSizes cache_sizes();

/// The CPUs that this process may run on, by rising number.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Keeps the calling thread on @p cpu. Throws when it can't be.
void pin_to(int cpu);

/// Model, kernel, caches, and so on, for reports.
[[nodiscard]] Json describe_machine();
/// The same in a line.
[[nodiscard]] std::string describe_machine_briefly();

/// Counts the CPU time that others take from now on: other processes, and other virtual machines.
class OthersWatch {
public:
    OthersWatch();
    /// Seconds of CPU time; precise to one hundredth of a second.
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
