// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "link_relay.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "big_endian.hpp"
#include "last_bytes.hpp"
#include "message.hpp"

namespace opendoca::card {

using comm_channel::RelayAnswer;

namespace {

constexpr std::uint64_t of_listener = 0; ///< number that no connection has
constexpr std::size_t max_greeting = 64; ///< programs that are shown that there is no room for their connections
constexpr std::uint64_t still_after = 10'000'000'000;                        // ns
constexpr std::uint64_t request_within = 1'000'000'000;                      // ns
constexpr std::size_t credit_after = link_connection_window / 4;             // fewer bytes cannot hold up the sender
constexpr std::size_t pause_above = 1 << 20, resume_below = pause_above / 4; // unsent bytes

/// Names the directory by its descriptor, so that the address is short enough for any path.
sockaddr_un address_of(const UniqueFd &directory, const std::string &name)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", directory.get(), name.c_str());
    return address;
}

bool watch(const UniqueFd &epoll, int operation, int fd, std::uint32_t events, std::uint64_t number)
{
    epoll_event event{};
    event.events = events;
    event.data.u64 = number;
    return epoll_ctl(epoll.get(), operation, fd, &event) == 0;
}

UniqueFd make_socket()
{
    return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

} // namespace

LinkRelay::LinkRelay(Side own_side) : own_side_(own_side), epoll_(epoll_create1(EPOLL_CLOEXEC))
{
    if (!epoll_.is_open())
        throw std::system_error(errno, std::generic_category());
}

bool LinkRelay::open(const std::string &directory, std::string &message)
{
    const auto fail = [&] {
        message = "connections of programs cannot be carried, in " + directory + ": " + std::strerror(errno);
        return false;
    };
    if (mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST)
        return fail();
    directory_ = UniqueFd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory_.is_open())
        return fail();
    struct stat found {};
    if (fstat(directory_.get(), &found) != 0)
        return fail();
    if (found.st_uid != geteuid() || (found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        message = "connections of programs cannot be carried: " + directory + " is not a directory that user " +
                  std::to_string(geteuid()) + " alone can enter";
        return false;
    }
    if (own_side_ == Side::dpu)
        return true;
    listener_ = make_socket();
    const sockaddr_un address = address_of(directory_, comm_channel::relay_name);
    unlinkat(directory_.get(), comm_channel::relay_name, 0); // of a card that was killed
    if (!listener_.is_open() ||
        bind(listener_.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0 ||
        listen(listener_.get(), SOMAXCONN) != 0 || !watch(epoll_, EPOLL_CTL_ADD, listener_.get(), EPOLLIN, of_listener))
        return fail();
    return true;
}

void LinkRelay::stop()
{
    stream_.stop();
    for (auto &[number, connection] : connections_) {
        if (!connection.has_ended_there || connection.incoming.empty() || last_bytes_.size() == max_link_connections)
            continue;
        if (connection.interest != 0)
            watch(epoll_, EPOLL_CTL_DEL, connection.socket.get(), 0, number);
        last_bytes_.add(std::move(connection.socket), std::move(connection.process), std::move(connection.incoming));
    }
    connections_.clear();
    is_paused_ = false;
}

void LinkRelay::progress()
{
    std::array<epoll_event, 64> events;
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (const epoll_event &event : std::span(events.data(), static_cast<std::size_t>(std::max(count, 0)))) {
        if (event.data.u64 == of_listener)
            accept();
        else if (const Entry entry = connections_.find(event.data.u64); entry != connections_.end())
            serve(entry);
    }
}

void LinkRelay::accept()
{
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) {
        // Without descriptors the listener stays ready: it is tried again by the timer, not in a loop.
        is_listening_ = errno == EAGAIN || !watch(epoll_, EPOLL_CTL_MOD, listener_.get(), 0, of_listener);
        return;
    }
    // The directory's mode keeps other users out; this check holds even if the mode was changed.
    if (peer_user(socket.get()) != geteuid())
        return;
    UniqueFd process = open_peer_process(socket.get());
    Connection connection{std::move(socket), State::greeting, std::move(process), now_ns()};
    // A program that is refused before its request has come may fail to send it, and not look for an answer.
    if (connections_.size() >= max_link_connections + max_greeting)
        return answer(connection, RelayAnswer::full);
    update_interest(connections_.emplace(++last_number_, std::move(connection)).first);
}

void LinkRelay::serve(Entry entry)
{
    if (entry->second.state == State::greeting)
        return serve_greeting(entry);
    if (!entry->second.incoming.empty()) {
        const std::uint64_t number = entry->first;
        deliver(entry);
        if ((entry = connections_.find(number)) == connections_.end())
            return;
    }
    read(entry);
}

void LinkRelay::serve_greeting(Entry entry)
{
    Connection &connection = entry->second;
    const std::span rest = std::span(connection.request).subspan(connection.request_bytes);
    const ssize_t count = recv(connection.socket.get(), rest.data(), rest.size(), MSG_DONTWAIT);
    if (count < 0 && is_temporary(errno))
        return;
    if (count <= 0) {
        connections_.erase(entry);
        return;
    }
    connection.request_bytes += static_cast<std::size_t>(count);
    if (connection.request_bytes < connection.request.size())
        return;
    const auto others =
        std::ranges::count_if(connections_, [](const auto &other) { return other.second.state != State::greeting; });
    const bool is_full = static_cast<std::size_t>(others) >= max_link_connections;
    if (!stream_.is_open() || is_full) {
        answer(connection, stream_.is_open() ? RelayAnswer::full : RelayAnswer::not_found);
        connections_.erase(entry);
        return;
    }
    comm_channel::RelayRequest key;
    std::memcpy(&key, connection.request.data(), sizeof(key));
    const std::span<std::uint8_t> body = stream_.append(LinkType::connect, entry->first, link_key_bytes);
    store_big(&body[0], key[0]);
    store_big(&body[sizeof(key[0])], key[1]);
    connection.state = State::connecting;
    connection.since = now_ns();
    update_interest(entry);
}

/// A socket has room for it, as it is the first that is sent. A program that has gone is noticed later.
void LinkRelay::answer(Connection &connection, RelayAnswer answer) const
{
    static_cast<void>(!send(connection.socket.get(), &answer, sizeof(answer), MSG_DONTWAIT | MSG_NOSIGNAL));
}

void LinkRelay::read(Entry entry)
{
    static std::array<std::uint8_t, max_link_data> buffer;
    Connection &connection = entry->second;
    if (!is_paused_ && stream_.unsent() > pause_above) {
        is_paused_ = true;
        paused_at_ = entry->first;
        return update_all_interests();
    }
    const std::size_t room = std::min(buffer.size(), link_connection_window - connection.in_flight);
    if (is_paused_ || room == 0 || connection.has_ended_there)
        return update_interest(entry);
    const ssize_t count = recv(connection.socket.get(), buffer.data(), room, MSG_DONTWAIT);
    if (count < 0 && is_temporary(errno))
        return;
    moved_ = now_ns();
    if (count <= 0)
        return end_here(entry);
    const auto bytes = static_cast<std::size_t>(count);
    stream_.append(LinkType::bytes, entry->first, std::span(buffer).first(bytes));
    connection.in_flight += bytes;
    update_interest(entry);
}

bool LinkRelay::is_carrying(std::uint64_t now) const
{
    const bool has_bytes = last_bytes_.size() != 0 || std::ranges::any_of(connections_, [](const auto &entry) {
                               return entry.second.state == State::open;
                           });
    return has_bytes && now - moved_ < still_after;
}

void LinkRelay::deliver(Entry entry)
{
    Connection &connection = entry->second;
    const std::size_t taken = write_first(connection.socket, connection.incoming, connection.is_deaf);
    connection.uncredited += taken;
    moved_ = taken != 0 ? now_ns() : moved_;
    if (connection.has_ended_there) {
        if (connection.incoming.empty())
            return end_here(entry);
    } else if (connection.uncredited >= credit_after) {
        const std::span<std::uint8_t> body = stream_.append(LinkType::credit, entry->first, link_credit_bytes);
        store_big(&body[0], static_cast<std::uint32_t>(std::exchange(connection.uncredited, 0)));
    }
    update_interest(entry);
}

void LinkRelay::end_here(Entry entry)
{
    Connection &connection = entry->second;
    stream_.append(LinkType::end, entry->first, 0);
    connection.has_ended_here = true;
    connection.incoming.clear();
    connection.socket.reset(); // which removes it from epoll
    connection.interest = 0;
    if (connection.has_ended_there)
        connections_.erase(entry);
}

void LinkRelay::update_interest(Entry entry)
{
    Connection &connection = entry->second;
    constexpr std::uint32_t readable = EPOLLIN, writable = EPOLLOUT;
    std::uint32_t wanted = connection.state == State::greeting ? readable : 0;
    if (connection.state == State::open && !connection.has_ended_here) {
        const bool may_read =
            !is_paused_ && !connection.has_ended_there && connection.in_flight < link_connection_window;
        wanted = (may_read ? readable : 0) | (connection.incoming.empty() ? 0 : writable);
    }
    if (wanted == connection.interest)
        return;
    // A socket whose end was reached is always ready, so one that waits for nothing must not be in epoll.
    const int operation = wanted == 0 ? EPOLL_CTL_DEL : connection.interest == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (watch(epoll_, operation, connection.socket.get(), wanted, entry->first))
        connection.interest = wanted;
    else if (connection.state == State::open)
        end_here(entry); // memory is short, and nothing would ever serve it
    else
        connections_.erase(entry);
}

void LinkRelay::update_all_interests()
{
    // epoll reports first what was added first, and the next pause may begin before the last ones are served.
    for (Entry next = connections_.lower_bound(paused_at_); next != connections_.end();)
        update_interest(next++);
    for (Entry next = connections_.begin(); next != connections_.end() && next->first < paused_at_;)
        update_interest(next++);
}

void LinkRelay::resume()
{
    if (!is_paused_ || !stream_.is_open() || stream_.unsent() > resume_below)
        return;
    is_paused_ = false;
    update_all_interests();
}

void LinkRelay::serve_timer(std::uint64_t now)
{
    if (!is_listening_)
        is_listening_ = watch(epoll_, EPOLL_CTL_MOD, listener_.get(), EPOLLIN, of_listener);
    std::erase_if(connections_, [&](const auto &entry) {
        return entry.second.state == State::greeting && now - entry.second.since > request_within;
    });
    for (Entry next = connections_.begin(); next != connections_.end();)
        end_with_program(next++);
    if (last_bytes_.deliver())
        moved_ = now;
}

void LinkRelay::end_with_program(Entry entry)
{
    const Connection &connection = entry->second;
    if (connection.state != State::open || connection.has_ended_here || !has_ended(connection.process))
        return;
    char byte = 0;
    if (recv(connection.socket.get(), &byte, sizeof(byte), MSG_DONTWAIT | MSG_PEEK) < 0 && is_temporary(errno))
        end_here(entry);
}

std::uint64_t LinkRelay::unanswered_since() const
{
    // Numbers follow the time.
    const auto oldest =
        std::ranges::find_if(connections_, [](const auto &entry) { return entry.second.state == State::connecting; });
    return oldest == connections_.end() ? 0 : oldest->second.since;
}

bool LinkRelay::handle(const LinkMessage &message)
{
    if (message.type == LinkType::connect)
        return handle_connect(message);
    if (message.type == LinkType::connected)
        return handle_connected(message);
    const Entry entry = connections_.find(message.id);
    if (entry == connections_.end() || entry->second.state != State::open || entry->second.has_ended_there)
        return false;
    moved_ = now_ns();
    switch (message.type) {
    case LinkType::bytes:
        return handle_bytes(entry, message.body);
    case LinkType::credit:
        return handle_credit(entry, message.body);
    case LinkType::end:
        return message.body.empty() && handle_end(entry);
    default:
        return false;
    }
}

bool LinkRelay::handle_connect(const LinkMessage &message)
{
    // The other side has no more than that many at a time, and replies are sent after the round.
    if (own_side_ != Side::dpu || message.body.size() != link_key_bytes || message.id == of_listener ||
        connections_.contains(message.id) || ++connects_ > max_link_connections)
        return false;
    LinkStatus status = LinkStatus::full;
    UniqueFd socket;
    if (connections_.size() < max_link_connections)
        socket = connect_to_service(message.body.first<link_key_bytes>(), status);
    const std::span<std::uint8_t> reply = stream_.append(LinkType::connected, message.id, link_status_bytes);
    store_big(&reply[0], static_cast<std::uint32_t>(status));
    if (status != LinkStatus::done)
        return true;
    UniqueFd process = open_peer_process(socket.get());
    Connection made{std::move(socket), State::open, std::move(process), now_ns()};
    update_interest(connections_.emplace(message.id, std::move(made)).first);
    return true;
}

UniqueFd LinkRelay::connect_to_service(std::span<const std::uint8_t, link_key_bytes> key, LinkStatus &status) const
{
    const sockaddr_un address =
        address_of(directory_, comm_channel::service_file_name({be64(&key[0]), be64(&key[link_key_bytes / 2])}));
    UniqueFd made = make_socket();
    status = LinkStatus::full;
    if (!made.is_open())
        return {};
    if (connect(made.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0) {
        if (errno != EAGAIN) // its queue of clients is full
            status = LinkStatus::refused;
        return {};
    }
    // A child of a service that was killed may keep its socket open, but accepts no connections.
    const bool is_dead = !open_peer_process(made.get()).is_open() && errno == ESRCH;
    status = !is_dead && peer_user(made.get()) == geteuid() ? LinkStatus::done : LinkStatus::refused;
    return status == LinkStatus::done ? std::move(made) : UniqueFd();
}

bool LinkRelay::handle_connected(const LinkMessage &message)
{
    const Entry entry = connections_.find(message.id);
    if (entry == connections_.end() || entry->second.state != State::connecting ||
        message.body.size() != link_status_bytes)
        return false;
    const std::uint32_t status = be32(message.body.data());
    if (status != static_cast<std::uint32_t>(LinkStatus::done)) {
        answer(entry->second,
               status == static_cast<std::uint32_t>(LinkStatus::full) ? RelayAnswer::full : RelayAnswer::not_found);
        connections_.erase(entry);
        return true;
    }
    answer(entry->second, RelayAnswer::connected);
    entry->second.state = State::open;
    update_interest(entry);
    return true;
}

bool LinkRelay::handle_bytes(Entry entry, std::span<const std::uint8_t> bytes)
{
    Connection &connection = entry->second;
    if (bytes.empty() || bytes.size() > link_connection_window - (connection.incoming.size() + connection.uncredited))
        return false;
    if (connection.has_ended_here) {
        connection.uncredited += bytes.size(); // checked against the window, although nothing reads it any more
        return true;
    }
    const bool was_waiting = !connection.incoming.empty();
    connection.incoming.insert(connection.incoming.end(), bytes.begin(), bytes.end());
    if (!was_waiting)
        deliver(entry);
    return true;
}

bool LinkRelay::handle_credit(Entry entry, std::span<const std::uint8_t> body)
{
    if (body.size() != link_credit_bytes)
        return false;
    const std::uint32_t bytes = be32(body.data());
    if (bytes == 0 || bytes > entry->second.in_flight)
        return false;
    entry->second.in_flight -= bytes;
    if (!entry->second.has_ended_here)
        update_interest(entry);
    return true;
}

bool LinkRelay::handle_end(Entry entry)
{
    Connection &connection = entry->second;
    connection.has_ended_there = true;
    if (connection.has_ended_here)
        connections_.erase(entry);
    else if (connection.incoming.empty())
        end_here(entry);
    else
        update_interest(entry);
    return true;
}

} // namespace opendoca::card
