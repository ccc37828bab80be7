// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "copier.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../../../log/log.hpp"
#include "copy.hpp"
#include "hazard_guard.hpp"
#include "process_copy.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_COPIER);

namespace opendoca::soft {

namespace {

/// Bytes; a compromise between system calls and use of the cache.
constexpr std::size_t bounce_size = std::size_t{64} << 10;
constexpr std::size_t expected_exporters = 16; ///< for which the list has space from the start

} // namespace

doca_error_t HazardGuard::explain() const noexcept
{
    const int pid = memory_->process()->pid();
    if (memory_->process()->is_gone()) {
        LOG_ERR("process %d, the owner of the copied memory, has ended", pid);
        return DOCA_ERROR_CONNECTION_RESET;
    }
    LOG_ERR("process %d has stopped the export of [%p, +%zu)", pid, static_cast<void *>(memory_->range().addr),
            memory_->range().len);
    return DOCA_ERROR_NOT_PERMITTED;
}

Copier::Copier() : bounce_(std::make_unique_for_overwrite<std::byte[]>(bounce_size))
{
    // Reserved, so that the first copies from a few processes do not allocate.
    exporters_.reserve(expected_exporters);
}

Copier::~Copier()
{
    for (const Exporter &exporter : exporters_)
        exporter.process->release_hazard_pointer(*exporter.pointer);
}

doca_error_t Copier::copy(const RemoteMemory *dst_memory, std::byte *dst, const RemoteMemory *src_memory,
                          std::byte *src, std::size_t length, std::size_t total) noexcept
{
    if (dst_memory == nullptr && src_memory == nullptr)
        return copy_bytes(dst, src, length, total);
    if (length <= max_bytes_between_checks) {
        if (dst_memory == nullptr)
            return copy_here<HazardGuard::Side::src>(*src_memory, src, dst, length, total);
        if (src_memory == nullptr)
            return copy_here<HazardGuard::Side::dst>(*dst_memory, dst, src, length, total);
    }
    while (length > max_bytes_between_checks) {
        const doca_error_t status = copy_guarded(dst_memory, dst, src_memory, src, max_bytes_between_checks, total);
        if (status != DOCA_SUCCESS)
            return status;
        dst += max_bytes_between_checks;
        src += max_bytes_between_checks;
        length -= max_bytes_between_checks;
    }
    return copy_guarded(dst_memory, dst, src_memory, src, length, total);
}

/// Copies between one other process and this one, which is nearly every copy. One function, since the processor
/// predicts the returns after a system call badly.
template <HazardGuard::Side side>
inline doca_error_t Copier::copy_here(const RemoteMemory &memory, std::byte *there, std::byte *here, std::size_t length,
                                      std::size_t total) noexcept
{
    HazardPointer *const pointer = hazard_pointer_for(memory);
    if (pointer == nullptr) [[unlikely]]
        return DOCA_ERROR_NO_MEMORY;
    constexpr bool is_read = side == HazardGuard::Side::src;
    const HazardGuard hazard(&memory, pointer, side);
    if (const doca_error_t status = hazard.status(); status != DOCA_SUCCESS) [[unlikely]]
        return status;
    doca_error_t status;
    if (memory.reach() == RemoteMemory::Reach::mapped) {
        std::byte *const mapped = memory.here(there);
        status = is_read ? copy_bytes(here, mapped, length, total) : copy_bytes(mapped, here, length, total);
    } else {
        status = is_read ? read_process(*memory.process(), here, there, length)
                         : write_process(*memory.process(), there, here, length);
    }
    // A process that has ended in the middle may have left half of the data.
    return status == DOCA_SUCCESS ? hazard.status() : status;
}

doca_error_t Copier::copy_guarded(const RemoteMemory *dst_memory, std::byte *dst, const RemoteMemory *src_memory,
                                  std::byte *src, std::size_t length, std::size_t total) noexcept
{
    HazardPointer *const dst_pointer = dst_memory == nullptr ? nullptr : hazard_pointer_for(*dst_memory);
    HazardPointer *const src_pointer = src_memory == nullptr ? nullptr : hazard_pointer_for(*src_memory);
    if ((dst_memory != nullptr && dst_pointer == nullptr) || (src_memory != nullptr && src_pointer == nullptr))
        [[unlikely]]
        return DOCA_ERROR_NO_MEMORY;
    const HazardGuard dst_hazard(dst_memory, dst_pointer, HazardGuard::Side::dst);
    const HazardGuard src_hazard(src_memory, src_pointer, HazardGuard::Side::src);
    if (const doca_error_t status = dst_hazard.status(); status != DOCA_SUCCESS) [[unlikely]]
        return status;
    if (const doca_error_t status = src_hazard.status(); status != DOCA_SUCCESS) [[unlikely]]
        return status;

    // Mapped memory is like memory of this process. The kernel copies from and to the rest.
    const auto resolve = [](const RemoteMemory *&memory, std::byte *&addr) {
        if (memory != nullptr && memory->reach() == RemoteMemory::Reach::mapped) {
            addr = memory->here(addr);
            memory = nullptr;
        }
    };
    resolve(dst_memory, dst);
    resolve(src_memory, src);
    doca_error_t status = dst_memory == nullptr && src_memory == nullptr
                              ? copy_bytes(dst, src, length, total)
                              : copy_by_kernel(dst_memory, dst, src_memory, src, length);
    // A process that has ended in the middle may have left half of the data.
    if (status == DOCA_SUCCESS)
        status = dst_hazard.status();
    return status == DOCA_SUCCESS ? src_hazard.status() : status;
}

CachedRemoteKey Copier::cached_key_for(std::uint64_t number, const RemoteMemory &memory,
                                       HazardGuard::Side side) noexcept
{
    HazardPointer *const pointer = hazard_pointer_for(memory);
    // A cached key has no full barrier: it relies on the exporter's membarrier().
    if (pointer == nullptr || memory.process()->needs_barrier())
        return {};
    return {number, memory, *pointer, side};
}

/// Copies with at least one side that is not mapped here. Null stands for memory that this process can access.
doca_error_t Copier::copy_by_kernel(const RemoteMemory *dst_memory, std::byte *dst, const RemoteMemory *src_memory,
                                    std::byte *src, std::size_t length) noexcept
{
    if (dst_memory == nullptr)
        return read_process(*src_memory->process(), dst, src, length);
    if (src_memory == nullptr)
        return write_process(*dst_memory->process(), dst, src, length);
    // The kernel copies between this process and another, so data goes by a buffer here.
    for (std::size_t done = 0; done != length;) {
        const std::size_t step = std::min(length - done, bounce_size);
        doca_error_t status = read_process(*src_memory->process(), bounce_.get(), src + done, step);
        if (status == DOCA_SUCCESS)
            status = write_process(*dst_memory->process(), dst + done, bounce_.get(), step);
        if (status != DOCA_SUCCESS)
            return status;
        done += step;
    }
    return DOCA_SUCCESS;
}

/// Handles the first contact with a process. Gives back the hazard pointers of processes from which nothing is imported
/// any more.
HazardPointer *Copier::add_exporter(const RemoteMemory &memory) noexcept
{
    std::erase_if(exporters_, [](const Exporter &exporter) {
        // This list holds the only share: no import is left.
        const bool is_unused = exporter.process.use_count() == 1;
        if (is_unused)
            exporter.process->release_hazard_pointer(*exporter.pointer);
        return is_unused;
    });
    HazardPointer *const pointer = memory.process()->take_hazard_pointer();
    if (pointer == nullptr)
        return nullptr;
    try {
        exporters_.push_back({memory.process(), pointer});
    } catch (...) {
        memory.process()->release_hazard_pointer(*pointer);
        return nullptr;
    }
    return pointer;
}

} // namespace opendoca::soft
