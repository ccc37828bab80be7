// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Export descriptors and connection details: byte strings that programs pass to other processes. Their contents are
// untrusted. All begin with the same header and end with a checksum. Numbers are in network byte order:
//
//     8 bytes  magic
//     2        kind: the provider, and what the fields describe
//     2        version of the fields
//     2        minimum version: readers of this version or later understand the fields
//     2        length in bytes, including header and checksum
//     ...      fields of fixed size; a later version may append fields
//     4        CRC-32 of all bytes before it
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "../base/crc32.hpp"

namespace opendoca {

/// The provider of a descriptor and what it describes. Part of the wire format: values must not change, and those of
/// removed kinds must not be used again.
enum class DescriptorKind : std::uint16_t {
    soft_memory = 1,
    soft_counter = 2,
    soft_connection = 3,
    verbs_memory = 4,
    verbs_connection = 5,
    mlx5_memory = 6,
    mlx5_counter = 7,
};

inline constexpr char descriptor_magic[8] = {'O', 'P', 'E', 'N', 'D', 'O', 'C', 'A'};
inline constexpr std::size_t descriptor_header_size = 16;
inline constexpr std::size_t max_descriptor_size = 256; ///< programs use buffers of this size

/// Builds a descriptor field by field: the constructor writes the header, and finish() the length and the checksum.
/// Used once, by one thread.
class DescriptorWriter {
public:
    DescriptorWriter(DescriptorKind kind, std::uint16_t version, std::uint16_t minimum_version)
    {
        // One allocation.
        bytes_.reserve(max_descriptor_size);
        put(descriptor_magic);
        put(static_cast<std::uint16_t>(kind));
        put(version);
        put(minimum_version);
        put(std::uint16_t{0}); // placeholder for the length, which finish() sets
    }

    template <std::integral T>
    void put(T value)
    {
        // Network byte order on any CPU: the most significant byte first.
        for (std::size_t i = sizeof(T); i-- > 0;)
            bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> 8 * i & 0xff));
    }
    template <typename T, std::size_t size>
    requires(sizeof(T) == 1) void put(const T (&text)[size])
    {
        for (const T byte : text)
            bytes_.push_back(static_cast<std::byte>(byte));
    }

    /// Sets the length, appends the checksum and returns the bytes.
    [[nodiscard]] std::vector<std::byte> finish()
    {
        const std::size_t length = bytes_.size() + sizeof(std::uint32_t);
        bytes_[14] = static_cast<std::byte>(length >> 8);
        bytes_[15] = static_cast<std::byte>(length & 0xff);
        put(crc32(bytes_.data(), bytes_.size()));
        return std::move(bytes_);
    }

private:
    std::vector<std::byte> bytes_;
};

/// Parses a descriptor. It checks header, length, version and checksum. The caller must check the values of the fields,
/// since the writer is untrusted.
class DescriptorReader {
public:
    enum class Fault : std::uint8_t {
        none,
        foreign,  ///< not a descriptor of opendoca
        cut_off,  ///< fewer bytes than its length field, or than its fields need
        too_long, ///< more bytes than its length field, where that is not allowed
        damaged,  ///< checksum mismatch
        wrong_kind,
        too_new, ///< requires a later version of the reader
        too_old, ///< of a version that the reader does not support any more
    };

    /// @p may_be_longer: programs may pass their whole buffer, of which the descriptor is only the beginning.
    DescriptorReader(std::span<const std::byte> bytes, DescriptorKind kind, std::uint16_t version,
                     bool may_be_longer) noexcept
    {
        if (bytes.size() < descriptor_header_size ||
            std::memcmp(bytes.data(), descriptor_magic, sizeof(descriptor_magic)) != 0)
            return;
        bytes_ = bytes.first(descriptor_header_size);
        at_ = sizeof(descriptor_magic);
        kind_ = static_cast<DescriptorKind>(get<std::uint16_t>());
        version_ = get<std::uint16_t>();
        const auto minimum = get<std::uint16_t>();
        const std::size_t length = get<std::uint16_t>();
        fault_ = Fault::cut_off;
        if (length < descriptor_header_size + sizeof(std::uint32_t) || length > bytes.size())
            return;
        // Reads the checksum at the end first, and then limits the range to the fields.
        const std::size_t end = length - sizeof(std::uint32_t);
        bytes_ = bytes.first(length);
        at_ = end;
        const auto checksum = get<std::uint32_t>();
        bytes_ = bytes.first(end);
        at_ = descriptor_header_size;
        // Ordered so that the most general fault is reported: the kind of a damaged descriptor means nothing.
        fault_ = checksum != crc32(bytes.data(), end)       ? Fault::damaged
                 : kind_ != kind                            ? Fault::wrong_kind
                 : minimum > version                        ? Fault::too_new
                 : length != bytes.size() && !may_be_longer ? Fault::too_long
                                                            : Fault::none;
    }

