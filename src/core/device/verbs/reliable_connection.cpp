// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "reliable_connection.hpp"

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <sys/random.h>

#include "../../log/log.hpp"
#include "../host/peer_timeout.hpp"
#include "device.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_CONNECTION);

namespace opendoca::verbs {

namespace {

constexpr std::uint8_t retries = 6;                 // 7 would mean no limit on rdma_rxe
constexpr std::uint8_t retries_without_receive = 7; // no limit: a message waits until the peer posts a receive
constexpr std::uint8_t receive_timer = 12;          // how long the peer waits after our RNR NAK: 0.64 ms

/// Returns the retransmission timeout in the encoding of verbs: 4.096 us * 2^n.
std::uint8_t retransmission_timeout()
{
    static const std::uint8_t exponent = [] {
        // A work request fails after the first transmission and `retries` further ones have timed out, so the peer
        // timeout is divided among them. Rounded up to the next power of two that the encoding has.
        const double seconds_per_attempt = peer_timeout() / (retries + 1);
        std::uint8_t n = 1;
        for (double seconds = 2 * 4.096e-6; seconds < seconds_per_attempt && n < 31; seconds *= 2)
            ++n;
        return n;
    }();
    return exponent;
}

ibv_qp_init_attr_ex attributes_of(const ReliableConnection::Sizes &sizes, ibv_cq &cq, ibv_pd &pd) noexcept
{
    ibv_qp_init_attr_ex attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = &cq;
    attributes.recv_cq = &cq;
    // With a shared receive queue there is no own one, and its sizes are 0.
    attributes.cap.max_send_wr = sizes.sends;
    attributes.srq = sizes.shared_receives.get();
    attributes.cap.max_recv_wr = sizes.shared_receives == nullptr ? sizes.receives : 0;
    attributes.cap.max_send_sge = sizes.send_segments;
    attributes.cap.max_recv_sge = sizes.shared_receives == nullptr ? sizes.receive_segments : 0;
    attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attributes.pd = &pd;
    attributes.send_ops_flags = sizes.send_operations;
    return attributes;
}

/// Tries the comp_mask of @p attributes only: extended or classic. See create_with_inline().
Handle<ibv_qp> create_largest_inline(ibv_context &context, ibv_qp_init_attr_ex &attributes,
                                     MakeQueuePair *make) noexcept
{
    // More inline data is not faster than a DMA read by the device, and enlarges the send queue.
    constexpr std::uint32_t inline_bytes[] = {128, 64, 32, 0};
    Handle<ibv_qp> created;
    for (const std::uint32_t inline_size : inline_bytes) {
        // A copy, since libmlx5 writes to the attributes even if it creates nothing.
        ibv_qp_init_attr_ex tried = attributes;
        tried.cap.max_inline_data = inline_size;
        created.reset(make != nullptr ? make(&context, &tried) : ibv_create_qp_ex(&context, &tried));
        if (created != nullptr) {
            attributes = tried;
            break;
        }
        // Only these errors may mean that the entries are too large.
        if (errno != EINVAL && errno != ENOMEM)
            break;
    }
    return created;
}

} // namespace

std::uint32_t random_psn() noexcept
{
    std::uint32_t number = 0;
    while (getrandom(&number, sizeof(number), 0) != sizeof(number))
        ;
    return number & max_24_bits;
}

Handle<ibv_qp> create_with_inline(ibv_context &context, ibv_qp_init_attr_ex &attributes, MakeQueuePair *make) noexcept
{
    Handle<ibv_qp> created = create_largest_inline(context, attributes, make);
    if (created != nullptr || !may_be_unknown(errno) || make != nullptr)
        return created;
    // Without the flags for send operations, the queue pair has no extended calls.
    ibv_qp_init_attr_ex classic = attributes;
    classic.comp_mask = IBV_QP_INIT_ATTR_PD;
    classic.send_ops_flags = 0;
    created = create_largest_inline(context, classic, make);
    if (created != nullptr)
        attributes = classic;
    return created;
}

std::uint32_t largest_queues(ibv_pd &pd, ReliableConnection::Sizes sizes, std::uint32_t most) noexcept
{
    std::uint32_t size = std::bit_floor(most);
    // The size is halved each time: at most 16 attempts if @p most is below 65,536. The caller caches the result.
    for (; size != 0; size /= 2) {
        const Handle<ibv_cq> cq(ibv_create_cq(pd.context, static_cast<int>(2 * size), nullptr, nullptr, 0));
        if (cq == nullptr)
            continue;
        sizes.sends = sizes.receives = size;
        ibv_qp_init_attr_ex attributes = attributes_of(sizes, *cq, pd);
        if (create_with_inline(*pd.context, attributes) != nullptr)
            break;
    }
    return size;
}

ReliableConnection::~ReliableConnection()
{
    // Before the queue pair is destroyed: events refer to it.
    if (queue_pair_ != nullptr)
        cq_->unwatch_failures_of(*queue_pair_);
}

doca_error_t ReliableConnection::create(const VerbsDevice &device, VerbsCompletions &completions, const Sizes &sizes,
                                        unsigned access)
{
    cq_ = &completions;
    access_ = access;
    num_requests_ = sizes.num_requests();
    shared_receives_ = sizes.shared_receives;
    port_ = static_cast<std::uint8_t>(device.port().port());
    if (const doca_error_t status = create_queue_pair(device, sizes); status != DOCA_SUCCESS)
        return status;
    if (const int error = initialize(); error != 0) {
        LOG_ERR("preparing a queue pair of device %s, port %u: %s", device.port().ibdev_name.c_str(), port_,
                std::strerror(error));
        return DOCA_ERROR_INITIALIZATION;
    }
    return DOCA_SUCCESS;
}

doca_error_t ReliableConnection::create_queue_pair(const VerbsDevice &device, const Sizes &sizes)
{
    ibv_qp_init_attr_ex attributes = attributes_of(sizes, cq_->queue(), cq_->domain());
    queue_pair_ = create_with_inline(device.context(), attributes, sizes.make);
    if (queue_pair_ == nullptr) {
        LOG_ERR("can't create a queue pair (%u sends of %u SGEs, %u receives of %u) on device %s: %s", sizes.sends,
                sizes.send_segments, sizes.receives, sizes.receive_segments, device.port().name.c_str(),
                std::strerror(errno));
        return errno == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER;
    }
    max_inline_ = attributes.cap.max_inline_data;
    if ((attributes.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0)
        sender_ = ibv_qp_to_qp_ex(queue_pair_.get());
    if (sender_ == nullptr) {
        classic_sender_ = std::make_unique<ClassicSender>(*queue_pair_);
        sender_ = &classic_sender_->extended();
    }
    cq_->watch_failures_of(*queue_pair_);
    return DOCA_SUCCESS;
}

int ReliableConnection::initialize() noexcept
{
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = port_;
    attributes.qp_access_flags = access_;
    return ibv_modify_qp(queue_pair_.get(), &attributes,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int ReliableConnection::connect(const Path &path) noexcept
{
    // A refused transition to RTR leaves the queue pair in INIT.
    if (const int error = move_to_rtr(path); error != 0)
        return error;
    const int error = move_to_rts(path.sq_psn, path.max_reads_out, 0);
    if (error != 0)
        (void)reset();
    return error;
}

/// Requests the attributes of each state in turn, which rdma_cm provides, and moves the queue pair to that state.
int ReliableConnection::connect_by(const AgreedAttributes &agreed) noexcept
{
    for (const ibv_qp_state next : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
        ibv_qp_attr attributes{};
        attributes.qp_state = next;
        int mask = 0;
        int error = agreed(attributes, mask);
        if (error == 0) {
            // Attributes that are not in the mask are ignored.
            attributes.qp_access_flags = access_;
            attributes.min_rnr_timer = receive_timer;
            attributes.timeout = retransmission_timeout();
            attributes.retry_cnt = retries;
            attributes.rnr_retry = retries_without_receive;
            error = ibv_modify_qp(queue_pair_.get(), &attributes, mask);
        }
        if (error != 0) {
            (void)reset();
            return error;
        }
    }
    return 0;
}

int ReliableConnection::adopt(ibv_mtu &mtu) noexcept
{
    ibv_qp_attr attributes{};
    ibv_qp_init_attr unused{};
    if (const int error = ibv_query_qp(queue_pair_.get(), &attributes, IBV_QP_STATE | IBV_QP_PATH_MTU, &unused);
        error != 0)
        return error;
    if (attributes.qp_state != IBV_QPS_RTS)
        return ENOTCONN;
    mtu = attributes.path_mtu;
    attributes = {};
    attributes.qp_access_flags = access_;
    attributes.min_rnr_timer = receive_timer;
    return ibv_modify_qp(queue_pair_.get(), &attributes, IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER);
}

int ReliableConnection::move_to_rtr(const Path &path) noexcept
{
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTR;
    attributes.path_mtu = path.mtu;
    attributes.dest_qp_num = path.qpn;
    attributes.rq_psn = path.rq_psn;
    attributes.max_dest_rd_atomic = path.max_reads_in;
    attributes.min_rnr_timer = receive_timer;
    attributes.ah_attr.port_num = port_;
    attributes.ah_attr.sl = path.service_level;
    attributes.ah_attr.dlid = path.lid;
    attributes.ah_attr.is_global = path.has_grh;
    if (path.has_grh) {
        // RoCE packets always have a GRH, or the IP header in its place.
        attributes.ah_attr.grh.dgid = path.gid;
        attributes.ah_attr.grh.sgid_index = path.gid_index;
        attributes.ah_attr.grh.hop_limit = 64;
    }
    return ibv_modify_qp(queue_pair_.get(), &attributes,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int ReliableConnection::start_sending(std::uint32_t sq_psn) noexcept
{
    return move_to_rts(sq_psn, 1, IBV_QP_CUR_STATE); // the kernel's record of the state is still INIT
}

int ReliableConnection::move_to_rts(std::uint32_t sq_psn, std::uint8_t max_reads, int more) noexcept
{
    ibv_qp_attr attributes{};
    // Takes effect only with IBV_QP_CUR_STATE in the mask; see start_sending().
    attributes.cur_qp_state = IBV_QPS_RTR;
    attributes.qp_state = IBV_QPS_RTS;
    attributes.sq_psn = sq_psn;
    attributes.timeout = retransmission_timeout();
    attributes.retry_cnt = retries;
    attributes.rnr_retry = retries_without_receive;
    attributes.max_rd_atomic = max_reads;
    return ibv_modify_qp(queue_pair_.get(), &attributes,
                         more | IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_MAX_QP_RD_ATOMIC);
}

bool ReliableConnection::is_broken() const noexcept
{
    if (cq_->failure() == DeviceFailure::fatal)
        return true;
    ibv_qp_attr attributes{};
    // A queue pair that cannot be queried is treated as broken. SQE means that only the send queue has failed.
    ibv_qp_init_attr unused{};
    return ibv_query_qp(queue_pair_.get(), &attributes, IBV_QP_STATE, &unused) != 0 ||
           attributes.qp_state == IBV_QPS_ERR || attributes.qp_state == IBV_QPS_SQE;
}

void ReliableConnection::disconnect() noexcept
{
    if (cq_->failure() == DeviceFailure::fatal)
        return; // a failed device accesses no memory and accepts no commands
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    if (const int error = ibv_modify_qp(queue_pair_.get(), &attributes, IBV_QP_STATE); error != 0)
        LOG_ERR("ending the connection of queue pair 0x%x: %s", number(), std::strerror(error));
}

doca_error_t ReliableConnection::reset() noexcept
{
    if (cq_->failure() == DeviceFailure::fatal)
        return DOCA_ERROR_IO_FAILED;
    ibv_qp_attr attributes{};
    // RESET drops all work requests and is reachable from any state, also from ERR.
    attributes.qp_state = IBV_QPS_RESET;
    int error = ibv_modify_qp(queue_pair_.get(), &attributes, IBV_QP_STATE);
    if (error == 0)
        error = initialize();
    if (error == 0)
        return DOCA_SUCCESS;
    LOG_ERR("resetting queue pair 0x%x: %s", number(), std::strerror(error));
    return DOCA_ERROR_DRIVER;
}

} // namespace opendoca::verbs
