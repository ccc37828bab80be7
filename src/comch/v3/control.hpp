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
#include "../../comm_channel/event_channel.hpp"
#include "../../comm_channel/limits.hpp"
#include "../../comm_channel/listener.hpp"
#include "../../core/dev.hpp"
#include "../../core/fork.hpp"
#include "../../core/poll_budget.hpp"
#include "../../core/v3/ctx.hpp"
#include "../../core/wait_notice.hpp"
#include "fast_path.hpp"

struct doca_comch_task_send : doca_task {
    doca_comch_connection *connection;
    const void *message;
    std::uint32_t length;
    doca_comch_task_send *behind; ///< next task that waits for space on the connection
    std::byte *copy;              ///< copy of the message while the task waits
};

namespace opendoca::comch {
class Control;
}

/// Opaque argument of event callbacks; the event's data is passed in further arguments.
struct doca_comch_event_msg_recv {};
struct doca_comch_event_consumer {};
struct doca_comch_event_connection_status_changed {};

/// One client of a server, or the server of a client. Owned by its Control. While consumers or producers exist, several
/// threads progress it, and `fast->link_lock` guards the link and what was received.
struct doca_comch_connection final : opendoca::comch::ControlLink {
    using Link = opendoca::comm_channel::Connection;

    /// A consumer of the peer was created or has expired.
    struct ConsumerEvent {
        opendoca::comch::ControlKind kind;
        std::uint32_t consumer;
    };
    enum class Arrival : std::uint8_t {
        nothing,
        message, ///< message of the program
        consumer_event,
        control_message, ///< processed internally; the program is not notified
    };

    doca_comch_connection(opendoca::comch::Control &owner, Link::Side side, opendoca::UniqueFd socket);
    ~doca_comch_connection() { fast->forget_link(); }

    // The caller must hold fast->link_lock once consumers or producers may exist.

    void send_control_messages() noexcept;
    void progress_control_messages() noexcept override;
    /// Returns the next message or event for the program.
    [[nodiscard]] Arrival receive(std::span<std::byte> into, std::size_t &length, ConsumerEvent &event) noexcept;
    [[nodiscard]] bool has_unreported() const noexcept { return num_unreported_ != 0 || held_length_ != 0; }
    [[nodiscard]] bool take_unreported(ConsumerEvent &event) noexcept;
    /// Closes the connection from this side.
    void give_up() noexcept;

    opendoca::comch::Control &control;
    Link link;
    const std::shared_ptr<opendoca::comch::FastPath> fast;
    doca_data user_data{};
    bool is_reported = false; ///< the program has been notified of the connection
    doca_comch_task_send *first_waiting = nullptr;
    doca_comch_task_send *last_waiting = nullptr;

private:
    [[nodiscard]] Arrival receive_next(std::span<std::byte> into, std::size_t &length, ConsumerEvent &event) noexcept;

    // Received by another thread and not delivered to the program yet. held_ is newer than all events.
    std::array<ConsumerEvent, 64> unreported_;
    std::size_t num_unreported_ = 0;
    std::array<std::byte, opendoca::comm_channel::max_message_size> held_;
    std::size_t held_length_ = 0;
};

namespace opendoca::comch {

using Connection = doca_comch_connection;

/// Base of servers and clients: the contexts that exchange messages on connections. Used by the thread of its progress
/// engine; consumers and producers progress the links of its connections in other threads.
class Control : public doca_ctx {
public:
    [[nodiscard]] doca_error_t set_max_message_size(std::uint32_t size) noexcept;
    [[nodiscard]] doca_error_t set_recv_queue_size(std::uint32_t size) noexcept;
    /// Copies @p task's message into the connection's ring, or keeps it until there is space.
    void send(doca_comch_task_send &task) noexcept;
    [[nodiscard]] doca_error_t check_message(const Connection *to, const void *message, std::uint32_t length) const;
    [[nodiscard]] doca_dev *device() const noexcept { return dev(); }
    [[nodiscard]] virtual bool has(const Connection &connection) const noexcept = 0;

    std::uint32_t max_message_size = comm_channel::max_message_size;
    std::uint32_t recv_queue_size = 512;
    doca_comch_event_msg_recv_cb_t received = nullptr;
    doca_comch_event_consumer_cb_t consumer_came = nullptr;
    doca_comch_event_consumer_cb_t consumer_went = nullptr;
    v3::TaskType<doca_comch_task_send, doca_comch_task_send_completion_cb_t> sends{*this};

protected:
    Control(doca_dev &dev, const char *name) : doca_ctx(&dev), name_(name) {}

