// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "event_handle.hpp"
#include "operation.hpp"
#include "source.hpp"

namespace opendoca {

/// The end of an operation that was not retrieved.
struct Completion {
    Tag tag; ///< not set where there is an operation, which has it
    union {
        Source *source;
        Operation *operation; ///< where has_operation()
    };
    std::uint32_t status; ///< a doca_error_t; or flags where there is an operation
    std::uint32_t length; ///< Result::length

    static constexpr std::uint32_t with_operation = 1u << 31;
    static constexpr std::uint32_t tells_source = 1u << 30; ///< and Source::retrieved() is called

    [[nodiscard]] bool has_operation() const noexcept { return (status & with_operation) != 0; }
};

static_assert(sizeof(Completion) == 32);

/// Where operations end, for one thread: a ring of completions, the credits that submitting takes, the memory
/// of operations in flight, what has to be polled, and how a sleeping thread is woken. All memory is taken at
/// creation and when something that is polled is added.
class OPENDOCA_INTERNAL CompletionQueue {
public:
    /// @p depth operations may be in flight, or have ended and wait to be retrieved.
    explicit CompletionQueue(std::uint32_t depth);
    CompletionQueue(const CompletionQueue &) = delete;
    CompletionQueue &operator=(const CompletionQueue &) = delete;

