// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "consumer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <arpa/inet.h>

#include "../../core/log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH_CONSUMER);

using namespace opendoca::comch;
using opendoca::TransferCheck;
using opendoca::TransferPlan;

namespace {

/// The pool of receive tasks. Each task gets its slot for immediate data at its first submit.
class ReceiveTasks final : public opendoca::v3::PoolOf<doca_comch_consumer_task_post_recv> {
public:
    ReceiveTasks(doca_comch_consumer &consumer, const opendoca::v3::TaskConf &configuration, const OwnMemory &slots)
        : PoolOf(consumer, configuration, true, true),
          consumer_(consumer),
          rules_(consumer.rules()),
          slots_(slots)
    {
    }

    // Fast path: a task that is not taken is given back to the program here, as the caller does nothing after the call.
    [[nodiscard]] doca_error_t submit(doca_task &base) noexcept override
    {
        const doca_error_t status = ReceiveTasks::submit_off_fast_path(base);
        return status == DOCA_SUCCESS ? status : undo_submit(base, status);
    }
    [[nodiscard]] doca_error_t submit_off_fast_path(doca_task &base) noexcept override
    {
        auto &task = static_cast<doca_comch_consumer_task_post_recv &>(base);
        if (!task.message.has_slot()) [[unlikely]]
            task.message.set_slot(slots_.start() + std::size_t{num_used_++} * max_immediate, *slots_.map());
        return consumer_.post(task, rules_);
    }
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        return consumer_.check(static_cast<const doca_comch_consumer_task_post_recv &>(base));
    }
    doca_error_t set_result(doca_task &base, const opendoca::Ended &ended) noexcept override
    {
        return consumer_.take_result(static_cast<doca_comch_consumer_task_post_recv &>(base), ended);
    }

private:
    doca_comch_consumer &consumer_;
    const TransferCheck rules_;
    const OwnMemory &slots_;
    std::uint32_t num_used_ = 0;
};

} // namespace

doca_comch_consumer::doca_comch_consumer(doca_comch_connection &connection, doca_mmap &map)
    : doca_ctx(connection.control.device()),
      fast_(connection.fast),
      map_(map)
{
}

doca_error_t doca_comch_consumer::on_start()
{
    const std::uint32_t count = std::max(receives.conf().count, 1U);
    doca_error_t status = fast_->prepare_for_members();
    if (status != DOCA_SUCCESS)
        return status;
    if (!control_queue_.open() || completions().watch(control_queue_.fd()) != DOCA_SUCCESS)
        return DOCA_ERROR_OPERATING_SYSTEM;
    slots_ = std::make_unique<OwnMemory>();
    status = data_device_.open(*dev());
    if (status == DOCA_SUCCESS)
        status = slots_->create(data_device_.dev(), std::size_t{count} * max_immediate);
    if (status == DOCA_SUCCESS)
        status = data_device_.dev().device().create_receive_queue(completions(), count, 2, queue_);
    if (status != DOCA_SUCCESS)
        return status;
    if (receives.is_configured())
        receives.set_pool(std::make_unique<ReceiveTasks>(*this, receives.conf(), *slots_));
    status = fast_->add_consumer(control_queue_, {immediate_length}, id_);
    if (status != DOCA_SUCCESS)
        return status;
    request_progress_while(control_queue_.message_flag());
    set_progress_requested(true);  // producers may connect at any time
    return DOCA_ERROR_IN_PROGRESS; // runs when the peer has acknowledged the consumer
}

doca_error_t doca_comch_consumer::on_stop() noexcept
{
    fast_->remove_consumer(id_, control_queue_);
    for (const auto &connection : connections_)
        connection->queue_pair->flush();
    queue_->flush();
    return DOCA_SUCCESS;
}

void doca_comch_consumer::on_idle() noexcept
{
    if (id_ != 0)
        // Also called after a start that failed: the consumer may or may not have been announced to the peer.
        fast_->remove_consumer(std::exchange(id_, 0), control_queue_);
    completions().unwatch(control_queue_.fd());
    connections_.clear();
    queue_.reset();
    slots_.reset();
    data_device_.close();
}

bool doca_comch_consumer::on_progress() noexcept
{
    fast_->progress_link_at(polls_);
    if (!control_queue_.has_message()) [[likely]]
        return false;
    if (!completions_may_be_pending()) { // otherwise a completion could still refer to them
        std::erase_if(connections_,
                      [](const auto &connection) { return connection->state == opendoca::ConnectionState::failed; });
    }
    ControlMessage message;
    while (control_queue_.take(message)) {
        if (message.kind == ControlKind::connect) {
            connect(message);
        } else if (message.kind == ControlKind::known && state() == DOCA_CTX_STATE_STARTING) {
            started();
            return true;
        }
    }
    if (!fast_->has_ended() || state() != DOCA_CTX_STATE_STARTING)
        return false; // posted receives stay until the program stops the consumer
    start_failed();
    return true;
}

