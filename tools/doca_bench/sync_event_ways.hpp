// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Ways to notify another process: sync events, and the simplest other means.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <bench_api.hpp>

#include "other_process.hpp"

namespace opendoca::tools {

/// A way to notify. The values index arrays, so they count from 0.
enum class SignalWay : std::uint32_t {
    cache_line, ///< two words of shared memory, polled
    eventfd,    ///< two eventfds, awaited by epoll
    busy,       ///< doca_sync_event_wait_gt
    yield,      ///< doca_sync_event_wait_gt_yield
    epoll,      ///< a wait job or task in event-driven mode, awaited by epoll
};
inline constexpr std::uint32_t num_signal_ways = 5;

[[nodiscard]] const char *name_of(SignalWay way);

/// One side's end of a way: it notifies the other side, and awaits its notifications. Owned by SignalPair::Ends and
/// used by one thread of its process.
class SignalEnd {
public:
    SignalEnd() = default;
    SignalEnd(const SignalEnd &) = delete;
    SignalEnd &operator=(const SignalEnd &) = delete;
    virtual ~SignalEnd();

    /// Notifies the other side. @p number increases by one with each signal, on either side.
    virtual void send(std::uint64_t number) = 0;
    /// Waits for the signal with this number.
    virtual void await(std::uint64_t number) = 0;
};

/// An event used as a context: its waits are jobs on a work queue in event-driven mode in 2.2, and tasks on a progress
/// engine in 3.0. The waiter blocks in epoll. Owned by SignalPair::Ends, whose thread alone uses it; the event must
/// outlive stop().
class QueuedEvent {
public:
    QueuedEvent() = default;
    QueuedEvent(const QueuedEvent &) = delete;
    QueuedEvent &operator=(const QueuedEvent &) = delete;
    virtual ~QueuedEvent();

    /// Waits until the event, which increases by one each time, is @p number.
    virtual void await(std::uint64_t number) = 0;
    /// Stops the event, so that it can be destroyed. Must be called before the destructor.
    virtual void stop() = 0;
};

/// The name of the way in v2/ and v3/, which contains the generation's word for an operation.
extern const char *const name_of_queued_wait;

/// Starts @p event as a context. The caller keeps it, and destroys it after stop().
[[nodiscard]] std::unique_ptr<QueuedEvent> start_queued(doca_sync_event *event);

/// A word with a cache line of its own; 256 bytes, since some CPUs transfer lines in pairs.
struct SignalLine {
    alignas(256) std::atomic<std::uint64_t> value;
};

/// This process and a forked one, which exchange signals as ping-pong. Owned by the benchmark and used by its only
/// thread. Both processes have the same object, with ends of their own; requests go over the channel.
class SignalPair {
public:
    /// Forks, so it must be constructed before the first DOCA object. The child is pinned to @p cpu, unless that is -1.
    explicit SignalPair(int cpu);
    SignalPair(const SignalPair &) = delete;
    SignalPair &operator=(const SignalPair &) = delete;
    ~SignalPair();

    /// Makes events between the device @p exporter, here, and @p importer, in the other process.
    void open(const std::string &exporter, const std::string &importer);
    /// Returns the nanoseconds from a signal to the woken waiter, as half of a round trip.
    [[nodiscard]] double measure(SignalWay way, std::uint64_t round_trips);
    /// Returns the seconds of CPU time that the other process has used.
    [[nodiscard]] double peer_cpu_seconds() const;

private:
    class Ends;

    /// The main function of the other process.
    void serve(int channel);

    UniqueFd eventfds_[2];               ///< one for each direction
    SharedObjects<SignalLine, 2> lines_; ///< one for each direction
    std::unique_ptr<Ends> ends_;         ///< this process's ends; null before open()
    OtherProcess process_;
};

} // namespace opendoca::tools
