// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "../../comm_channel/connection.hpp"
#include "../../comm_channel/limits.hpp"
#include "../../comm_channel/listener.hpp"
#include "../../core/base/poll_budget.hpp"
#include "../../core/base/wait_notice.hpp"
#include "../../core/objects/dev.hpp"
#include "../../core/process/fork.hpp"
#include "../../core/v3/ctx.hpp"
#include "fast_path.hpp"
#include "watches.hpp"

/// A send of one message on a connection. Owned by the pool of its Control; the first three members are the program's
/// arguments. Completes within the submit if the ring has space, else in a later progress call.
struct doca_comch_task_send : doca_task {
    doca_comch_connection *connection;
    const void *message;
    std::uint32_t length;               ///< bytes
    doca_comch_task_send *next_waiting; ///< next task that waits for space on the connection
    /// Space for a copy of the message while the task waits; assigned at the task's first submit.
    std::byte *copy;
};

namespace opendoca::comch {
class Control;
} // namespace opendoca::comch

/// Opaque arguments of event callbacks; the data of the event is passed in further arguments.
struct doca_comch_event_msg_recv {};
struct doca_comch_event_consumer {};
struct doca_comch_event_connection_status_changed {};

/// One client of a server, or the server of a client: the opaque type of the C API. Owned by its Control. While
/// consumers or producers exist, several threads progress it: `fast->link_lock` then guards the link, everything
/// received from it, and the list of waiting tasks.
struct doca_comch_connection final : opendoca::comch::ControlLink, opendoca::comch::EventOrigin {
    using Link = opendoca::comm_channel::Connection;

    /// A consumer of the peer was created or has expired.
    struct ConsumerEvent {
        opendoca::comch::ControlKind kind; ///< new_consumer or expired
        std::uint32_t consumer;            ///< number that the peer assigned
    };
    enum class Arrival : std::uint8_t {
        nothing,
        message, ///< message of the program
        consumer_event,
        control_message, ///< processed internally; the program is not notified
    };

    doca_comch_connection(opendoca::comch::Control &owner, Link::Side side, opendoca::UniqueFd socket);
    ~doca_comch_connection();

    // The caller must hold fast->link_lock once consumers or producers may exist.

    /// Sends the control messages that are queued for the peer, as far as there is space. Does nothing while messages
    /// of the program wait, which were submitted before.
    void send_control_messages() noexcept;
    /// Sends and receives on behalf of a consumer or producer that polls. Keeps what is for the program until the
    /// control context's next progress.
    void progress_control_messages() noexcept override;
    [[nodiscard]] bool watch_control_messages() noexcept override;
    /// Returns the next message or event for the program.
    [[nodiscard]] Arrival receive(std::span<std::byte> into, std::size_t &length, ConsumerEvent &event) noexcept;
    /// Returns whether something was received by another thread and is not delivered yet.
    [[nodiscard]] bool has_unreported() const noexcept { return num_unreported_ != 0 || held_length_ != 0; }
    /// Takes the oldest undelivered event. Returns false if there is none.
    [[nodiscard]] bool take_unreported(ConsumerEvent &event) noexcept;
    /// Closes the connection from this side. The end is reported to the program like any other.
    void disconnect() noexcept;

    opendoca::comch::Control &control;
    Link link;
    /// Shared with consumers and producers, which may outlive the connection.
    const std::shared_ptr<opendoca::comch::FastPath> fast;
    doca_data user_data{};
    opendoca::comch::Watches::State watched; ///< used by Watches
    bool is_reported = false;                ///< the program has been notified of the connection
    /// The server does not poll the connection: a descriptor becomes readable when it has something.
    bool is_waiting = false;
    std::uint32_t last_found = 0; ///< the server's count of polls when the connection last had something
    /// List of tasks that wait for space in the ring, in the order of their submission.
    doca_comch_task_send *first_waiting = nullptr;
    doca_comch_task_send *last_waiting = nullptr;

private:
    /// Receives one message from the link and processes it if it is a control message.
    [[nodiscard]] Arrival receive_next(std::span<std::byte> into, std::size_t &length, ConsumerEvent &event) noexcept;

