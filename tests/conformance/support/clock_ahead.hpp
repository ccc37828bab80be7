// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A clock that a test can put forward, in place of libc's. For one file of a test program.
#pragma once

#include <ctime>

#include <dlfcn.h>

namespace doca_test {

inline time_t seconds_ahead = 0;

} // namespace doca_test

extern "C" int clock_gettime(clockid_t clock, timespec *time)
{
    static auto *const original = reinterpret_cast<int (*)(clockid_t, timespec *)>(dlsym(RTLD_NEXT, "clock_gettime"));
    const int status = original(clock, time);
    if (status == 0 && clock == CLOCK_MONOTONIC)
        time->tv_sec += doca_test::seconds_ahead;
    return status;
}
