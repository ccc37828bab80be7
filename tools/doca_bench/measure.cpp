// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "measure.hpp"

#include <algorithm>
#include <ctime>

#include <sys/resource.h>

#include "machine.hpp"

namespace opendoca::tools {

namespace {

/// Interval between two readings of the CPU time of others, which the kernel counts in hundredths of a second.
constexpr double block_seconds = 0.1;
constexpr double tolerated_others = 0.15;  ///< share of the time that others may use of one CPU
constexpr double tolerated_steal = 0.02;   ///< share of the time that may be stolen
constexpr double patience_with_others = 4; ///< total time if rounds are disturbed, in units of MeasureOptions::seconds

void sleep_for(double seconds)
{
    const timespec time = {0, static_cast<long>(seconds * 1e9)};
    nanosleep(&time, nullptr);
}

/// Waits until others use little CPU time, at most @p patience seconds.
void wait_for_quiet(double patience)
{
    for (const double end = seconds_now() + patience; seconds_now() < end;) {
        const OtherCpuTime watch;
        sleep_for(block_seconds);
        if (watch.seconds_of_others() < tolerated_others * block_seconds)
            return;
    }
}

/// Returns a number of repetitions for a sample of about @p sample_seconds, a multiple of @p step. It is found by
/// doubling, as short runs can't be timed.
std::size_t choose_repetitions(Variant &variant, std::size_t step, double sample_seconds)
{
    std::size_t count = step;
    double taken = variant.run_timed(count);
    while (taken < sample_seconds / 4 && count < (std::size_t{1} << 30)) {
        count *= 2;
        taken = variant.run_timed(count);
    }
    const double wanted = static_cast<double>(count) * sample_seconds / taken;
    return std::max<std::size_t>(1, static_cast<std::size_t>(wanted) / step) * step;
}

/// The rounds of a measurement. They run in blocks of a tenth of a second that are judged together, since the kernel
/// counts others' CPU time in hundredths. A round is clean if its block was undisturbed and its thread was not
/// preempted. Used by one thread.
class Rounds {
public:
    Rounds(std::span<Variant *const> variants, const MeasureOptions &options, std::size_t repetitions)
        : variants_(variants),
          options_(options),
          repetitions_(repetitions)
    {
    }

    [[nodiscard]] std::size_t count() const { return rounds_.size(); }
    [[nodiscard]] std::size_t count_clean() const
    {
        return static_cast<std::size_t>(std::ranges::count_if(rounds_, [](const Round &r) { return r.is_clean; }));
    }

    /// Runs rounds until a block is full, or until @p end if there are @p enough clean ones.
    void run_block(double end, std::size_t enough)
    {
        const std::size_t first = rounds_.size();
        const double start = seconds_now();
        const OtherCpuTime others;
        double taken = 0;
        do {
            run_round();
            taken = seconds_now() - start;
        } while (taken < block_seconds && (start + taken < end || count_clean() < enough));
        if (taken < block_seconds / 2)
            return; // too short for the kernel's counters to judge it
        // The steal of one tick is tolerated in any block: it is the resolution of the counter.
        const bool is_clean = others.seconds_of_others() < tolerated_others * taken &&
                              others.seconds_stolen() <= tolerated_steal * taken + 0.01;
        for (std::size_t i = first; i < rounds_.size(); ++i)
            rounds_[i].is_clean = rounds_[i].is_clean && is_clean;
    }

    /// Returns the clean rounds, or all of them if there are too few.
    [[nodiscard]] Measurement result() const
    {
        Measurement m;
        m.repetitions = repetitions_;
        m.was_disturbed = count_clean() < options_.min_rounds;
        m.nanoseconds.resize(variants_.size());
        for (const Round &round : rounds_) {
            if (!round.is_clean && !m.was_disturbed) {
                ++m.discarded;
                continue;
            }
            for (std::size_t i = 0; i < variants_.size(); ++i)
                m.nanoseconds[i].push_back(round.nanoseconds[i]);
        }
        return m;
    }

private:
    /// A sample of each variant, by its index.
    struct Round {
        std::vector<double> nanoseconds;
        bool is_clean;
    };

    /// Runs a sample of each variant.
    void run_round()
    {
        Round round{std::vector<double>(variants_.size()), true};
        for (const std::size_t i : order_of_round(rounds_.size(), variants_.size())) {
            if (options_.warms_up)
                variants_[i]->run(options_.step);
            const long switches = involuntary_switches();
            round.nanoseconds[i] = variants_[i]->run_timed(repetitions_) * 1e9 / static_cast<double>(repetitions_);
            round.is_clean = round.is_clean && involuntary_switches() == switches;
        }
        rounds_.push_back(std::move(round));
    }

    std::span<Variant *const> variants_;
    const MeasureOptions &options_;
    std::size_t repetitions_;
    std::vector<Round> rounds_;
};

} // namespace

long involuntary_switches()
{
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

Variant::~Variant() = default;

// The default for variants without threads of their own.
double Variant::run_timed(std::size_t count)
{
    const double start = seconds_now();
    run(count);
    return seconds_now() - start;
}

std::vector<std::size_t> order_of_round(std::size_t round, std::size_t count)
{
    // Forwards from each starting position, then backwards from each: no variant always follows the same one.
    std::vector<std::size_t> order;
    const bool is_backwards = round / count % 2 != 0;
    for (std::size_t i = 0; i < count; ++i)
        order.push_back((round + (is_backwards ? count - i : i)) % count);
    return order;
}

Measurement measure(std::span<Variant *const> variants, const MeasureOptions &options)
{
    // The first run of each variant faults in its memory and fills its caches.
    for (Variant *const variant : variants)
        variant->run(options.step);
    Rounds rounds(variants, options, choose_repetitions(*variants.front(), options.step, options.sample_seconds));
    double spent = 0;
    do {
        wait_for_quiet(options.patience);
        const double start = seconds_now();
        rounds.run_block(start + options.seconds - spent, options.min_rounds);
        spent += seconds_now() - start;
        if (spent >= patience_with_others * options.seconds && rounds.count() >= options.min_rounds)
            break;
    } while (spent < options.seconds || rounds.count_clean() < options.min_rounds);
    return rounds.result();
}

} // namespace opendoca::tools
