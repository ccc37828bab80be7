// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../../../engine/completion_queue.hpp"
#include "connection_poller.hpp"

namespace opendoca::soft {

class SoftQueuePair;

/// The connections of one completion queue, and how they are polled. Owned by the attached connections together; only
/// the thread of the completion queue may use it.
///
/// Up to most_polled_directly connections are checked directly in each poll: their peers need not ring, and only the
/// message moves between processors. If there are more, their peers ring doorbells, and the thread's ConnectionPoller
/// finds those with news. The completion queue then no longer polls this object, and polling does not return to the
/// direct mode. Doorbells are also used while the queue is parked and, in event-driven mode, while the thread is
/// blocked.
class QueueConnections final : public Pollable, public std::enable_shared_from_this<QueueConnections> {
public:
    static constexpr std::uint32_t most_polled_directly = 8; ///< connections

    /// Finds the connections of @p completions, or creates the object for the first one. NO_MEMORY, OPERATING_SYSTEM.
    [[nodiscard]] static doca_error_t of(CompletionQueue &completions, std::shared_ptr<QueueConnections> &connections);
    ~QueueConnections() override;

    /// Adds @p connection. @p number is set to its number in the poller. NO_MEMORY, OPERATING_SYSTEM.
    [[nodiscard]] doca_error_t add(SoftQueuePair &connection, std::uint32_t &number);
    void remove(SoftQueuePair &connection, std::uint32_t number) noexcept;

    [[nodiscard]] ConnectionPoller &poller() const noexcept { return *poller_; }
    /// Returns whether the connections are checked only when their doorbells are rung.
    [[nodiscard]] bool polls_by_doorbells() const noexcept { return polls_by_doorbells_ || is_parked_; }
    /// Schedules a check of connection @p number, for an event for which no peer rings. Wakes a waiting queue.
    void schedule_check(std::uint32_t number) noexcept;

    [[nodiscard]] Operation *poll_one() noexcept override;
    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;
    [[nodiscard]] bool park() noexcept override;
    void unpark() noexcept override;

private:
    QueueConnections(CompletionQueue &completions, std::shared_ptr<ConnectionPoller> poller)
        : completions_(completions),
          poller_(std::move(poller))
    {
    }

    [[nodiscard]] bool request_doorbells() noexcept;
    void withdraw_doorbell_requests() noexcept;
    void switch_to_doorbells() noexcept;
    void update_only_connection() noexcept;

    CompletionQueue &completions_;
    const std::shared_ptr<ConnectionPoller> poller_;
    bool is_reserved_ = false;        ///< of() has reserved a place among the polled objects
    bool polls_by_doorbells_ = false; ///< never reset
    bool is_parked_ = false;
    SoftQueuePair *only_connection_ = nullptr; ///< the only element of direct_, or null
    /// The connections that are polled directly: all, or none if polls_by_doorbells_ is set.
    std::vector<SoftQueuePair *> direct_;
};

} // namespace opendoca::soft
