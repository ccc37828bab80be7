// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "connection.hpp"

#include <cstddef>
#include <utility>

#include <sys/socket.h>

#include "../core/log/log.hpp"
#include "../core/process/unauthenticated_clients.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_CONNECTION);

namespace opendoca::comm_channel {

namespace {

bool is_tcp(int socket) noexcept
{
    int domain = AF_UNIX;
    socklen_t size = sizeof(domain);
    return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain != AF_UNIX;
}

} // namespace

Connection::Connection(Side own_side, UniqueFd connection, const doca_dev &dev)
    : side_(own_side),
      socket_(std::move(connection))
{
    if (!is_tcp(socket_.get())) {
        process_.open(socket_.get());
        return;
    }
    stream_ = std::make_unique<Stream>(socket_.get());
    (void)!stream_->open(); // on failure no descriptor exists, and watching the connection fails
    if (dev.function().can.messages_by_queue_pairs)
        messages_by_ = dev.messages_by();
}

/// Binds the rings to the memory: what one side sends in, the other receives from. From then on the connection is
/// usable.
void Connection::attach()
{
    SharedPage &page = memory_.page();
    if (side_ == Side::service) {
        out_.attach(page.to_client, memory_.to_client(), to_client_);
        in_.attach(page.to_service, memory_.to_service(), to_service_);
    } else {
        out_.attach(page.to_service, memory_.to_service(), to_service_);
        in_.attach(page.to_client, memory_.to_client(), to_client_);
    }
    if (stream_ != nullptr)
        stream_->attach(memory_, side_ == Side::service, to_service_, to_client_);
    state_ = State::connected;
}

void Connection::pump() noexcept
{
    if (has_pending_doorbell()) [[unlikely]] {
        ring_message_doorbell();
        ring_space_doorbell();
    }
    if (stream_ != nullptr && memory_.is_open() && !stream_->pump())
        note_damage();
}

void Connection::ring_message_doorbell() noexcept
{
    // disarm() reads the "armed" word only: the system call is made only if the peer has requested a doorbell.
    has_pending_message_doorbell_ = memory_.is_open() && out_.disarm_for_message() && !ring_doorbell(socket_.get());
    if (has_pending_message_doorbell_) [[unlikely]]
        out_.rearm_for_message();
}

void Connection::ring_space_doorbell() noexcept
{
    has_pending_space_doorbell_ = memory_.is_open() && in_.disarm_for_space() && !ring_doorbell(space_socket_.get());
    if (has_pending_space_doorbell_) [[unlikely]]
        in_.rearm_for_space();
}

bool Connection::has_space() noexcept
{
    pump();
    if (!memory_.is_open())
        return false;
    // A full ring of a dead peer stays full: check_end() is what ends a wait for space.
    const RingResult result = out_.check_space();
    if (result == RingResult::damaged)
        note_damage();
    return result == RingResult::done;
}

bool Connection::has_message() noexcept
{
    pump();
    if (!memory_.is_open())
        return false;
    const RingResult result = in_.check_message();
    if (result == RingResult::damaged)
        note_damage();
    return result == RingResult::done;
}

doca_error_t Connection::send(const void *message, std::size_t length, std::uint32_t kind) noexcept
{
    pump();
    if (!memory_.is_open())
        return DOCA_ERROR_CONNECTION_RESET;
    // Control messages (kind other than 0) use the same ring, so they stay in order with the program's messages.
    switch (out_.send(message, length, kind)) {
    case RingResult::done:
        break;
    case RingResult::nothing:
        return DOCA_ERROR_AGAIN;
    default:
        note_damage();
        return DOCA_ERROR_CONNECTION_RESET;
    }
    if (stream_ != nullptr)
        pump();
    else
        ring_message_doorbell();
    if (kind == 0) {
        ++now_.send_messages;
        now_.send_bytes += length;
    }
    return DOCA_SUCCESS;
}

void Connection::count_lost_send(std::size_t length) noexcept
{
    ++now_.send_messages;
    now_.send_bytes += length;
}

doca_error_t Connection::receive(void *message, std::size_t &length) noexcept
{
    std::uint32_t kind = 0;
    return receive(message, length, kind);
}

doca_error_t Connection::receive(void *message, std::size_t &length, std::uint32_t &kind) noexcept
{
    pump();
    if (!memory_.is_open())
        return DOCA_ERROR_AGAIN;
    const std::size_t space = length;
    switch (in_.receive(message, length, kind)) {
    case RingResult::done:
        break;
    case RingResult::nothing:
        return DOCA_ERROR_AGAIN;
    case RingResult::too_long:
        LOG_ERR("a message of %zu bytes does not fit into a buffer of %zu bytes", length, space);
        return DOCA_ERROR_INVALID_VALUE;
    case RingResult::damaged:
        note_damage();
        return DOCA_ERROR_CONNECTION_RESET;
    }
    if (kind != 0 && !has_control_messages_) [[unlikely]] {
        note_damage();
        return DOCA_ERROR_CONNECTION_RESET;
    }
    if (stream_ != nullptr)
        pump(); // sends the new count of received messages
    else
        ring_space_doorbell();
    if (kind == 0) {
        ++now_.recv_messages;
        now_.recv_bytes += length;
    }
    return DOCA_SUCCESS;
}

void Connection::arm_for_message() noexcept
{
    in_.arm_for_message();
    was_armed_ = true;
    if (stream_ != nullptr)
        stream_->wake_for_message(true);
}

void Connection::arm_for_space() noexcept
{
    out_.arm_for_space();
    if (stream_ != nullptr)
        stream_->wake_for_space(true);
}

void Connection::drain_space_doorbells() noexcept
{
    if (stream_ != nullptr)
        stream_->wake_for_space(false);
    else
        (void)drain_doorbells_of(space_socket_.get()); // the peer's end is detected on the other socket
}

bool Connection::check_end() noexcept
{
    // Each send of Comm Channel comes here: the process is checked at every 32nd call, and at the first after arming.
    // The check is needed because children of the peer may hold copies of its socket, which then shows no hang-up.
    constexpr std::uint8_t calls_per_process_check = 32;
    pump();
    if (state_ != State::connected)
        return false;
    const bool is_process_due = std::exchange(was_armed_, false) || ++num_end_checks_ % calls_per_process_check == 0;
    // Over TCP the stream reports the end only after everything that arrived before it is in the ring.
    const bool has_ended = stream_ != nullptr
                               ? stream_->has_ended()
                               : is_closed_by_peer(socket_.get()) || (is_process_due && has_lost_process());
    if (!has_ended)
        return false;
    record_end();
    return true;
}

bool Connection::drain_all_doorbells() noexcept
{
    if (stream_ != nullptr)
        stream_->wake_for_message(false);
    drain_space_doorbells();
    pump();
    return stream_ != nullptr ? stream_->has_ended() : !drain_doorbells_of(socket_.get()) || has_lost_process();
}

bool Connection::drain_message_doorbells() noexcept
{
    if (stream_ != nullptr) {
        stream_->wake_for_message(false);
        return check_end();
    }
    if (state_ != State::connected || (drain_doorbells_of(socket_.get()) && !has_lost_process()))
        return false;
    record_end();
    return true;
}

bool Connection::has_lost_process() noexcept
{
    if (!process_.has_ended())
        return false;
    shutdown(socket_.get(), SHUT_RDWR); // so that it shows the end wherever it is watched
    return true;
}

/// Returns whether a line about the peer may be logged: those about unauthenticated clients are rate-limited.
bool Connection::may_log_about_peer() const noexcept
{
    return side_ == Side::client || stream_ == nullptr || may_log_unauthenticated_client();
}

void Connection::record_end() noexcept
{
    // Acquire: pairs with the release store in note_departure() of the peer, made before it closed its end.
    const SharedPage &page = memory_.page();
    const auto &has_left = side_ == Side::service ? page.client_left : page.service_left;
    state_ = has_left_ || has_left.load(std::memory_order_acquire) != 0 ? State::left : State::died;
    if (state_ == State::died && may_log_about_peer())
        LOG_WARN("the %s at the other end has died", side_ == Side::service ? "client" : "service");
}

void Connection::note_damage() noexcept
{
    // Later calls that find the same violation neither log nor close again.
    if (state_ == State::died && !memory_.is_open())
        return;
    if (may_log_about_peer())
        LOG_ERR("the %s at the other end has %s; the connection is closed",
                side_ == Side::service ? "client" : "service",
                stream_ != nullptr ? "sent an invalid message" : "corrupted the shared memory of the messages");
    state_ = State::died;
    memory_.close();
    shutdown(socket_.get(), SHUT_RDWR); // reports the end to both sides
}

/// Marks this end as disconnected in order.
void Connection::note_departure() noexcept
{
    has_left_ = true;
    if (!memory_.is_open())
        return;
    SharedPage &page = memory_.page();
    auto &has_left = side_ == Side::service ? page.service_left : page.client_left;
    has_left.store(1, std::memory_order_release); // release: pairs with the acquire load in record_end()
}

void Connection::leave() noexcept
{
    if (creator_.is_current()) {
        note_departure();
        if (stream_ != nullptr && memory_.is_open())
            stream_->drain_and_leave();
    }
    shut_down();
}

void Connection::shut_down() noexcept
{
    // A forked child has copies of its parent's objects: what it destroys must not end the parent's connections.
    if (!creator_.is_current()) {
        has_left_ = true;
        return;
    }
    note_departure();
    // A shutdown takes effect even if a child that was not made by fork() holds a copy of the descriptor.
    if (socket_.is_open())
        shutdown(socket_.get(), SHUT_RDWR);
}

void Connection::release() noexcept
{
    update_counters();
    memory_.close();
    space_socket_ = UniqueFd();
    stream_.reset();
    socket_ = UniqueFd();
}

void Connection::update_counters() noexcept
{
    if (memory_.is_open())
        // The shared counters are readable only while the memory is mapped; afterwards the last values stay.
        now_.send_in_flight = out_.in_flight();
    counters = now_;
}

} // namespace opendoca::comm_channel
