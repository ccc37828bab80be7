// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The commands of /dev/infiniband/rdma_cm. What a program writes is untrusted: lengths, ids and addresses are checked
// here, and its memory is accessed through Process only.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <type_traits>

#include <endian.h>
#include <netinet/in.h>
#include <rdma/ib_user_verbs.h>
#include <sys/stat.h>

#include "../wire.hpp"
#include "cm_constants.hpp"
#include "connection_manager.hpp"
#include "limits.hpp"

namespace opendoca::card {

namespace {

// Forms of the structures in kernels before 5.7, without the extended connection attributes (ECE).
constexpr std::size_t old_connect_bytes = offsetof(rdma_ucm_connect, ece);
constexpr std::size_t old_accept_bytes = offsetof(rdma_ucm_accept, ece);
constexpr std::size_t old_event_bytes = offsetof(rdma_ucm_event_resp, reserved);
constexpr std::size_t old_route_bytes = offsetof(rdma_ucm_query_route_resp, ibdev_index);
constexpr std::size_t old_query_address_bytes = offsetof(rdma_ucm_query_addr_resp, ibdev_index);
constexpr std::size_t largest_command = 512;

/// Bits of ibv_qp_attr_mask.
namespace attribute {
enum : std::uint32_t {
    state = 1 << 0,
    access = 1 << 3,
    pkey_index = 1 << 4,
    port = 1 << 5,
    qkey = 1 << 6,
    path = 1 << 7,
    mtu = 1 << 8,
    timeout = 1 << 9,
    retry_count = 1 << 10,
    rnr_retry = 1 << 11,
    receive_psn = 1 << 12,
    max_reads = 1 << 13,
    rnr_timer = 1 << 15,
    send_psn = 1 << 16,
    max_reads_of_peer = 1 << 17,
    destination = 1 << 20,
};
} // namespace attribute

/// Parses a socket address. Returns an errno, or 0.
int parse_address(const void *from, std::size_t size, CmAddress &address)
{
    sa_family_t family = AF_UNSPEC;
    if (size < sizeof(family))
        return EINVAL;
    std::memcpy(&family, from, sizeof(family));
    const std::size_t needed = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (family != AF_INET && family != AF_INET6)
        return EAFNOSUPPORT;
    if (size < needed)
        return EINVAL;
    sockaddr_storage socket{};
    std::memcpy(&socket, from, needed);
    address = {};
    address.ip = Address::of_socket(socket);
    address.is_ipv6 = family == AF_INET6;
    sockaddr_in6 ipv6{}; // both families have the port at the same place
    std::memcpy(&ipv6, from, needed);
    address.port = be16toh(ipv6.sin6_port);
    address.scope = address.is_ipv6 ? ipv6.sin6_scope_id : 0;
    return 0;
}

/// Stores a socket address, of at most sizeof(sockaddr_in6). Returns its size.
std::uint16_t store_address(const CmAddress &address, void *to)
{
    if (!address.is_ipv6) {
        sockaddr_in ipv4{};
        ipv4.sin_family = AF_INET;
        ipv4.sin_port = htobe16(address.port);
        std::memcpy(&ipv4.sin_addr, address.ip.gid.data() + 12, sizeof(ipv4.sin_addr));
        std::memcpy(to, &ipv4, sizeof(ipv4));
        return sizeof(ipv4);
    }
    sockaddr_in6 ipv6{};
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htobe16(address.port);
    std::memcpy(&ipv6.sin6_addr, address.ip.gid.data(), sizeof(ipv6.sin6_addr));
    ipv6.sin6_scope_id = address.scope;
    std::memcpy(to, &ipv6, sizeof(ipv6));
    return sizeof(ipv6);
}

/// Copies what a program passes with CONNECT or ACCEPT into a message. Returns an errno, or 0.
int copy_parameters(const rdma_ucm_conn_param &from, std::size_t max_data, CmMessage &message)
{
    if (from.private_data_len > max_data)
        return EINVAL;
    constexpr std::uint32_t number_mask = 0xffffff;
    constexpr std::uint8_t most_retries = 7;
    message.qpn = from.qp_num & number_mask;
    message.srq = from.srq != 0 ? 1 : 0;
    message.responder_resources = from.responder_resources;
    message.initiator_depth = from.initiator_depth;
    message.flow_control = from.flow_control != 0 ? 1 : 0;
    message.retry_count = std::min(from.retry_count, most_retries);
    message.rnr_retry_count = std::min(from.rnr_retry_count, most_retries);
    std::copy_n(from.private_data, from.private_data_len, message.private_data.begin());
    return 0;
}

} // namespace

/// One command of a program, with a copy of its structure. On the stack of execute().
class ConnectionManager::Call {
public:
    Call(CmFile &its_file, const Process &its_process, Reply &its_reply)
        : file(its_file),
          process(its_process),
          reply(its_reply)
    {
    }

