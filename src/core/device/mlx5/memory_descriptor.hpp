// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <doca_error.h>
#include "../../public_values.hpp"

namespace opendoca::mlx5 {

/// What an export descriptor for the DPU says: which key of which function another function of the same card may use,
/// and for what memory: that of a memory map, or the word of a counter. From anywhere; the card is who checks the access
/// key, and the range.
struct SharedMemoryDescriptor {
    std::uint64_t addr;
    std::uint64_t len;       ///< bytes
    std::uint64_t card_guid; ///< of the card, whose functions all have it
    std::uint16_t vhca_id;   ///< of the function that has the key
    std::uint32_t key_index;
    std::uint32_t access; ///< Access::dpu_read_only or Access::dpu_read_write
    std::uint8_t access_key[32];

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

/// Whether @p bytes are meant to be an export for RDMA, and no such descriptor: all else of them is still to be checked.
[[nodiscard]] bool is_for_rdma(std::span<const std::byte> bytes) noexcept;

/// Checks @p bytes. INVALID_VALUE, with the reason in the log, when they are no descriptor of memory.
[[nodiscard]] doca_error_t read_descriptor(std::span<const std::byte> bytes,
                                           SharedMemoryDescriptor &descriptor) noexcept;
/// The same, of a counter: 8 bytes, aligned, that may be written.
[[nodiscard]] doca_error_t read_counter_descriptor(std::span<const std::byte> bytes,
                                                   SharedMemoryDescriptor &descriptor) noexcept;

} // namespace opendoca::mlx5
