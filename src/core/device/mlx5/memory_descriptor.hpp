// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../../base/public_values.hpp"
#include <doca_error.h>

namespace opendoca::mlx5 {

/// An export descriptor for the DPU: the key of a function that other functions of the same card may use, and its
/// memory, which is a memory map or the word of a counter. The contents are untrusted; the card checks the access key
/// and the range of each access.
struct SharedMemoryDescriptor {
    std::uint64_t addr;          ///< address in the exporter's process
    std::uint64_t len;           ///< bytes
    std::uint64_t card_guid;     ///< shared by all functions of the card
    std::uint16_t vhca_id;       ///< the function that has the key
    std::uint32_t key_index;     ///< 24 bits
    std::uint32_t access;        ///< Access::dpu_read_only or Access::dpu_read_write
    std::uint8_t access_key[32]; ///< the secret that protects the key

    template <typename Self, typename Visitor>
    static void visit(Self &d, Visitor visitor)
    {
        visitor(d.addr);
        visitor(d.len);
        visitor(d.card_guid);
        visitor(d.vhca_id);
        visitor(d.key_index);
        visitor(d.access);
        visitor(d.access_key);
    }
};

/// Returns whether @p bytes are marked as an export for RDMA instead. Nothing else of them is checked.
[[nodiscard]] bool is_for_rdma(std::span<const std::byte> bytes) noexcept;

/// Parses and checks a descriptor of a memory map. INVALID_VALUE, logged, if @p bytes are not a valid one.
[[nodiscard]] doca_error_t read_descriptor(std::span<const std::byte> bytes,
                                           SharedMemoryDescriptor &descriptor) noexcept;
/// Does the same for a counter: 8 writable bytes, aligned.
[[nodiscard]] doca_error_t read_counter_descriptor(std::span<const std::byte> bytes,
                                                   SharedMemoryDescriptor &descriptor) noexcept;

} // namespace opendoca::mlx5
