// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "perftest.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "../common/files.hpp"
#include "program.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t least_iterations = 20; ///< iterations of a run, at least
constexpr double mebibyte = 1 << 20;         ///< the unit that the programs print as MB
/// From this size on each message has a completion, so that the queue does not run empty while waiting for one.
constexpr std::size_t large_message = 64 << 10;

/// Returns the folder of the port that is used: always the first one.
std::string port_directory(const std::string &ibdev)
{
    return "/sys/class/infiniband/" + ibdev + "/ports/1/";
}

/// Returns the GID index for an Ethernet port: the RoCE v2 GID of an IPv4 address, or else the first of RoCE v2.
/// perftest's default is the first GID of all, which may not be routable. Nothing for InfiniBand.
std::optional<int> find_gid(const std::string &ibdev)
{
    const std::string directory = port_directory(ibdev);
    if (first_line(directory + "link_layer") != "Ethernet")
        return std::nullopt;
    std::optional<int> found;
    for (int i = 0; std::filesystem::exists(directory + "gids/" + std::to_string(i)); ++i) {
        if (first_line(directory + "gid_attrs/types/" + std::to_string(i)) != "RoCE v2")
            continue;
        if (first_line(directory + "gids/" + std::to_string(i)).starts_with("0000:0000:0000:0000:0000:ffff:"))
            return i;
        found = found ? found : i;
    }
    return found;
}

} // namespace

bool is_verbs_device(const std::string &ibdev)
{
    return std::filesystem::exists("/sys/class/infiniband/" + ibdev);
}

Perftest::Perftest(std::string ibdev, std::string directory, std::vector<int> cpus)
    : ibdev_(std::move(ibdev)),
      directory_(std::move(directory)),
      cpus_(std::move(cpus)),
      gid_index_(find_gid(ibdev_))
{
    // Throws early if the programs are not installed.
    (void)output_of({.argv = {path_of("ib_write_bw"), "--version"}, .package = "perftest"});
}

std::string Perftest::path_of(const std::string &name) const
{
    return directory_.empty() ? name : directory_ + "/" + name;
}

std::optional<RivalTest> perftest_test_of(const PairCase &what)
{
    if (what.waits_for_events)
        return std::nullopt;
    const bool is_rate = what.test == PairTest::rate;
    RivalTest test;
    test.name = what.op == PairOp::fetch_add ? "ib_atomic" : "ib_" + std::string(job_of(what));
    test.name += is_rate ? "_bw" : "_lat";
    if (what.op == PairOp::fetch_add)
        test.arguments = {"-A", "FETCH_AND_ADD"};
    else
        test.arguments = {"-s", std::to_string(what.size)};
    if (is_rate)
        test.arguments.insert(test.arguments.end(), {"-t", std::to_string(what.depth)});
    if (is_rate && what.op == PairOp::send) // twice the depth, as in our benchmark
        test.arguments.insert(test.arguments.end(), {"-r", std::to_string(2 * what.depth)});
    if (is_rate && what.size >= large_message)
        test.arguments.insert(test.arguments.end(), {"-Q", "1"});
    return test;
}

std::size_t Perftest::iterations(double, std::size_t repetitions) const
{
    return std::max(repetitions, least_iterations);
}

double Perftest::run(const RivalTest &test, const PairCase &what, std::size_t iterations) const
{
    const bool is_rate = what.test == PairTest::rate;
    std::vector<std::string> argv = {path_of(test.name),
                                     "-F",
                                     "-d",
                                     ibdev_,
                                     "-p",
                                     std::to_string(free_port()),
                                     "-n",
                                     std::to_string(iterations),
                                     is_rate ? "--output=bandwidth" : "--output=latency"};
    if (gid_index_)
        argv.insert(argv.end(), {"-x", std::to_string(*gid_index_)});
    argv.insert(argv.end(), test.arguments.begin(), test.arguments.end());
    const Command server = {.argv = argv, .package = "perftest", .cpu = cpus_.empty() ? -1 : cpus_[1]};
    Command client = {.argv = argv, .package = "perftest", .cpu = cpus_.empty() ? -1 : cpus_[0]};
    client.argv.emplace_back("127.0.0.1");
    const std::string output = output_of_client(server, client);
    const std::optional<double> value = parse_perftest_output(output);
    if (!value)
        throw std::runtime_error(test.name + " says:\n" + output);
    // Rates are printed in MB/s, times in microseconds.
    const std::size_t size = what.op == PairOp::fetch_add ? 8 : what.size;
    return is_rate ? static_cast<double>(size) / (*value * mebibyte) * 1e9 : *value * 1e3;
}

std::optional<double> parse_perftest_output(const std::string &output)
{
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        line.erase(line.find_last_not_of(" \r") + 1);
        double value = 0;
        const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), value);
        if (error == std::errc() && rest == line.data() + line.size() && value > 0)
            return value;
    }
    return std::nullopt;
}

} // namespace opendoca::tools
