// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../core/device/device.hpp"
#include "../core/objects/buf.hpp"
#include "../core/objects/mmap.hpp"
#include "gcm_key.hpp"

namespace opendoca {

/// The parts of a valid request, in the order of the bytes.
struct CryptPlan {
    std::size_t aad;    ///< bytes
    std::size_t text;   ///< bytes of plaintext, which are those of the ciphertext
    std::size_t result; ///< bytes that the destination receives
    bool is_staged;     ///< a buffer is imported memory, or others may write it: see CryptJob
    bool is_contiguous; ///< one buffer on each side, of memory of this process
};

/// An encryption or decryption. The front end fills in the first group of members; the second one belongs to the queue
/// from the submission to the completion. Owned by the front end's task.
struct CryptRequest {
    const doca_buf *source;
    doca_buf *destination;
    GcmKey *key;
    const std::uint8_t *iv;
    std::uint32_t iv_size;
    std::uint32_t tag_size;
    std::uint32_t aad_size;
    GcmDirection direction;

    std::array<std::uint8_t, gcm_max_iv_size> iv_at_submit;
    CryptPlan plan;
};

/// The rules for requests to one device. A value; constant and therefore thread-safe. The buffers belong to the calling
/// thread.
class CryptCheck {
public:
    /// @p accesses_imports: the CPU can access the memory that the device imports.
    CryptCheck(const Device &device, std::uint32_t max_list_elements, std::uint64_t max_size,
               bool accesses_imports) noexcept
        : device_(&device),
          max_size_(max_size),
          max_list_elements_(max_list_elements),
          accesses_imports_(accesses_imports)
    {
    }

    /// Makes the plan of @p request, whose pointers may be null. Returns INVALID_VALUE, NOT_PERMITTED if a memory map
    /// lacks a right, or IO_FAILED if the result does not fit into the destination's tailroom, after a log line.
    [[nodiscard]] doca_error_t check(const CryptRequest &request, CryptPlan &plan) const noexcept;

private:
    /// The totals of a list.
    struct Sums {
        std::size_t data = 0; ///< bytes, limited to one more than the limit of a request
        std::size_t tailroom = 0;
        bool has_imports = false;
        bool is_shared = false; ///< others may write a buffer
    };

    /// Returns whether source and destination need no check but that of their lengths: each is one buffer of this
    /// process, which the device may read or write. False for a free buffer.
    [[nodiscard]] bool have_fast_path(const doca_buf &src, const doca_buf &dst) const noexcept
    {
        return (src.fast_path_uses & dst.fast_path_uses & KeyUse::by_fast_path) != 0 &&
               src.mmap->first().copied_from == device_ && dst.mmap->first().copied_to == device_ &&
               !src.mmap->is_of_dmabuf() && !dst.mmap->is_of_dmabuf();
    }
    [[nodiscard]] doca_error_t check_buffers(const CryptRequest &request, Sums &source,
                                             Sums &destination) const noexcept;
    [[nodiscard]] doca_error_t check_list(const doca_buf &head, std::uint32_t wanted, Sums &sums) const noexcept;
    [[nodiscard]] doca_error_t check_lengths(const CryptRequest &request, std::size_t length,
                                             CryptPlan &plan) const noexcept;

    const Device *device_;
    std::uint64_t max_size_;          ///< bytes of a source, and of a result
    std::uint32_t max_list_elements_; ///< buffers on a side
    bool accesses_imports_;
};

/// Checks what a front end can check before the submission: the lengths of IV and tag. Returns INVALID_VALUE after a
/// log line.
[[nodiscard]] doca_error_t check_parameters(const std::uint8_t *iv, std::uint32_t iv_size,
                                            std::uint32_t tag_size) noexcept;

} // namespace opendoca