    /// Copies the command. Returns an errno, or 0.
    int load(std::uint64_t address, std::uint64_t size)
    {
        if (size < sizeof(header))
            return EINVAL;
        if (process.read(address, &header, sizeof(header)) != Access::done)
            return EFAULT;
        if (header.in > size - sizeof(header))
            return EINVAL;
        length_ = std::min<std::size_t>(header.in, input_.size());
        return process.read(address + sizeof(header), input_.data(), length_) == Access::done ? 0 : EFAULT;
    }

    /// Copies the structure, with zeros in place of what an older program does not have. Returns false if it is shorter
    /// than `least` bytes.
    template <typename T>
    [[nodiscard]] bool get(T &to, std::size_t least = sizeof(T)) const
    {
        static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= largest_command);
        std::memcpy(&to, input_.data(), sizeof(T));
        return length_ >= least;
    }

    /// Stores a response, of which an older program has room for the first `least` bytes. Returns an errno, or 0.
    int put(std::uint64_t address, const void *from, std::size_t size, std::size_t least) const
    {
        if (header.out < least)
            return ENOSPC;
        const std::size_t length = std::min<std::size_t>(header.out, size);
        return process.write(address, from, length) == Access::done ? 0 : EFAULT;
    }
    template <typename T>
    int put(std::uint64_t address, const T &from) const
    {
        return put(address, &from, sizeof(from), sizeof(from));
    }

    CmFile &file;
    const Process &process;
    Reply &reply;
    rdma_ucm_cmd_hdr header{};
    CmId *id = nullptr; ///< set by of()

    /// Finds the id of a command. Returns an errno, or 0.
    int of(ConnectionManager &manager, std::uint32_t number)
    {
        id = manager.find(number);
        return id == nullptr                                      ? ENOENT
               : id->file != &file                                ? EINVAL
               : id->function != nullptr && id->function->is_dead ? EIO
                                                                  : 0;
    }

private:
    std::array<std::uint8_t, largest_command> input_{};
    std::size_t length_ = 0;
};

int ConnectionManager::execute(CmFile &file, const Process &process, std::uint64_t address, std::uint64_t size,
                               Reply &reply)
{
    // By number; null: not supported, as GET_OPTION in the kernel.
    static constexpr Handler handlers[] = {
        &ConnectionManager::create_id,      &ConnectionManager::destroy_id,
        &ConnectionManager::bind_ip,        &ConnectionManager::resolve_ip,
        &ConnectionManager::resolve_route,  &ConnectionManager::query_route,
        &ConnectionManager::connect,        &ConnectionManager::listen,
        &ConnectionManager::accept,         &ConnectionManager::reject,
        &ConnectionManager::disconnect,     &ConnectionManager::init_qp_attributes,
        &ConnectionManager::get_event,      nullptr,
        &ConnectionManager::set_option,     &ConnectionManager::notify,
        &ConnectionManager::join_multicast, &ConnectionManager::join_multicast,
        &ConnectionManager::migrate,        &ConnectionManager::query,
        &ConnectionManager::bind,           &ConnectionManager::resolve_address,
        &ConnectionManager::join_multicast,
    };
    static_assert(std::size(handlers) == RDMA_USER_CM_CMD_JOIN_MCAST + 1);
    Call call(file, process, reply);
    if (const int error = call.load(address, size); error != 0)
        return error;
    if (call.header.cmd >= std::size(handlers))
        return EINVAL;
    const Handler handler = handlers[call.header.cmd];
    return handler == nullptr ? ENOSYS : (this->*handler)(call);
}

