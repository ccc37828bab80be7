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
#include "reliable_connection.hpp"

namespace opendoca::verbs {

/// The copies of one work queue, as messages of a queue pair to itself. What is sent is gathered from the
/// source, and the receive posted before it scatters it into the destination: so that both sides may be
/// lists, and memory needs no rights for remote access.
///
/// A plain copy (one buffer on each side, one message, nothing that waits) is posted by submit and given out
/// by retrieve; nothing but its Operation knows of it. Special ones are on a ring, in the order of their
/// submission.
///
/// A job's place in the destination is that of its submission: jobs in flight at the same time that append to
/// one buffer get the same place, and the last one to end says how much data there is. A list's place is that
/// of the moment when the job is posted, which is its submission unless the queues are full.
class OPENDOCA_INTERNAL VerbsCopyEngine final : public CopyEngine, public Pollable {
public:
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, CompletionQueue &completions,
                                             std::unique_ptr<CopyEngine> &engine);
    ~VerbsCopyEngine() override;

    [[nodiscard]] doca_error_t copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept override;

    /// Takes what the copy needs.
    [[gnu::always_inline]] [[nodiscard]] bool admit(const CopyCheck &check, const doca_buf &dst,
                                                    const doca_buf &src) noexcept
    {
        return check.is_plain(dst, src, longest_plain_) && !completions_.is_full() && take_send_credit();
    }
    [[gnu::always_inline]] [[nodiscard]] doca_error_t copy_plain(Tag tag, doca_buf &dst,
                                                                 const doca_buf &src) noexcept
    {
        if (src.data_len <= longest_inline_) // rdma_rxe wants the flag when the request is started
            return post_plain(tag, dst, src, IBV_SEND_INLINE, [](ibv_qp_ex *sender, const doca_buf &from) {
                ibv_wr_set_inline_data(sender, from.data, from.data_len);
            });
        return post_plain(tag, dst, src, 0, [](ibv_qp_ex *sender, const doca_buf &from) {
            ibv_wr_set_sge(sender, verbs_key(from.mmap->first().number), reinterpret_cast<std::uintptr_t>(from.data),
                           static_cast<std::uint32_t>(from.data_len));
        });
    }
    /// Looks for the end of a plain copy. Where one has ended well, @p give is called with its operation, and releases
    /// it; else gives what @p otherwise makes of what has ended.
    template <typename Give, typename Otherwise>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t poll_plain(Give give, Otherwise otherwise) noexcept
    {
        if (num_in_flight_ == 0)
            return otherwise();
        if (!ReliableConnection::start_completion(*polled_))
            return polled_nothing(), otherwise();
        const std::uint64_t id = polled_->wr_id;
        if (polled_->status == IBV_WC_SUCCESS && (id & id_flags) == 0) [[likely]] {
            // The completion is ended last, by what need not return: nothing has to be kept over a call.
            Operation &operation = *reinterpret_cast<Operation *>(id);
            const Copy &copy = operation.payload<Copy>();
            --num_in_flight_;
            copy.dst->end_data_at(copy.data_len);
            give(operation);
            ReliableConnection::end_completion(*polled_);
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
        look_for_trouble(); // it may be what the program was woken for
    }
    void flush() noexcept override { look_for_trouble(); }

private:
    // Operation::kind.
    static constexpr std::uint32_t kind_plain = 0; // so that it is stored in one piece with Operation::in_flight
    static constexpr std::uint32_t kind_special = 1;

    /// What the operation holds.
    struct Copy {
        doca_buf *dst;
        const doca_buf *src;
        union {
            std::size_t data_len; ///< of dst when a plain copy has ended
            doca_buf *last;       ///< the last buffer that a special copy writes; known once it is posted
        };
        std::uint32_t length;
        bool is_list;
        bool overwrites;
    };

    /// A special copy that has not ended. Those at the front are posted.
    struct Special {
        Operation *operation;
        std::size_t data_len; ///< of Copy::last when the job has succeeded
        std::uint32_t end;    ///< once posted: the position behind its last part
        doca_error_t result;  ///< when it is not to be posted (again)
    };

    // The id of a work request: the operation of a plain copy, or with is_special the position of a special one's
    // message; with is_send the message, and without it the receive that is posted for it.
    static constexpr std::uint64_t is_send = 1;
    static constexpr std::uint64_t is_special = 2;
    static constexpr unsigned flag_bits = 6;
    static_assert(1u << flag_bits == alignof(Operation));
    static constexpr std::uint64_t id_flags = (1u << flag_bits) - 1;

    [[nodiscard]] static std::uint64_t id_of(const Operation &operation) noexcept
    {
        return reinterpret_cast<std::uintptr_t>(&operation);
    }
    [[nodiscard]] static std::uint64_t id_of(std::uint32_t position) noexcept
    {
        return std::uint64_t{position} << flag_bits | is_special;
    }

    /// Why the queue pair has to be recovered, and which work request it was.
    struct Failure {
        bool has_happened = false;
        bool has_cause = false; ///< the rest is valid
        std::uint64_t id = 0;
        ibv_wc_status status = IBV_WC_SUCCESS;
    };

    struct Batch;

    VerbsCopyEngine(const VerbsDevice &device, CompletionQueue &completions);
    [[nodiscard]] doca_error_t connect();

    [[nodiscard]] Special &special_at(std::uint32_t number) noexcept { return specials_[number & special_mask_]; }
    [[nodiscard]] std::uint32_t key_of(const doca_buf &buf) const noexcept;

    // Posting.

    /// What it needs it reads again where that is as good: what is kept over the calls takes a register.
    template <typename SetData>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t post_plain(Tag tag, doca_buf &dst, const doca_buf &src,
                                                                 unsigned flags, SetData set_data) noexcept
    {
        const auto length = static_cast<std::uint32_t>(src.data_len);
        ibv_qp_ex *const sender = sender_;
        Operation &operation = completions_.begin(tag, *this);
        Copy &copy = operation.payload<Copy>();
        copy.dst = &dst;
        copy.src = &src;
        copy.data_len = dst.data_len + length;
        copy.length = length;
        operation.kind = kind_plain;
        ++num_in_flight_;
        ibv_sge to = {reinterpret_cast<std::uintptr_t>(dst.data) + dst.data_len, length,
                      verbs_key(dst.mmap->first().number)};
        sender->wr_id = id_of(operation) | is_send;
        sender->wr_flags = flags | signal_flags();
        if (const int error = post_receive(id_of(operation), &to, 1); error != 0) [[unlikely]]
            return plain_failed(*sender, error, "receive"); // progress() sees to it
        ibv_wr_start(sender);
        ibv_wr_send(sender);
        set_data(sender, src);
        if (const int error = ibv_wr_complete(sender); error != 0) [[unlikely]]
            return plain_failed(*sender, error, "send");
        return DOCA_SUCCESS;
    }
    /// Gives errno's value.
    [[gnu::always_inline]] [[nodiscard]] int post_receive(std::uint64_t id, ibv_sge *segments,
                                                          std::uint32_t count) noexcept
    {
        ibv_recv_wr request;
        request.wr_id = id;
        request.next = nullptr;
        request.sg_list = segments;
        request.num_sge = static_cast<int>(count);
        ibv_recv_wr *bad;
        return ibv_post_recv(queue_pair_, &request, &bad);
    }
    [[gnu::always_inline]] [[nodiscard]] bool take_send_credit() noexcept
    {
        if (--send_credits_ >= 0) [[likely]]
            return true;
        send_credits_ = 0;
        return false;
    }
    /// Of the message that is posted now.
    [[gnu::always_inline]] [[nodiscard]] unsigned signal_flags() noexcept
    {
        if (--until_signal_ != 0) [[likely]]
            return send_flags_;
        until_signal_ = signal_period_;
        return send_flags_ | IBV_SEND_SIGNALED;
    }
    [[gnu::cold]] void posting_failed(int error, const char *what) noexcept;
    [[gnu::cold]] static doca_error_t plain_failed(const ibv_qp_ex &sender, int error, const char *what) noexcept;
    void post_waiting() noexcept;
    void begin(Special &special) noexcept;
    void add_part(Batch &batch) noexcept;
    void post(Batch &batch) noexcept;
    void finish_posting(Special &special) noexcept;

    // Completing.
    [[gnu::noinline]] void progress_copies() noexcept;
    void polled_nothing() noexcept;
    [[nodiscard]] Operation *poll_after_started() noexcept;
    std::uint32_t poll() noexcept;
    void end_started() noexcept;
    void end_specials() noexcept;

    // Recovering.
    [[gnu::noinline]] void look_for_trouble() noexcept;
    /// Nothing has completed: now and then the reason is trouble.
    void count_empty_poll() noexcept
    {
        if (--polls_until_look_ == 0) [[unlikely]]
            look_for_trouble();
    }
    [[gnu::cold]] void note_failure(std::uint64_t id, ibv_wc_status status) noexcept;
    [[gnu::cold]] void recover() noexcept;
    void make_special() noexcept;
    void blame_copy() noexcept;
    [[nodiscard]] Special *special_of(std::uint64_t id) noexcept;

    // What submit and retrieve use.
    CompletionQueue &completions_;
    ibv_qp_ex *sender_ = nullptr;
    ibv_cq_ex *polled_ = nullptr;
    ibv_qp *queue_pair_ = nullptr;
    std::size_t longest_plain_ = 0; ///< bytes
    std::size_t longest_inline_ = 0;
    std::uint32_t num_in_flight_ = 0;
    /// For messages; those for receives are as many, and free by then. None while a job waits to be posted.
    std::int32_t send_credits_ = 0;
    std::uint32_t until_signal_ = 0; ///< messages: the last of them is signaled, which gives room for as many
    std::uint32_t signal_period_ = 1;
    std::uint32_t polls_until_look_ = polls_between_looks;
    const unsigned send_flags_;
    CopyPartLimits limits_;
    std::unique_ptr<Special[]> specials_; ///< a ring
    std::uint32_t special_mask_;
    // Numbers of special jobs, and positions of their messages; both wrap around.
    std::uint32_t first_ = 0; ///< the oldest job that has not ended
    std::uint32_t next_ = 0;  ///< the oldest one that is not, or not fully, posted
    std::uint32_t last_ = 0;
    std::uint32_t posted_ = 0;
    std::uint32_t received_ = 0;
    ReliableConnection connection_;
    CompletionEvents events_{connection_};

    const VerbsDevice &device_;
    std::uint32_t num_messages_ = 0; ///< send_credits_ while nothing is posted
    // Of job next_, while it is posted part by part.
    bool has_begun_ = false;
    std::size_t left_ = 0; ///< bytes
    Cursor src_cursor_;
    Cursor dst_cursor_;

    Failure failure_;
    std::uint32_t recovered_at_ = ~0u;   ///< first_ at the last recovery
    doca_error_t broken_ = DOCA_SUCCESS; ///< recovery has failed: the result of all jobs from now on
};

} // namespace opendoca::verbs
