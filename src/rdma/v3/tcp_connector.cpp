// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
//     client  request(details) ->                        server: the program accepts or rejects it
//             <- accept(details), or reject
//             ready ->                                   both: established
//
// The server connects its queue pair before it sends accept, and the client before it sends ready: so each side can
// receive as soon as the other side can send. The TCP connection stays open: its end is the end of the connection.
#include "tcp_connector.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "../../core/device/queue_pair.hpp"
#include "../../core/log/deferred_log.hpp"
#include "../../core/log/log.hpp"
#include "../../core/process/unauthenticated_clients.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_TCP);

namespace opendoca::v3 {

/// One end of a connection by address over TCP. A link of the server is owned by the connector until its client has
/// sent a request, any other link by its connection. Used by the thread of the instance. Refers to the connector,
/// which outlives it.
class TcpLink final : public Link {
public:
    using Clock = std::chrono::steady_clock;

    enum class State : std::uint8_t {
        connecting,            ///< a client's: until TCP has connected
        awaiting_answer,       ///< a client's: until the server answers the request
        awaiting_request,      ///< a server's: until the client has sent its request
        awaiting_decision,     ///< a server's: until the program accepts or rejects; the socket is not watched
        awaiting_confirmation, ///< a server's: until the client confirms
        established,
        closed, ///< final: the socket is closed, and the link has no further events
    };

    TcpLink(TcpConnector &tcp_connector, Handshake handshake, State state) noexcept
        : connector_(tcp_connector),
          handshake_(std::move(handshake)),
          state_(state)
    {
    }
    ~TcpLink() override { disconnect(); }

