// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "link_requester.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "big_endian.hpp"
#include "engine.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t max_openings = 1024;           // aliases that programs have requested and not taken
constexpr std::ptrdiff_t max_openings_of_file = 64;  // of these, by one open file
constexpr std::size_t max_waiting = 4 * link_window; // requests that are not sent, beyond which no part is begun

/// Returns what a status of the other side means for the program that has made the access.
Access access_of(LinkStatus status)
{
    return status == LinkStatus::done ? Access::done : status == LinkStatus::gone ? Access::gone : Access::fault;
}

} // namespace

void LinkRequester::start(LinkStream &stream, std::uint32_t session)
{
    stream_ = &stream;
    session_ = session;
}

void LinkRequester::stop()
{
    stream_ = nullptr;
    const auto fail = [](const Transfer &transfer) {
        if (const auto operation = transfer.operation.lock()) {
            --operation->outstanding;
            operation->result = Access::fault;
        }
    };
    std::ranges::for_each(waiting_, fail);
    for (const auto &[id, transfer] : sent_)
        fail(transfer);
    waiting_.clear();
    sent_.clear();
    open_requests_.clear();
    openings_.clear(); // requests for them are refused when they are made again
    has_news_ = true;
}

void LinkRequester::transfer(LinkType type, const std::shared_ptr<LinkOperation> &operation, const Segment &segment,
                             std::uint64_t at, std::uint64_t position, std::uint64_t bytes)
{
    while (bytes != 0) {
        const std::uint64_t part = std::min<std::uint64_t>(bytes, max_link_data);
        const LinkRange range{
            segment.remote, segment.rights, segment.address, segment.length, at, static_cast<std::uint32_t>(part)};
        add({type, operation, range, position, {}}, *operation);
        at += part;
        position += part;
        bytes -= part;
    }
    pump();
}

void LinkRequester::swap(const std::shared_ptr<LinkOperation> &operation, const Segment &segment,
                         const LinkAtomic &atomic)
{
    const LinkRange range{
        segment.remote, segment.rights, segment.address, segment.length, 0, static_cast<std::uint32_t>(segment.length)};
    add({LinkType::atomic, operation, range, 0, atomic}, *operation);
    pump();
}

void LinkRequester::add(Transfer transfer, LinkOperation &operation)
{
    if (stream_ == nullptr) {
        operation.result = Access::fault;
        return;
    }
    ++operation.outstanding;
    waiting_.push_back(std::move(transfer));
}

void LinkRequester::pump()
{
    while (stream_ != nullptr && !waiting_.empty() && sent_.size() + open_requests_.size() < link_window) {
        const Transfer transfer = std::move(waiting_.front());
        waiting_.pop_front();
        if (const auto operation = transfer.operation.lock())
            send(transfer, *operation);
    }
}

void LinkRequester::send(const Transfer &transfer, LinkOperation &operation)
{
    const std::uint64_t id = new_request();
    const std::size_t more = transfer.type == LinkType::write    ? transfer.range.count
                             : transfer.type == LinkType::atomic ? LinkAtomic::bytes
                                                                 : 0;
    const std::span<std::uint8_t> body = stream_->append(transfer.type, id, LinkRange::bytes + more);
    transfer.range.encode(body.first<LinkRange::bytes>());
    if (transfer.type == LinkType::write)
        std::memcpy(&body[LinkRange::bytes], &operation.bytes[transfer.at], transfer.range.count);
    else if (transfer.type == LinkType::atomic)
        transfer.atomic.encode(body.subspan(LinkRange::bytes).first<LinkAtomic::bytes>());
    sent_.emplace(id, transfer);
}

std::optional<OpenedAlias> LinkRequester::open(const OpenFile &file, const LinkOpen &wanted)
{
    const OpenKey key(&file, wanted);
    if (const auto found = openings_.find(key); found != openings_.end()) {
        if (!found->second.is_answered)
            return OpenedAlias{};
        const Opening opening = found->second;
        openings_.erase(found);
        return opening.status == LinkStatus::done ? std::optional(opening.alias) : std::nullopt;
    }
    const auto is_of_file = [&](const auto &opening) { return opening.first.first == &file; };
    if (stream_ == nullptr || openings_.size() == max_openings ||
        std::ranges::count_if(openings_, is_of_file) == max_openings_of_file)
        return std::nullopt;
    const std::uint64_t id = new_request();
    stream_->append(LinkType::open, id, wanted.encode());
    openings_.emplace(key, Opening{});
    open_requests_.emplace(id, key);
    return OpenedAlias{};
}

