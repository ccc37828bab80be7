// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doca_rdma.h>

#include "../../core/base/poll_budget.hpp"
#include "../../core/base/unique_fd.hpp"
#include "../../core/objects/dev.hpp"
#include "../../core/process/fork.hpp"
#include "../../core/v3/ctx.hpp"
#include "connection.hpp"
#include "rdma_task.hpp"
#include "receives.hpp"

/// The RDMA library's object: any number of reliable connections of one device. Created, configured and owned by the
/// program; used by the thread of its progress engine.
/// All connections complete on the completion queue of the context and, where the device supports it, share one
/// receive queue. Connections are created only while the context is running, and all have ended when it is idle. An
/// instance may be started again: the settings stay, connections and queues do not.
struct doca_rdma final : doca_ctx {
    using Connection = doca_rdma_connection;
    /// The program's connection callbacks, each of which may be null. A callback may stop the context or end any
    /// connection, so the code that calls one returns to doca_pe_progress() without another access to connections.
    struct Callbacks {
        doca_rdma_connection_request_cb_t request = nullptr;
        doca_rdma_connection_established_cb_t established = nullptr;
        doca_rdma_connection_failure_cb_t failure = nullptr;
        doca_rdma_connection_disconnection_cb_t disconnection = nullptr;
    };

    explicit doca_rdma(doca_dev &dev);
    ~doca_rdma() override = default;

    // Connections (rdma.cpp, and those by address in rdma_addresses.cpp).

    /// Creates a connection for doca_rdma_connect(). @p details stay valid until the connection has ended.
    [[nodiscard]] doca_error_t export_connection(std::span<const std::byte> &details, Connection *&connection);
    /// Connects an exported connection to the peer with these @p details. BAD_STATE if it is connected already, has
    /// ended or is a connection by address.
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details, Connection &connection);
    /// Accepts connection requests on @p port of all local addresses; one port at a time (NOT_SUPPORTED for a second
    /// one).
    [[nodiscard]] doca_error_t listen(std::uint16_t port);
    /// Closes the port; established connections and requests already reported stay.
    [[nodiscard]] doca_error_t stop_listening(std::uint16_t port);
    /// Requests a connection from a server. A callback reports the outcome, at the latest after request_timeout.
    [[nodiscard]] doca_error_t connect_to(const doca_rdma_addr &address, doca_data connection_data);
    /// accept() and reject() answer a connection that the request callback has reported; BAD_STATE for any other. If
    /// accept() cannot connect, it ends the connection.
    [[nodiscard]] doca_error_t accept(Connection &connection, std::span<const std::byte> private_data);
    [[nodiscard]] doca_error_t reject(Connection &connection);
    /// Ends @p connection; its tasks in flight fail with SHUTDOWN. Calls no callback. Always succeeds.
    [[nodiscard]] doca_error_t disconnect(Connection &connection);

    // The one connection of programs of DOCA 2.5 and 2.6 (older.cpp).

    /// Makes the context wait in state STARTING, from its start on, until its one connection is connected.
    void wait_for_connection() noexcept { waits_for_connection_ = true; }
    /// Creates the one connection at the first call after a start, and returns its details.
    [[nodiscard]] doca_error_t export_only_connection(std::span<const std::byte> &details);
    /// Connects the one connection. A context that waits for it runs from the next progress call on.
    [[nodiscard]] doca_error_t connect_only_connection(std::span<const std::byte> details);
    /// Null before export_only_connection(), and when the context is idle.
    [[nodiscard]] Connection *only_connection() const noexcept { return only_connection_; }
    /// Called for each message that @p connection receives. A message can arrive before the event that reports the
    /// connection as established; this calls the established callback first in that case.
    void handle_message(Connection &connection);

    // Properties (rdma_properties.cpp).

    /// Returns BAD_STATE, and logs @p what, unless the context is idle.
    [[nodiscard]] doca_error_t check_configurable(const char *what) const noexcept;
    [[nodiscard]] const opendoca::RdmaCapabilities &can() const noexcept { return dev()->function().can.rdma; }
    [[nodiscard]] const opendoca::DeviceFunction &function() const noexcept { return dev()->function(); }

    // Settings, which change only while the context is idle. The queue sizes in settings are final after on_start().
    opendoca::QueuePairSettings settings;
    std::uint32_t max_send_list = 1;      ///< buffers in the local list of one task; at least 1
    std::uint32_t max_connections = 1024; ///< connections that have not ended, at the same time
    std::uint16_t request_timeout = 2000; ///< ms
    std::uint8_t rnr_retries = 7;         ///< 0 to 7; kept for queries, without effect on queue pairs
    bool is_send_queue_size_set =
        false; ///< false: on_start() derives the size of the send queue from the numbers of tasks
    Callbacks callbacks;

    // Types of tasks. A type with a count of 0 has no pool, and its tasks cannot be allocated.
    template <typename Task, typename Callback>
    using TaskType = opendoca::v3::TaskType<Task, Callback>;
    TaskType<doca_rdma_task_receive, doca_rdma_task_receive_completion_cb_t> receive{*this};
    TaskType<doca_rdma_task_send, doca_rdma_task_send_completion_cb_t> send{*this};
    TaskType<doca_rdma_task_send_imm, doca_rdma_task_send_imm_completion_cb_t> send_imm{*this};
    TaskType<doca_rdma_task_read, doca_rdma_task_read_completion_cb_t> read{*this};
    TaskType<doca_rdma_task_write, doca_rdma_task_write_completion_cb_t> write{*this};
    TaskType<doca_rdma_task_write_imm, doca_rdma_task_write_imm_completion_cb_t> write_imm{*this};
    TaskType<doca_rdma_task_atomic_cmp_swp, doca_rdma_task_atomic_cmp_swp_completion_cb_t> compare_and_swap{*this};
    TaskType<doca_rdma_task_atomic_fetch_add, doca_rdma_task_atomic_fetch_add_completion_cb_t> fetch_and_add{*this};

    TaskType<doca_rdma_task_remote_net_sync_event_get, doca_rdma_task_remote_net_sync_event_get_completion_cb_t>
        event_get{*this};
    TaskType<doca_rdma_task_remote_net_sync_event_notify_set,
             doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t>
        event_set{*this};
    TaskType<doca_rdma_task_remote_net_sync_event_notify_add,
             doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t>
        event_add{*this};

    /// Returns the source of tasks that fail before they reach a queue pair, for example for want of a connection.
    [[nodiscard]] opendoca::Source &failures() noexcept { return failures_; }
    /// Valid from on_start() to on_idle().
    [[nodiscard]] opendoca::v3::Receives &receives() noexcept { return *receives_; }

    /// See doca_ctx. Overridden since events of connections may be pending that no descriptor of the engine reports.
    void arm() noexcept override;
    void clear() noexcept override;

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override;
    [[nodiscard]] bool on_progress() noexcept override;

