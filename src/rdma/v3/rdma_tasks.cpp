// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The pools of tasks: a submit translates a task to a request and posts it to the queue pair of its connection. An
// invalid task is not refused: it completes with an error, as one that the device refuses does, so that programs have
// one place to handle errors.
#include "rdma_tasks.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "../../core/checks/transfer_check.hpp"
#include "../../core/log/log.hpp"
#include "rdma.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_TASKS);

namespace opendoca::v3 {

namespace {

/// Returns the check of operations with the limits of @p dev and the list lengths that the program has set.
TransferCheck check_of(const doca_rdma &rdma, const doca_dev &dev)
{
    const RdmaCapabilities &can = rdma.can();
    return TransferCheck(dev.device(), {can.max_message_size, std::min(can.max_chain_length, rdma.max_send_list),
                                        rdma.settings.recv_chain_length, can.atomics});
}

/// The base of the pools of one instance: validation, and what happens to a task that cannot be posted. Owned by its
/// TaskType from the start to the next one; used by the thread of the progress engine.
template <typename Task>
class RdmaPool : public PoolOf<Task> {
public:
    RdmaPool(doca_rdma &rdma, const TaskConf &configuration, const doca_dev &dev, bool with_results)
        : PoolOf<Task>(rdma, configuration, with_results, true),
          rdma_(rdma),
          check_(check_of(rdma, dev))
    {
    }

protected:
    /// Converts @p status of an attempt to post @p task to the result of a submit. NO_MEMORY, a full send queue,
    /// becomes AGAIN: the program may retry. Any other error becomes the completion of the task.
    [[nodiscard]] doca_error_t finish_submit(doca_task &task, doca_error_t status) noexcept
    {
        if (status == DOCA_SUCCESS) [[likely]]
            return DOCA_SUCCESS;
        if (status == DOCA_ERROR_NO_MEMORY)
            return DOCA_ERROR_AGAIN;
        rdma_.completions().done(task.tag(), rdma_.failures(), status);
        return DOCA_SUCCESS;
    }
    /// The same on the fast path, which has marked the task as submitted: before AGAIN is returned, that is undone.
    [[nodiscard]] doca_error_t finish_fast_submit(doca_task &task, doca_error_t status) noexcept
    {
        if (status == DOCA_SUCCESS) [[likely]]
            return DOCA_SUCCESS;
        status = finish_submit(task, status);
        return status == DOCA_SUCCESS ? status : this->undo_submit(task, status);
    }

    /// Returns INVALID_VALUE, after a log line, if @p connection is null or belongs to another instance.
    [[nodiscard]] doca_error_t check_connection(const doca_rdma_connection *connection) const noexcept
    {
        if (connection != nullptr && &connection->rdma == &rdma_)
            return DOCA_SUCCESS;
        LOG_ERR("connection %p does not belong to the instance of the task", static_cast<const void *>(connection));
        return DOCA_ERROR_INVALID_VALUE;
    }

    doca_rdma &rdma_;
    const TransferCheck check_; ///< of all connections, which have the same device and settings
};

/// Tasks that are posted to the send queue of a connection. @p opcode is a constant, so that each type of tasks has a
/// submit of its own without a branch on the opcode.
template <typename Task, Opcode opcode>
class SendPool : public RdmaPool<Task> {
public:
    SendPool(doca_rdma &rdma, const TaskConf &configuration, const doca_dev &dev)
        : RdmaPool<Task>(rdma, configuration, dev, false)
    {
    }

    [[nodiscard]] doca_error_t submit(doca_task &task) noexcept override
    {
        return this->finish_fast_submit(task, post_task(static_cast<Task &>(task)));
    }
    [[nodiscard]] doca_error_t submit_off_fast_path(doca_task &task) noexcept override
    {
        return this->finish_submit(task, post_task(static_cast<Task &>(task)));
    }
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        // Like a submit, but without the state of the connection, which may change until then.
        const auto &task = static_cast<const Task &>(base);
        Request request;
        describe(task, request);
        const doca_error_t status = this->check_connection(task.connection);
        return status == DOCA_SUCCESS ? this->check_.check(request) : status;
    }

private:
    /// Logs why @p task cannot be posted, and returns the status with which it completes: INVALID_VALUE without a
    /// connection, SHUTDOWN if the connection has ended, NOT_CONNECTED if it is not connected yet.
    [[gnu::cold]] [[nodiscard]] static doca_error_t refuse(const Task &task) noexcept
    {
        if (task.connection == nullptr) {
            LOG_ERR("task %p has no connection", static_cast<const void *>(&task));
            return DOCA_ERROR_INVALID_VALUE;
        }
        const bool has_ended = task.connection->state == doca_rdma_connection::State::ended ||
                               task.connection->queue_pair_state == ConnectionState::failed;
        LOG_ERR("connection %u of task %p %s", task.connection->id, static_cast<const void *>(&task),
                has_ended ? "has ended" : "is not connected yet");
        return has_ended ? DOCA_ERROR_SHUTDOWN : DOCA_ERROR_NOT_CONNECTED;
    }