    // Received by another thread and not delivered to the program yet: events, and at most one message. The message in
    // held_ is newer than all events, as receiving stops with it.
    std::array<ConsumerEvent, 64> unreported_;
    std::size_t num_unreported_ = 0;
    /// Bytes; the program's messages are at most as long.
    std::array<std::byte, opendoca::comm_channel::max_message_size> held_;
    std::size_t held_length_ = 0;
};

namespace opendoca::comch {

using Connection = doca_comch_connection;

/// Base of servers and clients: the contexts that exchange messages on connections. Owned by the program and used by
/// the thread of its progress engine. Consumers and producers progress the links of its connections in other threads,
/// so links are used with link_lock held.
class Control : public doca_ctx {
public:
    /// Set the limits of a context that is idle. BAD_STATE otherwise, INVALID_VALUE for 0 or a value above the limit.
    [[nodiscard]] doca_error_t set_max_message_size(std::uint32_t size) noexcept;
    [[nodiscard]] doca_error_t set_recv_queue_size(std::uint32_t size) noexcept;
    /// Copies @p task's message into the connection's ring, or keeps it until there is space.
    void send(doca_comch_task_send &task) noexcept;
    /// Returns INVALID_VALUE, after a log line, if the message is null, empty or too long, or @p to is no connection of
    /// this context.
    [[nodiscard]] doca_error_t check_message(const Connection *to, const void *message, std::uint32_t length) const;
    [[nodiscard]] doca_dev *device() const noexcept { return dev(); }
    [[nodiscard]] const std::string &name() const noexcept { return name_; }
    /// Sets the callback for messages, the last one that the program has registered in either form.
    void set_received(doca_comch_event_msg_recv_cb_t callback) noexcept
    {
        received = callback;
        received_2_5 = nullptr;
    }
    [[nodiscard]] Watches &watches() noexcept { return watches_; }
    /// Returns whether @p connection exists. Compares addresses only, so the pointer may be stale.
    [[nodiscard]] virtual bool has(const Connection &connection) const noexcept = 0;

    std::uint32_t max_message_size = comm_channel::max_message_size; ///< bytes, as set by the program
    /// Messages, as set by the program; rounded up to a power of two for the ring.
    std::uint32_t recv_queue_size = 512;
    // Callbacks of the program; null if it has registered none.
    doca_comch_event_msg_recv_cb_t received = nullptr;
    /// In place of received, for a program of DOCA 2.5, whose lengths are size_t.
    void (*received_2_5)(doca_comch_event_msg_recv *event, std::uint8_t *message, std::size_t length,
                         doca_comch_connection *connection) = nullptr;
    doca_comch_event_consumer_cb_t consumer_created = nullptr;
    doca_comch_event_consumer_cb_t consumer_expired = nullptr;
    v3::TaskType<doca_comch_task_send, doca_comch_task_send_completion_cb_t> sends{*this};

protected:
    Control(doca_dev &dev, const char *name) : doca_ctx(&dev), name_(name) {}

