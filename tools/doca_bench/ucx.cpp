// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "ucx.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "program.hpp"

namespace opendoca::tools {

namespace {

constexpr double seconds_of_a_run = 0.1; ///< seconds of a run of ucx_perftest, about

/// Returns a command with the transports that UCX may use. Other settings of UCX are removed, so that runs are
/// comparable.
Command command_of(std::vector<std::string> argv, std::string transports)
{
    return {.argv = std::move(argv),
            .package = "ucx-utils",
            .environment = {"UCX_TLS=" + std::move(transports), "UCX_LOG_LEVEL=error"},
            .without = "UCX_"};
}

/// Returns a test of UCX's protocol layer (UCP). Latency tests that are no ping-pong run with one operation
/// outstanding.
RivalTest ucp(std::string name, const PairCase &what)
{
    std::vector<std::string> arguments = {"-t", name};
    const bool is_alone = what.test == PairTest::latency && what.op != PairOp::write && what.op != PairOp::send;
    if (is_alone)
        arguments.insert(arguments.end(), {"-O", "1"});
    return {std::move(name), std::move(arguments), what.memory == MemoryKind::shared ? "posix,self" : "posix,cma,self"};
}

/// Returns a test of UCX's transport layer over CMA (process_vm_readv and process_vm_writev).
RivalTest cma(std::string name, const PairCase &what)
{
    std::vector<std::string> arguments = {"-d", "memory", "-x", "cma", "-D", "zcopy", "-t", name};
    if (what.test == PairTest::latency)
        arguments.insert(arguments.end(), {"-O", "1"});
    return {"cma " + name, std::move(arguments), "cma"};
}

} // namespace

std::optional<RivalTest> ucx_test_of(const PairCase &what)
{
    if (what.waits_for_events)
        return std::nullopt;
    const bool is_rate = what.test == PairTest::rate;
    const bool is_shared = what.memory == MemoryKind::shared;
    switch (what.op) {
    case PairOp::write:
        if (is_shared)
            return ucp(is_rate ? "ucp_put_bw" : "ucp_put_lat", what);
        return is_rate ? std::optional(cma("put_bw", what)) : std::nullopt;
    case PairOp::read:
        return is_shared ? ucp("ucp_get", what) : cma("get", what);
    case PairOp::send:
        return ucp(is_rate ? "tag_bw" : "tag_lat", what);
    case PairOp::fetch_add:
        return is_shared ? std::optional(ucp("ucp_fadd", what)) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<double> parse_ucx_output(const std::string &output)
{
    // The last column is the number of operations a second; the columns with times have too few digits.
    const std::size_t end = output.find_last_not_of(" \n") + 1;
    const std::size_t start = output.rfind(',', end) + 1;
    const std::size_t line = output.rfind('\n', end == 0 ? 0 : end - 1) + 1;
    if (start <= line || std::count(output.begin() + static_cast<std::ptrdiff_t>(line),
                                    output.begin() + static_cast<std::ptrdiff_t>(end), ',') != 7)
        return std::nullopt;
    double rate = 0;
    const auto [rest, error] = std::from_chars(output.data() + start, output.data() + end, rate);
    if (error != std::errc() || rest != output.data() + end || !(rate > 0))
        return std::nullopt;
    return 1e9 / rate;
}

Ucx::Ucx(std::string program, std::vector<int> cpus) : program_(std::move(program)), cpus_(std::move(cpus))
// Throws early if the program is not installed.
{
    (void)output_of(command_of({program_, "-h"}, "self"));
}

std::size_t Ucx::iterations(double nanoseconds, std::size_t) const
{
    return static_cast<std::size_t>(std::clamp(seconds_of_a_run * 1e9 / nanoseconds, 20.0, 2e6));
}

double Ucx::run(const RivalTest &test, const PairCase &what, std::size_t iterations) const
{
    const std::string port = std::to_string(free_port());
    std::vector<std::string> server = {program_, "-p", port};
    std::vector<std::string> client = {program_, "127.0.0.1", "-p", port, "-f", "-v"};
    if (!cpus_.empty()) {
        server.insert(server.end(), {"-c", std::to_string(cpus_[1])});
        client.insert(client.end(), {"-c", std::to_string(cpus_[0])});
    }
    client.insert(client.end(), test.arguments.begin(), test.arguments.end());
    client.insert(client.end(), {"-s", std::to_string(what.size), "-n", std::to_string(iterations), "-w",
                                 std::to_string(iterations / 10 + 1)});
    const std::string output =
        output_of_client(command_of(server, test.transports), command_of(client, test.transports));
    if (const auto nanoseconds = parse_ucx_output(output))
        return *nanoseconds;
    throw std::runtime_error(program_ + " with " + test.name + " says:\n" + output);
}

} // namespace opendoca::tools
