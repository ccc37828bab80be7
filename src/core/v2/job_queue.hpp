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

// What a tag of this front end is: the first half of a doca_event, so that it becomes one by being copied. The
// upper half of the first word, which is padding in an event, names the maker of the event otherwise.

/// JobQueue::write_result() of the operation's source does.
inline constexpr std::uint64_t has_result = std::uint64_t{1} << 62;
/// The rest of the first word is the address of a CompletionHandler.
inline constexpr std::uint64_t has_handler = std::uint64_t{1} << 63;

static_assert(sizeof(doca_event::type) == 4 && offsetof(doca_event, user_data) == 8);
static_assert(std::endian::native == std::endian::little);

[[nodiscard]] inline Tag tag_of(const doca_job &job) noexcept
{
    return {static_cast<std::uint32_t>(job.type), job.user_data.u64};
}
/// The tag of a job that is read when it is stored, which takes a register less until then.
struct TagOf {
    const doca_job &job;
    operator Tag() const noexcept { return tag_of(job); }
};
/// 0 where an event is a copy of @p tag.
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

/// Receives the completions of internal operations, inside retrieve; user jobs do not go through it.
class OPENDOCA_INTERNAL CompletionHandler {
public:
    /// AGAIN, or what retrieve returns when @p event was filled.
    [[nodiscard]] virtual doca_error_t ended(const Ended &ended, doca_event &event) noexcept = 0;

    [[nodiscard]] Tag tag() noexcept { return {reinterpret_cast<std::uintptr_t>(this) | has_handler, 0}; }
    [[nodiscard]] static CompletionHandler &of(Tag tag) noexcept
    {
        return *reinterpret_cast<CompletionHandler *>(tag.a & ~has_handler);
    }

protected:
    ~CompletionHandler() = default;
};

/// What a context does for one work queue: makes operations of jobs, and results of their ends. Belongs to the
/// queue's thread.
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
    /// Writes how a job of @p type has ended into @p event, or to where its result.ptr points.
    virtual void write_result(int type, doca_error_t status, const Result &result, doca_event &event) const noexcept;
    /// As doca_workq_progress_retrieve() on a work queue that has nothing to give out. Called of a queue that is
    /// Pollable::retriever.
    [[nodiscard]] virtual doca_error_t retrieve(doca_event &event) noexcept;
    /// Like submit(), for a job of DOCA 1.3 or 1.4, where structures can have more members.
    [[nodiscard]] virtual doca_error_t submit_1_3(const doca_job &job) noexcept;
};

} // namespace opendoca::v2
