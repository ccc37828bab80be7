// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Draws results as SVG files by the program gnuplot.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "latency.hpp"

namespace opendoca::tools {

/// One point of a curve.
struct PlotPoint {
    std::string curve;  ///< for example "local copy"; points with equal names are connected
    std::size_t size;   ///< size of a job in bytes
    double nanoseconds; ///< time of a job
    std::optional<Percentiles> latency;
    bool is_reference; ///< of a baseline: drawn with a dashed line
};

/// Throws if gnuplot can't be run, naming its package, or if the file can't be written. Called before the measurement,
/// which takes minutes.
void require_plot(const std::string &file);

/// Draws an SVG file: time of a job and bytes a second over size, and percentiles if there are any.
void draw_plot(const std::string &file, const std::string &title, std::span<const PlotPoint> points);

/// Returns gnuplot's input; a part of draw_plot() that tests can check.
[[nodiscard]] std::string plot_script(const std::string &file, const std::string &title,
                                      std::span<const PlotPoint> points);

} // namespace opendoca::tools
