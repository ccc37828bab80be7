// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The handshake that establishes a connection.
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>

#include <sys/socket.h>

#include "../core/log/log.hpp"
#include "../core/process/unauthenticated_clients.hpp"
#include "connection.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_HANDSHAKE);

namespace opendoca::comm_channel {

namespace {

/// Creates the pair of sockets that carries the doorbells for space.
bool make_space_sockets(ProcessFd &own, UniqueFd &of_client)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    own = UniqueFd(ends[0]);
    of_client = UniqueFd(ends[1]);
    return true;
}

/// Returns whether an endpoint with the limits @p own may use a ring of this shape; @p queue is its limit of messages.
bool fits(const RingShape &shape, const Limits &own, std::uint16_t queue) noexcept
{
    return shape.messages <= queue && shape.message_size <= own.message_size &&
           shape.max_length(0) <= own.max_program_message();
}

const char *reason_of(Answer answer)
{
    switch (answer) {
    case Answer::too_many_clients:
        return "it has reached its limit of clients";
    case Answer::not_understood:
        return "it uses an incompatible version of the library";
    case Answer::another_service:
        return "the service has another name or belongs to another function";
    default:
        return "its answer is not valid";
    }
}

} // namespace

/// Sends a handshake message by either transport. Returns false with errno on failure.
bool Connection::send_handshake(StreamKind kind, std::span<const std::byte> bytes, std::span<const int> files) noexcept
{
    if (stream_ == nullptr)
        return send_message(socket_.get(), bytes, files);
    stream_->put(kind, bytes);
    return true;
}

Arrival Connection::receive_handshake(StreamKind kind, std::span<std::byte> bytes, std::span<UniqueFd> files) noexcept
{
    if (stream_ != nullptr)
        return stream_->take(kind, bytes);
    const Arrival arrival = receive_message(socket_.get(), bytes, files);
    if (arrival != Arrival::nothing || !has_lost_process())
        return arrival;
    return receive_message(socket_.get(), bytes, files); // what came before the end, or the end
}

