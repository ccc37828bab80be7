// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The connection, and what it does with completions. Jobs are posted in queue_pair_jobs.cpp.
#include "queue_pair.hpp"

#include <cstring>

#include <doca_log.h>

#include "../cursor.hpp"
#include "completion_status.hpp"

DOCA_LOG_REGISTER(DOCA_VERBS_RDMA);

namespace opendoca::verbs {

namespace {

/// Completions that one retrieve looks at.
constexpr int most_at_once = 16;

/// How a job has failed. What a peer refuses has one answer for messages and another for the rest.
doca_error_t failure_of(int type, ibv_wc_status status) noexcept
{
    switch (status) {
    case IBV_WC_WR_FLUSH_ERR:
        return DOCA_ERROR_CONNECTION_RESET; // the first one: something else has ended the connection
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
        return type == DOCA_RDMA_JOB_SEND || type == DOCA_RDMA_JOB_SEND_IMM ? DOCA_ERROR_FULL
                                                                            : DOCA_ERROR_NOT_PERMITTED;
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_QP_OP_ERR: // what rdma_rxe says of a message that is too long
        if (type == DOCA_RDMA_JOB_RECV)
            return DOCA_ERROR_FULL;
        break;
    default:
        break;
    }
    return to_error(status);
}

} // namespace

VerbsQueuePair::VerbsQueuePair(const doca_dev &dev, const QueuePairSettings &settings,
                               std::atomic<doca_rdma_state> &state, std::uint32_t max_chain_length)
    : QueuePair(dev, settings, state),
      segments_(max_chain_length),
      settings_(settings),
      mtu_(settings.mtu)
{
}

doca_error_t VerbsQueuePair::create(const VerbsDevice &device, const doca_dev &dev,
                                    const QueuePairSettings &settings, std::atomic<doca_rdma_state> &state,
                                    std::unique_ptr<QueuePair> &created)
{
    const RdmaCapabilities &can = device.function().can.rdma;
    std::unique_ptr<VerbsQueuePair> fresh(new VerbsQueuePair(dev, settings, state, can.max_chain_length));
    std::uint64_t operations = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
                               IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    if (can.atomics)
        operations |= IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
    const ReliableConnection::Sizes sizes = {.sends = settings.send_queue_size,
                                             .receives = settings.recv_queue_size,
                                             .send_segments = can.max_chain_length,
                                             .receive_segments = settings.recv_chain_length,
                                             .send_operations = operations};
    ReliableConnection &connection = fresh->connection_;
    if (const doca_error_t status = connection.create(device, sizes, remote_access(settings.permissions));
        status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status =
            describe_end(device.context(), device.function(), settings, connection.number(), fresh->end_);
        status != DOCA_SUCCESS)
        return status;
    fresh->sender_ = &connection.sender();
    fresh->completions_ = &connection.completions();
    fresh->queue_pair_ = &connection.queue_pair();
    fresh->max_inline_ = connection.max_inline();
    created = std::move(fresh);
    return DOCA_SUCCESS;
}

doca_error_t VerbsQueuePair::connect(std::span<const std::byte> details)
{
    ConnectionDetails peer;
    if (const doca_error_t status = read_details(details, peer); status != DOCA_SUCCESS)
        return status;
    int error = 0;
    for (const ReliableConnection::Path &path : find_paths(end_, peer, settings_)) {
        error = connection_.connect(path);
        if (error != 0)
            continue;
        if (!settings_.is_mtu_fixed)
            mtu_ = mtu_of(path.mtu);
        // Last: from now on the work queue's thread may submit jobs.
        set_state(DOCA_RDMA_STATE_CONNECTED);
        return DOCA_SUCCESS;
    }
    if (error != 0)
        DOCA_LOG_ERR("connecting to queue pair 0x%x of the peer: %s", peer.queue_pair, std::strerror(error));
    else
        DOCA_LOG_ERR("there is no way to the peer: %u and %u GIDs, link layers %s and %s",
                     end_.details.num_gids, peer.num_gids,
                     end_.details.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand",
                     peer.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand");
    return DOCA_ERROR_CONNECTION_ABORTED;
}

doca_error_t VerbsQueuePair::attach(doca_workq &workq)
{
    const doca_error_t status = events_.attach(workq);
    if (status == DOCA_SUCCESS)
        workq_ = &workq;
    return status;
}

void VerbsQueuePair::detach() noexcept
{
    events_.detach();
    workq_ = nullptr;
}

/// What the completion that was started says of its receive. @p dst becomes null if nothing came into it.
[[gnu::always_inline]] inline RdmaOutcome VerbsQueuePair::outcome_of_receive(doca_buf *&dst) const noexcept
{
    RdmaOutcome outcome = {
        .length = ibv_wc_read_byte_len(completions_), .immediate = 0, .opcode = DOCA_RDMA_OPCODE_RECV_SEND};
    if ((ibv_wc_read_wc_flags(completions_) & IBV_WC_WITH_IMM) == 0)
        return outcome;
    outcome.immediate = ibv_wc_read_imm_data(completions_);
    outcome.opcode = DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM;
    if (ibv_wc_read_opcode(completions_) == IBV_WC_RECV_RDMA_WITH_IMM) {
        outcome.opcode = DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM;
        dst = nullptr;
    }
    return outcome;
}

[[gnu::always_inline]] inline doca_error_t VerbsQueuePair::give_out(JobSlot &slot, const RdmaOutcome &outcome,
                                                                    doca_event &event) noexcept
{
    event.type = slot.type;
    event.user_data = slot.user_data;
    write_rdma_result(outcome, DOCA_SUCCESS, event);
    workq_->release(slot);
    return DOCA_SUCCESS;
}

/// A plain job that has ended well goes right to the program.
doca_error_t VerbsQueuePair::retrieve(doca_event &event, doca_workq &workq) noexcept
{
    if (!has_jobs() || !ReliableConnection::start_completion(*completions_))
        return workq.give_waiting(event);
    JobSlot &slot = slot_of(completions_->wr_id);
    const Work &work = slot.payload<Work>();
    if (completions_->status != IBV_WC_SUCCESS) [[unlikely]]
        return retrieve_special(event);
    if (work.stage != Stage::plain_send)
        return retrieve_receive(event, slot);
    ReliableConnection::end_completion(*completions_);
    ++send_room_;
    if (work.dst != nullptr)
        work.dst->data_len += work.growth;
    return give_out(slot, {.length = work.outcome.length, .immediate = 0, .opcode = 0}, event);
}

/// The same for a receive, which has ended well and whose completion was started.
[[gnu::noinline]] doca_error_t VerbsQueuePair::retrieve_receive(doca_event &event, JobSlot &slot) noexcept
{
    Work &work = slot.payload<Work>();
    if (work.stage != Stage::plain_receive || (ibv_wc_read_wc_flags(completions_) & IBV_WC_WITH_IMM) != 0)
        [[unlikely]]
        return retrieve_special(event);
    work.outcome.length = ibv_wc_read_byte_len(completions_);
    ReliableConnection::end_completion(*completions_);
    ++receive_room_;
    const std::uint32_t length = work.outcome.length;
    work.dst->data_len += length;
    return give_out(slot, {.length = length, .immediate = 0, .opcode = DOCA_RDMA_OPCODE_RECV_SEND}, event);
}

/// A job whose completion was started becomes a completion of the work queue first.
doca_error_t VerbsQueuePair::retrieve_special(doca_event &event) noexcept
{
    end_started();
    return workq_->give_waiting(event);
}

void VerbsQueuePair::progress() noexcept
{
    for (int left = most_at_once; left != 0 && has_jobs() && poll(); --left)
        ;
}

/// Ends the job that the next completion is of. False when there is none.
bool VerbsQueuePair::poll() noexcept
{
    if (!ReliableConnection::start_completion(*completions_))
        return false;
    end_started();
    return true;
}

/// Ends the job of the completion that was started.
void VerbsQueuePair::end_started() noexcept
{
    JobSlot &slot = slot_of(completions_->wr_id);
    if (const ibv_wc_status status = completions_->status; status != IBV_WC_SUCCESS) [[unlikely]] {
        ReliableConnection::end_completion(*completions_);
        end_failed(slot, status);
        return;
    }
    const Work &work = slot.payload<Work>();
    doca_buf *dst = work.dst;
    RdmaOutcome outcome = {.length = work.outcome.length, .immediate = 0, .opcode = 0};
    std::uint32_t growth = work.growth;
    if (slot.type == DOCA_RDMA_JOB_RECV) {
        outcome = outcome_of_receive(dst);
        growth = outcome.length;
    }
    ReliableConnection::end_completion(*completions_);
    if (dst == nullptr)
        ;
    else if (work.stage != Stage::special)
        dst->data_len += growth;
    else if (work.is_list)
        extend_data(*dst, growth, work.overwrites);
    else
        dst->data_len = (work.overwrites ? 0 : dst->data_len) + growth;
    end(slot, DOCA_SUCCESS, outcome);
}

void VerbsQueuePair::end(JobSlot &slot, doca_error_t status, const RdmaOutcome &outcome) noexcept
{
    ++(slot.type == DOCA_RDMA_JOB_RECV ? receive_room_ : send_room_);
    Work &work = slot.payload<Work>();
    if (work.stage != Stage::special)
        slot.write_result = write_outcome;
    work.stage = Stage::ended;
    work.outcome = outcome;
    workq_->complete(slot, status);
}

void VerbsQueuePair::write_outcome(const JobSlot &slot, doca_error_t result, doca_event &event)
{
    write_rdma_result(slot.payload<Work>().outcome, result, event);
}

/// The first job that has failed, or was flushed, ends the connection.
void VerbsQueuePair::end_failed(JobSlot &slot, ibv_wc_status status) noexcept
{
    if (!is_connected()) {
        end(slot, DOCA_ERROR_SHUTDOWN, {});
        return;
    }
    DOCA_LOG_ERR("a job of type %d has failed, which ends the connection: %s", slot.type,
                 status == IBV_WC_WR_FLUSH_ERR ? "the peer or the device has broken it"
                                               : ibv_wc_status_str(status));
    end(slot, failure_of(slot.type, status), {});
    fail();
}

/// Calls @p action with the slots of jobs that have not ended.
template <typename Action>
void VerbsQueuePair::each_in_flight(Action action) const noexcept
{
    workq_->each_slot_of(*this, [&](JobSlot &slot) {
        if (slot.payload<Work>().stage != Stage::ended)
            action(slot);
    });
}

/// Whether jobs are left whose end depends on what the peer's program does. Others end by themselves.
bool VerbsQueuePair::may_wait_forever() const noexcept
{
    bool may = false;
    each_in_flight([&](const JobSlot &slot) {
        may = may || slot.type == DOCA_RDMA_JOB_RECV || slot.type == DOCA_RDMA_JOB_SEND ||
              slot.type == DOCA_RDMA_JOB_SEND_IMM || slot.type == DOCA_RDMA_JOB_WRITE_IMM;
    });
    return may;
}

/// The connection ends here. What the device has done before still counts.
void VerbsQueuePair::fail() noexcept
{
    if (!is_connected())
        return;
    set_state(DOCA_RDMA_STATE_ERROR);
    connection_.disconnect();
    while (has_jobs() && poll())
        ;
    // Not every device flushes everything: rdma_rxe leaves receives that were posted after the error.
    each_in_flight([this](JobSlot &slot) { end(slot, DOCA_ERROR_SHUTDOWN, {}); });
    send_room_ = receive_room_ = room_ = 0;
}

void VerbsQueuePair::cancel() noexcept
{
    progress();
    if (is_connected() && may_wait_forever())
        fail();
}

bool VerbsQueuePair::arm() noexcept
{
    if (!events_.arm(false))
        return true; // which makes the program look
    progress();      // what has come before the request is not announced
    return false;
}

void VerbsQueuePair::disarm() noexcept
{
    events_.disarm();
}

} // namespace opendoca::verbs
