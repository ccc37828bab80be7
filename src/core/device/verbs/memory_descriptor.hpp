// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <doca_error.h>

#include "../../public_values.hpp"

namespace opendoca::verbs {

/// All permissions that a descriptor can give.
inline constexpr std::uint32_t rdma_access =
    Access::rdma_read | Access::rdma_write | Access::rdma_atomic;

/// What an export descriptor for RDMA says: what a peer has to know to name memory of this process. From anywhere; the
/// exporter's device is who checks the key.
struct RemoteMemoryDescriptor {
    std::uint64_t addr;
    std::uint64_t len; ///< bytes
    std::uint32_t key;
    std::uint32_t access; ///< of rdma_access

    template <typename Self, typename Visitor>
    static void visit(Self &d, Visitor visitor)
    {
        visitor(d.addr);
        visitor(d.len);
        visitor(d.key);
        visitor(d.access);
    }
};

/// Checks @p bytes. INVALID_VALUE, with the reason in the log, when they are no descriptor.
[[nodiscard]] doca_error_t read_descriptor(std::span<const std::byte> bytes,
                                           RemoteMemoryDescriptor &descriptor) noexcept;

} // namespace opendoca::verbs
