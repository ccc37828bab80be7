// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <doca_ctx.h>

#include "../engine/completion_queue.hpp"

namespace opendoca::v2 {

// The tag of this front end is the first half of a doca_event, so that a completion becomes an event by being copied.
// The upper half of the first word is padding in an event; two bits of it mark completions that are not a copy.

/// The result is written by JobQueue::write_result() of the operation's source.
inline constexpr std::uint64_t has_result = std::uint64_t{1} << 62;
/// The rest of the first word is the address of a CompletionHandler; the completion is an internal one.
inline constexpr std::uint64_t has_handler = std::uint64_t{1} << 63;

static_assert(sizeof(doca_event::type) == 4 && offsetof(doca_event, user_data) == 8);
static_assert(std::endian::native == std::endian::little);

/// Returns the tag of a user's job without a result.
[[nodiscard]] inline Tag tag_of(const doca_job &job) noexcept
{
    return {static_cast<std::uint32_t>(job.type), job.user_data.u64};
}
/// The tag of a job, built when it is stored: until then it takes one register and not two.
struct TagOf {
    const doca_job &job;
    operator Tag() const noexcept { return tag_of(job); }
};
/// Returns 0 if the event is a copy of @p tag, else the bits above.
[[nodiscard]] inline std::uint32_t kind_of(const Tag &tag) noexcept
{
    std::uint32_t upper = 0; // as a load of its own: a shift would cost more
    std::memcpy(&upper, reinterpret_cast<const std::byte *>(&tag.a) + sizeof(upper), sizeof(upper));
    return upper;
}
/// Makes @p tag the first half of @p event.
inline void store_tag(doca_event &event, const Tag &tag) noexcept
{
    std::memcpy(&event, &tag, sizeof(tag));
}

/// Receives the completions of internal operations, such as nodes of a graph, inside retrieve; user jobs do not go
/// through it. Must outlive its operations.
class OPENDOCA_INTERNAL CompletionHandler {
public:
    /// Returns AGAIN if the program has nothing to retrieve, else what retrieve returns for @p event, which is then
    /// filled.
    [[nodiscard]] virtual doca_error_t ended(const Ended &ended, doca_event &event) noexcept = 0;

    // Addresses of user space leave the upper two bits clear.
    [[nodiscard]] Tag tag() noexcept { return {reinterpret_cast<std::uintptr_t>(this) | has_handler, 0}; }
    [[nodiscard]] static CompletionHandler &of(Tag tag) noexcept
    {
        return *reinterpret_cast<CompletionHandler *>(tag.a & ~has_handler);
    }

protected:
    ~CompletionHandler() = default;
};

/// What a context does for one work queue: turns jobs into operations, and completions into results. Owned by the
/// context; used by the thread of the work queue only. Exists from doca_ctx_workq_add() to doca_ctx_workq_rm().
class OPENDOCA_INTERNAL JobQueue {
public:
    JobQueue() = default;
    JobQueue(const JobQueue &) = delete;
    JobQueue &operator=(const JobQueue &) = delete;
    virtual ~JobQueue();

    /// Submits a job. Its completion is retrieved with the tag tag_of(job).
    [[nodiscard]] virtual doca_error_t submit(const doca_job &job) noexcept = 0;
    /// Like submit(), with another tag and for a job that is not reported to the program.
    [[nodiscard]] virtual doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept = 0;
    /// Executes a job that takes no time, for a caller that needs no completion: it takes no credit and creates no
    /// operation. Returns false, and changes nothing, if the job is not of this kind and must be submitted.
    [[nodiscard]] virtual bool carry_out(const doca_job &job) noexcept;
    /// The source of the operations that the jobs become.
    [[nodiscard]] virtual Source &source() noexcept = 0;
    /// Writes the result of a job of @p type into @p event, or to where its result.ptr points.
    virtual void write_result(int type, doca_error_t status, const Result &result, doca_event &event) const noexcept;
    /// Does the same for a job that has succeeded within its submit with @p length as its only result, and returns
    /// SUCCESS. The event has its type and user data. Overridden where this is the common case.
    [[nodiscard]] virtual doca_error_t write_success(std::uint32_t length, doca_event &event) const noexcept;
    /// Implements doca_workq_progress_retrieve() for a work queue with an empty ring. Called only of a queue that was
    /// passed to doca_workq::set_retriever().
    [[nodiscard]] virtual doca_error_t retrieve(doca_event &event) noexcept;
    /// Like submit(), for a job of DOCA 1.3 or 1.4: their structures can have more members.
    [[nodiscard]] virtual doca_error_t submit_1_3(const doca_job &job) noexcept;
};

} // namespace opendoca::v2
