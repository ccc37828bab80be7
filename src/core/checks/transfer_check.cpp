// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "transfer_check.hpp"

#include <cinttypes>

#include "../log/log.hpp"
#include "buffer_check.hpp"

OPENDOCA_LOG_SOURCE(DOCA_TRANSFER);

namespace opendoca {

// A receive without a buffer accepts messages of 0 bytes, such as immediate data only.
doca_error_t TransferCheck::receive(const doca_buf *dst, TransferPlan &plan) const noexcept
{
    plan = {};
    return dst == nullptr ? DOCA_SUCCESS : plan_local(*dst, Side::destination, limits_.recv_chain_length, plan);
}

doca_error_t TransferCheck::check(Request &request) const noexcept
{
    // Defined also for requests without a buffer, which move nothing and have no key.
    request.plan = {};
    request.remote_key = nullptr;
    switch (request.opcode) {
    case Opcode::send:
    case Opcode::send_with_immediate:
        return check_send(request);
    case Opcode::write:
    case Opcode::write_with_immediate:
        return check_write(request);
    case Opcode::read:
        return check_read(request);
    case Opcode::compare_and_swap:
    case Opcode::fetch_and_add:
        return check_atomic(request);
    case Opcode::receive:
        break;
    }
    return DOCA_ERROR_UNEXPECTED;
}

// A send without a buffer is a message of 0 bytes, and so is a write without a source; a read without a remote buffer
// moves nothing. DOCA allows all of them.
doca_error_t TransferCheck::check_send(Request &request) const noexcept
{
    if (request.local == nullptr)
        return DOCA_SUCCESS;
    return plan_local(*request.local, Side::source, limits_.chain_length, request.plan);
}

doca_error_t TransferCheck::check_read(Request &request) const noexcept
{
    const doca_buf *const src = request.remote;
    if (src == nullptr)
        return DOCA_SUCCESS;
    if (const doca_error_t status = find_remote(src, request.remote_key); status != DOCA_SUCCESS)
        return status;
    // A null destination is only allowed together with a null source.
    if (request.local == nullptr) {
        LOG_ERR("a read that has a source needs a destination");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = plan_local(*request.local, Side::destination, limits_.chain_length, request.plan);
        status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = check_length(src->data_len); status != DOCA_SUCCESS)
        return status;
    // Reads what fits into the destination, if that is less than the source has. The plan's length is at most
    // message_size.
    request.plan.length = static_cast<std::uint32_t>(std::min<std::size_t>(src->data_len, request.plan.length));
    return DOCA_SUCCESS;
}

doca_error_t TransferCheck::check_write(Request &request) const noexcept
{
    const doca_buf *const dst = request.remote;
    TransferPlan &plan = request.plan;
    if (request.local == nullptr)
        return DOCA_SUCCESS;
    // A write that has a source needs a destination: null is an error here.
    if (const doca_error_t status = find_remote(dst, request.remote_key); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = plan_local(*request.local, Side::source, limits_.chain_length, plan);
        status != DOCA_SUCCESS)
        return status;
    // As on the local side: appends, or overwrites if there is no tailroom. The whole source must fit.
    const std::size_t tailroom = dst->tailroom();
    plan.overwrites = tailroom == 0;
    if (const std::size_t room = plan.overwrites ? dst->data_len : tailroom; plan.length > room) {
        LOG_ERR("%" PRIu32 " bytes do not fit into a destination with room for %zu", plan.length, room);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t TransferCheck::check_atomic(Request &request) const noexcept
{
    const doca_buf *const result = request.local;
    const doca_buf *const target = request.remote;
    if (!limits_.has_atomics) {
        LOG_ERR("device %s cannot do atomics", device_->function().name.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (const doca_error_t status = find_remote(target, request.remote_key); status != DOCA_SUCCESS)
        return status;
    if (result == nullptr || !result->is_alone()) {
        LOG_ERR("the result of an atomic goes to a single buffer, not to %p", static_cast<const void *>(result));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = check_local(*result, Side::destination); status != DOCA_SUCCESS)
        return status;
    // An atomic writes to the data address of both buffers, whatever the lengths of their data sections are.
    if (bytes_from_data_on(*target) < word_size || bytes_from_data_on(*result) < word_size) {
        LOG_ERR("an atomic needs %zu bytes behind the data address of both buffers; there are %zu and %zu", word_size,
                bytes_from_data_on(*target), bytes_from_data_on(*result));
        return DOCA_ERROR_INVALID_VALUE;
    }
    // NICs and the CPU both require it of the target. The result is only copied, and may have any address.
    if (reinterpret_cast<std::uintptr_t>(target->data) % word_size != 0) {
        LOG_ERR("the target %p of an atomic is not aligned to %zu bytes", static_cast<void *>(target->data), word_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

/// Checks the local list, and sets the plan's length: the bytes of data of a source, or those for which a destination
/// has room.
doca_error_t TransferCheck::plan_local(const doca_buf &list, Side side, std::uint32_t max_elements,
                                       TransferPlan &plan) const noexcept
{
    if (!list.is_head()) {
        LOG_ERR("buffer %p is not the head of its list", static_cast<const void *>(&list));
        return DOCA_ERROR_INVALID_VALUE;
    }
    std::uint32_t count = 0;
    // Each term is limited to one more than an operation may move, so that the sums cannot wrap around.
    std::size_t data = 0, tailroom = 0;
    const std::size_t limit = limits_.message_size + 1;
    for (const doca_buf *buf = &list; buf != nullptr; buf = buf->next) {
        if (++count > max_elements) {
            LOG_ERR("the %s has more than %" PRIu32 " buffers", side == Side::source ? "source" : "destination",
                    max_elements);
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (const doca_error_t status = check_local(*buf, side); status != DOCA_SUCCESS)
            return status;
        data += std::min(buf->data_len, limit);
        tailroom += std::min(buf->tailroom(), limit);
    }
    plan.is_list = count > 1;
    std::size_t length = data;
    if (side == Side::destination) {
        // A destination without any tailroom counts as empty, for programs that never reset it.
        plan.overwrites = tailroom == 0;
        length = std::min(plan.overwrites ? data : tailroom, limits_.message_size);
    } else if (const doca_error_t status = check_length(length); status != DOCA_SUCCESS) {
        return status;
    }
    plan.length = static_cast<std::uint32_t>(length);
    return DOCA_SUCCESS;
}

/// Checks one buffer of the local list: a right to access it, and that it is memory which the device can use locally.
/// The log message depends on what the memory map is.
doca_error_t TransferCheck::check_local(const doca_buf &buf, Side side) const noexcept
{
    if (const doca_error_t status = check_buffer(buf, *device_); status != DOCA_SUCCESS)
        return status;
    const MemoryKey &key = *buf.mmap->key_for(*device_);
    if (key.can(KeyUse::rdma_local))
        return DOCA_SUCCESS;
    // KeyUse::rdma_local requires the right to write, which a source does not need.
    if (side == Side::source && limits_.sends_what_is_read_only && !buf.mmap->is_imported())
        return DOCA_SUCCESS;
    if (key.can(KeyUse::rdma_remote)) {
        LOG_ERR("buffer %p is of memory that was imported for RDMA: a local buffer is required",
                static_cast<const void *>(&buf));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (buf.mmap->is_imported()) {
        LOG_ERR(
            "buffer %p is of the memory of another process, which RDMA of device %s cannot use as a local one: copy "
            "by DMA to or from memory of this process",
            static_cast<const void *>(&buf), device_->function().name.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    LOG_ERR("the memory map of buffer %p lacks DOCA_ACCESS_LOCAL_READ_WRITE", static_cast<const void *>(&buf));
    return DOCA_ERROR_NOT_PERMITTED;
}

/// Checks the remote buffer, and sets @p key to its key. The rights on it are checked by the provider, or by the peer.
doca_error_t TransferCheck::find_remote(const doca_buf *buf, MemoryKey *&key) const noexcept
{
    if (buf == nullptr || !buf->is_alone()) {
        LOG_ERR("the remote side of a job is a single buffer, not %p", static_cast<const void *>(buf));
        return DOCA_ERROR_INVALID_VALUE;
    }
    // A remote buffer is one range of the peer's memory, so it is never a list.
    key = buf->mmap->key_for(*device_);
    // Imported, but by another device: the reason is more helpful than the general one below.
    if (key == nullptr && buf->mmap->is_imported()) {
        explain_missing_key(*buf, *device_);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (key == nullptr || !key->can(KeyUse::rdma_remote)) {
        LOG_ERR("buffer %p is not of memory that device %s has imported for RDMA", static_cast<const void *>(buf),
                device_->function().name.c_str());
        return DOCA_ERROR_INVALID_VALUE;
    }
    return check_buffer(*buf, *device_);
}

/// Checks the length against the message size. @p length may be a limited sum: see plan_local().
doca_error_t TransferCheck::check_length(std::size_t length) const noexcept
{
    if (length <= limits_.message_size)
        return DOCA_SUCCESS;
    LOG_ERR("%zu bytes or more: a job moves at most %zu", length, limits_.message_size);
    return DOCA_ERROR_INVALID_VALUE;
}

} // namespace opendoca
