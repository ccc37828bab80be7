// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <doca_rdma.h>

#include "../../core/base/poll_budget.hpp"
#include "../../core/objects/dev.hpp"
#include "../../core/v3/ctx.hpp"
#include "connection.hpp"
#include "connections_by_address.hpp"
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

    // Connections.

    /// Creates a connection for doca_rdma_connect(). @p details stay valid until the connection has ended.
    [[nodiscard]] doca_error_t export_connection(std::span<const std::byte> &details, Connection *&connection);
    /// Connects an exported connection to the peer with these @p details. BAD_STATE if it is connected already, has
    /// ended or is a connection by address.
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details, Connection &connection);
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

    // Properties (their C functions are in rdma_properties.cpp).

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
    [[nodiscard]] opendoca::v3::ConnectionsByAddress &by_address() noexcept { return by_address_; }

    // Called by ConnectionsByAddress and for bridged connections.

    [[nodiscard]] opendoca::Device &device() const noexcept { return dev()->device(); }
    /// The connections in order of creation. Some of them may have ended.
    [[nodiscard]] std::span<const std::unique_ptr<Connection>> connections() const noexcept { return connections_; }
    /// Returns BAD_STATE, and logs @p what the program has attempted, unless the context is running.
    [[nodiscard]] doca_error_t check_running(const char *what) const noexcept;
    /// Returns whether max_connections have not ended.
    [[nodiscard]] bool is_full() const noexcept { return num_open_ >= max_connections; }
    /// Appends a connection with a queue pair. FULL if max_connections have not ended.
    [[nodiscard]] doca_error_t add(Connection::Origin origin, Connection *&connection);
    /// Undoes the last add(), for a connection that the program was not given.
    void drop_last() noexcept
    {
        connections_.pop_back();
        --num_created_;
        --num_open_;
    }
    /// Lets each progress call examine the connections, until the context is idle.
    void request_progress() noexcept { set_progress_requested(true); }
    /// Lets the next progress call the established callback of @p connection, which is in state ready, if the program
    /// has set one.
    void request_established_callback(Connection &connection) noexcept;
    /// Disconnects and flushes @p connection without calling a callback. Does nothing if it has ended.
    void end(Connection &connection) noexcept;

    // Each of these calls a callback of the program, which may stop the context.

    /// Changes @p connection to connected, and calls the established callback.
    void establish(Connection &connection);
    /// Calls the failure callback.
    void report_failure(Connection &connection) noexcept;
    /// Ends a connection after a disconnect of the peer or a failed operation, and calls the disconnection callback.
    void handle_disconnect(Connection &connection) noexcept;

    /// See doca_ctx. Overridden since events of connections may be pending that no descriptor of the engine reports.
    void arm() noexcept override;
    void clear() noexcept override;

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override;
    [[nodiscard]] bool on_progress() noexcept override;
    /// A failed task ends its connection, and the context only if the device is lost.
    [[nodiscard]] bool stops_on_failure_of(const doca_task &task) const noexcept override;
    [[nodiscard]] bool can_park() const noexcept override;

private:
    /// Stands as the source in completions of tasks that reached no queue pair: each completion must name a source.
    class Failures final : public opendoca::Source {};

    /// Returns the number of configured tasks that use a send queue.
    [[nodiscard]] std::uint32_t num_sends() const noexcept;
    /// Creates the queue pair of @p connection and attaches it to the completion queue.
    [[nodiscard]] doca_error_t create_queue_pair(Connection &connection);
    /// Removes ended connections from connections_ once nothing refers to their parts any more.
    void drop_ended() noexcept;
    /// Like check_running(), and accepts a context that waits for its one connection in state STARTING.
    [[nodiscard]] doca_error_t check_connectable(const char *what) const noexcept;

    bool waits_for_connection_ = false;     ///< set for life by wait_for_connection()
    bool is_start_pending_ = false;         ///< a connection was made while STARTING: the next progress reports RUNNING
    Connection *only_connection_ = nullptr; ///< see only_connection()
    Failures failures_;
    std::unique_ptr<opendoca::v3::Receives> receives_; ///< from on_start() to on_idle()
    /// Declared before connections_, so that its connector outlives their links.
    opendoca::v3::ConnectionsByAddress by_address_{*this};
    /// Connections in order of creation. Those that have ended are removed by drop_ended().
    std::vector<std::unique_ptr<Connection>> connections_;
    /// Ended connections that this side has created: kept until the context is idle.
    EndedConnections ended_;
    /// Ended connections that clients have requested: only the newest max_connections are kept, so that clients cannot
    /// make this process use more and more memory.
    EndedConnections ended_clients_;
    std::uint32_t num_created_ = 0;      ///< connections since the start; the number of the next one
    std::uint32_t num_open_ = 0;         ///< the elements of connections_ that have not ended
    bool has_ended_connections_ = false; ///< drop_ended() has work
    std::size_t last_examined_ = 0;      ///< index in connections_ of the connection examined last: round-robin
    bool must_examine_ = false;          ///< a connection has, or may have, an event
    // Polling the connector takes a system call, so on_progress() polls it only if one of these requests it.
    bool is_poll_due_ = false; ///< an event is likely: the program was woken, or the last poll found an event
    /// Polls by time as well (1 ms), for programs that pause whenever they find nothing.
    opendoca::PollBudget<64, 1, 1> poll_budget_;
};