doca_error_t Connection::send_hello(const ServiceKey &service, const Limits &own)
{
    if (stream_ == nullptr && !is_same_user(socket_.get()))
        return DOCA_ERROR_CONNECTION_ABORTED;
    const std::uint32_t features = (messages_by_ != nullptr ? Feature::queue_pairs : 0U) |
                                   (offers_control_messages_ ? Feature::control_messages : 0U);
    const Hello hello = {wire_magic, wire_version, features, service, own};
    if (!send_handshake(StreamKind::hello, bytes_of(hello), {})) {
        LOG_ERR("the service closed the connection during the handshake: %s", std::strerror(errno));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    return DOCA_SUCCESS;
}

doca_error_t Connection::receive_welcome(const Limits &own)
{
    WelcomeAndOffer answer;
    const Welcome &welcome = answer.welcome;
    std::array<UniqueFd, 2> files;
    bool has_offer = false;
    // The kind of the answer depends on whether the service has a queue pair, so the header is read before the size is
    // fixed.
    if (messages_by_ != nullptr) {
        const std::optional<StreamKind> kind = stream_->next_kind();
        if (!kind && !stream_->has_ended())
            return DOCA_ERROR_CONNECTION_INPROGRESS;
        has_offer = kind == StreamKind::welcome_and_offer;
    }
    switch (has_offer ? receive_handshake(StreamKind::welcome_and_offer, bytes_of(answer), {})
                      : receive_handshake(StreamKind::welcome, bytes_of(answer.welcome), files)) {
    case Arrival::nothing:
        return DOCA_ERROR_CONNECTION_INPROGRESS;
    case Arrival::ended:
        LOG_ERR("the service closed the connection before it accepted this client");
        return DOCA_ERROR_CONNECTION_ABORTED;
    case Arrival::malformed:
        LOG_ERR("the service's answer to the hello is not a welcome");
        return DOCA_ERROR_CONNECTION_ABORTED;
    case Arrival::stripped:
        LOG_ERR("the process has no file descriptor left for the service's shared memory");
        return DOCA_ERROR_NO_MEMORY;
    case Arrival::complete:
        break;
    }
    const bool has_control_messages =
        offers_control_messages_ && welcome.answer == Answer::welcome_with_control_messages;
    // A refusal has no memory attached: it is reported before the sizes are validated.
    if (welcome.magic == wire_magic && welcome.answer != Answer::welcome && !has_control_messages) {
        LOG_ERR("the service refuses this client: %s", reason_of(welcome.answer));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    // The service is not trusted: its rings must respect the limits of the wire format and of this side.
    const bool is_understood = welcome.magic == wire_magic && welcome.version == wire_version &&
                               is_valid(welcome.to_service) && is_valid(welcome.to_client) &&
                               fits(welcome.to_service, own, own.send_queue) &&
                               fits(welcome.to_client, own, own.recv_queue);
    if (!is_understood || !open_memory(welcome, files)) {
        LOG_ERR("the service's welcome has invalid sizes or memory");
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    to_service_ = welcome.to_service;
    to_client_ = welcome.to_client;
    has_control_messages_ = has_control_messages;
    attach();
    if (has_offer)
        stream_->accept_service_offer(messages_by_, to_service_, to_client_, answer.offer);
    return DOCA_SUCCESS;
}

/// Client: maps the service's memory or, if the service is on another machine, creates memory of its own.
bool Connection::open_memory(const Welcome &welcome, std::span<UniqueFd, 2> files)
{
    if (stream_ != nullptr)
        return memory_.create(welcome.to_service, welcome.to_client, files[0]);
    // The second descriptor must be a socket; SharedMemory::open() checks that the first is a sealed file.
    int type = 0;
    socklen_t size = sizeof(type);
    if (!files[1].is_open() || getsockopt(files[1].get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0)
        return false;
    space_socket_ = std::move(files[1]);
    return memory_.open(welcome.to_service, welcome.to_client, files[0]);
}

doca_error_t Connection::receive_hello(const ServiceKey &service, const Limits &own, bool has_space,
                                       const std::function<bool()> &is_ready)
{
    Hello hello;
    switch (receive_handshake(StreamKind::hello, bytes_of(hello), {})) {
    case Arrival::nothing:
        if (std::chrono::steady_clock::now() < hello_deadline())
            return DOCA_ERROR_CONNECTION_INPROGRESS;
        if (may_log_unauthenticated_client())
            LOG_WARN("a client has connected without sending a hello in time: its connection is closed");
        return DOCA_ERROR_CONNECTION_ABORTED;
    case Arrival::ended: // the client has given up
        return DOCA_ERROR_CONNECTION_ABORTED;
    case Arrival::malformed:
    case Arrival::stripped:
        if (may_log_unauthenticated_client())
            LOG_ERR("the first message of a client is not a hello: its connection is closed");
        return DOCA_ERROR_CONNECTION_ABORTED;
    case Arrival::complete:
        break;
    }
    // The answer names the first reason that applies. A hello of another version is not interpreted further.
    const bool has_control_messages = offers_control_messages_ && (hello.features & Feature::control_messages) != 0;
    const Answer acceptance = has_control_messages ? Answer::welcome_with_control_messages : Answer::welcome;
    Welcome welcome = {wire_magic, wire_version, acceptance, {}, {}};
    if (hello.magic != wire_magic || hello.version != wire_version || !are_valid(hello.limits))
        welcome.answer = Answer::not_understood;
    else if (hello.service != service)
        welcome.answer = Answer::another_service;
    else if (!has_space)
        welcome.answer = Answer::too_many_clients;
    if (welcome.answer != acceptance) {
        if (may_log_unauthenticated_client())
            LOG_ERR("a client is refused: %s",
                    welcome.answer == Answer::not_understood    ? "its hello has another version or invalid sizes"
                    : welcome.answer == Answer::another_service ? "it requests another service"
                                                                : "the limit of clients is reached");
        (void)send_handshake(StreamKind::welcome, bytes_of(welcome), {});
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    welcome.to_service = to_service_ = ring_between(hello.limits, own);
    welcome.to_client = to_client_ = ring_between(own, hello.limits);
    UniqueFd file, space_of_client;
    if (!memory_.create(to_service_, to_client_, file) ||
        (stream_ == nullptr && !make_space_sockets(space_socket_, space_of_client)))
        return DOCA_ERROR_OPERATING_SYSTEM;
    const bool uses_queue_pairs = messages_by_ != nullptr && (hello.features & Feature::queue_pairs) != 0 &&
                                  stream_->make_link(messages_by_, to_client_, to_service_);
    // is_ready() adds the descriptors to the owner's event handle: it must succeed before the client sees an
    // acceptance.
    if (!is_ready())
        return DOCA_ERROR_OPERATING_SYSTEM;
    if (uses_queue_pairs) {
        const WelcomeAndOffer answer = {welcome, stream_->offer()};
        stream_->put(StreamKind::welcome_and_offer, bytes_of(answer));
    } else {
        const int files[] = {file.get(), space_of_client.get()};
        if (!send_handshake(StreamKind::welcome, bytes_of(welcome), files))
            return DOCA_ERROR_CONNECTION_ABORTED; // the client has gone
    }
    has_control_messages_ = has_control_messages;
    attach();
    return DOCA_SUCCESS;
}

} // namespace opendoca::comm_channel