    /// Creates the event channel and the pool of tasks. Returns INITIALIZATION on failure.
    [[nodiscard]] doca_error_t open();
    void close() noexcept;
    [[nodiscard]] comm_channel::Limits limits() const noexcept;
    /// Before the handshake.
    [[nodiscard]] bool watch_first(Connection &connection) noexcept;
    [[nodiscard]] bool watch(Connection &connection) noexcept;
    void forget(Connection &connection) noexcept;
    /// Delivers one message of @p connection, or sends waiting tasks. Returns true if a callback was called.
    [[nodiscard]] bool serve(Connection &connection) noexcept;
    /// Completes waiting tasks with @p status and notifies consumers and producers.
    void end(Connection &connection, doca_error_t status) noexcept;
    /// Ends the connection with CONNECTION_RESET. Then reports the peer's remaining consumers as expired, one per call,
    /// since the peer may not have sent this. Returns true for each; the callback may have destroyed the context.
    /// Reports nothing for a client that its own program stops.
    [[nodiscard]] bool end_of_peer(Connection &connection) noexcept;
    /// Returns whether this poll should make a system call to check the sockets.
    [[nodiscard]] bool looks_at_sockets() noexcept;
    /// Drains the doorbells, so that they wake no waiter again, and notes whether the sockets have to be checked.
    void drain_all_doorbells() noexcept;
    [[nodiscard]] bool looks_next() const noexcept { return looks_next_; }
    [[nodiscard]] virtual bool can_progress() noexcept = 0;
    /// Requests a doorbell for the next message and, if tasks wait, for space.
    void request_doorbells(Connection &connection) noexcept;
    /// Returns whether the connection has ended and all messages were received, or it was given up.
    [[nodiscard]] static bool has_nothing_more(Connection &connection) noexcept;
    /// Sends a disconnect notice to the peer.
    static void leave(Connection &connection) noexcept;
    /// Checks whether the peer has ended. Drains its doorbells unless the engine is armed: then they must stay, since
    /// the program blocks on them next.
    void look_at_sockets(Connection &connection) noexcept;
    [[nodiscard]] static bool has_something(Connection &connection) noexcept;

    const std::string name_;
    comm_channel::ServiceKey key_{};
    comm_channel::EventChannel events_;

private:
    class Ends final : public Source {};
    /// Requests doorbells before the program blocks.
    class ArmHook final : public Pollable {
    public:
        explicit ArmHook(Control &control) noexcept : control_(control) {}
        void progress() noexcept override {}
        [[nodiscard]] bool arm() noexcept override;
        void disarm() noexcept override { control_.was_disarmed_ = true; }

    private:
        Control &control_;
    };

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
    bool looks_next_ = false;
    PollBudget<64, 1, 8> polls_between_looks_;
};

} // namespace opendoca::comch

struct doca_comch_server final : opendoca::comch::Control {
    using Connection = doca_comch_connection;

    doca_comch_server(doca_dev &dev, doca_dev_rep &representor, const char *name);
    ~doca_comch_server() override = default;

    [[nodiscard]] doca_error_t disconnect(Connection &connection);
    [[nodiscard]] bool has(const Connection &connection) const noexcept override;

    doca_dev_rep *const representor;
    doca_comch_event_connection_status_changed_cb_t connected = nullptr;
    doca_comch_event_connection_status_changed_cb_t disconnected = nullptr;

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override;
    [[nodiscard]] bool on_progress() noexcept override;
    [[nodiscard]] bool can_progress() noexcept override;

private:
    void accept_clients() noexcept;
    void log_if_without_client() noexcept;
    void close_silent_clients() noexcept;
    void process_hello(Connection &connection) noexcept;
    [[nodiscard]] bool note_end(Connection &connection) noexcept;
    void drop_ended() noexcept;

    opendoca::comm_channel::Listener listener_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::size_t next_ = 0;
    bool has_logged_silent_clients_ = false;
    bool has_ended_ =
        false; ///< some connections have ended and can be destroyed once they have no consumers or producers
    opendoca::WaitNotice wait_for_client_;
};

struct doca_comch_client final : opendoca::comch::Control {
    doca_comch_client(doca_dev &dev, const char *name) : Control(dev, name) {}
    ~doca_comch_client() override = default;

    [[nodiscard]] bool has(const doca_comch_connection &connection) const noexcept override
    {
        return server_.get() == &connection;
    }
    [[nodiscard]] doca_comch_connection *server() const noexcept { return server_.get(); }

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override;
    [[nodiscard]] bool on_progress() noexcept override;
    [[nodiscard]] bool can_progress() noexcept override;

private:
    /// Connects to the server. Returns NOT_FOUND while it does not exist.
    [[nodiscard]] doca_error_t look_for_server();
    [[nodiscard]] bool go_on_connecting() noexcept;

    /// Arms a timer that wakes the program to retry. Returns false if no descriptor is available.
    [[nodiscard]] bool set_timer() noexcept;
    void drop_timer() noexcept;

    std::unique_ptr<doca_comch_connection> server_;
    std::chrono::steady_clock::time_point deadline_;
    opendoca::ProcessFd timer_;
    opendoca::WaitNotice wait_for_server_;
    opendoca::comm_channel::ServiceSearch search_;
};