    /// Sets the opcode, and the operands that the opcode has, from the fields of @p task.
    [[gnu::always_inline]] static void describe(const Task &task, Request &request) noexcept
    {
        request.opcode = opcode;
        if constexpr (is_atomic(opcode)) {
            request.local = task.result;
            request.remote = task.dst;
            request.operand = task.operand;
            request.compare = task.compare;
        } else {
            auto *const src = const_cast<doca_buf *>(task.src);
            request.local = opcode == Opcode::read ? task.dst : src;
            request.remote = opcode == Opcode::read ? src : is_write(opcode) ? task.dst : nullptr;
            request.immediate = has_immediate(opcode) ? task.immediate : 0;
        }
    }
    /// Validates and posts a task, if its connection is connected. Most tasks pass check_fast(), which is inlined.
    [[gnu::always_inline]] [[nodiscard]] doca_error_t post_task(Task &task) noexcept
    {
        if (task.connection == nullptr || !task.connection->can_submit()) [[unlikely]]
            return refuse(task);
        Request request;
        describe(task, request);
        return this->check_.check_fast(request) ? post(task, request) : post_checked(task, request);
    }
    /// check() decides about the other tasks, and logs what is invalid. Not inlined, so that the fast path saves fewer
    /// registers.
    [[gnu::noinline]] [[nodiscard]] doca_error_t post_checked(Task &task, Request &request) noexcept
    {
        const doca_error_t status = this->check_.check(request);
        return status == DOCA_SUCCESS ? post(task, request) : status;
    }
    [[gnu::always_inline]] [[nodiscard]] static doca_error_t post(Task &task, const Request &request) noexcept
    {
        if constexpr (opcode == Opcode::read)
            task.result_length = request.plan.length; // valid if it succeeds: a read moves all bytes or fails
        return task.connection->queue_pair->post(task.tag(), request);
    }
};

/// Tasks on the counter of another node's sync event: reads, writes and additions of one 64-bit word. The remote
/// buffer is set at each submit, since the program can set another event in between.
template <typename Task, Opcode opcode>
class EventPool final : public SendPool<Task, opcode> {
public:
    using SendPool<Task, opcode>::SendPool;

    [[nodiscard]] doca_error_t submit(doca_task &task) noexcept override
    {
        set_counter(static_cast<Task &>(task));
        return SendPool<Task, opcode>::submit(task);
    }
    [[nodiscard]] doca_error_t submit_off_fast_path(doca_task &task) noexcept override
    {
        set_counter(static_cast<Task &>(task));
        return SendPool<Task, opcode>::submit_off_fast_path(task);
    }
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        const auto &task = static_cast<const Task &>(base);
        // The buffer of the counter does not exist before the submit, so only the event and the connection are checked.
        if (task.event == nullptr) {
            LOG_ERR("task %p has no sync event", static_cast<const void *>(&base));
            return DOCA_ERROR_INVALID_VALUE;
        }
        return this->check_connection(task.connection);
    }

private:
    /// Makes the counter the remote buffer of @p task.
    static void set_counter(Task &task) noexcept
    {
        if constexpr (opcode == Opcode::read)
            task.src = task.counter(sizeof(std::uint64_t));
        else
            task.dst = task.counter(opcode == Opcode::write ? 0 : sizeof(std::uint64_t));
    }
};

/// Receive tasks, which belong to no connection: they are posted to the receives of the instance, which its
/// connections share.
class ReceivePool final : public RdmaPool<doca_rdma_task_receive> {
public:
    ReceivePool(doca_rdma &rdma, const TaskConf &configuration, const doca_dev &dev)
        : RdmaPool(rdma, configuration, dev, true)
    {
    }

