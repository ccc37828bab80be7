// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What this process takes of the system.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "sanitizers.hpp"

namespace doca_test {

[[nodiscard]] inline std::size_t num_descriptors()
{
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Bytes of memory that are there, not only reserved: a page that several processes have counts for each in part.
[[nodiscard]] inline std::size_t bytes_in_use()
{
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string line; std::getline(file, line);) {
        unsigned long kib = 0;
        if (std::sscanf(line.c_str(), "Pss: %lu kB", &kib) == 1)
            return kib * 1024;
    }
    throw std::runtime_error("the kernel does not tell how much memory is in use");
}

/// Returns whether the memory in use shows what programs take. Sanitizers take some for each allocation, and the C
/// library touches all of what it is asked for if it is to find uses of memory that was not initialised.
[[nodiscard]] inline bool can_measure_memory()
{
    const char *const filling = std::getenv("MALLOC_PERTURB_"); // NOLINT(concurrency-mt-unsafe)
    return !is_sanitized && (filling == nullptr || std::strtol(filling, nullptr, 10) == 0);
}

} // namespace doca_test
