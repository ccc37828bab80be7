// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "connection.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>

#include "../core/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_CONNECTION);

namespace opendoca::comm_channel {

namespace {

template <typename T>
std::span<const std::byte> bytes_of(const T &value)
{
    return std::as_bytes(std::span(&value, 1));
}

template <typename T>
std::span<std::byte> bytes_of(T &value)
{
    return std::as_writable_bytes(std::span(&value, 1));
}

bool make_space_sockets(UniqueFd &own, UniqueFd &of_client)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    own = UniqueFd(ends[0]);
    of_client = UniqueFd(ends[1]);
    return true;
}

bool is_tcp(int socket) noexcept
{
    int domain = AF_UNIX;
    socklen_t size = sizeof(domain);
    return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain != AF_UNIX;
}

const char *reason_of(Answer answer)
{
    switch (answer) {
    case Answer::too_many_clients:
        return "it has as many clients as it can have";
    case Answer::not_understood:
        return "it is of another version of the library";
    case Answer::another_service:
        return "it is another service, or that of another function";
    default:
        return "its answer is none";
    }
}

} // namespace

Connection::Connection(Side own_side, UniqueFd connection) : side_(own_side), socket_(std::move(connection))
{
    if (!is_tcp(socket_.get()))
        return;
    stream_ = std::make_unique<Stream>(socket_.get());
    (void)!stream_->open(); // without descriptors nobody can watch it
}

/// False with errno.
bool Connection::tell(StreamKind kind, std::span<const std::byte> bytes, std::span<const int> files) noexcept
{
    if (stream_ == nullptr)
        return send_message(socket_.get(), bytes, files);
    stream_->put(kind, bytes);
    return true;
}

Arrival Connection::hear(StreamKind kind, std::span<std::byte> bytes, std::span<UniqueFd> files) noexcept
{
    return stream_ != nullptr ? stream_->take(kind, bytes) : receive_message(socket_.get(), bytes, files);
}

