// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "control.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>

#include "../../core/engine/ready_descriptors.hpp"
#include "../../core/log/log.hpp"
#include "../../core/v3/pe.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH);

namespace opendoca::comch {

namespace {

/// Minimum message size of a link: control messages must fit too.
constexpr std::uint32_t min_link_message = 512;

/// Adds tasks to the context, each with space for a copy of its message.
class SendTasks final : public v3::PoolOf<doca_comch_task_send> {
public:
    SendTasks(Control &control, const v3::TaskConf &config, std::uint32_t message_size)
        : PoolOf(control, config),
          control_(control),
          message_size_(message_size),
          copies_(new std::byte[std::size_t{config.count} * message_size]) // pages are touched on first use only
    {
    }

    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override
    {
        auto &task = static_cast<doca_comch_task_send &>(base);
        if (task.copy == nullptr)
            // Places are assigned in the order of first use, so that programs which use few of their tasks touch few
            // pages.
            task.copy = &copies_[std::size_t{num_used_++} * message_size_];
        control_.send(task);
        return DOCA_SUCCESS;
    }
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        const auto &task = static_cast<const doca_comch_task_send &>(base);
        return control_.check_message(task.connection, task.message, task.length);
    }

private:
    Control &control_;
    const std::uint32_t message_size_;
    const std::unique_ptr<std::byte[]> copies_;
    std::uint32_t num_used_ = 0; ///< tasks initialised so far; each takes one place
};

} // namespace

