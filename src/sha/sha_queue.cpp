// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sha_queue.hpp"

#include <cinttypes>
#include <cstring>

#include <doca_log.h>

#include "../core/buf.hpp"
#include "../core/mmap.hpp"
#include "../core/workq.hpp"
#include "session.hpp"

DOCA_LOG_REGISTER(DOCA_SHA_QUEUE);

namespace opendoca {

namespace {

/// Where a digest of @p size bytes goes: behind the data, or where it is when there is no tailroom. Null when
/// it does not fit.
std::byte *place_for_digest(const doca_buf &response, std::size_t size) noexcept
{
    const std::size_t tailroom = response.tailroom();
    if (size > (tailroom == 0 ? response.data_len : tailroom))
        return nullptr;
    return response.data + (tailroom == 0 ? 0 : response.data_len);
}

/// The session is free for the next piece, now that this one is being retrieved.
void end_piece(const JobSlot &slot, doca_error_t result, doca_event &event)
{
    doca_sha_partial_session *session = nullptr;
    std::memcpy(&session, slot.other, sizeof(session));
    session->has_job = false;
    event.result.u64 = result;
}

} // namespace

ShaQueue::ShaQueue(const doca_sha &sha, const doca_dev &dev, doca_workq &workq) noexcept
    : sha_(sha),
      dev_(dev),
      workq_(workq),
      max_list_elements_(dev.function().can.sha_max_list_elements),
      max_size_(dev.function().can.sha_max_size)
{
}

doca_error_t ShaQueue::create(const doca_sha &sha, const doca_dev &dev, doca_workq &workq,
                              std::shared_ptr<JobQueue> &queue)
{
    std::unique_ptr<ShaQueue> created(new ShaQueue(sha, dev, workq));
    if (ShaDigests::create(created->digests_) != DOCA_SUCCESS)
        return DOCA_ERROR_INITIALIZATION;
    queue = std::move(created);
    return DOCA_SUCCESS;
}

doca_error_t ShaQueue::submit(const doca_job &base) noexcept
{
    if (!is_sha_job(base.type)) {
        DOCA_LOG_ERR("job type %d is not one of SHA's", base.type);
        return DOCA_ERROR_INVALID_VALUE;
    }
    const auto &job = reinterpret_cast<const doca_sha_job &>(base);
    const ShaKind kind = sha_kind_of(base.type);
    std::size_t length = 0;
    if (const doca_error_t status = check(job, kind, length); status != DOCA_SUCCESS)
        return status;
    if (base.type < DOCA_SHA_JOB_SHA1_PARTIAL)
        return submit_message(job, kind);
    return submit_piece(reinterpret_cast<const doca_sha_partial_job &>(base), kind, length);
}

doca_error_t ShaQueue::submit_message(const doca_sha_job &job, ShaKind kind) noexcept
{
    if (workq_.is_full())
        return DOCA_ERROR_NO_MEMORY; // not worth a message: programs drain the queue and try again
    workq_.complete_at_once(job.base, *this, hash(digests_, job, kind, true, true));
    return DOCA_SUCCESS;
}

doca_error_t ShaQueue::submit_piece(const doca_sha_partial_job &job, ShaKind kind,
                                    std::size_t length) noexcept
{
    if (const doca_error_t status = check_piece(job, kind, length); status != DOCA_SUCCESS)
        return status;
    JobSlot *const slot = workq_.take_slot(job.sha_job.base, *this);
    if (slot == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    doca_sha_partial_session &session = *job.session;
    const bool is_last = job.sha_job.flags == DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL;
    const doca_error_t result = hash(session.digests, job.sha_job, kind, !session.message, is_last);
    if (is_last || result != DOCA_SUCCESS)
        session.message.reset();
    else
        session.message = kind;
    session.has_job = true;
    slot->write_result = end_piece;
    std::memcpy(slot->other, &job.session, sizeof(job.session));
    workq_.complete(*slot, result);
    return DOCA_SUCCESS;
}

doca_error_t ShaQueue::hash(ShaDigests &digests, const doca_sha_job &job, ShaKind kind, bool is_first,
                            bool is_last) noexcept
{
    bool works = !is_first || digests.begin(kind);
    for (const doca_buf *buf = job.req_buf; works && buf != nullptr; buf = buf->next)
        works = digests.update(kind, buf->data, buf->data_len);
    if (works && is_last) {
        doca_buf &response = *job.resp_buf;
        const std::size_t size = facts_of(kind).digest_size;
        std::byte *const place = place_for_digest(response, size);
        works = digests.end(kind, place);
        if (works)
            response.data_len = static_cast<std::size_t>(place - response.data) + size;
    }
    if (works) [[likely]]
        return DOCA_SUCCESS;
    is_broken_ = true;
    return DOCA_ERROR_IO_FAILED;
}

doca_error_t ShaQueue::check(const doca_sha_job &job, ShaKind kind, std::size_t &length) const noexcept
{
    const doca_buf *const request = job.req_buf;
    const doca_buf *const response = job.resp_buf;
    if (request == nullptr || response == nullptr || !request->is_head() || !response->is_head()) {
        DOCA_LOG_ERR("request %p and response %p must be buffers at the head of their lists",
                     static_cast<const void *>(request), static_cast<const void *>(response));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (is_broken_) {
        DOCA_LOG_ERR(
            "OpenSSL has failed in an earlier job: take the work queue off the context and add it again");
        return DOCA_ERROR_BAD_STATE;
    }
    if ((job.flags & ~std::uint64_t{DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL}) != 0) {
        DOCA_LOG_ERR("flags 0x%" PRIx64 " of a SHA job: only 0x%x is defined", job.flags,
                     DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = check_request(*request, length); status != DOCA_SUCCESS)
        return status;
    return check_response(*response, kind);
}

doca_error_t ShaQueue::check_request(const doca_buf &list, std::size_t &length) const noexcept
{
    std::uint32_t count = 0;
    std::size_t total = 0;
    for (const doca_buf *buf = &list; buf != nullptr; buf = buf->next) {
        if (++count > max_list_elements_) {
            DOCA_LOG_ERR("the request has more than %" PRIu32 " buffers", max_list_elements_);
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (const doca_error_t status = check_memory(*buf); status != DOCA_SUCCESS)
            return status;
        if (buf->data_len > max_size_ - total) {
            DOCA_LOG_ERR("the request has more than %" PRIu64 " bytes", max_size_);
            return DOCA_ERROR_INVALID_VALUE;
        }
        total += buf->data_len;
    }
    if (total == 0) {
        DOCA_LOG_ERR("the request is empty");
        return DOCA_ERROR_INVALID_VALUE;
    }
    length = total;
    return DOCA_SUCCESS;
}

doca_error_t ShaQueue::check_response(const doca_buf &buf, ShaKind kind) const noexcept
{
    if (const doca_error_t status = check_memory(buf); status != DOCA_SUCCESS)
        return status;
    if (!buf.mmap->key_for(&dev_)->can(opendoca::KeyUse::dma_destination)) {
        DOCA_LOG_ERR("the permissions of the memory map of buffer %p do not let SHA write it",
                     static_cast<const void *>(&buf));
        return DOCA_ERROR_NOT_PERMITTED;
    }
    const ShaFacts &facts = facts_of(kind);
    if (place_for_digest(buf, facts.digest_size) == nullptr) {
        DOCA_LOG_ERR("%s needs %u bytes, and the response has %zu bytes of data and room for %zu", facts.name,
                     facts.digest_size, buf.data_len, buf.tailroom());
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t ShaQueue::check_memory(const doca_buf &buf) const noexcept
{
    if (buf.mmap->key_for(&dev_) == nullptr) {
        DOCA_LOG_ERR("device %s was not added to the memory map of buffer %p", dev_.description().c_str(),
                     static_cast<const void *>(&buf));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (buf.mmap->is_imported()) {
        DOCA_LOG_ERR(
            "buffer %p is imported memory, and SHA works on memory of this process: copy it by DMA first",
            static_cast<const void *>(&buf));
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

doca_error_t ShaQueue::check_piece(const doca_sha_partial_job &job, ShaKind kind,
                                   std::size_t length) const noexcept
{
    const doca_sha_partial_session *const session = job.session;
    if (session == nullptr || !session->belongs_to(&sha_, &workq_)) {
        DOCA_LOG_ERR("session %p was not made for this SHA context and work queue",
                     static_cast<const void *>(session));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (session->has_job) {
        DOCA_LOG_ERR("session %p has a job that was not retrieved yet", static_cast<const void *>(session));
        return DOCA_ERROR_BAD_STATE;
    }
    if (session->message && *session->message != kind) {
        DOCA_LOG_ERR("a piece for %s in a message that was begun with %s", facts_of(kind).name,
                     facts_of(*session->message).name);
        return DOCA_ERROR_INVALID_VALUE;
    }
    const bool is_last = job.sha_job.flags == DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL;
    const std::uint32_t block = facts_of(kind).block_size;
    if (!is_last && length % block != 0) {
        DOCA_LOG_ERR("a piece of %zu bytes, and all but the last of %s must be multiples of %u", length,
                     facts_of(kind).name, block);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

} // namespace opendoca
