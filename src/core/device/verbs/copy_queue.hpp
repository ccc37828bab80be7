// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include "../../engine/completion_queue.hpp"
#include "../copy_engine.hpp"
#include "../cursor.hpp"
#include "completion_events.hpp"
#include "copy_part.hpp"
#include "device.hpp"
#include "flush_timer.hpp"
#include "reliable_connection.hpp"

namespace opendoca::verbs {

/// The copies of one work queue, which a @p Poster has the device carry out. It is a part of its own type, so that what
/// is posted for the common copy costs no call, and has
///     Poster(const VerbsDevice &, const CompletionQueue &), connect(), recycle(), connection(), completions(),
///     limits()
///     has_credit(), take_credit(), take_all_credits(): each part of a copy takes one, and gives it back some time after
///         its end. There are none while a job waits to be posted
///     post_fast(id, dst, src, failed), which has a credit; add(batch, id), post(batch): an errno, or 0
///     is_end(id): of a good completion, whether it is that of a part
///     took_end(id): such a completion was taken
///     ended_fast(some_wait): the same of a fast-path copy's part; false when waiting jobs are to be posted now
///     side_of(id): of a failed one, for messages
///     ends_are_solicited: whether a part's end wakes who waits for solicited completions
///
/// A fast-path copy (one buffer on each side, one part, nothing that waits) is posted by submit and given out
/// by retrieve; nothing but its Operation knows of it. Queued ones are on a ring, in the order of their
/// submission.
///
/// A job's place in the destination is that of its submission: jobs in flight at the same time that append to
/// one buffer get the same place, and the last one to end says how much data there is. A list's place is that
/// of the moment when the job is posted, which is its submission unless the queues are full.
template <typename Poster>
class OPENDOCA_INTERNAL CopyQueue final : public CopyEngine, public Pollable {
public:
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, CompletionQueue &completions,
                                             std::unique_ptr<CopyEngine> &engine);
    ~CopyQueue() override;

    [[nodiscard]] doca_error_t copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept override;

    /// Takes what the copy needs.
    [[gnu::always_inline]] [[nodiscard]] bool admit(const CopyCheck &check, const doca_buf &dst,
                                                    const doca_buf &src) noexcept
    {
        return check.has_fast_path(dst, src, longest_fast_) && !completions_.is_full() && poster_.take_credit();
    }
    [[gnu::always_inline]] [[nodiscard]] bool admit_with_credit(const CopyCheck &check, const doca_buf &dst,
                                                                const doca_buf &src) noexcept
    {
        return check.has_fast_path(dst, src, longest_fast_) && poster_.take_credit();
    }
    [[gnu::always_inline]] [[nodiscard]] doca_error_t copy_fast(Tag tag, doca_buf &dst, const doca_buf &src) noexcept
    {
        const auto length = static_cast<std::uint32_t>(src.data_len);
        Operation &operation = completions_.begin(tag, *this);
        Copy &copy = operation.payload<Copy>();
        copy.dst = &dst;
        copy.src = &src;
        copy.data_len = dst.data_len + length;
        copy.length = length;
        operation.kind = kind_fast;
        ++num_in_flight_;
        return poster_.post_fast(id_of(operation), dst, src, fast_post_failed);
    }
    /// Looks for the completion of a fast-path copy. Where one has succeeded, @p give is called with its operation, and
    /// releases it; else gives what @p otherwise makes of what has ended.
    template <typename Give, typename Otherwise>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t poll_fast(Give give, Otherwise otherwise) noexcept
    {
        if (num_in_flight_ == 0)
            return otherwise();
        if (!VerbsCompletions::start_one(*polled_))
            return polled_nothing(), otherwise();
        const std::uint64_t id = polled_->wr_id;
        if (polled_->status == IBV_WC_SUCCESS && (id & id_flags) == 0 && poster_.ended_fast(next_ != last_))
            [[likely]] {
            // The completion is ended last, by what need not return: nothing has to be kept over a call.
            Operation &operation = *reinterpret_cast<Operation *>(id);
            const Copy &copy = operation.payload<Copy>();
            --num_in_flight_;
            copy.dst->end_data_at(copy.data_len);
            give(operation);
            VerbsCompletions::end_one(*polled_);
            return DOCA_SUCCESS;
        }
        Operation *const next = poll_after_started();
        if (next == nullptr)
            return otherwise();
        give(*next);
        return DOCA_SUCCESS;
    }

    void progress() noexcept override
    {
        if (num_in_flight_ != 0)
            progress_copies();
    }
    [[nodiscard]] Operation *poll_one() noexcept override;
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override
    {
        events_.disarm();
        look_for_failure(); // it may be what the program was woken for
    }
    void flush() noexcept override;

private:
    // Operation::kind.
    static constexpr std::uint32_t kind_fast = 0; // so that it is stored in one piece with Operation::in_flight
    static constexpr std::uint32_t kind_queued = 1;

