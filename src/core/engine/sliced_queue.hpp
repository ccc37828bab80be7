// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "completion_order.hpp"
#include "completion_queue.hpp"

namespace opendoca {

/// A source whose operations the CPU carries out. A short one completes within its submission. A long one is processed
/// in slices, one whenever the completion queue is polled, so that its thread serves other sources in between.
/// Operations that are submitted meanwhile wait for it, so all complete in the order of submission, unless a
/// CompletionOrder chooses another one. Owned by a context,
/// one for each of its completion queues; used by that queue's thread only. All memory is allocated at creation.
class OPENDOCA_INTERNAL SlicedQueue : public Source, public Pollable {
public:
    /// Bytes that are processed in one go.
    static constexpr std::size_t slice_size = std::size_t{256} << 10;

    /// With an @p order, no operation completes within its submission. Throws std::bad_alloc. @p completions must
    /// outlive the object.
    explicit SlicedQueue(CompletionQueue &completions, std::unique_ptr<CompletionOrder> order = nullptr);
    ~SlicedQueue() override;

    /// Ends the operation of @p tag with SHUTDOWN if it waits or is in progress, while its buffers still exist. Blocks
    /// until the end of a slice that another thread processes. Does nothing if the operation has completed.
    void drop(const Tag &tag) noexcept;
    /// Completes the operations that wait, and the one in progress, with SHUTDOWN. If the latter can't be ended at
    /// once, it completes as ever, and those that wait after it.
    void flush() noexcept override;

    /// Returns whether progress() has done something since the last call. A front end whose polls report progress that
    /// is not a completion calls this for as long as is_waiting() is set.
    [[nodiscard]] bool take_progress() noexcept { return std::exchange(has_progressed_, false); }
    /// Set while an operation waits or is in progress.
    [[nodiscard]] const std::atomic<bool> &is_waiting() const noexcept { return is_waiting_; }

    /// Processes a slice of the oldest operation.
    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override { return num_waiting_ != 0; }
    [[nodiscard]] bool park() noexcept override { return num_waiting_ == 0; } // append() wakes the queue

protected:
    // Implemented by the derived class. They complete no operation: the base does so with the status that is returned.

    /// Begins @p operation, the oldest. Returns IN_PROGRESS, or the status of an operation that has ended by this.
    [[nodiscard]] virtual doca_error_t begin(Operation &operation) noexcept = 0;
    /// Processes a slice of the operation that was begun last. Returns IN_PROGRESS, AGAIN if nothing can be done until
    /// a descriptor is readable that the derived class watches, or the status of an operation that has ended.
    [[nodiscard]] virtual doca_error_t advance() noexcept = 0;
    /// Ends the work on the operation that was begun last. Returns false if it ends by itself only, by advance().
    [[nodiscard]] virtual bool cancel() noexcept = 0;
    /// Blocks until the work that cancel() could not end has ended, and discards its result.
    virtual void wait_and_discard() noexcept;
    /// Called when @p operation, which has waited, is about to complete. Default: nothing.
    virtual void ended(Operation &operation) noexcept;

    // Called by the derived class.

    /// Returns whether the next operation may complete within its submission, as none waits or is in progress.
    [[nodiscard]] bool may_complete_at_once() const noexcept { return num_waiting_ == 0 && !is_late(); }
    [[nodiscard]] bool is_late() const noexcept { return order_ != nullptr; }
    /// Appends an operation to those that wait, and wakes a waiting queue. The completion queue must not be full. The
    /// caller fills in the payload.
    [[nodiscard]] Operation &append(Tag tag) noexcept;
    /// Begins the oldest operation now and not in the next progress(), if it waits.
    void begin_oldest() noexcept;
    /// Returns whether work on the oldest operation has begun.
    [[nodiscard]] bool is_in_progress() const noexcept { return is_in_progress_; }
    /// Returns whether @p is_meant is true for an operation that waits or is in progress.
    template <typename IsMeant>
    [[nodiscard]] bool has_waiting(IsMeant is_meant) const noexcept
    {
        for (std::uint32_t i = 0; i != num_waiting_; ++i) {
            if (is_meant(*waiting(i)))
                return true;
        }
        return false;
    }

    CompletionQueue &completions_;

private:
    /// Returns the place in the ring of operation number @p index of those that wait, from the oldest on.
    [[nodiscard]] Operation *&waiting(std::uint32_t index) const noexcept
    {
        return waiting_[(first_waiting_ + index) % completions_.depth()];
    }
    void complete_oldest(doca_error_t status) noexcept;
    void complete_all() noexcept;

    /// Operations in the order of submission, the oldest one in progress: a ring of the completion queue's depth.
    std::unique_ptr<Operation *[]> waiting_;
    std::uint32_t first_waiting_ = 0;
    std::uint32_t num_waiting_ = 0;
    std::atomic<bool> is_waiting_{false};          ///< num_waiting_ is not 0; only the queue's thread writes it
    const std::unique_ptr<CompletionOrder> order_; ///< null unless the device is strict
    bool is_in_progress_ = false;                  ///< begin() was called for the oldest operation
    bool is_flushing_ = false;                     ///< those after the one in progress complete with it, with SHUTDOWN
    bool has_progressed_ = false;                  ///< see take_progress()
};

} // namespace opendoca
