// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "link.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "message.hpp"
#include "sysfs.hpp"

namespace opendoca::card {

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t silent_after = second_ns;    // then it is asked for a sign of life
constexpr std::uint64_t dead_after = 10 * second_ns; // without any byte
constexpr std::uint64_t hello_within = 5 * second_ns;
constexpr std::uint64_t stranger_within = second_ns; // by TLS: anybody can connect
constexpr std::size_t max_candidates = 64;
constexpr std::uint64_t timer_period = second_ns / 4;
constexpr unsigned max_lines_per_minute = 20;

/// Wakes up the event loop when the descriptor has one of the events.
void control_epoll(const UniqueFd &epoll, int operation, int fd, std::uint32_t events)
{
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    epoll_ctl(epoll.get(), operation, fd, &event);
}

/// Returns text of the other side for the log: a terminal could obey the rest.
std::string printable(std::string text)
{
    std::ranges::replace_if(
        text, [](char character) { return character < ' ' || character > '~'; }, '?');
    return text;
}

bool is_reply(LinkType type)
{
    constexpr LinkType replies[] = {LinkType::opened, LinkType::data, LinkType::written, LinkType::swapped,
                                    LinkType::connected};
    return std::ranges::find(replies, type) != std::end(replies);
}

const char *text_of(Side side)
{
    return side == Side::host ? "host" : "dpu";
}

} // namespace

std::string LinkSettings::peer_text() const
{
    if (!key)
        return user ? "user:" + std::to_string(*user) : "-";
    std::string text = "key:";
    for (const std::uint8_t byte : key->name) {
        constexpr char digits[] = "0123456789abcdef";
        text += {digits[byte >> 4], digits[byte & 15]};
    }
    return text;
}

Link::Link(Card &card, LinkSettings settings)
    : card_(card),
      settings_(std::move(settings)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      timer_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
      responder_(card),
      relay_(*card.own_side)
{
    itimerspec period{};
    period.it_interval.tv_nsec = timer_period;
    period.it_value.tv_nsec = 1;
    if (!epoll_.is_open() || !timer_.is_open() || timerfd_settime(timer_.get(), 0, &period, nullptr) != 0)
        throw std::system_error(errno, std::generic_category());
    control_epoll(epoll_, EPOLL_CTL_ADD, timer_.get(), EPOLLIN);
    control_epoll(epoll_, EPOLL_CTL_ADD, relay_.descriptor(), EPOLLIN);
}

Link::~Link()
{
    if (listener_.is_open() && settings_.address.kind == LinkAddress::Kind::local)
        unlink(settings_.address.path.c_str());
}

bool Link::start(std::string &message)
{
    if (settings_.key)
        static_cast<void>(LinkTls(-1, true, *settings_.key)); // throws if there is no TLS here
    if (!settings_.services.empty() && !relay_.open(settings_.services, message))
        return false;
    if (card_.own_side == Side::host)
        return true; // the timer connects
    listener_ = listen_for_link(settings_.address, settings_.user.has_value(), message);
    if (!listener_.is_open())
        return false;
    control_epoll(epoll_, EPOLL_CTL_ADD, listener_.get(), EPOLLIN);
    return true;
}

void Link::progress()
{
    std::array<epoll_event, max_candidates + 4> events;
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    const std::span ready(events.data(), static_cast<std::size_t>(std::max(count, 0)));
    const auto is_ready = [&](int fd) {
        return std::ranges::any_of(ready, [&](const epoll_event &event) { return event.data.fd == fd; });
    };
    // What has arrived counts before the timer: this process may have had no processor for a while.
    if (stream_ && is_ready(stream_->descriptor()))
        serve_stream();
    for (Entry next = candidates_.begin(); next != candidates_.end();) {
        const Entry candidate = next++;
        if (!is_ready(candidate->stream.descriptor()))
            continue;
        serve(candidate);
        if (candidates_.empty())
            break; // one has become a session, or it was the last one
    }
    if (is_ready(timer_.get()))
        serve_timer();
    if (listener_.is_open() && is_ready(listener_.get()))
        accept();
    if (is_ready(relay_.descriptor())) {
        flush(); // which makes room for what programs send
        relay_.progress();
    }
    flush();
}

void Link::accept()
{
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) {
        // Without descriptors the listener stays ready.
        is_listening_ = errno == EAGAIN;
        if (!is_listening_)
            control_epoll(epoll_, EPOLL_CTL_MOD, listener_.get(), 0);
        return;
    }
    if (stream_)
        log("refuses another card: this side is connected");
    else if (const std::string reason = reason_against_user(socket.get()); !reason.empty())
        log("refuses a card: " + reason);
    else
        begin(std::move(socket));
}

