// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "memory_descriptor.hpp"

#include <cinttypes>

#include "../../log/log.hpp"
#include "../descriptor.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MLX5_MEMORY);

namespace opendoca::mlx5 {

bool is_for_rdma(std::span<const std::byte> bytes) noexcept
{
    return DescriptorReader(bytes, DescriptorKind::verbs_memory, descriptor_version_of(DescriptorKind::verbs_memory),
                            true)
               .kind() == DescriptorKind::verbs_memory;
}

namespace {

/// Parses and checks the fields that both kinds of descriptors share.
doca_error_t read(std::span<const std::byte> bytes, DescriptorKind kind, SharedMemoryDescriptor &descriptor) noexcept
{
    SharedMemoryDescriptor d{};
    if (const auto fault = from_bytes(bytes, kind, d); fault != DescriptorReader::Fault::none) {
        LOG_ERR("these %zu bytes are not an export descriptor of a %s for the DPU of an mlx5 device: %s", bytes.size(),
                kind == DescriptorKind::mlx5_memory ? "memory map" : "sync event", to_text(fault));
        return DOCA_ERROR_INVALID_VALUE;
    }
    constexpr std::uint32_t largest_index = 0xffffff;
    // Checked so that the range neither wraps around nor is empty, and the index fits into the field of the command.
    // The card checks everything else.
    if (d.addr == 0 || d.len == 0 || d.len > UINTPTR_MAX - d.addr || d.key_index > largest_index ||
        (d.access != Access::dpu_read_only && d.access != Access::dpu_read_write)) {
        LOG_ERR("the export descriptor can't be used: the range [0x%" PRIx64 ", +%" PRIu64 ") of key index 0x%" PRIx32
                " with access 0x%" PRIx32 " is not valid",
                d.addr, d.len, d.key_index, d.access);
        return DOCA_ERROR_INVALID_VALUE;
    }
    descriptor = d;
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t read_descriptor(std::span<const std::byte> bytes, SharedMemoryDescriptor &descriptor) noexcept
{
    return read(bytes, DescriptorKind::mlx5_memory, descriptor);
}

doca_error_t read_counter_descriptor(std::span<const std::byte> bytes, SharedMemoryDescriptor &descriptor) noexcept
{
    SharedMemoryDescriptor d{};
    const doca_error_t status = read(bytes, DescriptorKind::mlx5_counter, d);
    if (status != DOCA_SUCCESS)
        return status;
    // RDMA atomics require an aligned word of 8 bytes.
    if (d.len != sizeof(std::uint64_t) || d.addr % sizeof(std::uint64_t) != 0 || d.access != Access::dpu_read_write) {
        LOG_ERR("the export descriptor can't be used: %" PRIu64 " bytes at 0x%" PRIx64 " are not a sync event", d.len,
                d.addr);
        return DOCA_ERROR_INVALID_VALUE;
    }
    descriptor = d;
    return DOCA_SUCCESS;
}

} // namespace opendoca::mlx5
