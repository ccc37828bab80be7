// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the supervisor and its two workers share: a page of memory that outlives each worker, and so also the
// model of the bytes that a killed worker has written.
#pragma once

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace soak {

constexpr std::size_t max_size = std::size_t{1} << 20; ///< of a job, in bytes
constexpr std::size_t write_area = 2 * max_size;       ///< of the exposed memory: for READ and WRITE
constexpr std::size_t num_words = 512;                 ///< behind it: for atomics
constexpr std::size_t exposed_size = write_area + 8 * num_words;
constexpr std::uint32_t max_sends = 32;    ///< jobs in flight that are no receives
constexpr std::uint32_t max_receives = 16; ///< receives in flight
constexpr std::uint32_t max_jobs = max_sends + max_receives;
constexpr std::size_t max_pieces = 4; ///< buffers of a chain

enum class Kind : std::uint8_t { receive, send, send_imm, read, write, write_imm, cmp_swp, fetch_add };
constexpr std::size_t num_kinds = 8;
constexpr std::array<const char *, num_kinds> kind_names = {"RECV",  "SEND",      "SEND_IMM", "READ",
                                                            "WRITE", "WRITE_IMM", "CMP_SWP",  "FETCH_ADD"};

/// splitmix64: small, and good enough to choose and to fill.
class Random {
public:
    explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept
    {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    /// 0 to @p limit - 1.
    std::uint64_t below(std::uint64_t limit) noexcept { return next() % limit; }
    bool one_in(std::uint64_t n) noexcept { return below(n) == 0; }
    /// 0 to @p limit, log-uniform.
    std::uint64_t log_up_to(std::uint64_t limit) noexcept
    {
        const double u = static_cast<double>(next() >> 11) / static_cast<double>(std::uint64_t{1} << 53);
        const double value = std::exp(u * std::log(static_cast<double>(limit) + 2)) - 1;
        return value >= static_cast<double>(limit) ? limit : static_cast<std::uint64_t>(value);
    }
    void fill(std::span<std::byte> bytes) noexcept
    {
        std::size_t done = 0;
        for (; bytes.size() - done >= 8; done += 8) {
            const std::uint64_t word = next();
            std::memcpy(bytes.data() + done, &word, 8);
        }
        const std::uint64_t word = next();
        std::memcpy(bytes.data() + done, &word, bytes.size() - done);
    }

private:
    std::uint64_t state_;
};

/// A seed out of several numbers.
template <typename... Numbers>
std::uint64_t mix(Numbers... numbers) noexcept
{
    std::uint64_t seed = 0;
    ((seed = Random(seed ^ static_cast<std::uint64_t>(numbers)).next()), ...);
    return seed;
}

/// What a side sends as its message number @p index: both sides know it.
struct Message {
    Kind kind; ///< send, send_imm or write_imm
    std::size_t size;
    std::uint32_t immediate;
    std::uint64_t content; ///< the seed of its bytes
};

inline Message message_of(std::uint64_t seed, std::uint32_t epoch, int sender, std::uint64_t index) noexcept
{
    Random random(mix(seed, epoch, sender, index));
    constexpr Kind kinds[] = {Kind::send, Kind::send, Kind::send_imm, Kind::write_imm};
    const Kind kind = kinds[random.below(4)];
    const std::size_t size = random.log_up_to(max_size);
    const auto immediate = static_cast<std::uint32_t>(random.next());
    return {kind, size, immediate, random.next()};
}

/// What goes wrong in an epoch on purpose.
enum class Fault : std::uint32_t {
    none,
    kill,          ///< the supervisor kills one side or both
    short_receive, ///< side 0 posts a receive that is too small
    early_stop,    ///< side 0 stops its instance while side 1 is at work
};

struct Plan {
    Fault fault;
    std::uint64_t quota[2]; ///< jobs other than receives that a side submits; in a kill they go on until it fails
    bool is_event_driven[2];
    bool is_rebuilt[2]; ///< everything is destroyed and made anew, not only stopped and started
};

/// A range of the peer's memory whose bytes nobody knows while the job in this slot is not known to have
/// ended well. Empty when the size is 0.
struct Unknown {
    std::atomic<std::uint64_t> offset;
    std::atomic<std::uint64_t> size;
};

/// What one side tells. The epochs: the last one in which the statement became true.
struct SideControl {
    std::atomic<std::uint32_t> ready;     ///< details and descriptor are those of the epoch
    std::atomic<std::uint32_t> connected; ///< jobs are running
    std::atomic<std::uint32_t> sent_all;  ///< num_messages is final
    std::atomic<std::uint32_t> quiet;     ///< all of this side's jobs but receives have ended
    std::atomic<std::uint32_t> broken;    ///< a job of this side has failed, or it stops early
    std::atomic<std::uint32_t> over;      ///< this side touches the peer's memory no more; shadow is final
    std::atomic<std::uint32_t> done;      ///< this side has checked its own memory
    std::atomic<std::uint32_t> dead;      ///< the supervisor has killed it
    std::atomic<std::uint64_t> num_messages;

    std::size_t details_size;
    std::byte details[256];
    std::size_t descriptor_size;
    std::byte descriptor[256];

    // Counts since the beginning, over all workers of this side.
    std::atomic<std::uint64_t> submitted[num_kinds];
    std::atomic<std::uint64_t> succeeded;
    std::atomic<std::uint64_t> failed;
    std::atomic<std::uint64_t> bytes;
    std::atomic<std::uint64_t> waits;      ///< for an event
    std::atomic<std::uint64_t> late_waits; ///< that ended by time, with a job to retrieve
    std::atomic<std::uint64_t> recoveries; ///< after which the next epoch connected
    std::atomic<std::uint64_t> fd_checks;
    std::atomic<std::uint32_t> stage; ///< for the report of a hang

    std::atomic<bool> has_failed;
    char failure[600];

    // The model: what this side's jobs must have made of the peer's memory.
    Unknown unknown[max_jobs];
    std::byte shadow[exposed_size];
};

struct Control {
    std::uint64_t seed;
    double patience;        ///< seconds that something may take
    bool keeps_log;         ///< what the library logs is shown
    const char *devices[2]; ///< by name; null for the first that does RDMA
    std::atomic<std::uint32_t> epoch;
    std::atomic<bool> is_ending;
    Plan plan; ///< of the epoch; written before it
    SideControl sides[2];
};

/// Runs a side until the supervisor ends it; the exit status.
int run_worker(Control &control, int side, std::uint64_t incarnation);

} // namespace soak
