// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "../../engine/completion_queue.hpp"
#include "completion_events.hpp"
#include "completions.hpp"
#include "reliable_connection.hpp"

namespace opendoca::verbs {

class VerbsQueuePair;

/// A completion queue of the device, and the queue pairs on it. It is what an engine's completion queue polls and arms
/// for all of them. Most often there is one for a completion queue and a device; besides, each queue pair whose number
/// was told to a peer before it came to a completion queue has one of its own.
///
/// A completion carries its Operation, and that the queue pair: nothing is searched for. There is room for the
/// completions of all operations that can be in flight, since each operation has one and is not used again before that
/// was taken. What could come later than that is prevented: a queue pair whose operations are ended without their
/// completions is reset first.
///
/// Belongs to the thread of the completion queue from the first add() to the last remove(), but for what is said to be
/// thread-safe: programs stop a context by any thread.
class OPENDOCA_INTERNAL ConnectionPoller final : public Pollable, public std::enable_shared_from_this<ConnectionPoller> {
public:
    /// One for @p size completions, on which nothing else will be.
    [[nodiscard]] static doca_error_t create_own(const VerbsDevice &device, std::uint32_t size,
                                                 std::shared_ptr<ConnectionPoller> &poller);
    /// One on which a queue pair with @p size work requests has room, that @p completions polls already, or will with
    /// its first queue pair.
    [[nodiscard]] static doca_error_t find(const VerbsDevice &device, CompletionQueue &completions, std::uint32_t size,
                                           std::shared_ptr<ConnectionPoller> &poller);
    ~ConnectionPoller() override;

    // Thread-safe.

    /// Whether it is the one that others of @p completions are on.
    [[nodiscard]] bool is_for(const CompletionQueue &completions) const noexcept
    {
        return shared_by_ == &completions && has_room_for(completions, 0) &&
               completions_.has_channel() == completions.is_event_driven();
    }
    /// Creates a queue pair here.
    [[nodiscard]] doca_error_t create(const ReliableConnection::Sizes &sizes, unsigned access,
                                      std::unique_ptr<ReliableConnection> &created);
    /// Ends a connection that was created here: at once where nobody polls, and otherwise as soon as the thread that
    /// does has time for it, since the queue has no lock. It reaches no memory any more.
    void destroy(std::unique_ptr<ReliableConnection> connection) noexcept;

    /// From now on @p queue_pair, which was created here, is polled by @p completions. NOT_SUPPORTED where another
    /// completion queue has others that were created here, or this one asks for more than what was created.
    [[nodiscard]] doca_error_t add(VerbsQueuePair &queue_pair, CompletionQueue &completions);
    void remove(VerbsQueuePair &queue_pair) noexcept;
    /// See CompletionQueue::retrieve_by(): one of them is told, whichever queue pair the completion is of.
    void retrieve_by(VerbsQueuePair &queue_pair, void *retriever) noexcept;

    /// There is something to poll for. False when nothing completes any more.
    [[nodiscard]] bool start() noexcept
    {
        polled_ = is_lost_ ? nullptr : &completions_.polled();
        return !is_lost_;
    }
    /// As CopyQueue::poll_fast(), for operations of queue pairs; @p give is called with the bytes that it reports, too.
    template <typename Give, typename Otherwise>
    [[nodiscard]] doca_error_t poll_fast(Give give, Otherwise otherwise) noexcept; // queue_pair.hpp

    [[nodiscard]] Operation *poll_one() noexcept override;
    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override;
    void look_for_failure() noexcept;

    /// The connection of @p queue_pair has failed. What the device has done before still counts, all else ends with
    /// @p status: at once, or, during a call of this poller's, at the end of it.
    void fail(VerbsQueuePair &queue_pair, doca_error_t status) noexcept;

private:
    ConnectionPoller(const VerbsDevice &device, const CompletionQueue *shared_by) noexcept
        : device_(device),
          shared_by_(shared_by)
    {
    }

    [[nodiscard]] doca_error_t attach(VerbsQueuePair &queue_pair, CompletionQueue &completions);
    [[nodiscard]] bool has_room_for(const CompletionQueue &completions, std::uint32_t size) const noexcept;
    void bury_dead() noexcept;
    [[nodiscard]] bool poll() noexcept;
    void drain() noexcept;
    void end_started() noexcept;
    [[gnu::cold]] void finish_failed() noexcept;
    [[gnu::cold]] void lose() noexcept;
    [[gnu::noinline]] void polled_nothing() noexcept;

    // What retrieve uses.
    ibv_cq_ex *polled_ = nullptr; ///< from the first operation on
    FailureCheckBudget idle_polls_;

    const VerbsDevice &device_;
    const CompletionQueue *const shared_by_; ///< whose queue pairs it is for; null for one of its own
    bool is_lost_ = false;                   ///< nothing completes here any more
    bool is_finishing_ = false;
    VerbsQueuePair *first_failed_ = nullptr; ///< a list of those that wait for finish_failed()
    std::vector<VerbsQueuePair *> members_;
    VerbsCompletions completions_;
    CompletionEvents events_{completions_};

    std::mutex lock_;                                        ///< of what follows
    CompletionQueue *polled_by_ = nullptr;                   ///< while there are members
    std::atomic<std::uint32_t> used_ = 0;                    ///< work requests of all that was created here
    std::uint32_t num_created_ = 0;
    std::vector<std::unique_ptr<ReliableConnection>> dead_; ///< with room for all that was created
    std::atomic<bool> has_dead_ = false;
};

} // namespace opendoca::verbs
