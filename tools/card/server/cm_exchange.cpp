// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Files, ids, events and the messages between ids. The commands are in connection_manager.cpp, addresses and paths in
// cm_ports.cpp.
#include "connection_manager.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <sys/stat.h>

#include "cm_constants.hpp"

namespace opendoca::card {

namespace {

/// Copies the parameters that a message carries into an event. The kernel reports private data in the full length that
/// the message has room for, with zeros at its end.
void describe_message(const CmMessage &message, bool is_datagram, std::size_t length, rdma_ucm_event_resp &event)
{
    if (is_datagram) {
        event.param.ud.qp_num = message.qpn;
        event.param.ud.qkey = message.qkey;
        event.param.ud.private_data_len = static_cast<std::uint8_t>(length);
        std::copy_n(message.private_data.begin(), length, event.param.ud.private_data);
        return;
    }
    rdma_ucm_conn_param &connection = event.param.conn;
    connection.private_data_len = static_cast<std::uint8_t>(length);
    std::copy_n(message.private_data.begin(), length, connection.private_data);
    if (message.kind != CmMessage::Kind::request && message.kind != CmMessage::Kind::reply)
        return;
    connection.qp_num = message.qpn;
    connection.srq = message.srq;
    // Each side sends what it wants itself; the receiver gets it as its own.
    connection.responder_resources = message.initiator_depth;
    connection.initiator_depth = message.responder_resources;
    connection.flow_control = message.flow_control;
    connection.retry_count = message.retry_count;
    connection.rnr_retry_count = message.rnr_retry_count;
}

/// Returns the length in which the event of a message shows its private data.
std::size_t shown_length(CmMessage::Kind kind)
{
    switch (kind) {
    case CmMessage::Kind::request:
        return max_request_data;
    case CmMessage::Kind::reply:
        return max_reply_data;
    case CmMessage::Kind::reject:
        return max_reject_data;
    case CmMessage::Kind::disconnect:
        return max_disconnect_data;
    case CmMessage::Kind::ready_to_use:
    case CmMessage::Kind::disconnect_reply:
        return max_ready_data;
    case CmMessage::Kind::resolve_service:
        return max_resolve_data;
    case CmMessage::Kind::resolve_service_reply:
        return max_resolve_reply_data;
    }
    return 0;
}

} // namespace

bool CmId::is_datagram() const
{
    return qp_type == qp_type_ud;
}

CmFile &CmExchange::open(Side side, UniqueFd socket)
{
    CmFile &file = files_.emplace_back();
    file.side = side;
    file.socket = std::move(socket);
    return file;
}

void CmExchange::close(CmFile &file)
{
    std::vector<std::uint32_t> own;
    for (const auto &[number, id] : ids_) {
        if (id->file == &file)
            own.push_back(number);
    }
    for (const std::uint32_t number : own) {
        if (CmId *id = find(number)) // a listener takes its requests with it
            destroy(*id);
    }
    std::erase_if(files_, [&](const CmFile &other) { return &other == &file; });
}

void CmExchange::identify(CmFile &file, const Process &process, std::uint64_t descriptor)
{
    struct stat state {};
    const std::string path = "/proc/" + std::to_string(process.pid()) + "/fd/" + std::to_string(descriptor);
    if (file.inode == 0 && stat(path.c_str(), &state) == 0)
        file.inode = state.st_ino;
}

std::size_t CmExchange::num_listeners() const
{
    const auto is_listening = [](const auto &entry) { return entry.second->state == CmState::listening; };
    return static_cast<std::size_t>(std::ranges::count_if(ids_, is_listening));
}

CmId *CmExchange::find(std::uint32_t number)
{
    const auto found = ids_.find(number);
    return found == ids_.end() ? nullptr : found->second.get();
}

CmId *CmExchange::new_id(CmFile &file, std::uint64_t uid, std::uint16_t port_space, std::uint8_t qp_type)
{
    if (ids_.size() >= max_ids || file.ids >= max_ids_of_file)
        return nullptr;
    // Numbers are reused as late as possible, so that a late message does not meet another id.
    do
        last_number_ = last_number_ % max_ids + 1;
    while (ids_.contains(last_number_));
    auto id = std::make_unique<CmId>();
    id->number = last_number_;
    id->file = &file;
    id->uid = uid;
    id->port_space = port_space;
    id->qp_type = qp_type;
    ++file.ids;
    return (ids_[last_number_] = std::move(id)).get();
}

void CmExchange::destroy(CmId &id)
{
    CmMessage last;
    last.receiver = id.peer;
    switch (id.state) {
    case CmState::request_sent:
        last.kind = CmMessage::Kind::reject;
        last.reason = reject_timeout;
        send(id, last);
        break;
    case CmState::request_received:
        last.kind = id.is_datagram() ? CmMessage::Kind::resolve_service_reply : CmMessage::Kind::reject;
        last.reason = id.is_datagram() ? service_rejected : reject_consumer;
        send(id, last);
        break;
    case CmState::reply_sent:
    case CmState::reply_received:
        last.kind = CmMessage::Kind::reject;
        last.reason = reject_consumer;
        send(id, last);
        break;
    case CmState::established:
        if (!id.is_datagram()) {
            last.kind = CmMessage::Kind::disconnect;
            send(id, last);
        }
        break;
    case CmState::disconnect_received:
        last.kind = CmMessage::Kind::disconnect_reply;
        send(id, last);
        break;
    default:
        break;
    }
    id.state = CmState::failed;
    // The unread requests of a listener end with it.
    std::vector<std::uint32_t> requests;
    CmFile &file = *id.file;
    std::erase_if(file.events, [&](const CmEvent &event) {
        if (event.owner == id.number && event.request != 0)
            requests.push_back(event.request);
        return event.owner == id.number || event.request == id.number;
    });
    for (const std::uint32_t number : requests) {
        if (CmId *request = find(number))
            destroy(*request);
    }
    std::erase_if(ports_, [&](const auto &entry) { return entry.second == &id; });
    --file.ids;
    ids_.erase(id.number);
}

void CmExchange::add_mark(CmFile &file)
{
    // A socket that takes no byte is one that is closed.
    const char mark = 1;
    if (!file.has_mark && ::send(file.socket.get(), &mark, sizeof(mark), MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
        file.has_mark = true;
}

bool CmExchange::take_mark(CmFile &file)
{
    if (!file.has_mark || !file.events.empty())
        return false;
    file.has_mark = false;
    return true;
}

void CmExchange::add_event(CmId &id, CmEvent event)
{
    event.owner = id.number;
    id.file->events.push_back(event);
    add_mark(*id.file);
}

/// The id of a request that the program has not accepted yet gets no events: the program has no name for it.
void CmExchange::report(CmId &id, std::uint32_t event, std::int32_t status, const CmMessage *message)
{
    if (id.uid == 0)
        return;
    CmEvent fresh;
    fresh.content.uid = id.uid;
    fresh.content.id = id.number;
    fresh.content.event = event;
    fresh.content.status = static_cast<std::uint32_t>(status);
    if (message != nullptr)
        describe_message(*message, id.is_datagram(), shown_length(message->kind), fresh.content);
    if (message != nullptr && message->kind == CmMessage::Kind::resolve_service_reply && status == 0)
        describe_address_handle(id, fresh.content.param.ud.ah_attr);
    add_event(id, fresh);
}

void CmExchange::set_deadline(CmId &id, std::uint64_t delay_ns)
{
    id.deadline = now_ns() + delay_ns;
    timers_.emplace(id.deadline, id.number);
}

int CmExchange::serve_timers()
{
    const std::uint64_t now = now_ns();
    while (!timers_.empty() && timers_.begin()->first <= now) {
        const auto [time, number] = *timers_.begin();
        timers_.erase(timers_.begin());
        // An id whose deadline has changed has a later entry.
        if (CmId *id = find(number); id != nullptr && id->deadline == time)
            expire(*id);
    }
    if (timers_.empty())
        return -1;
    constexpr std::uint64_t ns_per_ms = 1'000'000;
    return static_cast<int>((timers_.begin()->first - now) / ns_per_ms) + 1;
}

void CmExchange::expire(CmId &id)
{
    id.deadline = 0;
    switch (id.state) {
    case CmState::request_sent:
    case CmState::reply_sent:
        fail(id, event_unreachable, -ETIMEDOUT, nullptr);
        break;
    case CmState::disconnect_sent:
        report(id, event_disconnected);
        end_connection(id);
        break;
    case CmState::time_wait:
        report(id, event_time_wait_exit);
        break;
    default:
        break;
    }
}

void CmExchange::fail(CmId &id, std::uint32_t event, std::int32_t status, const CmMessage *message)
{
    id.state = CmState::failed;
    id.deadline = 0;
    report(id, event, status, message);
}

void CmExchange::end_connection(CmId &id)
{
    id.state = CmState::time_wait;
    set_deadline(id, time_wait_ns);
}

void CmExchange::remove_device(const Function &function)
{
    for (const auto &[number, id] : ids_) {
        if (id->function == &function)
            report(*id, event_device_removal);
    }
}

bool CmExchange::send(CmId &from, CmMessage message)
{
    const auto is_usable = [](const Function *function) {
        return function != nullptr && function->is_port_up && !function->is_dead && !function->is_unreachable;
    };
    if (!is_usable(from.function) || !is_usable(from.peer_function))
        return false;
    message.sender = from.number;
    receive(*from.peer_function, *from.function, message);
    return true;
}

void CmExchange::refuse(Function &from, const CmMessage &request, std::uint16_t reason)
{
    CmMessage refusal;
    refusal.kind =
        request.kind == CmMessage::Kind::request ? CmMessage::Kind::reject : CmMessage::Kind::resolve_service_reply;
    refusal.receiver = request.sender;
    refusal.reason = reason;
    receive(from, from, refusal);
}

void CmExchange::receive_request(Function &function, Function &from, const CmMessage &message)
{
    const bool is_datagram = message.kind == CmMessage::Kind::resolve_service;
    CmId *listener = listener_of(function, message);
    if (listener == nullptr)
        return refuse(from, message, is_datagram ? service_unsupported : reject_invalid_service);
    CmId *id = listener->waiting < listener->backlog
                   ? new_id(*listener->file, 0, listener->port_space, listener->qp_type)
                   : nullptr;
    if (id == nullptr)
        return refuse(from, message, is_datagram ? service_rejected : reject_consumer);
    id->state = CmState::request_received;
    id->source = message.destination;
    id->destination = message.source;
    id->function = &function;
    id->peer_function = &from;
    id->peer = message.sender;
    id->psn = message.psn;
    id->remote_qpn = message.qpn;
    id->path_mtu = message.path_mtu;
    id->responder_resources = message.initiator_depth;
    id->initiator_depth = message.responder_resources;
    id->retry_count = message.retry_count;
    id->rnr_retry_count = message.rnr_retry_count;
    id->traffic_class = listener->traffic_class;
    id->ack_timeout = listener->ack_timeout;
    // A datagram's requester is named by the message alone; a connection's gets this id by the reply.
    ++listener->waiting;
    CmEvent event;
    event.request = id->number;
    event.content.uid = listener->uid;
    event.content.id = id->number;
    event.content.event = event_connect_request;
    describe_message(message, is_datagram, shown_length(message.kind), event.content);
    add_event(*listener, event);
}

/// Messages that do not fit the state of their receiver are ignored.
void CmExchange::receive(Function &function, Function &from, const CmMessage &message)
{
    using Type = CmMessage::Kind;
    if (message.kind == Type::request || message.kind == Type::resolve_service)
        return receive_request(function, from, message);
    CmId *id = find(message.receiver);
    // A refusal of a request has no sender, and the requester learns its peer by the reply.
    if (id == nullptr || (id->peer != 0 && message.sender != id->peer && message.sender != 0))
        return;
    const bool is_waiting = id->state == CmState::request_sent;
    switch (message.kind) {
    case Type::reply:
        if (!is_waiting)
            return;
        id->state = CmState::reply_received;
        id->deadline = 0;
        id->peer = message.sender;
        id->remote_qpn = message.qpn;
        id->responder_resources = message.initiator_depth;
        id->initiator_depth = message.responder_resources;
        id->rnr_retry_count = message.rnr_retry_count;
        return report(*id, event_connect_response, 0, &message);
    case Type::resolve_service_reply:
        if (!is_waiting || !id->is_datagram())
            return;
        if (message.reason != 0)
            return fail(*id, event_unreachable, message.reason, &message);
        id->state = CmState::established;
        id->deadline = 0;
        return report(*id, event_established, 0, &message);
    case Type::ready_to_use:
        if (id->state != CmState::reply_sent)
            return;
        id->state = CmState::established;
        id->deadline = 0;
        return report(*id, event_established, 0, &message);
    case Type::reject:
        if (is_waiting || id->state == CmState::request_received || id->state == CmState::reply_sent ||
            id->state == CmState::reply_received)
            fail(*id, event_rejected, message.reason, &message);
        return;
    case Type::disconnect:
        // It may overtake the message that the connection is ready.
        if (id->state != CmState::established && id->state != CmState::reply_sent &&
            id->state != CmState::disconnect_sent)
            return;
        id->state = CmState::disconnect_received;
        id->deadline = 0;
        return report(*id, event_disconnected, 0, &message);
    case Type::disconnect_reply:
        if (id->state != CmState::disconnect_sent)
            return;
        report(*id, event_disconnected, 0, &message);
        return end_connection(*id);
    case Type::request:
    case Type::resolve_service:
        return;
    }
}

} // namespace opendoca::card
