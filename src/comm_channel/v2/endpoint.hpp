// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "../../core/base/poll_budget.hpp"
#include "../../core/objects/dev.hpp"
#include "../service_directory.hpp"
#include "address.hpp"
#include "endpoint_events.hpp"
#include "endpoint_lock.hpp"
#include "peer_table.hpp"
#include "service_clients.hpp"

/// An endpoint of Comm Channel: the opaque type of the C API. It takes the role of a service or of a client, and owns
/// its connections. Any thread may use it: `lock` is held during each call of the program, except while a call blocks.
/// Invariant: a client has one peer from connect() until it disconnects, and an endpoint without a role has none.
struct doca_comm_channel_ep_t {
    using Peer = doca_comm_channel_addr_t;

    doca_comm_channel_ep_t() = default;
    doca_comm_channel_ep_t(const doca_comm_channel_ep_t &) = delete;
    doca_comm_channel_ep_t &operator=(const doca_comm_channel_ep_t &) = delete;
    virtual ~doca_comm_channel_ep_t();

    /// Called if the program has set no device. Only endpoints of DOCA 1.3 look for one: see v2/older.cpp.
    [[nodiscard]] virtual doca_error_t find_device(bool for_service);

    [[nodiscard]] bool is_service() const noexcept { return role_ == Role::service; }
    [[nodiscard]] bool is_client() const noexcept { return role_ == Role::client; }
    /// Returns whether the endpoint has no role yet.
    [[nodiscard]] bool is_idle() const noexcept { return role_ == Role::none || role_ == Role::connecting; }

    [[nodiscard]] doca_error_t set_device(doca_dev &device);
    [[nodiscard]] doca_error_t set_representor(doca_dev_rep &rep);
    [[nodiscard]] doca_error_t set_message_size(std::uint16_t size);
    [[nodiscard]] doca_error_t set_send_queue_size(std::uint16_t size);
    [[nodiscard]] doca_error_t set_recv_queue_size(std::uint16_t size);

    /// Becomes a service. Returns CONNECTION_ABORTED when another service holds the name. Blocks for up to five seconds
    /// if another process keeps the directory of names locked.
    [[nodiscard]] doca_error_t listen(const char *name);
    [[nodiscard]] doca_error_t connect(const char *name, Peer *&peer); ///< takes the lock
    /// Sends to a peer, without blocking. Returns AGAIN while the ring is full or a client's connection is pending, and
    /// CONNECTION_RESET when the peer has ended.
    [[nodiscard]] doca_error_t send(const void *message, std::size_t length, int flags, const Peer *to);
    /// Receives from any peer, in turn, without blocking. Returns AGAIN if there is no message. A service polls its
    /// sockets only now and then; see messages_between_checks_.
    [[nodiscard]] doca_error_t receive(void *message, std::size_t &length, Peer *&from);
    [[nodiscard]] doca_error_t disconnect(const Peer *peer); ///< takes the lock

    /// Return descriptors for the program's own epoll. They are created at the first call.
    [[nodiscard]] doca_error_t get_event_channels(int *send, int *recv);
    [[nodiscard]] doca_error_t get_service_event_channel(int &service);
    /// Request a wake-up of the channel. Each leaves the channel readable if a send or receive is possible at once.
    [[nodiscard]] doca_error_t arm_send();
    [[nodiscard]] doca_error_t arm_recv();

    /// Completes a pending connection if possible, and refreshes the counters of a peer.
    [[nodiscard]] doca_error_t update_peer(Peer &peer);
    /// Service: refreshes the state of clients(), and accepts waiting connections.
    [[nodiscard]] doca_error_t update_service_state();
    [[nodiscard]] doca_error_t check_service() const;

    /// For tests: returns how many peers a receive polls. Ended clients without remaining messages are not polled.
    [[nodiscard]] std::size_t num_polled() const noexcept { return peers_.polled().size(); }
    [[nodiscard]] const opendoca::comm_channel::ServiceClients &clients() const noexcept { return clients_; }

    /// Held by the caller of each function, except connect() and disconnect(), which take it themselves.
    mutable opendoca::comm_channel::EndpointLock lock;
    opendoca::DeviceUse device;
    doca_dev_rep *representor = nullptr; ///< set by the program, which may have closed it since
    opendoca::comm_channel::Limits limits;

private:
    enum class Role : std::uint8_t {
        none,
        connecting, ///< connect() is searching for the service, without the lock
        service,
        client,
    };
    struct Departure; ///< what has to be drained after the lock is released

    [[nodiscard]] doca_error_t check_idle() const;
    /// Checks whether the endpoint can take @p role with service name @p name.
    [[nodiscard]] doca_error_t check_beginning(const char *name, Role role);
    [[nodiscard]] doca_error_t begin_to_connect(const char *name);
    [[nodiscard]] doca_error_t become_client(opendoca::UniqueFd socket, Peer *&peer);
    /// A client's one peer.
    [[nodiscard]] Peer &service_peer() noexcept { return *peers_.polled().front(); }
    [[nodiscard]] doca_error_t complete(Peer &peer);
    // Receiving: the first polls the rings only, the second checks the sockets first.
    [[nodiscard]] doca_error_t receive_from_any(void *message, std::size_t &length, Peer *&from);
    [[nodiscard]] doca_error_t receive_again(void *message, std::size_t &length, Peer *&from);
    void check_sockets();
    void handle_peer_end(const Peer &peer) noexcept;
    [[nodiscard]] std::unique_ptr<Peer> remove(const Peer &peer) noexcept;
    void detach_all(Departure &all) noexcept;

    Role role_ = Role::none;
    /// Kept for its identity after the program has closed the representor.
    std::shared_ptr<const doca_devinfo_rep> representor_info_;
    opendoca::comm_channel::ServiceKey key_{}; ///< client only: the service
    opendoca::comm_channel::PeerTable peers_;
    opendoca::comm_channel::EndpointEvents events_{peers_};
    opendoca::comm_channel::ServiceClients clients_{*this, peers_, events_}; ///< idle unless the endpoint is a service
    /// Counts successful receives between two checks of a service's clients.
    opendoca::PollBudget<64, 100, 8> messages_between_checks_;
    bool has_received_ = false; ///< client only: receive() has been called
};
