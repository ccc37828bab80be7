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

unsigned access_of(std::uint32_t permissions) noexcept
{
    unsigned access = 0;
    if ((permissions & DOCA_ACCESS_RDMA_READ) != 0)
        access |= IBV_ACCESS_REMOTE_READ;
    if ((permissions & DOCA_ACCESS_RDMA_WRITE) != 0)
        access |= IBV_ACCESS_REMOTE_WRITE;
    if ((permissions & DOCA_ACCESS_RDMA_ATOMIC) != 0)
        access |= IBV_ACCESS_REMOTE_ATOMIC;
    return access;
}

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
    : QueuePair(state),
      dev_(dev),
      sends_(settings.send_queue_size),
      receives_(settings.recv_queue_size),
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
    if (const doca_error_t status = connection.create(device, sizes, access_of(settings.permissions));
        status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status =
            describe_end(device.context(), device.function(), settings, connection.number(), fresh->end_);
        status != DOCA_SUCCESS)
        return status;
    fresh->sender_ = &connection.sender();
    fresh->completions_ = &connection.completions();
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

doca_error_t VerbsQueuePair::attach(doca_workq &workq, JobQueue &owner)
{
    const doca_error_t status = events_.attach(workq);
    if (status == DOCA_SUCCESS) {
        workq_ = &workq;
        owner_ = &owner;
    }
    return status;
}

void VerbsQueuePair::detach() noexcept
{
    events_.detach();
    workq_ = nullptr;
    owner_ = nullptr;
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
    const bool is_receive = completions_->wr_id == receive_request;
    const ibv_wc_status status = completions_->status;
    if (status == IBV_WC_SUCCESS) [[likely]] {
        if (is_receive)
            end_receive();
        else
            end_send();
    }
    ReliableConnection::end_completion(*completions_);
    if (status != IBV_WC_SUCCESS) [[unlikely]]
        end_failed(is_receive, status);
    return true;
}

void VerbsQueuePair::end_send() noexcept
{
    JobSlot &slot = sends_.pop();
    const Work work = slot.payload<Work>();
    std::uint32_t length = 0;
    if (work.dst != nullptr) {
        if (!work.plan.is_list)
            work.dst->data_len = (work.plan.overwrites ? 0 : work.dst->data_len) + work.plan.length;
        else
            extend_data(*work.dst, work.plan.length, work.plan.overwrites);
        if (slot.type == DOCA_RDMA_JOB_READ)
            length = work.plan.length;
    }
    end(slot, DOCA_SUCCESS, {.length = length, .immediate = 0, .opcode = 0});
}

void VerbsQueuePair::end_receive() noexcept
{
    JobSlot &slot = receives_.pop();
    const Work work = slot.payload<Work>();
    RdmaOutcome outcome = {
        .length = ibv_wc_read_byte_len(completions_), .immediate = 0, .opcode = DOCA_RDMA_OPCODE_RECV_SEND};
    const bool is_write = ibv_wc_read_opcode(completions_) == IBV_WC_RECV_RDMA_WITH_IMM;
    if ((ibv_wc_read_wc_flags(completions_) & IBV_WC_WITH_IMM) != 0) {
        outcome.immediate = ibv_wc_read_imm_data(completions_);
        outcome.opcode =
            is_write ? DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM : DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM;
    }
    if (work.dst != nullptr && !is_write)
        extend_data(*work.dst, outcome.length, work.plan.overwrites);
    end(slot, DOCA_SUCCESS, outcome);
}

void VerbsQueuePair::end(JobSlot &slot, doca_error_t status, const RdmaOutcome &outcome) noexcept
{
    slot.payload<RdmaOutcome>() = outcome;
    workq_->complete(slot, status);
}

void VerbsQueuePair::write_outcome(const JobSlot &slot, doca_error_t result, doca_event &event)
{
    write_rdma_result(slot.payload<RdmaOutcome>(), result, event);
}

/// The first job that has failed, or was flushed, ends the connection.
void VerbsQueuePair::end_failed(bool is_receive, ibv_wc_status status) noexcept
{
    Ring &ring = is_receive ? receives_ : sends_;
    if (ring.is_empty())
        return; // of a connection that has ended
    JobSlot &slot = ring.pop();
    if (!is_connected()) {
        end(slot, DOCA_ERROR_SHUTDOWN, {});
        return;
    }
    const doca_error_t result = failure_of(slot.type, status);
    DOCA_LOG_ERR("a job of type %d has failed, which ends the connection: %s", slot.type,
                 status == IBV_WC_WR_FLUSH_ERR ? "the peer or the device has broken it"
                                               : ibv_wc_status_str(status));
    end(slot, result, {});
    fail();
}

/// Whether jobs are left whose end depends on what the peer's program does. Others end by themselves.
bool VerbsQueuePair::may_wait_forever() const noexcept
{
    return !receives_.is_empty() || sends_.any([](const JobSlot &slot) {
        return slot.type == DOCA_RDMA_JOB_SEND || slot.type == DOCA_RDMA_JOB_SEND_IMM ||
               slot.type == DOCA_RDMA_JOB_WRITE_IMM;
    });
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
    while (!sends_.is_empty())
        end(sends_.pop(), DOCA_ERROR_SHUTDOWN, {});
    while (!receives_.is_empty())
        end(receives_.pop(), DOCA_ERROR_SHUTDOWN, {});
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