int ConnectionManager::create_id(Call &call)
{
    rdma_ucm_create_id in;
    if (!call.get(in))
        return EINVAL;
    const std::uint8_t type = in.ps == RDMA_PS_TCP   ? qp_type_rc
                              : in.ps == RDMA_PS_UDP ? qp_type_ud
                              : in.ps == RDMA_PS_IB  ? in.qp_type
                                                     : std::uint8_t{0};
    if (type != qp_type_rc && type != qp_type_uc && type != qp_type_ud)
        return EINVAL;
    // The program learns the number by the response alone.
    if (call.header.out < sizeof(rdma_ucm_create_id_resp))
        return ENOSPC;
    CmId *id = new_id(call.file, in.uid, in.ps, type);
    if (id == nullptr)
        return ENOMEM;
    const int error = call.put(in.response, rdma_ucm_create_id_resp{id->number});
    if (error != 0)
        destroy(*id);
    return error;
}

int ConnectionManager::destroy_id(Call &call)
{
    rdma_ucm_destroy_id in;
    if (!call.get(in))
        return EINVAL;
    // Also that of a device that is gone.
    if (const int error = call.of(*this, in.id); error != 0 && error != EIO)
        return error;
    const rdma_ucm_destroy_id_resp out{call.id->events_reported};
    if (call.header.out < sizeof(out))
        return ENOSPC;
    destroy(*call.id);
    call.reply.takes_mark = take_mark(call.file) ? 1 : 0;
    return call.put(in.response, out);
}

int ConnectionManager::bind_ip(Call &call)
{
    rdma_ucm_bind_ip in;
    CmAddress address;
    if (!call.get(in))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    const int error = parse_address(&in.addr, sizeof(in.addr), address);
    return error != 0 ? error : bind_to(*call.id, address);
}

int ConnectionManager::bind(Call &call)
{
    rdma_ucm_bind in;
    CmAddress address;
    if (!call.get(in) || in.addr_size > sizeof(in.addr))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    const int error = parse_address(&in.addr, in.addr_size, address);
    return error != 0 ? error : bind_to(*call.id, address);
}

int ConnectionManager::resolve_ip(Call &call)
{
    rdma_ucm_resolve_ip in;
    CmAddress source, destination;
    if (!call.get(in))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    const bool has_source = in.src_addr.sin6_family != AF_UNSPEC;
    if (has_source) {
        if (const int error = parse_address(&in.src_addr, sizeof(in.src_addr), source); error != 0)
            return error;
    }
    const int error = parse_address(&in.dst_addr, sizeof(in.dst_addr), destination);
    return error != 0 ? error : resolve_to(*call.id, has_source ? &source : nullptr, destination);
}

int ConnectionManager::resolve_address(Call &call)
{
    rdma_ucm_resolve_addr in;
    CmAddress source, destination;
    if (!call.get(in) || in.src_size > sizeof(in.src_addr) || in.dst_size > sizeof(in.dst_addr))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    if (in.src_size != 0) {
        if (const int error = parse_address(&in.src_addr, in.src_size, source); error != 0)
            return error;
    }
    const int error = parse_address(&in.dst_addr, in.dst_size, destination);
    return error != 0 ? error : resolve_to(*call.id, in.src_size != 0 ? &source : nullptr, destination);
}

int ConnectionManager::resolve_route(Call &call)
{
    rdma_ucm_resolve_route in;
    if (!call.get(in))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    if (call.id->state != CmState::address_resolved)
        return EINVAL;
    call.id->state = CmState::route_resolved;
    call.id->path_mtu = call.id->function->profile.active_mtu;
    report(*call.id, event_route_resolved);
    return 0;
}

int ConnectionManager::query_route(Call &call)
{
    rdma_ucm_query in;
    if (!call.get(in))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    const CmId &id = *call.id;
    rdma_ucm_query_route_resp out{};
    store_address(id.source, &out.src_addr);
    if (id.peer_node.is_set())
        store_address(id.destination, &out.dst_addr);
    if (id.function != nullptr) {
        out.node_guid = htobe64(card_.guid_of(id.function->profile));
        out.port_num = port_number;
        if (id.state >= CmState::route_resolved && id.state != CmState::listening) {
            out.num_paths = 1;
            describe_path(id, out.ib_route[0]);
        } else {
            std::ranges::copy(id.peer_node.gid.gid, out.ib_route[0].dgid);
            std::ranges::copy(source_gid(id).gid, out.ib_route[0].sgid);
            out.ib_route[0].pkey = htobe16(default_partition);
        }
    }
    // Without the index of the device, which only RDMA netlink shows: the program finds the device by its GUID.
    return call.put(in.response, &out, old_route_bytes, old_route_bytes);
}

