// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "../../comm_channel/event_channel.hpp"
#include "../../core/process/peer_process.hpp"

struct doca_comch_connection;

namespace opendoca::comch {

/// What a watched descriptor belongs to: the tag of its events in the event channel. It is null for Watches::add(int).
struct EventOrigin {
    enum class Kind : std::uint8_t { connection, process };
    explicit EventOrigin(Kind kind) noexcept : origin_kind(kind) {}
    const Kind origin_kind;
};

/// A process at the other end of connections, which is watched once for all of them.
struct WatchedProcess final : EventOrigin {
    WatchedProcess() noexcept : EventOrigin(Kind::process) {}
    std::uint32_t num_connections = 0;
};

/// What a watched descriptor shows. With neither, it is one of Watches::add(int).
struct WatchedEvent {
    doca_comch_connection *connection = nullptr;
    const WatchedProcess *process = nullptr; ///< may have ended
};

/// The descriptors that wake a server or client, in one event channel. Owned by its Control and used by the thread of
/// its engine, except add_control_messages(). A connection removes itself when it is destroyed.
class Watches {
public:
    /// Which descriptors of a connection are watched. A member of the connection.
    struct State {
        bool is_watched = false;
        WatchedProcess *process = nullptr; ///< null if it is not watched
    };

    /// Creates the event channel. Returns false with errno on failure.
    [[nodiscard]] bool open() { return channel_.create(); }
    /// Closes the event channel. All connections that were added must have been destroyed.
    void close() noexcept;
    [[nodiscard]] bool is_open() const noexcept { return channel_.is_open(); }
    /// Returns the descriptor of the event channel.
    [[nodiscard]] int fd() const noexcept { return channel_.get(); }

    /// Adds a descriptor that belongs to no connection. Returns false with errno on failure.
    [[nodiscard]] bool add(int fd) noexcept { return channel_.watch(fd, EPOLLIN, nullptr); }
    void remove(int fd) noexcept { channel_.unwatch(fd); }

    /// Adds the descriptors of a connection that exist from the start: its socket, and its peer's process. Returns
    /// false with errno on failure; the connection must then be removed or destroyed.
    [[nodiscard]] bool add(doca_comch_connection &connection);
    /// Adds the descriptor for space of a connection that has been accepted. Returns false with errno on failure.
    [[nodiscard]] bool add_space(doca_comch_connection &connection) noexcept;
    /// Adds the descriptor of FastPath::to_peer. Any thread may call it with link_lock held. Returns false with errno
    /// on failure.
    [[nodiscard]] bool add_control_messages(doca_comch_connection &connection) noexcept;
    /// Removes all descriptors of @p connection, if they were added.
    void remove(doca_comch_connection &connection) noexcept;

    /// Stores what is ready now in @p events, without blocking, and returns how many. What does not fit is returned by
    /// the next call.
    [[nodiscard]] std::size_t poll(std::span<WatchedEvent> events) const noexcept;

private:
    [[nodiscard]] bool watch(int fd, EventOrigin &origin) noexcept { return channel_.watch(fd, EPOLLIN, &origin); }
    [[nodiscard]] bool watch_process_of(doca_comch_connection &connection);

    comm_channel::EventChannel channel_;
    std::map<const PeerProcess *, WatchedProcess> processes_; ///< of the connections that were added
};

} // namespace opendoca::comch
