// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Commands about completion queues and queue pairs that DEVX creates in registered user memory.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "devx.hpp"
#include "engine.hpp"

namespace opendoca::card {

namespace {

/// Returns the user memory of the file that covers `bytes` at an offset and is writable. Returns null if there is none.
UserMemory *memory_at(const Mailbox &mailbox, prm::Field id, prm::Field offset, std::uint64_t bytes)
{
    auto *memory = mailbox.card().objects.find<UserMemory>(mailbox.get32(id), mailbox.file);
    const std::uint64_t at = mailbox.get(offset);
    const bool fits = memory != nullptr && memory->is_writable && at <= memory->length && bytes <= memory->length - at;
    return fits ? memory : nullptr;
}

/// Returns an object of this file by its number, or null.
template <typename T>
T *own(const Mailbox &mailbox, prm::Field number)
{
    T *found = mailbox.card().objects.by_number<T>(mailbox.get32(number));
    return found != nullptr && &found->file == &mailbox.file ? found : nullptr;
}

/// Returns whether the file owns the UAR with this number.
bool has_page(const Mailbox &mailbox, prm::Field number)
{
    return mailbox.card().objects.find<Uar>(mailbox.get32(number), mailbox.file) != nullptr;
}

constexpr std::uint64_t queue_record_bytes = 8;

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

} // namespace

prm::Status prm_create_cq(Mailbox &mailbox)
{
    using namespace prm::create_cq;
    const auto entries = 1u << mailbox.get(log_size);
    const std::uint32_t size = mailbox.get(entry_size) != 0 ? 128 : 64;
    UserMemory *record = memory_at(mailbox, record_umem_id, record_offset, queue_record_bytes);
    UserMemory *buffer = memory_at(mailbox, umem_id, umem_offset, std::uint64_t{entries} * size);
    // Record and buffer must be in one process, which the card polls for the queue.
    if (record == nullptr || buffer == nullptr || record->process != buffer->process || !has_page(mailbox, uar_page))
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
    cq->process->completion_queues.push_back(cq);
    mailbox.set(number, cq->number());
    mailbox.created = cq;
    return prm::Status::ok;
}

prm::Status prm_create_qp(Mailbox &mailbox)
{
    using namespace prm::qpc;
    auto *of_sends = own<CompletionQueue>(mailbox, send_cq), *of_receives = own<CompletionQueue>(mailbox, receive_cq);
    auto *domain = own<ProtectionDomain>(mailbox, pd);
    const bool receives = mailbox.get(receive_type) != receive_type_none, sends = mailbox.get(no_send_queue) == 0;
    const std::uint32_t receive_entries = receives ? 1u << mailbox.get(log_receive_size) : 0;
    const std::uint32_t receive_log_stride = 4 + mailbox.get32(log_receive_stride);
    const std::uint32_t send_slots = sends ? 1u << mailbox.get(log_send_size) : 0;
    const std::uint64_t receive_bytes = std::uint64_t{receive_entries} << receive_log_stride;
    UserMemory *record = memory_at(mailbox, record_umem_id, record_offset, queue_record_bytes);
    UserMemory *buffer = memory_at(mailbox, prm::create_qp::umem_id, prm::create_qp::umem_offset,
                                   receive_bytes + std::uint64_t{send_slots} * 64);
    if (of_sends == nullptr || of_receives == nullptr || domain == nullptr || record == nullptr || buffer == nullptr ||
        record->process != buffer->process || !has_page(mailbox, uar_page))
        return prm::Status::bad_resource;
    auto *qp = mailbox.card().objects.create<QueuePair>(mailbox.file);
    if (qp == nullptr)
        return prm::Status::no_resources;
    qp->process = buffer->process;
    qp->pd = Use(domain);
    qp->send_cq = Use(of_sends);
    qp->receive_cq = Use(of_receives);
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
    auto *qp = own<QueuePair>(mailbox, prm::modify_qp::number);
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
        set.access = (mailbox.get(remote_read) != 0 ? right::remote_read : 0) |
                     (mailbox.get(remote_write) != 0 ? right::remote_write : 0) |
                     (mailbox.get(remote_atomic) != 0 ? right::remote_atomic : 0);
        break;
    case init2rtr_qp:
        to = QpState::rtr;
        set.destination = mailbox.get32(remote_qpn);
        set.path_mtu = static_cast<std::uint8_t>(mailbox.get(mtu));
        set.receive_psn = mailbox.get32(next_receive_psn);
        set.rnr_timer = static_cast<std::uint8_t>(mailbox.get(rnr_timer));
        set.max_reads_of_peer = 1; // a logarithm in the command, which this model reads as 0
        take_path(mailbox, *qp);
        break;
    case rtr2rts_qp:
        to = QpState::rts;
        set.rnr_retry = static_cast<std::uint8_t>(mailbox.get(rnr_retry));
        set.retry_count = static_cast<std::uint8_t>(mailbox.get(retry_count));
        set.send_psn = mailbox.get32(next_send_psn);
        if (mailbox.get(path_timeout) != 0)
            set.timeout = static_cast<std::uint8_t>(mailbox.get(path_timeout));
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

/// Changes a queue pair within its state. Only the switch for DMA (MMO) has an effect.
prm::Status prm_change_qp(Mailbox &mailbox)
{
    using namespace prm::modify_qp;
    auto *qp = own<QueuePair>(mailbox, number);
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
