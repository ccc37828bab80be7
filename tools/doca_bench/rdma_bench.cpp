// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench rdma: jobs between two processes, on one or two machines, in turns with another benchmark if requested.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmark.hpp"
#include "machine.hpp"
#include "pair_bench.hpp"
#include "parallel.hpp"
#include "peer.hpp"
#include "perftest.hpp"
#include "rdma_bars.hpp"
#include "rdma_options.hpp"
#include "rdma_peer.hpp"
#include "rdma_session.hpp"
#include "rdma_wire.hpp"
#include "remote.hpp"
#include "report.hpp"
#include "ucx.hpp"

namespace opendoca::tools {

namespace {

/// Connected pairs of sessions, one for each thread, and the loops over them. Owned by PairBenchmark for one case;
/// run() starts a thread for each pair if there is more than one. The peer has the same number of sessions from begin()
/// to end().
class Pairs final : public CasePair {
public:
    Pairs(const std::string &ibdev, const PairCase &what, RdmaPeer &peer) : what_(what), peer_(peer)
    {
        std::vector<RdmaDetails> own;
        for (std::uint32_t i = 0; i < what.threads; ++i)
            own.push_back(sessions_.emplace_back(make_rdma_session(ibdev, what))->details());
        const std::vector<RdmaDetails> theirs = peer_.begin(ibdev, what, own);
        for (std::uint32_t i = 0; i < what.threads; ++i) {
            sessions_[i]->connect(theirs[i]);
            sessions_[i]->post_receives();
        }
    }
    ~Pairs() override
    {
        // This side's sessions first: the peer destroys its own at the request.
        sessions_.clear();
        try {
            peer_.end();
        } catch (const std::exception &) {
            // The peer has ended; the next request reports it.
        }
    }

    /// Returns the seconds that each thread takes for @p count jobs, or for half as many ping-pongs.
    double run(std::size_t count) override
    {
        // The first job includes the time until the peer has started, so it does not count.
        const std::size_t first = needs_peer() ? 1 : 0;
        const double taken = with_peer(count + first, [&] {
            return run_in_threads(
                sessions_.size(), [&](std::size_t i) { run_one(*sessions_[i], count); },
                [&](std::size_t i) { run_one(*sessions_[i], first); });
        });
        return is_ping_pong() ? taken / 2 : taken;
    }

    [[nodiscard]] std::size_t at_once() const override { return sessions_.size(); }

    /// Times @p count jobs or ping-pongs of each thread one by one.
    Percentiles measure_latency(std::size_t count) override
    {
        std::vector<LatencyHistogram> histograms(sessions_.size());
        with_peer(calls_of_time_each(count), [&] {
            return run_in_threads(sessions_.size(), [&](std::size_t i) {
                time_each(histograms[i], count, [&] { run_one(*sessions_[i], 1); });
            });
        });
        for (std::size_t i = 1; i < histograms.size(); ++i)
            histograms[0].add(histograms[i]);
        return percentiles_of(histograms[0], is_ping_pong() ? 2 : 1);
    }

    /// Checks the bytes that a job transfers.
    void verify() override
    {
        const auto expect = [&](bool holds) {
            // The bytes depend on a seed that differs in each verification, so old bytes do not pass.
            if (!holds)
                throw std::runtime_error(text_of(what_) + ": what has arrived differs from what was sent");
        };
        const std::uint32_t seed = ++seed_;
        const std::size_t jobs = std::size_t{what_.depth} * what_.connections;
        switch (what_.op) {
        case PairOp::write:
            if (what_.test == PairTest::latency)
                return; // the loop itself compares the last byte of each message
            fill(seed);
            (void)run(jobs);
            return expect(peer_.holds(RdmaPeer::Place::exposed, seed));
        case PairOp::read:
            peer_.fill(seed);
            (void)run(jobs);
            return expect(std::ranges::all_of(sessions_, [&](const auto &session) {
                return is_pattern({session->destination(), what_.size}, seed);
            }));
        case PairOp::send:
            fill(seed);
            (void)run(jobs);
            return expect(peer_.holds(RdmaPeer::Place::received, seed));
        case PairOp::fetch_add: {
            const std::uint64_t before = peer_.word();
            (void)run(3 * jobs);
            return expect(peer_.word() - before == 3 * jobs * what_.threads);
        }
        }
    }

private:
    /// Returns whether jobs go to and fro; times are then halved.
    [[nodiscard]] bool is_ping_pong() const
    {
        return what_.test == PairTest::latency && (what_.op == PairOp::write || what_.op == PairOp::send);
    }

