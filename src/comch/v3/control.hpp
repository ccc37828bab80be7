// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <chrono>
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
    doca_comch_task_send *behind; ///< that waits for space after this one
    std::byte *copy;              ///< of its message, while it waits
};

namespace opendoca::comch {
class Control;
}

/// What callbacks of events get: what there is to say they are told beside it.
struct doca_comch_event_msg_recv {};
struct doca_comch_event_consumer {};
struct doca_comch_event_connection_status_changed {};

/// One client of a server, or the server of a client.
struct doca_comch_connection final : opendoca::comch::ControlLink {
    using Link = opendoca::comm_channel::Connection;

    /// One of the peer's consumers has come or gone.
    struct ConsumerEvent {
        opendoca::comch::ControlKind kind;
        std::uint32_t consumer;
    };
    enum class Arrival : std::uint8_t {
        nothing,
        message, ///< of the program
        consumer_event,
        control_message, ///< no matter of the program's
    };

    doca_comch_connection(opendoca::comch::Control &owner, Link::Side side, opendoca::UniqueFd socket);
    ~doca_comch_connection() { fast->forget_link(); }

    // With the lock of the link, from when there may be consumers and producers.

    void send_control_messages() noexcept;
    void progress_control_messages() noexcept override;
    /// What is next for the program.
    [[nodiscard]] Arrival receive(std::span<std::byte> into, std::size_t &length, ConsumerEvent &event) noexcept;
    [[nodiscard]] bool has_untold() const noexcept { return num_untold_ != 0 || held_length_ != 0; }
    [[nodiscard]] bool take_untold(ConsumerEvent &event) noexcept;
    /// Ends it from here.
    void give_up() noexcept;

    opendoca::comch::Control &control;
    Link link;
    const std::shared_ptr<opendoca::comch::FastPath> fast;
    doca_data user_data{};
    bool is_told = false; ///< the program knows of it
    doca_comch_task_send *first_waiting = nullptr;
    doca_comch_task_send *last_waiting = nullptr;

private:
    [[nodiscard]] Arrival receive_next(std::span<std::byte> into, std::size_t &length, ConsumerEvent &event) noexcept;

    // What another thread has received for the program. The message came last.
    std::array<ConsumerEvent, 64> untold_;
    std::size_t num_untold_ = 0;
    std::array<std::byte, opendoca::comm_channel::max_message_size> held_;
    std::size_t held_length_ = 0;
};

namespace opendoca::comch {

using Connection = doca_comch_connection;

/// What a server and a client have in common: connections, whose messages come and go.
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

    /// Opens what events need, and the pool of tasks. INITIALIZATION.
    [[nodiscard]] doca_error_t open();
    void close() noexcept;
    [[nodiscard]] comm_channel::Limits limits() const noexcept;
    /// Before the handshake.
    [[nodiscard]] bool watch_first(Connection &connection) noexcept;
    [[nodiscard]] bool watch(Connection &connection) noexcept;
    void forget(Connection &connection) noexcept;
    /// Serves one message of @p connection, or what waits to be sent. True when the program was told something.
    [[nodiscard]] bool serve(Connection &connection) noexcept;
    /// What waits to be sent ends; who is on the fast path is told.
    void end(Connection &connection, doca_error_t status) noexcept;
    /// The same with CONNECTION_RESET. Then the program is told of the peer's consumers, one a call, as the peer may have had
    /// no time to say that they go: true for each, and the program may have destroyed the context. Not for a client that its
    /// own program stops.
    [[nodiscard]] bool end_of_peer(Connection &connection) noexcept;
    /// Whether it is time for a system call.
    [[nodiscard]] bool looks_at_sockets() noexcept;
    /// Takes the bells that have rung, so that they wake nobody again, and notes what looks_at_sockets() is for.
    void drain_all_doorbells() noexcept;
    [[nodiscard]] bool looks_next() const noexcept { return looks_next_; }
    [[nodiscard]] virtual bool can_progress() noexcept = 0;
    /// Requests a bell for the next message, and for space if something waits to be sent.
    void request_bells(Connection &connection) noexcept;
    /// It has ended, and what came before is received, unless it was given up.
    [[nodiscard]] static bool has_nothing_more(Connection &connection) noexcept;
    /// The peer is told that this end is about to be closed.
    static void leave(Connection &connection) noexcept;
    /// Checks whether the peer has ended. Takes its bells as well, unless the engine is armed: then they must stay,
    /// since the program blocks on them next.
    void look_at_sockets(Connection &connection) noexcept;
    [[nodiscard]] static bool has_something(Connection &connection) noexcept;

    const std::string name_;
    comm_channel::ServiceKey key_{};
    comm_channel::EventChannel events_;

private:
    class Ends final : public Source {};
    /// Asks for bells before the program sleeps.
    class Sleep final : public Pollable {
    public:
        explicit Sleep(Control &control) noexcept : control_(control) {}
        void progress() noexcept override {}
        [[nodiscard]] bool arm() noexcept override;
        void disarm() noexcept override { control_.was_asleep_ = true; }

    private:
        Control &control_;
    };

    void send_waiting(Connection &connection) noexcept;
    /// True when the program was told.
    [[nodiscard]] bool tell(Connection &connection, const Connection::ConsumerEvent &event) noexcept;
    void finish(doca_comch_task_send &task, doca_error_t status) noexcept
    {
        completions().done(task.tag(), ends_, status);
    }

    Ends ends_;
    Sleep sleep_{*this};
    std::vector<std::byte> message_; ///< that is being received
    bool was_asleep_ = false; ///< and nobody has looked since
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
    void prune_silent() noexcept;
    void process_hello(Connection &connection) noexcept;
    [[nodiscard]] bool note_end(Connection &connection) noexcept;
    void drop_ended() noexcept;

    opendoca::comm_channel::Listener listener_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::size_t next_ = 0;
    bool has_logged_silent_clients_ = false;
    bool has_ended_ = false; ///< some connections, of which those without members can be dropped
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
    /// The server, if it is there by now. NOT_FOUND while it is not.
    [[nodiscard]] doca_error_t look_for_server();
    [[nodiscard]] bool go_on_connecting() noexcept;

    /// Wakes who sleeps until the server is there. False when there is no descriptor for it.
    [[nodiscard]] bool set_timer() noexcept;
    void drop_timer() noexcept;

    std::unique_ptr<doca_comch_connection> server_;
    std::chrono::steady_clock::time_point deadline_;
    opendoca::ProcessFd timer_;
    opendoca::WaitNotice wait_for_server_;
    opendoca::comm_channel::ServiceSearch search_;
};
