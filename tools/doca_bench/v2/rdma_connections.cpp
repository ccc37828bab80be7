// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench connections: the cost of polling, jobs and set-up, and memory, with one pair of connected instances and
// with many, measured in turns in one run.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doca_version.h>

#include "../benchmark.hpp"
#include "../machine.hpp"
#include "../process_footprint.hpp"
#include "../rdma_session.hpp"
#include "../scaling_report.hpp"
#include "rdma_crowd.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t max_connections = 100000;

/// Measures the rows one after the other with two crowds: one of a single pair, and one that grows. Owned by the
/// benchmark's function and used by its only thread.
class ConnectionsBenchmark {
public:
    ConnectionsBenchmark(std::string ibdev, std::size_t num_connections)
        : ibdev_(std::move(ibdev)),
          num_pairs_(std::max<std::size_t>(num_connections / 2, 1)),
          few_(ibdev_, 1, 0)
    {
        (void)few_.add_pair();
        few_.write(0, 100);
    }

    std::vector<ScalingRow> run()
    {
        measure_short_queues();
        Crowd many(ibdev_, num_pairs_, 0);
        const double before = Footprint::now().kib;
        // The first comparison is at 1000 connections, or at all of them if there are fewer.
        const std::size_t first_stop = std::min<std::size_t>(500, num_pairs_);
        add_up_to(many, first_stop / 2);
        const double descriptors = Footprint::now().descriptors;
        add_up_to(many, first_stop);
        compare_retrieves(many, text_of(2 * first_stop) + " connections: empty retrieve");
        if (first_stop != num_pairs_) {
            add_up_to(many, num_pairs_);
            compare_retrieves(many, text_of(2 * num_pairs_) + " connections: empty retrieve");
        }
        const auto pairs = static_cast<double>(num_pairs_);
        const Footprint all = Footprint::now();
        const double kib = (all.kib - before) / pairs;
        const double fds = (all.descriptors - descriptors) / static_cast<double>(2 * (num_pairs_ - first_stop / 2));
        compare("WRITE of 8 B on one of them", many, 1.5,
                [&](Crowd &crowd, std::size_t count) { crowd.write(crowd.num_pairs() / 2, count); });
        few_.post_receives();
        many.post_receives();
        compare_retrieves(many, "empty retrieve, a receive is posted on each");
        compare("empty SEND on one of them, to the receiver's retrieve", many, std::nullopt,
                [&](Crowd &crowd, std::size_t count) { crowd.send(crowd.num_pairs() / 2, count); });
        add(setup_.row("setting up the last connection, to the 100th", 50));
        add({"descriptors of one more connection", "", fds, 0, fds, 0.05});
        add({"memory of an idle pair, default queues", "KiB", kib, 0, kib, 24});
        add({"memory of an idle pair, queues of 64", "KiB", short_queues_kib_, 0, short_queues_kib_, 16});
        return std::move(rows_);
    }

private:
    static std::string text_of(std::size_t number) { return std::to_string(number); }

    /// Adds a row, and prints it on stderr as progress.
    void add(ScalingRow row)
    {
        announce(row);
        rows_.push_back(std::move(row));
    }

    /// Grows a crowd, and records the time of each set-up.
    void add_up_to(Crowd &crowd, std::size_t count)
    {
        while (crowd.num_pairs() < count)
            setup_.record(crowd.add_pair() / 2);
    }

    /// Measures the memory of pairs with short queues, in a crowd of its own.
    void measure_short_queues()
    {
        const std::size_t count = std::min<std::size_t>(1000, num_pairs_);
        Crowd crowd(ibdev_, count, 64);
        const double before = Footprint::now().kib;
        while (crowd.num_pairs() < count)
            (void)crowd.add_pair();
        short_queues_kib_ = (Footprint::now().kib - before) / static_cast<double>(count);
    }

    /// Compares polls that find nothing.
    void compare_retrieves(Crowd &many, const std::string &what)
    {
        compare(what, many, 3, [](Crowd &crowd, std::size_t count) { crowd.retrieve_nothing(count); });
    }

    /// Measures @p action in turns with one pair and with @p many, and adds the row. @p limit is that of the ratio.
    void compare(const std::string &what, Crowd &many, std::optional<double> limit,
                 const std::function<void(Crowd &, std::size_t)> &action)
    {
        add(compare_scaling(
            what, [&](std::size_t count) { action(few_, count); }, [&](std::size_t count) { action(many, count); },
            limit));
    }

    std::string ibdev_;
    std::size_t num_pairs_;
    Crowd few_;        ///< one pair
    SetupTimes setup_; ///< of a connection, which is half of a pair's
    double short_queues_kib_ = 0;
    std::vector<ScalingRow> rows_;
};

} // namespace

int run_connections_benchmark(std::span<char *const> arguments)
{
    ScalingOptions options;
    if (const auto status = parse_scaling_options(
            "doca_bench connections",
            "Measures what many RDMA connections on one work queue cost, within this process.",
            "connections, two of which are a pair; default 10000", max_connections, arguments, options))
        return *status;
    if (!options.cpus.empty())
        pin_to(options.cpus[0]);
    (void)raise_descriptor_limit();
    const std::string ibdev = find_rdma_device(options.ibdev);
    const std::vector<ScalingRow> rows = ConnectionsBenchmark(ibdev, options.count).run();
    static constexpr ScalingNames names = {"rdma", "connections", "with_one_pair", "connections on two work queues",
                                           "one pair, or 100th"};
    return report_scaling(rows, names, ibdev, doca_version_runtime(), options);
}

} // namespace opendoca::tools