/// Processes a producer's request for a connection.
void doca_comch_consumer::connect(const ControlMessage &message) noexcept
{
    // A refusal unless everything below succeeds: the producer waits for an answer in any case.
    ControlMessage answer = message;
    answer.kind = ControlKind::refuse;
    answer.details_size = 0;
    const doca_error_t status = opendoca::guarded([&] {
        std::unique_ptr<DataConnection> connection;
        // A peer that exceeds the limit is refused and keeps its other connections.
        if (!is_running() || connections_.size() >= max_fast_path_contexts)
            return DOCA_ERROR_BAD_STATE;
        doca_error_t made = make_data_connection(data_device_.dev(), completions(), receives.conf().count, queue_.get(),
                                                 message.producer, connection);
        if (made == DOCA_SUCCESS)
            made = connection->queue_pair->connect(message.used_details());
        if (made != DOCA_SUCCESS)
            return made;
        connections_.push_back(std::move(connection));
        return DOCA_SUCCESS;
    });
    if (status == DOCA_SUCCESS) {
        put_details(*connections_.back(), answer);
        answer.kind = ControlKind::accept;
    }
    fast_->send_reply(answer);
}

doca_error_t doca_comch_consumer::check(const doca_comch_consumer_task_post_recv &task) const noexcept
{
    if (task.buf == nullptr)
        return DOCA_SUCCESS;
    if (!task.buf->is_alone() || task.buf->mmap != &map_) {
        LOG_ERR("buffer %p is %s", static_cast<const void *>(task.buf),
                task.buf->is_alone() ? "of another memory map than the consumer's" : "part of a list, or was freed");
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

TransferCheck doca_comch_consumer::rules() const noexcept
{
    return {data_device_.dev().device(), {data_device_.can().max_message_size, 2, 2, false}};
}

doca_error_t doca_comch_consumer::post(doca_comch_consumer_task_post_recv &task, const TransferCheck &rules) noexcept
{
    if (!rules.is_fast_receive(task.buf) || task.buf->mmap != &map_ || data_device_.is_another()) [[unlikely]]
        return post_any(task, rules);
    // Includes the space for immediate data of a length that is not known in advance.
    const std::size_t room = task.buf->tailroom();
    doca_buf *dst = task.buf;
    TransferPlan plan = TransferPlan::single_sge(room);
    if (is_chained(task)) {
        dst = &task.message.chain(task.buf, 0);
        plan =
            TransferPlan::single_sge(std::min<std::size_t>(room + max_immediate, data_device_.can().max_message_size));
        plan.is_list = true;
    }
    const doca_error_t status = queue_->receive(task.tag(), dst, plan);
    return status == DOCA_ERROR_NO_MEMORY ? DOCA_ERROR_AGAIN : status;
}

/// Handles every task that the short path does not. Errors are reported by the completion.
[[gnu::noinline]] doca_error_t doca_comch_consumer::post_any(doca_comch_consumer_task_post_recv &task,
                                                             const TransferCheck &rules) noexcept
{
    doca_error_t status = check(task);
    TransferPlan plan{};
    doca_buf *dst = task.buf;
    if (status == DOCA_SUCCESS) {
        if (is_chained(task))
            dst = &task.message.chain(task.buf, 0);
        if (data_device_.is_another() && task.buf != nullptr)
            status = opendoca::guarded([&] { return data_device_.take_over(task.message.segments[0], completions()); });
        if (status == DOCA_SUCCESS)
            status = rules.receive(dst, plan);
    }
    if (status == DOCA_SUCCESS)
        status = queue_->receive(task.tag(), dst, plan);
    if (status == DOCA_SUCCESS)
        return status;
    if (status == DOCA_ERROR_NO_MEMORY)
        return DOCA_ERROR_AGAIN;
    completions().done(task.tag(), *queue_, status);
    return DOCA_SUCCESS;
}

/// Copies the immediate data from the end of the message. The remaining data may still reach into the space for
/// immediate data.
doca_error_t doca_comch_consumer::take_result(doca_comch_consumer_task_post_recv &task,
                                              const opendoca::Ended &ended) const noexcept
{
    const auto *const connection = static_cast<const DataConnection *>(ended.source->owner);
    task.producer = connection != nullptr ? connection->peer : 0;
    task.immediate_size = 0;
    const std::uint32_t total = ended.result.length;
    if (ended.result.received == opendoca::Received::send_with_immediate)
        task.immediate_size = std::min({ntohl(ended.result.immediate), total, max_immediate});
    if (task.immediate_size > immediate_length) [[unlikely]] { // a producer of an older version, or an invalid one
        LOG_ERR("%u bytes of immediate data from producer %u are more than the %u that consumer %u takes",
                task.immediate_size, task.producer, immediate_length, id_);
        task.immediate_size = 0;
        if (!is_chained(task))
            task.buf->end_data_at(task.buf->data_len - total);
        return DOCA_ERROR_FULL;
    }
    if (!is_chained(task))
        return DOCA_SUCCESS;
    const std::uint32_t length = total - task.immediate_size;
    const std::size_t before = task.buf != nullptr ? task.buf->data_len : 0;
    const std::size_t room = task.buf != nullptr ? task.buf->tailroom() : 0;
    if (length > room) {
        LOG_ERR("a message of producer %u has %u bytes, more than the %zu of its receive", task.producer, length, room);
        task.immediate_size = 0;
        if (task.buf != nullptr)
            task.buf->end_data_at(before);
        return DOCA_ERROR_FULL;
    }
    // Data and immediate data are contiguous in the message: immediate data begins in the buffer if that has space
    // left.
    const std::size_t in_buf = std::min<std::size_t>(total, room);
    for (std::uint32_t i = 0; i != task.immediate_size; ++i) {
        const std::size_t at = length + i;
        task.immediate[i] =
            static_cast<std::uint8_t>(at < in_buf ? task.buf->data[before + at] : task.message.slot()[at - in_buf]);
    }
    if (task.buf != nullptr)
        task.buf->end_data_at(before + length);
    return DOCA_SUCCESS;
}
