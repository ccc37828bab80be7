// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "event_handle.hpp"
#include "operation.hpp"
#include "source.hpp"

namespace opendoca {

/// A ring entry: an operation that has completed and has not been retrieved.
struct Completion {
    Tag tag; ///< not set if has_operation(): the operation has the tag
    union {
        Source *source;
        Operation *operation; ///< set if has_operation()
    };
    std::uint32_t status; ///< a doca_error_t; if has_operation(), the flags below instead
    std::uint32_t length; ///< Result::length; not set if has_operation()

    static constexpr std::uint32_t with_operation = 1u << 31;
    static constexpr std::uint32_t notifies_source = 1u << 30; ///< the retrieval calls Source::retrieved()

    [[nodiscard]] bool has_operation() const noexcept { return (status & with_operation) != 0; }
};

static_assert(sizeof(Completion) == 32);

class ReadyDescriptors;

/// Receives the changes of a completion queue: a progress engine or one of its members. Called by the queue's thread.
class OPENDOCA_INTERNAL QueueListener {
public:
    /// The queue was parked, and has to be polled again.
    virtual void queue_resumed() noexcept {}
    /// The list of what the queue polls has changed.
    virtual void polled_changed() noexcept {}

protected:
    ~QueueListener() = default;
};

/// The completions of one thread: a ring of completions that have not been retrieved, the credits that submissions
/// take, the memory of the operations in flight, the list of what has to be polled, and the event handle on which the
/// thread can block. Owned by a context or graph of 3.0, a work queue of 2.2, or an internal user of a device
/// (QueuePairLink). Only its thread may use it, apart from num_outstanding(). All memory is allocated at creation and
/// by reserve_polled(), never between a submission and its completion. Invariant: operations in flight, completions in
/// the ring and reserved credits are together at most depth().
/// The queues of one progress engine share a root: a queue without operations, which polls what serves all of them. A
/// queue with nothing to do can be parked: its thread need not poll it until it is resumed, by whatever would wake it
/// if it was armed.
class OPENDOCA_INTERNAL CompletionQueue {
public:
    /// @p depth is the limit for operations in flight and completions that have not been retrieved, together.
    explicit CompletionQueue(std::uint32_t depth);
    CompletionQueue(const CompletionQueue &) = delete;
    CompletionQueue &operator=(const CompletionQueue &) = delete;

