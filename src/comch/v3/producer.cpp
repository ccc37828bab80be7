// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "producer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <arpa/inet.h>

#include "../../core/log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH_PRODUCER);

using namespace opendoca::comch;
using opendoca::ConnectionState;
using opendoca::Opcode;
using opendoca::Request;
using opendoca::TransferCheck;
using opendoca::TransferPlan;

namespace {

/// The pool of send tasks. Each task gets its slot for immediate data at its first submit.
class SendTasks final : public opendoca::v3::PoolOf<doca_comch_producer_task_send> {
public:
    SendTasks(doca_comch_producer &producer, const opendoca::v3::TaskConf &configuration, const OwnMemory &slots)
        : PoolOf(producer, configuration, false, true),
          producer_(producer),
          rules_(producer.rules()),
          slots_(slots)
    {
    }

    // Fast path: a task that is not taken is given back to the program here, as the caller does nothing after the call.
    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override
    {
        const doca_error_t status = SendTasks::submit_off_fast_path(base);
        return status == DOCA_SUCCESS ? status : undo_submit(base, status);
    }
    [[nodiscard]] doca_error_t submit_off_fast_path(doca_task &base) noexcept override
    {
        auto &task = static_cast<doca_comch_producer_task_send &>(base);
        if (!task.message.has_slot()) [[unlikely]]
            task.message.set_slot(slots_.start() + std::size_t{num_used_++} * max_immediate, *slots_.map());
        return producer_.send(task, rules_);
    }
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        return producer_.check(static_cast<const doca_comch_producer_task_send &>(base));
    }

private:
    doca_comch_producer &producer_;
    const TransferCheck rules_;
    const OwnMemory &slots_;
    std::uint32_t num_used_ = 0;
};

} // namespace

doca_comch_producer::doca_comch_producer(doca_comch_connection &connection)
    : doca_ctx(connection.control.device()),
      fast_(connection.fast)
{
}

doca_error_t doca_comch_producer::on_start()
{
    doca_error_t status = fast_->prepare_for_members();
    if (status != DOCA_SUCCESS)
        return status;
    if (!control_queue_.open() || completions().watch(control_queue_.fd()) != DOCA_SUCCESS)
        return DOCA_ERROR_OPERATING_SYSTEM;
    slots_ = std::make_unique<OwnMemory>();
    // At least one slot, since memory of 0 bytes cannot be registered.
    const std::uint32_t count = std::max(sends.conf().count, 1U);
    status = data_device_.open(*dev());
    if (status == DOCA_SUCCESS)
        status = slots_->create(data_device_.dev(), std::size_t{count} * max_immediate);
    if (status != DOCA_SUCCESS)
        return status;
    if (sends.is_configured())
        sends.set_pool(std::make_unique<SendTasks>(*this, sends.conf(), *slots_));
    id_ = fast_->add_producer(control_queue_);
    num_expired_ = fast_->num_expired();
    has_expired_ = false;
    wait_for_reply_.reset();
    request_progress_while(control_queue_.message_flag());
    return DOCA_SUCCESS;
}

doca_error_t doca_comch_producer::on_stop() noexcept
{
    // The consumers of the peer are searched for at the first send.
    fast_->remove_producer(id_);
    for (const auto &to : consumers_) {
        end_waiting(*to, DOCA_ERROR_SHUTDOWN);
        // In flight sends complete with an error; tasks that wait for a connection have no operation yet.
        to->connection->queue_pair->flush();
    }
    return DOCA_SUCCESS;
}

void doca_comch_producer::on_idle() noexcept
{
    // Also called after a start that failed: the producer may or may not have been added.
    if (id_ != 0)
        fast_->remove_producer(std::exchange(id_, 0));
    completions().unwatch(control_queue_.fd());
    consumers_.clear();
    slots_.reset();
    data_device_.close();
}

doca_comch_producer::ToConsumer *doca_comch_producer::find(std::uint32_t consumer) noexcept
{
    for (const auto &to : consumers_) {
        if (to->connection->peer == consumer)
            return to.get();
    }
    return nullptr;
}

/// Sends a request for a connection to a consumer of the peer.
doca_error_t doca_comch_producer::begin(std::uint32_t consumer, ToConsumer *&made)
{
    if (fast_->has_ended())
        return DOCA_ERROR_CONNECTION_RESET;
    const std::optional<ConsumerDetails> consumer_details = fast_->find_consumer(consumer);
    if (!consumer_details) {
        LOG_ERR("the peer has no consumer %u", consumer);
        return DOCA_ERROR_NOT_FOUND;
    }
    auto fresh = std::make_unique<ToConsumer>();
    fresh->immediate_length = consumer_details->immediate_length;
    const doca_error_t status = make_data_connection(data_device_.dev(), completions(), sends.conf().count, nullptr,
                                                     consumer, fresh->connection);
    if (status != DOCA_SUCCESS)
        return status;
    ControlMessage message{};
    message.kind = ControlKind::connect;
    message.consumer = consumer;
    message.producer = id_;
    put_details(*fresh->connection, message);
    consumers_.reserve(consumers_.size() + 1); // reserved before the request is sent, which cannot be undone
    if (const doca_error_t sent = fast_->send_request(message); sent != DOCA_SUCCESS)
        return sent;
    consumers_.push_back(std::move(fresh));
    made = consumers_.back().get();
    return DOCA_SUCCESS;
}

