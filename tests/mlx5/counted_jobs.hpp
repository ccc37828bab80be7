// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Jobs for callgrind, which counts in what is marked here, see path_cost.sh.
#pragma once

#include <cstdio>

#include <valgrind/callgrind.h>

namespace doca_test {

inline constexpr int num_counted_jobs = 32; // path_cost.sh divides by it

template <typename Call>
auto counted(bool is_counted, Call call)
{
    if (is_counted)
        CALLGRIND_TOGGLE_COLLECT;
    const auto result = call();
    if (is_counted)
        CALLGRIND_TOGGLE_COLLECT;
    return result;
}

/// Jobs, one at a time. @p start is counted, and so is @p end, which gives how often there was nothing yet. Several
/// times if need be: a work queue that often has nothing goes other ways than one of which little is asked in vain.
template <typename Before, typename Start, typename After, typename End>
void count_jobs(const char *name, Before before, Start start, After after, End end)
{
    constexpr int warm_up = 4;
    constexpr int most_tries = 200;
    int num_empty = 0;
    for (int tries = 0; tries == 0 || (num_empty != 0 && tries != most_tries); ++tries) {
        CALLGRIND_ZERO_STATS;
        num_empty = 0;
        for (int i = -warm_up; i != num_counted_jobs; ++i) {
            before();
            (void)counted(i >= 0, [&] { return start(), 0; });
            after();
            const int in_vain = end(i >= 0);
            num_empty += i >= 0 ? in_vain : 0;
        }
    }
    CALLGRIND_DUMP_STATS_AT(name);
    std::printf("empty retrieves of %s: %d\n", name, num_empty);
}

} // namespace doca_test
