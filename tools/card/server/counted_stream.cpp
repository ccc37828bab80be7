// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "counted_stream.hpp"

#include <algorithm>
#include <utility>

namespace opendoca::card {

void CountedStream::stop()
{
    stream_ = nullptr;
    runs_.clear();
    unsent_ = 0;
}

std::span<std::uint8_t> CountedStream::append(LinkType type, std::uint64_t id, std::size_t body_bytes)
{
    const std::uint64_t begin = stream_->appended();
    const std::span<std::uint8_t> body = stream_->append(type, id, body_bytes);
    const std::uint64_t end = stream_->appended();
    if (!runs_.empty() && runs_.back().end == begin)
        runs_.back().end = end;
    else
        runs_.push_back({begin, end});
    unsent_ += end - begin;
    return body;
}

void CountedStream::append(LinkType type, std::uint64_t id, std::span<const std::uint8_t> body)
{
    std::ranges::copy(body, append(type, id, body.size()).begin());
}

std::uint64_t CountedStream::unsent()
{
    while (!runs_.empty() && runs_.front().begin < stream_->sent()) {
        Run &run = runs_.front();
        const std::uint64_t sent = std::min(run.end, stream_->sent());
        unsent_ -= sent - std::exchange(run.begin, sent);
        if (run.begin == run.end)
            runs_.pop_front();
    }
    return unsent_;
}

} // namespace opendoca::card
