// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../../core/base/wait_notice.hpp"
#include "../../core/checks/transfer_check.hpp"
#include "control.hpp"
#include "data_connection.hpp"

/// A send of one message. Owned by the pool of its producer. The first four members are the program's arguments.
struct doca_comch_producer_task_send : doca_task {
    const doca_buf *buf;                         ///< data, or null for immediate data alone
    std::uint8_t *immediate;                     ///< memory of the program; copied at the submit
    std::uint32_t immediate_size;                ///< bytes
    std::uint32_t consumer;                      ///< number of the consumer, which its side assigned
    doca_comch_producer_task_send *next_waiting; ///< next task that waits for the same consumer
    opendoca::comch::TwoSegments message;        ///< slot: immediate data to send
};

/// Sends to consumers of the peer, each by a queue pair of its own. Owned by the program and used by the thread of its
/// progress engine. The queue pair is created at the first send to a consumer; sends wait until the consumer has
/// accepted it. An established connection takes no lock.
struct doca_comch_producer final : doca_ctx {
    explicit doca_comch_producer(doca_comch_connection &connection);
    ~doca_comch_producer() override = default;

    /// Sends a task, validated by the @p rules of the device. Returns SUCCESS if its completion will report the result,
    /// AGAIN if the send queue is full; then nothing has changed.
    [[nodiscard]] doca_error_t send(doca_comch_producer_task_send &task, const opendoca::TransferCheck &rules) noexcept;
    /// Returns the limits of the device for one message.
    [[nodiscard]] opendoca::TransferCheck rules() const noexcept;
    /// Checks what can be checked before the submit. Returns INVALID_VALUE, after a log line, for a task that must
    /// fail.
    [[nodiscard]] doca_error_t check(const doca_comch_producer_task_send &task) const noexcept;
    [[nodiscard]] static doca_error_t check_immediate(const std::uint8_t *data, std::uint32_t size) noexcept;
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; } ///< 0 while the producer is not started

    opendoca::v3::TaskType<doca_comch_producer_task_send, doca_comch_producer_task_send_completion_cb_t> sends{*this};

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override;
    [[nodiscard]] bool on_progress() noexcept override;

private:
    /// Source of the completions of tasks that fail without having been posted.
    class Ends final : public opendoca::Source {};
    /// Connection to one consumer; tasks wait until it is established.
    struct ToConsumer {
        std::unique_ptr<opendoca::comch::DataConnection> connection;
        doca_comch_producer_task_send *first = nullptr; ///< list of tasks that wait for the connection, in order
        doca_comch_producer_task_send *last = nullptr;
        std::uint32_t immediate_length = 0; ///< most bytes of immediate data that the consumer accepts
        bool is_refused = false;            ///< the consumer has refused the connection, or expired
        bool has_expired = false;           ///< the consumer has expired

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
    /// Returns the connection to @p consumer, or null if there is none yet.
    [[nodiscard]] ToConsumer *find(std::uint32_t consumer) noexcept;
    [[nodiscard]] doca_error_t begin(std::uint32_t consumer, ToConsumer *&made);
    [[nodiscard]] doca_error_t send_any(doca_comch_producer_task_send &task) noexcept;
    /// Posts the task to the queue pair. Returns AGAIN if the send queue is full.
    [[nodiscard]] doca_error_t post(ToConsumer &to, doca_comch_producer_task_send &task) noexcept;
    void process_replies() noexcept;
    /// Progresses the link and logs long waits: the peer's engines may not be progressed.
    void check_wait() noexcept;
    /// Removes connections to expired consumers. Returns true while some remain that completions may still refer to.
    [[nodiscard]] bool drop_expired() noexcept;
    /// Posts waiting tasks in order until the send queue is full.
    void drain(ToConsumer &to) noexcept;
    /// Completes all waiting tasks with @p status.
    void end_waiting(ToConsumer &to, doca_error_t status) noexcept;
    void finish(doca_comch_producer_task_send &task, doca_error_t status) noexcept
    {
        completions().done(task.tag(), ends_, status);
    }

    /// Shared with the connection, which may have been destroyed.
    const std::shared_ptr<opendoca::comch::FastPath> fast_;
    Ends ends_;
    std::uint32_t id_ = 0; ///< number among the members of this side
    opendoca::comch::FastPath::LinkBudget polls_;
    opendoca::comch::ControlQueue control_queue_;       ///< replies of consumers, and wake-ups
    opendoca::comch::DataDevice data_device_;           ///< the device that carries the messages
    std::unique_ptr<opendoca::comch::OwnMemory> slots_; ///< one slot of max_immediate bytes for each task
    /// Connections in the order of their first use: few, so they are searched linearly.
    std::vector<std::unique_ptr<ToConsumer>> consumers_;
    std::uint32_t num_expired_ = 0;       ///< value of FastPath::num_expired() at the last check
    bool has_expired_ = false;            ///< some of consumers_ have expired
    opendoca::WaitNotice wait_for_reply_; ///< for replies of consumers
};
