// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "crypt_job.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <openssl/crypto.h>

#include "../core/log/log.hpp"
#include "../core/objects/mmap.hpp"

OPENDOCA_LOG_SOURCE(DOCA_AES_GCM_JOB);

namespace opendoca {

CryptJob::CryptJob(Device &device)
{
    // Not supported by all devices: requests with imported memory are then refused.
    (void)device.create_memory_copier(copier_);
}

CryptJob::~CryptJob()
{
    OPENSSL_cleanse(exchanged_.get(), exchanged_size); // there may be plaintext in it
}

doca_error_t CryptJob::run(const CryptRequest &request) noexcept
{
    if (request.plan.is_contiguous) [[likely]]
        return run_contiguous(request);
    begin(request);
    return advance(request.plan.aad + request.plan.text);
}

/// The same as begin() and advance(), for one buffer on each side.
doca_error_t CryptJob::run_contiguous(const CryptRequest &request) noexcept
{
    const CryptPlan &plan = request.plan;
    GcmKey &key = *request.key;
    doca_buf &destination = *request.destination;
    const std::size_t before = destination.data_len;
    std::byte *const in = request.source->data;
    std::byte *const out = destination.data + before;
    std::byte *const text = out + plan.aad;
    if (!key.begin(request.direction, request.iv_at_submit.data(), request.iv_size))
        return DOCA_ERROR_IO_FAILED;
    if (plan.aad != 0) {
        if (!key.add_aad(in, plan.aad))
            return DOCA_ERROR_IO_FAILED;
        if (in != out)
            std::memcpy(out, in, plan.aad); // the check has refused any other overlap
    }
    if (request.direction == GcmDirection::encrypt) {
        std::byte tag[gcm_tag_size];
        if (!key.crypt(in + plan.aad, text, plan.text) || !key.end_encryption(tag))
            return DOCA_ERROR_IO_FAILED;
        std::memcpy(text + plan.text, tag, request.tag_size);
    } else {
        const bool is_decrypted = key.crypt(in + plan.aad, text, plan.text);
        if (!is_decrypted || !key.end_decryption(in + plan.aad + plan.text, request.tag_size)) {
            OPENSSL_cleanse(text, plan.text);
            if (is_decrypted)
                log_wrong_tag(request);
            return DOCA_ERROR_IO_FAILED;
        }
    }
    destination.data_len = before + plan.result;
    return DOCA_SUCCESS;
}

void CryptJob::begin(const CryptRequest &request) noexcept
{
    request_ = &request;
    is_begun_ = false;
    aad_left_ = request.plan.aad;
    text_left_ = request.plan.text;
    source_ = Cursor::over_data(*request.source);
    destination_ = Cursor::over_destination(*request.destination, false);
    text_in_destination_ = destination_;
}

doca_error_t CryptJob::advance(std::size_t budget) noexcept
{
    const doca_error_t status = process(budget);
    if (status == DOCA_SUCCESS)
        extend_data(*request_->destination, request_->plan.result, false);
    else if (status != DOCA_ERROR_IN_PROGRESS)
        wipe();
    return status;
}

void CryptJob::cancel() noexcept
{
    wipe();
}

doca_error_t CryptJob::process(std::size_t budget) noexcept
{
    const CryptRequest &request = *request_;
    if (!is_begun_) {
        if (!request.key->begin(request.direction, request.iv_at_submit.data(), request.iv_size))
            return DOCA_ERROR_IO_FAILED;
        is_begun_ = true;
    }
    while (aad_left_ + text_left_ != 0) {
        if (budget == 0)
            return DOCA_ERROR_IN_PROGRESS;
        const std::size_t before = aad_left_ + text_left_;
        if (const doca_error_t status = process_part(budget); status != DOCA_SUCCESS)
            return status;
        budget -= before - (aad_left_ + text_left_);
    }
    return request.direction == GcmDirection::encrypt ? append_tag() : verify_tag();
}

/// Processes the next contiguous part of the AAD, or of the text after it.
doca_error_t CryptJob::process_part(std::size_t limit) noexcept
{
    GcmKey &key = *request_->key;
    Part part{};
    const bool is_aad = aad_left_ != 0;
    std::size_t &left = is_aad ? aad_left_ : text_left_;
    if (const doca_error_t status = open(std::min(left, limit), part); status != DOCA_SUCCESS)
        return status;
    // Before the part is written, so that wipe() includes it.
    left -= part.length;
    if (is_aad) {
        if (!key.add_aad(part.in, part.length))
            return DOCA_ERROR_IO_FAILED;
        if (part.in != part.out)
            std::memmove(part.out, part.in, part.length);
    } else if (!key.crypt(part.in, part.out, part.length)) {
        return DOCA_ERROR_IO_FAILED;
    }
    const doca_error_t status = close(part);
    if (is_aad && aad_left_ == 0)
        text_in_destination_ = destination_;
    return status;
}

doca_error_t CryptJob::open(std::size_t limit, Part &part) noexcept
{
    source_.skip_empty();
    destination_.skip_empty();
    part = {source_.addr(), destination_.addr(), std::min({limit, source_.left(), destination_.left()})};
    if (!request_->plan.is_staged)
        return DOCA_SUCCESS;
    part.length = std::min(part.length, exchanged_size);
    if (needs_staging(destination_.buf()))
        part.out = exchanged_.get();
    if (!needs_staging(source_.buf()))
        return DOCA_SUCCESS;
    part.in = exchanged_.get();
    return read_bytes(source_, part.in, part.length);
}

doca_error_t CryptJob::close(const Part &part) noexcept
{
    doca_error_t status = DOCA_SUCCESS;
    if (request_->plan.is_staged && needs_staging(destination_.buf()))
        status = write_part(destination_, part.out, part.length);
    source_.advance(part.length);
    destination_.advance(part.length);
    return status;
}

doca_error_t CryptJob::append_tag() noexcept
{
    std::byte tag[gcm_tag_size];
    if (!request_->key->end_encryption(tag))
        return DOCA_ERROR_IO_FAILED;
    return write_bytes(destination_, tag, request_->tag_size);
}

/// Collects the tag, which any number of buffers may have parts of, and verifies it.
doca_error_t CryptJob::verify_tag() noexcept
{
    std::byte tag[gcm_tag_size];
    for (std::size_t done = 0; done != request_->tag_size;) {
        source_.skip_empty();
        const std::size_t length = std::min(request_->tag_size - done, source_.left());
        if (const doca_error_t status = read_bytes(source_, tag + done, length); status != DOCA_SUCCESS)
            return status;
        source_.advance(length);
        done += length;
    }
    if (request_->key->end_decryption(tag, request_->tag_size))
        return DOCA_SUCCESS;
    log_wrong_tag(*request_);
    return DOCA_ERROR_IO_FAILED;
}

/// Any peer that sends data can cause this, so it is logged as an error only once.
void CryptJob::log_wrong_tag(const CryptRequest &request) noexcept
{
    LOG_AT(std::exchange(has_logged_wrong_tag_, true) ? LogLevel::debug : LogLevel::error,
           "the tag of %u bytes does not belong to %zu bytes of AAD and %zu of ciphertext: the plaintext is dropped; "
           "further ones are logged at debug level",
           request.tag_size, request.plan.aad, request.plan.text);
}

void CryptJob::wipe() noexcept
{
    std::size_t length = request_->plan.text - text_left_;
    if (request_->direction != GcmDirection::decrypt || length == 0)
        return;
    // Imported memory is overwritten with the zeros of the buffer. If that fails, the process has revoked the memory or
    // has ended, which was logged.
    if (request_->plan.is_staged)
        OPENSSL_cleanse(exchanged_.get(), exchanged_size);
    Cursor cursor = text_in_destination_;
    while (length != 0) {
        cursor.skip_empty();
        std::size_t part = std::min(length, cursor.left());
        if (is_imported(cursor.buf())) {
            const std::size_t rest = part;
            part = std::min(part, exchanged_size);
            if (copier_->write(cursor.buf(), cursor.addr(), exchanged_.get(), part) != DOCA_SUCCESS)
                part = rest; // the same for the rest of the buffer
        } else {
            OPENSSL_cleanse(cursor.addr(), part);
        }
        cursor.advance(part);
        length -= part;
    }
}

doca_error_t CryptJob::write_bytes(Cursor &cursor, std::byte *bytes, std::size_t length) noexcept
{
    while (length != 0) {
        cursor.skip_empty();
        const std::size_t part = std::min(length, cursor.left());
        if (const doca_error_t status = write_part(cursor, bytes, part); status != DOCA_SUCCESS)
            return status;
        cursor.advance(part);
        bytes += part;
        length -= part;
    }
    return DOCA_SUCCESS;
}

doca_error_t CryptJob::read_bytes(const Cursor &cursor, std::byte *bytes, std::size_t length) noexcept
{
    if (is_imported(cursor.buf()))
        return copier_->read(cursor.buf(), cursor.addr(), bytes, length);
    std::memcpy(bytes, cursor.addr(), length);
    return DOCA_SUCCESS;
}

doca_error_t CryptJob::write_part(const Cursor &cursor, std::byte *bytes, std::size_t length) noexcept
{
    if (is_imported(cursor.buf()))
        return copier_->write(cursor.buf(), cursor.addr(), bytes, length);
    std::memcpy(cursor.addr(), bytes, length);
    return DOCA_SUCCESS;
}

bool CryptJob::is_imported(const doca_buf &buf) noexcept
{
    return buf.mmap->is_imported();
}

bool CryptJob::needs_staging(const doca_buf &buf) noexcept
{
    return is_imported(buf) || buf.mmap->is_writable_by_others();
}

} // namespace opendoca
