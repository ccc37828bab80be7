// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "../../core/checks/transfer_check.hpp"
#include "control.hpp"
#include "data_connection.hpp"

/// A receive of one message. Owned by the pool of its consumer. Filled in when the message has arrived.
struct doca_comch_consumer_task_post_recv : doca_task {
    doca_buf *buf;                ///< space for the data; null for immediate data alone
    std::uint32_t producer;       ///< number that the producer's side assigned
    std::uint32_t immediate_size; ///< bytes of immediate data
    std::array<std::uint8_t, opendoca::comch::max_immediate> immediate;
    opendoca::comch::TwoSegments message; ///< slot: immediate data that does not fit into the buffer
};

/// Receives messages from the peer's producers; each message takes the oldest posted receive. Owned by the program and
/// used by the thread of its progress engine. All its queue pairs share one receive queue. The consumer runs when the
/// peer's library has acknowledged it.
/// progress engine.
struct doca_comch_consumer final : doca_ctx {
    doca_comch_consumer(doca_comch_connection &connection, doca_mmap &map);
    ~doca_comch_consumer() override = default;

    /// Posts a receive, validated by the @p rules of the device. Returns SUCCESS if its completion will report the
    /// result, AGAIN if the receive queue is full; then nothing has changed.
    [[nodiscard]] doca_error_t post(doca_comch_consumer_task_post_recv &task,
                                    const opendoca::TransferCheck &rules) noexcept;
    /// Returns the limits of the device for one receive.
    [[nodiscard]] opendoca::TransferCheck rules() const noexcept;
    /// Returns INVALID_VALUE, after a log line, if the buffer is part of a list or of another memory map than the
    /// consumer's.
    [[nodiscard]] doca_error_t check(const doca_comch_consumer_task_post_recv &task) const noexcept;
    /// Stores the length, the immediate data and the producer in the task. Returns FULL if the data exceeds the
    /// receive.
    [[nodiscard]] doca_error_t take_result(doca_comch_consumer_task_post_recv &task,
                                           const opendoca::Ended &ended) const noexcept;
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; } ///< 0 while the consumer is not started

    /// Most bytes of immediate data; set by the program.
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
        return immediate_length != 0 || task.buf == nullptr || data_device_.is_another();
    }

    /// Shared with the connection, which may have been destroyed.
    const std::shared_ptr<opendoca::comch::FastPath> fast_;
    doca_mmap &map_; ///< the map that all receives must use; the program keeps it
    std::uint32_t id_ = 0;
    opendoca::comch::FastPath::LinkBudget polls_;
    opendoca::comch::ControlQueue control_queue_;       ///< requests of producers, and wake-ups
    opendoca::comch::DataDevice data_device_;           ///< the device that carries the messages
    std::unique_ptr<opendoca::comch::OwnMemory> slots_; ///< one slot of max_immediate bytes for each task
    std::unique_ptr<opendoca::ReceiveQueue> queue_;     ///< receives that all connections share
    std::vector<std::unique_ptr<opendoca::comch::DataConnection>> connections_; ///< one per producer of the peer
};
