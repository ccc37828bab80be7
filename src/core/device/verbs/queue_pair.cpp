// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Connecting, processing of completions, and at the end conversion of operations into work requests.
#include "queue_pair.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <vector>

#include "../../log/log.hpp"
#include "../../objects/mmap.hpp"
#include "../cursor.hpp"
#include "../descriptor.hpp"
#include "../host/peer_timeout.hpp"
#include "completion_status.hpp"
#include "segments.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_RDMA);

namespace opendoca::verbs {

namespace {

constexpr std::uint32_t word_size = 8; ///< bytes of an atomic operation

/// Returns the buffer whose data section grows by this operation: the remote one of a WRITE, the local one (or list) of
/// a READ. Null for sends, and for atomics, whose result overwrites 8 bytes of existing data.
doca_buf *destination_of(Opcode opcode, const Request &request) noexcept
{
    return is_write(opcode) ? request.remote : opcode == Opcode::read ? request.local : nullptr;
}

} // namespace

/// Returns the error of an operation that has failed first. Rejection by the peer has different meanings for messages
/// and for other operations.
doca_error_t VerbsQueuePair::failure_of(Opcode opcode, ibv_wc_status status) noexcept
{
    switch (status) {
    case IBV_WC_WR_FLUSH_ERR:
        // The first operation to fail was flushed: something else has ended the connection.
        return DOCA_ERROR_CONNECTION_RESET;
    // The peer has rejected the request: for a send, because its receive is too small.
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
        return opcode == Opcode::send || opcode == Opcode::send_with_immediate ? DOCA_ERROR_FULL
                                                                               : DOCA_ERROR_NOT_PERMITTED;
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_QP_OP_ERR: // rdma_rxe's status for a message that is too long
        if (opcode == Opcode::receive)
            return DOCA_ERROR_FULL;
        break;
    default:
        break;
    }
    return to_error(status);
}

VerbsQueuePair::VerbsQueuePair(const VerbsDevice &device, const QueuePairSettings &settings,
                               std::atomic<ConnectionState> &state)
    : QueuePair(state),
      segments_(device.port().can.rdma.max_chain_length),
      srq_(static_cast<VerbsReceiveQueue *>(settings.shared_receives)),
      device_(device),
      settings_(settings),
      sizes_(sizes_for(device.port().can.rdma, settings)),
      mtu_(settings.mtu)
{
}

ReliableConnection::Sizes sizes_for(const RdmaCapabilities &can, const QueuePairSettings &settings) noexcept
{
    std::uint64_t operations = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
                               IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    if (can.atomics)
        operations |= IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
    const auto *const shared = static_cast<const VerbsReceiveQueue *>(settings.shared_receives);
    return {.sends = settings.send_queue_size,
            .receives = shared != nullptr ? shared->size() : settings.recv_queue_size,
            .send_segments = settings.send_chain_length != 0 ? settings.send_chain_length : can.max_chain_length,
            .receive_segments = settings.recv_chain_length,
            .send_operations = operations,
            .shared_receives = shared != nullptr ? shared->queue() : nullptr};
}

doca_error_t VerbsQueuePair::create(const VerbsDevice &device, const QueuePairSettings &settings,
                                    std::atomic<ConnectionState> &state, std::unique_ptr<QueuePair> &created)
{
    std::unique_ptr<VerbsQueuePair> fresh(new VerbsQueuePair(device, settings, state));
    const std::uint32_t size = fresh->sizes_.num_requests();
    std::shared_ptr<ConnectionPoller> poller;
    doca_error_t status = settings.completions != nullptr
                              ? ConnectionPoller::find_or_create(device, *settings.completions, size, poller)
                              : ConnectionPoller::create_own(device, size, poller);
    if (status == DOCA_SUCCESS)
        status = fresh->create_on(std::move(poller));
    if (status == DOCA_SUCCESS)
        created = std::move(fresh);
    return status;
}

/// Blocks while another thread is in connect(), for at most one attempt. In a forked child the other thread does not
/// exist, so there is nothing to wait for.
VerbsQueuePair::~VerbsQueuePair()
{
    {
        std::unique_lock<std::mutex> guard(lock_);
        is_closing_ = true;
        connect_finished_.wait(guard, [this] { return !is_connecting_ || !creator_.is_current(); });
    }
    detach();
    if (connection_ != nullptr)
        poller_->destroy(std::move(connection_));
}

/// Creates the verbs queue pair on @p poller and replaces the current one. On failure nothing changes.
doca_error_t VerbsQueuePair::create_on(std::shared_ptr<ConnectionPoller> poller)
{
    std::unique_ptr<ReliableConnection> connection;
    doca_error_t status = poller->create(sizes_, remote_access(settings_.permissions), connection);
    LocalEnd end{};
    if (status == DOCA_SUCCESS)
        status = describe_end(device_.context(), device_.port(), settings_, connection->number(), end);
    if (status != DOCA_SUCCESS) {
        if (connection != nullptr)
            poller->destroy(std::move(connection));
        return status;
    }
    // Nothing can fail after this point. The replaced queue pair is destroyed last, by the poller that it was created
    // on.
    details_ = to_bytes(DescriptorKind::verbs_connection, end.details);
    end_ = end;
    sender_ = &connection->sender();
    queue_pair_ = &connection->queue_pair();
    max_inline_ = connection->max_inline();
    std::swap(connection_, connection);
    std::swap(poller_, poller);
    if (connection != nullptr)
        poller->destroy(std::move(connection));
    return DOCA_SUCCESS;
}

/// Returns the details, which from now on a peer may have: the verbs queue pair, and with it the number in them, stays.
std::span<const std::byte> VerbsQueuePair::details() const noexcept
{
    const std::lock_guard guard(lock_);
    is_number_published_ = true;
    return details_;
}

doca_error_t VerbsQueuePair::connect(std::span<const std::byte> details)
{
    ConnectionDetails peer{};
    if (const doca_error_t status = read_details(details, peer); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = begin_to_connect(); status != DOCA_SUCCESS)
        return status;
    // Clears is_connecting_ on every return.
    const std::unique_ptr<VerbsQueuePair, void (*)(VerbsQueuePair *)> over(this, [](VerbsQueuePair *self) {
        const std::lock_guard guard(self->lock_);
        self->is_connecting_ = false;
        self->connect_finished_.notify_all();
    });
    // Without the lock: connecting may take seconds, during which other threads may attach the queue pair, read its
    // details or destroy it. Since the peer has its number, the verbs queue pair is not replaced meanwhile.
    ReliableConnection::Path path{};
    const doca_error_t status = try_paths(peer, path);
    if (status != DOCA_SUCCESS)
        return status;
    const std::lock_guard guard(lock_);
    if (!settings_.is_mtu_fixed)
        mtu_ = mtu_of(path.mtu);
    // Set last: the completion queue's thread may submit from now on.
    set_state(ConnectionState::connected);
    return DOCA_SUCCESS;
}

/// Checks that the queue pair can be connected now, and marks it as being connected. The caller clears the mark.
doca_error_t VerbsQueuePair::begin_to_connect() noexcept
{
    const std::lock_guard guard(lock_);
    if (is_connecting_ || is_closing_) {
        LOG_ERR("queue pair 0x%x is being %s by another thread", number(), is_closing_ ? "stopped" : "connected");
        return DOCA_ERROR_BAD_STATE;
    }
    is_number_published_ = true;
    const doca_error_t status = check_receives();
    is_connecting_ = status == DOCA_SUCCESS;
    return status;
}

/// Connects by the first path to @p peer that works, and stores that path in @p taken.
doca_error_t VerbsQueuePair::try_paths(const ConnectionDetails &peer, ReliableConnection::Path &taken)
{
    const std::vector<ReliableConnection::Path> paths = find_paths(end_, peer, settings_);
    // The kernel waits one second for the peer's link-layer address. On a link that loses packets, several attempts may
    // be needed.
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(peer_timeout());
    int error = 0;
    bool again = true;
    while (again) {
        again = false;
        for (const ReliableConnection::Path &path : paths) {
            error = connection_->connect(path);
            if (error == 0) {
                taken = path;
                return DOCA_SUCCESS;
            }
            // A caller with a fallback (is_optional) does not wait for another attempt.
            if (error == ETIMEDOUT && (settings_.is_optional || is_closing_))
                break;
            again |= error == ETIMEDOUT && !is_closing_ && std::chrono::steady_clock::now() < end;
        }
    }
    if (error != 0)
        LOG_ERR("connecting to queue pair 0x%x of the peer: %s", peer.qpn, std::strerror(error));
    else
        LOG_ERR("there is no path to the peer: %u and %u GIDs, link layers %s and %s", end_.details.num_gids,
                peer.num_gids, end_.details.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand",
                peer.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand");
    return DOCA_ERROR_CONNECTION_ABORTED;
}

/// Holds the lock throughout: rdma_cm has resolved the addresses, so this does not block for long.
doca_error_t VerbsQueuePair::connect_by(const ReliableConnection::AgreedAttributes &agreed)
{
    const std::lock_guard guard(lock_);
    is_number_published_ = true;
    if (const doca_error_t status = check_receives(); status != DOCA_SUCCESS)
        return status;
    ibv_mtu mtu = mtu_of(mtu_);
    const int error = connection_->connect_by([&](ibv_qp_attr &attributes, int &mask) {
        const int refused = agreed(attributes, mask);
        if (refused == 0 && (mask & IBV_QP_PATH_MTU) != 0)
            mtu = attributes.path_mtu;
        return refused;
    });
    if (error != 0) {
        LOG_ERR("connecting queue pair 0x%x by rdma_cm: %s", number(), std::strerror(error));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    mtu_ = mtu_of(mtu);
    set_state(ConnectionState::connected); // set last, as in connect()
    return DOCA_SUCCESS;
}

doca_error_t VerbsQueuePair::adopt()
{
    const std::lock_guard guard(lock_);
    if (const doca_error_t status = check_receives(); status != DOCA_SUCCESS)
        return status;
    ibv_mtu mtu = mtu_of(mtu_);
    if (const int error = connection_->adopt(mtu); error != 0) {
        LOG_ERR("queue pair 0x%x of the program's id of rdma_cm: %s", number(),
                error == ENOTCONN ? "rdma_cm has not connected it" : std::strerror(error));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    mtu_ = mtu_of(mtu);
    set_state(ConnectionState::connected); // set last, as in connect()
    return DOCA_SUCCESS;
}

ibv_qp &VerbsQueuePair::share() noexcept
{
    const std::lock_guard guard(lock_);
    is_number_published_ = is_shared_ = true;
    return *queue_pair_;
}

doca_error_t VerbsQueuePair::check_receives() const noexcept
{
    if (srq_ == nullptr || !srq_->is_flushed())
        return DOCA_SUCCESS;
    LOG_ERR("the receives that queue pair 0x%x was to share have been flushed", number());
    return DOCA_ERROR_CONNECTION_ABORTED;
}

/// Creates the verbs queue pair again on the poller that @p completions shares with other queue pairs. If the device
/// refuses, the current one remains in use.
void VerbsQueuePair::move_to(CompletionQueue &completions)
{
    std::shared_ptr<ConnectionPoller> poller;
    if (ConnectionPoller::find_or_create(device_, completions, sizes_.num_requests(), poller) == DOCA_SUCCESS &&
        poller != poller_)
        (void)create_on(std::move(poller));
}

/// Adds the queue pair to the poller of @p completions. If its number is not published yet and its poller is not the
/// shared one, it is created again on that poller first.
doca_error_t VerbsQueuePair::attach(CompletionQueue &completions)
{
    const std::lock_guard guard(lock_);
    if (!is_number_published_ && !poller_->is_for(completions))
        move_to(completions);
    if (srq_ != nullptr)
        srq_->add(number(), *this);
    const doca_error_t status = poller_->add(*this, completions);
    if (status == DOCA_SUCCESS)
        completions_ = &completions;
    else if (srq_ != nullptr)
        srq_->remove(number());
    if (status == DOCA_SUCCESS && srq_ != nullptr &&
        !poller_->start()) // a message may arrive before the first operation is submitted
        poller_->fail(*this, DOCA_ERROR_IO_FAILED);
    return status;
}

void VerbsQueuePair::detach() noexcept
{
    if (completions_ == nullptr)
        return;
    // No completion may come once the poller no longer has it. An idle queue pair with its own receive queue can have
    // none, and stays connected, so that it can be attached again.
    if (may_be_connected() && (!is_idle() || srq_ != nullptr))
        poller_->fail(*this, DOCA_ERROR_SHUTDOWN);
    poller_->remove(*this);
    if (srq_ != nullptr)
        srq_->remove(number());
    completions_ = nullptr;
}

/// Makes the queue pair at which the message has arrived the source of @p operation, if that is a shared receive.
void VerbsQueuePair::assign_receiver(ibv_cq_ex &cq, Operation &operation) noexcept
{
    if (!operation.payload<Work>().is_srq_receive)
        return;
    VerbsQueuePair &receiver = *static_cast<const VerbsReceiveQueue &>(*operation.source).find(ibv_wc_read_qp_num(&cq));
    receiver.completions_->assign(operation, receiver);
}

/// Sets the result of @p operation, a receive that has succeeded, from the completion at which the poll stands.
void VerbsQueuePair::take_message(ibv_cq_ex &cq, Operation &operation) noexcept
{
    assign_receiver(cq, operation);
    // All fields are read before end_poll(), which the caller calls.
    operation.length = ibv_wc_read_byte_len(&cq);
    const bool has_immediate = (ibv_wc_read_wc_flags(&cq) & IBV_WC_WITH_IMM) != 0;
    Message message = {0, Received::send};
    Work &work = operation.payload<Work>();
    if (has_immediate) {
        message = {ibv_wc_read_imm_data(&cq), Received::send_with_immediate};
        if (ibv_wc_read_opcode(&cq) == IBV_WC_RECV_RDMA_WITH_IMM) {
            message.received = Received::write_with_immediate;
            work.dst = nullptr; // not written to
        }
    }
    if (VerbsQueuePair &self = of(operation); work.is_srq_receive)
        self.srq_->receive_completed();
    else
        ++self.receive_credits_;
    extend(work, operation.length);
    operation.message = message; // last: it overwrites the first half of the Work
}

void VerbsQueuePair::return_credit(const Work &work) noexcept
{
    if (work.is_srq_receive)
        srq_->receive_completed();
    else
        ++(work.opcode == Opcode::receive ? receive_credits_ : send_credits_);
}

void VerbsQueuePair::complete(Operation &operation, doca_error_t status) noexcept
{
    return_credit(operation.payload<Work>());
    completions_->done(operation, status, {});
}

/// Completes an operation that has failed or was flushed. The first one fails the connection.
void VerbsQueuePair::complete_failed(Operation &operation, ibv_wc_status status) noexcept
{
    // The connection has failed already, so the device has flushed this operation. Its result is SHUTDOWN, whatever
    // status was given to ConnectionPoller::fail(): that one is for operations without a completion.
    if (!is_connected()) {
        complete(operation, DOCA_ERROR_SHUTDOWN);
        return;
    }
    const Opcode opcode = operation.payload<Work>().opcode;
    LOG_ERR("queue pair 0x%x: %s has failed, which ends the connection: %s", number(), name_of(opcode),
            status == IBV_WC_WR_FLUSH_ERR ? "the peer or the device has broken it" : ibv_wc_status_str(status));
    complete(operation, failure_of(opcode, status));
    poller_->fail(*this, DOCA_ERROR_SHUTDOWN);
}

/// Calls @p action with each operation in flight.
template <typename Action>
void VerbsQueuePair::each_in_flight(Action action) const noexcept
{
    completions_->each_operation_of(*this, [&](Operation &operation) {
        if (operation.status == Operation::in_flight)
            action(operation);
    });
}

/// Returns whether flush() has to fail the connection: for operations that need an action of the peer's program, for
/// receives in the SRQ, or if the others have not completed in time. Without those they complete by themselves.
bool VerbsQueuePair::must_fail_to_flush() noexcept
{
    const std::int32_t num_left = credits_ - send_credits_ - receive_credits_;
    bool must_fail = srq_ != nullptr || // a shared receive of any of its connections may still be in flight
                     (num_left != 0 && flush_timer_.has_expired(static_cast<std::uint32_t>(num_left)));
    each_in_flight([&](const Operation &operation) {
        switch (operation.payload<Work>().opcode) {
        case Opcode::receive:
        case Opcode::send:
        case Opcode::send_with_immediate:
        case Opcode::write_with_immediate:
            must_fail = true;
            break;
        default:
            break;
        }
    });
    return must_fail;
}

/// Ends the connection: the device starts no more work for it.
void VerbsQueuePair::begin_to_fail(doca_error_t flush_status) noexcept
{
    set_state(ConnectionState::failed);
    if (completions_ != nullptr)
        completions_->note_event();
    flush_status_ = flush_status;
    connection_->disconnect();
}

/// Completes the operations that are still in flight. Not every device flushes all of them: rdma_rxe leaves receives
/// that were posted after the error.
void VerbsQueuePair::finish_failing() noexcept
{
    each_in_flight([this](Operation &operation) { complete(operation, flush_status_); });
    send_credits_ = receive_credits_ = credits_ = 0;
}

/// Takes what has completed. Leaves the connection up if only READs, WRITEs or atomics are pending and have not timed
/// out: they complete by themselves.
void VerbsQueuePair::flush() noexcept
{
    poller_->progress();
    poller_->check_for_failure();
    if (may_be_connected() && must_fail_to_flush())
        poller_->fail(*this, DOCA_ERROR_SHUTDOWN);
}

[[gnu::always_inline]] inline bool VerbsQueuePair::take_credit(std::int32_t &credits) noexcept
{
    if (completions_->is_full()) [[unlikely]]
        return false;
    if (--credits >= 0) [[likely]] // decremented in memory, without a separate load
        return true;
    credits = 0;
    return false;
}

/// Returns whether the CPU puts the data of @p request, a send or a write of one buffer, into the work request. Memory
/// of a dmabuf, as that of a GPU, need not be mapped where the CPU can read it.
[[gnu::always_inline]] inline bool VerbsQueuePair::goes_inline(const Request &request) const noexcept
{
    const std::uint32_t length = request.plan.length;
    return length != 0 && length <= max_inline_ && !request.local->mmap->is_of_dmabuf();
}

/// Sets up an Operation, for which a credit was taken. @p plan says how it extends @p dst on completion.
[[gnu::always_inline]] inline Operation &VerbsQueuePair::begin(Tag tag, Opcode opcode, TransferPlan plan,
                                                               doca_buf *dst) noexcept
{
    Operation &operation = completions_->begin(tag, *this);
    operation.length = opcode == Opcode::read ? plan.length : 0;
    Work &work = operation.payload<Work>();
    work.opcode = opcode;
    work.is_srq_receive = false;
    work.is_list = plan.is_list;
    work.overwrites = plan.overwrites;
    work.growth = plan.length;
    work.dst = dst;
    return operation;
}

/// Starts polling and sets the credits, once: before the first operation. The queue pair must be connected.
void VerbsQueuePair::grant_credits() noexcept
{
    if (credits_ != 0) [[likely]]
        return;
    if (!poller_->start())
        return poller_->fail(*this, DOCA_ERROR_IO_FAILED);
    send_credits_ = static_cast<std::int32_t>(settings_.send_queue_size);
    receive_credits_ = srq_ != nullptr ? 0 : static_cast<std::int32_t>(settings_.recv_queue_size);
    credits_ = send_credits_ + receive_credits_;
}

/// Handles errno's value @p error of a posting call. Releases the Operation and returns the credit, so that the failed
/// call has no side effect.
doca_error_t VerbsQueuePair::undo_post(Operation &operation, int error) noexcept
{
    auto &self = static_cast<VerbsQueuePair &>(*operation.source);
    const Work &work = operation.payload<Work>();
    LOG_ERR("queue pair 0x%x: %s could not be posted: %s", self.number(), name_of(work.opcode), std::strerror(error));
    self.return_credit(work);
    self.completions_->release(operation);
    return DOCA_ERROR_DRIVER;
}

doca_error_t VerbsQueuePair::post(Tag tag, const Request &request) noexcept
{
    // By a table, so that each opcode has its own stack frame and none pays for the registers of others.
    static constexpr doca_error_t (*functions[])(VerbsQueuePair &, Tag, const Request &) noexcept = {
        post_single<Opcode::send>,
        post_single<Opcode::send_with_immediate>,
        post_single<Opcode::write>,
        post_single<Opcode::write_with_immediate>,
        post_single<Opcode::read>,
        post_any,
        post_any,
    };
    static_assert(static_cast<unsigned>(Opcode::fetch_and_add) == std::size(functions) - 1);
    return functions[static_cast<unsigned>(request.opcode)](*this, tag, request);
}

/// Posts a request with one buffer on its local side and at least one byte, by one work request. Fields of @p request
/// are read again after calls: values that are kept across a call occupy registers that have to be saved.
template <Opcode opcode>
doca_error_t VerbsQueuePair::post_single(VerbsQueuePair &self, Tag tag, const Request &request) noexcept
{
    const TransferPlan plan = request.plan;
    const bool is_inline = opcode != Opcode::read && self.goes_inline(request);
    if (plan.is_list || (!is_inline && plan.length == 0) || !self.take_credit(self.send_credits_)) [[unlikely]]
        return post_any(self, tag, request);
    Operation &operation =
        self.begin(tag, opcode, {plan.length, false, plan.overwrites}, destination_of(opcode, request));
    ibv_qp_ex *const sender = self.sender_;
    sender->wr_id = id_of(operation);
    const auto begin_request = [&](unsigned flags) __attribute__((always_inline))
    {
        sender->wr_flags = flags; // set before the start, as rdma_rxe requires
        ibv_wr_start(sender);
        if constexpr (opcode == Opcode::send)
            return ibv_wr_send(sender);
        if constexpr (opcode == Opcode::send_with_immediate)
            return ibv_wr_send_imm(sender, request.immediate);
        if constexpr (!is_write(opcode) && opcode != Opcode::read)
            return;
        const doca_buf &remote = *request.remote;
        const std::uint64_t at =
            address(remote.data) + (opcode == Opcode::read || request.plan.overwrites ? 0 : remote.data_len);
        const std::uint32_t key = verbs_key(request.remote_key->number);
        if constexpr (opcode == Opcode::read)
            ibv_wr_rdma_read(sender, key, at);
        else if constexpr (opcode == Opcode::write)
            ibv_wr_rdma_write(sender, key, at);
        else
            ibv_wr_rdma_write_imm(sender, key, at, request.immediate);
    };
    if (is_inline) {
        begin_request(IBV_SEND_SIGNALED | IBV_SEND_INLINE);
        ibv_wr_set_inline_data(sender, request.local->data, request.plan.length);
    } else {
        begin_request(IBV_SEND_SIGNALED);
        const doca_buf &local = *request.local;
        const bool appends = opcode == Opcode::read && !request.plan.overwrites;
        ibv_wr_set_sge(sender, key_of(self.device_, local), address(local.data) + (appends ? local.data_len : 0),
                       request.plan.length);
    }
    if (const int error = ibv_wr_complete(sender); error != 0) [[unlikely]]
        return undo_post(operation_of(sender->wr_id), error);
    return DOCA_SUCCESS;
}

/// Posts any request, or returns NO_MEMORY. Uses ibv_post_send(), since with rdma_rxe (rdma-core 44)
/// ibv_wr_set_sge_list() takes the length of the first segment for all segments.
[[gnu::noinline]] doca_error_t VerbsQueuePair::post_any(VerbsQueuePair &self, Tag tag, const Request &request) noexcept
{
    static constexpr ibv_wr_opcode opcodes[] = {
        IBV_WR_SEND,      IBV_WR_SEND_WITH_IMM,      IBV_WR_RDMA_WRITE,          IBV_WR_RDMA_WRITE_WITH_IMM,
        IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD};
    self.grant_credits();
    if (!self.take_credit(self.send_credits_))
        return DOCA_ERROR_NO_MEMORY;
    const Opcode opcode = request.opcode;
    const bool is_read = opcode == Opcode::read;
    const TransferPlan plan = is_atomic(opcode) ? TransferPlan{} : request.plan;
    ibv_send_wr work_request{};
    work_request.opcode = opcodes[static_cast<unsigned>(opcode)];
    // An atomic has one segment of 8 bytes, which receives the old value.
    if (is_atomic(opcode)) {
        const bool is_addition = opcode == Opcode::fetch_and_add;
        work_request.wr.atomic = {.remote_addr = address(request.remote->data),
                                  .compare_add = is_addition ? request.operand : request.compare,
                                  .swap = request.operand,
                                  .rkey = verbs_key(request.remote_key->number)};
        self.segments_[0] = {address(request.local->data), word_size, key_of(self.device_, *request.local)};
        work_request.num_sge = 1;
    } else {
        if (has_immediate(opcode))
            work_request.imm_data = request.immediate;
        if ((is_read || is_write(opcode)) && plan.length != 0)
            work_request.wr.rdma = {address(request.remote->data) +
                                        (is_read || plan.overwrites ? 0 : request.remote->data_len),
                                    verbs_key(request.remote_key->number)};
        work_request.num_sge = gather(self.device_, request.local, plan, !is_read, self.segments_);
    }
    // is_list concerns the buffer that grows: only that of a READ can be a list.
    Operation &operation = self.begin(tag, opcode, {plan.length, is_read && plan.is_list, plan.overwrites},
                                      plan.length == 0 ? nullptr : destination_of(opcode, request));
    work_request.wr_id = id_of(operation);
    work_request.send_flags = IBV_SEND_SIGNALED;
    work_request.sg_list = self.segments_.data();
    ibv_send_wr *bad = nullptr;
    if (const int error = ibv_post_send(self.queue_pair_, &work_request, &bad); error != 0)
        return undo_post(operation, error);
    return DOCA_SUCCESS;
}

/// Posts a receive by one work request. The fast path takes one buffer and at least one byte.
doca_error_t VerbsQueuePair::receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    if (plan.is_list || plan.length == 0 || !take_credit(receive_credits_)) [[unlikely]]
        return receive_any(tag, dst, plan);
    Operation &operation = begin(tag, Opcode::receive, plan, dst);
    ibv_sge segment = {address(dst->data) + (plan.overwrites ? 0 : dst->data_len), plan.length, key_of(device_, *dst)};
    return post_receive(operation, &segment, 1);
}

[[gnu::noinline]] doca_error_t VerbsQueuePair::receive_any(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    grant_credits();
    if (!take_credit(receive_credits_))
        return DOCA_ERROR_NO_MEMORY;
    Operation &operation = begin(tag, Opcode::receive, plan, plan.length == 0 ? nullptr : dst);
    return post_receive(operation, segments_.data(), gather(device_, dst, plan, false, segments_));
}

[[gnu::always_inline]] inline doca_error_t VerbsQueuePair::post_receive(Operation &operation, ibv_sge *segments,
                                                                        int num_segments) noexcept
{
    ibv_recv_wr work_request;
    work_request.wr_id = id_of(operation);
    work_request.next = nullptr;
    work_request.sg_list = segments;
    work_request.num_sge = num_segments;
    ibv_recv_wr *bad;
    if (const int error = ibv_post_recv(queue_pair_, &work_request, &bad); error != 0) [[unlikely]]
        return undo_post(operation_of(work_request.wr_id), error);
    return DOCA_SUCCESS;
}

/// Records a receive that no queue pair has posted. assign_receiver() sets its queue pair once a message has arrived.
void VerbsQueuePair::describe_shared_receive(Operation &operation, doca_buf *dst, TransferPlan plan) noexcept
{
    operation.length = 0;
    operation.payload<Work>() = {.opcode = Opcode::receive,
                                 .is_srq_receive = true,
                                 .is_list = plan.is_list,
                                 .overwrites = plan.overwrites,
                                 .growth = 0,
                                 .dst = plan.length == 0 ? nullptr : dst};
}

} // namespace opendoca::verbs
