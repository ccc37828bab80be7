// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "stream.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "../core/process/unauthenticated_clients.hpp"
#include "limits.hpp"

namespace opendoca::comm_channel {

namespace {

/// Limits of one pump(), so that one connection cannot starve others.
constexpr unsigned max_frames_per_pump = 64;  ///< sent
constexpr unsigned max_receives_per_pump = 4; ///< system calls

bool add(int epoll, int fd, std::uint32_t events) noexcept
{
    epoll_event event = {.events = events, .data = {.fd = fd}};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

void change(int epoll, int fd, std::uint32_t events) noexcept
{
    epoll_event event = {.events = events, .data = {.fd = fd}};
    (void)epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
}

void clear(const ProcessFd &event) noexcept
{
    eventfd_t count;
    (void)eventfd_read(event.get(), &count);
}

} // namespace

bool Stream::open()
{
    const int yes = 1;
    (void)setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)); // optional: the connection works without it
    end_with_silent_host_only(socket_);
    messages_ = std::make_shared<EventHandle>();
    space_epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
    space_event_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return messages_->open() == DOCA_SUCCESS && space_event_.is_open() &&
           add(space_epoll_.get(), space_event_.get(), EPOLLIN) &&
           add(messages_->fd(), socket_, EPOLLIN | EPOLLRDHUP) && add(space_epoll_.get(), socket_, 0);
}

/// Completes a frame of @p length bytes that are already in place behind the header.
void Stream::frame(std::uint32_t kind, std::size_t length) noexcept
{
    const Header header = {static_cast<std::uint32_t>(length), kind};
    std::memcpy(out_.data(), &header, sizeof(header));
    out_at_ = 0;
    out_size_ = sizeof(header) + length;
}

/// Returns how many bytes of the frame were accepted.
std::size_t Stream::write() noexcept
{
    const std::span<const std::byte> left = std::span(out_).subspan(out_at_, out_size_);
    if (sending_ == Sending::by_link)
        return link_->send(left) ? left.size() : 0;
    ssize_t sent = -1;
    do
        sent = ::send(socket_, left.data(), left.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent); // retried later; receive() detects an end
}

/// Returns true when nothing is left of the frame.
bool Stream::flush() noexcept
{
    while (out_size_ != 0) {
        const std::size_t sent = write();
        if (sent == 0)
            break;
        out_at_ += sent;
        out_size_ -= sent;
    }
    return out_size_ == 0;
}

void Stream::put(StreamKind kind, std::span<const std::byte> bytes) noexcept
{
    // The few short frames of a handshake fit into the buffer together.
    if (out_size_ == 0)
        out_at_ = 0;
    const Header header = {static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(kind)};
    std::byte *const end = out_.data() + out_at_ + out_size_;
    std::memcpy(end, &header, sizeof(header));
    std::ranges::copy(bytes, end + sizeof(header));
    out_size_ += sizeof(header) + bytes.size();
    flush_later(!flush());
}

/// Returns false when nothing more can be received for now.
bool Stream::receive() noexcept
{
    if (has_ended_)
        return false;
    if (in_at_ != 0) {
        std::memmove(in_.data(), in_.data() + in_at_, in_size_);
        in_at_ = 0;
    }
    if (in_size_ == in_.size())
        return false;
    // Frames are parsed in place, so an incomplete one is moved to the start to make space for its rest.
    if (receives_by_link_)
        return receive_by_link();
    const ssize_t size = recv(socket_, in_.data() + in_size_, in_.size() - in_size_, MSG_DONTWAIT);
    if (size < 0 && is_temporary(errno))
        return false;
    // recv() returns 0 at an orderly end and -1 for a reset: neither can be followed by data.
    has_ended_ = size <= 0;
    if (size > 0)
        in_size_ += static_cast<std::size_t>(size);
    return !has_ended_;
}

Stream::Input Stream::find_frame(Header &header) const noexcept
{
    if (in_size_ < sizeof(header))
        return Input::nothing;
    std::memcpy(&header, in_.data() + in_at_, sizeof(header));
    if (header.length > max_frame_size - sizeof(header))
        return Input::damaged;
    return in_size_ < sizeof(header) + header.length ? Input::nothing : Input::frame;
}

