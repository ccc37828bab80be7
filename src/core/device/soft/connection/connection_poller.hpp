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

/// What the connections of one thread share: the page of doorbells, the processes of the peers, and the copier. Finds
/// the connections with news among those that are not polled directly, at a cost that grows with the news and not with
/// the connections. Owned by the attached connections together; only their thread may use it. Polled by the root of
/// their completion queues while a queue goes by doorbells, or a doorbell could not be rung.
class ConnectionPoller final : public Pollable, public std::enable_shared_from_this<ConnectionPoller> {
public:
    /// Finds the poller of the thread of @p root, or creates it for the first connection. NO_MEMORY, OPERATING_SYSTEM.
    [[nodiscard]] static doca_error_t of(CompletionQueue &root, std::shared_ptr<ConnectionPoller> &poller);
    ~ConnectionPoller() override;

    /// Adds @p connection. @p number is set to its index, which is also the index of its doorbell. NO_MEMORY.
    [[nodiscard]] doca_error_t add(SoftQueuePair &connection, std::uint32_t &number);
    /// Removes connection @p number, which may then be reused. A late ring of the former peer only causes a check.
    void remove(std::uint32_t number) noexcept;

    /// Creates the page of doorbells if there is none. NO_MEMORY and others of SealedPage::create().
    [[nodiscard]] doca_error_t open_doorbells();
    /// Returns whether the thread has a page of doorbells: connections must then publish the events that they await.
    [[nodiscard]] bool has_doorbells() const noexcept { return doorbells_ != nullptr; }
    [[nodiscard]] const Doorbells &doorbells() const noexcept { return *doorbells_; }
    /// Count the queues that go by doorbells. While there is one, each poll checks the connections with a doorbell that
    /// was rung by the peer or this thread, and one other every 1,024 polls or 100 ms.
    void add_user() noexcept;
    void remove_user() noexcept;
    /// Rings the doorbell of connection @p number, for an event for which no peer rings.
    void ring(std::uint32_t number) noexcept { doorbells_->ring(number); }
    /// Schedules a retry: SoftQueuePair::retry_pending_doorbell() is called in the next polls, with back-off.
    void schedule_doorbell_retry() noexcept;
    /// Watches @p process for one more connection: its end causes a check of its connections. Returns false if an armed
    /// queue could not be woken by the end.
    [[nodiscard]] bool watch(const std::shared_ptr<ExporterProcess> &process) noexcept;
    /// Undoes one watch(). Has no effect once handle_process_exit() has removed the process.
    void stop_watching(const ExporterProcess &process) noexcept;

    /// Lets peers that ring wake the thread, until disarm(). Called by each queue that is armed. The caller must check
    /// for events afterwards.
    void arm_wake_up() noexcept;

    void progress() noexcept override;
    [[nodiscard]] Operation *poll_one() noexcept override;
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;

    Copier copier; ///< for one-sided operations and long messages

private:
    explicit ConnectionPoller(CompletionQueue &root) : root_(root) {}

    /// A peer process of at least one connection.
    struct Watched {
        std::shared_ptr<ExporterProcess> process;
        std::uint32_t num_connections; ///< the number of watch() calls that were not undone; never 0
    };

    /// Polls for each check_unnotified().
    static constexpr std::uint32_t polls_between_checks = 8;

    [[nodiscard]] doca_error_t open();
    void unwatch(const ExporterProcess &process) noexcept;
    void update_polling() noexcept;
    [[gnu::cold]] void retry_pending_doorbells() noexcept;
    void check_rung_connections() noexcept;
    void check_unnotified() noexcept;
    [[gnu::cold]] void handle_process_exit(std::size_t index) noexcept;

    CompletionQueue &root_;
    std::unique_ptr<Doorbells> doorbells_; ///< set once a queue has gone by doorbells, or in event-driven mode
    bool is_reserved_ = false;             ///< true once open() has reserved a place among the polled objects
    bool is_wake_up_armed_ = false;
    bool has_pending_doorbells_ = false;                 ///< a connection may have a pending doorbell
    std::uint32_t num_users_ = 0;                        ///< queues that go by doorbells
    std::chrono::steady_clock::time_point next_retry_{}; ///< the time before which pending doorbells are not retried
    std::chrono::milliseconds retry_delay_{0};           ///< the back-off after the next failure
    /// 1,024 polls or 100 ms until one connection is polled although its doorbell was not rung: a peer that clears the
    /// bits of others can only delay their messages.
    PollBudget<1024 / polls_between_checks, 100, 32 / polls_between_checks> connection_budget_;
    std::uint32_t polls_until_check_ = polls_between_checks; ///< until the next check_unnotified()
    std::uint32_t last_checked_ = 0;           ///< index in connections_ of the last check without a doorbell
    std::size_t last_process_ = 0;             ///< index in processes_ of the last check
    std::vector<SoftQueuePair *> connections_; ///< by number; null if the number is free
    std::vector<std::uint32_t> free_numbers_;  ///< the indices of the null elements of connections_
    std::vector<Watched> processes_;           ///< processes other than this one
};

} // namespace opendoca::soft