int ConnectionManager::query(Call &call)
{
    rdma_ucm_query in;
    if (!call.get(in))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    const CmId &id = *call.id;
    // The paths in the form of the InfiniBand specification, and GIDs as addresses of AF_IB, are for programs that use
    // AF_IB.
    if (in.option != RDMA_USER_CM_QUERY_ADDR)
        return ENOSYS;
    rdma_ucm_query_addr_resp out{};
    out.src_size = store_address(id.source, &out.src_addr);
    if (id.peer_node.is_set())
        out.dst_size = store_address(id.destination, &out.dst_addr);
    if (id.function != nullptr) {
        out.node_guid = htobe64(card_.guid_of(id.function->profile));
        out.port_num = port_number;
        out.pkey = htobe16(default_partition);
    }
    return call.put(in.response, &out, old_query_address_bytes, old_query_address_bytes);
}

int ConnectionManager::connect(Call &call)
{
    rdma_ucm_connect in;
    if (!call.get(in, old_connect_bytes) || in.conn_param.valid == 0)
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    CmId &id = *call.id;
    if (id.state != CmState::route_resolved)
        return EINVAL;
    CmMessage message;
    if (const int error =
            copy_parameters(in.conn_param, id.is_datagram() ? max_resolve_data : max_request_data, message);
        error != 0)
        return error;
    static std::minstd_rand random{std::random_device{}()};
    constexpr std::uint32_t psn_bits = 0xffffff;
    id.local_qpn = message.qpn;
    id.psn = message.psn = static_cast<std::uint32_t>(random()) & psn_bits;
    id.responder_resources = message.responder_resources;
    id.initiator_depth = message.initiator_depth;
    id.retry_count = message.retry_count;
    id.rnr_retry_count = message.rnr_retry_count;
    message.kind = id.is_datagram() ? CmMessage::Kind::resolve_service : CmMessage::Kind::request;
    message.port_space = id.port_space;
    message.path_mtu = id.path_mtu;
    message.source = id.source;
    message.destination = id.destination;
    message.source_gid = source_gid(id);
    message.destination_gid = id.peer_node.gid;
    message.traffic_class = id.traffic_class;
    message.ack_timeout = id.ack_timeout.value_or(local_ack_timeout);
    id.state = CmState::request_sent;
    send_until_answered(id, message);
    return 0;
}

int ConnectionManager::listen(Call &call)
{
    rdma_ucm_listen in;
    if (!call.get(in))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    CmId &id = *call.id;
    if (id.state == CmState::idle) {
        CmAddress any;
        any.ip.gid[10] = any.ip.gid[11] = 0xff;
        if (const int error = bind_to(id, any); error != 0)
            return error;
    }
    if (id.state != CmState::bound)
        return EINVAL;
    // A port that is shared has one listener for an address.
    if (const int error = check_port(id, id.source, false); id.is_reusing && error != 0)
        return error;
    id.backlog = in.backlog == 0 || in.backlog > max_backlog ? max_backlog : in.backlog;
    id.state = CmState::listening;
    return 0;
}

int ConnectionManager::accept(Call &call)
{
    rdma_ucm_accept in;
    if (!call.get(in, old_accept_bytes))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    CmId &id = *call.id;
    CmMessage message;
    if (in.conn_param.valid == 0) { // the active side confirms the reply
        if (id.state != CmState::reply_received)
            return EINVAL;
        message.kind = CmMessage::Kind::ready_to_use;
        id.state = CmState::established;
        send(id, message);
        return 0;
    }
    if (id.state != CmState::request_received)
        return EINVAL;
    const std::size_t max_data = id.is_datagram() ? max_resolve_reply_data : max_reply_data;
    if (const int error = copy_parameters(in.conn_param, max_data, message); error != 0)
        return error;
    id.uid = in.uid;
    id.local_qpn = message.qpn;
    if (id.is_datagram()) {
        message.kind = CmMessage::Kind::resolve_service_reply;
        message.qkey = datagram_qkey;
        id.state = CmState::established;
        send(id, message);
        return 0;
    }
    message.kind = CmMessage::Kind::reply;
    message.psn = id.psn;
    id.responder_resources = message.responder_resources;
    id.initiator_depth = message.initiator_depth;
    id.state = CmState::reply_sent;
    send_until_answered(id, message);
    return 0;
}