    /// Returns the first fault. To be called after the last get(), since reading missing fields sets cut_off.
    [[nodiscard]] Fault fault() const noexcept { return fault_; }
    [[nodiscard]] DescriptorKind kind() const noexcept { return kind_; }
    [[nodiscard]] std::uint16_t version() const noexcept { return version_; }

    /// Returns the next field, or 0 if there is none.
    template <std::integral T>
    [[nodiscard]] T get() noexcept
    {
        std::uint64_t value = 0;
        for (const std::byte byte : take(sizeof(T)))
            value = value << 8 | static_cast<std::uint8_t>(byte);
        return static_cast<T>(value);
    }
    template <std::integral T>
    void get(T &value) noexcept
    {
        value = get<T>();
    }
    template <typename T, std::size_t size>
    requires(sizeof(T) == 1) void get(T (&text)[size]) noexcept
    {
        std::ranges::transform(take(size), text, [](std::byte byte) { return static_cast<T>(byte); });
    }

private:
    /// Returns the next @p size bytes. If there are fewer, records the fault and returns an empty range.
    [[nodiscard]] std::span<const std::byte> take(std::size_t size) noexcept
    {
        if (bytes_.size() - at_ < size) {
            if (fault_ == Fault::none)
                fault_ = Fault::cut_off;
            return {};
        }
        at_ += size;
        return bytes_.subspan(at_ - size, size);
    }

    std::span<const std::byte> bytes_; ///< the part that may be read; not owned
    std::size_t at_ = 0;               ///< position of the next field
    Fault fault_ = Fault::foreign;
    DescriptorKind kind_{};
    std::uint16_t version_ = 0;
};

/// Returns a description of @p fault for log messages.
[[nodiscard]] constexpr const char *to_text(DescriptorReader::Fault fault) noexcept
{
    switch (fault) {
    case DescriptorReader::Fault::none:
        return "it is valid";
    case DescriptorReader::Fault::foreign:
        return "it is not a descriptor of opendoca";
    case DescriptorReader::Fault::cut_off:
        return "it has fewer bytes than it needs";
    case DescriptorReader::Fault::too_long:
        return "it has more bytes than its length field allows";
    case DescriptorReader::Fault::damaged:
        return "its checksum does not match";
    case DescriptorReader::Fault::wrong_kind:
        return "it describes something else, or is for another kind of device";
    case DescriptorReader::Fault::too_old:
        return "it was written by an earlier version of opendoca and cannot be read by this one";
    case DescriptorReader::Fault::too_new:
        return "it was written by a later version of opendoca and cannot be read by this one";
    }
    return "";
}

/// Returns the version of descriptors of @p kind, which is also the oldest one that their readers must support. Version
/// 2 of soft_connection names a slab in place of a page.
[[nodiscard]] constexpr std::uint16_t descriptor_version_of(DescriptorKind kind) noexcept
{
    return kind == DescriptorKind::soft_connection ? 2 : 1;
}

/// Returns the descriptor of @p d. Descriptor::visit() calls its argument with each field in order.
template <typename Descriptor>
[[nodiscard]] std::vector<std::byte> to_bytes(DescriptorKind kind, const Descriptor &d)
{
    DescriptorWriter writer(kind, descriptor_version_of(kind), descriptor_version_of(kind));
    Descriptor::visit(d, [&](const auto &field) { writer.put(field); });
    return writer.finish();
}

/// Parses @p bytes into @p d. The values of the fields are not checked.
template <typename Descriptor>
[[nodiscard]] DescriptorReader::Fault from_bytes(std::span<const std::byte> bytes, DescriptorKind kind,
                                                 Descriptor &d) noexcept
{
    const bool is_connection = kind == DescriptorKind::soft_connection || kind == DescriptorKind::verbs_connection;
    DescriptorReader reader(bytes, kind, descriptor_version_of(kind), !is_connection);
    if (reader.fault() == DescriptorReader::Fault::none && reader.version() < descriptor_version_of(kind))
        return DescriptorReader::Fault::too_old;
    if (reader.fault() == DescriptorReader::Fault::none)
        Descriptor::visit(d, [&](auto &field) { reader.get(field); });
    return reader.fault();
}

} // namespace opendoca
