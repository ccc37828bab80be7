// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <doca_error.h>

#include "../../memory_range.hpp"

namespace opendoca::verbs {

/// An export descriptor for RDMA: what a peer has to know to name memory of this process. Plain bytes from
/// anywhere; the exporter's device is who checks the key.
struct RemoteMemoryDescriptor {
    char magic[8];
    std::uint32_t version;
    std::uint32_t size;
    std::uint64_t addr;
    std::uint64_t len;
    std::uint32_t key;
    std::uint32_t access;
    std::uint32_t reserved;
    std::uint32_t checksum; ///< CRC-32 of all that stands before
};

static_assert(sizeof(RemoteMemoryDescriptor) == 48, "programs read descriptors into 256 bytes");

[[nodiscard]] RemoteMemoryDescriptor describe(const MemoryRange &range, std::uint32_t key,
                                              std::uint32_t access) noexcept;
/// Checks @p bytes. INVALID_VALUE, with the reason in the log, when they are no descriptor.
[[nodiscard]] doca_error_t read_descriptor(std::span<const std::byte> bytes,
                                           RemoteMemoryDescriptor &descriptor) noexcept;

} // namespace opendoca::verbs
