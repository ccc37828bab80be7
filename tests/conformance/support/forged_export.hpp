// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Export descriptors and pages of exports of the software device that lie.
#pragma once

#include <cstddef>
#include <cstdint>
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
    ExportDescriptor d{};
    must_hold(opendoca::from_bytes(bytes, opendoca::DescriptorKind::soft_memory, d) ==
                  opendoca::DescriptorReader::Fault::none,
              "a descriptor of the software device");
    return d;
}

/// The bytes of @p d, with a checksum that is right.
inline std::vector<std::byte> seal(const ExportDescriptor &d)
{
    return opendoca::to_bytes(opendoca::DescriptorKind::soft_memory, d);
}

/// @p bytes of any descriptor, with a checksum that is right.
inline std::vector<std::byte> seal(std::vector<std::byte> bytes)
{
    const std::size_t end = bytes.size() - sizeof(std::uint32_t);
    const std::uint32_t crc = opendoca::crc32(bytes.data(), end);
    for (std::size_t i = 0; i < sizeof(crc); ++i)
        bytes[end + i] = static_cast<std::byte>(crc >> (24 - 8 * i) & 0xff);
    return bytes;
}

/// What a process of a forger has at the descriptor where its page of exports should be.
enum class Forgery : std::uint32_t {
    none, ///< a page as it should be, with one export of 4,096 bytes
    not_sealed,
    partly_sealed, ///< it can still shrink
    writable,      ///< by everybody
    no_hazards,    ///< there is no page of hazard pointers
    hazards_too_short,
    hazards_not_sealed,
    hazards_read_only, ///< nobody else can write to the page of hazard pointers
    too_short,
    too_long,
    wrong_magic,
    wrong_version,
    wrong_pid,
    wrong_start_time,
    leased, ///< whoever opens it waits until the lease is given back, or the kernel takes it, after 45 s
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
    object_is_shifted, ///< within a page, as no mapping of it can be
    object_is_leased,
    length_changes, ///< all the time: now that of the object, now much more
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
