// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "memory_descriptor.hpp"

#include <cinttypes>

#include "../../log/log.hpp"
#include "../descriptor.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_MEMORY);

namespace opendoca::verbs {

doca_error_t read_descriptor(std::span<const std::byte> bytes, RemoteMemoryDescriptor &descriptor) noexcept
{
    RemoteMemoryDescriptor d{};
    if (const auto fault = from_bytes(bytes, DescriptorKind::verbs_memory, d); fault != DescriptorReader::Fault::none) {
        LOG_ERR("these %zu bytes are not an export descriptor of a memory map for RDMA of a verbs device: %s",
                bytes.size(), to_text(fault));
        return DOCA_ERROR_INVALID_VALUE;
    }
    // Checked so that the range neither wraps around nor is empty. Whether the key covers it is checked by the
    // exporter's device at each access.
    if (d.addr == 0 || d.len == 0 || d.len > UINTPTR_MAX - d.addr || (d.access & ~rdma_access) != 0 || d.access == 0) {
        LOG_ERR("the export descriptor can't be used: the range [0x%" PRIx64 ", +%" PRIu64 ") with access 0x%" PRIx32
                " is not valid",
                d.addr, d.len, d.access);
        return DOCA_ERROR_INVALID_VALUE;
    }
    descriptor = d;
    return DOCA_SUCCESS;
}

} // namespace opendoca::verbs
