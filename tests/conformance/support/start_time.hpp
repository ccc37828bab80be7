// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include <sys/types.h>

namespace doca_test {

/// When a process started, as /proc/<pid>/stat tells; 0 when there is none.
inline std::uint64_t start_time_of(pid_t pid)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text, '\0');
    std::size_t at = text.rfind(')');
    for (int field = 2; at != std::string::npos && field < 22; ++field)
        at = text.find(' ', at + 1);
    return at == std::string::npos ? 0 : std::stoull(text.substr(at));
}

} // namespace doca_test
