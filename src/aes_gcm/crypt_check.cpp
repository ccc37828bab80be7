// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "crypt_check.hpp"

#include <algorithm>
#include <cinttypes>

#include "../core/checks/buffer_check.hpp"
#include "../core/checks/shared_bytes.hpp"
#include "../core/log/log.hpp"
#include "../core/objects/mmap.hpp"

OPENDOCA_LOG_SOURCE(DOCA_AES_GCM_CHECK);

namespace opendoca {

namespace {

bool is_usable(const doca_buf *buf, const char *name) noexcept
{
    if (buf != nullptr && buf->is_head())
        return true;
    LOG_ERR("the %s (%p) is no buffer, free already, or a member of a list and not its head", name,
            static_cast<const void *>(buf));
    return false;
}

/// Returns whether a result of @p result bytes at @p to would overwrite a part of the source that is still to be read.
/// Exactly over the source it does not: each byte is read before its successor in the same place is written. Nor does
/// a result without bytes, wherever it is.
bool clobbers(const std::byte *from, std::size_t length, const std::byte *to, std::size_t result) noexcept
{
    const auto first = reinterpret_cast<std::uintptr_t>(from);
    const auto second = reinterpret_cast<std::uintptr_t>(to);
    return result != 0 && first != second && first < second + result && second < first + length;
}

/// The same for lists.
bool clobbers(const doca_buf &source, const doca_buf &destination, std::size_t result) noexcept
{
    return !each_shared_piece(source, destination, result, [](const SharedByte &byte) {
        if (byte.may_be_two() || byte.in_source == byte.in_result)
            return true;
        LOG_ERR("the byte at %p is byte %zu of the source and byte %zu of the result: it must be the same one of both",
                static_cast<const void *>(byte.address), byte.in_source, byte.in_result);
        return false;
    });
}

} // namespace

doca_error_t check_parameters(const std::uint8_t *iv, std::uint32_t iv_size, std::uint32_t tag_size) noexcept
{
    if (iv_size > gcm_max_iv_size || (iv == nullptr && iv_size != 0)) {
        LOG_ERR("an IV of %" PRIu32 " bytes at %p: it has 0 to %" PRIu32 " bytes, and without an address 0", iv_size,
                static_cast<const void *>(iv), gcm_max_iv_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (tag_size != 12 && tag_size != 16) {
        LOG_ERR("a tag of %" PRIu32 " bytes: it has 12 or 16", tag_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t CryptCheck::check(const CryptRequest &request, CryptPlan &plan) const noexcept
{
    Sums source, destination;
    if (const doca_error_t status = check_buffers(request, source, destination); status != DOCA_SUCCESS) [[unlikely]]
        return status;
    if (const doca_error_t status = check_parameters(request.iv, request.iv_size, request.tag_size);
        status != DOCA_SUCCESS) [[unlikely]]
        return status;
    if (const doca_error_t status = check_lengths(request, source.data, plan); status != DOCA_SUCCESS) [[unlikely]]
        return status;
    const doca_buf &src = *request.source;
    const doca_buf &dst = *request.destination;
    const bool has_imports = source.has_imports || destination.has_imports;
    const bool is_one_to_one = src.next == nullptr && dst.next == nullptr && !has_imports;
    plan.is_staged = has_imports || source.is_shared || destination.is_shared;
    plan.is_contiguous = is_one_to_one && !plan.is_staged;
    if (plan.result > destination.tailroom) [[unlikely]] {
        LOG_ERR("%zu bytes do not fit into a destination with room for %zu behind its data", plan.result,
                destination.tailroom);
        return DOCA_ERROR_IO_FAILED;
    }
    const std::byte *const to = dst.data + dst.data_len;
    if (is_one_to_one && clobbers(src.data, source.data, to, plan.result)) [[unlikely]] {
        LOG_ERR("the result at [%p, +%zu) overlaps the source at [%p, +%zu): it may be at the same place or elsewhere",
                static_cast<const void *>(to), plan.result, static_cast<const void *>(src.data), source.data);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (!is_one_to_one && clobbers(src, dst, plan.result)) [[unlikely]]
        return DOCA_ERROR_INVALID_VALUE;
    return DOCA_SUCCESS;
}

/// Checks both lists, and adds up their lengths.
doca_error_t CryptCheck::check_buffers(const CryptRequest &request, Sums &source, Sums &destination) const noexcept
{
    if (request.source != nullptr && request.destination != nullptr &&
        have_fast_path(*request.source, *request.destination)) [[likely]] {
        source = {request.source->data_len, request.source->tailroom(), false,
                  request.source->mmap->is_writable_by_others()};
        destination = {request.destination->data_len, request.destination->tailroom(), false,
                       request.destination->mmap->is_writable_by_others()};
        return DOCA_SUCCESS;
    }
    if (!is_usable(request.source, "source") || !is_usable(request.destination, "destination"))
        return DOCA_ERROR_INVALID_VALUE;
    if (const doca_error_t status = check_list(*request.source, KeyUse::dma_source, source); status != DOCA_SUCCESS)
        return status;
    return check_list(*request.destination, KeyUse::dma_destination, destination);
}

/// Checks each buffer of a list for the use @p wanted, and adds up the lengths.
doca_error_t CryptCheck::check_list(const doca_buf &head, std::uint32_t wanted, Sums &sums) const noexcept
{
    const bool is_source = wanted == KeyUse::dma_source;
    std::uint32_t count = 0;
    for (const doca_buf *buf = &head; buf != nullptr; buf = buf->next) {
        // The limit is checked for each buffer, so a list that is a circle ends as well.
        if (++count > max_list_elements_) {
            LOG_ERR("the %s has more than %" PRIu32 " buffers", is_source ? "source" : "destination",
                    max_list_elements_);
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (const doca_error_t status = check_buffer(*buf, *device_); status != DOCA_SUCCESS)
            return status;
        if (!buf->mmap->key_for(*device_)->can(wanted)) {
            LOG_ERR("the permissions of the memory map of buffer %p do not let AES-GCM %s it",
                    static_cast<const void *>(buf), is_source ? "read" : "write");
            return DOCA_ERROR_NOT_PERMITTED;
        }
        if (buf->mmap->is_of_dmabuf()) {
            LOG_ERR("buffer %p with %zu bytes of data is memory of a dmabuf, which the CPU cannot always access: copy "
                    "it by DMA "
                    "first",
                    static_cast<const void *>(buf), buf->data_len);
            return DOCA_ERROR_NOT_PERMITTED;
        }
        if (buf->mmap->is_imported()) {
            if (!accesses_imports_) {
                LOG_ERR(
                    "buffer %p is imported memory, which the CPU cannot access on this device: copy it by DMA first",
                    static_cast<const void *>(buf));
                return DOCA_ERROR_NOT_PERMITTED;
            }
            sums.has_imports = true;
        }
        sums.is_shared = sums.is_shared || buf->mmap->is_writable_by_others();
        // Each term is limited, so that the sum of the longest list cannot wrap around.
        sums.data += std::min<std::size_t>(buf->data_len, max_size_ + 1);
        sums.tailroom += std::min<std::size_t>(buf->tailroom(), max_size_ + 1);
    }
    return DOCA_SUCCESS;
}

/// Divides a source of @p length bytes into its parts.
doca_error_t CryptCheck::check_lengths(const CryptRequest &request, std::size_t length, CryptPlan &plan) const noexcept
{
    const bool encrypts = request.direction == GcmDirection::encrypt;
    const std::size_t required = std::size_t{request.aad_size} + (encrypts ? 0 : request.tag_size);
    if (length > max_size_) {
        LOG_ERR("the source has more than %" PRIu64 " bytes", max_size_);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (length < required) {
        LOG_ERR("the source has %zu bytes, fewer than the %" PRIu32 " of AAD%s", length, request.aad_size,
                encrypts ? "" : " and those of the tag");
        return DOCA_ERROR_INVALID_VALUE;
    }
    plan.aad = request.aad_size;
    plan.text = length - required;
    plan.result = plan.aad + plan.text + (encrypts ? request.tag_size : 0);
    if (plan.result > max_size_) {
        LOG_ERR("the result would have %zu bytes with its tag, more than %" PRIu64, plan.result, max_size_);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

} // namespace opendoca
