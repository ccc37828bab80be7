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
/// lists, and memory needs no rights for remote access. Jobs end in the order in which they were submitted.
///
/// A job's place in the destination is that of its submission: jobs in flight at the same time that append to
/// one buffer get the same place, and the last one to end says how much data there is. A list's place is that
/// of the moment when the job is posted, which is its submission unless the queues are full.
class VerbsCopyQueue final : public CopyQueue {
public:
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, doca_workq &workq,
                                             const doca_dev &dev, std::shared_ptr<JobQueue> &queue);
    void progress() noexcept override
    {
        if (first_ != last_)
            progress_jobs();
    }
    [[nodiscard]] bool needs_progress() const noexcept override { return true; }
    [[nodiscard]] bool arm() noexcept override;
    void disarm() noexcept override { events_.disarm(); }

private:
    /// What the job's slot holds.
    struct Copy {
        doca_buf *dst;
        const doca_buf *src;
        doca_buf *last; ///< the last buffer of the destination that is written; known once the job is posted
        std::uint32_t length;
        bool is_list;
        bool overwrites;
    };

    /// A job that has not ended. Those at the front are posted.
    struct Job {
        JobSlot *slot;
        std::size_t data_len; ///< of Copy::last when the job has succeeded
        std::uint32_t end;    ///< once posted: the position behind its last part
        doca_error_t result;  ///< when it is not to be posted (again)
    };

    /// Why the queue pair has to be recovered, and which message it was.
    struct Failure {
        bool has_happened = false;
        bool has_cause = false; ///< the rest is valid
        bool is_receive = false;
        std::uint32_t position = 0;
        ibv_wc_status status = IBV_WC_SUCCESS;
    };

    struct Batch;

    VerbsCopyQueue(const VerbsDevice &device, doca_workq &workq, const doca_dev &dev);
    [[nodiscard]] doca_error_t connect();

    [[nodiscard]] doca_error_t copy(const doca_dma_job_memcpy &job, CopyPlan plan, MemoryKey &dst,
                                    MemoryKey &src) noexcept override;

    [[nodiscard]] Job &job_at(std::uint32_t number) noexcept { return jobs_[number & job_mask_]; }
    [[nodiscard]] bool has_room() const noexcept
    {
        return posted_ - received_ != num_receives_ && posted_ - reclaimed_ != num_sends_;
    }
    [[nodiscard]] std::uint32_t key_of(const doca_buf &buf) const noexcept;

    // Posting.
    [[nodiscard]] bool post_receive(ibv_sge *segments, std::uint32_t count) noexcept;
    [[nodiscard]] unsigned send_flags(bool is_inline) const noexcept;
    [[gnu::cold]] void posting_failed(int error, const char *what) noexcept;
    [[gnu::noinline]] void post_unusual() noexcept;
    void post_waiting() noexcept;
    void begin(Job &job) noexcept;
    void add_part(Batch &batch) noexcept;
    void post(Batch &batch) noexcept;
    void finish_posting(Job &job) noexcept;

    // Completing.
    [[gnu::noinline]] void progress_jobs() noexcept;
    std::uint32_t poll() noexcept;
    void end_jobs() noexcept;

    // Recovering.
    [[gnu::cold]] void note_failure(std::uint64_t id, ibv_wc_status status) noexcept;
    [[gnu::cold]] void recover() noexcept;
    void blame_job() noexcept;
    [[nodiscard]] Job *job_of(std::uint32_t position) noexcept;

    // What submit and retrieve use.
    doca_workq &workq_;
    std::unique_ptr<Job[]> jobs_; ///< a ring
    std::uint32_t job_mask_;
    // Numbers of jobs, and positions of messages; both wrap around.
    std::uint32_t first_ = 0; ///< the oldest job that has not ended
    std::uint32_t next_ = 0;  ///< the oldest one that is not, or not fully, posted
    std::uint32_t last_ = 0;
    std::uint32_t posted_ = 0;
    std::uint32_t received_ = 0;
    std::uint32_t reclaimed_ = 0; ///< sends whose slots are free again
    std::uint32_t num_receives_;
    std::uint32_t num_sends_;
    std::uint32_t
        signal_mask_; ///< a send whose position has all of these bits is signaled, which frees slots
    unsigned send_flags_;
    CopyPartLimits limits_;
    ReliableConnection connection_;
    CompletionEvents events_{connection_};

    const VerbsDevice &device_;
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