doca_error_t doca_comch_producer::check_immediate(const std::uint8_t *data, std::uint32_t size) noexcept
{
    if (size <= max_immediate && (size == 0 || data != nullptr))
        return DOCA_SUCCESS;
    LOG_ERR("%u bytes of immediate data at %p: at most %u are possible", size, static_cast<const void *>(data),
            max_immediate);
    return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_comch_producer::check(const doca_comch_producer_task_send &task) const noexcept
{
    const doca_error_t status = check_fields(task);
    if (status != DOCA_SUCCESS || task.immediate_size == 0)
        return status;
    const std::optional<ConsumerDetails> consumer_details = fast_->find_consumer(task.consumer);
    return consumer_details ? check_length(task, consumer_details->immediate_length)
                            : DOCA_SUCCESS; // the submit reports an unknown consumer
}

doca_error_t doca_comch_producer::check_length(const doca_comch_producer_task_send &task, std::uint32_t limit) noexcept
{
    if (task.immediate_size <= limit) [[likely]]
        return DOCA_SUCCESS;
    LOG_ERR("%u bytes of immediate data are more than the %u that consumer %u takes", task.immediate_size, limit,
            task.consumer);
    return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t doca_comch_producer::check_fields(const doca_comch_producer_task_send &task) noexcept
{
    if (const doca_error_t status = check_immediate(task.immediate, task.immediate_size); status != DOCA_SUCCESS)
        return status;
    if (task.buf != nullptr && !task.buf->is_alone()) {
        LOG_ERR("buffer %p is part of a list, or was freed", static_cast<const void *>(task.buf));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

/// Two segments: the program's buffer and the slot. Immediate data is sent as a part of the message.
TransferCheck doca_comch_producer::rules() const noexcept
{
    return {data_device_.dev().device(), {data_device_.can().max_message_size, 2, 2, false, true}};
}

doca_error_t doca_comch_producer::send(doca_comch_producer_task_send &task, const TransferCheck &rules) noexcept
{
    ToConsumer *const to = find(task.consumer);
    // Fast path: one buffer, no immediate data, and a connection that is established with no task waiting for it.
    if (to == nullptr || !to->is_open() || task.immediate_size != 0 || data_device_.is_another() ||
        !rules.is_fast_send(task.buf)) [[unlikely]]
        return send_any(task);
    Request request;
    request.opcode = Opcode::send;
    request.plan = TransferPlan::single_sge(task.buf->data_len);
    request.immediate = 0;
    request.local = const_cast<doca_buf *>(task.buf);
    request.remote = nullptr;
    const doca_error_t status = to->connection->queue_pair->post(task.tag(), request);
    return status == DOCA_ERROR_NO_MEMORY ? DOCA_ERROR_AGAIN : status;
}

/// Handles every task that the short path does not: it may wait for its connection, and errors end it.
[[gnu::noinline]] doca_error_t doca_comch_producer::send_any(doca_comch_producer_task_send &task) noexcept
{
    doca_error_t status = check_fields(task);
    if (status == DOCA_SUCCESS && task.immediate_size != 0)
        std::memcpy(task.message.slot(), task.immediate,
                    task.immediate_size); // copied now: programs keep it on their stacks
    ToConsumer *to = find(task.consumer);
    if (status == DOCA_SUCCESS && to == nullptr)
        status = opendoca::guarded([&] { return begin(task.consumer, to); });
    if (status == DOCA_SUCCESS)
        status = check_length(task, to->immediate_length);
    if (status == DOCA_SUCCESS && (to->is_refused || to->connection->state == ConnectionState::failed)) {
        LOG_ERR("consumer %u has stopped, or the connection to it has failed", task.consumer);
        status = DOCA_ERROR_CONNECTION_RESET;
    }
    if (status == DOCA_SUCCESS) {
        if (to->is_open()) [[likely]]
            status = post(*to, task);
        else {
            task.next_waiting = nullptr;
            (to->first != nullptr ? to->last->next_waiting : to->first) = &task;
            to->last = &task;
            set_progress_requested(true); // until no task waits
            return DOCA_SUCCESS;
        }
    }
    if (status == DOCA_SUCCESS || status == DOCA_ERROR_AGAIN)
        return status;
    finish(task, status);
    return DOCA_SUCCESS;
}

doca_error_t doca_comch_producer::post(ToConsumer &to, doca_comch_producer_task_send &task) noexcept
{
    Request request{};
    request.opcode = Opcode::send;
    request.local = const_cast<doca_buf *>(task.buf);
    if (task.immediate_size != 0) {
        request.opcode = Opcode::send_with_immediate;
        // The immediate number is the length of the immediate data, in network byte order.
        request.immediate = htonl(task.immediate_size);
        request.local = &task.message.chain(task.buf, task.immediate_size);
    } else if (data_device_.is_another() && task.buf != nullptr) {
        request.local = &task.message.copy(*task.buf);
    }
    doca_error_t status = DOCA_SUCCESS;
    // segments[0] is the copy that chain() or copy() has made: the program's buffer keeps its own map.
    if (data_device_.is_another() && task.buf != nullptr) [[unlikely]]
        status = opendoca::guarded([&] { return data_device_.take_over(task.message.segments[0], completions()); });
    if (const TransferCheck check = rules(); status == DOCA_SUCCESS && !check.check_fast(request))
        status = check.check(request);
    if (status == DOCA_SUCCESS)
        status = to.connection->queue_pair->post(task.tag(), request);
    return status == DOCA_ERROR_NO_MEMORY ? DOCA_ERROR_AGAIN : status;
}

void doca_comch_producer::drain(ToConsumer &to) noexcept
{
    while (to.first != nullptr && to.connection->queue_pair->is_connected()) {
        doca_comch_producer_task_send &task = *to.first;
        const doca_error_t status = post(to, task);
        if (status == DOCA_ERROR_AGAIN)
            return;
        to.first = task.next_waiting;
        if (status != DOCA_SUCCESS)
            finish(task, status);
    }
}

void doca_comch_producer::end_waiting(ToConsumer &to, doca_error_t status) noexcept
{
    while (to.first != nullptr) {
        doca_comch_producer_task_send &task = *to.first;
        to.first = task.next_waiting;
        finish(task, status);
    }
}

bool doca_comch_producer::on_progress() noexcept
{
    for (const auto &to : consumers_) {
        if (to->first == nullptr)
            continue;
        if (to->connection->state == ConnectionState::failed)
            end_waiting(*to, DOCA_ERROR_CONNECTION_RESET);
        else
            drain(*to);
    }
    if (control_queue_.has_message())
        process_replies();
    check_wait();
    const bool is_any_left = drop_expired();
    set_progress_requested(is_any_left ||
                           std::ranges::any_of(consumers_, [](const auto &to) { return to->first != nullptr; }));
    return !completions().is_empty();
}

void doca_comch_producer::check_wait() noexcept
{
    // Only a connection that waits for an answer of the peer is reported; a full send queue is normal.
    const auto waiting = std::ranges::find_if(consumers_, [](const auto &to) {
        return to->first != nullptr && to->connection->state == ConnectionState::initial;
    });
    if (waiting == consumers_.end())
        return wait_for_reply_.end_wait();
    fast_->progress_link_at(polls_);
    if (wait_for_reply_.is_due())
        LOG_WARN(
            "sends of producer %u wait for consumer %u, which has not answered for a second: is its engine progressed?",
            id_, (*waiting)->connection->peer);
}

/// Processes the replies of consumers to requests for connections.
void doca_comch_producer::process_replies() noexcept
{
    ControlMessage message;
    while (control_queue_.take(message)) {
        ToConsumer *const to = find(message.consumer);
        // A stale reply may remain from an earlier start.
        if (message.producer != id_ || to == nullptr || to->connection->queue_pair->is_connected())
            continue;
        to->is_refused = to->has_expired || message.kind != ControlKind::accept ||
                         opendoca::guarded([&] {
                             return to->connection->queue_pair->connect(message.used_details());
                         }) != DOCA_SUCCESS;
        if (to->is_refused)
            end_waiting(*to, DOCA_ERROR_CONNECTION_RESET);
        else
            drain(*to);
    }
    if (fast_->has_ended()) {
        for (const auto &to : consumers_) {
            to->is_refused = to->is_refused || !to->connection->queue_pair->is_connected(); // no reply can arrive
            end_waiting(*to, DOCA_ERROR_CONNECTION_RESET);
        }
    }
}

/// Compared with the count of the last check, as the check takes a lock for each connection.
bool doca_comch_producer::drop_expired() noexcept
{
    if (const std::uint32_t count = fast_->num_expired(); num_expired_ != count && !fast_->has_ended()) {
        num_expired_ = count;
        for (const auto &to : consumers_) {
            if (fast_->find_consumer(to->connection->peer))
                continue;
            to->is_refused = to->has_expired = has_expired_ = true;
            end_waiting(*to, DOCA_ERROR_CONNECTION_RESET);
        }
    }
    if (!has_expired_ || completions_may_be_pending())
        return has_expired_;
    // A completion in flight still refers to the queue pair.
    std::erase_if(consumers_, [this](const auto &to) {
        return to->has_expired && completions().num_outstanding(*to->connection->queue_pair) == 0;
    });
    has_expired_ = std::ranges::any_of(consumers_, [](const auto &to) { return to->has_expired; });
    return has_expired_;
}
