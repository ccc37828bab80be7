// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../../core/wait_notice.hpp"
#include "control.hpp"
#include "data_connection.hpp"

struct doca_comch_producer_task_send : doca_task {
    const doca_buf *buf;
    std::uint8_t *immediate;
    std::uint32_t immediate_size;
    std::uint32_t consumer;
    doca_comch_producer_task_send *behind; ///< next task that waits for the same consumer
    opendoca::comch::TwoSegments message;  ///< slot: immediate data to send
};

/// Sends to consumers of the peer, each by a queue pair of its own. Used by the thread of its progress engine.
struct doca_comch_producer final : doca_ctx {
    explicit doca_comch_producer(doca_comch_connection &connection);
    ~doca_comch_producer() override = default;

    /// Sends a task, validated by the @p rules of the device.
    [[nodiscard]] doca_error_t send(doca_comch_producer_task_send &task, const opendoca::TransferCheck &rules) noexcept;
    [[nodiscard]] opendoca::TransferCheck rules() const noexcept;
    /// Checks what can be checked before the submit.
    [[nodiscard]] doca_error_t check(const doca_comch_producer_task_send &task) const noexcept;
    [[nodiscard]] static doca_error_t check_immediate(const std::uint8_t *data, std::uint32_t size) noexcept;
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

    opendoca::v3::TaskType<doca_comch_producer_task_send, doca_comch_producer_task_send_completion_cb_t> sends{*this};

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override;
    [[nodiscard]] bool on_progress() noexcept override;

private:
    class Ends final : public opendoca::Source {};
    /// Connection to one consumer; tasks wait until it is established.
    struct ToConsumer {
        std::unique_ptr<opendoca::comch::DataConnection> connection;
        doca_comch_producer_task_send *first = nullptr;
        doca_comch_producer_task_send *last = nullptr;
        std::uint32_t immediate_length = 0; ///< most bytes of immediate data that the consumer accepts
        bool is_refused = false;
        bool is_gone = false; ///< the consumer has expired

        /// Returns whether no task waits for the connection.
        [[nodiscard]] bool is_open() const noexcept
        {
            return first == nullptr && !is_refused && connection->queue_pair->is_connected();
        }
    };

    [[nodiscard]] static doca_error_t check_fields(const doca_comch_producer_task_send &task) noexcept;
    /// Checks the length of the task's immediate data against @p limit.
    [[nodiscard]] static doca_error_t check_length(const doca_comch_producer_task_send &task,
                                                   std::uint32_t limit) noexcept;
    [[nodiscard]] ToConsumer *find(std::uint32_t consumer) noexcept;
    [[nodiscard]] doca_error_t begin(std::uint32_t consumer, ToConsumer *&made);
    [[nodiscard]] doca_error_t send_any(doca_comch_producer_task_send &task) noexcept;
    [[nodiscard]] doca_error_t post(ToConsumer &to, doca_comch_producer_task_send &task) noexcept;
    void process_replies() noexcept;
    /// Progresses the link and logs long waits: the peer's engines may not be progressed.
    void check_wait() noexcept;
    /// Removes connections to expired consumers. Returns true while some remain that completions may still refer to.
    [[nodiscard]] bool drop_gone() noexcept;
    void drain(ToConsumer &to) noexcept;
    void end_waiting(ToConsumer &to, doca_error_t status) noexcept;
    void finish(doca_comch_producer_task_send &task, doca_error_t status) noexcept
    {
        completions().done(task.tag(), ends_, status);
    }

    const std::shared_ptr<opendoca::comch::FastPath> fast_;
    Ends ends_;
    std::uint32_t id_ = 0;
    opendoca::comch::FastPath::LinkBudget polls_;
    opendoca::comch::ControlQueue control_queue_;
    opendoca::comch::DataDevice by_;
    std::unique_ptr<opendoca::comch::OwnMemory> slots_;
    std::vector<std::unique_ptr<ToConsumer>> consumers_;
    std::uint32_t num_expired_ = 0;        ///< value of FastPath::num_expired() at the last check
    bool has_gone_ = false;                ///< some of consumers_ have expired
    opendoca::WaitNotice wait_for_answer_; ///< for replies of consumers
};