    /// Creates the event channel and the pool of tasks. Returns INITIALIZATION on failure.
    [[nodiscard]] doca_error_t open();
    /// Undoes open().
    void close() noexcept;
    /// Returns what the handshake offers. Rings have space for control messages even if the program's limit is smaller.
    [[nodiscard]] comm_channel::Limits limits() const noexcept;
    /// Delivers one message of @p connection, or sends waiting tasks. Returns true if a callback was called.
    [[nodiscard]] bool serve(Connection &connection) noexcept;
    /// Completes waiting tasks with @p status and notifies consumers and producers.
    void end(Connection &connection, doca_error_t status) noexcept;
    /// Ends the connection with CONNECTION_RESET. Then reports the peer's remaining consumers as expired, one per call,
    /// since the peer may not have sent this. Returns true for each; the callback may have destroyed the context.
    /// Reports nothing for a client that its own program stops.
    [[nodiscard]] bool end_of_peer(Connection &connection) noexcept;
    /// Returns whether this poll should make a system call to check the sockets.
    [[nodiscard]] bool is_socket_check_due() noexcept;
    /// Drains the doorbells, so that they wake no waiter again, and notes whether the sockets have to be checked.
    void drain_all_doorbells() noexcept;
    /// Called when a doorbell of @p connection was found, or the program is about to use it. Default: nothing.
    virtual void resume(Connection & /*connection*/) noexcept {}
    /// Called when the peer's process of several connections may have ended. Default: nothing.
    virtual void resume_all_of(const WatchedProcess & /*process*/) noexcept {}
    /// Resumes the connections that @p event is about.
    void resume_for(const WatchedEvent &event) noexcept;
    /// Returns whether the next poll checks the sockets in any case.
    [[nodiscard]] bool is_check_pending() const noexcept { return is_check_pending_; }
    /// Called while the engine is being armed: requests doorbells on all connections. Returns true if a progress call
    /// could do something now, so that the program must not block.
    [[nodiscard]] virtual bool can_progress() noexcept = 0;
    /// Returns whether nothing is due by time, and no connection is being made or taken down.
    [[nodiscard]] virtual bool can_wait() const noexcept = 0;
    /// Requests a doorbell for the next message and, if tasks wait, for space.
    void request_doorbells(Connection &connection) noexcept;
    /// Returns whether the connection has ended and all messages were received, or it was given up.
    [[nodiscard]] static bool has_nothing_more(Connection &connection) noexcept;
    /// Sends a disconnect notice to the peer.
    static void leave(Connection &connection) noexcept;
    /// Checks whether the peer has ended. Drains its doorbells unless the engine is armed: then they must stay, since
    /// the program blocks on them next.
    void check_sockets(Connection &connection) noexcept;
    /// Returns whether a progress call could do something for the connection.
    [[nodiscard]] static bool has_something(Connection &connection) noexcept;

    const std::string name_;         ///< of the server
    comm_channel::ServiceKey key_{}; ///< identifies the service: see make_service_key()
    /// All descriptors of the context; watched by the completion queue.
    Watches watches_;

private:
    /// Source of the completions of send tasks, which need nothing else of one.
    class Ends final : public Source {};
    /// Requests doorbells before the program blocks.
    class ArmHook final : public Pollable {
    public:
        explicit ArmHook(Control &control) noexcept : control_(control) {}
        void progress() noexcept override {}
        [[nodiscard]] bool arm() noexcept override;
        void disarm() noexcept override { control_.was_disarmed_ = true; }
        [[nodiscard]] bool park() noexcept override { return control_.wait_for_doorbells(); }
        void unpark() noexcept override { control_.end_wait_for_doorbells(); }

    private:
        Control &control_;
    };

    [[nodiscard]] bool can_park() const noexcept final { return is_running() && can_wait(); }
    /// Does what is done before the program blocks, so that the progress engine need not poll: whatever happens next
    /// makes the event channel readable. Returns false if there is something to do.
    [[nodiscard]] bool wait_for_doorbells() noexcept;
    void end_wait_for_doorbells() noexcept;
    /// Sends waiting tasks in order until the ring is full, and completes them.
    void send_waiting(Connection &connection) noexcept;
    /// Calls the callback for @p event. Returns true if there is one.
    [[nodiscard]] bool notify_program(Connection &connection, const Connection::ConsumerEvent &event) noexcept;
    void finish(doca_comch_task_send &task, doca_error_t status) noexcept
    {
        completions().done(task.tag(), ends_, status);
    }

    Ends ends_;
    ArmHook arm_hook_{*this};
    std::vector<std::byte> message_; ///< buffer of the message that is being delivered
    bool was_disarmed_ = false;      ///< disarmed since the last check of the sockets
    bool is_check_pending_ = false;  ///< the next poll checks the sockets
    PollBudget<512, 1, 8> polls_between_checks_;
};

} // namespace opendoca::comch

/// A server: accepts clients and exchanges messages with them in turn. Owned by the program, used by the thread of its
/// engine. Invariant: a connection of which the program was notified is destroyed only after the program has been
/// notified of its end and all its consumers and producers are idle.
struct doca_comch_server final : opendoca::comch::Control {
    using Connection = doca_comch_connection;

