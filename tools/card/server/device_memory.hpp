// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory of the device itself (MEMIC), which programs allocate, map and register.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "../../../src/core/base/unique_fd.hpp"

namespace opendoca::card {

struct DeviceMemory;

/// Pages that the card and programs have mapped at the same time: an anonymous file, of which programs get descriptors.
/// The file is sealed, so a program can write to it, but not shorten it, which would end the card at its next access.
/// Move-only; a member of DeviceMemory. Mappings of programs outlive it.
class DevicePages {
public:
    /// Creates pages of zeros, `bytes` in total. Returns nothing, with errno, if the system refuses.
    static std::optional<DevicePages> create(std::size_t bytes);
    DevicePages() = default;
    DevicePages(DevicePages &&other) noexcept : file_(std::move(other.file_)), bytes_(std::exchange(other.bytes_, {}))
    {
    }
    DevicePages &operator=(DevicePages &&other) noexcept
    {
        std::swap(file_, other.file_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~DevicePages();

    /// Returns the bytes, which programs may change at any time.
    [[nodiscard]] std::span<std::uint8_t> bytes() const { return bytes_; }
    /// Returns a new descriptor of the file, for a program. It is not open if the card has too many descriptors.
    [[nodiscard]] UniqueFd share() const;

private:
    UniqueFd file_;
    std::span<std::uint8_t> bytes_;
};

/// Which object has each page of a function's memory. A member of Function; does not own the objects, which release
/// their pages when they are destroyed. The number of a page is its name in the offsets that programs map.
class PageTable {
public:
    /// Assigns consecutive pages to an object. Returns the first one's number, or nothing if there is no such gap.
    std::optional<std::uint16_t> take(DeviceMemory &owner, std::size_t pages);
    void release(std::uint16_t first, std::size_t pages);
    /// Returns the object that has a page, or null.
    [[nodiscard]] DeviceMemory *owner(std::size_t page) const;

private:
    std::vector<DeviceMemory *> owners_; ///< by page; null: free
};

} // namespace opendoca::card
