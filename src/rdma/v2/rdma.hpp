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

/// The RDMA library's object: a context on one device, and from start to stop one end of a connection.
struct doca_rdma final : doca_ctx {
    [[nodiscard]] doca_error_t export_details(std::span<const std::byte> &details) const noexcept;
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details);
    [[nodiscard]] doca_rdma_state state() const noexcept
    {
        return static_cast<doca_rdma_state>(state_.load(std::memory_order_acquire));
    }

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
    /// The one that was set or settled on, or the port's.
    [[nodiscard]] doca_mtu_size mtu() const noexcept;
    [[nodiscard]] doca_error_t check_destroyable() const noexcept;

protected:
    [[nodiscard]] doca_error_t check_device(const doca_dev &dev, const std::vector<doca_dev *> &others) const override;
    [[nodiscard]] doca_error_t on_start(const std::vector<doca_dev *> &devices) override;
    void on_stop() noexcept override;
    [[nodiscard]] bool can_be_event_driven(const std::vector<doca_dev *> &devices) const override;
    [[nodiscard]] doca_error_t create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                            std::unique_ptr<opendoca::v2::JobQueue> &queue) override;

private:
    [[nodiscard]] doca_error_t check_not_started(const char *what) const noexcept;
    [[nodiscard]] doca_error_t check_configurable_device(const char *what) const noexcept;
    [[nodiscard]] const opendoca::RdmaCapabilities *capabilities() const noexcept;

    std::atomic<opendoca::ConnectionState> state_{opendoca::ConnectionState::none};
    std::unique_ptr<opendoca::QueuePair> queue_pair_; ///< from start to stop
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
