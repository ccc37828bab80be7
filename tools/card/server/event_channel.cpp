// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "event_channel.hpp"

#include <cstring>
#include <utility>

namespace opendoca::card {

std::shared_ptr<EventChannel> EventChannel::create(bool omits_data, UniqueFd &program_end)
{
    auto result = std::make_shared<EventChannel>();
    result->pipe_ = EventPipe::create(program_end, EventPipe::Reads::one);
    result->omits_data_ = omits_data;
    return result->pipe_ != nullptr ? std::move(result) : nullptr;
}

std::uint64_t EventChannel::add(std::uint64_t cookie, const EventEntry &entry)
{
    Event event;
    std::memcpy(event.data(), &cookie, header_bytes);
    std::memcpy(event.data() + header_bytes, entry.data(), entry.size());
    if (write_waiting() || !pipe_->write(event.data(), event_bytes())) {
        if (waiting_.size() >= max_waiting)
            return 0;
        waiting_.push_back(event);
    }
    return ++added_;
}

bool EventChannel::write_waiting()
{
    while (!waiting_.empty() && pipe_->write(waiting_.front().data(), event_bytes()))
        waiting_.pop_front();
    return !waiting_.empty();
}

bool EventChannel::is_unread(std::uint64_t number) const
{
    return number + waiting_.size() + pipe_->unread_bytes() / event_bytes() > added_;
}

} // namespace opendoca::card
