// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Results as pictures, drawn by the program gnuplot.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "latency.hpp"

namespace opendoca::tools {

/// One point of each curve that it belongs to.
struct PlotPoint {
    std::string curve;     ///< such as "local copy"
    std::size_t size;      ///< bytes of a job
    double nanoseconds;    ///< of a job
    std::optional<Percentiles> latency;
    bool is_reference;     ///< of others, in a dashed line
};

/// Throws when gnuplot can't be run, with the package that has it, and when the file can't be written. To be asked before
/// minutes of measuring.
void require_plot(const std::string &file);

/// Draws an SVG file: time of a job and bytes in a second over size, and percentiles where there are some.
void draw_plot(const std::string &file, const std::string &title, std::span<const PlotPoint> points);

/// What gnuplot is told to do; a part of draw_plot() that can be looked at.
[[nodiscard]] std::string plot_script(const std::string &file, const std::string &title,
                                      std::span<const PlotPoint> points);

} // namespace opendoca::tools
