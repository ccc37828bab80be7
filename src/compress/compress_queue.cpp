// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "compress_queue.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "../core/checks/buffer_check.hpp"
#include "../core/device/cursor.hpp"
#include "../core/log/log.hpp"
#include "../core/objects/mmap.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMPRESS_QUEUE);

namespace opendoca {

namespace {

constexpr const char *format_of(CompressKind kind) noexcept
{
    return kind == CompressKind::decompress_deflate      ? "DEFLATE stream"
           : kind == CompressKind::decompress_lz4_stream ? "sequence of LZ4 blocks"
                                                         : "LZ4 block";
}

/// Returns the checksums of the uncompressed side that @p request asks for.
Checksums checksums_of(const CompressRequest &request, std::span<const std::byte> data) noexcept
{
    if (request.checksums == ChecksumSet::none)
        return {};
    const bool is_deflate =
        request.kind == CompressKind::compress_deflate || request.kind == CompressKind::decompress_deflate;
    Checksums checksums{.crc32 = crc32_of(data)};
    if (is_deflate || request.checksums == ChecksumSet::crc_and_adler)
        checksums.adler32 = adler32_of(data);
    else
        checksums.xxhash32 = xxhash32_of(data);
    return checksums;
}

bool overlap(std::span<const std::byte> one, std::span<const std::byte> other) noexcept
{
    return one.data() < other.data() + other.size() && other.data() < one.data() + one.size();
}

} // namespace

bool can_compress(const Capabilities &can, CompressKind kind) noexcept
{
    switch (kind) {
    case CompressKind::compress_deflate:
        return can.compress_deflate && has_deflate();
    case CompressKind::decompress_deflate:
        return can.decompress_deflate && has_deflate();
    case CompressKind::decompress_lz4_stream:
    case CompressKind::decompress_lz4_block:
        return can.decompress_lz4 && has_lz4() && has_deflate(); // its CRC-32
    }
    return false;
}

doca_error_t CompressQueue::open(Device &device)
{
    if (const doca_error_t status = device.create_memory_copier(copier_);
        status != DOCA_SUCCESS && status != DOCA_ERROR_NOT_SUPPORTED)
        return status;
    for (Scratch *const scratch : {&source_scratch_, &result_scratch_}) {
        const std::size_t size = limits_.size + DeflateCompressor::slack;
        if (const doca_error_t status = scratch->reserve(size); status != DOCA_SUCCESS) {
            LOG_ERR("%zu bytes of address space cannot be reserved for lists of buffers", size);
            return status;
        }
    }
    if (limits_.size > slice_size)
        worker_.start(); // nothing is created between a submission and its completion
    return DOCA_SUCCESS;
}

void CompressQueue::prepare(CompressKind kind)
{
    if (kind == CompressKind::compress_deflate)
        compressor_.emplace();
    else if (kind == CompressKind::decompress_deflate)
        decompressor_.emplace();
}

doca_error_t CompressQueue::run(Tag tag, const CompressRequest &request, void *checksums) noexcept
{
    Section source;
    Section destination;
    if (const doca_error_t status = check(request, source, destination); status != DOCA_SUCCESS)
        return status;
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY; // not logged: programs drain the queue and try again
    if (may_complete_at_once()) {
        job_ = {.request = request, .checksums = checksums, .source = source, .destination = destination};
        if (const doca_error_t status = try_short(); status != DOCA_ERROR_IN_PROGRESS) {
            completions_.done(tag, *this, status);
            return DOCA_SUCCESS;
        }
        is_known_as_long_ = true;
    }
    append(tag).payload<Waiting>() = {request, checksums};
    if (!is_late())
        begin_oldest(); // the worker need not wait for the next poll
    return DOCA_SUCCESS;
}

doca_error_t CompressQueue::begin(Operation &operation) noexcept
{
    const Waiting &waiting = operation.payload<Waiting>();
    const bool is_known_as_long = std::exchange(is_known_as_long_, false);
    job_ = {.request = waiting.request, .checksums = waiting.checksums};
    // Checked again: operations before this one may have appended to its buffers.
    if (const doca_error_t status = check(job_.request, job_.source, job_.destination); status != DOCA_SUCCESS)
        return status;
    if (!is_known_as_long) {
        if (const doca_error_t status = try_short(); status != DOCA_ERROR_IN_PROGRESS)
            return status;
    }
    job_.max_result = job_.destination.length;
    if (!worker_.exists()) {
        carry_out();
        return conclude();
    }
    worker_.begin();
    return DOCA_ERROR_IN_PROGRESS;
}

doca_error_t CompressQueue::advance() noexcept
{
    if (worker_.is_busy()) {
        worker_.yield_to();
        return DOCA_ERROR_AGAIN;
    }
    worker_.disarm(); // the queue may not be polled when it is disarmed
    return conclude();
}

bool CompressQueue::cancel() noexcept
{
    if (worker_.is_busy())
        return false;
    worker_.disarm();
    return true;
}

void CompressQueue::wait_and_discard() noexcept
{
    worker_.wait();
    worker_.disarm();
}

bool CompressQueue::arm() noexcept
{
    return is_in_progress() ? worker_.arm() : SlicedQueue::arm();
}

bool CompressQueue::may_be_short(const Job &job) noexcept
{
    const Section &source = job.source, &destination = job.destination;
    if (job.request.kind == CompressKind::compress_deflate || destination.length <= slice_size)
        return source.length <= slice_size;
    // A small source with much room, as programs have it that do not know the length of the result. If the try fails,
    // the source is read once more, so it must still be there.
    constexpr std::size_t usual_ratio = 4;
    return source.length <= slice_size / usual_ratio &&
           (!destination.is_in_place ||
            (source.is_in_place && !overlap({source.start, source.length}, {destination.start, destination.length})));
}

doca_error_t CompressQueue::try_short() noexcept
{
    if (!may_be_short(job_))
        return DOCA_ERROR_IN_PROGRESS;
    const bool compresses = job_.request.kind == CompressKind::compress_deflate;
    job_.max_result = compresses ? job_.destination.length : std::min(job_.destination.length, slice_size);
    carry_out();
    // LZ4 reports too long a result as bad data.
    if (job_.status == DOCA_SUCCESS && job_.result != CodecResult::success && job_.max_result < job_.destination.length)
        return DOCA_ERROR_IN_PROGRESS;
    return conclude();
}

doca_error_t CompressQueue::check(const CompressRequest &request) const noexcept
{
    Section source;
    Section destination;
    return check(request, source, destination);
}

doca_error_t CompressQueue::check(const CompressRequest &request, Section &source, Section &destination) const noexcept
{
    if (request.source == nullptr || request.destination == nullptr || !request.source->is_head() ||
        !request.destination->is_head()) {
        LOG_ERR("source buffer %p and destination buffer %p must both be there, and the heads of their lists",
                static_cast<const void *>(request.source), static_cast<const void *>(request.destination));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = check_list(*request.source, false, source); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = check_list(*request.destination, true, destination); status != DOCA_SUCCESS)
        return status;
    if (source.length == 0) {
        LOG_ERR("the source has no data in any of its buffers");
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t CompressQueue::check_list(const doca_buf &list, bool is_destination, Section &section) const noexcept
{
    const char *const name = is_destination ? "destination" : "source";
    std::uint32_t count = 0;
    const std::byte *end = nullptr; // of the elements so far
    for (const doca_buf *buf = &list; buf != nullptr; buf = buf->next) {
        // The limit is checked for each buffer, so a list that is a circle ends as well.
        if (++count > limits_.list_elements) {
            LOG_ERR("the %s has more than %" PRIu32 " buffers in its list", name, limits_.list_elements);
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (const doca_error_t status = check_element(*buf, is_destination); status != DOCA_SUCCESS)
            return status;
        std::byte *const start = buf->data + (is_destination ? buf->data_len : 0);
        const std::size_t length = is_destination ? buf->tailroom() : buf->data_len;
        if (length == 0)
            continue;
        if (section.length == 0)
            section.start = start;
        else if (start != end)
            section.is_in_place = false;
        if (buf->mmap->is_imported())
            section.is_in_place = false;
        end = start + length;
        // Written as a difference, since the sum could wrap around.
        if (length > limits_.size - section.length) {
            if (!is_destination) {
                LOG_ERR("the source has %zu bytes or more, and a task has at most %" PRIu64, section.length + length,
                        limits_.size);
                return DOCA_ERROR_INVALID_VALUE;
            }
            section.length = limits_.size;
        } else {
            section.length += length;
        }
    }
    if (section.length == 0)
        section.is_in_place = false; // it has no address
    return DOCA_SUCCESS;
}

doca_error_t CompressQueue::check_element(const doca_buf &buf, bool is_destination) const noexcept
{
    if (const doca_error_t status = check_buffer(buf, device_); status != DOCA_SUCCESS)
        return status;
    // The permissions are those of DMA: the memory is accessed on behalf of the device.
    if (!buf.mmap->key_for(device_)->can(is_destination ? KeyUse::dma_destination : KeyUse::dma_source)) {
        LOG_ERR("the permissions of the memory map of buffer %p do not let a task %s it",
                static_cast<const void *>(&buf), is_destination ? "write" : "read");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (buf.mmap->is_of_dmabuf()) {
        LOG_ERR("buffer %p with %zu bytes of data is memory of a dmabuf, which the CPU cannot always access: copy it "
                "by DMA first",
                static_cast<const void *>(&buf), buf.data_len);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (buf.mmap->is_imported() && copier_ == nullptr) {
        LOG_ERR("buffer %p is imported memory, and tasks of device %s work on memory of this process: copy it by DMA "
                "first",
                static_cast<const void *>(&buf), device_.function().name.c_str());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

void CompressQueue::carry_out() noexcept
{
    job_.status = run_codec_and_copy(job_);
}

doca_error_t CompressQueue::run_codec_and_copy(Job &job) noexcept
{
    const CompressRequest &request = job.request;
    const Section &source = job.source, &destination = job.destination;
    const std::span<std::byte> room(destination.start, destination.length); // if it is in place
    std::span<const std::byte> in(source.start, source.length);
    const bool compresses = request.kind == CompressKind::compress_deflate;
    // A codec must not overwrite what it has yet to read. Compression reads the source twice, and relies on the second
    // time for the length of its output: a change in between must not make it longer. Memory of this process may change
    // whatever the rights of its memory map are: another map, or another process, may have the same bytes.
    if (compresses || !source.is_in_place || (destination.is_in_place && overlap(in, room))) {
        if (const doca_error_t status = gather(*request.source); status != DOCA_SUCCESS)
            return status;
        in = {source_scratch_.start(), source.length};
    }
    // Only compression uses the slack: a decompressed result within it is too long.
    const std::span<std::byte> scratch(result_scratch_.start(),
                                       job.max_result + (compresses ? DeflateCompressor::slack : 0));
    std::span<std::byte> out = destination.is_in_place ? room.first(job.max_result) : scratch;
    job.result = run_codec(request, in, out, job.length);
    // A destination that is nearly as short as the result: once more, with slack.
    if (compresses && job.result == CodecResult::no_room && destination.is_in_place) {
        out = scratch;
        job.result = run_codec(request, in, out, job.length);
    }
    if (job.result == CodecResult::success && job.length > job.max_result)
        job.result = CodecResult::no_room;
    if (job.result != CodecResult::success)
        return DOCA_SUCCESS;
    // Before the copy, which may overwrite an overlapping source.
    job.computed = checksums_of(request, compresses ? in : out.first(job.length));
    return out.data() == scratch.data() ? scatter(*request.destination, out.first(job.length)) : DOCA_SUCCESS;
}

void CompressQueue::store_checksums() noexcept
{
    switch (job_.request.checksums) {
    case ChecksumSet::none:
        return;
    case ChecksumSet::of_format:
        *static_cast<Checksums *>(job_.checksums) = job_.computed;
        return;
    case ChecksumSet::crc_and_adler:
        *static_cast<std::uint64_t *>(job_.checksums) =
            std::uint64_t{job_.computed.adler32} << 32 | job_.computed.crc32;
    }
}

doca_error_t CompressQueue::conclude() noexcept
{
    if (job_.status != DOCA_SUCCESS)
        return job_.status;
    if (job_.result != CodecResult::success) {
        log_failure();
        return DOCA_ERROR_IO_FAILED;
    }
    store_checksums();
    extend_data(*job_.request.destination, job_.length, false);
    return DOCA_SUCCESS;
}

/// Any peer that sends data can cause these, so each is logged as an error only once.
void CompressQueue::log_failure() noexcept
{
    bool &has_logged = job_.result == CodecResult::bad_data ? has_logged_bad_data_ : has_logged_no_room_;
    const std::uint32_t level = std::exchange(has_logged, true) ? LogLevel::debug : LogLevel::error;
    if (job_.result == CodecResult::bad_data)
        LOG_AT(level,
               "the source of %zu bytes is no valid %s with a content of at most %zu bytes; further ones are logged at "
               "debug level",
               job_.source.length, format_of(job_.request.kind), job_.destination.length);
    else
        LOG_AT(level,
               "the result of a source of %zu bytes does not fit into a destination with room for %zu; further ones "
               "are logged at debug level",
               job_.source.length, job_.destination.length);
}

doca_error_t CompressQueue::gather(const doca_buf &source) noexcept
{
    std::byte *to = source_scratch_.start();
    for (const doca_buf *buf = &source; buf != nullptr; buf = buf->next) {
        if (buf->data_len == 0)
            continue;
        if (!buf->mmap->is_imported()) {
            std::memcpy(to, buf->data, buf->data_len);
        } else if (const doca_error_t status = copier_->read(*buf, buf->data, to, buf->data_len);
                   status != DOCA_SUCCESS) {
            return status;
        }
        to += buf->data_len;
    }
    return DOCA_SUCCESS;
}

doca_error_t CompressQueue::scatter(doca_buf &destination, std::span<std::byte> result) noexcept
{
    Cursor to = Cursor::over_destination(destination, false);
    while (!result.empty()) {
        to.skip_empty();
        const std::size_t length = std::min(result.size(), to.left());
        if (!to.buf().mmap->is_imported()) {
            std::memcpy(to.addr(), result.data(), length);
        } else if (const doca_error_t status = copier_->write(to.buf(), to.addr(), result.data(), length);
                   status != DOCA_SUCCESS) {
            return status;
        }
        to.advance(length);
        result = result.subspan(length);
    }
    return DOCA_SUCCESS;
}

CodecResult CompressQueue::run_codec(const CompressRequest &request, std::span<const std::byte> in,
                                     std::span<std::byte> out, std::size_t &length) noexcept
{
    switch (request.kind) {
    case CompressKind::compress_deflate:
        return compressor_->compress(in, out, length);
    case CompressKind::decompress_deflate:
        return decompressor_->decompress(in, out, length);
    case CompressKind::decompress_lz4_stream:
        return decompress_lz4_stream(in, out, request.lz4, length);
    case CompressKind::decompress_lz4_block:
        return decompress_lz4_block(in, out, length);
    }
    return CodecResult::bad_data;
}

} // namespace opendoca
