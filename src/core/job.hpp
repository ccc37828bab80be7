// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <doca_ctx.h>

#include "guard.hpp"

struct doca_buf;
struct doca_workq;

namespace opendoca {

class JobQueue;

/// What was found out about a copy when it was checked. Passed in registers.
struct CopyPlan {
    std::size_t length;
    bool is_list;    ///< more than one buffer on a side
    bool overwrites; ///< the destination has no tailroom at all and counts as empty
};

/// The payload of a job slot for a copy.
struct CopyPayload {
    doca_buf *dst;
    const doca_buf *src;
    CopyPlan plan;
};

/// A job that was submitted and has not ended, up to its retrieval. Jobs that end in submit need none.
struct alignas(64) JobSlot {
    int type;
    doca_data user_data;
    void *owner; ///< the JobQueue whose job it is; of a free slot, the next free one
    /// Writes the result into the event, or to where its result.ptr points if that is not null; null where
    /// the event takes the doca_error_t itself. Set before submit returns.
    void (*write_result)(const JobSlot &slot, doca_error_t result, doca_event &event);
    union {
        CopyPayload copy;
        std::byte other[32];
    };

    /// What a library keeps in the slot; it must fit.
    template <typename Payload>
    [[nodiscard]] Payload &payload() noexcept
    {
        static_assert(sizeof(Payload) <= sizeof(other) && std::is_trivially_copyable_v<Payload>);
        return *reinterpret_cast<Payload *>(other);
    }
    template <typename Payload>
    [[nodiscard]] const Payload &payload() const noexcept
    {
        return const_cast<JobSlot *>(this)->payload<Payload>();
    }
};

static_assert(sizeof(JobSlot) == 64, "a job in flight is one cache line");

/// A job that has ended and was not retrieved.
struct Completion {
    int type;
    doca_error_t result;
    doca_data user_data;
    JobQueue *queue; ///< null where the job has a slot
    /// Where the job has a slot: that. Else how it has ended: well, or with another result, or where the
    /// event's result is more than a doca_error_t, an odd number, whose upper 63 bits are what
    /// JobQueue::write_result() makes it of.
    std::uintptr_t origin;

    static constexpr std::uintptr_t well = 0;
    static constexpr std::uintptr_t not_well = 2;

    [[nodiscard]] bool has_slot() const noexcept { return queue == nullptr; }
    [[nodiscard]] bool has_detail() const noexcept { return (origin & 1) != 0; }
    [[nodiscard]] JobSlot &slot() const noexcept { return *reinterpret_cast<JobSlot *>(origin); }
};

static_assert(sizeof(Completion) == 32);

/// A job that is not the user's but a graph's: its end is told here, inside retrieve.
class OPENDOCA_INTERNAL InnerJob {
public:
    /// @p slot is as the library left it, but for what doca_workq::submit_inner() has taken over. Says what
    /// retrieve returns: AGAIN, or something else when @p event was filled.
    [[nodiscard]] virtual doca_error_t ended(const JobSlot &slot, doca_error_t result,
                                             doca_event &event) noexcept = 0;

    // What submit_inner() has taken from the slot.
    doca_data user_data{};
    void (*write_result)(const JobSlot &slot, doca_error_t result, doca_event &event) = nullptr;

protected:
    ~InnerJob() = default;
};

/// What has become of an inner job in submit.
struct InnerSubmit {
    enum class Stage : std::uint32_t {
        refused,
        full, ///< the context can take it when others of its jobs have ended
        pending,
        ended,
    };
    Stage stage;
    doca_error_t result; ///< why it was refused, or how it has ended
};

/// What a context does for one work queue: the base of every library's data path. Belongs to the queue's
/// thread.
class OPENDOCA_INTERNAL JobQueue {
public:
    JobQueue() = default;
    JobQueue(const JobQueue &) = delete;
    JobQueue &operator=(const JobQueue &) = delete;
    virtual ~JobQueue();

    [[nodiscard]] virtual doca_error_t submit(const doca_job &job) noexcept = 0;
    /// The same for a job whose end is not the user's.
    [[nodiscard]] virtual doca_error_t submit_inner(const doca_job &job) noexcept;
    /// Moves what has finished to doca_workq::complete(). Called only where needs_progress().
    virtual void progress() noexcept;
    [[nodiscard]] virtual bool needs_progress() const noexcept;
    /// As doca_workq_progress_retrieve() on @p workq, where no completion waits, and no other queue needs
    /// progress: what ends now may be given out without becoming a completion.
    [[nodiscard]] virtual doca_error_t retrieve(doca_event &event, doca_workq &workq) noexcept;
    /// Event-driven mode: from arm() to disarm(), an event that progress() could act on must make a
    /// descriptor readable that was given to doca_workq::watch(); disarm() makes it unreadable. True when
    /// progress() could act already. Called only where needs_progress().
    [[nodiscard]] virtual bool arm() noexcept;
    virtual void disarm() noexcept;
    /// Ends jobs that may never end by themselves, because somebody wants to remove the work queue.
    virtual void cancel() noexcept;
    /// Writes the result of a job that ended in doca_workq::complete_with() to where the event's result.ptr
    /// points.
    virtual void write_result(std::uint64_t detail, doca_error_t result, doca_event &event) const noexcept;
};

} // namespace opendoca
