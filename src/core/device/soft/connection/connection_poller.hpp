// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../../../base/poll_budget.hpp"
#include "../../../engine/completion_queue.hpp"
#include "../memory/copier.hpp"
#include "doorbell.hpp"

namespace opendoca::soft {

class SoftQueuePair;

/// Polls all connections of one completion queue, and holds what they share because they have one thread. Owned by the
/// attached connections together; only the thread of the completion queue may use it.
///
/// Up to most_polled_directly connections are checked directly in each poll: their peers need not ring, and only the
/// message moves between processors. If there are more, their peers ring doorbells, and a poll costs as much as there
/// are events rather than connections. Doorbells are also used in event-driven mode while the thread is blocked. Once
/// doorbells are in use for many connections, polling does not return to the direct mode.
class ConnectionPoller final : public Pollable, public std::enable_shared_from_this<ConnectionPoller> {
public:
    static constexpr std::uint32_t most_polled_directly = 8; ///< connections

    /// Finds the poller of @p completions, or creates it for the first connection. NO_MEMORY, OPERATING_SYSTEM.
    [[nodiscard]] static doca_error_t of(CompletionQueue &completions, std::shared_ptr<ConnectionPoller> &poller);
    ~ConnectionPoller() override;

    /// Adds @p connection to the polled ones. @p number is set to its index in this poller, which is also the index of
    /// its doorbell. NO_MEMORY.
    [[nodiscard]] doca_error_t add(SoftQueuePair &connection, std::uint32_t &number);
    /// Removes connection @p number, which may then be reused. A late ring of the former peer only causes a check.
    void remove(std::uint32_t number) noexcept;

    /// Returns whether polls go by doorbells: they check the connections whose doorbells their peers or this thread
    /// have rung, and one other every 256 polls or 100 ms.
    [[nodiscard]] bool polls_by_doorbells() const noexcept { return polls_by_doorbells_; }
    /// Returns whether the thread has a page of doorbells: connections must then publish the events that they await.
    [[nodiscard]] bool has_doorbells() const noexcept { return doorbells_ != nullptr; }
    [[nodiscard]] const Doorbells &doorbells() const noexcept { return *doorbells_; }
    /// Schedules a check of connection @p number, for an event for which no peer rings. Wakes an armed queue.
    void schedule_check(std::uint32_t number) noexcept;
    /// Schedules a retry: SoftQueuePair::retry_pending_doorbell() is called in the next polls, with back-off.
    void schedule_doorbell_retry() noexcept;
    /// Watches @p process for one more connection: its end causes a check of its connections. Returns false if an armed
    /// queue could not be woken by the end.
    [[nodiscard]] bool watch(const std::shared_ptr<ExporterProcess> &process) noexcept;
    /// Undoes one watch(). Has no effect once handle_process_exit() has removed the process.
    void stop_watching(const ExporterProcess &process) noexcept;

    [[nodiscard]] Operation *poll_one() noexcept override;
    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;

    Copier copier; ///< for one-sided operations and long messages

private:
    explicit ConnectionPoller(CompletionQueue &completions) : completions_(completions) {}

    /// A peer process of at least one connection.
    struct Watched {
        std::shared_ptr<ExporterProcess> process;
        std::uint32_t num_connections; ///< the number of watch() calls that were not undone; never 0
    };

    [[nodiscard]] doca_error_t open();
    [[nodiscard]] doca_error_t open_doorbells();
    void unwatch(const ExporterProcess &process) noexcept;
    void switch_to_doorbells() noexcept;
    void update_only_connection() noexcept;
    [[gnu::cold]] void retry_pending_doorbells() noexcept;
    [[nodiscard]] bool arm_doorbells() noexcept;
    void poll_rung_connections() noexcept;
    void check_unnotified() noexcept;
    [[gnu::cold]] void handle_process_exit(std::size_t index) noexcept;

    CompletionQueue &completions_;
    std::unique_ptr<Doorbells> doorbells_; ///< set for many connections, or in event-driven mode
    bool polls_by_doorbells_ = false;      ///< never reset
    bool is_reserved_ = false;             ///< true once open() has reserved a place among the polled objects
    /// A connection may have a pending doorbell. only_connection_ is then null, so that each poll goes by progress().
    bool has_pending_doorbells_ = false;
    std::chrono::steady_clock::time_point next_retry_{}; ///< the time before which pending doorbells are not retried
    std::chrono::milliseconds retry_delay_{0};           ///< the back-off after the next failure
    /// In doorbell mode, 256 polls or 100 ms until one connection is polled although its doorbell was not rung: a peer
    /// that clears the bits of others can only delay their messages.
    PollBudget<256> polls_between_checks_;
    std::uint32_t last_checked_ = 0; ///< index in connections_ of the last check without a doorbell
    std::size_t last_process_ = 0;   ///< index in processes_ of the last check
    /// The only element of connections_, if it is polled directly and no doorbell is pending; otherwise null.
    SoftQueuePair *only_connection_ = nullptr;
    std::vector<SoftQueuePair *> connections_; ///< by number; null if the number is free
    std::vector<std::uint32_t> free_numbers_;  ///< the indices of the null elements of connections_
    std::vector<Watched> processes_;           ///< processes other than this one
};

} // namespace opendoca::soft