void Link::connect()
{
    std::string reason;
    UniqueFd socket = connect_link(settings_.address, reason);
    if (socket.is_open())
        reason = reason_against_user(socket.get());
    if (reason.empty())
        begin(std::move(socket));
    else
        log(reason);
}

std::string Link::reason_against_user(int socket) const
{
    if (settings_.address.kind != LinkAddress::Kind::local)
        return {};
    const uid_t expected = settings_.user.value_or(geteuid());
    const std::optional<uid_t> user = peer_user(socket);
    if (user == expected)
        return {};
    return "the other end of " + settings_.address.text() + " is of user " +
           (user ? std::to_string(*user) : std::string("unknown")) + ", not of user " + std::to_string(expected);
}

void Link::begin(UniqueFd socket)
{
    std::unique_ptr<LinkTls> tls;
    try {
        if (settings_.key)
            tls = std::make_unique<LinkTls>(socket.get(), card_.own_side == Side::dpu, *settings_.key);
    } catch (const std::system_error &error) {
        ++refused_;
        return log(std::string("refuses a connection: ") + error.what());
    }
    if (candidates_.size() == max_candidates)
        refuse(candidates_.begin(), "more than " + std::to_string(max_candidates) + " try to connect");
    candidates_.push_back({LinkStream(std::move(socket), std::move(tls)), now_ns()});
    Candidate &candidate = candidates_.back();
    control_epoll(epoll_, EPOLL_CTL_ADD, candidate.stream.descriptor(), EPOLLIN | EPOLLOUT);
    candidate.stream.append(LinkType::hello, 0, hello_of(*card_.own_side).encode());
}

void Link::serve(Entry candidate)
{
    const bool is_open = candidate->stream.receive();
    if (const std::optional<LinkMessage> message = candidate->stream.next()) {
        const std::string reason = reason_against(*message);
        return reason.empty() ? start_session(candidate) : refuse(candidate, reason);
    }
    if (!is_open || !candidate->stream.error().empty())
        refuse(candidate, candidate->stream.error());
}

void Link::refuse(Entry candidate, const std::string &reason)
{
    log("is refused: " + reason);
    ++refused_;
    candidates_.erase(candidate);
}

void Link::serve_stream()
{
    const bool is_open = stream_->receive();
    relay_.begin_round();
    while (stream_) {
        const std::optional<LinkMessage> message = stream_->next();
        if (!message)
            break;
        heard_ = now_ns();
        if (std::string reason = handle(*message); !reason.empty())
            return end(std::move(reason));
        if (stream_->is_overfull() && !stream_->flush())
            return end(stream_->error());
    }
    if (!is_open || !stream_->error().empty())
        end(stream_->error());
}

std::string Link::handle(const LinkMessage &message)
{
    const auto malformed = [&] {
        return "its message of type " + std::to_string(static_cast<unsigned>(message.type)) + " with " +
               std::to_string(message.body.size()) + " bytes is malformed, or answers nothing";
    };
    if (is_reply(message.type))
        replied_ = now_ns();
    switch (message.type) {
    case LinkType::ping:
        stream_->append(LinkType::pong, 0, 0);
        return message.body.empty() ? "" : malformed();
    case LinkType::pong:
        return message.body.empty() ? "" : malformed();
    case LinkType::opened:
    case LinkType::data:
    case LinkType::written:
    case LinkType::swapped:
        card_.request_polls();
        return requester_.handle(message) ? "" : malformed();
    case LinkType::connect:
    case LinkType::connected:
    case LinkType::bytes:
    case LinkType::credit:
    case LinkType::end:
        return relay_.handle(message) ? "" : malformed();
    default:
        return responder_.handle(*stream_, message) ? "" : malformed();
    }
}

std::string Link::reason_against(const LinkMessage &message) const
{
    if (message.type != LinkType::hello)
        return "its first message has type " + std::to_string(static_cast<unsigned>(message.type));
    std::string reason;
    const std::optional<LinkHello> hello = LinkHello::decode(message.body, reason);
    if (!hello)
        return reason;
    const Side other = card_.own_side == Side::host ? Side::dpu : Side::host;
    const LinkHello expected = hello_of(other);
    if (hello->side != expected.side)
        return "it is not the side '" + std::string(text_of(other)) + "'";
    if (hello->profile != expected.profile)
        return "it is a " + printable(hello->profile) + ", and this side a " + expected.profile;
    if (hello->guid != expected.guid)
        return "it is of another card: the last part of the path, or the port, must be the same on both sides";
    if (hello->functions != expected.functions)
        return "it has " + std::to_string(hello->functions.size()) + " functions, which are not those of a " +
               expected.profile;
    return {};
}