    /// Returns whether the peer takes part in the loop: other jobs are one-sided.
    [[nodiscard]] bool needs_peer() const { return is_ping_pong() || what_.op == PairOp::send; }

    /// Runs this side's loop of one thread.
    void run_one(RdmaSession &session, std::size_t count) const
    {
        if (is_ping_pong() && what_.op == PairOp::write)
            session.ping_by_write(count);
        else if (is_ping_pong())
            session.ping_by_send(count);
        else
            session.run(count);
    }

    /// Runs @p work while the peer runs its loop for @p count jobs or ping-pongs of each thread. Just runs @p work if
    /// the peer has no part in it. Returns the result of @p work.
    template <typename Work>
    double with_peer(std::size_t count, Work work)
    {
        if (!needs_peer())
            return work();
        peer_.serve(count);
        double taken = 0;
        try {
            taken = work();
        } catch (...) {
            // The peer's answer is consumed; otherwise the next request would take it for its own.
            try {
                peer_.finish_serving();
            } catch (const std::exception &) { // the first error is the one to report
            }
            throw;
        }
        peer_.finish_serving();
        return taken;
    }

    void fill(std::uint32_t seed)
    {
        for (const auto &session : sessions_)
            fill_pattern({session->source(), what_.size}, seed);
    }

    const PairCase &what_; ///< owned by the caller
    RdmaPeer &peer_;
    std::vector<std::unique_ptr<RdmaSession>> sessions_;
    static inline std::uint32_t seed_ = 0; ///< of the last verification, for all cases
};

/// Serves clients one after the other. A client's error ends only its connection.
int run_server(const RdmaOptions &options)
{
    if (!options.cpus.empty())
        pin_to(options.cpus[1]);
    const std::string ibdev = find_rdma_device(options.ibdev);
    const UniqueFd listener = listen_at(options.bind, options.port);
    std::cout << "device " << ibdev << ", listening on port " << port_of(listener) << std::endl;
    do {
        std::string name;
        const UniqueFd client = accept_from(listener, name);
        std::cerr << name << " has connected\n";
        try {
            serve_rdma(client.get(), ibdev);
            std::cerr << name << " has gone\n";
        } catch (const std::exception &error) {
            std::cerr << name << ": " << error.what() << '\n';
        }
    } while (!options.serves_once);
    return 0;
}

/// Measures the cases with a connected peer, and prints the report.
int run_and_report(const RdmaOptions &options, Peer *line_peer, RdmaPeer &peer)
{
    const std::string ibdev = find_rdma_device(options.ibdev);
    const RivalKind rival_kind = is_verbs_device(ibdev) ? RivalKind::perftest : RivalKind::ucx;
    std::unique_ptr<Rival> rival;
    if (options.compares && rival_kind == RivalKind::ucx)
        rival = std::make_unique<Ucx>(options.ucx, options.cpus);
    else if (options.compares)
        rival = std::make_unique<Perftest>(ibdev, options.perftest, options.cpus);
    const auto connect = [&](const PairCase &what) { return std::make_unique<Pairs>(ibdev, what, peer); };
    const std::span<const PairBar> bars = options.judges_bars ? rdma_bars(rival_kind) : std::span<const PairBar>();
    const std::vector<PairResult> results =
        PairBenchmark(options, connect, line_peer, rival.get()).run(rdma_cases(options, bars), [&](const PairCase &) {
            return rival_kind;
        });
    return report("rdma", ibdev, options, std::span<const PairResult>(results), bars);
}

} // namespace

int run_rdma_benchmark(std::span<char *const> arguments)
{
    RdmaOptions options;
    if (const auto status = parse_rdma_options(arguments, options))
        return *status;
    if (options.is_server)
        return run_server(options);
    if (!options.plot.empty())
        require_plot(options.plot);
    if (!options.connect_to.empty()) {
        if (!options.cpus.empty())
            pin_to(options.cpus[0]);
        const UniqueFd socket = connect_to(options.connect_to, options.port);
        RdmaPeer peer(socket.get(), "the server");
        std::cerr << "connected to " << options.connect_to << ", device " << peer.handshake() << '\n';
        return run_and_report(options, nullptr, peer);
    }
    // Both children are forked before this process has DOCA objects or threads.
    const int other_cpu = options.cpus.empty() ? -1 : options.cpus[1];
    Peer line_peer(other_cpu);
    RdmaPeerProcess process(other_cpu);
    if (!options.cpus.empty())
        pin_to(options.cpus[0]);
    return run_and_report(options, &line_peer, process.peer());
}

} // namespace opendoca::tools
