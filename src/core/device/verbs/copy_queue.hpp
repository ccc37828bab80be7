// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include "../copy_queue.hpp"
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
/// by retrieve; nothing but its slot knows of it. Special ones are on a ring, in the order of their
/// submission.
///
/// A job's place in the destination is that of its submission: jobs in flight at the same time that append to
/// one buffer get the same place, and the last one to end says how much data there is. A list's place is that
/// of the moment when the job is posted, which is its submission unless the queues are full.
class VerbsCopyQueue final : public CopyQueue {
public:
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, doca_workq &workq,
                                             const doca_dev &dev, std::shared_ptr<JobQueue> &queue);

    [[nodiscard]] doca_error_t submit(const doca_job &base) noexcept override;
    [[nodiscard]] doca_error_t submit_inner(const doca_job &base) noexcept override
    {
        return CopyQueue::submit(base);
    }
    [[nodiscard]] doca_error_t retrieve(doca_event &event, doca_workq &workq) noexcept override;
    void progress() noexcept override
    {
        if (num_in_flight_ != 0)
            progress_jobs();
    }
    [[nodiscard]] bool needs_progress() const noexcept override { return true; }
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override { events_.disarm(); }

private:
    enum class Stage : std::uint8_t {
        ended,
        plain, ///< in flight
        special,
    };

    /// What the job's slot holds.
    struct Copy {
        doca_buf *dst;
        const doca_buf *src;
        union {
            std::size_t data_len; ///< of dst when a plain job has ended
            doca_buf *last;       ///< the last buffer that a special job writes; known once it is posted
        };
        std::uint32_t length;
        Stage stage;
        bool is_list;
        bool overwrites;
    };

    /// A special job that has not ended. Those at the front are posted.
    struct Job {
        JobSlot *slot;
        std::size_t data_len; ///< of Copy::last when the job has succeeded
        std::uint32_t end;    ///< once posted: the position behind its last part
        doca_error_t result;  ///< when it is not to be posted (again)
    };

    // The id of a work request: the slot of a plain job, or with is_special the position of a special one's
    // message; with is_send the message, and without it the receive that is posted for it.
    static constexpr std::uint64_t is_send = 1;
    static constexpr std::uint64_t is_special = 2;
    static constexpr unsigned flag_bits = 6;
    static_assert(1u << flag_bits == alignof(JobSlot));
    static constexpr std::uint64_t id_flags = (1u << flag_bits) - 1;

    [[nodiscard]] static std::uint64_t id_of(const JobSlot &slot) noexcept
    {
        return reinterpret_cast<std::uintptr_t>(&slot);
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

    VerbsCopyQueue(const VerbsDevice &device, doca_workq &workq, const doca_dev &dev);
    [[nodiscard]] doca_error_t connect();

    [[nodiscard]] doca_error_t copy(const doca_dma_job_memcpy &job, CopyPlan plan, MemoryKey &dst,
                                    MemoryKey &src) noexcept override;

    [[nodiscard]] Job &job_at(std::uint32_t number) noexcept { return jobs_[number & job_mask_]; }
    [[nodiscard]] std::uint32_t key_of(const doca_buf &buf) const noexcept;

    // Posting.
    template <typename SetData>
    [[nodiscard]] doca_error_t post_plain(const doca_job &job, const doca_buf &src, doca_buf &dst,
                                          unsigned flags, SetData set_data) noexcept;
    [[nodiscard]] bool post_receive(std::uint64_t id, ibv_sge *segments, std::uint32_t count) noexcept;
    [[nodiscard]] unsigned signal_flags() noexcept;
    [[gnu::cold]] void posting_failed(int error, const char *what) noexcept;
    void post_waiting() noexcept;
    void begin(Job &job) noexcept;
    void add_part(Batch &batch) noexcept;
    void post(Batch &batch) noexcept;
    void finish_posting(Job &job) noexcept;

    // Completing.
    [[gnu::noinline]] void progress_jobs() noexcept;
    [[gnu::noinline]] doca_error_t retrieve_waiting(doca_event &event) noexcept;
    std::uint32_t poll() noexcept;
    void end_started() noexcept;
    void end_jobs() noexcept;

    // Recovering.
    [[gnu::cold]] void note_failure(std::uint64_t id, ibv_wc_status status) noexcept;
    [[gnu::cold]] void recover() noexcept;
    void make_special() noexcept;
    void blame_job() noexcept;
    [[nodiscard]] Job *job_of(std::uint64_t id) noexcept;

    // What submit and retrieve use.
    doca_workq &workq_;
    ibv_qp_ex *sender_ = nullptr;
    ibv_cq_ex *completions_ = nullptr;
    ibv_qp *queue_pair_ = nullptr;
    std::uint32_t longest_inline_ = 0;
    std::uint32_t num_in_flight_ = 0;
    std::uint32_t send_room_ = 0;    ///< for messages; those for receives are as many, and free by then
    std::uint32_t until_signal_ = 0; ///< messages: the last of them is signaled, which gives room for as many
    std::uint32_t signal_period_ = 1;
    const unsigned send_flags_;
    CopyPartLimits limits_;
    std::unique_ptr<Job[]> jobs_; ///< a ring
    std::uint32_t job_mask_;
    // Numbers of special jobs, and positions of their messages; both wrap around.
    std::uint32_t first_ = 0; ///< the oldest job that has not ended
    std::uint32_t next_ = 0;  ///< the oldest one that is not, or not fully, posted
    std::uint32_t last_ = 0;
    std::uint32_t posted_ = 0;
    std::uint32_t received_ = 0;
    ReliableConnection connection_;
    CompletionEvents events_{connection_};

    const VerbsDevice &device_;
    std::uint32_t num_messages_ = 0; ///< send_room_ while nothing is posted
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
