// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <memory>

#include "../core/device/cursor.hpp"
#include "../core/device/device.hpp"
#include "../core/device/memory_copier.hpp"
#include "crypt_check.hpp"

namespace opendoca {

/// Carries out one request at a time, in as many steps as the caller wants. Owned by a CryptQueue, and used by its
/// thread. Works in place on memory that only this process writes. Imported memory goes through a buffer of its own,
/// part by part, and so does memory that others may write: OpenSSL reads its input twice, to decrypt and to
/// authenticate it, and the same bytes must be authentic that are decrypted. Allocates nothing after its creation.
class CryptJob {
public:
    /// Throws std::bad_alloc. @p device must outlive the object.
    explicit CryptJob(Device &device);
    CryptJob(const CryptJob &) = delete;
    CryptJob &operator=(const CryptJob &) = delete;
    ~CryptJob();

    [[nodiscard]] bool accesses_imports() const noexcept { return copier_ != nullptr; }

    /// Carries out a short request at once. Returns as advance() does, but not IN_PROGRESS.
    [[nodiscard]] doca_error_t run(const CryptRequest &request) noexcept;
    /// Takes a checked request with its plan, which must not change until the job has ended. The job before has ended.
    void begin(const CryptRequest &request) noexcept;
    /// Processes up to @p budget bytes of the source. Returns IN_PROGRESS if some are left. Any other status ends the
    /// job. SUCCESS: the destination's data has grown. IO_FAILED: the tag is wrong, or OpenSSL has failed. Errors of
    /// MemoryCopier. After an error no plaintext of a decryption is left in the destination.
    [[nodiscard]] doca_error_t advance(std::size_t budget) noexcept;
    /// Ends a job that is in progress, as after an error.
    void cancel() noexcept;

private:
    /// A piece of both sides that is contiguous.
    struct Part {
        std::byte *in;
        std::byte *out;
        std::size_t length;
    };

    // Between open() and close() a part is processed: from in to out.
    [[nodiscard]] doca_error_t open(std::size_t limit, Part &part) noexcept;
    [[nodiscard]] doca_error_t close(const Part &part) noexcept;

    [[nodiscard]] doca_error_t run_contiguous(const CryptRequest &request) noexcept;
    [[nodiscard]] doca_error_t process(std::size_t budget) noexcept;
    [[nodiscard]] doca_error_t process_part(std::size_t limit) noexcept;
    [[nodiscard]] doca_error_t append_tag() noexcept;
    [[nodiscard]] doca_error_t verify_tag() noexcept;
    void log_wrong_tag(const CryptRequest &request) noexcept;
    /// Overwrites the plaintext that was written.
    void wipe() noexcept;
    [[nodiscard]] doca_error_t write_bytes(Cursor &cursor, std::byte *bytes, std::size_t length) noexcept;

    /// Copy @p length bytes from the buffer of a cursor, or to it, without moving the cursor.
    [[nodiscard]] doca_error_t read_bytes(const Cursor &cursor, std::byte *bytes, std::size_t length) noexcept;
    [[nodiscard]] doca_error_t write_part(const Cursor &cursor, std::byte *bytes, std::size_t length) noexcept;

    [[nodiscard]] static bool is_imported(const doca_buf &buf) noexcept;
    [[nodiscard]] static bool needs_staging(const doca_buf &buf) noexcept;

    /// Bytes that are staged together: few enough for the second-level cache.
    static constexpr std::size_t exchanged_size = std::size_t{64} << 10;

    std::unique_ptr<MemoryCopier> copier_; ///< null if the CPU cannot access what the device imports
    std::unique_ptr<std::byte[]> exchanged_ =
        std::make_unique_for_overwrite<std::byte[]>(exchanged_size); ///< a part of staged memory
    bool has_logged_wrong_tag_ = false;

    // The request in progress.
    const CryptRequest *request_ = nullptr;
    bool is_begun_ = false;    ///< the cipher has the IV
    std::size_t aad_left_ = 0; ///< bytes to be processed
    std::size_t text_left_ = 0;
    Cursor source_;
    Cursor destination_;
    Cursor text_in_destination_; ///< its beginning; valid when aad_left_ is 0
};

} // namespace opendoca
