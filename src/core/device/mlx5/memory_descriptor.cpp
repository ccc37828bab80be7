// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "memory_descriptor.hpp"

#include <cinttypes>

#include "../../log.hpp"
#include "../descriptor.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MLX5_MEMORY);

namespace opendoca::mlx5 {

bool is_for_rdma(std::span<const std::byte> bytes) noexcept
{
    return DescriptorReader(bytes, DescriptorKind::verbs_memory, descriptor_version, true).kind() ==
           DescriptorKind::verbs_memory;
}

doca_error_t read_descriptor(std::span<const std::byte> bytes, SharedMemoryDescriptor &descriptor) noexcept
{
    SharedMemoryDescriptor d{};
    if (const auto fault = from_bytes(bytes, DescriptorKind::mlx5_memory, d); fault != DescriptorReader::Fault::none) {
        LOG_ERR("these %zu bytes are no export descriptor of a memory map for the DPU of an mlx5 device: %s",
                bytes.size(), to_text(fault));
        return DOCA_ERROR_INVALID_VALUE;
    }
    constexpr std::uint32_t largest_index = 0xffffff;
    if (d.addr == 0 || d.len == 0 || d.len > UINTPTR_MAX - d.addr || d.key_index > largest_index ||
        (d.access != Access::dpu_read_only && d.access != Access::dpu_read_write)) {
        LOG_ERR("the export descriptor can't be used: the range [0x%" PRIx64 ", +%" PRIu64 ") of key index 0x%" PRIx32
                " with access 0x%" PRIx32 " makes no sense",
                d.addr, d.len, d.key_index, d.access);
        return DOCA_ERROR_INVALID_VALUE;
    }
    descriptor = d;
    return DOCA_SUCCESS;
}

} // namespace opendoca::mlx5
