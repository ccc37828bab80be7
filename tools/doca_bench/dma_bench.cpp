// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench dma: jobs and plain copies of the same bytes, measured in turns.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>

#include "benchmark.hpp"
#include "dma_options.hpp"
#include "dma_result.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "parallel.hpp"
#include "region.hpp"
#include "report.hpp"

namespace opendoca::tools {

namespace {

/// Bytes in cache up to which memcpy is the baseline; above, the fastest copy is.
constexpr std::size_t largest_against_libc = 4 << 20;
constexpr std::size_t slots_to_verify = 8;         ///< jobs that are verified in out-of-cache cases
constexpr double sample_seconds_of_threads = 2e-3; ///< long enough that the threads overlap for most of it

/// Returns the slots of a case. In cache there is one; out of cache so many that each has left the caches before it is
/// used again, but at least two.
Walk walk_of(const DmaCase &what, std::size_t pool)
{
    return {what.size, what.is_in_cache ? 1 : std::max<std::size_t>(2, std::bit_floor(pool / what.size))};
}

/// Variants of one kind, one for each thread, that run at the same time. Owned by the benchmark for one case; each part
/// belongs to the lane of its thread. The time of a run is from the common start to the end of the last thread.
class ThreadedVariant final : public Variant {
public:
    /// Adds the variant of one more thread.
    void add(std::unique_ptr<Variant> part) { parts_.push_back(std::move(part)); }
    /// Runs in each thread its share of @p count.
    void run(std::size_t count) override { (void)run_timed(count); }
    double run_timed(std::size_t count) override
    {
        return run_in_threads(parts_.size(), [&](std::size_t i) { parts_[i]->run(count / parts_.size()); });
    }
    /// Times single operations in each thread.
    [[nodiscard]] Percentiles measure_latency(std::size_t count)
    {
        std::vector<LatencyHistogram> histograms(parts_.size());
        (void)run_in_threads(parts_.size(),
                             [&](std::size_t i) { time_each(histograms[i], count, [&] { parts_[i]->run(1); }); });
        for (std::size_t i = 1; i < histograms.size(); ++i)
            histograms[0].add(histograms[i]);
        return percentiles_of(histograms[0]);
    }

private:
    std::vector<std::unique_ptr<Variant>> parts_;
};

/// The variants of a case in one thread: the job, and the plain copies to compare it with.
struct Variants {
    std::vector<std::string> names;            ///< the names of the baselines
    std::vector<std::unique_ptr<Variant>> all; ///< the job is the first

    /// Adds a plain copy over the same slots.
    template <typename Copy>
    void add(const char *name, Copy copy, std::byte *dst, const std::byte *src, Walk walk)
    {
        names.emplace_back(name);
        all.push_back(std::make_unique<CopyLoop<Copy>>(copy, dst, src, walk));
    }
};

/// The objects of one thread: a session and regions of memory. Owned by DmaBenchmark and, while a case runs, used by
/// one thread. Regions are created when a case first needs them, as large as any case needs, and reused.
class Lane {
public:
    /// @p cases are all cases that will run. @p exporter is the device that exports the other process's memory; none if
    /// no case needs it.
    Lane(const DmaOptions &options, std::span<const DmaCase> cases, Peer &peer, std::unique_ptr<DmaSession> session,
         std::optional<std::string> exporter)
        : options_(options),
          cases_(cases),
          peer_(peer),
          session_(std::move(session)),
          exporter_(std::move(exporter))
    {
    }

