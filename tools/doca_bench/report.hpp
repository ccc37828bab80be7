// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <algorithm>
#include <iostream>
#include <span>
#include <string>

#include <doca_version.h>

#include "../common/json.hpp"
#include "benchmark.hpp"
#include "machine.hpp"
#include "plot.hpp"

namespace opendoca::tools {

/// Prints the results in the formats that the options select. Returns the exit status: benchmark_failed if a row has no
/// result, bar_missed if a limit is not met, else 0. Found by argument-dependent lookup: to_json(), to_text() and
/// points_of() for @p Result, and is_met() for @p Bar.
template <typename Options, typename Result, typename Bar>
int report(const char *benchmark, const std::string &ibdev, const Options &options, std::span<const Result> results,
           std::span<const Bar> bars)
{
    if (options.as_csv) {
        std::cout << to_json(results, bars).csv("rows");
    } else if (options.as_json) {
        Json json = to_json(results, bars);
        Json cpus = Json::array();
        for (const int cpu : options.cpus)
            cpus.add(cpu);
        json.set("benchmark", benchmark)
            .set("version", doca_version_runtime())
            .set("device", ibdev)
            .set("pinned_to", std::move(cpus))
            .set("machine", describe_machine());
        std::cout << json.text();
    } else {
        std::cout << "opendoca " << doca_version_runtime() << ", device " << ibdev << ", " << describe_machine_briefly()
                  << "\n\n"
                  << to_text(results, bars);
    }
    std::cout.flush();
    if (!std::cout.good())
        return benchmark_failed;
    if (!options.plot.empty())
        draw_plot(options.plot, "opendoca: doca_bench " + std::string(benchmark) + ", " + ibdev, points_of(results));
    if (std::ranges::any_of(results, [](const Result &result) { return !result.failure.empty(); }))
        return benchmark_failed;
    const auto is_missed = [&](const Bar &bar) {
        const auto result = std::ranges::find(results, bar.what, &Result::what);
        return result == results.end() || !is_met(bar, *result);
    };
    return std::ranges::any_of(bars, is_missed) ? bar_missed : 0;
}

} // namespace opendoca::tools
