// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace opendoca::comm_channel {

/// The start of each frame by TCP and by queue pair, little-endian.
struct FrameHeader {
    std::uint32_t length; ///< bytes that follow
    std::uint32_t kind;
};
/// Bytes; covers the longest message (4,080) and the longest handshake frame.
inline constexpr std::size_t max_frame_size = sizeof(FrameHeader) + 4096;

/// Received bytes, from which frames are taken in place and in order. A part of a Stream, used under the lock of its
/// connection. The bytes are not trusted: no frame reaches beyond those that were received.
class IncomingFrames {
public:
    enum class Next : std::uint8_t { incomplete, frame, damaged };

    /// Sets @p header to that of the next frame. It is valid if a whole frame has arrived.
    [[nodiscard]] Next find(FrameHeader &header) const noexcept
    {
        if (!peek(header))
            return Next::incomplete;
        if (header.length > max_frame_size - sizeof(header))
            return Next::damaged;
        return size_ < sizeof(header) + header.length ? Next::incomplete : Next::frame;
    }
    /// Sets @p header to that of the next frame, of which the rest may be missing. Returns false if it has not arrived.
    [[nodiscard]] bool peek(FrameHeader &header) const noexcept
    {
        if (size_ < sizeof(header))
            return false;
        std::memcpy(&header, bytes_.data() + at_, sizeof(header));
        return true;
    }
    /// Returns what follows the header of the frame that find() has returned.
    [[nodiscard]] const std::byte *content() const noexcept { return bytes_.data() + at_ + sizeof(FrameHeader); }
    /// Removes the frame with @p header, which find() has returned.
    void drop(const FrameHeader &header) noexcept
    {
        at_ += sizeof(header) + header.length;
        size_ -= sizeof(header) + header.length;
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool is_full() const noexcept { return size_ == bytes_.size(); }
    /// Returns where received bytes are to be put. Moves an incomplete frame to the start, to make space for its rest.
    [[nodiscard]] std::span<std::byte> space() noexcept
    {
        if (at_ != 0) {
            std::memmove(bytes_.data(), bytes_.data() + at_, size_);
            at_ = 0;
        }
        return std::span(bytes_).subspan(size_);
    }
    /// Adds the first @p size bytes of space().
    void add(std::size_t size) noexcept { size_ += size; }

private:
    std::size_t at_ = 0, size_ = 0; ///< the bytes of which no frame was taken yet
    /// Larger than a frame, so that one system call takes several messages.
    std::array<std::byte, 16384> bytes_;
};

/// The frame that is being sent, of which the transport may have accepted a part; during a handshake several short
/// ones. A part of a Stream, used under the lock of its connection.
class OutgoingFrames {
public:
    /// Returns the place for the content of the next frame; make() then sets its kind and length. Must be empty.
    [[nodiscard]] std::span<std::byte> content() noexcept { return std::span(bytes_).subspan(sizeof(FrameHeader)); }
    /// Completes a frame of @p length bytes that are in place in content().
    void make(std::uint32_t kind, std::size_t length) noexcept
    {
        const FrameHeader header = {static_cast<std::uint32_t>(length), kind};
        std::memcpy(bytes_.data(), &header, sizeof(header));
        at_ = 0;
        size_ = sizeof(header) + length;
    }
    /// Adds a frame behind what is not sent yet. The few short frames of a handshake fit into the buffer together.
    void append(std::uint32_t kind, std::span<const std::byte> content) noexcept
    {
        if (size_ == 0)
            at_ = 0;
        const FrameHeader header = {static_cast<std::uint32_t>(content.size()), kind};
        std::byte *const end = bytes_.data() + at_ + size_;
        std::memcpy(end, &header, sizeof(header));
        std::ranges::copy(content, end + sizeof(header));
        size_ += sizeof(header) + content.size();
    }

    [[nodiscard]] bool is_empty() const noexcept { return size_ == 0; }
    /// Returns what is to be sent.
    [[nodiscard]] std::span<const std::byte> unsent() const noexcept { return std::span(bytes_).subspan(at_, size_); }
    /// Removes the first @p size bytes of unsent().
    void drop(std::size_t size) noexcept
    {
        at_ += size;
        size_ -= size;
    }

private:
    std::size_t at_ = 0, size_ = 0; ///< the unsent part
    std::array<std::byte, max_frame_size> bytes_;
};

} // namespace opendoca::comm_channel
