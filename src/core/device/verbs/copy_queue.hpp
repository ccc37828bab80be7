// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
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

/// The copies of one work queue, carried out by a queue pair of the device that belongs to a @p Poster. Used by the
/// thread of its completion queue. The Poster is a template parameter, so that posting a common copy needs no virtual
/// call. It provides
///     Poster(const VerbsDevice &, const CompletionQueue &), connection(), completions(), limits()
///     connect(): creates the queue pair and connects it
///     reset_and_reconnect(): makes a broken queue pair usable again; drops everything that was posted
///     has_credit(), take_credit(), take_all_credits(): each part of a copy takes one credit, which returns some time
///         after the part has completed. While a copy waits to be posted, there are no credits
///     post_fast(id, dst, src, failed): posts a copy for which a credit was taken
///     add(batch, id), post(batch): return errno's value, or 0
///     completes_part(id): returns whether a successful completion means that a part has completed
///     handle_completion(id): called for each successful completion that was taken
///     complete_fast(has_waiting): the same for a fast-path copy; returns false if waiting copies must be posted first
///     side_name(id): for log messages about a failed work request
///     parts_are_solicited: whether the completion of a part is a solicited one
///
/// A fast-path copy (one buffer on each side, one part, no copy that waits) is posted at submission and returned by
/// poll_fast(). It is recorded only in its Operation. All other copies are queued: they are in a ring in the order of
/// their submission.
///
/// The place of a copy in its destination is fixed at submission: copies in flight that append to the same buffer write
/// to the same place, and the last one to complete determines the data length. For a list, the place is fixed when the
/// copy is posted, which is at submission unless the queues are full.
template <typename Poster>
class OPENDOCA_INTERNAL CopyQueue final : public CopyEngine, public Pollable {
public:
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, CompletionQueue &completions,
                                             std::unique_ptr<CopyEngine> &engine);
    ~CopyQueue() override;

    [[nodiscard]] doca_error_t copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept override;

    /// Returns whether the copy can take the fast path, and takes the credits that it needs.
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
    /// Polls for one completion. If a fast-path copy has succeeded, @p deliver is called with its Operation and
    /// releases it. Otherwise returns the result of @p otherwise, which handles completions in the completion queue.
    template <typename Deliver, typename Otherwise>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t poll_fast(Deliver deliver, Otherwise otherwise) noexcept
    {
        if (num_in_flight_ == 0)
            return otherwise();
        if (!VerbsCompletions::begin_poll(*cq_))
            return handle_empty_poll(), otherwise();
        const std::uint64_t id = cq_->wr_id;
        if (cq_->status == IBV_WC_SUCCESS && (id & id_flags) == 0 && poster_.complete_fast(next_ != last_)) [[likely]] {
            // end_poll() comes last, so that no value has to be kept across its call.
            Operation &operation = *reinterpret_cast<Operation *>(id);
            const Copy &copy = operation.payload<Copy>();
            --num_in_flight_;
            copy.dst->end_data_at(copy.data_len);
            deliver(operation);
            VerbsCompletions::end_poll(*cq_);
            return DOCA_SUCCESS;
        }
        Operation *const next = poll_after_started();
        if (next == nullptr)
            return otherwise();
        deliver(*next);
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
        check_for_failure(); // the wake-up may have been for a failure
    }
    void flush() noexcept override;