    doca_comch_server(doca_dev &dev, doca_dev_rep &representor, const char *name);
    ~doca_comch_server() override = default;

    /// Disconnects a client. Returns IN_USE while consumers or producers use the connection. Does not block unless the
    /// client is on another machine: see comm_channel::Connection::leave().
    [[nodiscard]] doca_error_t disconnect(Connection &connection);
    [[nodiscard]] bool has(const Connection &connection) const noexcept override;

    doca_dev_rep *const representor; ///< must stay open as long as the server exists
    doca_comch_event_connection_status_changed_cb_t connected = nullptr;
    doca_comch_event_connection_status_changed_cb_t disconnected = nullptr;

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override;
    [[nodiscard]] bool on_progress() noexcept override;
    [[nodiscard]] bool can_progress() noexcept override;
    [[nodiscard]] bool can_wait() const noexcept override;

private:
    void accept_clients() noexcept;
    void log_if_without_client() noexcept;
    void close_silent_clients() noexcept;
    void process_hello(Connection &connection) noexcept;
    [[nodiscard]] bool progress_one(Connection &connection, bool checks_sockets) noexcept;
    void resume(Connection &connection) noexcept override;
    void resume_all_of(const opendoca::comch::WatchedProcess &process) noexcept override;
    [[nodiscard]] bool let_wait(Connection &connection) noexcept;
    void let_idle_wait() noexcept;
    void resume_rung() noexcept;
    void list_polled() noexcept;
    /// Reports the end of a connection to the program. Returns true if a callback was called.
    [[nodiscard]] bool report_end(Connection &connection) noexcept;
    /// Destroys connections whose end is reported and which nothing uses any more.
    void drop_ended() noexcept;

    opendoca::comm_channel::Listener listener_;            ///< closed while the server is not running
    std::vector<std::unique_ptr<Connection>> connections_; ///< in the order of their arrival
    /// Those that are polled. With more than a few, the others are idle: they wait for a doorbell.
    std::vector<Connection *> polled_;
    std::size_t next_ = 0;        ///< index in polled_ of the connection that was served last
    std::uint32_t num_polls_ = 0; ///< polls of connections that have found nothing
    bool has_idle_ = false;       ///< let_idle_wait() has work
    bool has_logged_silent_clients_ = false;
    bool has_ended_ =
        false; ///< some connections have ended and can be destroyed once they have no consumers or producers
    opendoca::WaitNotice wait_for_client_;
};

/// A client: searches for its server for up to ten seconds while it is starting, then exchanges messages with it. Owned
/// by the program, used by the thread of its engine. A client has one connection, and stops when that has ended.
struct doca_comch_client final : opendoca::comch::Control {
    doca_comch_client(doca_dev &dev, const char *name) : Control(dev, name) {}
    ~doca_comch_client() override = default;

    [[nodiscard]] bool has(const doca_comch_connection &connection) const noexcept override
    {
        return server_.get() == &connection;
    }
    /// Null until the socket is connected.
    [[nodiscard]] doca_comch_connection *server() const noexcept { return server_.get(); }

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override;
    [[nodiscard]] bool on_progress() noexcept override;
    [[nodiscard]] bool can_progress() noexcept override;
    [[nodiscard]] bool can_wait() const noexcept override;

private:
    /// Connects to the server. Returns NOT_FOUND while it does not exist.
    [[nodiscard]] doca_error_t connect_to_server();
    [[nodiscard]] bool continue_connecting() noexcept;

    /// Arms a timer that wakes the program to retry. Returns false if no descriptor is available.
    [[nodiscard]] bool set_timer() noexcept;
    /// Closes the timer.
    void drop_timer() noexcept;

    std::unique_ptr<doca_comch_connection> server_;
    std::chrono::steady_clock::time_point deadline_; ///< the end of the search for the server
    opendoca::ProcessFd timer_;                      ///< wakes a program that blocks while the client is starting
    opendoca::WaitNotice wait_for_server_;
    opendoca::comm_channel::ServiceSearch search_;
};
