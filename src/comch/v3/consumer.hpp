// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "control.hpp"
#include "data_connection.hpp"

struct doca_comch_consumer_task_post_recv : doca_task {
    doca_buf *buf;
    std::uint32_t producer;
    std::uint32_t immediate_size;
    std::array<std::uint8_t, opendoca::comch::max_immediate> immediate;
    opendoca::comch::TwoSegments message; ///< slot: immediate data that does not fit into the buffer
};

/// Receives messages from the peer's producers; each message takes the oldest posted receive. Used by the thread of its
/// progress engine.
struct doca_comch_consumer final : doca_ctx {
    doca_comch_consumer(doca_comch_connection &connection, doca_mmap &map);
    ~doca_comch_consumer() override = default;

    /// Posts a receive, validated by the @p rules of the device.
    [[nodiscard]] doca_error_t post(doca_comch_consumer_task_post_recv &task,
                                    const opendoca::TransferCheck &rules) noexcept;
    [[nodiscard]] opendoca::TransferCheck rules() const noexcept;
    [[nodiscard]] doca_error_t check(const doca_comch_consumer_task_post_recv &task) const noexcept;
    /// Returns FULL if the data exceeds the receive.
    [[nodiscard]] doca_error_t take_result(doca_comch_consumer_task_post_recv &task,
                                           const opendoca::Ended &ended) const noexcept;
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

    std::uint32_t immediate_length = opendoca::comch::max_immediate;
    opendoca::v3::TaskType<doca_comch_consumer_task_post_recv, doca_comch_consumer_task_post_recv_completion_cb_t>
        receives{*this};

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override;
    [[nodiscard]] bool on_progress() noexcept override;

private:
    void connect(const opendoca::comch::ControlMessage &message) noexcept;
    [[nodiscard]] doca_error_t post_any(doca_comch_consumer_task_post_recv &task,
                                        const opendoca::TransferCheck &rules) noexcept;
    /// Returns whether the receive uses a copy of the buffer, chained with space for immediate data.
    [[nodiscard]] bool is_chained(const doca_comch_consumer_task_post_recv &task) const noexcept
    {
        return immediate_length != 0 || task.buf == nullptr || by_.is_another();
    }

    const std::shared_ptr<opendoca::comch::FastPath> fast_;
    doca_mmap &map_;
    std::uint32_t id_ = 0;
    opendoca::comch::FastPath::LinkBudget polls_;
    opendoca::comch::ControlQueue control_queue_;
    opendoca::comch::DataDevice by_;
    std::unique_ptr<opendoca::comch::OwnMemory> slots_;
    std::unique_ptr<opendoca::ReceiveQueue> queue_;
    std::vector<std::unique_ptr<opendoca::comch::DataConnection>> connections_; ///< one per producer of the peer
};
