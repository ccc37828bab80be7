// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The connection, and what it does with completions. Operations are posted in queue_pair_post.cpp.
#include "queue_pair.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "../../log.hpp"
#include "../cursor.hpp"
#include "../descriptor.hpp"
#include "completion_status.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_RDMA);

namespace opendoca::verbs {

namespace {

/// Completions that one retrieve looks at.
constexpr int most_at_once = 16;

} // namespace

/// How an operation has failed. What a peer refuses has one answer for messages and another for the rest.
doca_error_t VerbsQueuePair::failure_of(Kind kind, ibv_wc_status status) noexcept
{
    switch (status) {
    case IBV_WC_WR_FLUSH_ERR:
        return DOCA_ERROR_CONNECTION_RESET; // the first one: something else has ended the connection
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
        return kind == Kind::send ? DOCA_ERROR_FULL : DOCA_ERROR_NOT_PERMITTED;
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_QP_OP_ERR: // what rdma_rxe says of a message that is too long
        if (kind == Kind::receive)
            return DOCA_ERROR_FULL;
        break;
    default:
        break;
    }
    return to_error(status);
}

VerbsQueuePair::VerbsQueuePair(const VerbsDevice &device, const QueuePairSettings &settings,
                               std::atomic<ConnectionState> &state, std::uint32_t max_chain_length)
    : QueuePair(state),
      segments_(max_chain_length),
      device_(device),
      settings_(settings),
      mtu_(settings.mtu)
{
}

ReliableConnection::Sizes sizes_for(const RdmaCapabilities &can, const QueuePairSettings &settings) noexcept
{
    std::uint64_t operations = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
                               IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    if (can.atomics)
        operations |= IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
    return {.sends = settings.send_queue_size,
            .receives = settings.recv_queue_size,
            .send_segments = can.max_chain_length,
            .receive_segments = settings.recv_chain_length,
            .send_operations = operations};
}

doca_error_t VerbsQueuePair::create(const VerbsDevice &device, const QueuePairSettings &settings,
                                    std::atomic<ConnectionState> &state, std::unique_ptr<QueuePair> &created)
{
    const RdmaCapabilities &can = device.port().can.rdma;
    std::unique_ptr<VerbsQueuePair> fresh(new VerbsQueuePair(device, settings, state, can.max_chain_length));
    ReliableConnection &connection = fresh->connection_;
    if (const doca_error_t status =
            connection.create(device, sizes_for(can, settings), remote_access(settings.permissions));
        status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status =
            describe_end(device.context(), device.port(), settings, connection.number(), fresh->end_);
        status != DOCA_SUCCESS)
        return status;
    fresh->details_ = to_bytes(DescriptorKind::verbs_connection, fresh->end_.details);
    fresh->sender_ = &connection.sender();
    fresh->queue_pair_ = &connection.queue_pair();
    fresh->max_inline_ = connection.max_inline();
    created = std::move(fresh);
    return DOCA_SUCCESS;
}

doca_error_t VerbsQueuePair::connect(std::span<const std::byte> details)
{
    ConnectionDetails peer{};
    if (const doca_error_t status = read_details(details, peer); status != DOCA_SUCCESS)
        return status;
    const std::vector<ReliableConnection::Path> paths = find_paths(end_, peer, settings_);
    // The kernel waits a second for the peer's link-layer address: on a link that loses packets once is not enough.
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(peer_patience());
    int error = 0;
    bool again = true;
    while (again) {
        again = false;
        for (const ReliableConnection::Path &path : paths) {
            error = connection_.connect(path);
            if (error == 0) {
                if (!settings_.is_mtu_fixed)
                    mtu_ = mtu_of(path.mtu);
                // Last: from now on the completion queue's thread may submit.
                set_state(ConnectionState::connected);
                return DOCA_SUCCESS;
            }
            again |= error == ETIMEDOUT && std::chrono::steady_clock::now() < end;
        }
    }
    if (error != 0)
        LOG_ERR("connecting to queue pair 0x%x of the peer: %s", peer.queue_pair, std::strerror(error));
    else
        LOG_ERR("there is no way to the peer: %u and %u GIDs, link layers %s and %s",
                     end_.details.num_gids, peer.num_gids,
                     end_.details.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand",
                     peer.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand");
    return DOCA_ERROR_CONNECTION_ABORTED;
}

doca_error_t VerbsQueuePair::attach(CompletionQueue &completions)
{
    if (const doca_error_t status = events_.attach(completions); status != DOCA_SUCCESS)
        return status;
    completions.reserve_polled();
    completions.poll_also(*this);
    completions_ = &completions;
    return DOCA_SUCCESS;
}

void VerbsQueuePair::detach() noexcept
{
    if (completions_ == nullptr)
        return;
    events_.detach();
    completions_->poll_no_more(*this);
    completions_->unreserve_polled();
    completions_ = nullptr;
}

/// What the completion that was started says of its receive. @p dst becomes null if nothing came into it.
[[gnu::always_inline]] inline Result VerbsQueuePair::result_of_receive(doca_buf *&dst) const noexcept
{
    Result result = {.length = ibv_wc_read_byte_len(polled_), .immediate = 0, .received = Received::send};
    if ((ibv_wc_read_wc_flags(polled_) & IBV_WC_WITH_IMM) == 0)
        return result;
    result.immediate = ibv_wc_read_imm_data(polled_);
    result.received = Received::send_with_immediate;
    if (ibv_wc_read_opcode(polled_) == IBV_WC_RECV_RDMA_WITH_IMM) {
        result.received = Received::write_with_immediate;
        dst = nullptr;
    }
    return result;
}

/// A plain operation that has ended well goes right to the front end.
Operation *VerbsQueuePair::poll_one() noexcept
{
    Operation *ended = nullptr;
    const auto give = [&](Operation &operation, std::uint32_t length) {
        operation.length = length;
        operation.message = {0, Received::send};
        ended = &operation;
    };
    (void)poll_plain(give, [] { return DOCA_ERROR_AGAIN; });
    return ended;
}

/// Nothing has ended.
void VerbsQueuePair::polled_nothing() noexcept
{
    if (!is_idle())
        count_empty_poll();
}

void VerbsQueuePair::progress() noexcept
{
    int left = most_at_once;
    while (left != 0 && !is_idle() && poll())
        --left;
    if (left == most_at_once)
        count_empty_poll();
}

/// Ends the operation that the next completion is of. False when there is none.
bool VerbsQueuePair::poll() noexcept
{
    if (!ReliableConnection::start_completion(*polled_))
        return false;
    end_started();
    return true;
}

/// Ends the operation of the completion that was started.
void VerbsQueuePair::end_started() noexcept
{
    Operation &operation = operation_of(polled_->wr_id);
    if (const ibv_wc_status status = polled_->status; status != IBV_WC_SUCCESS) [[unlikely]] {
        ReliableConnection::end_completion(*polled_);
        end_failed(operation, status);
        return;
    }
    const Work work = operation.payload<Work>();
    doca_buf *dst = work.dst;
    Result result = {.length = operation.length};
    std::uint32_t growth = work.growth;
    if (work.kind == Kind::receive) {
        result = result_of_receive(dst);
        growth = result.length;
    }
    ReliableConnection::end_completion(*polled_);
    if (dst == nullptr)
        ;
    else if (work.shape != Shape::any)
        dst->end_data_at(dst->data_len + growth);
    else if (work.is_list)
        extend_data(*dst, growth, work.overwrites);
    else
        dst->end_data_at((work.overwrites ? 0 : dst->data_len) + growth);
    end(operation, DOCA_SUCCESS, result);
}

void VerbsQueuePair::end(Operation &operation, doca_error_t status, const Result &result) noexcept
{
    ++(operation.payload<Work>().kind == Kind::receive ? receive_credits_ : send_credits_);
    completions_->done(operation, status, result);
}

/// The first operation that has failed, or was flushed, ends the connection.
void VerbsQueuePair::end_failed(Operation &operation, ibv_wc_status status) noexcept
{
    if (!is_connected()) {
        end(operation, DOCA_ERROR_SHUTDOWN, {});
        return;
    }
    const Kind kind = operation.payload<Work>().kind;
    LOG_ERR("an operation of kind %d has failed, which ends the connection: %s", static_cast<int>(kind),
            status == IBV_WC_WR_FLUSH_ERR ? "the peer or the device has broken it" : ibv_wc_status_str(status));
    end(operation, failure_of(kind, status), {});
    fail();
}

/// Calls @p action with the operations that have not ended.
template <typename Action>
void VerbsQueuePair::each_in_flight(Action action) const noexcept
{
    completions_->each_operation_of(*this, [&](Operation &operation) {
        if (operation.status == Operation::in_flight)
            action(operation);
    });
}

/// Whether operations are left whose end depends on what the peer's program does. Others end by themselves, unless the
/// device has lost their completions.
bool VerbsQueuePair::may_wait_forever() noexcept
{
    const std::int32_t num_left = credits_ - send_credits_ - receive_credits_;
    bool may = num_left != 0 && flush_timer_.has_expired(static_cast<std::uint32_t>(num_left));
    each_in_flight([&](const Operation &operation) {
        const Kind kind = operation.payload<Work>().kind;
        may = may || kind == Kind::receive || kind == Kind::send || kind == Kind::write_with_immediate;
    });
    return may;
}

/// Ends the connection where the device tells that there will be no completions.
void VerbsQueuePair::look_for_trouble() noexcept
{
    polls_until_look_ = polls_between_looks;
    const Trouble trouble = connection_.look_for_trouble();
    if (trouble == Trouble::none)
        return;
    if (trouble == Trouble::fatal) {
        events_.ignore_trouble();
        fail(DOCA_ERROR_IO_FAILED); // DeviceEvents has said why
        return;
    }
    while (!is_idle() && poll()) // most often the failure is among the completions
        ;
    if (connection_.is_broken() && is_connected()) {
        LOG_ERR("the device tells that queue pair 0x%x is broken, which ends the connection", connection_.number());
        fail(DOCA_ERROR_CONNECTION_RESET);
    }
}

/// The connection ends here. What the device has done before still counts; all else ends with @p status.
void VerbsQueuePair::fail(doca_error_t status) noexcept
{
    if (!is_connected())
        return;
    set_state(ConnectionState::failed);
    connection_.disconnect();
    while (!is_idle() && poll())
        ;
    // Not every device flushes everything: rdma_rxe leaves receives that were posted after the error.
    each_in_flight([&](Operation &operation) { end(operation, status, {}); });
    send_credits_ = receive_credits_ = credits_ = 0;
    polled_ = nullptr;
}

void VerbsQueuePair::flush() noexcept
{
    progress();
    look_for_trouble();
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
    look_for_trouble(); // it may be what the program was woken for
}

} // namespace opendoca::verbs
