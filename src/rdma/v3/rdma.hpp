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

#include "../../core/dev.hpp"
#include "../../core/fork.hpp"
#include "../../core/poll_budget.hpp"
#include "../../core/unique_fd.hpp"
#include "../../core/v3/ctx.hpp"
#include "connection.hpp"
#include "rdma_task.hpp"
#include "receives.hpp"

/// The RDMA library's object: connections of one device, which share their receives.
struct doca_rdma final : doca_ctx {
    using Connection = doca_rdma_connection;
    struct Callbacks {
        doca_rdma_connection_request_cb_t request = nullptr;
        doca_rdma_connection_established_cb_t established = nullptr;
        doca_rdma_connection_failure_cb_t failure = nullptr;
        doca_rdma_connection_disconnection_cb_t disconnection = nullptr;
    };

    explicit doca_rdma(doca_dev &dev);
    ~doca_rdma() override = default;

    // Connections (rdma.cpp, and those by address in rdma_addresses.cpp).

    [[nodiscard]] doca_error_t export_connection(std::span<const std::byte> &details, Connection *&connection);
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details, Connection &connection);
    [[nodiscard]] doca_error_t listen(std::uint16_t port);
    [[nodiscard]] doca_error_t stop_listening(std::uint16_t port);
    [[nodiscard]] doca_error_t connect_to(const doca_rdma_addr &address, doca_data connection_data);
    [[nodiscard]] doca_error_t accept(Connection &connection, std::span<const std::byte> private_data);
    [[nodiscard]] doca_error_t reject(Connection &connection);
    [[nodiscard]] doca_error_t disconnect(Connection &connection);
    /// Called for each message that @p connection receives: calls the established callback first if that is pending.
    void note_message(Connection &connection);

    // Properties (rdma_properties.cpp).

    [[nodiscard]] doca_error_t check_configurable(const char *what) const noexcept;
    [[nodiscard]] const opendoca::RdmaCapabilities &can() const noexcept { return dev()->function().can.rdma; }
    [[nodiscard]] const opendoca::DeviceFunction &function() const noexcept { return dev()->function(); }
    [[nodiscard]] doca_error_t set_mtu(doca_mtu_size mtu) noexcept;

    opendoca::QueuePairSettings settings;
    std::uint32_t max_send_list = 1;
    std::uint32_t max_connections = 1024;
    std::uint16_t request_timeout = 2000; ///< ms
    std::uint8_t rnr_retries = 7;
    bool is_queue_size_set = false;
    Callbacks callbacks;

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

    /// The source of operations that fail without any connection that could carry them out.
    [[nodiscard]] opendoca::Source &failures() noexcept { return failures_; }
    [[nodiscard]] opendoca::v3::Receives &receives() noexcept { return *receives_; }

    void arm() noexcept override;
    void clear() noexcept override;

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override;
    [[nodiscard]] bool on_progress() noexcept override;

private:
    class Failures final : public opendoca::Source {};

    [[nodiscard]] std::uint32_t num_sends() const noexcept;
    [[nodiscard]] doca_error_t create_queue_pair(Connection &connection);
    [[nodiscard]] doca_error_t add(Connection::Origin origin, Connection *&connection);
    void drop_last() noexcept
    {
        connections_.pop_back();
        --num_made_;
    }
    void drop_ended() noexcept;
    [[nodiscard]] doca_error_t check_running(const char *what) const noexcept;
    void end(Connection &connection) noexcept;

    void note_end(Connection &connection) noexcept;

    // Connections by address.
    [[nodiscard]] doca_error_t open_connector();
    void close_connector() noexcept;
    void set_timer() noexcept;
    [[nodiscard]] bool look_at_deadlines() noexcept;
    [[nodiscard]] bool has_callback_pending() const noexcept;
    [[nodiscard]] bool progress_connector() noexcept;
    [[nodiscard]] bool take_client(std::unique_ptr<opendoca::Link> client);
    [[nodiscard]] bool is_full() const noexcept;
    [[nodiscard]] Connection *oldest_half_open() noexcept;
    [[nodiscard]] bool take(const opendoca::LinkEvent &event);
    void establish(Connection &connection);
    void tell_failure(Connection &connection) noexcept;

    Failures failures_;
    std::unique_ptr<opendoca::v3::Receives> receives_;
    std::unique_ptr<opendoca::Connector>
        connector_;                 ///< from the first address on; outlives what links connections have
    opendoca::ProcessFd deadlines_; ///< a timer, beside the connector
    std::vector<std::unique_ptr<Connection>> connections_; ///< those that have ended are dropped from it
    EndedConnections ended_;         ///< those of them that this side has made, until the context is idle
    EndedConnections ended_clients_; ///< those that clients had asked for: the newest max_connections
    std::unique_ptr<opendoca::Link> waiting_client_; ///< asks for the place of a half-open one that was ended for it
    std::uint32_t num_made_ = 0;
    bool has_ended_ = false; ///< some of connections_
    std::uint16_t port_ = 0;
    std::size_t next_ = 0; ///< which connection is looked at next
    // When the connector is asked next, which takes system calls, and ended connections are dropped: see on_progress().
    bool looks_now_ = false;
    bool is_overdue_ = false; ///< a deadline has passed, and there may be more connections that it concerns
    opendoca::PollBudget<64, 1, 1> polls_between_looks_; ///< the time for programs that sleep whenever there is nothing
};
