// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "../../../engine/completion_queue.hpp"
#include "../../../poll_budget.hpp"
#include "../memory/copier.hpp"
#include "doorbell.hpp"

namespace opendoca::soft {

class SoftQueuePair;

/// What a completion queue polls for all its connections, and what these share because they have one thread.
///
/// A few connections are looked at directly: their peers need not ring, and a message is all that travels. Where
/// there are more, their peers ring, and polling costs what has happened. So it does in event-driven mode while the
/// thread sleeps. From many there is no way back to a few.
class ConnectionPoller final : public Pollable, public std::enable_shared_from_this<ConnectionPoller> {
public:
    static constexpr std::uint32_t most_polled_directly = 8;

    /// The one of @p completions, made for its first connection.
    [[nodiscard]] static doca_error_t of(CompletionQueue &completions, std::shared_ptr<ConnectionPoller> &poller);
    ~ConnectionPoller() override;

    /// @p connection is polled from now on; it knows by which number.
    [[nodiscard]] doca_error_t add(SoftQueuePair &connection, std::uint32_t &number);
    void remove(std::uint32_t number) noexcept;

    /// Whether connections are looked at when their peers ring, or this thread does.
    [[nodiscard]] bool needs_rings() const noexcept { return is_many_; }
    /// Whether anybody may have to be told of what a connection waits for.
    [[nodiscard]] bool has_doorbells() const noexcept { return doorbells_ != nullptr; }
    [[nodiscard]] const Doorbells &doorbells() const noexcept { return *doorbells_; }
    /// Something may have happened to connection @p number that no peer rings for.
    void look_at(std::uint32_t number) noexcept;
    /// A connection owes its peer a ring: SoftQueuePair::make_owed_ring() is called in the next polls.
    void owe_ring() noexcept;
    /// From now on the end of @p process is news of its connections. False when it can't be seen.
    [[nodiscard]] bool watch(const std::shared_ptr<ExporterProcess> &process) noexcept;
    /// For each watch(), unless the process has ended: one of its connections goes.
    void watch_no_more(const ExporterProcess &process) noexcept;

    [[nodiscard]] Operation *poll_one() noexcept override;
    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;

    Copier copier; ///< of one-sided operations and long messages

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
    std::unique_ptr<Doorbells> doorbells_; ///< where there are many, or in event-driven mode
    bool is_many_ = false;
    bool is_reserved_ = false;
    bool owes_rings_ = false; ///< a connection may; then only_ is null, so that progress() sees it
    std::chrono::steady_clock::time_point next_ring_{}; ///< owed rings are not tried before it
    std::chrono::milliseconds ring_pause_{0};           ///< before the next try, if that one fails, too
    /// Of polls by doorbells, between two checks of a connection whose doorbell was not rung: a peer that clears the
    /// bits of others in the page can only delay their messages.
    PollBudget<256> polls_between_checks_;
    std::uint32_t next_look_ = 0;
    std::size_t next_process_ = 0;
    SoftQueuePair *only_ = nullptr; ///< the element of connections_ where there is one, its peer need not ring,
                                    ///< and it owes it no ring
    std::vector<SoftQueuePair *> connections_; ///< by number; null for one that is free
    std::vector<std::uint32_t> free_numbers_;
    std::vector<Watched> processes_; ///< whose end is looked for
};

} // namespace opendoca::soft
