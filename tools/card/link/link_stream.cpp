// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "link_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

#include "../server/big_endian.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t read_bytes = 256 << 10; // of one recv()
constexpr std::size_t max_read = 1 << 20;     // of one call of receive(): afterwards programs are served
/// A side that keeps to the window has at most this much to send: its own requests and the replies to the other side's.
constexpr std::size_t max_unsent = 4 * link_window * (link_header_bytes + max_link_body);
constexpr std::size_t at_type = 4, at_id = 8;

} // namespace

ssize_t LinkStream::read_some(std::span<std::uint8_t> to)
{
    return tls_ != nullptr ? tls_->receive(to) : recv(socket_.get(), to.data(), to.size(), MSG_DONTWAIT);
}

ssize_t LinkStream::write_some(std::span<const std::uint8_t> from)
{
    return tls_ != nullptr ? tls_->send(from)
                           : ::send(socket_.get(), from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void LinkStream::set_error(bool is_closed)
{
    error_ = is_closed                                   ? "the other side has closed it"
             : tls_ != nullptr && !tls_->error().empty() ? tls_->error()
                                                         : std::strerror(errno);
}

bool LinkStream::receive()
{
    std::copy(in_.begin() + static_cast<std::ptrdiff_t>(taken_), in_.begin() + static_cast<std::ptrdiff_t>(filled_),
              in_.begin());
    filled_ -= std::exchange(taken_, 0);
    for (std::size_t got = 0; got < max_read && error_.empty();) {
        if (in_.size() < filled_ + read_bytes)
            in_.resize(filled_ + read_bytes);
        const ssize_t count = read_some(std::span(in_).subspan(filled_, read_bytes));
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (count <= 0) {
            set_error(count == 0);
            break;
        }
        filled_ += static_cast<std::size_t>(count);
        got += static_cast<std::size_t>(count);
        // TLS returns a record at a time, and only a call that returns nothing shows that none is left in its buffer.
        if (tls_ == nullptr && static_cast<std::size_t>(count) < read_bytes)
            break;
    }
    return error_.empty();
}

std::optional<LinkMessage> LinkStream::next()
{
    const std::span<const std::uint8_t> rest = std::span(in_).subspan(taken_, filled_ - taken_);
    if (rest.size() < link_header_bytes)
        return std::nullopt;
    const std::size_t body_bytes = be32(&rest[0]);
    const std::uint8_t type = rest[at_type];
    if (body_bytes > max_link_body || type < static_cast<std::uint8_t>(LinkType::hello) ||
        type > static_cast<std::uint8_t>(last_link_type)) {
        error_ = "it has sent a message of type " + std::to_string(type) + " with " + std::to_string(body_bytes) +
                 " bytes; types are 1 to " + std::to_string(static_cast<unsigned>(last_link_type)) +
                 ", and bytes at most " + std::to_string(max_link_body);
        return std::nullopt;
    }
    if (rest.size() - link_header_bytes < body_bytes)
        return std::nullopt;
    taken_ += link_header_bytes + body_bytes;
    return LinkMessage{static_cast<LinkType>(type), be64(&rest[at_id]), rest.subspan(link_header_bytes, body_bytes)};
}

std::span<std::uint8_t> LinkStream::append(LinkType type, std::uint64_t id, std::size_t body_bytes)
{
    last_ = out_.size();
    out_.resize(last_ + link_header_bytes + body_bytes);
    store_big(&out_[last_], static_cast<std::uint32_t>(body_bytes));
    out_[last_ + at_type] = static_cast<std::uint8_t>(type);
    store_big(&out_[last_ + at_id], id);
    return std::span(out_).subspan(last_ + link_header_bytes);
}

void LinkStream::append(LinkType type, std::uint64_t id, std::span<const std::uint8_t> body)
{
    std::ranges::copy(body, append(type, id, body.size()).begin());
}

void LinkStream::shorten_last(std::size_t body_bytes)
{
    out_.resize(last_ + link_header_bytes + body_bytes);
    store_big(&out_[last_], static_cast<std::uint32_t>(body_bytes));
}

bool LinkStream::is_overfull() const
{
    return out_.size() - sent_ > max_unsent;
}

bool LinkStream::flush()
{
    while (has_unsent() && error_.empty()) {
        const ssize_t count = write_some(std::span(out_).subspan(sent_));
        if (count < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (count <= 0)
            set_error(count == 0);
        else
            sent_ += static_cast<std::size_t>(count);
    }
    if (error_.empty() && is_overfull())
        error_ = "it does not read the " + std::to_string(out_.size() - sent_) + " bytes that it has asked for";
    // Moving what is left costs time, so it is not done after each call.
    if (!has_unsent() || sent_ > max_read) {
        out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent_));
        erased_ += std::exchange(sent_, 0);
    }
    return error_.empty();
}

} // namespace opendoca::card
