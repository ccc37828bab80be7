// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "device_memory.hpp"

#include <algorithm>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "limits.hpp"

namespace opendoca::card {

std::optional<DevicePages> DevicePages::create(std::size_t bytes)
{
    DevicePages pages;
    pages.file_ = UniqueFd(memfd_create("card-device-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    const int fd = pages.file_.get();
    if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return std::nullopt;
    void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        return std::nullopt;
    pages.bytes_ = {static_cast<std::uint8_t *>(mapped), bytes};
    return pages;
}

DevicePages::~DevicePages()
{
    if (!bytes_.empty())
        munmap(bytes_.data(), bytes_.size());
}

UniqueFd DevicePages::share() const
{
    return UniqueFd(fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
}

std::optional<std::uint16_t> PageTable::take(DeviceMemory &owner, std::size_t pages)
{
    if (owners_.empty())
        owners_.resize(device_memory_bytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
    const auto found = std::search_n(owners_.begin(), owners_.end(), static_cast<std::ptrdiff_t>(pages), nullptr);
    if (found == owners_.end())
        return std::nullopt;
    std::fill_n(found, pages, &owner);
    return static_cast<std::uint16_t>(found - owners_.begin());
}

void PageTable::release(std::uint16_t first, std::size_t pages)
{
    std::fill_n(owners_.begin() + first, pages, nullptr);
}

DeviceMemory *PageTable::owner(std::size_t page) const
{
    return page < owners_.size() ? owners_[page] : nullptr;
}

} // namespace opendoca::card
