// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "process_footprint.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <malloc.h>

namespace opendoca::tools {

namespace {

double num_descriptors()
{
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<double>(std::distance(begin(all), end(all)));
}

double proportional_kib()
{
    // Free memory of the allocator is no part of what objects cost.
    malloc_trim(0);
    std::ifstream rollup("/proc/self/smaps_rollup");
    for (std::string name; rollup >> name;) {
        double value = 0;
        if (name == "Pss:" && rollup >> value)
            return value;
    }
    throw std::runtime_error("/proc/self/smaps_rollup does not report the memory of this process");
}

} // namespace

Footprint Footprint::now()
{
    return {num_descriptors(), proportional_kib()};
}

} // namespace opendoca::tools
