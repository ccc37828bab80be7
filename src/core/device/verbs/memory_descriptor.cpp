// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "memory_descriptor.hpp"

#include <cinttypes>
#include <cstring>

#include "../../log.hpp"
#include <doca_types.h>

#include "../../crc32.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_MEMORY);

namespace opendoca::verbs {

namespace {

constexpr char memory_magic[8] = {'D', 'O', 'C', 'A', 'R', 'K', 'E', 'Y'};
constexpr std::uint32_t memory_version = 1;
constexpr std::uint32_t rdma_access =
    DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;

doca_error_t refuse(const char *reason) noexcept
{
    LOG_ERR("the export descriptor can't be used: %s", reason);
    return DOCA_ERROR_INVALID_VALUE;
}

} // namespace

RemoteMemoryDescriptor describe(const MemoryRange &range, std::uint32_t key, std::uint32_t access) noexcept
{
    RemoteMemoryDescriptor d{};
    std::memcpy(d.magic, memory_magic, sizeof(d.magic));
    d.version = memory_version;
    d.size = sizeof(d);
    d.addr = reinterpret_cast<std::uintptr_t>(range.addr);
    d.len = range.len;
    d.key = key;
    d.access = access & rdma_access;
    d.checksum = crc32(&d, offsetof(RemoteMemoryDescriptor, checksum));
    return d;
}

doca_error_t read_descriptor(std::span<const std::byte> bytes, RemoteMemoryDescriptor &descriptor) noexcept
{
    RemoteMemoryDescriptor d{};
    // Programs hand in the whole buffer that they have read it into.
    if (bytes.size() < sizeof(d)) {
        LOG_ERR("an export descriptor of a verbs device has %zu bytes, not %zu", sizeof(d),
                     bytes.size());
        return DOCA_ERROR_INVALID_VALUE;
    }
    std::memcpy(&d, bytes.data(), sizeof(d));
    if (std::memcmp(d.magic, memory_magic, sizeof(d.magic)) != 0)
        return refuse("it is not one of doca_mmap_export_rdma() on a verbs device");
    if (d.version != memory_version || d.size != sizeof(d)) {
        LOG_ERR("the export descriptor has version %" PRIu32 " and %" PRIu32
                     " bytes; this library's have %" PRIu32 " and %zu",
                     d.version, d.size, memory_version, sizeof(d));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (d.checksum != crc32(&d, offsetof(RemoteMemoryDescriptor, checksum)))
        return refuse("it was damaged on its way");
    if (d.addr == 0 || d.len == 0 || d.len > UINTPTR_MAX - d.addr || (d.access & ~rdma_access) != 0 ||
        d.access == 0) {
        LOG_ERR("the export descriptor can't be used: the range [0x%" PRIx64 ", +%" PRIu64
                     ") with access 0x%" PRIx32 " makes no sense",
                     d.addr, d.len, d.access);
        return DOCA_ERROR_INVALID_VALUE;
    }
    descriptor = d;
    return DOCA_SUCCESS;
}

} // namespace opendoca::verbs