int ConnectionManager::reject(Call &call)
{
    rdma_ucm_reject in;
    if (!call.get(in))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    CmId &id = *call.id;
    const std::size_t max_data = id.is_datagram() ? max_resolve_reply_data : max_reject_data;
    constexpr std::uint8_t vendor_option = 35;
    const std::uint8_t reason = in.reason == 0 ? static_cast<std::uint8_t>(reject_consumer) : in.reason;
    if (in.private_data_len > max_data || (reason != reject_consumer && reason != vendor_option) ||
        (id.state != CmState::request_received && id.state != CmState::reply_sent &&
         id.state != CmState::reply_received))
        return EINVAL;
    CmMessage message;
    message.kind = id.is_datagram() ? CmMessage::Kind::resolve_service_reply : CmMessage::Kind::reject;
    message.reason = id.is_datagram() ? service_rejected : reason;
    std::copy_n(in.private_data, in.private_data_len, message.private_data.begin());
    send(id, message);
    id.state = CmState::failed;
    id.deadline = 0;
    return 0;
}

int ConnectionManager::disconnect(Call &call)
{
    rdma_ucm_disconnect in;
    if (!call.get(in))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    CmId &id = *call.id;
    if (id.is_datagram() || id.state < CmState::request_sent)
        return EINVAL;
    CmMessage message;
    if (id.state == CmState::established || id.state == CmState::reply_sent) {
        message.kind = CmMessage::Kind::disconnect;
        id.state = CmState::disconnect_sent;
        send_until_answered(id, message);
    } else if (id.state == CmState::disconnect_received) {
        message.kind = CmMessage::Kind::disconnect_reply;
        end_connection(id);
        send(id, message);
    }
    return 0;
}

int ConnectionManager::init_qp_attributes(Call &call)
{
    using namespace attribute;
    constexpr std::uint32_t state_init = 1, state_rtr = 2, state_rts = 3; // ibv_qp_state
    constexpr std::uint32_t remote_write = 2, remote_read = 4, remote_atomic = 8;
    rdma_ucm_init_qp_attr in;
    if (!call.get(in))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    const CmId &id = *call.id;
    const bool is_connecting = id.state >= CmState::request_sent && id.state != CmState::failed;
    ib_uverbs_qp_attr out{};
    out.qp_state = in.qp_state;
    if (id.function == nullptr || in.qp_state < state_init || in.qp_state > state_rts)
        return EINVAL;
    out.qp_attr_mask = state;
    if (id.is_datagram() || !is_connecting) {
        if (!id.is_datagram() && in.qp_state != state_init)
            return EINVAL;
        out.qp_attr_mask |= pkey_index | port | (id.is_datagram() ? qkey : access);
        out.qkey = id.is_datagram() ? datagram_qkey : 0;
        out.port_num = port_number;
        return call.put(in.response, out);
    }
    switch (in.qp_state) {
    case state_init:
        out.qp_attr_mask |= pkey_index | port | access;
        out.port_num = port_number;
        out.qp_access_flags = remote_write | (id.responder_resources != 0 ? remote_read | remote_atomic : 0);
        break;
    case state_rtr:
        if (id.remote_qpn == 0) // the peer's reply has not come
            return EINVAL;
        out.qp_attr_mask |= path | mtu | destination | receive_psn;
        if (id.qp_type == qp_type_rc)
            out.qp_attr_mask |= max_reads_of_peer | rnr_timer;
        describe_address_handle(id, out.ah_attr);
        out.path_mtu = id.path_mtu;
        out.dest_qp_num = id.remote_qpn;
        out.rq_psn = id.psn;
        out.max_dest_rd_atomic = id.responder_resources;
        out.port_num = port_number;
        break;
    default:
        out.qp_attr_mask |= send_psn;
        if (id.qp_type == qp_type_rc)
            out.qp_attr_mask |= timeout | retry_count | rnr_retry | max_reads;
        out.sq_psn = id.remote_psn;
        out.timeout = id.ack_timeout.value_or(local_ack_timeout);
        out.retry_cnt = id.retry_count;
        out.rnr_retry = id.rnr_retry_count;
        out.max_rd_atomic = id.initiator_depth;
        break;
    }
    return call.put(in.response, out);
}

int ConnectionManager::get_event(Call &call)
{
    rdma_ucm_get_event in;
    if (!call.get(in))
        return EINVAL;
    if (call.header.out < old_event_bytes)
        return ENOSPC;
    if (call.file.events.empty())
        return EAGAIN;
    const CmEvent &event = call.file.events.front();
    const int error = call.put(in.response, &event.content, sizeof(event.content), old_event_bytes);
    if (error != 0)
        return error;
    if (CmId *owner = find(event.owner)) {
        ++owner->events_reported;
        if (event.request != 0)
            --owner->waiting;
    }
    call.file.events.pop_front();
    call.reply.takes_mark = take_mark(call.file) ? 1 : 0;
    return 0;
}

