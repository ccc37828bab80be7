// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Export descriptors and pages of exports of the software device that lie.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "../../../src/core/device/soft/memory/export_page.hpp"
#include "child_process.hpp"
#include "handle.hpp"

namespace doca_test {

using opendoca::soft::ExportDescriptor;
using opendoca::soft::ExportEntry;
using opendoca::soft::ExportPage;

inline ExportDescriptor parse_descriptor(std::span<const std::byte> bytes)
{
    ExportDescriptor d;
    must_hold(bytes.size() == sizeof(d), "a descriptor of the software device");
    std::memcpy(&d, bytes.data(), sizeof(d));
    return d;
}

/// The bytes of @p d, with a checksum that is right.
inline std::vector<std::byte> seal(ExportDescriptor d)
{
    std::uint32_t crc = 0xffffffff;
    const auto *const bytes = reinterpret_cast<const unsigned char *>(&d);
    for (std::size_t i = 0; i < offsetof(ExportDescriptor, checksum); ++i) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ (0xedb88320 & (0 - (crc & 1)));
    }
    d.checksum = ~crc;
    std::vector<std::byte> sealed(sizeof(d));
    std::memcpy(sealed.data(), &d, sizeof(d));
    return sealed;
}

/// What a process of a forger has at the descriptor where its page of exports should be.
enum class Forgery : std::uint32_t {
    none, ///< a page as it should be, with one export of 4,096 bytes
    not_sealed,
    partly_sealed, ///< it can still shrink
    too_short,
    too_long,
    wrong_magic,
    wrong_version,
    wrong_pid,
    wrong_start_time,
    plain_file,
    fifo,
    directory,
    character_device,
    socket,
    nothing, ///< no descriptor
    // A page as it should be, whose export lies:
    range_wraps,
    range_unmapped,
    object_is_fifo,
    object_is_directory,
    object_too_short,
    object_offset_wraps,
    object_is_another, ///< not the file that the entry names
};

/// A process of this user with a forged page. The descriptor is right in all that the page confirms.
class Forger {
public:
    explicit Forger(Forgery forgery);

    [[nodiscard]] const ExportDescriptor &descriptor() const { return descriptor_; }
    [[nodiscard]] std::byte *addr() const { return addr_; }

private:
    ChildProcess process_;
    ExportDescriptor descriptor_;
    std::byte *addr_;
};

} // namespace doca_test
