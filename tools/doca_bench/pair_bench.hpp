// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Measures jobs between two processes, in turns with another benchmark if there is one to compare with.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pair_options.hpp"
#include "peer.hpp"
#include "rival.hpp"

namespace opendoca::tools {

/// Both sides of a case, connected: this process's side, and the requests to the other side. Owned by PairBenchmark for
/// the time of one case, and used by its thread only. Derived classes start threads of their own where the case has
/// several.
class CasePair {
public:
    CasePair() = default;
    CasePair(const CasePair &) = delete;
    CasePair &operator=(const CasePair &) = delete;
    virtual ~CasePair();

    /// Runs jobs and throws if the received bytes are not those that were sent.
    virtual void verify() = 0;
    /// Returns the seconds that @p count jobs, messages or round trips take, depending on the test.
    virtual double run(std::size_t count) = 0;
    /// Times @p count of them one by one.
    [[nodiscard]] virtual Percentiles measure_latency(std::size_t count) = 0;
    /// Returns how many run at the same time on different threads; the time of one is divided by it.
    [[nodiscard]] virtual std::size_t at_once() const { return 1; }
};

/// Runs the cases one after the other. For each it connects a pair, verifies that it transfers the right bytes, and
/// then measures rounds: a sample of ours and, if possible, a run of the rival benchmark. A round is clean if the
/// thread was not preempted and the latency between the two CPUs did not change. Used by one thread.
class PairBenchmark {
public:
    using Connect = std::function<std::unique_ptr<CasePair>(const PairCase &what)>;

    /// @p line_peer is null if the other side is on another machine, and @p rival if there is nothing to compare with.
    /// The caller keeps both, and @p options, alive.
    PairBenchmark(const PairOptions &options, Connect connect, Peer *line_peer, Rival *rival)
        : options_(options),
          connect_(std::move(connect)),
          line_peer_(line_peer),
          rival_(rival)
    {
    }

    /// Returns a row for each case. @p rival_kind names the kind of benchmark to compare with.
    [[nodiscard]] std::vector<PairResult> run(std::span<const PairCase> cases,
                                              const std::function<RivalKind(const PairCase &)> &rival_kind);

private:
    struct Round;

    /// Returns the latency of a cache line between both CPUs in nanoseconds; nothing if it can't be measured.
    [[nodiscard]] std::optional<double> line_latency();
    /// Waits until other processes use little CPU time, or until the options' patience ends.
    void wait_for_quiet() const;
    [[nodiscard]] std::size_t choose_repetitions(CasePair &pair, const PairCase &what) const;
    /// Runs one sample of the case, and of the other benchmark's test if there is one.
    [[nodiscard]] Round run_round(CasePair &pair, const std::optional<RivalTest> &test, const PairCase &what,
                                  std::size_t repetitions);
    /// Measures one case.
    void run(PairResult &result);
    static void summarize_into(PairResult &result, const std::vector<Round> &rounds);

    const PairOptions &options_; ///< owned by the caller
    Connect connect_;
    Peer *line_peer_; ///< null if the other side is on another machine
    Rival *rival_;    ///< null if there is nothing to compare with
};

} // namespace opendoca::tools
