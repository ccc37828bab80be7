// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "event_channel.hpp"

#include <cstdio>
#include <cstring>
#include <utility>

namespace opendoca::card {

std::shared_ptr<EventChannel> EventChannel::create(bool omits_data, UniqueFd &program_end,
                                                   std::shared_ptr<std::size_t> waiting_of_file)
{
    auto result = std::make_shared<EventChannel>();
    result->pipe_ = EventPipe::create(program_end, EventPipe::Reads::one);
    result->waiting_of_file_ = std::move(waiting_of_file);
    result->omits_data_ = omits_data;
    return result->pipe_ != nullptr ? std::move(result) : nullptr;
}

EventChannel::~EventChannel()
{
    if (waiting_of_file_ != nullptr)
        *waiting_of_file_ -= waiting_.size();
}

std::uint64_t EventChannel::add(std::uint64_t cookie, const EventEntry &entry)
{
    Event event;
    std::memcpy(event.data(), &cookie, header_bytes);
    std::memcpy(event.data() + header_bytes, entry.data(), entry.size());
    if (has_lost_ && waiting_.empty() && pipe_->unread_bytes() == 0)
        has_lost_ = false;
    if (write_waiting() || !pipe_->write(event.data(), event_bytes())) {
        if (waiting_.size() >= max_waiting || *waiting_of_file_ >= max_waiting_of_file) {
            if (!std::exchange(has_lost_, true))
                std::fprintf(stderr,
                             "a channel of DEVX events loses some: %zu wait for the program to read them, %zu in all "
                             "channels of its file\n",
                             waiting_.size(), *waiting_of_file_);
            return 0;
        }
        waiting_.push_back(event);
        ++*waiting_of_file_;
    }
    return ++added_;
}

bool EventChannel::write_waiting()
{
    for (; !waiting_.empty() && pipe_->write(waiting_.front().data(), event_bytes()); --*waiting_of_file_)
        waiting_.pop_front();
    return !waiting_.empty();
}

bool EventChannel::is_closed(std::uint64_t look)
{
    if (std::exchange(last_look_, look) != look)
        is_closed_ = pipe_->is_closed_by_program();
    return is_closed_;
}

bool EventChannel::is_unread(std::uint64_t number) const
{
    return number + waiting_.size() + pipe_->unread_bytes() / event_bytes() > added_;
}

} // namespace opendoca::card
