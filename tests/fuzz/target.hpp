// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What fuzz targets have in common. A target is a file with test_input(); driver.cpp feeds it a fixed
// sequence of mutated inputs, or libFuzzer does in a build with -Dfuzz=true: see scripts/fuzz.sh.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include <doca_error.h>

#ifdef OPENDOCA_STATIC_CORE // the library without its C functions
#include "../../src/core/log/log_backend.hpp"
#else
#include <doca_log.h>
#endif

using Input = std::span<const std::byte>;

/// Any bytes.
void test_input(Input input);

inline void require(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "not true: %s\n", what);
    std::abort();
}

inline void must(doca_error_t status, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    if (status == DOCA_SUCCESS)
        return;
    std::fprintf(stderr, "%s:%d: error %d\n", file, line, static_cast<int>(status));
    std::abort();
}

/// Software devices, and no log.
inline void set_up()
{
    setenv("DOCA_SOFT", "1", 1);
#ifdef OPENDOCA_STATIC_CORE
    must(opendoca::library_log().set_global_limit(opendoca::LogLevel::critical, &opendoca::LogLimits::set_lower));
#elif defined(OPENDOCA_V3)
    doca_log_backend *backend = nullptr;
    std::FILE *const sink = std::fopen("/dev/null", "we");
    require(sink != nullptr, "there is /dev/null");
    must(doca_log_backend_create_with_file_sdk(sink, &backend));
    must(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_ERROR)); // what is logged is also put together
#else
    doca_logger_backend *backend = nullptr;
    std::FILE *const sink = std::fopen("/dev/null", "we");
    require(sink != nullptr, "there is /dev/null");
    must(doca_log_create_file_backend(sink, &backend));
    must(doca_log_global_level_set(DOCA_LOG_LEVEL_ERROR)); // what is logged is also put together
#endif
}

/// What differs from one process to the next can't be in a corpus: there, an input is what is changed of
/// something that is right. Nothing changes nothing; what is longer than the original makes it longer.
inline std::vector<std::byte> changed(Input original, Input input)
{
    std::vector<std::byte> bytes(std::max(original.size(), input.size()));
    std::ranges::copy(original, bytes.begin());
    for (std::size_t i = 0; i < input.size(); ++i)
        bytes[i] ^= input[i];
    return bytes;
}

/// Reads numbers from an input, zeros at its end.
class Numbers {
public:
    explicit Numbers(Input input) : input_(input) {}

    /// Returns the next number below @p end, which is 1 to 256.
    unsigned next(unsigned end)
    {
        if (input_.empty())
            return 0;
        const auto byte = std::to_integer<unsigned>(input_.front());
        input_ = input_.subspan(1);
        return byte % end;
    }
    /// Returns what is left of the input.
    [[nodiscard]] Input rest() const { return input_; }

private:
    Input input_;
};