private:
    /// Stands as the source in completions of tasks that reached no queue pair: each completion must name a source.
    class Failures final : public opendoca::Source {};

    /// Returns the number of configured tasks that use a send queue.
    [[nodiscard]] std::uint32_t num_sends() const noexcept;
    /// Creates the queue pair of @p connection and attaches it to the completion queue.
    [[nodiscard]] doca_error_t create_queue_pair(Connection &connection);
    /// Appends a connection with a queue pair. FULL if max_connections have not ended.
    [[nodiscard]] doca_error_t add(Connection::Origin origin, Connection *&connection);
    /// Undoes the last add(), for a connection that the program was not given.
    void drop_last() noexcept
    {
        connections_.pop_back();
        --num_created_;
    }
    /// Removes ended connections from connections_ once nothing refers to their parts any more.
    void drop_ended() noexcept;
    /// Returns BAD_STATE, and logs @p what the program has attempted, unless the context is running.
    [[nodiscard]] doca_error_t check_running(const char *what) const noexcept;
    /// The same, and accepts a context that waits for its one connection in state STARTING.
    [[nodiscard]] doca_error_t check_connectable(const char *what) const noexcept;
    /// Disconnects and flushes @p connection without calling a callback. Does nothing if it has ended.
    void end(Connection &connection) noexcept;

    /// Ends a connection after a disconnect of the peer or a failed operation, and calls the disconnection callback.
    void handle_disconnect(Connection &connection) noexcept;

    // Connections by address (rdma_addresses.cpp). expire_request(), handle_request() and handle_event() return whether
    // they called a callback, which must be the last action of the progress call. progress_connector() also returns
    // true if it stopped at max_steps.
    [[nodiscard]] doca_error_t open_connector();
    void close_connector() noexcept;
    void set_timer() noexcept;
    [[nodiscard]] bool expire_request() noexcept;
    [[nodiscard]] bool has_callback_pending() const noexcept;
    [[nodiscard]] bool progress_connector() noexcept;
    [[nodiscard]] bool handle_request(std::unique_ptr<opendoca::Link> client);
    [[nodiscard]] bool is_full() const noexcept;
    [[nodiscard]] Connection *oldest_half_open() noexcept;
    [[nodiscard]] bool handle_event(const opendoca::LinkEvent &event);
    void establish(Connection &connection);
    void report_failure(Connection &connection) noexcept;

    bool waits_for_connection_ = false;     ///< set for life by wait_for_connection()
    bool is_start_pending_ = false;         ///< a connection was made while STARTING: the next progress reports RUNNING
    Connection *only_connection_ = nullptr; ///< see only_connection()
    Failures failures_;
    std::unique_ptr<opendoca::v3::Receives> receives_; ///< from on_start() to on_idle()
    /// Created with the first use of an address after a start; null before. Declared before connections_, so that it
    /// outlives their links.
    std::unique_ptr<opendoca::Connector> connector_;
    /// A timer that is readable from the first deadline of a connection request on. Open together with connector_.
    opendoca::ProcessFd deadlines_;
    /// Connections in order of creation. Those that have ended are removed by drop_ended().
    std::vector<std::unique_ptr<Connection>> connections_;
    /// Ended connections that this side has created: kept until the context is idle.
    EndedConnections ended_;
    /// Ended connections that clients have requested: only the newest max_connections are kept, so that clients cannot
    /// make this process use more and more memory.
    EndedConnections ended_clients_;
    /// A connection request that could not be reported yet: a half-open connection was ended to make room for it, and
    /// the failure callback of that one was the last action of its progress call.
    std::unique_ptr<opendoca::Link> waiting_client_;
    std::uint32_t num_created_ = 0;      ///< connections since the start; the number of the next one
    bool has_ended_connections_ = false; ///< drop_ended() has work
    std::uint16_t port_ = 0;             ///< valid while the connector is listening
    std::size_t last_examined_ = 0;      ///< index in connections_ of the connection examined last: round-robin
    // Polling the connector takes a system call, so on_progress() polls it only if one of these requests it.
    bool is_poll_due_ = false;         ///< an event is likely: the program was woken, or the last poll found an event
    bool has_deadline_passed_ = false; ///< the timer has expired and not all expired requests are failed yet
    /// Polls by time as well (1 ms), for programs that pause whenever they find nothing.
    opendoca::PollBudget<64, 1, 1> poll_budget_;
};
