// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "copier.hpp"

#include <algorithm>

#include "../../../log.hpp"
#include "copy.hpp"
#include "hazard.hpp"
#include "process_copy.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_COPIER);

namespace opendoca::soft {

namespace {

constexpr std::size_t bounce_size = std::size_t{64} << 10;
constexpr std::size_t expected_exporters = 16;

} // namespace

doca_error_t Hazard::explain() const noexcept
{
    const int pid = memory_->process()->pid();
    if (memory_->process()->is_gone()) {
        LOG_ERR("process %d, whose memory is copied, has ended", pid);
        return DOCA_ERROR_CONNECTION_RESET;
    }
    LOG_ERR("process %d has stopped the export of [%p, +%zu)", pid,
                 static_cast<void *>(memory_->range().addr), memory_->range().len);
    return DOCA_ERROR_NOT_PERMITTED;
}

Copier::Copier() : bounce_(std::make_unique_for_overwrite<std::byte[]>(bounce_size))
{
    readers_.reserve(expected_exporters);
}

Copier::~Copier()
{
    for (const Reader &reader : readers_)
        ExporterProcess::give_back(*reader.slot);
}

doca_error_t Copier::copy(const RemoteMemory *dst_memory, std::byte *dst, const RemoteMemory *src_memory,
                          std::byte *src, std::size_t length, std::size_t total) noexcept
{
    if (dst_memory == nullptr && src_memory == nullptr)
        return copy_bytes(dst, src, length, total);
    if (length <= longest_between_looks) {
        if (dst_memory == nullptr)
            return copy_here<Hazard::Side::src>(*src_memory, src, dst, length, total);
        if (src_memory == nullptr)
            return copy_here<Hazard::Side::dst>(*dst_memory, dst, src, length, total);
    }
    while (length > longest_between_looks) {
        const doca_error_t status =
            copy_guarded(dst_memory, dst, src_memory, src, longest_between_looks, total);
        if (status != DOCA_SUCCESS)
            return status;
        dst += longest_between_looks;
        src += longest_between_looks;
        length -= longest_between_looks;
    }
    return copy_guarded(dst_memory, dst, src_memory, src, length, total);
}

/// Between one other process and this one, which is nearly every copy. One function, because each return
/// after a system call is one that the processor did not foresee.
template <Hazard::Side side>
inline doca_error_t Copier::copy_here(const RemoteMemory &memory, std::byte *there, std::byte *here,
                                      std::size_t length, std::size_t total) noexcept
{
    ReaderSlot *const slot = reader_for(memory);
    if (slot == nullptr) [[unlikely]]
        return DOCA_ERROR_NO_MEMORY;
    constexpr bool is_read = side == Hazard::Side::src;
    const Hazard hazard(&memory, slot, side);
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
    // A process that has ended in the middle may have left half of it.
    return status == DOCA_SUCCESS ? hazard.status() : status;
}

doca_error_t Copier::copy_guarded(const RemoteMemory *dst_memory, std::byte *dst,
                                  const RemoteMemory *src_memory, std::byte *src, std::size_t length,
                                  std::size_t total) noexcept
{
    ReaderSlot *const dst_slot = dst_memory == nullptr ? nullptr : reader_for(*dst_memory);
    ReaderSlot *const src_slot = src_memory == nullptr ? nullptr : reader_for(*src_memory);
    if ((dst_memory != nullptr && dst_slot == nullptr) || (src_memory != nullptr && src_slot == nullptr))
        [[unlikely]]
        return DOCA_ERROR_NO_MEMORY;
    const Hazard dst_hazard(dst_memory, dst_slot, Hazard::Side::dst);
    const Hazard src_hazard(src_memory, src_slot, Hazard::Side::src);
    if (const doca_error_t status = dst_hazard.status(); status != DOCA_SUCCESS) [[unlikely]]
        return status;
    if (const doca_error_t status = src_hazard.status(); status != DOCA_SUCCESS) [[unlikely]]
        return status;

    // What is mapped here is memory like our own; what is left of the remote ones, the kernel must copy.
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
    // A process that has ended in the middle may have left half of it.
    if (status == DOCA_SUCCESS)
        status = dst_hazard.status();
    return status == DOCA_SUCCESS ? src_hazard.status() : status;
}

Route Copier::route_to(std::uint64_t number, const RemoteMemory &memory, Hazard::Side side) noexcept
{
    ReaderSlot *const slot = reader_for(memory);
    if (slot == nullptr || memory.process()->needs_barrier())
        return {};
    return {number, memory, *slot, side};
}

/// Null stands for memory that can be copied here.
doca_error_t Copier::copy_by_kernel(const RemoteMemory *dst_memory, std::byte *dst,
                                    const RemoteMemory *src_memory, std::byte *src,
                                    std::size_t length) noexcept
{
    if (dst_memory == nullptr)
        return read_process(*src_memory->process(), dst, src, length);
    if (src_memory == nullptr)
        return write_process(*dst_memory->process(), dst, src, length);
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

/// First contact with a process; those that nothing is imported from any more make room.
ReaderSlot *Copier::add_reader(const RemoteMemory &memory) noexcept
{
    std::erase_if(readers_, [](const Reader &reader) {
        const bool is_unused = reader.process.use_count() == 1;
        if (is_unused)
            ExporterProcess::give_back(*reader.slot);
        return is_unused;
    });
    ReaderSlot *const slot = memory.process()->take_slot();
    if (slot == nullptr)
        return nullptr;
    try {
        readers_.push_back({memory.process(), slot});
    } catch (...) {
        ExporterProcess::give_back(*slot);
        return nullptr;
    }
    return slot;
}

} // namespace opendoca::soft
