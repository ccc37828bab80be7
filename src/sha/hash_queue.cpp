// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "hash_queue.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "../core/checks/buffer_check.hpp"
#include "../core/log/log.hpp"
#include "../core/objects/mmap.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SHA_QUEUE);

namespace opendoca {

namespace {

/// Returns where a digest of @p size bytes is written: behind the data, or over the data if there is no tailroom. Null
/// if it does not fit.
std::byte *address_of_digest(const doca_buf &destination, std::size_t size) noexcept
{
    const std::size_t tailroom = destination.tailroom();
    if (size > (tailroom == 0 ? destination.data_len : tailroom))
        return nullptr;
    return destination.data + (tailroom == 0 ? 0 : destination.data_len);
}

/// Appends the data of a list of buffers.
void add_data(ShaDigest &digest, const doca_buf &source) noexcept
{
    for (const doca_buf *buf = &source; buf != nullptr; buf = buf->next)
        digest.update(buf->data, buf->data_len);
}

/// Writes the digest, and makes it the end of the destination's data.
void write_digest(ShaDigest &digest, ShaKind kind, doca_buf &destination) noexcept
{
    const std::size_t size = facts_of(kind).digest_size;
    std::byte *const to = address_of_digest(destination, size);
    digest.end(to);
    destination.data_len = static_cast<std::size_t>(to - destination.data) + size;
}

} // namespace

void HashSession::copy_from(const HashSession &other) noexcept
{
    // The session of @p other stays as it is; neither becomes busy.
    digest = other.digest;
    message = other.message;
}

HashQueue::HashQueue(CompletionQueue &completions, const Device &device, const Limits &limits)
    : completions_(completions),
      device_(device),
      limits_(limits)
{
    if (std::unique_ptr<CompletionOrder> order = device.function().order_of_late("SHA"); order != nullptr)
        late_ = std::make_unique<LateOperations>(completions, std::move(order));
}

void HashQueue::flush() noexcept
{
    if (late_ != nullptr)
        late_->complete_all();
}

doca_error_t HashQueue::hash(Tag tag, ShaKind kind, const doca_buf *source, doca_buf *destination) noexcept
{
    if (const doca_error_t status = check(kind, source, destination); status != DOCA_SUCCESS)
        return status;
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY; // not logged: programs drain the queue and try again
    if (late_ != nullptr) [[unlikely]] {
        complete_late(tag, {nullptr, source, destination, kind, true});
        return DOCA_SUCCESS;
    }
    // The digest is complete before it is written, so source and destination may overlap.
    ShaDigest digest;
    digest.begin(kind);
    add_data(digest, *source);
    write_digest(digest, kind, *destination);
    completions_.done(tag, *this, DOCA_SUCCESS);
    return DOCA_SUCCESS;
}

doca_error_t HashQueue::hash_piece(Tag tag, ShaKind kind, const doca_buf *source, doca_buf *destination,
                                   HashSession &session, bool is_last) noexcept
{
    if (const doca_error_t status = check_piece(kind, source, destination, session, is_last); status != DOCA_SUCCESS)
        return status;
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY;
    if (late_ != nullptr) [[unlikely]] {
        session.is_busy = true;
        complete_late(tag, {&session, source, destination, kind, is_last});
        return DOCA_SUCCESS;
    }
    // An operation, not a completion alone: its payload leads to the session when it is retrieved.
    Operation &operation = completions_.begin(tag, *this);
    if (!session.message)
        session.digest.begin(kind);
    session.message = kind;
    add_data(session.digest, *source);
    if (is_last) {
        write_digest(session.digest, kind, *destination);
        session.message.reset();
    }
    session.is_busy = true;
    operation.payload<HashSession *>() = &session;
    // Notifies: retrieving the completion calls retrieved().
    completions_.done_and_notify(operation, DOCA_SUCCESS);
    return DOCA_SUCCESS;
}

void HashQueue::retrieved(Operation &operation) noexcept
{
    if (late_ != nullptr) [[unlikely]]
        carry_out(operation.payload<LateHash>());
    else
        operation.payload<HashSession *>()->is_busy = false;
}

void HashQueue::complete_late(Tag tag, const LateHash &late) noexcept
{
    Operation &operation = completions_.begin(tag, *this);
    operation.payload<LateHash>() = late;
    late_->append(operation);
}

/// The buffers may have changed since the check. The completion is then a success already, so this is only logged.
void HashQueue::carry_out(const LateHash &late) const noexcept
{
    if (late.session != nullptr)
        late.session->is_busy = false;
    if (late.source == nullptr)
        return;
    std::size_t length = 0;
    if (check_buffers(late.kind, late.source, late.destination, length) != DOCA_SUCCESS) {
        LOG_ERR("a buffer of SHA has changed since its submission: nothing is hashed%s",
                device_.function().strict_suffix(StrictRule::late_destination));
        return;
    }
    ShaDigest of_message;
    ShaDigest &digest = late.session != nullptr ? late.session->digest : of_message;
    if (late.session == nullptr || !late.session->message)
        digest.begin(late.kind);
    add_data(digest, *late.source);
    if (late.is_last)
        write_digest(digest, late.kind, *late.destination);
    if (late.session != nullptr) {
        late.session->message.reset();
        if (!late.is_last)
            late.session->message = late.kind;
    }
}

void HashQueue::forget_buffers(Tag tag) noexcept
{
    if (late_ == nullptr)
        return;
    completions_.each_operation_of(*this, [&](Operation &operation) {
        if (operation.tag.a == tag.a && operation.tag.b == tag.b)
            operation.payload<LateHash>().source = nullptr;
    });
}

doca_error_t HashQueue::check(ShaKind kind, const doca_buf *source, const doca_buf *destination) const noexcept
{
    std::size_t length = 0;
    return check_buffers(kind, source, destination, length);
}

doca_error_t HashQueue::check_piece(ShaKind kind, const doca_buf *source, const doca_buf *destination,
                                    const HashSession &session, bool is_last) const noexcept
{
    std::size_t length = 0;
    if (const doca_error_t status = check_buffers(kind, source, destination, length); status != DOCA_SUCCESS)
        return status;
    if (length == 0) {
        LOG_ERR("a piece has 0 bytes of data, and a message is hashed in pieces of 1 byte or more");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (session.is_busy) {
        LOG_ERR("session %p has a job that was not retrieved yet", static_cast<const void *>(&session));
        return DOCA_ERROR_BAD_STATE;
    }
    if (session.message && *session.message != kind) {
        LOG_ERR("a piece for %s in a message that was begun with %s", facts_of(kind).name,
                facts_of(*session.message).name);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // DOCA's rule: engines continue at block boundaries only. OpenSSL could continue anywhere.
    if (const std::uint32_t block = facts_of(kind).block_size; !is_last && length % block != 0) {
        LOG_ERR("a piece of %zu bytes, and all but the last of %s must be multiples of %u", length, facts_of(kind).name,
                block);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t HashQueue::check_buffers(ShaKind kind, const doca_buf *source, const doca_buf *destination,
                                      std::size_t &length) const noexcept
{
    if (source == nullptr || destination == nullptr || !source->is_head() || !destination->is_head()) {
        LOG_ERR("source buffer %p and destination buffer %p must both be there, and the heads of their lists",
                static_cast<const void *>(source), static_cast<const void *>(destination));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = check_source(*source, length); status != DOCA_SUCCESS)
        return status;
    return check_destination(*destination, kind);
}

doca_error_t HashQueue::check_source(const doca_buf &list, std::size_t &length) const noexcept
{
    std::uint32_t count = 0;
    std::size_t total = 0;
    for (const doca_buf *buf = &list; buf != nullptr; buf = buf->next) {
        // The limit is checked for each buffer, so a list that is a circle ends as well.
        if (++count > limits_.list_elements) {
            LOG_ERR("the source has more than %" PRIu32 " buffers in its list%s", limits_.list_elements,
                    device_.function().strict_suffix(StrictRule::max_list_length));
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (const doca_error_t status = check_memory(*buf); status != DOCA_SUCCESS)
            return status;
        // Written as a difference, since the sum could wrap around.
        if (buf->data_len > limits_.size - total) {
            LOG_ERR("the source has %zu bytes or more, and at most %" PRIu64 " are hashed at once",
                    total + buf->data_len, limits_.size);
            return DOCA_ERROR_INVALID_VALUE;
        }
        total += buf->data_len;
    }
    length = total;
    return DOCA_SUCCESS;
}

doca_error_t HashQueue::check_destination(const doca_buf &buf, ShaKind kind) const noexcept
{
    if (const doca_error_t status = check_memory(buf); status != DOCA_SUCCESS)
        return status;
    // The permissions are those of a DMA destination: the memory is written on behalf of the device.
    if (!buf.mmap->key_for(device_)->can(KeyUse::dma_destination)) {
        LOG_ERR("the permissions of the memory map of buffer %p do not let SHA write it",
                static_cast<const void *>(&buf));
        return DOCA_ERROR_NOT_PERMITTED;
    }
    // Checked before anything is hashed: a failed job changes nothing.
    const ShaFacts &facts = facts_of(kind);
    if (address_of_digest(buf, facts.digest_size) == nullptr) {
        LOG_ERR("%s has a digest of %u bytes, and the destination has %zu bytes of data and room for %zu behind them",
                facts.name, facts.digest_size, buf.data_len, buf.tailroom());
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t HashQueue::check_memory(const doca_buf &buf) const noexcept
{
    if (const doca_error_t status = check_buffer(buf, device_); status != DOCA_SUCCESS)
        return status;
    // Imported memory may not be mapped in this process.
    if (buf.mmap->is_imported()) {
        LOG_ERR("buffer %p is imported memory, and SHA works on memory of this process: copy it by DMA first",
                static_cast<const void *>(&buf));
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

} // namespace opendoca
