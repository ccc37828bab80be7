// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The settings of a memory map. Each setter checks the state first, then its arguments, and changes nothing on failure.
#include "mmap.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include "../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MMAP);

using opendoca::Access;

/// Checks that the setting named @p what may change: not that of an imported map (NOT_PERMITTED), nor that of a started
/// one (@p when_started, as DOCA's error depends on the setting).
doca_error_t doca_mmap::check_configurable(const char *what, doca_error_t when_started) const noexcept
{
    if (is_imported_) {
        LOG_ERR("an imported memory map has no %s to change", what);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (state_ == State::started) {
        LOG_ERR("the memory map is started: its %s can't be changed", what);
        return when_started;
    }
    return DOCA_SUCCESS;
}

/// Checks that the range may be set. It is fixed once set: keys, pools and layouts rely on it.
doca_error_t doca_mmap::check_rangeless() const noexcept
{
    if (const doca_error_t status = check_configurable("memory range", DOCA_ERROR_BAD_STATE); status != DOCA_SUCCESS)
        return status;
    if (has_range()) {
        LOG_ERR("the memory map has the range [%p, +%zu) already", static_cast<void *>(range_.addr), range_.len);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_memrange(std::byte *addr, std::size_t len) noexcept
{
    if (const doca_error_t status = check_rangeless(); status != DOCA_SUCCESS)
        return status;
    // The end of the range must be computable; whether the memory is accessible is checked by the devices at the start.
    if (len > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(addr)) {
        LOG_ERR("the range [%p, +%zu) wraps around the address space", static_cast<void *>(addr), len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    range_ = {addr, len};
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_dmabuf_memrange(int fd, std::byte *addr, std::size_t offset, std::size_t len)
{
    if (const doca_error_t status = check_rangeless(); status != DOCA_SUCCESS)
        return status;
    // Mapped here if the program has not done it: the CPU has to access the memory, too.
    const doca_error_t status = addr == nullptr ? opendoca::Dmabuf::map(fd, offset, len, dmabuf_)
                                                : opendoca::Dmabuf::adopt(fd, addr, offset, len, dmabuf_);
    if (status != DOCA_SUCCESS)
        return status;
    range_ = dmabuf_->range();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_permissions(std::uint32_t access) noexcept
{
    if (const doca_error_t status = check_configurable("permissions", DOCA_ERROR_BAD_STATE); status != DOCA_SUCCESS)
        return status;
    if ((access & ~Access::all) != 0) {
        LOG_ERR("access flags 0x%" PRIx32 ": the bits 0x%" PRIx32 " are not defined", access, access & ~Access::all);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // A set of bits, of which these two are alternatives.
    if ((access & Access::any_dpu) == Access::any_dpu) {
        LOG_ERR("access flags 0x%" PRIx32
                ": the flags for read only and for read and write across the PCIe exclude each other",
                access);
        return DOCA_ERROR_INVALID_VALUE;
    }
    access_ = access;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_free_cb(opendoca::FreeCallback *callback, void *cookie) noexcept
{
    if (const doca_error_t status = check_configurable("free callback", DOCA_ERROR_BAD_STATE); status != DOCA_SUCCESS)
        return status;
    // A new callback is called only for memory of a later start. Setting the same one again changes nothing.
    if (callback != free_cb_ || cookie != free_cb_cookie_)
        free_cb_is_due_ = false;
    free_cb_ = callback;
    free_cb_cookie_ = cookie;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_user_data(doca_data data) noexcept
{
    // An imported map is always started, so its user data can be set at any time.
    if (state_ == State::started && !is_imported_) {
        LOG_ERR("the memory map is started: its user data can't be changed");
        return DOCA_ERROR_BAD_STATE;
    }
    user_data_ = data;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::enable_thread_safety() noexcept
{
    // The counts of existing buffers would be wrong afterwards.
    if (state_ == State::started || num_bufs() != 0) {
        LOG_ERR("the memory map is started or has buffers: thread safety can't be enabled");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    counts_bufs_ = false;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_max_num_devices(std::uint32_t count) noexcept
{
    if (const doca_error_t status = check_configurable("device limit", DOCA_ERROR_NOT_PERMITTED);
        status != DOCA_SUCCESS)
        return status;
    // Stricter than the other settings, which can change between a stop and the next start.
    if (was_started_) {
        LOG_ERR("the device limit is fixed by the first start of the memory map");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    // Not below the number of devices that were added, which stay.
    if (count == 0 || count < members_.size()) {
        LOG_ERR("a limit of %" PRIu32 " devices is too small: %zu were added, and 1 is the minimum", count,
                members_.size());
        return DOCA_ERROR_INVALID_VALUE;
    }
    max_num_devices_ = count;
    return DOCA_SUCCESS;
}