void LinkRequester::close(std::uint32_t session, std::uint32_t handle)
{
    if (stream_ == nullptr || session != session_)
        return;
    store_big(stream_->append(LinkType::close, 0, sizeof(handle)).data(), handle);
}

void LinkRequester::forget(const OpenFile &file)
{
    for (auto it = openings_.begin(); it != openings_.end();) {
        if (it->first.first != &file) {
            ++it;
            continue;
        }
        if (it->second.is_answered && it->second.status == LinkStatus::done)
            close(session_, it->second.alias.handle);
        it = openings_.erase(it);
    }
}

std::uint64_t LinkRequester::oldest_request() const
{
    const std::uint64_t transfer = sent_.empty() ? 0 : sent_.begin()->first;
    const std::uint64_t opening = open_requests_.empty() ? 0 : open_requests_.begin()->first;
    return transfer == 0 || opening == 0 ? transfer + opening : std::min(transfer, opening);
}

std::uint64_t LinkRequester::new_request()
{
    if (oldest_request() == 0)
        since_ = now_ns();
    return next_id_++;
}

std::uint64_t LinkRequester::unanswered_since() const
{
    return oldest_request() == 0 ? 0 : since_;
}

bool LinkRequester::is_full() const
{
    return waiting_.size() >= max_waiting;
}

bool LinkRequester::handle(const LinkMessage &message)
{
    if (message.id == 0 || message.id != oldest_request())
        return false;
    since_ = now_ns();
    const bool is_handled = message.type == LinkType::opened ? handle_opened(message) : handle_data(message);
    pump();
    return is_handled;
}

bool LinkRequester::handle_opened(const LinkMessage &message)
{
    const auto request = open_requests_.find(message.id);
    if (request == open_requests_.end() || message.body.size() != link_opened_bytes)
        return false;
    const auto status = static_cast<LinkStatus>(be32(&message.body[0]));
    const OpenedAlias alias{be32(&message.body[link_at_handle]), be32(&message.body[link_at_access])};
    if (status == LinkStatus::done && alias.handle == 0)
        return false;
    const auto opening = openings_.find(request->second);
    open_requests_.erase(request);
    if (opening != openings_.end()) {
        opening->second = {true, status, alias};
        has_news_ = true;
    } else if (status == LinkStatus::done) {
        close(session_, alias.handle); // its file has been closed meanwhile
    }
    return true;
}

bool LinkRequester::handle_data(const LinkMessage &message)
{
    const auto found = sent_.find(message.id);
    if (found == sent_.end() || message.body.size() < link_status_bytes)
        return false;
    const Transfer transfer = found->second;
    const auto status = static_cast<LinkStatus>(be32(&message.body[0]));
    const std::span<const std::uint8_t> rest = message.body.subspan(link_status_bytes);
    const bool is_done = status == LinkStatus::done;
    const LinkType expected = transfer.type == LinkType::read    ? LinkType::data
                              : transfer.type == LinkType::write ? LinkType::written
                                                                 : LinkType::swapped;
    const std::size_t expected_bytes = expected == LinkType::swapped           ? link_swapped_bytes - link_status_bytes
                                       : expected == LinkType::data && is_done ? transfer.range.count
                                                                               : 0;
    if (message.type != expected || rest.size() != expected_bytes)
        return false;
    sent_.erase(found);
    const auto operation = transfer.operation.lock();
    if (operation == nullptr)
        return true;
    --operation->outstanding;
    if (!is_done && operation->result == Access::done)
        operation->result = access_of(status);
    if (is_done && expected == LinkType::data)
        std::ranges::copy(rest, &operation->bytes[transfer.at]);
    if (is_done && expected == LinkType::swapped) {
        const std::uint64_t old = be64(&message.body[link_at_swapped]);
        std::memcpy(operation->bytes.data(), &old, sizeof(old));
    }
    return true;
}

} // namespace opendoca::card