int ConnectionManager::set_option(Call &call)
{
    rdma_ucm_set_option in;
    if (!call.get(in))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    CmId &id = *call.id;
    const bool is_byte = in.optname == RDMA_OPTION_ID_TOS || in.optname == RDMA_OPTION_ID_ACK_TIMEOUT;
    constexpr std::uint32_t last_option = RDMA_OPTION_ID_ACK_TIMEOUT;
    // A path that the program has found itself is for InfiniBand's subnet manager.
    if (in.level != RDMA_OPTION_ID || in.optname > last_option)
        return ENOSYS;
    std::int32_t value = 0;
    const std::size_t size = is_byte ? 1 : sizeof(value);
    if (in.optlen != size)
        return EINVAL;
    if (call.process.read(in.optval, &value, size) != Access::done)
        return EFAULT;
    const auto byte = static_cast<std::uint8_t>(value);
    constexpr std::uint8_t longest_timeout = 31;
    switch (in.optname) {
    case RDMA_OPTION_ID_TOS:
        id.traffic_class = byte;
        return 0;
    case RDMA_OPTION_ID_REUSEADDR:
        if (id.state != CmState::idle && value == 0)
            return EINVAL;
        id.is_reusing = value != 0;
        return 0;
    case RDMA_OPTION_ID_AFONLY:
        if (id.state != CmState::idle)
            return EINVAL;
        id.is_ipv6_only = value != 0;
        return 0;
    default:
        if (byte > longest_timeout || id.qp_type != qp_type_rc)
            return EINVAL;
        id.ack_timeout = byte;
        return 0;
    }
}

int ConnectionManager::notify(Call &call)
{
    constexpr std::uint32_t communication_established = 4; // ib_event_type
    rdma_ucm_notify in;
    if (!call.get(in))
        return EINVAL;
    if (const int error = call.of(*this, in.id); error != 0)
        return error;
    CmId &id = *call.id;
    if (in.event != communication_established || id.state < CmState::request_sent)
        return EINVAL;
    // The first data of the peer show that it has got the reply, also if its message about that is late.
    if (id.state == CmState::reply_sent) {
        id.state = CmState::established;
        id.deadline = 0;
        report(id, event_established);
    }
    return 0;
}

int ConnectionManager::migrate(Call &call)
{
    rdma_ucm_migrate_id in;
    if (!call.get(in))
        return EINVAL;
    if (call.header.out < sizeof(rdma_ucm_migrate_resp))
        return ENOSPC;
    CmId *id = find(in.id);
    if (id == nullptr)
        return ENOENT;
    // The program names the old channel by its descriptor.
    struct stat state {};
    const std::string path = "/proc/" + std::to_string(call.process.pid()) + "/fd/" + std::to_string(in.fd);
    CmFile &old = *id->file;
    if (stat(path.c_str(), &state) != 0 || old.inode == 0 || state.st_ino != old.inode)
        return EINVAL;
    if (call.file.ids >= max_ids_of_file || old.side != call.file.side)
        return &old == &call.file ? 0 : EINVAL;
    const rdma_ucm_migrate_resp out{id->events_reported};
    if (const int error = call.put(in.response, out); error != 0)
        return error;
    if (&old == &call.file)
        return 0;
    --old.ids;
    ++call.file.ids;
    id->file = &call.file;
    for (const CmEvent &event : old.events) {
        if (event.owner != id->number)
            continue;
        if (CmId *request = find(event.request); request != nullptr && event.request != 0) {
            request->file = &call.file;
            --old.ids;
            ++call.file.ids;
        }
        call.file.events.push_back(event);
    }
    std::erase_if(old.events, [&](const CmEvent &event) { return event.owner == id->number; });
    if (!call.file.events.empty())
        add_mark(call.file);
    call.reply.takes_mark = take_mark(old) ? 1 : 0;
    call.reply.mark_descriptor = static_cast<std::int32_t>(in.fd);
    return 0;
}

/// The card has no multicast.
int ConnectionManager::join_multicast(Call &)
{
    return EOPNOTSUPP;
}

} // namespace opendoca::card
