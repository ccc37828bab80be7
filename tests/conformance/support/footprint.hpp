// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What this process takes of the system.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <malloc.h>

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

/// Returns whether the memory in use shows what programs take: sanitizers take some for each allocation. From the first
/// call on, the C library no longer touches all memory that it is asked for, as meson's MALLOC_PERTURB_ makes it do.
[[nodiscard]] inline bool can_measure_memory()
{
    (void)mallopt(M_PERTURB, 0);
    return !is_sanitized;
}

} // namespace doca_test