doca_error_t Connection::say_hello(const ServiceKey &service, const Limits &own)
{
    if (stream_ == nullptr && !is_same_user(socket_.get()))
        return DOCA_ERROR_CONNECTION_ABORTED;
    const Hello hello = {wire_magic, wire_version, 0, service, own, 0};
    if (!tell(StreamKind::hello, bytes_of(hello), {})) {
        LOG_ERR("the service ended while it was connected to: %s", std::strerror(errno));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    return DOCA_SUCCESS;
}

doca_error_t Connection::take_welcome(const Limits &own)
{
    Welcome welcome;
    std::array<UniqueFd, 2> files;
    switch (hear(StreamKind::welcome, bytes_of(welcome), files)) {
    case Arrival::nothing:
        return DOCA_ERROR_CONNECTION_INPROGRESS;
    case Arrival::ended:
        LOG_ERR("the service ended before it took this client in");
        return DOCA_ERROR_CONNECTION_ABORTED;
    case Arrival::malformed:
        LOG_ERR("the service answers with something else than a welcome");
        return DOCA_ERROR_CONNECTION_ABORTED;
    case Arrival::complete:
        break;
    }
    if (welcome.magic == wire_magic && welcome.answer != Answer::welcome) {
        LOG_ERR("the service does not take this client in: %s", reason_of(welcome.answer));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    const bool is_understood =
        welcome.magic == wire_magic && welcome.version == wire_version && is_valid(welcome.to_service) &&
        is_valid(welcome.to_client) && welcome.to_service.message_size <= own.message_size &&
        welcome.to_service.messages <= own.send_queue && welcome.to_client.messages <= own.recv_queue;
    if (!is_understood || !open_memory(welcome, files)) {
        LOG_ERR("the service's welcome can't be used");
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    to_service_ = welcome.to_service;
    to_client_ = welcome.to_client;
    attach();
    return DOCA_SUCCESS;
}

/// Client: that of both, or where the service is on another machine, its own.
bool Connection::open_memory(const Welcome &welcome, std::span<UniqueFd, 2> files)
{
    if (stream_ != nullptr)
        return memory_.create(welcome.to_service, welcome.to_client, files[0]);
    int type = 0;
    socklen_t size = sizeof(type);
    if (!files[1].is_open() || getsockopt(files[1].get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0)
        return false;
    space_socket_ = std::move(files[1]);
    return memory_.open(welcome.to_service, welcome.to_client, files[0]);
}

doca_error_t Connection::take_hello(const ServiceKey &service, const Limits &own, bool has_room)
{
    Hello hello;
    switch (hear(StreamKind::hello, bytes_of(hello), {})) {
    case Arrival::nothing:
        return DOCA_ERROR_CONNECTION_INPROGRESS;
    case Arrival::ended: // a client that gave up
        return DOCA_ERROR_CONNECTION_ABORTED;
    case Arrival::malformed:
        LOG_ERR("a client connects by something else than a hello");
        return DOCA_ERROR_CONNECTION_ABORTED;
    case Arrival::complete:
        break;
    }
    Welcome welcome = {wire_magic, wire_version, Answer::welcome, {}, {}};
    if (hello.magic != wire_magic || hello.version != wire_version || !are_valid(hello.limits))
        welcome.answer = Answer::not_understood;
    else if (hello.service != service)
        welcome.answer = Answer::another_service;
    else if (!has_room)
        welcome.answer = Answer::too_many_clients;
    if (welcome.answer != Answer::welcome) {
        LOG_ERR("a client is not taken in: %s",
                welcome.answer == Answer::not_understood    ? "its hello is not understood"
                : welcome.answer == Answer::another_service ? "it looks for another service"
                                                            : "there are as many clients as there can be");
        (void)tell(StreamKind::welcome, bytes_of(welcome), {});
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    welcome.to_service = to_service_ = ring_between(hello.limits, own);
    welcome.to_client = to_client_ = ring_between(own, hello.limits);
    UniqueFd file, space_of_client;
    if (!memory_.create(to_service_, to_client_, file) ||
        (stream_ == nullptr && !make_space_sockets(space_socket_, space_of_client)))
        return DOCA_ERROR_OPERATING_SYSTEM;
    const int files[] = {file.get(), space_of_client.get()};
    if (!tell(StreamKind::welcome, bytes_of(welcome), files))
        return DOCA_ERROR_CONNECTION_ABORTED; // it has gone
    attach();
    return DOCA_SUCCESS;
}

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
    if (stream_ != nullptr && memory_.is_open() && !stream_->pump())
        note_damage();
}

bool Connection::has_room() noexcept
{
    pump();
    if (!memory_.is_open())
        return false;
    const RingResult look = out_.look_for_room();
    if (look == RingResult::damaged)
        note_damage();
    return look == RingResult::done;
}

bool Connection::has_message() noexcept
{
    pump();
    if (!memory_.is_open())
        return false;
    const RingResult look = in_.look_for_message();
    if (look == RingResult::damaged)
        note_damage();
    return look == RingResult::done;
}

doca_error_t Connection::send(const void *message, std::size_t length, std::uint32_t kind) noexcept
{
    pump();
    if (!memory_.is_open())
        return DOCA_ERROR_CONNECTION_RESET;
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
    else if (out_.take_wish_for_message())
        ring_bell(socket_.get());
    ++now_.send_messages;
    now_.send_bytes += length;
    return DOCA_SUCCESS;
}

void Connection::send_in_vain(std::size_t length) noexcept
{
    ++now_.send_messages;
    now_.send_bytes += length;
}

doca_error_t Connection::receive(void *message, std::size_t &length) noexcept
{
    std::uint32_t kind = 0;
    const doca_error_t status = receive(message, length, kind);
    if (status != DOCA_SUCCESS || kind == 0)
        return status;
    note_damage();
    return DOCA_ERROR_CONNECTION_RESET;
}

doca_error_t Connection::receive(void *message, std::size_t &length, std::uint32_t &kind) noexcept
{
    pump();
    if (!memory_.is_open())
        return DOCA_ERROR_AGAIN;
    const std::size_t room = length;
    switch (in_.receive(message, length, kind)) {
    case RingResult::done:
        break;
    case RingResult::nothing:
        return DOCA_ERROR_AGAIN;
    case RingResult::too_long:
        LOG_ERR("a message of %zu bytes does not fit into the %zu bytes that there are for it", length, room);
        return DOCA_ERROR_INVALID_VALUE;
    case RingResult::damaged:
        note_damage();
        return DOCA_ERROR_CONNECTION_RESET;
    }
    if (stream_ != nullptr)
        pump(); // tells the peer
    else if (in_.take_wish_for_room())
        ring_bell(space_socket_.get());
    ++now_.recv_messages;
    now_.recv_bytes += length;
    return DOCA_SUCCESS;
}

void Connection::wish_for_message() noexcept
{
    in_.wish_for_message();
    if (stream_ != nullptr)
        stream_->wake_for_message(true);
}

void Connection::wish_for_room() noexcept
{
    out_.wish_for_room();
    if (stream_ != nullptr)
        stream_->wake_for_space(true);
}

void Connection::silence_room() noexcept
{
    if (stream_ != nullptr)
        stream_->wake_for_space(false);
    else
        (void)silence_bell(space_socket_.get()); // the end shows at the other socket
}

bool Connection::check_end() noexcept
{
    pump();
    if (state_ != State::connected || !(stream_ != nullptr ? stream_->has_ended() : has_hung_up(socket_.get())))
        return false;
    note_end();
    return true;
}

bool Connection::silence() noexcept
{
    if (stream_ != nullptr) {
        stream_->wake_for_message(false);
        return check_end();
    }
    if (state_ != State::connected || silence_bell(socket_.get()))
        return false;
    note_end();
    return true;
}

void Connection::note_end() noexcept
{
    // What the peer stored in leave(), before it closed its end, is there once a system call has told of it.
    const SharedPage &page = memory_.page();
    const auto &has_left = side_ == Side::service ? page.client_left : page.service_left;
    state_ = has_left.load(std::memory_order_acquire) != 0 ? State::left : State::died;
    if (state_ == State::died)
        LOG_WARN("the %s at the other end has died", side_ == Side::service ? "client" : "service");
}

void Connection::note_damage() noexcept
{
    if (state_ == State::died && !memory_.is_open())
        return;
    LOG_ERR("the %s at the other end has %s; the connection is closed", side_ == Side::service ? "client" : "service",
            stream_ != nullptr ? "sent what is no message" : "damaged the messages' memory");
    state_ = State::died;
    memory_.close();
    shutdown(socket_.get(), SHUT_RDWR); // and the socket tells both sides
}

void Connection::leave() noexcept
{
    if (memory_.is_open()) {
        SharedPage &page = memory_.page();
        auto &has_left = side_ == Side::service ? page.service_left : page.client_left;
        has_left.store(1, std::memory_order_release); // pairs with note_end()
        if (stream_ != nullptr)
            stream_->say_goodbye();
    }
    if (socket_.is_open())
        shutdown(socket_.get(), SHUT_RDWR); // also when a forked child has a copy of the descriptor
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
        now_.send_in_flight = out_.in_flight();
    counters = now_;
}

} // namespace opendoca::comm_channel