private:
    // Values of Operation::kind.
    static constexpr std::uint32_t kind_fast = 0; // 0, so that it is stored together with Operation::in_flight
    static constexpr std::uint32_t kind_queued = 1;

    /// The payload of a copy's Operation.
    struct Copy {
        doca_buf *dst;
        const doca_buf *src;
        union {
            std::size_t data_len; ///< of a fast-path copy: dst's data length once it has completed
            doca_buf *last;       ///< of a queued copy: the last buffer that it writes, known once it is posted
        };
        std::uint32_t length;
        bool is_list;
        bool overwrites;
    };

    /// An entry of the ring: a queued copy that has not completed. Entries before next_ are posted.
    struct QueuedCopy {
        Operation *operation;
        std::size_t data_len; ///< data length of Copy::last after success
        std::uint32_t end;    ///< once posted: the position after its last part
        doca_error_t result;  ///< if not DOCA_SUCCESS, the copy completes with it without being posted (again)
    };

    // The id of a work request: the Operation of a fast-path copy or, with is_queued, the position of a part of a
    // queued copy. The lowest bit is for the poster's use.
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

    /// The first failure since the last recovery.
    struct Failure {
        bool has_happened = false;
        bool has_cause = false; ///< id and status are valid
        std::uint64_t id = 0;
        ibv_wc_status status = IBV_WC_SUCCESS;
    };

    using Batch = typename Poster::Batch;

    CopyQueue(const VerbsDevice &device, CompletionQueue &completions);

    /// Returns the ring's entry of copy @p number. The ring has an entry for each Operation of the completion queue.
    [[nodiscard]] QueuedCopy &queued_at(std::uint32_t number) noexcept { return queued_[number & queued_mask_]; }
    [[nodiscard]] std::size_t longest_part() const noexcept;

    // Posting.

    /// Records that posting has failed with errno's value @p error. Takes all credits away, so that nothing more is
    /// posted until recover().
    [[gnu::cold]] void posting_failed(int error) noexcept;
    [[gnu::cold]] static doca_error_t fast_post_failed(const ibv_qp_ex &sender, int error) noexcept;
    void post_waiting() noexcept;
    void begin(QueuedCopy &queued) noexcept;
    void add_part(Batch &batch) noexcept;
    void post(Batch &batch) noexcept;
    void finish_posting(QueuedCopy &queued) noexcept;

    // Completing.
    [[gnu::noinline]] void progress_copies() noexcept;
    void handle_empty_poll() noexcept;
    [[nodiscard]] Operation *poll_after_started() noexcept;
    std::uint32_t poll() noexcept;
    void complete_started() noexcept;
    void complete_queued() noexcept;

    // Recovering.
    [[gnu::noinline]] void check_for_failure() noexcept;
    /// Counts a poll without a completion; occasionally checks whether a device failure is the reason.
    void count_empty_poll() noexcept
    {
        if (idle_polls_.is_spent()) [[unlikely]]
            check_for_failure();
    }
    [[gnu::cold]] void record_failure(std::uint64_t id, ibv_wc_status status) noexcept;
    [[gnu::cold]] void recover() noexcept;
    void move_fast_copies_to_ring() noexcept;
    void fail_all(doca_error_t result) noexcept;
    [[nodiscard]] bool is_flush_overdue() noexcept;
    [[gnu::cold]] void cancel_flush() noexcept;
    void choose_failed_copy() noexcept;
    [[nodiscard]] QueuedCopy *queued_of(std::uint64_t id) noexcept;

    // Members that submitting and polling use.
    CompletionQueue &completions_;
    ibv_cq_ex *cq_ = nullptr;
    std::size_t longest_fast_ = 0;    ///< bytes; 0 during a flush, so that every submission calls copy()
    std::uint32_t num_in_flight_ = 0; ///< copies that have not completed, on the fast path or in the ring
    FailureCheckBudget idle_polls_;   ///< polls without a completion since the last check for failures
    Poster poster_;
    std::unique_ptr<QueuedCopy[]> queued_; ///< ring of copies that are not on the fast path
    std::uint32_t queued_mask_;            ///< the ring's size, a power of two, minus 1
    // Numbers of queued copies (first_, next_, last_) and positions of their parts (posted_, received_); both wrap
    // around.
    std::uint32_t first_ = 0;    ///< the oldest copy that has not completed
    std::uint32_t next_ = 0;     ///< the oldest copy that is not completely posted
    std::uint32_t last_ = 0;     ///< the number of the next copy to be queued; first_ <= next_ <= last_
    std::uint32_t posted_ = 0;   ///< parts that were posted
    std::uint32_t received_ = 0; ///< parts that have completed; at most posted_
    CompletionEvents events_{poster_.completions()}; // wakes an event-driven completion queue
    const VerbsDevice &device_;
    // State of copy next_ while its parts are being posted.
    bool has_begun_ = false; ///< begin() was called for copy next_
    std::size_t left_ = 0;   ///< bytes of copy next_ that no posted part carries
    Cursor src_cursor_;
    Cursor dst_cursor_;

    bool is_flushing_ = false; ///< the program waits for all copies to complete and submits no more
    FlushTimer flush_timer_;
    Failure failure_;                             ///< once set, nothing is posted until recover()
    std::uint32_t recovered_at_ = ~0u;            ///< first_ at the last recovery
    doca_error_t permanent_error_ = DOCA_SUCCESS; ///< if recovery has failed: the result of all copies from then on
};

} // namespace opendoca::verbs
