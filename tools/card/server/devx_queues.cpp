// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Commands about completion queues and queue pairs that DEVX creates in registered user memory.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "completion.hpp"
#include "devx.hpp"
#include "engine.hpp"
#include "limits.hpp"

namespace opendoca::card {

namespace {

// Opcodes of state transitions.
constexpr std::uint32_t rst2init_qp = 0x502;
constexpr std::uint32_t init2rtr_qp = 0x503;
constexpr std::uint32_t rtr2rts_qp = 0x504;
constexpr std::uint32_t to_error_qp = 0x507;

/// Copies the path of a queue pair context to the attributes.
void take_path(const Mailbox &mailbox, QueuePair &qp)
{
    using namespace prm::qpc;
    ib_uverbs_qp_dest &to = qp.attributes.path;
    to = {};
    to.is_global = mailbox.card().profile.is_ethernet || mailbox.get(path_grh) != 0;
    to.dlid = static_cast<std::uint16_t>(mailbox.get(path_lid));
    std::copy_n(mailbox.in.begin() + path_gid_at, sizeof(to.dgid), to.dgid);
    qp.is_looped_back = mailbox.get(path_loopback) != 0;
    qp.attributes.timeout = static_cast<std::uint8_t>(mailbox.get(path_timeout));
}

/// Copies the remote rights of a queue pair context that the mask of optional attributes names.
void take_rights(const Mailbox &mailbox, QueuePair &qp, std::uint64_t mask)
{
    using namespace prm::modify_qp;
    const auto take = [&](std::uint64_t optional, prm::Field field, std::uint32_t right) {
        if ((mask & optional) != 0)
            qp.attributes.access = (qp.attributes.access & ~right) | (mailbox.get(field) != 0 ? right : 0);
    };
    take(optional_read, prm::qpc::remote_read, right::remote_read);
    take(optional_write, prm::qpc::remote_write, right::remote_write);
    take(optional_atomic, prm::qpc::remote_atomic, right::remote_atomic);
}

/// Returns a number of reads and atomics in flight, at most that of the device.
std::uint8_t reads_of(std::uint64_t logarithm)
{
    return static_cast<std::uint8_t>(std::min(1u << logarithm, max_reads_in_flight));
}

/// Returns the number of a state in queue pair contexts, where the last three differ from those of verbs.
std::uint64_t state_number(QpState state)
{
    switch (state) {
    case QpState::sqe:
        return 4;
    case QpState::sqd:
        return 5;
    default:
        return static_cast<std::uint64_t>(state);
    }
}

} // namespace

prm::Status prm_create_cq(Mailbox &mailbox)
{
    using namespace prm::create_cq;
    const auto entries = 1u << mailbox.get(log_size);
    const std::uint32_t size = mailbox.get(entry_size) != 0 ? 128 : 64;
    UserMemory *record = mailbox.memory_at(record_umem_id, record_offset, queue_record_bytes);
    UserMemory *buffer = mailbox.memory_at(umem_id, umem_offset, std::uint64_t{entries} * size);
    // Record and buffer must be in one process, which the card polls for the queue.
    if (record == nullptr || buffer == nullptr || !buffer->is_writable || record->process != buffer->process ||
        !mailbox.has_page(uar_page))
        return prm::Status::bad_resource;
    auto *cq = mailbox.card().objects.create<CompletionQueue>(mailbox.file);
    if (cq == nullptr)
        return prm::Status::no_resources;
    cq->process = buffer->process;
    cq->entries = entries;
    cq->entry_size = size;
    cq->doorbell_record = record->start + mailbox.get(record_offset);
    cq->buffer = buffer->start + mailbox.get(umem_offset);
    cq->buffer_memory = Use(buffer);
    cq->record_memory = Use(record);
    cq->ignores_overrun = mailbox.get(ignore_overrun) != 0;
    if (prepare_arm(*cq) != Access::done) {
        mailbox.card().objects.destroy(*cq);
        return prm::Status::bad_resource;
    }
    cq->process->completion_queues.push_back(cq);
    mailbox.set(number, cq->number());
    mailbox.created = cq;
    return prm::Status::ok;
}

prm::Status prm_create_qp(Mailbox &mailbox)
{
    using namespace prm::qpc;
    auto *of_sends = mailbox.own<CompletionQueue>(send_cq), *of_receives = mailbox.own<CompletionQueue>(receive_cq);
    auto *domain = mailbox.own<ProtectionDomain>(pd);
    const auto kind = mailbox.get(receive_type);
    auto *shared = kind == receive_type_shared ? mailbox.own<SharedReceiveQueue>(receive_queue) : nullptr;
    const bool sends = mailbox.get(no_send_queue) == 0;
    if (kind != receive_type_own && kind != receive_type_none && (shared == nullptr || shared->domain))
        return prm::Status::bad_parameter;
    const std::uint32_t receive_entries = kind == receive_type_own ? 1u << mailbox.get(log_receive_size) : 0;
    const std::uint32_t receive_log_stride = 4 + mailbox.get32(log_receive_stride);
    const std::uint32_t send_slots = sends ? 1u << mailbox.get(log_send_size) : 0;
    const std::uint64_t receive_bytes = std::uint64_t{receive_entries} << receive_log_stride;
    UserMemory *record = mailbox.memory_at(record_umem_id, record_offset, queue_record_bytes);
    UserMemory *buffer = mailbox.memory_at(prm::create_qp::umem_id, prm::create_qp::umem_offset,
                                           receive_bytes + std::uint64_t{send_slots} * 64);
    if (of_sends == nullptr || of_receives == nullptr || domain == nullptr || record == nullptr || buffer == nullptr ||
        record->process != buffer->process || !mailbox.has_page(uar_page))
        return prm::Status::bad_resource;
    auto *qp = mailbox.card().objects.create<QueuePair>(mailbox.file);
    if (qp == nullptr)
        return prm::Status::no_resources;
    qp->process = buffer->process;
    qp->pd = Use(domain);
    qp->send_cq = Use(of_sends);
    qp->receive_cq = Use(of_receives);
    qp->srq = Use(shared);
    qp->user_index = mailbox.get32(user_index);
    qp->attributes.max_reads = qp->attributes.max_reads_of_peer =
        1; // both fields are logarithms, so the minimum is one request
    qp->receive_entries = receive_entries;
    qp->receive_log_stride = receive_log_stride;
    qp->send_slots = send_slots;
    qp->doorbell_record = record->start + mailbox.get(record_offset);
    qp->receive_buffer = buffer->start + mailbox.get(prm::create_qp::umem_offset);
    qp->buffer_memory = Use(buffer);
    qp->record_memory = Use(record);
    qp->send_buffer = qp->receive_buffer + receive_bytes;
    qp->process->queue_pairs.push_back(qp);
    mailbox.set(prm::create_qp::number, qp->number());
    mailbox.created = qp;
    return prm::Status::ok;
}

/// Carries out a state transition of a queue pair.
prm::Status prm_change_qp_state(Mailbox &mailbox)
{
    using namespace prm::qpc;
    auto *qp = mailbox.own<QueuePair>(prm::modify_qp::number);
    if (qp == nullptr)
        return prm::Status::bad_resource;
    const auto opcode = static_cast<std::uint32_t>(mailbox.get(prm::opcode));
    // 2ERR_QP and 2RST_QP are allowed in any state.
    const QpState from = opcode == rst2init_qp   ? QpState::reset
                         : opcode == init2rtr_qp ? QpState::init
                         : opcode == rtr2rts_qp  ? QpState::rtr
                                                 : qp->state;
    if (qp->state != from)
        return prm::Status::bad_queue_pair_state; // before anything changes
    QpAttributes &set = qp->attributes;
    QpState to = QpState::reset;
    switch (opcode) {
    case rst2init_qp:
        to = QpState::init;
        take_rights(mailbox, *qp, ~0u);
        break;
    case init2rtr_qp:
        to = QpState::rtr;
        set.destination = mailbox.get32(remote_qpn);
        set.path_mtu = static_cast<std::uint8_t>(mailbox.get(mtu));
        set.receive_psn = mailbox.get32(next_receive_psn);
        set.rnr_timer = static_cast<std::uint8_t>(mailbox.get(rnr_timer));
        set.max_reads_of_peer = reads_of(mailbox.get(log_reads_of_peer));
        take_path(mailbox, *qp);
        take_rights(mailbox, *qp, mailbox.get(prm::modify_qp::optional));
        break;
    case rtr2rts_qp:
        to = QpState::rts;
        set.rnr_retry = static_cast<std::uint8_t>(mailbox.get(rnr_retry));
        set.retry_count = static_cast<std::uint8_t>(mailbox.get(retry_count));
        set.send_psn = mailbox.get32(next_send_psn);
        set.max_reads = reads_of(mailbox.get(log_reads));
        if (mailbox.get(path_timeout) != 0)
            set.timeout = static_cast<std::uint8_t>(mailbox.get(path_timeout));
        take_rights(mailbox, *qp, mailbox.get(prm::modify_qp::optional));
        break;
    case to_error_qp:
        to = QpState::error;
        break;
    default:
        break;
    }
    set_state_of(*qp, to);
    return prm::Status::ok;
}

/// Stores the attributes by which programs find the peer of a queue pair.
prm::Status prm_query_qp(Mailbox &mailbox)
{
    using namespace prm::qpc;
    const auto *qp = mailbox.own<QueuePair>(prm::modify_qp::number);
    if (qp == nullptr)
        return prm::Status::bad_resource;
    const QpAttributes &set = qp->attributes;
    mailbox.set(state, state_number(qp->state));
    mailbox.set(pd, qp->pd ? qp->pd->number() : 0);
    mailbox.set(mtu, set.path_mtu);
    mailbox.set(user_index, qp->user_index);
    mailbox.set(remote_qpn, set.destination);
    mailbox.set(path_grh, set.path.is_global);
    mailbox.set(path_lid, set.path.dlid);
    mailbox.set(path_timeout, set.timeout);
    mailbox.set(path_gid_index, set.path.sgid_index);
    mailbox.set(path_hop_limit, set.path.hop_limit);
    mailbox.set(path_port, port_number);
    std::copy_n(set.path.dgid, sizeof(set.path.dgid), mailbox.out.begin() + path_gid_at);
    mailbox.set(retry_count, set.retry_count);
    mailbox.set(rnr_retry, set.rnr_retry);
    mailbox.set(next_send_psn, set.send_psn);
    mailbox.set(next_receive_psn, set.receive_psn);
    mailbox.set(rnr_timer, set.rnr_timer);
    mailbox.set(remote_read, (set.access & right::remote_read) != 0);
    mailbox.set(remote_write, (set.access & right::remote_write) != 0);
    mailbox.set(remote_atomic, (set.access & right::remote_atomic) != 0);
    mailbox.set(send_cq, qp->send_cq ? qp->send_cq->number() : 0);
    mailbox.set(receive_cq, qp->receive_cq ? qp->receive_cq->number() : 0);
    mailbox.set(receive_queue, qp->srq ? qp->srq->number() : 0);
    return prm::Status::ok;
}

/// Changes a queue pair within its state. Only the switch for DMA (MMO) has an effect.
prm::Status prm_change_qp(Mailbox &mailbox)
{
    using namespace prm::modify_qp;
    auto *qp = mailbox.own<QueuePair>(number);
    if (qp == nullptr)
        return prm::Status::bad_resource;
    const bool is_init = mailbox.get(prm::opcode) == 0x50e;
    if (qp->state != (is_init ? QpState::init : QpState::rts))
        return prm::Status::bad_queue_pair_state;
    if (is_init && mailbox.get(has_extension) != 0 && (mailbox.get(extension_mask) & mask_mmo) != 0) {
        if (!mailbox.card().profile.dma_by_queue_pair)
            return prm::Status::bad_parameter;
        qp->is_mmo_enabled = mailbox.get(mmo) != 0;
    }
    return prm::Status::ok;
}

} // namespace opendoca::card
