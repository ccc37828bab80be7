// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "coding_queue.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "../core/checks/buffer_check.hpp"
#include "../core/checks/shared_bytes.hpp"
#include "../core/log/log.hpp"
#include "../core/objects/mmap.hpp"
#include "galois.hpp"

OPENDOCA_LOG_SOURCE(DOCA_EC_QUEUE);

namespace opendoca {

namespace {

/// Calls @p use with each contiguous part of the next @p length bytes at @p cursor, and moves @p cursor past them.
/// Stops at the first status of @p use that is not SUCCESS, and returns it.
template <typename Use>
doca_error_t each_part(Cursor &cursor, std::size_t length, Use use) noexcept
{
    while (length != 0) {
        cursor.skip_empty();
        const std::size_t part = std::min(length, cursor.left());
        if (const doca_error_t status = use(cursor.buf(), cursor.addr(), part); status != DOCA_SUCCESS)
            return status;
        cursor.advance(part);
        length -= part;
    }
    return DOCA_SUCCESS;
}

/// Looks for memory that data of @p source and the first @p length bytes of room in @p destination share, which both
/// consist of blocks of @p block bytes. Sets @p is_shared if there is some. Returns INVALID_VALUE, after a log line, if
/// a byte of it is not at the same place within its block of either side: it is overwritten before it is read.
doca_error_t check_overlap(const doca_buf &source, const doca_buf &destination, std::size_t length, std::size_t block,
                           bool &is_shared) noexcept
{
    is_shared = false;
    const auto is_fine = [&](const SharedByte &byte) {
        is_shared = true;
        if (byte.may_be_two() || byte.in_source % block == byte.in_result % block)
            return true;
        LOG_ERR("the byte at %p is byte %zu of block %zu of the source and byte %zu of block %zu of the destination: a "
                "block of both must be the same",
                static_cast<const void *>(byte.address), byte.in_source % block, byte.in_source / block,
                byte.in_result % block, byte.in_result / block);
        return false;
    };
    return each_shared_piece(source, destination, length, is_fine) ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

} // namespace

CodingQueue::CodingQueue(CompletionQueue &completions, Device &device, const Limits &limits)
    : SlicedQueue(completions, device.function().order_of_late("erasure coding")),
      device_(device),
      limits_(limits)
{
    (void)device.create_memory_copier(copier_); // NOT_SUPPORTED leaves it null
}

CodingQueue::~CodingQueue()
{
    (void)has_waiting([](const Operation &operation) {
        operation.payload<Request>().matrix->end_use();
        return false;
    });
}

doca_error_t CodingQueue::multiply(Tag tag, const Matrix *matrix, const doca_buf *source,
                                   doca_buf *destination) noexcept
{
    Layout layout;
    if (const doca_error_t status = check(matrix, source, destination, layout); status != DOCA_SUCCESS)
        return status;
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY; // not logged: programs drain the queue and try again
    const Request request = {matrix, source, destination};
    if (may_complete_at_once() && layout.block <= slice_of(*matrix)) {
        begin_request(request, layout);
        const doca_error_t status = multiply_slice(layout.block);
        if (status == DOCA_SUCCESS)
            extend_data(*destination, matrix->num_outputs() * layout.block, false);
        completions_.done(tag, *this, status);
        return DOCA_SUCCESS;
    }
    matrix->start_use();
    append(tag).payload<Request>() = request;
    return DOCA_SUCCESS;
}

std::size_t CodingQueue::slice_of(const Matrix &matrix) noexcept
{
    const std::size_t num_inputs = matrix.num_inputs(), num_products = num_inputs * matrix.num_outputs();
    const std::size_t most = std::min(source_slice / num_inputs, max_products / num_products);
    return std::max(most / block_unit * block_unit, block_unit);
}

doca_error_t CodingQueue::begin(Operation &operation) noexcept
{
    // Checked again: operations before this one may have appended to its buffers.
    const Request &request = operation.payload<Request>();
    Layout layout;
    if (const doca_error_t status = check(request.matrix, request.source, request.destination, layout);
        status != DOCA_SUCCESS)
        return status;
    begin_request(request, layout);
    return DOCA_ERROR_IN_PROGRESS;
}

doca_error_t CodingQueue::advance() noexcept
{
    const std::size_t length = std::min(slice_of(*request_.matrix), block_ - done_);
    if (const doca_error_t status = multiply_slice(length); status != DOCA_SUCCESS)
        return status;
    if (done_ != block_)
        return DOCA_ERROR_IN_PROGRESS;
    extend_data(*request_.destination, request_.matrix->num_outputs() * block_, false);
    return DOCA_SUCCESS;
}

void CodingQueue::begin_request(const Request &request, const Layout &layout) noexcept
{
    const std::size_t block = layout.block;
    const std::size_t num_inputs = request.matrix->num_inputs(), num_outputs = request.matrix->num_outputs();
    const Cursor data = Cursor::over_data(*request.source),
                 room = Cursor::over_destination(*request.destination, false);
    request_ = request;
    block_ = block;
    done_ = 0;
    copies_all_ = layout.is_shared;
    is_whole_ = !copies_all_ && find_whole_blocks(data, block, std::span(addresses_).first(num_inputs)) &&
                find_whole_blocks(room, block, std::span(addresses_).subspan(num_inputs, num_outputs));
    if (is_whole_)
        return;
    find_blocks(data, block, std::span(blocks_).first(num_inputs));
    find_blocks(room, block, std::span(blocks_).subspan(num_inputs, num_outputs));
}

doca_error_t CodingQueue::multiply_slice(std::size_t length) noexcept
{
    const Matrix &matrix = *request_.matrix;
    const std::size_t num_inputs = matrix.num_inputs(), num_outputs = matrix.num_outputs();
    if (is_whole_) {
        galois::multiply_blocks(matrix.tables(), std::span(addresses_).first(num_inputs),
                                std::span(addresses_).subspan(num_inputs, num_outputs), length);
        for (std::byte *&address : std::span(addresses_).first(num_inputs + num_outputs))
            address += length;
    } else {
        const std::size_t most = staging_size / (num_inputs + num_outputs) / block_unit * block_unit;
        for (std::size_t left = length; left != 0;) {
            const std::size_t part = std::min(most, left);
            if (const doca_error_t status = multiply_copies(part); status != DOCA_SUCCESS)
                return status;
            left -= part;
        }
    }
    done_ += length;
    return DOCA_SUCCESS;
}

bool CodingQueue::find_whole_blocks(Cursor list, std::size_t block, std::span<std::byte *> addresses) noexcept
{
    for (std::byte *&address : addresses) {
        list.skip_empty();
        if (list.left() < block || list.buf().mmap->is_imported())
            return false;
        address = list.addr();
        list.advance(block);
    }
    return true;
}

void CodingQueue::find_blocks(Cursor list, std::size_t block, std::span<Cursor> blocks) noexcept
{
    for (Cursor &begin : blocks) {
        list.skip_empty();
        begin = list;
        (void)each_part(list, block, [](const doca_buf &, std::byte *, std::size_t) { return DOCA_SUCCESS; });
    }
}

doca_error_t CodingQueue::gather(Cursor &from, std::byte *staging, std::size_t length) noexcept
{
    return each_part(from, length, [&](const doca_buf &buf, std::byte *addr, std::size_t part) {
        std::byte *const to = std::exchange(staging, staging + part);
        if (buf.mmap->is_imported())
            return copier_->read(buf, addr, to, part);
        std::memcpy(to, addr, part);
        return DOCA_SUCCESS;
    });
}

doca_error_t CodingQueue::scatter(Cursor &to, std::byte *staging, std::size_t length) noexcept
{
    return each_part(to, length, [&](const doca_buf &buf, std::byte *addr, std::size_t part) {
        std::byte *const from = std::exchange(staging, staging + part);
        if (buf.mmap->is_imported())
            return copier_->write(buf, addr, from, part);
        std::memcpy(addr, from, part);
        return DOCA_SUCCESS;
    });
}

doca_error_t CodingQueue::multiply_copies(std::size_t length) noexcept
{
    const Matrix &matrix = *request_.matrix;
    const std::size_t num_inputs = matrix.num_inputs(), num_outputs = matrix.num_outputs();
    const auto inputs = std::span(blocks_).first(num_inputs);
    const auto outputs = std::span(blocks_).subspan(num_inputs, num_outputs);
    const auto in = std::span(addresses_).first(num_inputs);
    const auto out = std::span(addresses_).subspan(num_inputs, num_outputs);
    std::byte *next = staging_[0].bytes;
    const auto take_staging = [&] { return std::exchange(next, next + length); };
    const auto is_staging = [&](const std::byte *address) {
        return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(staging_.get()) <
               staging_size;
    };
    const auto is_usable = [&](Cursor &cursor) {
        cursor.skip_empty();
        return !copies_all_ && cursor.left() >= length && !cursor.buf().mmap->is_imported();
    };
    for (std::size_t i = 0; i != num_inputs; ++i) {
        if (is_usable(inputs[i])) {
            in[i] = inputs[i].addr();
            inputs[i].advance(length);
        } else {
            in[i] = take_staging();
            if (const doca_error_t status = gather(inputs[i], in[i], length); status != DOCA_SUCCESS)
                return status;
        }
    }
    for (std::size_t j = 0; j != num_outputs; ++j)
        out[j] = is_usable(outputs[j]) ? outputs[j].addr() : take_staging();
    galois::multiply_blocks(matrix.tables(), in, out, length);
    for (std::size_t j = 0; j != num_outputs; ++j) {
        if (!is_staging(out[j]))
            outputs[j].advance(length);
        else if (const doca_error_t status = scatter(outputs[j], out[j], length); status != DOCA_SUCCESS)
            return status;
    }
    return DOCA_SUCCESS;
}

doca_error_t CodingQueue::check(const Matrix *matrix, const doca_buf *source,
                                const doca_buf *destination) const noexcept
{
    Layout layout;
    return check(matrix, source, destination, layout);
}

doca_error_t CodingQueue::check(const Matrix *matrix, const doca_buf *source, const doca_buf *destination,
                                Layout &layout) const noexcept
{
    if (matrix == nullptr || source == nullptr || destination == nullptr || !source->is_head() ||
        !destination->is_head()) {
        LOG_ERR("matrix %p, source buffer %p and destination buffer %p must all be there, and the buffers the heads of "
                "their lists",
                static_cast<const void *>(matrix), static_cast<const void *>(source),
                static_cast<const void *>(destination));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = check_list(*source, false); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = check_list(*destination, true); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = check_lengths(*matrix, *source, *destination, layout.block); status != DOCA_SUCCESS)
        return status;
    return check_overlap(*source, *destination, matrix->num_outputs() * layout.block, layout.block, layout.is_shared);
}

doca_error_t CodingQueue::check_list(const doca_buf &list, bool for_writing) const noexcept
{
    std::uint32_t count = 0;
    for (const doca_buf *buf = &list; buf != nullptr; buf = buf->next) {
        if (++count > limits_.list_elements) {
            LOG_ERR("the %s has more than %" PRIu32 " buffers in its list", for_writing ? "destination" : "source",
                    limits_.list_elements);
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (const doca_error_t status = check_buffer(*buf, device_); status != DOCA_SUCCESS)
            return status;
        if (buf->mmap->is_of_dmabuf()) {
            LOG_ERR("buffer %p with %zu bytes of data is memory of a dmabuf, which the CPU cannot always access: copy "
                    "it by DMA "
                    "first",
                    static_cast<const void *>(buf), buf->data_len);
            return DOCA_ERROR_NOT_PERMITTED;
        }
        if (buf->mmap->is_imported() && copier_ == nullptr) {
            LOG_ERR("buffer %p is imported memory, which the CPU cannot access on device %s: copy it by DMA first",
                    static_cast<const void *>(buf), device_.function().name.c_str());
            return DOCA_ERROR_NOT_PERMITTED;
        }
        // The permissions are those of DMA: the memory is accessed on behalf of the device.
        if (!buf->mmap->key_for(device_)->can(for_writing ? KeyUse::dma_destination : KeyUse::dma_source)) {
            LOG_ERR("the permissions of the memory map of buffer %p do not let erasure coding %s it",
                    static_cast<const void *>(buf), for_writing ? "write" : "read");
            return DOCA_ERROR_NOT_PERMITTED;
        }
    }
    return DOCA_SUCCESS;
}

doca_error_t CodingQueue::check_lengths(const Matrix &matrix, const doca_buf &source, const doca_buf &destination,
                                        std::size_t &block) const noexcept
{
    // A sum that wraps around is less than there is, so nothing beyond the buffers is accessed.
    const std::size_t length = data_of(source);
    if (length == 0 || length % (matrix.num_inputs() * block_unit) != 0) {
        LOG_ERR("the source has %zu bytes, and a matrix with %zu inputs needs as many blocks, of a multiple of %zu "
                "bytes each",
                length, matrix.num_inputs(), block_unit);
        return DOCA_ERROR_IO_FAILED;
    }
    const std::size_t size = length / matrix.num_inputs();
    if (size > limits_.block_size) {
        LOG_ERR("the %zu blocks of the source have %zu bytes each, and a block has at most %" PRIu64,
                matrix.num_inputs(), size, limits_.block_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const std::size_t room = room_of(destination, false); room < matrix.num_outputs() * size) {
        LOG_ERR("%zu blocks of %zu bytes do not fit into a destination with room for %zu bytes", matrix.num_outputs(),
                size, room);
        return DOCA_ERROR_IO_FAILED;
    }
    block = size;
    return DOCA_SUCCESS;
}

} // namespace opendoca
