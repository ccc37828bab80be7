// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Runs the same work in several threads at once.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

#include "machine.hpp"

namespace opendoca::tools {

/// Runs @p work(0) to @p work(count - 1), each in a thread of its own, or in the calling thread if @p count is 1.
/// Returns the seconds from the common start to the end of the last thread, without the time of @p prepare. Rethrows
/// the first exception.
template <typename Work, typename Prepare>
double run_in_threads(std::size_t count, Work work, Prepare prepare)
{
    if (count == 1) {
        prepare(std::size_t{0});
        const double start = seconds_now();
        work(std::size_t{0});
        return seconds_now() - start;
    }
    std::vector<double> starts(count), ends(count);
    std::vector<std::exception_ptr> problems(count);
    // The scope joins the threads, before the results of all are read.
    {
        std::barrier<> start(static_cast<std::ptrdiff_t>(count));
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < count; ++i) {
            threads.emplace_back([&, i] {
                const auto attempt = [&](auto &step) {
                    try {
                        step(i);
                    } catch (...) {
                        // An exception must not leave a thread. A thread that fails still arrives at the barrier, so no
                        // other blocks there.
                        problems[i] = std::current_exception();
                    }
                };
                attempt(prepare);
                start.arrive_and_wait();
                starts[i] = seconds_now();
                if (!problems[i])
                    attempt(work);
                ends[i] = seconds_now();
            });
        }
    }
    for (const std::exception_ptr &problem : problems) {
        if (problem)
            std::rethrow_exception(problem);
    }
    return std::ranges::max(ends) - std::ranges::min(starts);
}

/// The same without preparation.
template <typename Work>
double run_in_threads(std::size_t count, Work work)
{
    return run_in_threads(count, work, [](std::size_t) {});
}

} // namespace opendoca::tools
