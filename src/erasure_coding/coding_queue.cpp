// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "coding_queue.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "../core/checks/buffer_check.hpp"
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

/// Returns whether the first @p length bytes of room in @p destination share memory with data of @p source.
bool overlap(const doca_buf &source, const doca_buf &destination, std::size_t length) noexcept
{
    bool is_shared = false;
    Cursor room = Cursor::over_destination(destination, false);
    (void)each_part(room, length, [&](const doca_buf &, const std::byte *written, std::size_t size) {
        // Compared as numbers: pointers into different objects have no order.
        const auto begin = reinterpret_cast<std::uintptr_t>(written);
        for (const doca_buf *buf = &source; buf != nullptr; buf = buf->next) {
            const auto read = reinterpret_cast<std::uintptr_t>(buf->data);
            is_shared = is_shared || (begin < read + buf->data_len && read < begin + size);
        }
        return DOCA_SUCCESS;
    });
    return is_shared;
}

} // namespace

CodingQueue::CodingQueue(CompletionQueue &completions, Device &device, const Limits &limits)
    : completions_(completions),
      device_(device),
      limits_(limits)
{
    (void)device.create_memory_copier(copier_); // NOT_SUPPORTED leaves it null
}

doca_error_t CodingQueue::multiply(Tag tag, const Matrix *matrix, const doca_buf *source,
                                   doca_buf *destination) noexcept
{
    std::size_t block = 0;
    if (const doca_error_t status = check(matrix, source, destination, block); status != DOCA_SUCCESS)
        return status;
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY; // not logged: programs drain the queue and try again
    const std::size_t num_inputs = matrix->num_inputs(), num_outputs = matrix->num_outputs();
    const auto in = std::span(addresses_).first(num_inputs);
    const auto out = std::span(addresses_).subspan(num_inputs, num_outputs);
    const Cursor data = Cursor::over_data(*source), room = Cursor::over_destination(*destination, false);
    const bool is_in_place = overlap(*source, *destination, num_outputs * block);
    if (!is_in_place && find_whole_blocks(data, block, in) && find_whole_blocks(room, block, out)) {
        galois::multiply_blocks(matrix->tables(), in, out, block);
    } else {
        const auto inputs = std::span(blocks_).first(num_inputs);
        const auto outputs = std::span(blocks_).subspan(num_inputs, num_outputs);
        find_blocks(data, block, inputs);
        find_blocks(room, block, outputs);
        if (const doca_error_t status = multiply_slices(*matrix, inputs, outputs, block, is_in_place);
            status != DOCA_SUCCESS) {
            completions_.done(tag, *this, status);
            return DOCA_SUCCESS;
        }
    }
    extend_data(*destination, num_outputs * block, false);
    completions_.done(tag, *this, DOCA_SUCCESS);
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

doca_error_t CodingQueue::multiply_slices(const Matrix &matrix, std::span<Cursor> inputs, std::span<Cursor> outputs,
                                          std::size_t block, bool copies_all) noexcept
{
    const auto in = std::span(addresses_).first(inputs.size());
    const auto out = std::span(addresses_).subspan(inputs.size(), outputs.size());
    const std::size_t most = staging_size / (inputs.size() + outputs.size()) / block_unit * block_unit;
    for (std::size_t done = 0; done != block;) {
        const std::size_t slice = std::min(most, block - done);
        std::byte *next = staging_[0].bytes;
        const auto take_staging = [&] {
            std::byte *const taken = next;
            next += slice;
            return taken;
        };
        const auto is_staging = [&](const std::byte *address) {
            return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(staging_.get()) <
                   staging_size;
        };
        const auto is_usable = [&](Cursor &cursor) {
            cursor.skip_empty();
            return !copies_all && cursor.left() >= slice && !cursor.buf().mmap->is_imported();
        };
        for (std::size_t i = 0; i != inputs.size(); ++i) {
            if (is_usable(inputs[i])) {
                in[i] = inputs[i].addr();
                inputs[i].advance(slice);
            } else {
                in[i] = take_staging();
                if (const doca_error_t status = gather(inputs[i], in[i], slice); status != DOCA_SUCCESS)
                    return status;
            }
        }
        for (std::size_t j = 0; j != outputs.size(); ++j)
            out[j] = is_usable(outputs[j]) ? outputs[j].addr() : take_staging();
        galois::multiply_blocks(matrix.tables(), in, out, slice);
        for (std::size_t j = 0; j != outputs.size(); ++j) {
            if (!is_staging(out[j]))
                outputs[j].advance(slice);
            else if (const doca_error_t status = scatter(outputs[j], out[j], slice); status != DOCA_SUCCESS)
                return status;
        }
        done += slice;
    }
    return DOCA_SUCCESS;
}

doca_error_t CodingQueue::check(const Matrix *matrix, const doca_buf *source,
                                const doca_buf *destination) const noexcept
{
    std::size_t block = 0;
    return check(matrix, source, destination, block);
}

doca_error_t CodingQueue::check(const Matrix *matrix, const doca_buf *source, const doca_buf *destination,
                                std::size_t &block) const noexcept
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
    return check_lengths(*matrix, *source, *destination, block);
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
