// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "plot.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "../../src/core/base/unique_fd.hpp"
#include "program.hpp"
#include "statistics.hpp"

namespace opendoca::tools {

namespace {

/// Returns the command for gnuplot.
Command gnuplot(std::string argument)
{
    return {.argv = {"gnuplot", std::move(argument)}, .package = "gnuplot-nox"};
}

/// Quotes a string for gnuplot; only the quote itself is special in it.
std::string quoted(const std::string &text)
{
    std::string result = "'";
    for (const char character : text)
        result.append(character == '\'' ? 2 : 1, character);
    return result + "'";
}

/// One curve of a picture.
struct Curve {
    std::string name;
    bool is_reference;
    std::string data; ///< lines of x and y
};

using ValueOf = std::function<std::optional<double>(const PlotPoint &)>;

/// Adds the points that have a value, as curves named by the curve and @p suffix.
void add_curves(std::vector<Curve> &curves, std::span<const PlotPoint> points, const std::string &suffix,
                const ValueOf &value_of)
{
    for (const PlotPoint &point : points) {
        const std::optional<double> value = value_of(point);
        if (!value || *value <= 0) // the axes are logarithmic
            continue;
        const std::string name = point.curve + suffix;
        auto curve = std::ranges::find(curves, name, &Curve::name);
        if (curve == curves.end())
            curve = curves.insert(curves.end(), {name, point.is_reference, ""});
        curve->data += std::to_string(point.size) + " " + decimal(*value, 4) + "\n";
    }
}

/// Returns the part of the script for one picture. Data are inline, so the script is the only file.
std::string picture(const char *title, const char *unit, const std::vector<Curve> &curves)
{
    std::string data, plots;
    for (std::size_t i = 0; i < curves.size(); ++i) {
        const std::string number = std::to_string(i + 1);
        data += "$curve" + number + " << EOD\n" + curves[i].data + "EOD\n";
        plots += (i == 0 ? "plot " : ", \\\n     ") + std::string("$curve") + number +
                 " using 1:2 with linespoints pointsize 0.4 linewidth 1.5 linecolor " + number + " dashtype " +
                 (curves[i].is_reference ? "2" : "1") + " title " + quoted(curves[i].name);
    }
    return data + "set title " + quoted(title) + "\nset ylabel " + quoted(unit) + "\n" + plots + "\n";
}

} // namespace

void require_plot(const std::string &file)
{
    if (!output_of(gnuplot("--version")).second)
        throw std::runtime_error("gnuplot --version fails: is Debian's package gnuplot-nox well installed?");
    // Creates the file for a moment if it does not exist; an existing one keeps its content.
    UniqueFd opened(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (opened.is_open())
        (void)unlink(file.c_str());
    else if (errno == EEXIST)
        opened = UniqueFd(open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (!opened.is_open())
        throw std::runtime_error("the picture '" + file + "' can't be written: " + std::strerror(errno));
}

std::string plot_script(const std::string &file, const std::string &title, std::span<const PlotPoint> points)
{
    std::vector<std::pair<const char *, std::pair<const char *, std::vector<Curve>>>> pictures;
    const auto add = [&](const char *name, const char *unit, std::vector<Curve> curves) {
        if (!curves.empty())
            pictures.push_back({name, {unit, std::move(curves)}});
    };
    std::vector<Curve> times, rates, percentiles;
    add_curves(times, points, "", [](const PlotPoint &point) { return point.nanoseconds; });
    add_curves(rates, points, "",
               [](const PlotPoint &point) { return static_cast<double>(point.size) / point.nanoseconds; });
    for (const auto &[suffix, member] : {std::pair{", p50", &Percentiles::p50}, std::pair{", p99", &Percentiles::p99},
                                         std::pair{", p99.9", &Percentiles::p999}})
        add_curves(percentiles, points, suffix, [percentile = member](const PlotPoint &point) {
            return point.latency ? std::optional((*point.latency).*percentile) : std::nullopt;
        });
    add("time of a job", "ns", std::move(times));
    add("throughput", "GB/s", std::move(rates));
    add("percentiles of single jobs", "ns", std::move(percentiles));
    if (pictures.empty())
        throw std::runtime_error("there is nothing to draw");

    std::string script = "set terminal svg size 1200," + std::to_string(420 * pictures.size()) +
                         " dynamic noenhanced font 'sans-serif,11' background 'white'\n"
                         "set output " +
                         quoted(file) +
                         "\n"
                         "set multiplot layout " +
                         std::to_string(pictures.size()) + ",1 title " + quoted(title) +
                         "\n"
                         "set logscale x 2\nset logscale y 10\nset format x '%.0b%B'\nset grid\n"
                         "set xlabel 'bytes of a job'\nset key outside right\n";
    for (const auto &[name, curves] : pictures)
        script += picture(name, curves.first, curves.second);
    return script + "unset multiplot\nunset output\n";
}

void draw_plot(const std::string &file, const std::string &title, std::span<const PlotPoint> points)
{
    const std::string script = plot_script(file, title, points);
    // A file, as programs that are run for their output have no input.
    const char *const folder = std::getenv("TMPDIR");
    std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/doca_bench.XXXXXX";
    const UniqueFd made(mkstemp(path.data()));
    const bool is_written =
        made.is_open() && write(made.get(), script.data(), script.size()) == static_cast<ssize_t>(script.size());
    if (!is_written)
        throw std::runtime_error("writing " + path + ": " + std::strerror(errno));
    const auto [output, has_ended_well] = output_of(gnuplot(path));
    (void)unlink(path.c_str());
    if (!has_ended_well)
        throw std::runtime_error("gnuplot can't draw " + file + ":\n" + output);
}

} // namespace opendoca::tools
