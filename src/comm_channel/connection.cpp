// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "connection.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

#include "../core/log/log.hpp"
#include "../core/process/unauthenticated_clients.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_CONNECTION);

namespace opendoca::comm_channel {

namespace {

/// Returns whether a socket is that of a connection with another machine or place: of TCP, or with a relay.
bool is_stream(int socket) noexcept
{
    int type = SOCK_SEQPACKET;
    socklen_t size = sizeof(type);
    return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

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

/// Returns whether a line about the peer may be logged: those about unauthenticated clients are rate-limited.
bool may_log_about_peer_of(Connection::Side side, bool is_tcp) noexcept
{
    return side == Connection::Side::client || !is_tcp || may_log_unauthenticated_client();
}

/// Asks by one system call whether the peer may have closed its end of @p socket, or its process may have ended.
bool may_have_ended(int socket, const PeerProcess &process) noexcept
{
    pollfd ends[] = {{.fd = socket, .events = POLLRDHUP, .revents = 0},
                     {.fd = process.fd(), .events = POLLIN, .revents = 0}}; // poll() ignores -1
    return (process.is_watched() && process.fd() < 0) || poll(ends, std::size(ends), 0) != 0;
}

/// Returns the process at the other end of @p socket. If the connection is not direct, it is a relay, or on another
/// machine, and is not watched.
std::shared_ptr<const PeerProcess> process_of(int socket, bool is_direct, Connection::Watching watching)
{
    if (is_direct && watching == Connection::Watching::by_one_channel)
        return PeerProcess::shared(socket);
    const auto made = std::make_shared<PeerProcess>();
    if (is_direct)
        made->open(socket);
    return made;
}

/// Returns the word of the shared memory that the peer of a side sets when it disconnects.
const std::atomic<std::uint32_t> &departure_of_peer_of(Connection::Side side, const SharedPage &page) noexcept
{
    return side == Connection::Side::service ? page.client_left : page.service_left;
}

} // namespace

Connection::Connection(Side own_side, UniqueFd connection, const doca_dev &dev, Watching watching)
    : side_(own_side),
      socket_(std::move(connection)),
      stream_(is_stream(socket_.get()) ? std::make_unique<Stream>(socket_.get()) : nullptr),
      process_(process_of(socket_.get(), stream_ == nullptr, watching)),
      watching_(watching)
{
    if (stream_ == nullptr)
        return;
    if (watching_ == Watching::by_one_channel)
        stream_->descriptors_share_epoll();
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

// The handshake.

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
    const Hello hello = {wire_magic, wire_version, features(), service, own};
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
    has_one_socket_ = !files[1].is_open() && (features() & Feature::one_socket) != 0;
    if (!has_one_socket_ && getsockopt(files[1].get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0)
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
    has_one_socket_ = (features() & hello.features & Feature::one_socket) != 0;
    const bool needs_space_sockets = stream_ == nullptr && !has_one_socket_;
    if (!memory_.create(to_service_, to_client_, file) ||
        (needs_space_sockets && !make_space_sockets(space_socket_, space_of_client)))
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
        if (!send_handshake(StreamKind::welcome, bytes_of(welcome), std::span(files).first(has_one_socket_ ? 1 : 2)))
            return DOCA_ERROR_CONNECTION_ABORTED; // the client has gone
    }
    has_control_messages_ = has_control_messages;
    attach();
    return DOCA_SUCCESS;
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
    has_pending_space_doorbell_ = memory_.is_open() && in_.disarm_for_space() && !ring_doorbell(space_fd());
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
    if (memory_.is_open()) // otherwise another thread has found a violation of the protocol
        in_.arm_for_message();
    was_armed_ = true;
    if (stream_ != nullptr)
        stream_->wake_for_message(true);
}

void Connection::arm_for_space() noexcept
{
    if (memory_.is_open())
        out_.arm_for_space();
    was_armed_ = true;
    if (stream_ != nullptr)
        stream_->wake_for_space(true);
}

void Connection::drain_space_doorbells() noexcept
{
    if (stream_ != nullptr)
        stream_->wake_for_space(false);
    else if (!has_one_socket_)
        (void)drain_doorbells_of(space_socket_.get()); // the peer's end is detected on the other socket
}

bool Connection::is_end_check_due() noexcept
{
    if (state_ != State::connected || stream_ != nullptr || was_armed_ || has_pending_doorbell())
        return true;
    // Relaxed: record_end() reads it again.
    if (memory_.is_open() && departure_of_peer_of(side_, memory_.page()).load(std::memory_order_relaxed) != 0)
        return true;
    // Processes take longer to end than this interval: a call that follows the end of the peer's nearly always detects
    // it.
    constexpr std::chrono::microseconds interval(20);
    const auto now = std::chrono::steady_clock::now();
    if (now - last_end_check_ < interval)
        return false;
    last_end_check_ = now;
    return true;
}

bool Connection::check_end() noexcept
{
    pump();
    if (state_ != State::connected)
        return false;
    was_armed_ = false;
    // Over TCP the stream reports the end only after everything that arrived before it is in the ring. Children of the
    // peer may hold copies of its socket, which then shows no hang-up: the process is checked as well.
    const bool has_ended = stream_ != nullptr ? stream_->has_ended()
                                              : may_have_ended(socket_.get(), *process_) &&
                                                    (is_closed_by_peer(socket_.get()) || has_lost_process());
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
    was_armed_ = false;
    if (state_ != State::connected || (drain_doorbells_of(socket_.get()) && !has_lost_process()))
        return false;
    record_end();
    return true;
}

bool Connection::has_lost_process() noexcept
{
    if (!process_->has_ended())
        return false;
    shutdown(socket_.get(), SHUT_RDWR); // so that it shows the end wherever it is watched
    return true;
}

void Connection::record_end() noexcept
{
    // Acquire: pairs with the release store in note_departure() of the peer, made before it closed its end.
    state_ = has_left_ || departure_of_peer_of(side_, memory_.page()).load(std::memory_order_acquire) != 0
                 ? State::left
                 : State::died;
    if (state_ == State::died && may_log_about_peer_of(side_, stream_ != nullptr))
        LOG_WARN("the %s at the other end has died", side_ == Side::service ? "client" : "service");
}

void Connection::note_damage() noexcept
{
    // Later calls that find the same violation neither log nor close again.
    if (state_ == State::died && !memory_.is_open())
        return;
    if (may_log_about_peer_of(side_, stream_ != nullptr))
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
