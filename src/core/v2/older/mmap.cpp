// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "mmap.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include "../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_OLDER_MMAP);

namespace opendoca::v2 {

doca_error_t OlderMmap::set_max_num_ranges(std::uint32_t count) noexcept
{
    if (count == 0) {
        LOG_ERR("a memory map has at least one range");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (was_started()) {
        LOG_ERR("the number of ranges is fixed by the first start of the memory map");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    max_num_ranges_ = count;
    return DOCA_SUCCESS;
}

doca_error_t OlderMmap::populate(std::byte *addr, std::size_t len, FreeCallback *callback, void *cookie)
{
    // Ranges of older releases are added to a started map, unlike those of 2.2.
    if (!is_usable()) {
        LOG_ERR("the memory map is not started: its memory is added after that");
        return DOCA_ERROR_BAD_STATE;
    }
    if (ranges_.size() == max_num_ranges_) {
        LOG_ERR("the memory map has %" PRIu32 " ranges, its limit", max_num_ranges_);
        return DOCA_ERROR_NO_MEMORY;
    }
    const auto range = std::make_shared<doca_mmap>(user_data(), Devices::any_time);
    doca_error_t status = range->set_max_num_devices(max_num_devices());
    if (status == DOCA_SUCCESS)
        status = range->set_permissions(DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
    if (status == DOCA_SUCCESS)
        status = range->set_free_cb(callback, cookie);
    if (status == DOCA_SUCCESS)
        status = range->set_memrange(addr, len);
    for (const Member &member : members()) {
        if (status == DOCA_SUCCESS)
            // Cannot fail for a reason of its own: this map has the device.
            status = range->dev_add(*member.dev).code();
    }
    // Reserved before the start, so that nothing fails after it.
    ranges_.reserve(ranges_.size() + 1);
    if (status == DOCA_SUCCESS)
        status = range->start();
    if (status == DOCA_SUCCESS)
        ranges_.push_back(range);
    return status;
}

doca_error_t OlderMmap::destroy() noexcept
{
    if (const doca_error_t status = check_unused(); status != DOCA_SUCCESS)
        return status;
    for (const auto &range : ranges_)
        (void)range->destroy(); // has no buffers either, as check_unused() has counted those of all ranges
    ranges_.clear();
    return doca_mmap::destroy();
}

Status OlderMmap::dev_add(doca_dev &dev)
{
    if (const Status status = doca_mmap::dev_add(dev); status != DOCA_SUCCESS)
        return status;
    // Undone in reverse on failure, so that all ranges keep the same devices.
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
        const Status status = ranges_[i]->dev_add(dev);
        if (status == DOCA_SUCCESS)
            continue;
        while (i-- > 0)
            (void)ranges_[i]->dev_rm(dev);
        (void)doca_mmap::dev_rm(dev);
        return status;
    }
    return DOCA_SUCCESS;
}

Status OlderMmap::dev_rm(doca_dev &dev) noexcept
{
    const Status status = doca_mmap::dev_rm(dev); // refuses while any range has buffers
    if (status == DOCA_SUCCESS) {
        for (const auto &range : ranges_)
            (void)range->dev_rm(dev);
    }
    return status;
}

doca_error_t OlderMmap::start()
{
    if (const doca_error_t status = doca_mmap::start(); status != DOCA_SUCCESS)
        return status;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
        const doca_error_t status = ranges_[i]->start();
        if (status == DOCA_SUCCESS)
            continue;
        while (i-- > 0)
            (void)ranges_[i]->stop();
        (void)doca_mmap::stop();
        return status;
    }
    return DOCA_SUCCESS;
}

doca_error_t OlderMmap::stop() noexcept
{
    const doca_error_t status = doca_mmap::stop();
    if (status == DOCA_SUCCESS) {
        for (const auto &range : ranges_)
            (void)range->stop();
    }
    return status;
}

Status OlderMmap::export_to(ExportKind kind, const doca_dev &dev, const void *&descriptor, std::size_t &size)
{
    // A map with only its own range, or one that is not started: the common function exports it, or reports the state.
    if (has_range() ? ranges_.empty() : !is_usable())
        return doca_mmap::export_to(kind, dev, descriptor, size);
    if (ranges_.empty()) {
        LOG_ERR("the memory map has no memory to export yet");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (has_range() || ranges_.size() > 1) {
        LOG_ERR("the memory map has %zu ranges, and one can be exported", ranges_.size() + (has_range() ? 1 : 0));
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    return ranges_.front()->export_to(kind, dev, descriptor, size);
}

bool OlderMmap::is_exported() const noexcept
{
    return doca_mmap::is_exported() ||
           std::ranges::any_of(ranges_, [](const auto &range) { return range->is_exported(); });
}

std::uint32_t OlderMmap::num_bufs() const noexcept
{
    std::uint32_t sum = doca_mmap::num_bufs();
    for (const auto &range : ranges_)
        sum += range->num_bufs();
    return sum;
}

const doca_mmap &OlderMmap::with_range(std::byte *addr, std::size_t len) const noexcept
{
    if (range().contains(addr, len))
        return *this;
    for (const auto &range : ranges_) {
        if (range->range().contains(addr, len))
            return *range;
    }
    return *this;
}

} // namespace opendoca::v2