    [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
    /// Allocates memory for another depth. Nothing may be in flight, and no source may use the queue.
    void set_depth(std::uint32_t depth);

    // Submitting: functions for sources. Each operation takes a credit, which its retrieval returns.

    [[nodiscard]] bool is_full() const noexcept
    {
        // Volatile, so that append() loads tail_ again. Otherwise the compiler keeps tail_ in a callee-saved register,
        // which it has to save and restore.
        return *const_cast<const volatile std::uint32_t *>(&tail_) - head_ == capacity_;
    }

    /// Completes an operation of @p source within its submission. The queue must not be full.
    void done(Tag tag, Source &source, doca_error_t status, std::uint32_t length = 0) noexcept
    {
        done_unarmed(tag, source, status, length);
        wake_if_waiting();
    }
    /// Does the same for a queue that is neither armed nor parked. @p tag is a Tag or a type that store_tag() stores as
    /// one.
    template <typename AsTag>
    [[gnu::always_inline]] void done_unarmed(const AsTag &tag, Source &source, doca_error_t status,
                                             std::uint32_t length = 0) noexcept
    {
        Completion &completion = append();
        store_tag(completion.tag, tag);
        store(completion.source, &source);
        completion.status = status;
        completion.length = length;
    }

    /// Starts an operation that completes later, and takes a credit for it. The queue must not be full.
    [[gnu::always_inline]] [[nodiscard]] Operation &begin(Tag tag, Source &source) noexcept
    {
        capacity_ -= step;
        Operation &operation = *free_;
        free_ = reinterpret_cast<Operation *>(operation.source);
        operation.tag = tag;
        store(operation.source, &source);
        operation.status = Operation::in_flight;
        return operation;
    }
    /// Makes @p source the source of @p operation, which is in flight. For a shared receive: the receive queue until a
    /// message uses it, then the message's queue pair.
    void assign(Operation &operation, Source &source) noexcept { store(operation.source, &source); }
    /// Completes @p operation. Its result is already in it, or it has none.
    void done(Operation &operation, doca_error_t status) noexcept { end(operation, status, 0); }
    /// Completes @p operation with @p result.
    void done(Operation &operation, doca_error_t status, const Result &result) noexcept
    {
        operation.length = result.length;
        operation.message = {result.immediate, result.received};
        end(operation, status, 0);
    }
    /// Completes @p operation; its retrieval calls Source::retrieved().
    void done_and_notify(Operation &operation, doca_error_t status) noexcept
    {
        end(operation, status, Completion::notifies_source);
    }
    /// Frees @p operation and its credit without a completion: Pollable::poll_one() has returned it, or its submission
    /// has failed.
    void release(Operation &operation) noexcept
    {
        capacity_ += step;
        free(operation);
    }
    /// Calls @p action with each operation of @p source that is in flight or has not been retrieved.
    template <typename Action>
    void each_operation_of(const Source &source, Action action) noexcept
    {
        for (std::uint32_t i = 0; i != depth_; ++i) {
            if (operations_[i].source == &source)
                action(operations_[i]);
        }
    }

    /// Makes the handle of an armed queue readable and disarms it, and resumes a parked queue: there is a completion to
    /// retrieve, or work for progress().
    void wake() noexcept;
    /// Returns whether the queue is armed or parked, so that a completion has to wake it.
    [[nodiscard]] bool is_waiting() const noexcept { return waiting_ != 0; }
    /// Calls wake() if the queue is armed or parked.
    void wake_if_waiting() noexcept
    {
        if (waiting_ != 0) [[unlikely]]
            wake();
    }
    /// Reports an event that is no completion, such as the end of a connection. Wakes a waiting queue.
    void note_event() noexcept
    {
        has_event_ = true;
        wake_if_waiting();
    }
    [[nodiscard]] bool has_event() const noexcept { return has_event_; }
    /// Returns whether an event was noted since the last call.
    [[nodiscard]] bool take_event() noexcept { return std::exchange(has_event_, false); }
    /// True from arm() until clear() or wake(). A completion that is put into the ring meanwhile wakes the queue
    /// (done() does that). An operation that poll_one() returns meanwhile does not: the device's notification must then
    /// still be armed for the next one.
    [[nodiscard]] bool is_armed() const noexcept { return (waiting_ & armed) != 0; }

    // Parking: functions for the thread's progress engine.

    void set_listener(QueueListener &listener) noexcept { listener_ = &listener; }
    [[nodiscard]] QueueListener *listener() const noexcept { return listener_; }
    /// Parks the queue if nothing is left to retrieve and all that it polls can be parked. Returns whether it is
    /// parked: it need not be polled then until QueueListener::queue_resumed() is called. Not for an armed queue.
    [[nodiscard]] bool park() noexcept;
    [[nodiscard]] bool is_parked() const noexcept { return (waiting_ & parked) != 0; }
    /// Lets the queue be polled again, if it is parked: its thread is about to give it work.
    void resume() noexcept
    {
        if (is_parked()) [[unlikely]]
            unpark();
    }

    /// Takes @p count credits without submitting anything. Returns false and takes none if fewer are left.
    [[nodiscard]] bool reserve(std::uint32_t count) noexcept
    {
        if (count > (capacity_ - (tail_ - head_)) / step)
            return false;
        capacity_ -= count * step;
        return true;
    }
    /// Returns @p count credits that reserve() has taken.
    void release_credits(std::uint32_t count) noexcept { capacity_ += count * step; }

    // Retrieving: functions for front ends.

    [[nodiscard]] bool is_empty() const noexcept { return head_ == tail_; }
    /// Returns the oldest completion, valid until drop() or pop(). The ring must not be empty.
    [[nodiscard]] const Completion &first() const noexcept { return at(head_); }
    /// Removes the oldest completion. Its Operation, if it has one, must have been freed before (see pop()).
    void drop() noexcept { drop_at(head_); }
    /// position(), first_at() and drop_at() do the same as first() and drop(), but load head_ only once.
    [[nodiscard]] std::uint32_t position() const noexcept { return head_; }
    [[nodiscard]] const Completion &first_at(std::uint32_t position) const noexcept { return at(position); }
    void drop_at(std::uint32_t position) noexcept
    {
        const std::uint32_t head = position + step;
        store(head_, head);
        // A program that submits one immediately completing operation for each that it retrieves never empties the
        // ring. Polling here keeps it from starving the operations that only complete by polling.
        if (head % (poll_interval * step) == 0) [[unlikely]]
            progress();
    }
    /// Does the same as drop(), but returns false and changes nothing where drop() would poll.
    [[nodiscard]] bool try_drop() noexcept
    {
        if (is_poll_due()) [[unlikely]]
            return false;
        store(head_, head_ + step);
        return true;
    }
    /// Returns whether drop() would poll: once every poll_interval completions.
    [[nodiscard]] bool is_poll_due() const noexcept { return (head_ + step) % (poll_interval * step) == 0; }
    /// Removes the oldest completion and describes it in @p ended. Returns false if the ring is empty.
    [[nodiscard]] bool pop(Ended &ended) noexcept;
    /// Polls. The ring must be empty. Returns an operation that has succeeded, which the caller releases after reading
    /// it. Null if there is none; the ring may then have completions.
    [[nodiscard]] Operation *poll() noexcept
    {
        if (only_polled_ != nullptr)
            return only_polled_->poll_one();
        progress();
        return nullptr;
    }

    [[nodiscard]] bool has_polled() const noexcept { return !polled_.empty(); }
    /// Returns whether @p pollable is all that poll() polls.
    [[nodiscard]] bool polls_only(const Pollable &pollable) const noexcept { return only_polled_ == &pollable; }

    /// Counts the operations of @p source that are in flight, or completed and not retrieved. Thread-safe; the result
    /// is exact only while the queue's own thread does not use the queue.
    [[nodiscard]] std::uint32_t num_outstanding(const Source &source) const noexcept;

    // Polling: functions for sources.

    /// Allocates a place for one pollable. A later start_polling() and stop_polling() can then be called any number of
    /// times without allocating.
    void reserve_polled();
    /// Releases a place that reserve_polled() has allocated.
    void unreserve_polled() noexcept { --num_reserved_; }
    /// Adds @p pollable to what is polled, unless it is already there. Wakes an armed queue and resumes a parked one.
    void start_polling(Pollable &pollable) noexcept;
    void stop_polling(Pollable &pollable) noexcept;
    /// Returns the first polled object of type @p T for which @p is_meant is true, or null. Lets several sources share
    /// one pollable.
    template <typename T, typename IsMeant>
    [[nodiscard]] T *find_polled(IsMeant is_meant) const noexcept
    {
        for (Pollable *pollable : polled_) {
            if (auto *const found = dynamic_cast<T *>(pollable); found != nullptr && is_meant(*found))
                return found;
        }
        return nullptr;
    }

    // Blocking.

    [[nodiscard]] bool is_event_driven() const noexcept { return is_event_driven_; }
    [[nodiscard]] doca_error_t set_event_driven(bool enable);
    /// Makes the queue event-driven from its creation on, with a handle that it shares with other queues of its thread.
    void share_events(std::shared_ptr<EventHandle> events) noexcept
    {
        events_ = std::move(events);
        is_event_driven_ = true;
    }
    /// Does the same with the handle of @p root, which its thread polls and arms along with this queue. @p root must
    /// outlive all that polls for this queue.
    void share_root(CompletionQueue &root) noexcept
    {
        root_ = &root;
        share_events(root.events_);
    }
    /// The queue with the pollables that serve all queues of the thread: this one unless it shares another.
    [[nodiscard]] CompletionQueue &root() noexcept { return *root_; }
    /// Of a root: resumes parked queues when a descriptor is readable. Null if no queue is ever parked.
    ReadyDescriptors *descriptors = nullptr;
    // Pollables of a device, or null. They register themselves here, and need not be polled all the time.
    Pollable *shared_pollable = nullptr; ///< of a root: serves all queues of the thread
    Pollable *own_pollable = nullptr;    ///< serves this queue
    /// Returns the descriptor to block on, which never changes after the first set_event_driven(true); -1 before that.
    [[nodiscard]] int event_handle() const noexcept { return events_ != nullptr ? events_->fd() : -1; }
    /// Requests that the handle becomes readable with the next completion, or at once if progress() has work.
    void arm() noexcept;
    /// Ends the request of arm(), and makes the handle unreadable unless a watched descriptor keeps it readable.
    [[nodiscard]] doca_error_t clear() noexcept;
    /// Adds @p fd to the event handle or removes it. Only in event-driven mode.
    [[nodiscard]] doca_error_t watch(int fd) noexcept { return events_->watch(fd); }
    void unwatch(int fd) noexcept { events_->unwatch(fd); }
    /// Stores watched descriptors that are readable in @p into, and returns how many. Only in event-driven mode.
    [[nodiscard]] std::size_t readable_descriptors(std::span<int> into) const noexcept
    {
        return events_->readable_descriptors(into);
    }
    /// See EventHandle. Only in event-driven mode.
    [[nodiscard]] doca_error_t open_timer() noexcept { return events_->open_timer(); }
    [[nodiscard]] bool wake_within_a_second() noexcept { return events_->wake_within_a_second(); }

private:
    static constexpr std::uint8_t armed = 1, parked = 2; ///< bits of waiting_
    static constexpr std::uint32_t step = sizeof(Completion);
    static constexpr std::uint32_t poll_interval = 64; ///< completions between two polls while the ring is not empty

    // Relaxed accesses to words that num_outstanding() may read from another thread while the queue's thread writes
    // them.
    template <typename T>
    [[nodiscard]] static T load(const T &word) noexcept
    {
        return __atomic_load_n(&word, __ATOMIC_RELAXED);
    }
    template <typename T>
    static void store(T &word, T value) noexcept
    {
        __atomic_store_n(&word, value, __ATOMIC_RELAXED);
    }
    /// Stores both words with one 16-byte store: the reader loads them with one instruction, and a load that spans two
    /// recent stores cannot be forwarded from the store buffer.
    [[gnu::always_inline]] static void store_tag(Tag &at, Tag tag) noexcept
    {
#ifdef __SSE2__
        using Words = std::uint64_t __attribute__((vector_size(sizeof(Tag)))); // plain assignment would be two stores
        const Words words = {tag.a, tag.b};
        std::memcpy(&at, &words, sizeof(words));
#else
        at = tag;
#endif
    }
    [[gnu::always_inline]] static void store_tag(Tag &at, WordTag tag) noexcept
    {
        at.a = tag.a;
    }
    [[nodiscard]] Completion &at(std::uint32_t position) const noexcept
    {
        return *reinterpret_cast<Completion *>(reinterpret_cast<std::byte *>(ring_) + (position & mask_));
    }
    void free(Operation &operation) noexcept
    {
        store(operation.source, reinterpret_cast<Source *>(free_));
        free_ = &operation;
    }
    [[nodiscard]] Completion &append() noexcept
    {
        const std::uint32_t tail = tail_;
        store(tail_, tail + step);
        return at(tail);
    }
    void end(Operation &operation, doca_error_t status, std::uint32_t flags) noexcept
    {
        operation.status = status;
        capacity_ += step; // the ring entry takes the credit over from here on
        Completion &completion = append();
        store(completion.operation, &operation);
        store(completion.status, Completion::with_operation | flags);
        wake_if_waiting();
    }
    [[gnu::cold]] void unpark() noexcept;
    template <typename Action>
    void each_polled(Action action) noexcept;
    [[gnu::noinline]] void progress() noexcept;
    void update_only_polled() noexcept;

    // The members that submitting and retrieving use share one cache line. Positions in the ring and numbers of
    // completions are in bytes, that is, in multiples of step.
    /// Position of the oldest completion; never reduced modulo the ring's size, wraps at 2^32 as tail_ does.
    alignas(64) std::uint32_t head_ = 0;
    std::uint32_t tail_ = 0;
    std::uint32_t mask_;
    /// How many completions the ring may hold: the depth less the operations in flight and the reserved credits. One
    /// comparison thus decides whether a submission has a credit. An operation that completes in its submission takes
    /// its credit by being in the ring, and returns it by leaving the ring.
    std::uint32_t capacity_;
    Completion *ring_;
    Operation *free_;                 ///< free list, last in first out: the one used last is likely in the cache
    Pollable *only_polled_ = nullptr; ///< the only element of polled_; null if there are none or several
    std::uint8_t waiting_ = 0;        ///< armed and parked: a completion has to wake the queue
    bool is_event_driven_ = false;
    bool has_event_ = false;         ///< see note_event()
    std::uint32_t num_reserved_ = 0; ///< places in polled_ that reserve_polled() has handed out
    std::vector<Pollable *> polled_;
    std::uint32_t depth_;
    std::unique_ptr<Completion[]> ring_memory_;
    std::unique_ptr<Operation[]> operations_;
    CompletionQueue *root_ = this;
    QueueListener *listener_ = nullptr;   ///< null if nobody polls by parking
    std::shared_ptr<EventHandle> events_; ///< null until set_event_driven(true) or share_events()
};

} // namespace opendoca
