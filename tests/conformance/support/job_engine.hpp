// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A context of any library that has one device, and its jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dma_fixture.hpp"

namespace doca_test {

/// A started context of a library with a work queue on it. Jobs are to be retrieved before its end.
template <typename Library, doca_error_t (*Create)(Library **), doca_error_t (*Destroy)(Library *),
          doca_ctx *(*AsCtx)(Library *)>
class JobEngine {
public:
    static constexpr std::uint64_t user_data = 0x5eed;

    explicit JobEngine(doca_dev *dev, std::uint32_t depth = 32, bool is_event_driven = false)
    {
        must(Create(library_.out()));
        ctx_ = AsCtx(library_);
        must(doca_ctx_dev_add(ctx_, dev));
        must(doca_ctx_start(ctx_));
        must(doca_workq_create(depth, workq_.out()));
        if (is_event_driven)
            must(doca_workq_set_event_driven_enable(workq_, 1));
        must(doca_ctx_workq_add(ctx_, workq_));
    }
    JobEngine(const JobEngine &) = delete;
    JobEngine &operator=(const JobEngine &) = delete;
    ~JobEngine()
    {
        EXPECT_EQ(doca_ctx_workq_rm(ctx_, workq_), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_stop(ctx_), DOCA_SUCCESS);
    }

    [[nodiscard]] Library *library() const { return library_; }
    [[nodiscard]] doca_ctx *ctx() const { return ctx_; }
    [[nodiscard]] doca_workq *workq() const { return workq_; }

    /// The beginning of a job of @p type.
    [[nodiscard]] doca_job base(int type) const
    {
        doca_job job = {};
        job.type = type;
        job.flags = DOCA_JOB_FLAGS_NONE;
        job.ctx = ctx_;
        job.user_data.u64 = user_data;
        return job;
    }
    [[nodiscard]] doca_error_t submit(const doca_job &job) const { return doca_workq_submit(workq_, &job); }
    /// The result of the next job, which has to be one of @p type.
    [[nodiscard]] doca_error_t result_of(int type) const
    {
        doca_event event = {};
        const doca_error_t status = wait_for(workq_, event);
        const auto result = static_cast<doca_error_t>(event.result.u64);
        EXPECT_EQ(status, result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
        EXPECT_EQ(event.type, type);
        EXPECT_EQ(event.user_data.u64, user_data);
        return result;
    }
    /// From submit, which has to accept the job, to retrieve: its result.
    [[nodiscard]] doca_error_t run(const doca_job &job) const
    {
        if (const doca_error_t status = submit(job); status != DOCA_SUCCESS) {
            ADD_FAILURE() << "the submit has returned " << doca_get_error_name(status);
            return status;
        }
        return result_of(job.type);
    }
    /// Expects a submit to refuse the job with @p status, and no completion of it.
    void expect_refused(const doca_job &job, doca_error_t status) const
    {
        EXPECT_EQ(submit(job), status);
        doca_event event = {};
        EXPECT_EQ(doca_workq_progress_retrieve(workq_, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE), DOCA_ERROR_AGAIN);
    }

private:
    Handle<Library, Destroy> library_;
    doca_ctx *ctx_ = nullptr;
    WorkqHandle workq_;
};

/// The data of a list of buffers.
inline std::vector<std::byte> bytes_in(const doca_buf *list)
{
    std::vector<std::byte> all;
    for (auto *buf = const_cast<doca_buf *>(list); buf != nullptr;) {
        const std::byte *const data = data_of(buf);
        all.insert(all.end(), data, data + data_len_of(buf));
        doca_buf *next = nullptr;
        must(doca_buf_list_next(buf, &next));
        buf = next;
    }
    return all;
}

/// Appends @p tail to the list of @p head, which is null at first and owns the list.
inline void append(BufHandle &head, BufHandle tail)
{
    if (head.get() == nullptr) {
        head = std::move(tail);
        return;
    }
    must(doca_buf_list_chain(head, tail));
    tail.release();
}

} // namespace doca_test
