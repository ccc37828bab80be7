// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../../../engine/completion_queue.hpp"
#include "../../../poll_budget.hpp"
#include "../memory/copier.hpp"
#include "doorbell.hpp"

namespace opendoca::soft {

class SoftQueuePair;

/// Polls all connections of one completion queue, and holds what they share because they have one thread.
///
/// A few connections are checked directly: their peers need not ring, and only the message moves between processors. If
/// there are more, their peers ring doorbells, and a poll costs what has happened rather than the number of
/// connections. Doorbells are also used in event-driven mode while the thread is blocked. Once doorbells are in use for
/// many connections, polling does not return to the direct mode.
class ConnectionPoller final : public Pollable, public std::enable_shared_from_this<ConnectionPoller> {
public:
    static constexpr std::uint32_t most_polled_directly = 8;

    /// Returns the poller of @p completions, which is created for the first connection.
    [[nodiscard]] static doca_error_t of(CompletionQueue &completions, std::shared_ptr<ConnectionPoller> &poller);
    ~ConnectionPoller() override;

    /// Adds @p connection to the polled ones, and gives it its number.
    [[nodiscard]] doca_error_t add(SoftQueuePair &connection, std::uint32_t &number);
    void remove(std::uint32_t number) noexcept;

    /// Returns whether connections are checked only after their peers, or this thread, have rung.
    [[nodiscard]] bool needs_rings() const noexcept { return is_many_; }
    /// Returns whether a connection may have to notify a peer, or this thread, of what it waits for.
    [[nodiscard]] bool has_doorbells() const noexcept { return doorbells_ != nullptr; }
    [[nodiscard]] const Doorbells &doorbells() const noexcept { return *doorbells_; }
    /// Schedules a check of connection @p number, for an event for which no peer rings.
    void look_at(std::uint32_t number) noexcept;
    /// Schedules a pending doorbell: SoftQueuePair::make_owed_ring() is called in the next polls.
    void owe_ring() noexcept;
    /// Watches @p process: its end causes a check of its connections. Returns false if the end cannot be detected.
    [[nodiscard]] bool watch(const std::shared_ptr<ExporterProcess> &process) noexcept;
    /// Called once for each watch(), unless the process has ended, when one of its connections is removed.
    void watch_no_more(const ExporterProcess &process) noexcept;

    [[nodiscard]] Operation *poll_one() noexcept override;
    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;

    Copier copier; ///< for one-sided operations and long messages

private:
    explicit ConnectionPoller(CompletionQueue &completions) : completions_(completions) {}

    struct Watched {
        std::shared_ptr<ExporterProcess> process;
        std::uint32_t num_connections;
    };

    [[nodiscard]] doca_error_t open();
    [[nodiscard]] doca_error_t open_doorbells();
    void unwatch(const ExporterProcess &process) noexcept;
    void become_many() noexcept;
    void remember_only() noexcept;
    [[gnu::cold]] void make_owed_rings() noexcept;
    [[nodiscard]] bool look_and_sleep() noexcept;
    void poll_by_rings() noexcept;
    void look_around() noexcept;
    [[gnu::cold]] void lose_process(std::size_t index) noexcept;

    CompletionQueue &completions_;
    std::unique_ptr<Doorbells> doorbells_; ///< set for many connections, or in event-driven mode
    bool is_many_ = false;
    bool is_reserved_ = false;
    bool owes_rings_ =
        false; ///< a connection may have a pending doorbell; only_ is then null, so that progress() checks for it
    std::chrono::steady_clock::time_point next_ring_{}; ///< the time before which pending doorbells are not retried
    std::chrono::milliseconds ring_pause_{0};           ///< the back-off after the next failure
    /// Polls by doorbells between two checks of a connection without a rung doorbell, so that a peer that clears
    /// the bits of others in the page can only delay their messages.
    PollBudget<256> polls_between_checks_;
    std::uint32_t next_look_ = 0;
    std::size_t next_process_ = 0;
    SoftQueuePair *only_ = nullptr; ///< the element of connections_ where there is one, its peer need not ring,
                                    ///< and it owes it no ring
    std::vector<SoftQueuePair *> connections_; ///< by number; null for a free one
    std::vector<std::uint32_t> free_numbers_;
    std::vector<Watched> processes_; ///< the watched processes
};

} // namespace opendoca::soft
