// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
//     client  request(details) ->                        server: the program accepts or rejects it
//             <- accept(details), or reject
//             ready ->                                   both: established
//
// The TCP connection stays: its end is that of the connection.
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

#include "../../core/deferred_log.hpp"
#include "../../core/device/queue_pair.hpp"
#include "../../core/log.hpp"
#include "../../core/unauthenticated_clients.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_TCP);

namespace opendoca::v3 {

class TcpLink final : public Link {
public:
    using Clock = std::chrono::steady_clock;

    enum class State : std::uint8_t {
        connecting, ///< a client's: until TCP has made a connection
        requested,  ///< a client's: until the server answers
        silent,     ///< a server's: until the client has sent its request
        asked,      ///< a server's: until the program answers
        answered,   ///< a server's: until the client confirms
        established,
        over,
    };

    TcpLink(TcpConnector &tcp_connector, Handshake handshake, State state) noexcept
        : connector_(tcp_connector),
          handshake_(std::move(handshake)),
          state_(state)
    {
    }
    ~TcpLink() override { disconnect(); }

    /// Begins the time that a client has for its next message.
    void set_deadline() noexcept { deadline_ = Clock::now() + max_handshake_time; }
    [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept { return deadline_; }

    /// Of a client.
    void ask_for(QueuePair &queue_pair, std::string asked)
    {
        queue_pair_ = &queue_pair;
        server = std::move(asked);
    }

    [[nodiscard]] doca_error_t accept(QueuePair &queue_pair, std::span<const std::byte> private_data) override;
    void reject() noexcept override;
    void disconnect() noexcept override;
    [[nodiscard]] bool is_over() const noexcept override { return state_ == State::over; }

    [[nodiscard]] int fd() const noexcept { return handshake_.fd(); }
    [[nodiscard]] LinkEvent::Kind look();

private:
    [[nodiscard]] LinkEvent::Kind finish_connecting();
    [[nodiscard]] LinkEvent::Kind take();

    TcpConnector &connector_;
    Handshake handshake_;
    State state_;
    QueuePair *queue_pair_ = nullptr;
    Clock::time_point deadline_{};
};

/// Private data is not sent: no function gives it to the client, and both sides are ours.
doca_error_t TcpLink::accept(QueuePair &queue_pair, std::span<const std::byte>)
{
    DeferredLog log; // also defers the queue pair's messages about the client's details
    const char *what = nullptr;
    if (queue_pair.connect(handshake_.details()) != DOCA_SUCCESS)
        what = "its details can't be used";
    else if (!handshake_.send(Message::accept, queue_pair.details()))
        what = "it has gone";
    else if (!connector_.watch(*this, EPOLLIN))
        what = std::strerror(errno);
    if (what != nullptr) {
        if (may_log_unauthenticated_client())
            LOG_ERR("a client that has asked for a connection does not get one: %s", what);
        else
            log.discard();
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    set_deadline();
    connector_.await_confirmation(*this);
    state_ = State::answered;
    return DOCA_SUCCESS;
}

void TcpLink::reject() noexcept
{
    (void)handshake_.send(Message::reject, {});
    disconnect();
}

void TcpLink::disconnect() noexcept
{
    if (state_ == State::answered)
        connector_.stop_awaiting_confirmation(*this);
    state_ = State::over;
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
    state_ = State::requested;
    if (error == 0 && handshake_.send(Message::request, queue_pair_->details()) && connector_.watch(*this, EPOLLIN))
        return LinkEvent::Kind::step;
    LOG_ERR("%s: %s", server.c_str(), std::strerror(error != 0 ? error : ECONNRESET));
    return LinkEvent::Kind::failed;
}

/// Something has come by the socket, or its end.
LinkEvent::Kind TcpLink::look()
{
    if (state_ == State::connecting)
        return finish_connecting();
    switch (handshake_.receive()) {
    case Handshake::Arrival::nothing:
        return LinkEvent::Kind::step;
    case Handshake::Arrival::message:
        return take();
    case Handshake::Arrival::ended:
        break;
    }
    if (state_ == State::established)
        return LinkEvent::Kind::ended;
    if (!server.empty())
        LOG_ERR("%s has closed the connection before it was established", server.c_str());
    else if (state_ != State::silent && may_log_unauthenticated_client())
        LOG_ERR("a client has closed the connection before it was established");
    return LinkEvent::Kind::failed;
}

LinkEvent::Kind TcpLink::take()
{
    const Message kind = handshake_.kind();
    if (state_ == State::silent && kind == Message::request) {
        connector_.unwatch(*this); // until the program has answered
        state_ = State::asked;
        return LinkEvent::Kind::request;
    }
    if (state_ == State::answered && kind == Message::ready) {
        connector_.stop_awaiting_confirmation(*this);
        state_ = State::established;
        return LinkEvent::Kind::established;
    }
    if (state_ == State::requested && kind == Message::accept) {
        if (queue_pair_->connect(handshake_.details()) != DOCA_SUCCESS || !handshake_.send(Message::ready, {}))
            return LinkEvent::Kind::failed;
        state_ = State::established;
        return LinkEvent::Kind::established;
    }
    if (state_ == State::requested && kind == Message::reject)
        LOG_ERR("the server at %s has rejected the connection", server.c_str());
    else if (!server.empty())
        LOG_ERR("%s has sent a message out of turn", server.c_str());
    else if (may_log_unauthenticated_client())
        LOG_ERR("a client has sent a message out of turn");
    return state_ == State::established ? LinkEvent::Kind::ended : LinkEvent::Kind::failed;
}

doca_error_t TcpConnector::create(bool is_local, std::unique_ptr<Connector> &made)
{
    UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
    UniqueFd timer(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!epoll.is_open() || !timer.is_open()) {
        LOG_ERR("no descriptor for connections by address: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    std::unique_ptr<TcpConnector> fresh(new TcpConnector(is_local, std::move(epoll), std::move(timer)));
    epoll_event interest = {.events = EPOLLIN, .data = {.ptr = &fresh->timer_}};
    if (epoll_ctl(fresh->epoll_.get(), EPOLL_CTL_ADD, fresh->timer_.get(), &interest) != 0) {
        LOG_ERR("watching the timer of half-open clients: %s", std::strerror(errno));
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
    return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, link.fd(), &interest) == 0 ||
           (errno == EEXIST && epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, link.fd(), &interest) == 0);
}

void TcpConnector::unwatch(const TcpLink &link) noexcept
{
    (void)epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link.fd(), nullptr);
}

void TcpConnector::await_confirmation(TcpLink &link)
{
    unconfirmed_.push_back(&link);
    if (!is_timer_set_)
        set_timer();
}

void TcpConnector::stop_awaiting_confirmation(const TcpLink &link) noexcept
{
    std::erase(unconfirmed_, &link);
}

/// Sets the timer to the first deadline, if there is one. All clients have the same time, so later ones leave it as it
/// is.
void TcpConnector::set_timer() noexcept
{
    using Clock = TcpLink::Clock;
    constexpr auto none = Clock::time_point::max();
    const Clock::time_point first = std::min(silent_.empty() ? none : silent_.front()->deadline(),
                                             unconfirmed_.empty() ? none : unconfirmed_.front()->deadline());
    itimerspec when{};
    is_timer_set_ = first != none;
    if (is_timer_set_) {
        const auto left = std::max<Clock::duration>(first - Clock::now(), std::chrono::milliseconds(1));
        when.it_value.tv_sec = std::chrono::floor<std::chrono::seconds>(left).count();
        when.it_value.tv_nsec = (left % std::chrono::seconds(1)).count();
    }
    (void)timerfd_settime(timer_.get(), 0, &when, nullptr); // fails for no values that are possible here
}

/// The timer has expired: ends one client that is past its deadline. The timer stays readable until none is left.
LinkEvent TcpConnector::end_late_client() noexcept
{
    const auto is_late = [now = TcpLink::Clock::now()](const TcpLink &link) { return link.deadline() <= now; };
    constexpr long long limit = max_handshake_time.count();
    if (!silent_.empty() && is_late(*silent_.front())) {
        if (may_log_unauthenticated_client())
            LOG_WARN("a client has connected, and has sent no request within %lld s: it is closed", limit);
        silent_.erase(silent_.begin());
        return {.kind = LinkEvent::Kind::step};
    }
    if (!unconfirmed_.empty() && is_late(*unconfirmed_.front())) {
        if (may_log_unauthenticated_client())
            LOG_WARN("a client has not confirmed its connection within %lld s: it is closed", limit);
        TcpLink *const late = unconfirmed_.front();
        unconfirmed_.erase(unconfirmed_.begin());
        return {.kind = LinkEvent::Kind::failed, .link = late};
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
        LOG_ERR("watching port %u: %s", port, std::strerror(errno));
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
    silent_.clear();
}

doca_error_t TcpConnector::connect(const ServerAddress &server, std::chrono::milliseconds, QueuePair &queue_pair,
                                   std::unique_ptr<Link> &link)
{
    constexpr char here[] = "127.0.0.1";
    const std::string address = is_local_ ? here : server.text;
    std::string asked = address + ", port " + std::to_string(server.port);
    if (is_local_ && server.text != here)
        asked += " of this machine (software devices are all on it, and ask there in place of " + server.text + ")";
    Handshake handshake;
    const doca_error_t status = Handshake::connect(address, server.port, asked, handshake);
    if (status != DOCA_SUCCESS)
        return status;
    auto made = std::make_unique<TcpLink>(*this, std::move(handshake), TcpLink::State::connecting);
    made->ask_for(queue_pair, std::move(asked));
    if (!watch(*made, EPOLLOUT)) {
        LOG_ERR("watching the connection to %s: %s", made->server.c_str(), std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    link = std::move(made);
    return DOCA_SUCCESS;
}

/// If too many clients have sent no request, this closes the oldest of them.
bool TcpConnector::accept_client()
{
    UniqueFd socket = acceptor_.accept(listener_.get());
    if (!socket.is_open())
        return false;
    end_with_silent_host(socket.get());
    auto link = std::make_unique<TcpLink>(*this, Handshake(std::move(socket)), TcpLink::State::silent);
    link->set_deadline();
    if (silent_.size() == max_silent)
        silent_.erase(silent_.begin());
    silent_.push_back(std::move(link));
    if (watch(*silent_.back(), EPOLLIN)) {
        acceptor_.note_success();
        if (!is_timer_set_)
            set_timer();
    } else {
        acceptor_.note_shortage("watched");
        silent_.pop_back();
    }
    return true;
}

LinkEvent TcpConnector::poll()
{
    epoll_event ready{};
    if (epoll_wait(epoll_.get(), &ready, 1, 0) != 1)
        return {};
    if (ready.data.ptr == &timer_)
        return end_late_client();
    auto *const link = static_cast<TcpLink *>(ready.data.ptr);
    if (link == nullptr)
        return {.kind = accept_client() ? LinkEvent::Kind::step : LinkEvent::Kind::nothing};
    const LinkEvent::Kind kind = link->look();
    const auto silent = std::ranges::find(silent_, link, &std::unique_ptr<TcpLink>::get);
    if (silent == silent_.end() || kind == LinkEvent::Kind::step)
        return {.kind = kind, .link = link};
    std::unique_ptr<TcpLink> spoken = std::move(*silent);
    silent_.erase(silent);
    if (kind != LinkEvent::Kind::request)
        return {.kind = LinkEvent::Kind::step}; // it has gone before it was reported
    return {.kind = kind, .client = std::move(spoken)};
}

} // namespace opendoca::v3
