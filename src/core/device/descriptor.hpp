// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Export descriptors and connection details: bytes that programs pass on to other processes, and that may come from
// anywhere. All begin with the same header and end with a checksum, and all numbers are in network byte order:
//
//     8 bytes  magic
//     2        kind: who can read the fields, and what they describe
//     2        version of the fields
//     2        minimum version: a reader of this one understands them, too
//     2        length in bytes, all included
//     ...      fields, of fixed size. A later version of a kind may append some
//     4        CRC-32 of all that stands before
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "../crc32.hpp"

namespace opendoca {

/// Numbers stay as they are: they are in what programs send each other.
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
inline constexpr std::size_t max_descriptor_size = 256; ///< programs read them into as much

/// Writes one, field by field.
class DescriptorWriter {
public:
    DescriptorWriter(DescriptorKind kind, std::uint16_t version, std::uint16_t minimum_version)
    {
        bytes_.reserve(max_descriptor_size);
        put(descriptor_magic);
        put(static_cast<std::uint16_t>(kind));
        put(version);
        put(minimum_version);
        put(std::uint16_t{0}); // the length, see finish()
    }

    template <std::integral T>
    void put(T value)
    {
        for (std::size_t i = sizeof(T); i-- > 0;)
            bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> 8 * i & 0xff));
    }
    template <typename T, std::size_t size>
        requires(sizeof(T) == 1)
    void put(const T (&text)[size])
    {
        for (const T byte : text)
            bytes_.push_back(static_cast<std::byte>(byte));
    }

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

/// Reads one. What it finds is as it was written, and nothing more: whoever wrote it may have lied.
class DescriptorReader {
public:
    enum class Fault : std::uint8_t {
        none,
        foreign,  ///< no descriptor of opendoca
        cut_off,  ///< fewer bytes than it says
        too_long, ///< more bytes than it says, where that is not expected
        damaged,  ///< its checksum does not match
        wrong_kind,
        too_new, ///< a reader of a later version is needed
    };

    /// Where @p may_be_longer, programs hand in the whole buffer that they have read it into.
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
        const std::size_t end = length - sizeof(std::uint32_t);
        bytes_ = bytes.first(length);
        at_ = end;
        const auto checksum = get<std::uint32_t>();
        bytes_ = bytes.first(end);
        at_ = descriptor_header_size;
        fault_ = checksum != crc32(bytes.data(), end)       ? Fault::damaged
                 : kind_ != kind                            ? Fault::wrong_kind
                 : minimum > version                        ? Fault::too_new
                 : length != bytes.size() && !may_be_longer ? Fault::too_long
                                                            : Fault::none;
    }

    /// After the last get(): fields that were not there count as cut off.
    [[nodiscard]] Fault fault() const noexcept { return fault_; }
    [[nodiscard]] DescriptorKind kind() const noexcept { return kind_; }
    [[nodiscard]] std::uint16_t version() const noexcept { return version_; }

    /// The next field; 0 when there is none.
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
        requires(sizeof(T) == 1)
    void get(T (&text)[size]) noexcept
    {
        std::ranges::transform(take(size), text, [](std::byte byte) { return static_cast<T>(byte); });
    }

private:
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

    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    Fault fault_ = Fault::foreign;
    DescriptorKind kind_{};
    std::uint16_t version_ = 0;
};

/// A sentence on @p reader's fault, for messages.
[[nodiscard]] constexpr const char *to_text(DescriptorReader::Fault fault) noexcept
{
    switch (fault) {
    case DescriptorReader::Fault::none:
        return "it is in order";
    case DescriptorReader::Fault::foreign:
        return "it is none of opendoca's";
    case DescriptorReader::Fault::cut_off:
        return "it has fewer bytes than it needs";
    case DescriptorReader::Fault::too_long:
        return "it has more bytes than it says";
    case DescriptorReader::Fault::damaged:
        return "its checksum does not match";
    case DescriptorReader::Fault::wrong_kind:
        return "it describes something else, or is for another kind of device";
    case DescriptorReader::Fault::too_new:
        return "it was written by a later version of opendoca, which this one does not understand";
    }
    return "";
}

inline constexpr std::uint16_t descriptor_version = 1; ///< of all kinds, so far
inline constexpr std::uint16_t minimum_descriptor_version = 1;

/// The bytes of @p d, whose visit() calls its argument with one field after the other.
template <typename Descriptor>
[[nodiscard]] std::vector<std::byte> to_bytes(DescriptorKind kind, const Descriptor &d)
{
    DescriptorWriter writer(kind, descriptor_version, minimum_descriptor_version);
    Descriptor::visit(d, [&](const auto &field) { writer.put(field); });
    return writer.finish();
}

/// The fields that @p bytes hold, with whatever values.
template <typename Descriptor>
[[nodiscard]] DescriptorReader::Fault from_bytes(std::span<const std::byte> bytes, DescriptorKind kind,
                                                 Descriptor &d) noexcept
{
    const bool is_connection = kind == DescriptorKind::soft_connection || kind == DescriptorKind::verbs_connection;
    DescriptorReader reader(bytes, kind, descriptor_version, !is_connection);
    if (reader.fault() == DescriptorReader::Fault::none)
        Descriptor::visit(d, [&](auto &field) { reader.get(field); });
    return reader.fault();
}

} // namespace opendoca