void Stream::drop_frame(const Header &header) noexcept
{
    in_at_ += sizeof(header) + header.length;
    in_size_ -= sizeof(header) + header.length;
}

Arrival Stream::take(StreamKind kind, std::span<std::byte> bytes) noexcept
{
    flush_later(!flush());
    Header header{};
    Input input = find_frame(header);
    while (input == Input::nothing && receive())
        input = find_frame(header);
    if (input == Input::nothing)
        return has_ended_ ? Arrival::ended : Arrival::nothing;
    // The size must be exact: a handshake frame of another version differs in its size, not in its kind.
    if (input == Input::damaged || header.kind != static_cast<std::uint32_t>(kind) || header.length != bytes.size())
        return Arrival::malformed;
    std::copy_n(in_.data() + in_at_ + sizeof(header), bytes.size(), bytes.data());
    drop_frame(header);
    return Arrival::complete;
}

std::optional<StreamKind> Stream::next_kind() noexcept
{
    Header header{};
    while (in_size_ < sizeof(header) && receive())
        ;
    if (in_size_ < sizeof(header))
        return {};
    std::memcpy(&header, in_.data() + in_at_, sizeof(header));
    return StreamKind{header.kind};
}

void Stream::attach(SharedMemory &memory, bool is_service, RingShape to_service, RingShape to_client)
{
    SharedPage &page = memory.page();
    if (is_service) {
        outgoing_.attach(page.to_client, memory.to_client(), to_client);
        incoming_.attach(page.to_service, memory.to_service(), to_service);
    } else {
        outgoing_.attach(page.to_service, memory.to_service(), to_service);
        incoming_.attach(page.to_client, memory.to_client(), to_client);
    }
    is_service_ = is_service;
    incoming_shape_ = is_service ? to_service : to_client;
    wakes_for_message_ = false;
    choose_events();
    peer_left_ = is_service ? &page.client_left : &page.service_left;
}

/// Builds the next frame. Returns false when there is nothing to send.
bool Stream::frame_next() noexcept
{
    std::byte *const bytes = out_.data() + sizeof(Header);
    const std::uint64_t received = incoming_.num_received();
    if (sending_ == Sending::by_link) {
        // A message that is sent next carries the count, so no frame of its own is needed for it.
        link_->set_received(received);
        if (outgoing_.check_message() != RingResult::done) { // otherwise the message carries the count
            link_->send_received_count();
            return false;
        }
    } else if (received != num_reported_) {
        // Reports go before messages: the peer's sender may be waiting for the space.
        num_reported_ = received;
        std::memcpy(bytes, &received, sizeof(received));
        frame(static_cast<std::uint32_t>(StreamKind::received), sizeof(received));
        return true;
    }
    std::size_t length = out_.size() - sizeof(Header);
    std::uint32_t kind = 0;
    if (outgoing_.take(bytes, length, kind) != RingResult::done)
        return false;
    frame(kind, length);
    return true;
}

/// Moves messages from the ring to the socket or the queue pair.
void Stream::push() noexcept
{
    bool is_done = flush();
    if (sending_ == Sending::probes_link && is_done && is_probe_acknowledged()) {
        frame(static_cast<std::uint32_t>(StreamKind::by_queue_pair), 0);
        sending_ = Sending::switches;
        is_done = flush();
    }
    if (sending_ == Sending::switches && is_done) {
        sending_ = Sending::by_link;
        choose_events();
    }
    for (unsigned i = 0; is_done && i != max_frames_per_pump && frame_next(); ++i)
        is_done = flush();
    flush_later(!is_done);
}

/// Processes the count of messages that the peer's program has received. Returns false if it is impossible or
/// decreases.
bool Stream::note_received(std::uint64_t count) noexcept
{
    if (count < num_received_by_peer_ || count > outgoing_.num_taken())
        return false;
    num_received_by_peer_ = count;
    outgoing_.free_records(count);
    if (outgoing_.disarm_for_space())
        (void)eventfd_write(space_event_.get(), 1);
    return true;
}