void Link::start_session(Entry candidate)
{
    stream_.emplace(std::move(candidate->stream));
    is_sending_ = candidate->is_sending;
    candidates_.clear();
    heard_ = now_ns();
    session_ = ++last_session_;
    requester_.start(*stream_, session_);
    relay_.start(*stream_);
    show_functions(true);
    log("is connected with the side '" + std::string(text_of(card_.own_side == Side::host ? Side::dpu : Side::host)) +
        "'");
    serve_stream(); // what has come behind the first message
}

void Link::serve_timer()
{
    std::uint64_t expirations = 0;
    if (read(timer_.get(), &expirations, sizeof(expirations)) != sizeof(expirations))
        return;
    const std::uint64_t now = now_ns();
    relay_.serve_timer(now);
    if (!std::exchange(is_listening_, true))
        control_epoll(epoll_, EPOLL_CTL_MOD, listener_.get(), EPOLLIN);
    // Replies come in the order of the requests, so that each shows that the other side works through those before.
    const auto is_overdue = [&](std::uint64_t since) {
        return since != 0 && now - std::max(since, replied_) > dead_after;
    };
    const std::uint64_t limit = settings_.key && card_.own_side == Side::dpu ? stranger_within : hello_within;
    while (!candidates_.empty() && now - candidates_.front().begun > limit)
        refuse(candidates_.begin(), "it has not introduced itself within " + std::to_string(limit / second_ns) + " s");
    if (!stream_) {
        if (card_.own_side == Side::host && candidates_.empty())
            connect();
    } else if (now - heard_ > dead_after) {
        end("it has sent nothing for " + std::to_string(dead_after / second_ns) + " s");
    } else if (is_overdue(requester_.unanswered_since()) || is_overdue(relay_.unanswered_since())) {
        end("it has answered no request for " + std::to_string(dead_after / second_ns) + " s");
    } else if (now - heard_ > silent_after) {
        stream_->append(LinkType::ping, 0, 0);
    }
}

void Link::flush()
{
    for (Entry next = candidates_.begin(); next != candidates_.end();) {
        const Entry candidate = next++;
        if (candidate->stream.flush())
            update_events(candidate->stream, candidate->is_sending);
        else
            refuse(candidate, candidate->stream.error());
    }
    if (!stream_)
        return;
    if (!stream_->flush())
        return end(stream_->error());
    relay_.resume();
    update_events(*stream_, is_sending_);
}

void Link::update_events(const LinkStream &stream, bool &is_sending) const
{
    if (stream.has_unsent() == is_sending)
        return;
    is_sending = !is_sending;
    control_epoll(epoll_, EPOLL_CTL_MOD, stream.descriptor(), is_sending ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void Link::end(std::string reason)
{
    log("is lost: " + reason);
    session_ = 0;
    requester_.stop();
    responder_.clear();
    relay_.stop();
    stream_.reset();
    show_functions(false);
    card_.request_polls();
}

LinkHello Link::hello_of(Side side) const
{
    LinkHello hello;
    hello.side = static_cast<std::uint8_t>(side);
    hello.guid = card_.guid;
    hello.profile = card_.profile.name;
    for (const Function &function : card_.functions) {
        const FunctionProfile &its = function.profile;
        if (its.side == side)
            hello.functions.push_back({its.vhca_id, its.vport, static_cast<std::uint8_t>(its.kind), its.subfunction,
                                       its.device_name, its.pci_address});
    }
    return hello;
}

void Link::show_functions(bool is_present)
{
    for (Function &function : card_.functions) {
        if (card_.is_elsewhere(function))
            function.is_present = is_present;
    }
    show_representors(card_);
}

std::string Link::describe() const
{
    return "link " + settings_.address.text() + " link-peer " + settings_.peer_text() +
           (session_ != 0 ? " link-state connected" : " link-state waiting") + " link-sessions " +
           std::to_string(last_session_) + " link-refused " + std::to_string(refused_) + " link-requests " +
           std::to_string(requester_.requests()) + " link-served " + std::to_string(responder_.requests()) +
           " link-connections " + std::to_string(relay_.connections());
}

void Link::log(const std::string &line)
{
    constexpr std::uint64_t minute_ns = 60 * second_ns;
    // A side that is not there yet is tried again and again, and a stranger may try to connect in a loop.
    if (const std::uint64_t minute = now_ns() / minute_ns; minute != minute_) {
        minute_ = minute;
        lines_ = 0;
    }
    if (line == last_line_ || ++lines_ > max_lines_per_minute)
        return;
    last_line_ = line;
    std::fprintf(stderr, "link %s: %s\n", settings_.address.text().c_str(), line.c_str());
}

} // namespace opendoca::card