    [[nodiscard]] doca_error_t submit(doca_task &task) noexcept override
    {
        return finish_fast_submit(task, post_task(static_cast<doca_rdma_task_receive &>(task)));
    }
    [[nodiscard]] doca_error_t submit_off_fast_path(doca_task &task) noexcept override
    {
        return finish_submit(task, post_task(static_cast<doca_rdma_task_receive &>(task)));
    }
    [[nodiscard]] doca_error_t check(const doca_task &base) const noexcept override
    {
        TransferPlan plan{};
        return check_.receive(static_cast<const doca_rdma_task_receive &>(base).dst, plan);
    }
    doca_error_t set_result(doca_task &base, const Ended &ended) noexcept override
    {
        // The source of the completion is the queue pair by which the message arrived.
        auto &task = static_cast<doca_rdma_task_receive &>(base);
        task.connection = static_cast<doca_rdma_connection *>(ended.source->owner);
        // Before the callback of the task: the established callback of the connection, if that is pending.
        rdma_.handle_message(*task.connection);
        task.result_length = ended.result.length;
        task.received = ended.result.received;
        task.immediate = ended.result.immediate;
        return DOCA_SUCCESS;
    }

private:
    /// Posts a receive. One buffer of a map in which this device is the first takes the short path.
    [[gnu::always_inline]] [[nodiscard]] doca_error_t post_task(doca_rdma_task_receive &task) noexcept
    {
        task.connection = nullptr;
        return check_.is_fast_receive(task.dst) ? post(task, TransferPlan::single_sge(task.dst->tailroom()))
                                                : post_checked(task);
    }
    /// Posts a receive that needs the full check: a list, an unusual buffer, or an invalid one. Not inlined, to keep
    /// the short path without a stack frame.
    [[gnu::noinline]] [[nodiscard]] doca_error_t post_checked(doca_rdma_task_receive &task) noexcept
    {
        TransferPlan plan{};
        const doca_error_t status = check_.receive(task.dst, plan);
        return status == DOCA_SUCCESS ? post(task, plan) : status;
    }
    [[nodiscard]] doca_error_t post(doca_rdma_task_receive &task, TransferPlan plan) noexcept
    {
        return rdma_.receives().receive(task.tag(), task.dst, plan);
    }
};

/// Creates the pool of one type of send tasks, if the program uses that type.
template <Opcode opcode, typename Task, typename Callback>
void create_pool(doca_rdma &rdma, const doca_dev &dev, TaskType<Task, Callback> &type)
{
    if (type.is_configured())
        type.set_pool(std::make_unique<SendPool<Task, opcode>>(rdma, type.conf(), dev));
}

/// The same for tasks on sync events.
template <Opcode opcode, typename Task, typename Callback>
void create_event_pool(doca_rdma &rdma, const doca_dev &dev, TaskType<Task, Callback> &type)
{
    if (type.is_configured())
        type.set_pool(std::make_unique<EventPool<Task, opcode>>(rdma, type.conf(), dev));
}

} // namespace

void create_rdma_pools(doca_rdma &rdma, const doca_dev &dev)
{
    if (rdma.receive.is_configured())
        rdma.receive.set_pool(std::make_unique<ReceivePool>(rdma, rdma.receive.conf(), dev));
    create_pool<Opcode::send>(rdma, dev, rdma.send);
    create_pool<Opcode::send_with_immediate>(rdma, dev, rdma.send_imm);
    create_pool<Opcode::read>(rdma, dev, rdma.read);
    create_pool<Opcode::write>(rdma, dev, rdma.write);
    create_pool<Opcode::write_with_immediate>(rdma, dev, rdma.write_imm);
    create_pool<Opcode::compare_and_swap>(rdma, dev, rdma.compare_and_swap);
    create_pool<Opcode::fetch_and_add>(rdma, dev, rdma.fetch_and_add);
    create_event_pool<Opcode::read>(rdma, dev, rdma.event_get);
    create_event_pool<Opcode::write>(rdma, dev, rdma.event_set);
    create_event_pool<Opcode::fetch_and_add>(rdma, dev, rdma.event_add);
}

} // namespace opendoca::v3