doca_error_t Control::set_max_message_size(std::uint32_t size) noexcept
{
    if (const doca_error_t status = check_idle(DOCA_ERROR_BAD_STATE); status != DOCA_SUCCESS)
        return status;
    if (size == 0 || size > comm_channel::max_message_size) {
        LOG_ERR("messages of %u bytes are not between 1 and %u", size, comm_channel::max_message_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    max_message_size = size;
    return DOCA_SUCCESS;
}

doca_error_t Control::set_recv_queue_size(std::uint32_t size) noexcept
{
    if (const doca_error_t status = check_idle(DOCA_ERROR_BAD_STATE); status != DOCA_SUCCESS)
        return status;
    if (size == 0 || size > comm_channel::max_queue_size) {
        LOG_ERR("a receive queue of %u messages is not between 1 and %u", size, comm_channel::max_queue_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    recv_queue_size = size;
    return DOCA_SUCCESS;
}

comm_channel::Limits Control::limits() const noexcept
{
    // The peer's queue for receiving limits what this side sends, so the own send limit is the largest possible.
    const auto queue =
        static_cast<std::uint16_t>(std::max(std::bit_ceil(recv_queue_size), comm_channel::min_queue_size));
    return {static_cast<std::uint16_t>(std::max(max_message_size, min_link_message)),
            static_cast<std::uint16_t>(comm_channel::max_queue_size), queue,
            static_cast<std::uint16_t>(max_message_size < min_link_message ? max_message_size : 0)};
}

doca_error_t Control::open()
{
    message_.resize(comm_channel::max_message_size);
    if (!watches_.open() || completions().watch(watches_.fd()) != DOCA_SUCCESS) {
        LOG_ERR("'%s' cannot create its event channel: %s", name_.c_str(), std::strerror(errno));
        watches_.close();
        return DOCA_ERROR_INITIALIZATION;
    }
    // Reserves the place of the hook, so that start_polling() does not allocate.
    completions().reserve_polled();
    completions().start_polling(arm_hook_);
    if (sends.is_configured())
        sends.set_pool(std::make_unique<SendTasks>(*this, sends.conf(), max_message_size));
    // A progress call polls the connections even if no task is in flight.
    set_progress_requested(true);
    return DOCA_SUCCESS;
}

void Control::close() noexcept
{
    if (!watches_.is_open())
        return;
    completions().stop_polling(arm_hook_);
    completions().unreserve_polled();
    completions().unwatch(watches_.fd());
    watches_.close();
}

doca_error_t Control::check_message(const Connection *to, const void *message, std::uint32_t length) const
{
    if (message == nullptr || length == 0 || length > max_message_size) {
        LOG_ERR("a message of %u bytes at %p: 1 to %u bytes are possible", length, message, max_message_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (to == nullptr || !has(*to)) {
        LOG_ERR("connection %p does not belong to '%s', or has ended", static_cast<const void *>(to), name_.c_str());
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

void Control::send(doca_comch_task_send &task) noexcept
{
    if (const doca_error_t status = check_message(task.connection, task.message, task.length); status != DOCA_SUCCESS)
        return finish(task, status);
    Connection &connection = *task.connection;
    const std::lock_guard guard(connection.fast->link_lock);
    if (connection.link.state() != Connection::Link::State::connected)
        return finish(task, DOCA_ERROR_CONNECTION_RESET);
    if (task.length > connection.link.max_send_length()) {
        LOG_ERR("a message of %u bytes: the peer takes at most %u", task.length, connection.link.max_send_length());
        return finish(task, DOCA_ERROR_INVALID_VALUE);
    }
    resume(connection);
    // While other tasks wait, a new one waits behind them: messages arrive in the order of their submission.
    if (connection.first_waiting == nullptr) {
        const doca_error_t status = connection.link.send(task.message, task.length);
        if (status != DOCA_ERROR_AGAIN)
            return finish(task, status);
    }
    std::memcpy(task.copy, task.message, task.length); // programs may reuse their memory after the submit
    task.next_waiting = nullptr;
    (connection.first_waiting != nullptr ? connection.last_waiting->next_waiting : connection.first_waiting) = &task;
    connection.last_waiting = &task;
    completions().wake_if_waiting(); // requests a doorbell for space
}

void Control::send_waiting(Connection &connection) noexcept
{
    while (connection.first_waiting != nullptr) {
        doca_comch_task_send &task = *connection.first_waiting;
        // A ring that is full again ends the loop; any other status completes the task.
        const doca_error_t status = connection.link.send(task.copy, task.length);
        if (status == DOCA_ERROR_AGAIN)
            return;
        connection.first_waiting = task.next_waiting;
        finish(task, status);
    }
}

bool Control::serve(Connection &connection) noexcept
{
    std::size_t length = message_.size();
    Connection::ConsumerEvent event{};
    auto arrival = Connection::Arrival::nothing;
    bool had_waiting = false;
    {
        const std::lock_guard guard(connection.fast->link_lock);
        // Memory for a control message was lacking: without it the two sides disagree, so the connection ends.
        if (connection.fast->has_failed()) [[unlikely]]
            return connection.disconnect(), false;
        had_waiting = connection.first_waiting != nullptr;
        if (had_waiting)
            send_waiting(connection);
        if (connection.fast->to_peer.has_message()) [[unlikely]] {
            connection.send_control_messages();
            connection.fast->to_peer.settle();
            if (connection.fast->to_peer.has_message())
                completions().wake_if_waiting(); // no doorbell was requested for the space that the rest needs
        }
        arrival = connection.receive(message_, length, event);
    }
    switch (arrival) {
    case Connection::Arrival::nothing:
        // Completed tasks are in the ring: the caller reports that there was something to do, and the next call
        // delivers them.
        return had_waiting && !completions().is_empty();
    // The callbacks run without link_lock: they may send, stop the context, or take long.
    case Connection::Arrival::message:
        if (doca_comch_event_msg_recv with; received_2_5 != nullptr) {
            received_2_5(&with, reinterpret_cast<std::uint8_t *>(message_.data()), length, &connection);
        } else if (received != nullptr) {
            received(&with, reinterpret_cast<std::uint8_t *>(message_.data()), static_cast<std::uint32_t>(length),
                     &connection);
        }
        return true;
    case Connection::Arrival::consumer_event:
        (void)notify_program(connection, event);
        return true;
    case Connection::Arrival::control_message:
        break;
    }
    return false;
}

bool Control::notify_program(Connection &connection, const Connection::ConsumerEvent &event) noexcept
{
    const auto callback = event.kind == ControlKind::new_consumer ? consumer_created : consumer_expired;
    if (callback == nullptr)
        return false;
    doca_comch_event_consumer with;
    callback(&with, &connection, event.consumer);
    return true;
}

bool Control::has_nothing_more(Connection &connection) noexcept
{
    if (!connection.link.has_ended())
        return false;
    // A failed connection delivers nothing more, even if messages are left.
    const std::lock_guard guard(connection.fast->link_lock);
    return connection.fast->has_failed() || (!connection.has_unreported() && !connection.link.has_message());
}

void Control::leave(Connection &connection) noexcept
{
    const std::lock_guard guard(connection.fast->link_lock);
    connection.link.leave();
}

void Control::check_sockets(Connection &connection) noexcept
{
    const std::lock_guard guard(connection.fast->link_lock);
    if (!pe()->is_armed()) {
        (void)connection.link.drain_message_doorbells();
        connection.link.drain_space_doorbells();
    }
    (void)connection.link.check_end();
}

void Control::end(Connection &connection, doca_error_t status) noexcept
{
    connection.fast->end();
    const std::lock_guard guard(connection.fast->link_lock);
    watches_.remove(connection);
    while (connection.first_waiting != nullptr) {
        doca_comch_task_send &task = *connection.first_waiting;
        connection.first_waiting = task.next_waiting;
        finish(task, status);
    }
}

bool Control::end_of_peer(Connection &connection) noexcept
{
    if (!connection.fast->has_ended())
        end(connection, DOCA_ERROR_CONNECTION_RESET);
    // Events that another thread has received come first, as they are older than the end.
    for (Connection::ConsumerEvent event{};;) {
        {
            const std::lock_guard guard(connection.fast->link_lock);
            if (!connection.take_unreported(event))
                break;
        }
        if (notify_program(connection, event))
            return true;
    }
    const std::uint32_t consumer = consumer_expired != nullptr ? connection.fast->expire_consumer() : 0;
    if (consumer == 0)
        return false;
    doca_comch_event_consumer event;
    consumer_expired(&event, &connection, consumer);
    return true;
}

bool Control::ArmHook::arm() noexcept
{
    control_.was_disarmed_ = false; // doca_pe::arm() has called disarm() first, but its doorbells are drained here
    control_.drain_all_doorbells(); // doorbells of messages already received
    return control_.can_progress() || control_.is_check_pending();
}

void Control::resume_for(const WatchedEvent &event) noexcept
{
    if (event.connection != nullptr)
        resume(*event.connection);
    else if (event.process != nullptr)
        resume_all_of(*event.process);
}

bool Control::wait_for_doorbells() noexcept
{
    was_disarmed_ = false;
    drain_all_doorbells(); // of messages already received
    if (!can_progress() && !is_check_pending() && completions().root().descriptors->add(watches_.fd(), completions()))
        return true;
    was_disarmed_ = true; // the doorbells that were requested are drained by the next check
    return false;
}

void Control::end_wait_for_doorbells() noexcept
{
    completions().root().descriptors->remove(watches_.fd());
    was_disarmed_ = true;
}

/// Messages arrive without a check of the sockets; new clients and ended peers are detected by it.
bool Control::is_socket_check_due() noexcept
{
    if (std::exchange(was_disarmed_, false)) [[unlikely]]
        drain_all_doorbells();
    if (std::exchange(is_check_pending_, false)) [[unlikely]]
        return true;
    return polls_between_checks_.is_spent();
}

void Control::drain_all_doorbells() noexcept
{
    std::array<WatchedEvent, 64> events;
    for (const WatchedEvent &event : std::span(events).first(watches_.poll(events))) {
        resume_for(event);
        Connection *const connection = event.connection;
        // The event of a connection that is not reported yet is a hello or a welcome.
        if (connection == nullptr || !connection->is_reported) {
            is_check_pending_ = true;
            continue;
        }
        connection->fast->to_peer.drain_doorbell();
        const std::lock_guard guard(connection->fast->link_lock);
        if (connection->link.drain_all_doorbells())
            is_check_pending_ = true;
    }
}

void Control::request_doorbells(Connection &connection) noexcept
{
    const std::lock_guard guard(connection.fast->link_lock);
    connection.link.arm_for_message();
    // Space is requested only while something waits for it: each request costs the peer a system call.
    if (connection.first_waiting != nullptr || connection.fast->to_peer.has_message())
        connection.link.arm_for_space();
}

bool Control::has_something(Connection &connection) noexcept
{
    const std::lock_guard guard(connection.fast->link_lock);
    return connection.fast->has_failed() || connection.has_unreported() || connection.link.has_message() ||
           connection.link.has_pending_doorbell() ||
           ((connection.first_waiting != nullptr || connection.fast->to_peer.has_message()) &&
            connection.link.has_space());
}

} // namespace opendoca::comch
