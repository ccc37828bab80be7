// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Commands about queue pairs.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include <linux/capability.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "command.hpp"
#include "engine.hpp"
#include "limits.hpp"
#include "queue_memory.hpp"
#include "work_request.hpp"

namespace opendoca::card {

namespace {

// Bits of attr_mask (ibv_qp_attr_mask).
enum : std::uint32_t {
    set_state = 1 << 0,
    set_current_state = 1 << 1,
    set_drain_event = 1 << 2,
    set_access = 1 << 3,
    set_pkey = 1 << 4,
    set_port = 1 << 5,
    set_qkey = 1 << 6,
    set_path = 1 << 7,
    set_mtu = 1 << 8,
    set_timeout = 1 << 9,
    set_retry_count = 1 << 10,
    set_rnr_retry = 1 << 11,
    set_receive_psn = 1 << 12,
    set_max_reads = 1 << 13,
    set_alternate_path = 1 << 14,
    set_rnr_timer = 1 << 15,
    set_send_psn = 1 << 16,
    set_max_reads_of_peer = 1 << 17,
    set_path_migration = 1 << 18,
    set_destination = 1 << 20,
    all_attributes = (1 << 21) - 1,
    set_rate_limit = 1 << 25,
};

/// The attributes that a state change requires, and those that it accepts in addition, as bits of attr_mask. A change
/// with any other attribute is refused.
struct Attributes {
    std::uint32_t needed, allowed;
};
/// A state change, with its attributes for each type of queue pair (InfiniBand specification 11.2.5.2), except those of
/// XRC, each of which has one half of the attributes of RC. An entry of a constant table; a change without an entry is
/// not defined, except those to RESET and ERR.
struct Transition {
    QpState from, to;
    Attributes rc, uc, ud;
};
constexpr std::uint32_t initial = set_pkey | set_port | set_access, initial_of_ud = set_pkey | set_port | set_qkey;
constexpr std::uint32_t path_of_uc = set_path | set_mtu | set_destination | set_receive_psn;
constexpr std::uint32_t changes_of_uc = set_current_state | set_alternate_path | set_access | set_path_migration;
constexpr std::uint32_t changes_of_rc = changes_of_uc | set_rnr_timer;
constexpr std::uint32_t changes_of_ud = set_current_state | set_qkey;
constexpr std::uint32_t before_path = set_alternate_path | set_access | set_pkey;
constexpr Transition transitions[] = {
    {QpState::reset, QpState::reset, {}, {}, {}},
    {QpState::reset, QpState::init, {initial, 0}, {initial, 0}, {initial_of_ud, 0}},
    {QpState::init, QpState::init, {0, initial}, {0, initial}, {0, initial_of_ud}},
    {QpState::init,
     QpState::rtr,
     {path_of_uc | set_max_reads_of_peer | set_rnr_timer, before_path},
     {path_of_uc, before_path},
     {0, set_pkey | set_qkey}},
    {QpState::rtr,
     QpState::rts,
     {set_timeout | set_retry_count | set_rnr_retry | set_send_psn | set_max_reads, changes_of_rc},
     {set_send_psn, changes_of_uc},
     {set_send_psn, changes_of_ud}},
    {QpState::rts, QpState::rts, {0, changes_of_rc}, {0, changes_of_uc}, {0, changes_of_ud}},
    {QpState::rts, QpState::sqd, {0, set_drain_event}, {0, set_drain_event}, {0, set_drain_event}},
    {QpState::sqd, QpState::rts, {0, changes_of_rc}, {0, changes_of_uc}, {0, changes_of_ud}},
    {QpState::sqd,
     QpState::sqd,
     {0, set_port | set_path | set_timeout | set_retry_count | set_rnr_retry | set_max_reads | set_max_reads_of_peer |
             set_alternate_path | set_access | set_pkey | set_rnr_timer | set_path_migration},
     {0, set_path | set_alternate_path | set_access | set_pkey | set_path_migration},
     {0, set_pkey | set_qkey}},
    {QpState::sqe, QpState::rts, {}, {0, set_current_state | set_access}, {0, changes_of_ud}},
};

/// Returns the attributes that concern the half that a queue pair of XRC lacks. Programs may give them, as the kernel
/// ignores them.
constexpr std::uint32_t ignored_attributes(QpType type)
{
    return type == QpType::xrc_send      ? set_max_reads_of_peer | set_rnr_timer
           : type == QpType::xrc_receive ? set_retry_count | set_rnr_retry | set_max_reads
                                         : 0u;
}

/// Returns the attributes of a state change for a type of queue pair.
Attributes attributes_of(const Transition &change, QpType type)
{
    const std::uint32_t applied = ~ignored_attributes(type);
    return type == QpType::uc   ? change.uc
           : type == QpType::ud ? change.ud
                                : Attributes{change.rc.needed & applied, change.rc.allowed & applied};
}

/// Returns whether the state change is defined, and `given` has exactly the attributes that it requires or accepts.
bool may_change(const QueuePair &qp, QpState to, std::uint32_t given)
{
    const std::uint32_t others = given & ~std::uint32_t{set_state};
    // RESET and ERR can be reached from every other state, and take no attributes.
    if ((to == QpState::reset || to == QpState::error) && qp.state != QpState::reset)
        return others == 0;
    const auto found = std::ranges::find_if(
        transitions, [&](const Transition &change) { return change.from == qp.state && change.to == to; });
    if (found == std::ranges::end(transitions) || ((qp.type == QpType::rc || qp.is_xrc()) && qp.state == QpState::sqe))
        return false;
    const Attributes attributes = attributes_of(*found, qp.type);
    return (others & attributes.needed) == attributes.needed &&
           (others & ~(attributes.needed | attributes.allowed)) == 0;
}

/// Checks a path of a queue pair. Returns an errno, or 0.
int check_path(const Card &card, const Function &function, const ib_uverbs_qp_dest &path)
{
    constexpr std::uint8_t slowest_rate = 2, fastest_rate = 23; // values of ibv_rate; 0 stands for the port's rate
    if (path.port_num != port_number ||
        (path.static_rate != 0 && (path.static_rate < slowest_rate || path.static_rate > fastest_rate)))
        return EINVAL;
    if (path.is_global == 0)
        return card.profile.is_ethernet ? EINVAL : 0;
    if (path.sgid_index >= function.profile.gids.size())
        return EINVAL;
    return function.profile.gids[path.sgid_index].is_set() ? 0 : ENODATA;
}

/// Checks whether the values are within the limits of device, port and queue pair. Returns an errno, or 0.
int check_values(const QueuePair &qp, const Process &process, const ib_uverbs_modify_qp &request)
{
    constexpr std::uint8_t mtu_256 = 1, mtu_4096 = 5;     // ibv_mtu
    constexpr std::uint32_t privileged_qkey = 0x80000000; // bit of the qkeys that only privileged programs may set
    const Card &card = qp.file.card;
    const Function &function = qp.file.function;
    const auto gives = [&](std::uint32_t bit) { return (request.attr_mask & bit) != 0; };
    if ((gives(set_port) && request.port_num != port_number) ||
        (gives(set_pkey) && request.pkey_index >= card.profile.pkeys()) ||
        (gives(set_mtu) && (request.path_mtu < mtu_256 || request.path_mtu > mtu_4096)) ||
        (gives(set_max_reads) && request.max_rd_atomic > max_reads_in_flight) ||
        (gives(set_max_reads_of_peer) && request.max_dest_rd_atomic > max_reads_in_flight))
        return EINVAL;
    if (gives(set_path)) {
        if (const int error = check_path(card, function, request.dest))
            return error;
        // XRC is not carried by the network between cards.
        const auto ends_at = [&](const Function &to) {
            return is_path_to(to, request.dest.is_global != 0, request.dest.dgid, request.dest.dlid);
        };
        if (qp.is_xrc() && card.network != nullptr && std::ranges::none_of(card.functions, ends_at)) {
            std::fprintf(
                stderr,
                "process %d: refused to connect the queue pair %#x of XRC: its path ends at no function of this "
                "card, and the network between cards does not carry XRC\n",
                process.pid(), qp.number());
            return EOPNOTSUPP;
        }
    }
    if (gives(set_alternate_path)) {
        // Ethernet has no alternate path.
        if (card.profile.is_ethernet || request.alt_port_num != port_number ||
            request.alt_pkey_index >= card.profile.pkeys())
            return EINVAL;
        if (const int error = check_path(card, function, request.alt_dest))
            return error;
    }
    if (gives(set_qkey) && (request.qkey & privileged_qkey) != 0 && !process.has_capability(CAP_NET_RAW))
        return EPERM;
    return 0;
}

/// Checks all of a modify request first, so that a refused one changes nothing, and then applies it.
int change(QueuePair &qp, const Process &process, const ib_uverbs_modify_qp &request)
{
    const std::uint32_t given = request.attr_mask;
    const auto gives = [&](std::uint32_t bit) { return (given & bit) != 0; };
    const auto state = static_cast<QpState>(request.qp_state);
    if (gives(set_current_state) && request.cur_qp_state != static_cast<std::uint8_t>(qp.state))
        return EINVAL;
    // Without a new state, attributes change within the current one.
    const QpState next = gives(set_state) ? state : qp.state;
    if ((gives(set_state) && request.qp_state > static_cast<std::uint8_t>(QpState::error)) ||
        !may_change(qp, next, given))
        return EINVAL;
    if (const int error = check_values(qp, process, request))
        return error;
    // A value that is longer than the device's field loses its upper bits, as on a real card.
    constexpr std::uint32_t psn_mask = 0xffffff;
    QpAttributes &set = qp.attributes;
    const auto store = [&](std::uint32_t bit, auto &to, const auto &from) {
        if (gives(bit))
            to = static_cast<std::remove_reference_t<decltype(to)>>(from);
    };
    store(set_access, set.access, request.qp_access_flags);
    store(set_pkey, set.pkey_index, request.pkey_index);
    store(set_port, set.port, request.port_num);
    store(set_qkey, set.qkey, request.qkey);
    store(set_path, set.path, request.dest);
    store(set_mtu, set.path_mtu, request.path_mtu);
    store(set_timeout, set.timeout, request.timeout & 31);
    store(set_retry_count, set.retry_count, request.retry_cnt & 7);
    store(set_rnr_retry, set.rnr_retry, request.rnr_retry & 7);
    store(set_receive_psn, set.receive_psn, request.rq_psn & psn_mask);
    store(set_max_reads, set.max_reads, request.max_rd_atomic);
    store(set_alternate_path, set.alternate_path, request.alt_dest);
    store(set_alternate_path, set.alternate_port, request.alt_port_num);
    store(set_alternate_path, set.alternate_timeout, request.alt_timeout);
    store(set_alternate_path, set.alternate_pkey_index, request.alt_pkey_index);
    store(set_rnr_timer, set.rnr_timer, request.min_rnr_timer & 31);
    store(set_send_psn, set.send_psn, request.sq_psn & psn_mask);
    store(set_max_reads_of_peer, set.max_reads_of_peer, request.max_dest_rd_atomic);
    store(set_path_migration, set.path_migration, request.path_mig_state);
    store(set_destination, set.destination, request.dest_qp_num & 0xffffff);
    if (gives(set_state))
        set_state_of(qp, state);
    return 0;
}

/// Carries out either form of modify_qp. Returns an errno, or 0.
int modify(Command &command, std::uint32_t known_attributes)
{
    ib_uverbs_modify_qp request;
    if (!command.get(UVERBS_ATTR_CORE_IN, &request, sizeof(request)))
        return EINVAL;
    // Undefined bits have an errno of their own.
    if ((request.attr_mask & ~known_attributes) != 0)
        return EOPNOTSUPP;
    auto *qp = command.object_of<QueuePair>(request.qp_handle);
    if (qp == nullptr)
        return EINVAL;
    request.attr_mask &= ~ignored_attributes(qp->type);
    return change(*qp, *command.process, request);
}

/// Creates the receiving queue pair of XRC, which has neither queues nor memory of its own.
int create_xrc_receiver(Command &command, XrcDomain *domain, const mlx5_ib_create_qp &driver)
{
    if (domain == nullptr || command.has(UVERBS_ATTR_CREATE_QP_PD_HANDLE) ||
        command.has(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE) || command.has(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE) ||
        command.has(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE))
        return EINVAL;
    auto *qp = command.file.card.objects.create<QueuePair>(command.file);
    if (qp == nullptr)
        return ENOMEM;
    qp->process = command.process;
    qp->domain = Use(domain);
    qp->type = QpType::xrc_receive;
    qp->user_handle = command.number(UVERBS_ATTR_CREATE_QP_USER_HANDLE);
    command.process->queue_pairs.push_back(qp);
    mlx5_ib_create_qp_resp response{};
    response.bfreg_index = driver.bfreg_index;
    command.put(UVERBS_ATTR_CREATE_QP_RESP_CAP, qp->limits);
    command.put(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, qp->number());
    command.put(UVERBS_ATTR_UHW_OUT, response);
    return command.put_handle(UVERBS_ATTR_CREATE_QP_HANDLE, *qp);
}

} // namespace

int create_qp(Command &command)
{
    mlx5_ib_create_qp driver;
    ib_uverbs_qp_cap limits;
    auto *pd = command.object<ProtectionDomain>(UVERBS_ATTR_CREATE_QP_PD_HANDLE);
    auto *send_cq = command.object<CompletionQueue>(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
    auto *receive_cq = command.object<CompletionQueue>(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
    auto *srq = command.object<SharedReceiveQueue>(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
    auto *domain = command.object<XrcDomain>(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE);
    const std::uint64_t wanted = command.number(UVERBS_ATTR_CREATE_QP_TYPE);
    const auto type = static_cast<QpType>(wanted);
    if (!command.get(UVERBS_ATTR_UHW_IN, driver) || !command.get(UVERBS_ATTR_CREATE_QP_CAP, limits))
        return EINVAL;
    // An errno of its own, by which programs find out which types a device has.
    if (wanted != static_cast<std::uint64_t>(type) || // more than 8 bits
        (type != QpType::rc && type != QpType::uc && type != QpType::ud && type != QpType::xrc_send &&
         type != QpType::xrc_receive))
        return EOPNOTSUPP;
    if (type == QpType::xrc_receive)
        return create_xrc_receiver(command, domain, driver);
    const bool receives = type != QpType::xrc_send;
    if (pd == nullptr || send_cq == nullptr || (receives && receive_cq == nullptr) ||
        command.has(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE) ||
        (command.has(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE) && (srq == nullptr || srq->domain || !receives)))
        return EINVAL;
    if (!is_ring_size(driver.sq_wqe_count, max_send_slots) || !is_ring_size(driver.rq_wqe_count, max_receive_entries) ||
        (driver.rq_wqe_count != 0 && (driver.rq_wqe_shift < 4 || driver.rq_wqe_shift > max_receive_log_stride)))
        return EINVAL;
    // One buffer contains the receive ring, followed by the send ring.
    const std::uint64_t receive_bytes =
        driver.rq_wqe_count == 0 ? 0 : std::uint64_t{driver.rq_wqe_count} << driver.rq_wqe_shift;
    QueueMemory memory;
    if (const int error = memory.pin(command, driver.buf_addr, receive_bytes + std::uint64_t{driver.sq_wqe_count} * 64,
                                     false, driver.db_addr))
        return error;
    auto *qp = command.file.card.objects.create<QueuePair>(command.file);
    if (qp == nullptr)
        return ENOMEM;
    memory.move_to(*qp);
    qp->process = command.process;
    qp->pd = Use(pd);
    qp->send_cq = Use(send_cq);
    qp->receive_cq = Use(receives ? receive_cq : nullptr);
    qp->srq = Use(srq);
    qp->type = type;
    qp->user_index = driver.uidx;
    qp->send_slots = driver.sq_wqe_count;
    qp->receive_entries = driver.rq_wqe_count;
    qp->receive_log_stride = driver.rq_wqe_shift;
    qp->receive_buffer = driver.buf_addr;
    qp->send_buffer = driver.buf_addr + receive_bytes;
    qp->doorbell_record = driver.db_addr;
    qp->user_handle = command.number(UVERBS_ATTR_CREATE_QP_USER_HANDLE);
    qp->signals_all = (command.number32(UVERBS_ATTR_CREATE_QP_FLAGS) & IB_UVERBS_QP_CREATE_SQ_SIG_ALL) != 0;
    qp->limits = limits;
    command.process->queue_pairs.push_back(qp);
    mlx5_ib_create_qp_resp response{};
    response.bfreg_index = driver.bfreg_index;
    command.put(UVERBS_ATTR_CREATE_QP_RESP_CAP, limits);
    command.put(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, qp->number());
    command.put(UVERBS_ATTR_UHW_OUT, response);
    return command.put_handle(UVERBS_ATTR_CREATE_QP_HANDLE, *qp);
}

int modify_qp(Command &command)
{
    return modify(command, all_attributes);
}

int modify_qp_ex(Command &command)
{
    // Of the extended attributes, a rate limit is refused for all types of queue pair here, and ECE has no effect.
    const int error = modify(command, all_attributes | set_rate_limit);
    ib_uverbs_ex_modify_qp_resp response{};
    response.response_length = sizeof(response);
    return error != 0 ? error : command.put(UVERBS_ATTR_CORE_OUT, response);
}

int query_qp(Command &command)
{
    ib_uverbs_query_qp request;
    if (!command.get(UVERBS_ATTR_CORE_IN, &request, sizeof(request)))
        return EINVAL;
    const auto *qp = command.object_of<QueuePair>(request.qp_handle);
    if (qp == nullptr)
        return EINVAL;
    const QpAttributes &set = qp->attributes;
    ib_uverbs_query_qp_resp response{};
    response.dest = set.path;
    response.alt_dest = set.alternate_path;
    response.max_send_wr = qp->limits.max_send_wr;
    response.max_recv_wr = qp->receive_entries; // the size of the ring, since that is what a program can post
    response.max_send_sge = qp->limits.max_send_sge;
    response.max_recv_sge = qp->receive_entries == 0 ? 0 : (1u << qp->receive_log_stride) / 16;
    response.max_inline_data = qp->limits.max_inline_data;
    response.qkey = set.qkey;
    response.rq_psn = set.receive_psn;
    response.sq_psn = set.send_psn;
    response.dest_qp_num = set.destination;
    response.qp_access_flags = set.access;
    response.pkey_index = set.pkey_index;
    response.alt_pkey_index = set.alternate_pkey_index;
    response.qp_state = response.cur_qp_state = static_cast<std::uint8_t>(qp->state);
    response.path_mtu = set.path_mtu;
    response.path_mig_state = set.path_migration;
    response.max_rd_atomic = set.max_reads;
    response.max_dest_rd_atomic = set.max_reads_of_peer;
    response.min_rnr_timer = set.rnr_timer;
    response.port_num = set.port;
    response.timeout = set.timeout;
    response.retry_cnt = set.retry_count;
    response.rnr_retry = set.rnr_retry;
    response.alt_port_num = set.alternate_port;
    response.alt_timeout = set.alternate_timeout;
    response.sq_sig_all = qp->signals_all;
    return command.put(UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
}

int destroy_qp(Command &command)
{
    auto *qp = command.object<QueuePair>(UVERBS_ATTR_DESTROY_QP_HANDLE);
    if (qp == nullptr)
        return EINVAL;
    ib_uverbs_destroy_qp_resp response{};
    response.events_reported = command.file.delivered_events(qp->user_handle, qp->async_events);
    command.file.card.objects.destroy(*qp);
    command.file.card.request_polls(); // requests of its peer wait for a response
    return command.put(UVERBS_ATTR_DESTROY_QP_RESP, response);
}

} // namespace opendoca::card