    [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
    /// Takes memory for another depth. Nothing may be in flight, and no source may use the queue.
    void set_depth(std::uint32_t depth);

    // Submitting: what sources call. An operation takes a credit, which its retrieval gives back.

    [[nodiscard]] bool is_full() const noexcept
    {
        // Volatile, so that append() reads it again: kept until then it would take a register, which has to be saved.
        return *const_cast<const volatile std::uint32_t *>(&tail_) - head_ == capacity_;
    }

    /// An operation of @p source has ended in its submit. The queue must not be full.
    void done(Tag tag, Source &source, doca_error_t status, std::uint32_t length = 0) noexcept
    {
        done_unarmed(tag, source, status, length);
        if (is_armed_) [[unlikely]]
            wake();
    }
    /// The same on a queue that is not armed. @p tag is a Tag, or becomes one where it is stored.
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

    /// An operation that takes time. The queue must not be full.
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
    /// @p operation, which is in flight, is @p source's from now on.
    void assign(Operation &operation, Source &source) noexcept { store(operation.source, &source); }
    /// @p operation has ended, with the result that is in it.
    void done(Operation &operation, doca_error_t status) noexcept { end(operation, status, 0); }
    void done(Operation &operation, doca_error_t status, const Result &result) noexcept
    {
        operation.length = result.length;
        operation.message = {result.immediate, result.received};
        end(operation, status, 0);
    }
    /// The same, and the source hears of the retrieval.
    void done_and_tell(Operation &operation, doca_error_t status) noexcept
    {
        end(operation, status, Completion::tells_source);
    }
    /// @p operation was given out by Pollable::poll_one(), or was not submitted after all.
    void release(Operation &operation) noexcept
    {
        capacity_ += step;
        free(operation);
    }
    /// Calls @p action with each operation of @p source that has not been retrieved.
    template <typename Action>
    void each_operation_of(const Source &source, Action action) noexcept
    {
        for (std::uint32_t i = 0; i != depth_; ++i) {
            if (operations_[i].source == &source)
                action(operations_[i]);
        }
    }

    /// Makes the handle of an armed queue readable: there is something to retrieve, or for progress() to do.
    void wake() noexcept;
    /// The same on any queue: does nothing unless the queue is armed.
    void wake_if_armed() noexcept
    {
        if (is_armed_)
            wake();
    }
    /// From arm() until clear() or wake(). Whatever progress() and poll_one() do in that time, the handle is readable
    /// at the end of it, or becomes so with the next event.
    [[nodiscard]] bool is_armed() const noexcept { return is_armed_; }

    /// Keeps @p count credits back, or gives them back. False when there are not as many.
    [[nodiscard]] bool reserve(std::uint32_t count) noexcept
    {
        if (count > (capacity_ - (tail_ - head_)) / step)
            return false;
        capacity_ -= count * step;
        return true;
    }
    void give_back(std::uint32_t count) noexcept { capacity_ += count * step; }

    // Retrieving: what a front end calls.

    [[nodiscard]] bool is_empty() const noexcept { return head_ == tail_; }
    /// The oldest completion; there is one. It stays until drop() or pop().
    [[nodiscard]] const Completion &first() const noexcept { return at(head_); }
    /// Removes the first completion, which has no operation.
    void drop() noexcept { drop_at(head_); }
    /// The same, and the first one's position is known; so it need not be loaded again.
    [[nodiscard]] std::uint32_t position() const noexcept { return head_; }
    [[nodiscard]] const Completion &first_at(std::uint32_t position) const noexcept { return at(position); }
    void drop_at(std::uint32_t position) noexcept
    {
        const std::uint32_t head = position + step;
        store(head_, head);
        // Whoever submits one operation that ends at once for each that he retrieves never lets the ring run
        // empty. The others get their turn all the same.
        if (head % (poll_interval * step) == 0) [[unlikely]]
            progress();
    }
    /// The same, but false and no change where drop() would poll.
    [[nodiscard]] bool try_drop() noexcept
    {
        if (is_poll_due()) [[unlikely]]
            return false;
        store(head_, head_ + step);
        return true;
    }
    /// Whether it would: once in poll_interval completions.
    [[nodiscard]] bool is_poll_due() const noexcept { return (head_ + step) % (poll_interval * step) == 0; }
    /// Removes the first completion. False when there is none.
    [[nodiscard]] bool pop(Ended &ended) noexcept;
    /// For a queue whose ring is empty: polls. Returns an operation that has succeeded and that the caller
    /// releases after he has read it; null when there is none, and then there can be completions.
    [[nodiscard]] Operation *poll() noexcept
    {
        if (only_polled_ != nullptr)
            return only_polled_->poll_one();
        progress();
        return nullptr;
    }

    /// The front end has somebody who retrieves while @p pollable alone is polled and nothing waits, and who so spares
    /// the virtual call of poll_one(): retriever(). Before or after poll_also(), and until poll_no_more().
    void retrieve_by(Pollable &pollable, void *retriever) noexcept;
    [[nodiscard]] void *retriever() const noexcept { return retriever_; }

    /// Operations of @p source that were submitted and not retrieved. Any thread may ask; the answer is exact
    /// while the queue's own is at rest.
    [[nodiscard]] std::uint32_t in_flight(const Source &source) const noexcept;

    // What is polled.

    /// Makes room for one more, which poll_also() then may add without allocating, as often as it likes.
    void reserve_polled();
    void unreserve_polled() noexcept { --num_reserved_; }
    /// From now on @p pollable is polled. Nothing if it is already.
    void poll_also(Pollable &pollable) noexcept;
    void poll_no_more(Pollable &pollable) noexcept;
    /// The first polled one of type @p T that @p is_meant accepts, or null: for what shares one pollable among many.
    template <typename T, typename IsMeant>
    [[nodiscard]] T *find_polled(IsMeant is_meant) const noexcept
    {
        for (Pollable *pollable : polled_) {
            if (auto *const found = dynamic_cast<T *>(pollable); found != nullptr && is_meant(*found))
                return found;
        }
        return nullptr;
    }

    // Sleeping.

    [[nodiscard]] bool is_event_driven() const noexcept { return is_event_driven_; }
    [[nodiscard]] doca_error_t set_event_driven(bool enable);
    /// Event-driven from its creation on, by a handle that queues of the same thread share.
    void share_events(std::shared_ptr<EventHandle> events) noexcept
    {
        events_ = std::move(events);
        is_event_driven_ = true;
    }
    /// Constant from the first set_event_driven(true) on.
    [[nodiscard]] int event_handle() const noexcept { return events_ != nullptr ? events_->fd() : -1; }
    void arm() noexcept;
    [[nodiscard]] doca_error_t clear() noexcept;
    /// Adds a descriptor to the event handle, or takes it away. Only in event-driven mode.
    [[nodiscard]] doca_error_t watch(int fd) noexcept { return events_->watch(fd); }
    void unwatch(int fd) noexcept { events_->unwatch(fd); }
    /// As EventHandle says. Only in event-driven mode.
    [[nodiscard]] doca_error_t open_timer() noexcept { return events_->open_timer(); }
    [[nodiscard]] bool wake_within_a_second() noexcept { return events_->wake_within_a_second(); }

private:
    static constexpr std::uint32_t step = sizeof(Completion);
    static constexpr std::uint32_t poll_interval = 64; ///< completions between two polls of a busy queue

    // Words that in_flight() reads from other threads; the own one alone writes them.
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
    /// As one piece, since who retrieves copies it as one: a load that needs two stores at once has to wait for them.
    [[gnu::always_inline]] static void store_tag(Tag &at, Tag tag) noexcept
    {
#ifdef __SSE2__
        using Words = std::uint64_t __attribute__((vector_size(sizeof(Tag)))); // else it would be two stores
        const Words words = {tag.a, tag.b};
        std::memcpy(&at, &words, sizeof(words));
#else
        at = tag;
#endif
    }
    [[gnu::always_inline]] static void store_tag(Tag &at, WordTag tag) noexcept { at.a = tag.a; }
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
        capacity_ += step; // from now on it takes its credit by being in the ring
        Completion &completion = append();
        store(completion.operation, &operation);
        store(completion.status, Completion::with_operation | flags);
        if (is_armed_) [[unlikely]]
            wake();
    }
    [[gnu::noinline]] void progress() noexcept;
    void remember_only_polled() noexcept;

    // What submitting and retrieving use, in one cache line. Positions in the ring, and numbers of completions, are
    // in bytes, that is in steps of one completion.
    alignas(64) std::uint32_t head_ = 0; ///< counts on and wraps around, as tail_
    std::uint32_t tail_ = 0;
    std::uint32_t mask_;
    /// How many completions the ring may hold: the depth, less what is in flight and what is reserved. So submitting
    /// asks by one comparison, and an operation that ends in its submit takes its credit by being there, and gives it
    /// back by being gone.
    std::uint32_t capacity_;
    Completion *ring_;
    Operation *free_; ///< a stack: the one used last is the warmest
    Pollable *only_polled_ = nullptr; ///< the element of polled_ where there is one
    void *retriever_ = nullptr;       ///< and its retriever, if it has one
    bool is_armed_ = false;
    bool is_event_driven_ = false;
    std::uint32_t num_reserved_ = 0; ///< places in polled_
    std::vector<Pollable *> polled_;
    std::uint32_t depth_;
    std::unique_ptr<Completion[]> ring_memory_;
    std::unique_ptr<Operation[]> operations_;
    std::shared_ptr<EventHandle> events_; ///< null until the queue is event-driven
};

} // namespace opendoca
