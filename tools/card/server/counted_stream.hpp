// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "../link/link_stream.hpp"

namespace opendoca::card {

/// Appends messages to a stream that others use too, and counts how many bytes of these messages are not sent yet. Used
/// by the event loop's thread only.
class CountedStream {
public:
    /// Begins with a stream, which lives until stop().
    void start(LinkStream &stream) { stream_ = &stream; }
    void stop();
    [[nodiscard]] bool is_open() const { return stream_ != nullptr; }

    /// As LinkStream::append().
    std::span<std::uint8_t> append(LinkType type, std::uint64_t id, std::size_t body_bytes);
    void append(LinkType type, std::uint64_t id, std::span<const std::uint8_t> body);
    /// Returns the number of bytes of append() that the stream has not sent yet.
    [[nodiscard]] std::uint64_t unsent();

private:
    /// Bytes [begin, end) of the stream, which are those of messages one after another.
    struct Run {
        std::uint64_t begin, end;
    };

    LinkStream *stream_ = nullptr; ///< null: not open
    std::deque<Run> runs_;         ///< that are not sent as a whole
    std::uint64_t unsent_ = 0;     ///< bytes of the runs
};

} // namespace opendoca::card