    /// Creates the job's loop and the baselines of a case.
    [[nodiscard]] Variants variants_of(const DmaCase &what)
    {
        const Walk walk = walk_of(what, options_.pool);
        const Region &dst = dst_of(what);
        const Region &src = src_of(what);
        Variants variants;
        variants.all.push_back(session_->make_loop(dst.job_side(), src.job_side(), walk, what.depth, options_.resets));
        if (what.where == Where::ordinary) {
            if (!memory_file_.is_open())
                memory_file_ =
                    UniqueFd(open(("/proc/" + std::to_string(peer_.pid()) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
            if (what.direction == Direction::read) {
                variants.add("process_vm_readv", ProcessRead{peer_.pid()}, dst.here(), src.addr(), walk);
                variants.add("/proc/<pid>/mem", MemoryFileRead{memory_file_.get()}, dst.here(), src.addr(), walk);
            } else {
                variants.add("process_vm_writev", ProcessWrite{peer_.pid()}, dst.addr(), src.here(), walk);
                variants.add("/proc/<pid>/mem", MemoryFileWrite{memory_file_.get()}, dst.addr(), src.here(), walk);
            }
            return variants;
        }
        variants.add("memcpy", LibcCopy{}, dst.here(), src.here(), walk);
        if (has_non_temporal_copy())
            variants.add("non-temporal", NonTemporalCopy{}, dst.here(), src.here(), walk);
        if (has_string_copy())
            variants.add("rep movsb", StringCopy{}, dst.here(), src.here(), walk);
        return variants;
    }

    /// Runs a job for each of the first slots and compares the copied bytes with a pattern that differs by slot and
    /// call.
    void verify(const DmaCase &what, Variant &jobs)
    {
        Walk walk = walk_of(what, options_.pool);
        // Rounded up to the depth: loops run whole batches.
        const std::size_t count = (std::min(walk.slots(), slots_to_verify) + what.depth - 1) / what.depth * what.depth;
        std::vector<std::byte> bytes(what.size);
        const std::vector<std::byte> nothing(what.size);
        ++seed_;
        const auto fill = [&](std::size_t slot) {
            for (std::size_t i = 0; i < bytes.size(); ++i)
                bytes[i] = static_cast<std::byte>((i * 131 + (i >> 8) * 29 + slot * 17 + seed_) & 0xff);
        };
        std::set<std::size_t> offsets;
        for (std::size_t i = 0; i < count; ++i)
            offsets.insert(walk.next());
        for (const std::size_t offset : offsets) {
            fill(offset / what.size);
            src_of(what).put(offset, bytes);
            dst_of(what).put(offset, nothing);
        }
        jobs.run(count);
        std::vector<std::byte> arrived(what.size);
        for (const std::size_t offset : offsets) {
            fill(offset / what.size);
            dst_of(what).get(offset, arrived);
            if (arrived != bytes)
                throw std::runtime_error("the copy differs from its source");
        }
    }

private:
    /// Returns the bytes of a region for all cases that use it.
    [[nodiscard]] std::size_t region_size(Where where) const
    {
        std::size_t result = 0;
        for (const DmaCase &what : cases_) {
            const Walk walk = walk_of(what, options_.pool);
            if (what.where == where || where == Where::local) // all cases use local memory
                result = std::max(result, walk.size() * walk.slots());
        }
        return result;
    }

    /// Returns the region, which is created by the first call.
    Region &local(std::unique_ptr<Region> &region)
    {
        if (region == nullptr)
            region = make_local_region(*session_, region_size(Where::local));
        return *region;
    }

    /// Returns the region in the other process, which is created by the first call.
    Region &remote(Where where)
    {
        std::unique_ptr<Region> &region = remote_[where];
        if (region == nullptr)
            region =
                make_peer_region(*session_, peer_, where == Where::shared ? MemoryKind::shared : MemoryKind::ordinary,
                                 region_size(where), *exporter_);
        return *region;
    }

    Region &dst_of(const DmaCase &what)
    {
        return what.direction == Direction::write ? remote(what.where) : local(local_dst_);
    }
    Region &src_of(const DmaCase &what)
    {
        return what.direction == Direction::read ? remote(what.where) : local(local_src_);
    }

    const DmaOptions &options_;
    std::span<const DmaCase> cases_;
    Peer &peer_;
    std::unique_ptr<DmaSession> session_;
    std::optional<std::string> exporter_;
    std::unique_ptr<Region> local_dst_; ///< created on first use, as are the following
    std::unique_ptr<Region> local_src_;
    std::map<Where, std::unique_ptr<Region>> remote_;
    UniqueFd memory_file_; ///< /proc/<pid>/mem of the other process
    std::size_t seed_ = 0; ///< makes the bytes of each verification different
};

/// Runs all cases. Owned by the benchmark's function and used by the first thread, which starts the threads of a case
/// and waits for them. Cases that the device can't run are reported on stderr and left out at construction.
class DmaBenchmark {
public:
    DmaBenchmark(const DmaOptions &options, std::vector<DmaCase> cases, Peer &peer)
        : options_(options),
          cases_(std::move(cases)),
          peer_(peer)
    {
        std::uint32_t depth = 1;
        for (const DmaCase &what : cases_)
            depth = std::max(depth, what.depth);
        std::vector<std::unique_ptr<DmaSession>> sessions;
        for (std::uint32_t i = 0; i < options_.threads; ++i)
            sessions.push_back(make_dma_session(options_.ibdev, depth));
        const DmaSession &session = *sessions.front();
        ibdev_ = session.ibdev();
        // A device has a limit of its own; a case beyond it is not a failure.
        std::erase_if(cases_, [&](const DmaCase &what) {
            const bool is_too_large = what.size > session.max_size();
            if (is_too_large)
                std::cerr << "left out, as " << ibdev_ << " can't: " << text_of(what) << '\n';
            return is_too_large;
        });
        const bool needs_peer =
            std::ranges::any_of(cases_, [](const DmaCase &what) { return what.where != Where::local; });
        const std::optional<std::string> exporter = needs_peer ? session.find_exporter() : std::nullopt;
        if (needs_peer && !exporter) {
            std::cerr << "left out, as no device that this process sees exports memory to " << ibdev_
                      << ": everything between processes\n";
            std::erase_if(cases_, [](const DmaCase &what) { return what.where != Where::local; });
        }
        for (auto &one : sessions)
            lanes_.push_back(std::make_unique<Lane>(options_, cases_, peer_, std::move(one), exporter));
    }

    [[nodiscard]] const std::string &ibdev() const noexcept { return ibdev_; }

    [[nodiscard]] std::vector<DmaResult> run()
    {
        std::vector<DmaResult> results;
        for (const DmaCase &what : cases_) {
            std::cerr << '[' << results.size() + 1 << '/' << cases_.size() << "] " << text_of(what) << std::flush;
            DmaResult &result = results.emplace_back();
            result.what = what;
            result.threads = options_.threads;
            result.resets = options_.resets && what.is_in_cache;
            try {
                run(result);
            } catch (const std::exception &error) {
                result.failure = error.what();
                std::cerr << '\n' << text_of(what) << ": failed: " << result.failure << '\n';
                continue;
            }
            std::cerr << ": " << result.job.median << " ns, " << result.ratio.median << " of " << result.compared_to
                      << (result.was_disturbed ? ", disturbed" : "") << '\n';
        }
        return results;
    }

private:
    /// Creates each variant for all threads, the job's first, and verifies the job in each of them.
    [[nodiscard]] std::vector<std::unique_ptr<ThreadedVariant>> variants_of(const DmaCase &what,
                                                                            std::vector<std::string> &names)
    {
        std::vector<std::unique_ptr<ThreadedVariant>> all;
        for (const auto &lane : lanes_) {
            Variants variants = lane->variants_of(what);
            lane->verify(what, *variants.all.front());
            names = std::move(variants.names);
            for (std::size_t i = 0; i < variants.all.size(); ++i) {
                if (i == all.size())
                    all.push_back(std::make_unique<ThreadedVariant>());
                all[i]->add(std::move(variants.all[i]));
            }
        }
        return all;
    }

    /// Returns the latency of a cache line in nanoseconds, if the case has two processes on different CPUs.
    [[nodiscard]] std::optional<double> latency(const DmaCase &what)
    {
        if (what.where == Where::local || options_.cpus.empty() || options_.cpus[0] == options_.cpus[1])
            return std::nullopt;
        return peer_.one_way_latency();
    }

    /// Measures one case.
    void run(DmaResult &result)
    {
        const DmaCase &what = result.what;
        std::vector<std::string> names;
        const auto variants = variants_of(what, names);
        std::vector<Variant *> pointers;
        for (const auto &variant : variants)
            pointers.push_back(variant.get());

        // A sample consists of whole batches in each thread. Out of cache there is nothing to warm up.
        MeasureOptions settings{.seconds = options_.seconds,
                                .min_rounds = options_.min_rounds,
                                .step = std::size_t{what.depth} * options_.threads,
                                .warms_up = what.is_in_cache,
                                .patience = options_.patience};
        if (options_.threads > 1)
            settings.sample_seconds = sample_seconds_of_threads;
        result.latency_before = latency(what);
        const Measurement m = measure(pointers, settings);
        result.latency_after = latency(what);
        result.job = summarize(m.nanoseconds[0]);
        std::size_t chosen = 0;
        for (std::size_t i = 0; i < names.size(); ++i) {
            result.baselines.push_back({names[i], summarize(m.nanoseconds[i + 1])});
            if (result.baselines[i].nanoseconds.median < result.baselines[chosen].nanoseconds.median)
                chosen = i;
        }
        // In cache, memcpy is what a program would call. Otherwise the fastest of the plain copies is the baseline.
        if (what.where != Where::ordinary && what.is_in_cache && what.size <= largest_against_libc)
            chosen = 0; // memcpy
        result.compared_to = names[chosen];
        result.ratio = summarize_pairs(m.nanoseconds[0], m.nanoseconds[chosen + 1],
                                       [](double job, double plain) { return plain / job; });
        result.difference = summarize_pairs(m.nanoseconds[0], m.nanoseconds[chosen + 1],
                                            [](double job, double plain) { return job - plain; });
        result.repetitions = m.repetitions;
        result.discarded = m.discarded;
        result.was_disturbed = m.was_disturbed;
        if (what.depth == 1)
            result.latency = variants[0]->measure_latency(num_latency_samples(result.job.median, options_.seconds));
    }

    const DmaOptions &options_;
    std::vector<DmaCase> cases_;
    Peer &peer_;
    std::string ibdev_;
    std::vector<std::unique_ptr<Lane>> lanes_; ///< one for each thread
};

} // namespace

// The fork of the other process must come before all threads and DOCA objects.
int run_dma_benchmark(std::span<char *const> arguments)
{
    DmaOptions options;
    if (const auto status = parse_dma_options(arguments, options))
        return *status;
    if (!options.plot.empty())
        require_plot(options.plot);
    Peer peer(options.cpus.empty() ? -1 : options.cpus[1]);
    if (!options.cpus.empty())
        pin_to(options.cpus[0]);

    DmaBenchmark benchmark(options, dma_cases(options), peer);
    const std::vector<DmaResult> results = benchmark.run();
    const std::span<const Bar> bars = options.judges_bars ? dma_bars() : std::span<const Bar>();
    return report("dma", benchmark.ibdev(), options, std::span<const DmaResult>(results), bars);
}

} // namespace opendoca::tools
