// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "../../engine/completion_queue.hpp"
#include "../../process/fork.hpp"
#include "completion_events.hpp"
#include "completions.hpp"
#include "reliable_connection.hpp"

namespace opendoca::verbs {

class VerbsQueuePair;

/// A completion queue of the device and the queue pairs on it, which an engine's CompletionQueue polls and arms as one
/// pollable. Usually there is one for each pair of CompletionQueue and device. In addition, a queue pair has a poller
/// of its own if a peer received its number before it was attached.
///
/// The id of a work request is its Operation, which refers to its queue pair. Only a shared receive needs a lookup: its
/// queue pair is found by the QPN in the completion. The verbs queue has room for the completions of everything in
/// flight: an Operation has one work request, and is reused only after its completion was taken. To keep this
/// invariant, a queue pair that has failed is reset before its operations are completed without their work requests.
///
/// Owned jointly by its queue pairs. Used by the thread of the CompletionQueue between the first add() and the last
/// remove(), apart from the functions marked as thread-safe: programs may stop a context from any thread.
class OPENDOCA_INTERNAL ConnectionPoller final : public Pollable,
                                                 public std::enable_shared_from_this<ConnectionPoller> {
public:
    /// Creates a poller for @p size completions, for a single queue pair.
    [[nodiscard]] static doca_error_t create_own(const VerbsDevice &device, std::uint32_t size,
                                                 std::shared_ptr<ConnectionPoller> &poller);
    /// Returns the poller of @p completions for @p device that has room for @p size more work requests, or creates one,
    /// which @p completions polls from its first queue pair on.
    [[nodiscard]] static doca_error_t find_or_create(const VerbsDevice &device, CompletionQueue &completions,
                                                     std::uint32_t size, std::shared_ptr<ConnectionPoller> &poller);
    ~ConnectionPoller() override;

    // Thread-safe.

    /// Returns whether this is a shared poller of @p completions that still has the size and the channel it needs.
    [[nodiscard]] bool is_for(const CompletionQueue &completions) const noexcept
    {
        return shared_by_ == &completions && has_room_for(completions, 0) &&
               cq_.has_channel() == completions.is_event_driven();
    }
    /// Creates a queue pair on this completion queue.
    [[nodiscard]] doca_error_t create(const ReliableConnection::Sizes &sizes, unsigned access,
                                      std::unique_ptr<ReliableConnection> &created);
    /// Destroys a connection that this poller has created. It accesses no memory after this call. Since the verbs queue
    /// has no lock, the queue pair itself is destroyed by the polling thread if there is one.
    void destroy(std::unique_ptr<ReliableConnection> connection) noexcept;

    // By the thread of the CompletionQueue only; the lock in add() and remove() is for polled_by_ and retired_.

    /// Adds @p queue_pair, which this poller has created, to what @p completions polls. NOT_SUPPORTED if another
    /// completion queue polls this object already, or if @p completions requires more than this poller has (more
    /// entries, or events).
    [[nodiscard]] doca_error_t add(VerbsQueuePair &queue_pair, CompletionQueue &completions);
    void remove(VerbsQueuePair &queue_pair) noexcept;

    /// Returns whether the device has reported that it has failed for good.
    [[nodiscard]] bool has_lost_device() const noexcept { return cq_.failure() == DeviceFailure::fatal; }
    /// Starts polling. Returns false if polling has ended, see has_failed_.
    [[nodiscard]] bool start() noexcept
    {
        active_cq_ = has_failed_ ? nullptr : &cq_.extended_cq();
        return !has_failed_;
    }

    [[nodiscard]] Operation *poll_one() noexcept override;
    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;
    void check_for_failure() noexcept;

    /// Fails the connection of @p queue_pair. Operations that the device has completed keep their result. Those that it
    /// flushes complete with SHUTDOWN, and those for which it reports nothing complete with @p status. If
    /// finish_failed() is running already, that call finishes this queue pair as well; otherwise it is done here.
    void fail(VerbsQueuePair &queue_pair, doca_error_t status) noexcept;

private:
    ConnectionPoller(const VerbsDevice &device, const CompletionQueue *shared_by) noexcept
        : device_(device),
          shared_by_(shared_by)
    {
    }

    /// Implements add() for the first member: @p completions polls this object from now on.
    [[nodiscard]] doca_error_t attach(VerbsQueuePair &queue_pair, CompletionQueue &completions);
    [[nodiscard]] bool has_room_for(const CompletionQueue &completions, std::uint32_t size) const noexcept;
    void destroy_retired() noexcept;
    [[nodiscard]] bool poll() noexcept;
    /// Takes completions until the queue is empty.
    void drain() noexcept;
    [[nodiscard]] Operation *take_current() noexcept;
    /// Reads the completion at which the poll stands, of a work request that has failed or was flushed; ends the poll.
    [[gnu::cold]] void fail_current() noexcept;
    [[gnu::cold]] void finish_failed() noexcept;
    [[gnu::cold]] void fail_all() noexcept;
    [[gnu::noinline]] void count_empty_poll() noexcept;

    // Members that polling uses.
    ibv_cq_ex *active_cq_ = nullptr; ///< the queue to poll; null before start(), and if has_failed_
    FailureCheckBudget idle_polls_;  ///< polls without a completion since the last check for failures

    const VerbsDevice &device_;
    /// The completion queue that shares this poller among its queue pairs; null if it is for a single queue pair.
    const CompletionQueue *const shared_by_;
    bool has_failed_ = false;   ///< polling has ended: the device failed, or a queue pair could not be reset; permanent
    bool is_finishing_ = false; ///< finish_failed() is active; it also finishes queue pairs that fail meanwhile
    // Queue pairs that finish_failed() has to finish: a list, linked by VerbsQueuePair::next_failed_.
    VerbsQueuePair *first_failed_ = nullptr;
    std::vector<VerbsQueuePair *> members_; ///< attached queue pairs; VerbsQueuePair::index_ is the position
    VerbsCompletions cq_;
    CompletionEvents events_{cq_};

    const CreatorProcess creator_;
    ObjectMutex lock_;                     ///< protects the members below
    CompletionQueue *polled_by_ = nullptr; ///< null while there are no members
    // Entries of cq_ that are reserved: one per work request of each connection of this poller. Written under the lock;
    // has_room_for() reads it without.
    std::atomic<std::uint32_t> num_reserved_ = 0;
    std::uint32_t num_existing_ = 0; ///< connections that exist, including retired ones
    /// Connections to destroy; has capacity for all connections of this poller.
    std::vector<std::unique_ptr<ReliableConnection>> retired_;
    std::atomic<bool> has_retired_ = false; ///< hint that retired_ is not empty; relaxed, see destroy()
};

} // namespace opendoca::verbs
