// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <doca_error.h>

#include "../../base/public_values.hpp"

namespace opendoca::verbs {

/// All rights that a descriptor can grant.
inline constexpr std::uint32_t rdma_access = Access::rdma_read | Access::rdma_write | Access::rdma_atomic;

/// An export descriptor for RDMA: what a peer needs to address memory of the exporter. The contents are untrusted; the
/// exporter's device checks the key.
struct RemoteMemoryDescriptor {
    std::uint64_t addr;   ///< address in the exporter's process
    std::uint64_t len;    ///< bytes
    std::uint32_t key;    ///< rkey
    std::uint32_t access; ///< bits of rdma_access

    template <typename Self, typename Visitor>
    static void visit(Self &d, Visitor visitor)
    {
        visitor(d.addr);
        visitor(d.len);
        visitor(d.key);
        visitor(d.access);
    }
};

/// Parses and checks @p bytes. INVALID_VALUE, logged, if they are not a valid descriptor.
[[nodiscard]] doca_error_t read_descriptor(std::span<const std::byte> bytes,
                                           RemoteMemoryDescriptor &descriptor) noexcept;

} // namespace opendoca::verbs