    /// What the operation holds.
    struct Copy {
        doca_buf *dst;
        const doca_buf *src;
        union {
            std::size_t data_len; ///< of dst when a fast-path copy has ended
            doca_buf *last;       ///< the last buffer that a queued copy writes; known once it is posted
        };
        std::uint32_t length;
        bool is_list;
        bool overwrites;
    };

    /// A queued copy that has not ended. Those at the front are posted.
    struct QueuedCopy {
        Operation *operation;
        std::size_t data_len; ///< of Copy::last when the job has succeeded
        std::uint32_t end;    ///< once posted: the position behind its last part
        doca_error_t result;  ///< when it is not to be posted (again)
    };

    // The id of a work request: the operation of a fast-path copy, or with is_queued the position of a queued one's
    // part. The lowest bit is the poster's.
    static constexpr std::uint64_t of_poster = 1;
    static constexpr std::uint64_t is_queued = 2;
    static constexpr unsigned flag_bits = 6;
    static_assert(1u << flag_bits == alignof(Operation));
    static constexpr std::uint64_t id_flags = (1u << flag_bits) - 1;

    [[nodiscard]] static std::uint64_t id_of(const Operation &operation) noexcept
    {
        return reinterpret_cast<std::uintptr_t>(&operation);
    }
    [[nodiscard]] static std::uint64_t id_of(std::uint32_t position) noexcept
    {
        return std::uint64_t{position} << flag_bits | is_queued;
    }

    /// Why the queue pair has to be recovered, and which work request it was.
    struct Failure {
        bool has_happened = false;
        bool has_cause = false; ///< the rest is valid
        std::uint64_t id = 0;
        ibv_wc_status status = IBV_WC_SUCCESS;
    };

    using Batch = typename Poster::Batch;

    CopyQueue(const VerbsDevice &device, CompletionQueue &completions);

    [[nodiscard]] QueuedCopy &queued_at(std::uint32_t number) noexcept { return queued_[number & queued_mask_]; }
    [[nodiscard]] std::uint32_t key_of(const doca_buf &buf) const noexcept;
    [[nodiscard]] std::size_t longest_part() const noexcept;

    // Posting.

    [[gnu::cold]] void posting_failed(int error) noexcept;
    [[gnu::cold]] static doca_error_t fast_post_failed(const ibv_qp_ex &sender, int error) noexcept;
    void post_waiting() noexcept;
    void begin(QueuedCopy &queued) noexcept;
    void add_part(Batch &batch) noexcept;
    void post(Batch &batch) noexcept;
    void finish_posting(QueuedCopy &queued) noexcept;

    // Completing.
    [[gnu::noinline]] void progress_copies() noexcept;
    void polled_nothing() noexcept;
    [[nodiscard]] Operation *poll_after_started() noexcept;
    std::uint32_t poll() noexcept;
    void end_started() noexcept;
    void end_queued() noexcept;

    // Recovering.
    [[gnu::noinline]] void look_for_failure() noexcept;
    /// Nothing has completed: now and then the reason is a failure of the device.
    void count_empty_poll() noexcept
    {
        if (idle_polls_.is_spent()) [[unlikely]]
            look_for_failure();
    }
    [[gnu::cold]] void note_failure(std::uint64_t id, ibv_wc_status status) noexcept;
    [[gnu::cold]] void recover() noexcept;
    void queue_all() noexcept;
    void end_all(doca_error_t result) noexcept;
    [[nodiscard]] bool is_flush_overdue() noexcept;
    [[gnu::cold]] void cancel_flush() noexcept;
    void blame_copy() noexcept;
    [[nodiscard]] QueuedCopy *queued_of(std::uint64_t id) noexcept;

    // What submit and retrieve use.
    CompletionQueue &completions_;
    ibv_cq_ex *polled_ = nullptr;
    std::size_t longest_fast_ = 0; ///< bytes; 0 during a flush, so that each copy() is seen
    std::uint32_t num_in_flight_ = 0;
    FailureCheckBudget idle_polls_;
    Poster poster_;
    std::unique_ptr<QueuedCopy[]> queued_; ///< a ring
    std::uint32_t queued_mask_;
    // Numbers of queued jobs, and positions of their parts; both wrap around.
    std::uint32_t first_ = 0; ///< the oldest job that has not ended
    std::uint32_t next_ = 0;  ///< the oldest one that is not, or not fully, posted
    std::uint32_t last_ = 0;
    std::uint32_t posted_ = 0;
    std::uint32_t received_ = 0;
    CompletionEvents events_{poster_.completions()};
    const VerbsDevice &device_;
    // Of job next_, while it is posted part by part.
    bool has_begun_ = false;
    std::size_t left_ = 0; ///< bytes
    Cursor src_cursor_;
    Cursor dst_cursor_;

    bool is_flushing_ = false; ///< the program waits for the end of all copies, and submits no more
    FlushTimer flush_timer_;
    Failure failure_;
    std::uint32_t recovered_at_ = ~0u;   ///< first_ at the last recovery
    doca_error_t broken_ = DOCA_SUCCESS; ///< recovery has failed: the result of all jobs from now on
};

} // namespace opendoca::verbs
