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
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <sys/socket.h>
#include <sys/stat.h>

#include "cm_constants.hpp"
#include "roce_network.hpp"

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
    case CmMessage::Kind::receipt:
    case CmMessage::Kind::load_alternate:
    case CmMessage::Kind::alternate_reply:
        break;
    }
    return 0;
}

bool is_usable(const Function &function)
{
    return function.is_port_up && !function.is_dead && !function.is_unreachable;
}

std::uint32_t random_salt()
{
    // Ids are smaller, so that no communication id is zero.
    constexpr std::uint32_t above_all_ids = 1u << 31;
    return std::random_device{}() | above_all_ids;
}

bool begins_exchange(CmMessage::Kind kind)
{
    return kind == CmMessage::Kind::request || kind == CmMessage::Kind::resolve_service ||
           kind == CmMessage::Kind::disconnect;
}

} // namespace

CmExchange::CmExchange(Card &card) : CmPorts(card), salt_(random_salt()) {}

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
    switch (id.state) {
    case CmState::request_sent:
        if (!id.is_datagram()) {
            last.kind = CmMessage::Kind::reject;
            last.reason = reject_timeout;
            send(id, last);
        }
        break;
    case CmState::request_received:
    case CmState::reply_sent:
    case CmState::reply_received:
        last.kind = id.is_datagram() ? CmMessage::Kind::resolve_service_reply : CmMessage::Kind::reject;
        last.reason = id.is_datagram() ? service_rejected : reject_consumer;
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
    if (id.is_passive)
        requests_.erase({id.peer_node.gid.gid, id.peer});
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
    // One entry for each id: a peer may ask for more time as often as it likes.
    const auto [first, last] = timers_.equal_range(id.deadline);
    for (auto entry = first; entry != last; ++entry) {
        if (entry->second == id.number) {
            timers_.erase(entry);
            break;
        }
    }
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
    case CmState::disconnect_sent:
        if (id.repetitions < max_repetitions) {
            ++id.repetitions;
            set_deadline(id, time_of(response_timeout));
            deliver(*id.function, id.peer_node, id.last_sent);
        } else if (id.state == CmState::disconnect_sent) {
            report(id, event_disconnected);
            end_connection(id);
        } else {
            fail(id, event_unreachable, -ETIMEDOUT, nullptr);
        }
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

void CmExchange::complete(CmId &from, CmMessage &message)
{
    if (begins_exchange(message.kind))
        from.transaction = static_cast<std::uint64_t>(salt_) << 32 | ++last_transaction_;
    message.transaction = from.transaction;
    message.sender = communication_id(from.number);
    message.receiver = from.peer;
    message.qp_type = from.qp_type;
    message.remote_qpn = from.remote_qpn;
    message.node_guid = card_.guid_of(from.function->profile);
    if (message.kind == CmMessage::Kind::resolve_service_reply) {
        message.port_space = from.port_space;
        message.destination.port = from.source.port;
    }
}

void CmExchange::send(CmId &from, CmMessage message)
{
    if (message.kind == CmMessage::Kind::reject)
        message.answered = from.state == CmState::request_received ? CmMessage::Answered::request
                           : from.state == CmState::reply_received ? CmMessage::Answered::reply
                                                                   : CmMessage::Answered::other;
    complete(from, message);
    from.last_sent = message;
    deliver(*from.function, from.peer_node, message);
}

void CmExchange::send_until_answered(CmId &from, const CmMessage &message)
{
    // Before the message is sent: on this card, the answer is there when send() returns.
    from.repetitions = 0;
    set_deadline(from, time_of(response_timeout));
    send(from, message);
}

void CmExchange::deliver(Function &from, const CmNode &to, const CmMessage &message)
{
    if (!is_usable(from))
        return;
    if (to.function == nullptr)
        card_.network->send_management(from, to.gid, encode(message));
    else if (is_usable(*to.function))
        handle(*to.function, {&from, {}}, message);
}

void CmExchange::receive(Function &function, const Address &source,
                         std::span<const std::uint8_t, management_datagram_bytes> datagram)
{
    if (const std::optional<CmMessage> message = decode(datagram))
        handle(function, {nullptr, source}, *message);
}

void CmExchange::refuse(Function &function, const CmNode &from, const CmMessage &request, std::uint16_t reason)
{
    CmMessage refusal;
    refusal.kind =
        request.kind == CmMessage::Kind::request ? CmMessage::Kind::reject : CmMessage::Kind::resolve_service_reply;
    refusal.transaction = request.transaction;
    refusal.receiver = request.sender;
    refusal.port_space = request.port_space;
    refusal.destination.port = request.destination.port;
    refusal.reason = reason;
    deliver(function, from, refusal);
}

void CmExchange::send_receipt(CmId &id, CmMessage::Answered answered)
{
    CmMessage receipt;
    receipt.kind = CmMessage::Kind::receipt;
    receipt.answered = answered;
    receipt.timeout = service_timeout;
    complete(id, receipt);
    deliver(*id.function, id.peer_node, receipt);
}

/// The peer's queue pair has a connection already, so its machine has begun anew. The old connection ends; the peer may
/// ask again (InfiniBand specification, 12.9.8.3.1).
bool CmExchange::end_stale_connection(const CmNode &from, std::uint32_t qpn)
{
    bool has_one = false;
    for (const auto &[number, id] : ids_) {
        if (id->is_datagram() || id->state != CmState::established || id->peer_node != from || id->remote_qpn != qpn)
            continue;
        has_one = true;
        id->state = CmState::disconnect_sent;
        CmMessage message;
        message.kind = CmMessage::Kind::disconnect;
        send_until_answered(*id, message);
    }
    return has_one;
}

CmId *CmExchange::requested_by(const CmNode &from, std::uint32_t communication_id)
{
    if (from.function == nullptr) {
        const auto found = requests_.find({from.gid.gid, communication_id});
        return found == requests_.end() ? nullptr : found->second;
    }
    for (const auto &[key, id] : requests_) { // a rejection does not say by which address it knows the peer
        if (key.second == communication_id && id->peer_node == from)
            return id;
    }
    return nullptr;
}

void CmExchange::handle_repeated_request(CmId &id, const CmMessage &request)
{
    switch (id.state) {
    case CmState::request_received:
        // The program has not answered yet. A SIDR REQ has no receipt.
        if (!id.is_datagram())
            send_receipt(id, CmMessage::Answered::request);
        break;
    case CmState::established:
        if (!id.is_datagram())
            break;
        [[fallthrough]];
    case CmState::reply_sent:
        deliver(*id.function, id.peer_node, id.last_sent);
        break;
    case CmState::failed:
        if (id.last_sent.kind == CmMessage::Kind::reject || id.last_sent.kind == CmMessage::Kind::resolve_service_reply)
            deliver(*id.function, id.peer_node, id.last_sent);
        break;
    case CmState::time_wait: // the peer uses its id again
        refuse(*id.function, id.peer_node, request, reject_stale);
        break;
    default:
        break;
    }
}

void CmExchange::handle_request(Function &function, const CmNode &from, const CmMessage &message)
{
    constexpr std::uint8_t least_mtu = 1, largest_mtu = 5; // ibv_mtu
    const bool is_datagram = message.kind == CmMessage::Kind::resolve_service;
    const CmNode node = from.function != nullptr ? node_of(*from.function, message.source) : from;
    if (const auto found = requests_.find({node.gid.gid, message.sender}); found != requests_.end())
        return handle_repeated_request(*found->second, message);
    CmId *listener = listener_of(function, message, from.function == nullptr);
    if (listener == nullptr)
        return refuse(function, from, message, is_datagram ? service_unsupported : reject_invalid_service);
    if (is_datagram && !listener->is_datagram())
        return refuse(function, from, message, service_unsupported);
    if (!is_datagram && message.qp_type != listener->qp_type)
        return refuse(function, from, message, reject_transport);
    if (!is_datagram && (message.path_mtu < least_mtu || message.path_mtu > largest_mtu))
        return refuse(function, from, message, reject_path_mtu);
    if (!is_datagram && from.function == nullptr && end_stale_connection(from, message.qpn))
        return refuse(function, from, message, reject_stale);
    CmId *id = listener->waiting < listener->backlog
                   ? new_id(*listener->file, 0, listener->port_space, listener->qp_type)
                   : nullptr;
    if (id == nullptr)
        return refuse(function, from, message, is_datagram ? service_rejected : reject_consumer);
    id->function = &function;
    id->peer_node = node;
    requests_[{node.gid.gid, message.sender}] = id;
    begin_passive(*listener, *id, message);
}

void CmExchange::begin_passive(CmId &listener, CmId &id, const CmMessage &message)
{
    id.state = CmState::request_received;
    id.is_passive = true;
    id.source = message.destination;
    id.destination = message.source;
    id.peer = message.sender;
    id.transaction = message.transaction;
    id.psn = id.remote_psn = message.psn; // as its own, this end takes the same
    id.remote_qpn = message.qpn;
    id.path_mtu = message.path_mtu;
    id.responder_resources = message.initiator_depth;
    id.initiator_depth = message.responder_resources;
    id.retry_count = message.retry_count;
    id.rnr_retry_count = message.rnr_retry_count;
    id.traffic_class = listener.traffic_class;
    id.ack_timeout = listener.ack_timeout;
    ++listener.waiting;
    CmEvent event;
    event.request = id.number;
    event.content.uid = listener.uid;
    event.content.id = id.number;
    event.content.event = event_connect_request;
    describe_message(message, id.is_datagram(), shown_length(message.kind), event.content);
    add_event(listener, event);
}

void CmExchange::handle_reply(CmId &id, const CmMessage &message)
{
    if (id.is_datagram())
        return;
    if (id.state == CmState::reply_received)
        return send_receipt(id, CmMessage::Answered::reply); // the program has not answered yet
    if (id.state == CmState::established && !id.is_passive)
        return deliver(*id.function, id.peer_node, id.last_sent); // that the connection is ready; it was lost
    if (id.state != CmState::request_sent)
        return;
    id.state = CmState::reply_received;
    id.deadline = 0;
    id.peer = message.sender;
    id.remote_psn = message.psn;
    id.remote_qpn = message.qpn;
    id.responder_resources = message.initiator_depth;
    id.initiator_depth = message.responder_resources;
    id.rnr_retry_count = message.rnr_retry_count;
    report(id, event_connect_response, 0, &message);
}

void CmExchange::handle_rejection(CmId &id, const CmMessage &message)
{
    switch (id.state) {
    case CmState::request_sent:
    case CmState::request_received:
    case CmState::reply_sent:
    case CmState::reply_received:
        return fail(id, event_rejected, message.reason, &message);
    case CmState::established:
    case CmState::disconnect_sent:
        // The peer has ended before it knew that it was connected.
        if (id.is_datagram())
            return;
        report(id, event_rejected, message.reason, &message);
        return end_connection(id);
    default:
        return;
    }
}

void CmExchange::handle_service_reply(CmId &id, const CmMessage &message)
{
    if (id.state != CmState::request_sent || !id.is_datagram())
        return;
    if (message.reason != 0)
        return fail(id, event_unreachable, message.reason, &message);
    id.state = CmState::established;
    id.deadline = 0;
    report(id, event_established, 0, &message);
}

void CmExchange::handle_disconnect(Function &function, const CmNode &from, CmId *id, const CmMessage &message)
{
    if (id == nullptr || id->state == CmState::time_wait || id->state == CmState::failed) {
        // The connection has ended here, which is what the peer wants to know.
        CmMessage reply;
        reply.kind = CmMessage::Kind::disconnect_reply;
        reply.transaction = message.transaction;
        reply.sender = message.receiver;
        reply.receiver = message.sender;
        return deliver(function, from, reply);
    }
    // It may overtake the message that the connection is ready.
    if ((id->state != CmState::established && id->state != CmState::reply_sent &&
         id->state != CmState::disconnect_sent) ||
        id->is_datagram() || message.remote_qpn != id->local_qpn)
        return;
    id->state = CmState::disconnect_received;
    id->transaction = message.transaction;
    id->deadline = 0;
    report(*id, event_disconnected, 0, &message);
}

void CmExchange::handle_receipt(CmId &id, const CmMessage &message)
{
    const CmState waiting =
        message.answered == CmMessage::Answered::request ? CmState::request_sent : CmState::reply_sent;
    if (id.state == waiting && message.answered != CmMessage::Answered::other)
        set_deadline(id, time_of(message.timeout));
}

/// Messages that do not fit the state of their receiver are ignored.
void CmExchange::handle(Function &function, const CmNode &from, const CmMessage &message)
{
    using Type = CmMessage::Kind;
    if (message.kind == Type::request || message.kind == Type::resolve_service)
        return handle_request(function, from, message);
    CmId *id = find(number_of(message.receiver));
    if (message.kind == Type::reject && message.receiver == 0) // by a requester that has got no answer
        id = requested_by(from, message.sender);
    // A refusal of a request has no sender, and the requester learns its peer by the reply.
    const bool is_from_peer =
        id != nullptr && id->function == &function && id->peer_node == from &&
        (id->peer == 0 || id->peer == message.sender || (message.sender == 0 && message.kind == Type::reject));
    if (message.kind == Type::disconnect)
        return handle_disconnect(function, from, is_from_peer ? id : nullptr, message);
    if (!is_from_peer)
        return;
    switch (message.kind) {
    case Type::reply:
        return handle_reply(*id, message);
    case Type::resolve_service_reply:
        return handle_service_reply(*id, message);
    case Type::receipt:
        return handle_receipt(*id, message);
    case Type::ready_to_use:
        if (id->state != CmState::reply_sent)
            return;
        id->state = CmState::established;
        id->deadline = 0;
        return report(*id, event_established, 0, &message);
    case Type::reject:
        return handle_rejection(*id, message);
    case Type::disconnect_reply:
        if (id->state != CmState::disconnect_sent)
            return;
        report(*id, event_disconnected, 0, &message);
        return end_connection(*id);
    case Type::load_alternate: {
        CmMessage refusal;
        refusal.kind = Type::alternate_reply;
        complete(*id, refusal);
        refusal.transaction = message.transaction;
        return deliver(function, from, refusal);
    }
    case Type::request:
    case Type::resolve_service:
    case Type::disconnect:
    case Type::alternate_reply:
        return;
    }
}

} // namespace opendoca::card