    /// Starts the time that a client has for its next message.
    void set_deadline() noexcept { deadline_ = Clock::now() + max_handshake_time; }
    [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept { return deadline_; }

    /// Called on the client's side: sets the queue pair to be connected, and the name of the server in log messages.
    void set_server(QueuePair &queue_pair, std::string server_name)
    {
        queue_pair_ = &queue_pair;
        server = std::move(server_name);
    }

    [[nodiscard]] doca_error_t accept(QueuePair &queue_pair, std::span<const std::byte> private_data) override;
    void reject() noexcept override;
    void disconnect() noexcept override;
    [[nodiscard]] bool is_over() const noexcept override { return state_ == State::closed; }

    [[nodiscard]] int fd() const noexcept { return handshake_.fd(); }
    /// Called when a watched event of the socket has occurred. Returns what the owner is to be notified of.
    [[nodiscard]] LinkEvent::Kind handle_socket_event();

private:
    /// TCP has connected or failed: sends the request.
    [[nodiscard]] LinkEvent::Kind finish_connecting();
    /// Handles the message that handshake_ has received, by the state.
    [[nodiscard]] LinkEvent::Kind handle_message();

    TcpConnector &connector_;
    Handshake handshake_;
    State state_;
    QueuePair *queue_pair_ = nullptr; ///< the client's; null on the server's side, where accept() receives it
    Clock::time_point deadline_{};    ///< of the client's next message, in awaiting_request and awaiting_confirmation
};

/// Ignores the private data: no function of the API returns it to the client, and both sides are programs of opendoca.
doca_error_t TcpLink::accept(QueuePair &queue_pair, std::span<const std::byte>)
{
    // Messages about an unauthenticated client are rate-limited, those of the queue pair about its details included.
    DeferredLog log;
    const char *what = nullptr;
    if (queue_pair.connect(handshake_.details()) != DOCA_SUCCESS)
        what = "its connection details are invalid";
    else if (!handshake_.send(Message::accept, queue_pair.details()))
        what = "the client has disconnected";
    else if (!connector_.watch(*this, EPOLLIN))
        what = std::strerror(errno);
    if (what != nullptr) {
        if (may_log_unauthenticated_client())
            LOG_ERR("a connection request of a client has failed: %s", what);
        else
            log.discard();
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    // From here on the program has an accepted connection, which fails unless the client confirms in time.
    set_deadline();
    connector_.await_confirmation(*this);
    state_ = State::awaiting_confirmation;
    return DOCA_SUCCESS;
}

void TcpLink::reject() noexcept
{
    (void)handshake_.send(Message::reject, {});
    disconnect();
}

void TcpLink::disconnect() noexcept
{
    // The connector must not keep a pointer to a link that is about to be destroyed.
    if (state_ == State::awaiting_confirmation)
        connector_.stop_awaiting_confirmation(*this);
    state_ = State::closed;
    if (!handshake_.is_open())
        return;
    connector_.unwatch(*this);
    handshake_.close();
}

LinkEvent::Kind TcpLink::finish_connecting()
{
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    state_ = State::awaiting_answer;
    if (error == 0 && handshake_.send(Message::request, queue_pair_->details()) && connector_.watch(*this, EPOLLIN))
        return LinkEvent::Kind::step;
    LOG_ERR("%s: %s", server.c_str(), std::strerror(error != 0 ? error : ECONNRESET));
    return LinkEvent::Kind::failed;
}

LinkEvent::Kind TcpLink::handle_socket_event()
{
    if (state_ == State::connecting)
        return finish_connecting();
    switch (handshake_.receive()) {
    case Handshake::Arrival::nothing:
        return LinkEvent::Kind::step;
    case Handshake::Arrival::message:
        return handle_message();
    case Handshake::Arrival::ended:
        break;
    }
    // The TCP connection has ended. Before it was established, that is a failed attempt.
    if (state_ == State::established)
        return LinkEvent::Kind::ended;
    // Every client of the port could fill the log, so messages about clients are rate-limited; one that only connects
    // and disconnects, such as a port scan, is not logged at all.
    if (!server.empty())
        LOG_ERR("%s has closed the connection before it was established", server.c_str());
    else if (state_ != State::awaiting_request && may_log_unauthenticated_client())
        LOG_ERR("a client has closed the connection before it was established");
    return LinkEvent::Kind::failed;
}

LinkEvent::Kind TcpLink::handle_message()
{
    const Message kind = handshake_.kind();
    if (state_ == State::awaiting_request && kind == Message::request) {
        connector_.unwatch(*this); // nothing more is expected from the client before the answer
        state_ = State::awaiting_decision;
        return LinkEvent::Kind::request;
    }
    if (state_ == State::awaiting_confirmation && kind == Message::ready) {
        connector_.stop_awaiting_confirmation(*this);
        state_ = State::established;
        return LinkEvent::Kind::established;
    }
    if (state_ == State::awaiting_answer && kind == Message::accept) {
        if (queue_pair_->connect(handshake_.details()) != DOCA_SUCCESS || !handshake_.send(Message::ready, {}))
            return LinkEvent::Kind::failed;
        state_ = State::established;
        return LinkEvent::Kind::established;
    }
    // A rejection, or a message that the state does not permit: the attempt fails.
    if (state_ == State::awaiting_answer && kind == Message::reject)
        LOG_ERR("the server at %s has rejected the connection", server.c_str());
    else if (!server.empty())
        LOG_ERR("%s has sent an unexpected message", server.c_str());
    else if (may_log_unauthenticated_client())
        LOG_ERR("a client has sent an unexpected message");
    return state_ == State::established ? LinkEvent::Kind::ended : LinkEvent::Kind::failed;
}

doca_error_t TcpConnector::create(bool is_local, std::unique_ptr<Connector> &made)
{
    UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
    UniqueFd timer(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!epoll.is_open() || !timer.is_open()) {
        LOG_ERR("connections by address can't get a file descriptor: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    std::unique_ptr<TcpConnector> fresh(new TcpConnector(is_local, std::move(epoll), std::move(timer)));
    // The address of timer_ distinguishes its events from those of links.
    epoll_event interest = {.events = EPOLLIN, .data = {.ptr = &fresh->timer_}};
    if (epoll_ctl(fresh->epoll_.get(), EPOLL_CTL_ADD, fresh->timer_.get(), &interest) != 0) {
        LOG_ERR("the timer of half-open clients can't be added to epoll: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    made = std::move(fresh);
    return DOCA_SUCCESS;
}

TcpConnector::TcpConnector(bool is_local, UniqueFd epoll, UniqueFd timer) noexcept
    : is_local_(is_local),
      epoll_(std::move(epoll)),
      timer_(std::move(timer))
{
}

TcpConnector::~TcpConnector() = default;

bool TcpConnector::watch(TcpLink &link, std::uint32_t events) noexcept
{
    epoll_event interest = {.events = events, .data = {.ptr = &link}};
    // A client's socket is in the epoll already when its interest changes from EPOLLOUT to EPOLLIN.
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, link.fd(), &interest) == 0 ||
           (errno == EEXIST && epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, link.fd(), &interest) == 0);
}

void TcpConnector::unwatch(const TcpLink &link) noexcept
{
    (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link.fd(), nullptr);
}

void TcpConnector::await_confirmation(TcpLink &link)
{
    awaiting_confirmation_.push_back(&link);
    if (!is_timer_set_)
        set_timer();
}

void TcpConnector::stop_awaiting_confirmation(const TcpLink &link) noexcept
{
    std::erase(awaiting_confirmation_, &link);
}

/// All clients have the same time and both lists are in order of age, so the first deadline is that of the front of
/// one of them. New clients do not change a timer that is already set.
void TcpConnector::set_timer() noexcept
{
    using Clock = TcpLink::Clock;
    constexpr auto none = Clock::time_point::max();
    const Clock::time_point first =
        std::min(awaiting_request_.empty() ? none : awaiting_request_.front()->deadline(),
                 awaiting_confirmation_.empty() ? none : awaiting_confirmation_.front()->deadline());
    itimerspec when{};
    is_timer_set_ = first != none;
    if (is_timer_set_) {
        // At least 1 ms: a value of 0 would stop the timer.
        const auto left = std::max<Clock::duration>(first - Clock::now(), std::chrono::milliseconds(1));
        when.it_value.tv_sec = std::chrono::floor<std::chrono::seconds>(left).count();
        when.it_value.tv_nsec = (left % std::chrono::seconds(1)).count();
    }
    (void)timerfd_settime(timer_.get(), 0, &when, nullptr); // fails only for invalid values, which cannot occur here
}

/// The timer has expired and stays readable until it is set again, so poll() calls this until no client is past its
/// deadline.
LinkEvent TcpConnector::expire_client() noexcept
{
    const auto has_expired = [now = TcpLink::Clock::now()](const TcpLink &link) { return link.deadline() <= now; };
    constexpr long long limit = max_handshake_time.count();
    if (!awaiting_request_.empty() && has_expired(*awaiting_request_.front())) {
        if (may_log_unauthenticated_client())
            LOG_WARN("a client has sent no request within %lld s of connecting: its connection is closed", limit);
        awaiting_request_.erase(awaiting_request_.begin()); // the program was not notified of it
        return {.kind = LinkEvent::Kind::step};
    }
    if (!awaiting_confirmation_.empty() && has_expired(*awaiting_confirmation_.front())) {
        if (may_log_unauthenticated_client())
            LOG_WARN("a client has not confirmed its connection within %lld s: the connection is closed", limit);
        // The program owns the connection: its failure callback is called.
        TcpLink *const expired = awaiting_confirmation_.front();
        awaiting_confirmation_.erase(awaiting_confirmation_.begin());
        return {.kind = LinkEvent::Kind::failed, .link = expired};
    }
    set_timer();
    return {.kind = LinkEvent::Kind::step};
}

doca_error_t TcpConnector::listen(std::uint16_t port)
{
    UniqueFd socket;
    epoll_event interest = {.events = EPOLLIN, .data = {.ptr = nullptr}};
    if (listen_to(port, is_local_, socket) != DOCA_SUCCESS)
        return DOCA_ERROR_CONNECTION_ABORTED;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &interest) != 0) {
        LOG_ERR("port %u can't be added to epoll: %s", port, std::strerror(errno));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    listener_ = std::move(socket);
    acceptor_.open();
    return DOCA_SUCCESS;
}

void TcpConnector::stop_listening() noexcept
{
    listener_.reset();
    acceptor_ = {};
    // Clients that have sent a request belong to connections and are not affected.
    awaiting_request_.clear();
}

/// The timeout is ignored: the caller ends an attempt that takes too long.
doca_error_t TcpConnector::connect(const ServerAddress &server, std::chrono::milliseconds, QueuePair &queue_pair,
                                   std::unique_ptr<Link> &link)
{
    constexpr char loopback[] = "127.0.0.1";
    const std::string address = is_local_ ? loopback : server.text;
    std::string server_name = address + ", port " + std::to_string(server.port);
    if (is_local_ && server.text != loopback)
        server_name +=
            " of this machine (software devices are all local and connect to it in place of " + server.text + ")";
    Handshake handshake;
    const doca_error_t status = Handshake::connect(address, server.port, server_name, handshake);
    if (status != DOCA_SUCCESS)
        return status;
    auto made = std::make_unique<TcpLink>(*this, std::move(handshake), TcpLink::State::connecting);
    made->set_server(queue_pair, std::move(server_name));
    if (!watch(*made, EPOLLOUT)) {
        LOG_ERR("the connection to %s can't be added to epoll: %s", made->server.c_str(), std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    link = std::move(made);
    return DOCA_SUCCESS;
}

/// If max_awaiting_request clients have sent no request, the oldest of them is closed, so that idle clients cannot
/// keep others out.
bool TcpConnector::accept_client()
{
    UniqueFd socket = acceptor_.accept(listener_.get());
    if (!socket.is_open())
        return false;
    end_with_silent_host(socket.get());
    auto link = std::make_unique<TcpLink>(*this, Handshake(std::move(socket)), TcpLink::State::awaiting_request);
    link->set_deadline();
    if (awaiting_request_.size() == max_awaiting_request)
        awaiting_request_.erase(awaiting_request_.begin());
    awaiting_request_.push_back(std::move(link));
    // Without epoll memory the client is closed again; a shortage is logged once, until a client is accepted again.
    if (watch(*awaiting_request_.back(), EPOLLIN)) {
        acceptor_.reset_shortage();
        if (!is_timer_set_)
            set_timer();
    } else {
        acceptor_.log_shortage("watched");
        awaiting_request_.pop_back();
    }
    return true;
}

LinkEvent TcpConnector::poll()
{
    // One event per call: the owner limits the number of steps of one progress call.
    epoll_event ready{};
    if (epoll_wait(epoll_.get(), &ready, 1, 0) != 1)
        return {};
    if (ready.data.ptr == &timer_)
        return expire_client();
    auto *const link = static_cast<TcpLink *>(ready.data.ptr);
    if (link == nullptr)
        return {.kind = accept_client() ? LinkEvent::Kind::step : LinkEvent::Kind::nothing};
    // After this a link that a connection owns is reported with its event; one that this connector owns is either moved
    // to the caller with its request, or closed.
    const LinkEvent::Kind kind = link->handle_socket_event();
    const auto awaiting = std::ranges::find(awaiting_request_, link, &std::unique_ptr<TcpLink>::get);
    if (awaiting == awaiting_request_.end() || kind == LinkEvent::Kind::step)
        return {.kind = kind, .link = link};
    std::unique_ptr<TcpLink> client = std::move(*awaiting);
    awaiting_request_.erase(awaiting);
    if (kind != LinkEvent::Kind::request)
        return {.kind = LinkEvent::Kind::step}; // the program was not notified of it
    return {.kind = kind, .client = std::move(client)};
}

} // namespace opendoca::v3
