// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "copy_check.hpp"

#include <algorithm>
#include <cinttypes>

#include "../log/log.hpp"
#include "buffer_check.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COPY);

namespace opendoca {

namespace {

/// Returns the sum of @p part over the buffers of @p list. Each term is limited to one more than @p limit, which is
/// enough for comparisons with it: so the sum of the longest list cannot wrap around.
template <typename Part>
std::size_t sum(const doca_buf *list, std::uint64_t limit, Part part) noexcept
{
    std::size_t total = 0;
    for (const doca_buf *buf = list; buf != nullptr; buf = buf->next)
        total += std::min<std::size_t>(part(*buf), limit + 1);
    return total;
}

/// Checks that @p buf is the head of a list, and logs an error about the @p name if not.
bool is_usable(const doca_buf *buf, const char *name) noexcept
{
    if (buf != nullptr && buf->is_head())
        return true;
    LOG_ERR("the %s (%p) is no buffer, free already, or a member of a list and not its head", name,
            static_cast<const void *>(buf));
    return false;
}

} // namespace

doca_error_t CopyCheck::check(const doca_buf *dst, const doca_buf *src, CopyPlan &plan) const noexcept
{
    if (!is_usable(src, "source") || !is_usable(dst, "destination"))
        return DOCA_ERROR_INVALID_VALUE;
    if (const doca_error_t status = check_list(*src, KeyUse::dma_source); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = check_list(*dst, KeyUse::dma_destination); status != DOCA_SUCCESS)
        return status;
    // The lists are valid; their lengths remain.
    const auto data_of = [](const doca_buf &buf) { return buf.data_len; };
    const std::size_t length = sum(src, max_size_, data_of);
    if (length > max_size_) {
        LOG_ERR("the source has %zu bytes or more, and a copy has at most %" PRIu64, length, max_size_);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // Data is appended. A list without any tailroom counts as empty, for programs that never reset their destination.
    const std::size_t tailroom = sum(dst, max_size_, [](const doca_buf &buf) { return buf.tailroom(); });
    const bool overwrites = tailroom == 0;
    if (const std::size_t room = overwrites ? sum(dst, max_size_, data_of) : tailroom; length > room) {
        LOG_ERR("%zu bytes do not fit into a destination with room for %zu", length, room);
        return DOCA_ERROR_INVALID_VALUE;
    }
    plan = {length, src->next != nullptr || dst->next != nullptr, overwrites};
    return DOCA_SUCCESS;
}

/// Checks each buffer of a list, for the use @p wanted, and the length of the list.
doca_error_t CopyCheck::check_list(const doca_buf &head, std::uint32_t wanted) const noexcept
{
    const bool for_writing = wanted == KeyUse::dma_destination;
    std::uint32_t count = 0;
    for (const doca_buf *buf = &head; buf != nullptr; buf = buf->next) {
        if (const doca_error_t status = check_buffer(*buf, *device_); status != DOCA_SUCCESS)
            return status;
        if (!buf->mmap->key_for(*device_)->can(wanted)) {
            LOG_ERR("the permissions of the memory map of buffer %p do not let DMA %s it",
                    static_cast<const void *>(buf), for_writing ? "write" : "read");
            return DOCA_ERROR_NOT_PERMITTED;
        }
        // Checked last, so that a list that is too long and has an invalid buffer is reported for the buffer.
        if (++count > max_list_elements_) {
            LOG_ERR("the %s has more than %" PRIu32 " buffers%s", for_writing ? "destination" : "source",
                    max_list_elements_, device_->function().strict_suffix(StrictRule::max_list_length));
            return DOCA_ERROR_INVALID_VALUE;
        }
    }
    return DOCA_SUCCESS;
}

} // namespace opendoca
