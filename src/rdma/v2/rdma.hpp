// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <doca_rdma.h>

#include "../../core/device/device.hpp"
#include "../../core/device/queue_pair.hpp"
#include "../../core/v2/ctx.hpp"

static_assert(DOCA_RDMA_STATE_RESET == static_cast<int>(opendoca::ConnectionState::none) &&
              DOCA_RDMA_STATE_INIT == static_cast<int>(opendoca::ConnectionState::initial) &&
              DOCA_RDMA_STATE_CONNECTED == static_cast<int>(opendoca::ConnectionState::connected) &&
              DOCA_RDMA_STATE_ERROR == static_cast<int>(opendoca::ConnectionState::failed));

/// The RDMA library's object of DOCA 2.2: a context on one device, and from start to stop one end of one reliable
/// connection. Created, configured and owned by the program.
/// One thread at a time configures, starts and exports; stop may be called while another thread is in connect(). The
/// thread of its work queue submits jobs. state() is safe in any thread. The settings change only while the context is
/// stopped.
struct doca_rdma final : doca_ctx {
    /// Returns the bytes that the peer passes to connect(); valid until the context stops. BAD_STATE unless started.
    [[nodiscard]] doca_error_t export_details(std::span<const std::byte> &details) const noexcept;
    /// Connects to the peer with these @p details; once per start. BAD_STATE in any state but INIT.
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details);
    /// Acquire: pairs with the release stores of the queue pair and of on_start() and on_stop(). The values of both
    /// enumerations are the same (static_assert above).
    [[nodiscard]] doca_rdma_state state() const noexcept
    {
        return static_cast<doca_rdma_state>(state_.load(std::memory_order_acquire));
    }

    // Setters of the properties: BAD_STATE while the context is started; doca_rdma.h lists the other errors. A failed
    // call changes nothing.
    [[nodiscard]] doca_error_t set_queue_size(bool is_send, std::uint32_t size) noexcept;
    [[nodiscard]] doca_error_t set_transport_type(doca_rdma_transport_type type) noexcept;
    [[nodiscard]] doca_error_t set_mtu(doca_mtu_size mtu) noexcept;
    [[nodiscard]] doca_error_t set_permissions(std::uint32_t permissions) noexcept;
    [[nodiscard]] doca_error_t set_grh_enabled(bool is_enabled) noexcept;
    [[nodiscard]] doca_error_t set_gid_index(std::uint32_t index) noexcept;
    [[nodiscard]] doca_error_t set_recv_chain_length(std::uint32_t length) noexcept;
    [[nodiscard]] doca_error_t set_service_level(std::uint32_t level) noexcept;

    [[nodiscard]] bool has_device() const noexcept { return !devices().empty(); }
    [[nodiscard]] const opendoca::QueuePairSettings &settings() const noexcept { return settings_; }
    /// Returns the MTU that was set, even if the path's is less. If none was set: that of the queue pair, which uses
    /// the smaller one of both sides once it is connected, or else that of the port.
    [[nodiscard]] doca_mtu_size mtu() const noexcept;
    /// BAD_STATE while the context is started.
    [[nodiscard]] doca_error_t check_destroyable() const noexcept;

protected:
    // Called by the base class when the program adds a device, starts and stops the context, and adds it to a work
    // queue.
    [[nodiscard]] doca_error_t check_device(const doca_dev &dev, const std::vector<doca_dev *> &others) const override;
    [[nodiscard]] doca_error_t on_start(const std::vector<doca_dev *> &devices) override;
    void on_stop() noexcept override;
    [[nodiscard]] bool can_be_event_driven(const std::vector<doca_dev *> &devices) const override;
    [[nodiscard]] doca_error_t create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                            std::unique_ptr<opendoca::v2::JobQueue> &queue) override;

private:
    /// Returns BAD_STATE, after a log line that names the property @p what, if the context is started.
    [[nodiscard]] doca_error_t check_not_started(const char *what) const noexcept;
    /// The same for a property that depends on the device: also BAD_STATE if no device was added.
    [[nodiscard]] doca_error_t check_configurable_device(const char *what) const noexcept;
    /// Returns the capabilities of the device, or null if no device was added.
    [[nodiscard]] const opendoca::RdmaCapabilities *capabilities() const noexcept;

    // Written by the queue pair and by on_start() and on_stop(); read by any thread. Declared before the queue pair,
    // which refers to it.
    std::atomic<opendoca::ConnectionState> state_{opendoca::ConnectionState::none};
    std::unique_ptr<opendoca::QueuePair> queue_pair_; ///< from start to stop; attached to at most one work queue
    /// The properties, with the defaults of DOCA 2.2. Queue sizes are powers of two.
    opendoca::QueuePairSettings settings_ = {
        .send_queue_size = 1024,
        .recv_queue_size = 1024,
        .recv_chain_length = 1,
        .permissions = DOCA_ACCESS_LOCAL_READ_WRITE,
        .mtu = DOCA_MTU_SIZE_1K_BYTES,
        .is_mtu_fixed = false,
        .has_grh = true,
        .gid_index = 0,
        .is_gid_fixed = false,
        .service_level = 0,
    };
};