/// Processes one frame. Returns false when the peer violates the protocol.
bool Stream::accept(const Header &header, const std::byte *bytes, bool &has_received_message) noexcept
{
    // Kinds at and above StreamKind::hello are the transport's; all others are the program's or Comch's, with data.
    std::uint64_t count = 0;
    switch (static_cast<StreamKind>(header.kind)) {
    case StreamKind::received:
        if (header.length != sizeof(count))
            return false;
        std::memcpy(&count, bytes, sizeof(count));
        return note_received(count);
    case StreamKind::offer:
        return accept_offer({bytes, header.length});
    case StreamKind::connected:
        return accept_connected({bytes, header.length});
    case StreamKind::by_queue_pair:
        return header.length == 0 && accept_switch();
    case StreamKind::leaving:
        // Release: pairs with the acquire load in Connection::record_end().
        peer_left_->store(1, std::memory_order_release);
        return header.length == 0;
    default:
        has_received_message = true;
        return header.kind < static_cast<std::uint32_t>(StreamKind::hello) && header.length != 0 &&
               header.length <= incoming_shape_.message_size &&
               incoming_.send(bytes, header.length, header.kind) == RingResult::done;
    }
}

/// Moves messages from the socket or the queue pair to the ring.
bool Stream::pull(bool &has_received_message) noexcept
{
    // Frames that were received together are processed without another system call.
    for (unsigned receives = 0;;) {
        Header header{};
        switch (find_frame(header)) {
        case Input::damaged:
            return false;
        case Input::nothing:
            if (receives++ == max_receives_per_pump || !receive())
                return true;
            continue;
        case Input::frame:
            break;
        }
        if (!accept(header, in_.data() + in_at_ + sizeof(header), has_received_message))
            return false;
        drop_frame(header);
    }
}

bool Stream::pump() noexcept
{
    check_link();
    push();
    bool has_received_message = false;
    bool is_good = pull(has_received_message);
    if (is_good && receives_by_link_ && link_ != nullptr) {
        // The link reports 32 bits of the count, which is enough to extend the last known value.
        const std::uint32_t more = link_->num_received_by_peer() - static_cast<std::uint32_t>(num_received_by_peer_);
        // The probe may carry an older count than one that TCP has delivered since.
        is_good = static_cast<std::int32_t>(more) <= 0 || note_received(num_received_by_peer_ + more);
    }
    if (has_received_message && incoming_.disarm_for_message())
        messages_->wake();
    return is_good;
}

void Stream::wake_for_message(bool is_wanted) noexcept
{
    if (!is_wanted)
        (void)messages_->clear();
    const bool changes = std::exchange(wakes_for_message_, is_wanted) != is_wanted;
    if (changes)
        choose_events();
    if (changes || is_wanted)
        arm_link();
}

void Stream::wake_for_space(bool is_wanted) noexcept
{
    if (!is_wanted)
        clear(space_event_);
    const bool changes = std::exchange(wakes_for_space_, is_wanted) != is_wanted;
    if (changes)
        choose_events();
    if (changes || is_wanted)
        arm_link();
}

void Stream::flush_later(bool is_needed) noexcept
{
    if (std::exchange(has_unsent_, is_needed) != is_needed)
        choose_events();
}

void Stream::choose_events() noexcept
{
    const std::uint32_t to_send = has_unsent_ && sending_ != Sending::by_link ? std::uint32_t{EPOLLOUT} : 0;
    const std::uint32_t wanted = (receives_by_link_ ? 0 : std::uint32_t{EPOLLIN}) | to_send;
    // EPOLLRDHUP is always requested here: the end of the peer makes message_fd() readable in every mode.
    change(messages_->fd(), socket_, EPOLLRDHUP | (wakes_for_message_ ? wanted : 0));
    change(space_epoll_.get(), socket_, wakes_for_space_ ? wanted : 0);
    // messages_ is in space_epoll_ once a link exists, unless both are watched together.
    change(space_epoll_.get(), messages_->fd(), link_ != nullptr && wakes_for_space_ ? std::uint32_t{EPOLLIN} : 0);
}

} // namespace opendoca::comm_channel
