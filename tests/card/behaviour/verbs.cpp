// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "verbs.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <linux/capability.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

namespace card_test {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

template <typename T>
Owned<T> own(T *object, const char *what)
{
    if (object == nullptr)
        throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
    return Owned<T>(object);
}

} // namespace

Owned<ibv_context> open_device(std::string_view name)
{
    int count = 0;
    ibv_device **list = ibv_get_device_list(&count);
    Owned<ibv_context> context;
    for (int i = 0; list != nullptr && i < count; ++i) {
        if (name == ibv_get_device_name(list[i]))
            context.reset(ibv_open_device(list[i]));
    }
    const int error = errno;
    if (list != nullptr)
        ibv_free_device_list(list);
    errno = error;
    return context;
}

Device::Device(std::string_view name)
    : context(open_device(name)),
      pd(own(context ? ibv_alloc_pd(context.get()) : nullptr, "ibv_alloc_pd")),
      channel(own(ibv_create_comp_channel(context.get()), "ibv_create_comp_channel")),
      cq(own(ibv_create_cq(context.get(), 64, nullptr, channel.get(), 0), "ibv_create_cq"))
{
}

Connection::Connection(Device &device, Owned<ibv_pd> other_pd) : device_(device), pd_(std::move(other_pd))
{
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = device.cq.get();
    attributes.cap = {32, 32, 2, 2, 64};
    attributes.qp_type = IBV_QPT_RC;
    attributes.sq_sig_all = 1;
    qp_ = own(ibv_create_qp(pd_ ? pd_.get() : device.pd.get(), &attributes), "ibv_create_qp");
}

Connection::Connection(Device &device, Owned<ibv_qp> qp) : device_(device), qp_(std::move(qp)) {}

Address Connection::address() const
{
    Address address{qp_->qp_num, {}, 0};
    ibv_port_attr port{};
    ibv_query_port(device_.context.get(), 1, &port);
    address.lid = port.lid;
    ibv_query_gid(device_.context.get(), 1, port.link_layer == IBV_LINK_LAYER_ETHERNET ? 3 : 0, &address.gid);
    return address;
}

int Connection::set_state(ibv_qp_state state)
{
    ibv_qp_attr attributes{};
    attributes.qp_state = state;
    return ibv_modify_qp(qp_.get(), &attributes, IBV_QP_STATE);
}

ibv_qp_state Connection::state() const
{
    ibv_qp_attr attributes{};
    ibv_qp_init_attr made{};
    return ibv_query_qp(qp_.get(), &attributes, IBV_QP_STATE, &made) == 0 ? attributes.qp_state : IBV_QPS_UNKNOWN;
}

int Connection::connect_to(const Address &peer, Timers timers, int rights, Depths depths)
{
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = 1;
    attributes.qp_access_flags = static_cast<unsigned>(rights);
    if (const int error =
            ibv_modify_qp(qp_.get(), &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        return error;
    attributes = {};
    attributes.qp_state = IBV_QPS_RTR;
    attributes.path_mtu = IBV_MTU_1024;
    attributes.dest_qp_num = peer.number;
    attributes.max_dest_rd_atomic = depths.responder;
    attributes.min_rnr_timer = timers.rnr_timer;
    attributes.ah_attr.port_num = 1;
    if (peer.lid != 0) {
        attributes.ah_attr.dlid = peer.lid;
    } else {
        attributes.ah_attr.is_global = 1;
        attributes.ah_attr.grh.dgid = peer.gid;
        attributes.ah_attr.grh.sgid_index = 3;
        attributes.ah_attr.grh.hop_limit = 1;
    }
    if (const int error = ibv_modify_qp(qp_.get(), &attributes,
                                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        return error;
    attributes = {};
    attributes.qp_state = IBV_QPS_RTS;
    attributes.timeout = timers.timeout;
    attributes.retry_cnt = timers.retries;
    attributes.rnr_retry = timers.rnr_retries;
    attributes.max_rd_atomic = depths.initiator;
    return ibv_modify_qp(qp_.get(), &attributes,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                             IBV_QP_MAX_QP_RD_ATOMIC);
}

void Connection::post(ibv_wr_opcode opcode, ibv_mr &local, std::uint64_t remote, std::uint32_t key, std::uint32_t bytes)
{
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(local.addr), bytes, local.lkey};
    ibv_send_wr request{};
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = opcode;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        request.wr.atomic = {remote, 1, 0, key};
    } else {
        request.wr.rdma = {remote, key};
    }
    ibv_send_wr *bad = nullptr;
    if (const int error = ibv_post_send(qp_.get(), &request, &bad))
        throw std::runtime_error("ibv_post_send: " + std::string(std::strerror(error)));
}

void Connection::post_receive(ibv_mr &local, std::uint32_t bytes)
{
    ibv_sge piece{reinterpret_cast<std::uintptr_t>(local.addr), bytes, local.lkey};
    ibv_recv_wr request{};
    request.sg_list = &piece;
    request.num_sge = 1;
    ibv_recv_wr *bad = nullptr;
    if (const int error = ibv_post_recv(qp_.get(), &request, &bad))
        throw std::runtime_error("ibv_post_recv: " + std::string(std::strerror(error)));
}

Pair::Pair(Device &first_device, Device &second_device, Timers timers, int rights_of_second)
    : first(first_device),
      second(second_device)
{
    if (first.connect_to(second.address(), timers) != 0 ||
        second.connect_to(first.address(), timers, rights_of_second) != 0)
        throw std::runtime_error("the queue pairs cannot be connected: " + std::string(std::strerror(errno)));
}

Buffer::Buffer(Device &device, std::size_t size, int rights, std::uint8_t fill)
    : bytes(size, fill),
      mr(own(ibv_reg_mr(device.pd.get(), bytes.data(), size, rights), "ibv_reg_mr"))
{
}

ibv_wc next_completion(ibv_cq &cq, std::chrono::milliseconds limit)
{
    ibv_wc completion{};
    for (const auto end = Clock::now() + limit; Clock::now() < end; std::this_thread::yield()) {
        if (ibv_poll_cq(&cq, 1, &completion) != 0)
            return completion;
    }
    completion.status = no_completion;
    return completion;
}

bool has_completion_within(ibv_cq &cq, std::chrono::milliseconds limit)
{
    return next_completion(cq, limit).status != no_completion;
}

int next_event(ibv_context &context, std::chrono::milliseconds limit)
{
    pollfd state{context.async_fd, POLLIN, 0};
    ibv_async_event event{};
    if (poll(&state, 1, static_cast<int>(limit.count())) != 1 || ibv_get_async_event(&context, &event) != 0)
        return -1;
    ibv_ack_async_event(&event);
    return event.event_type;
}

bool drop_capability(unsigned number)
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
    if (syscall(SYS_capget, &header, data) != 0)
        return false;
    data[CAP_TO_INDEX(number)].effective &= ~CAP_TO_MASK(number);
    return syscall(SYS_capset, &header, data) == 0;
}

namespace {

/// A connection to the card, or -1. The caller owns it.
int connect_to_card()
{
    const char *path = std::getenv("OPENDOCA_CARD_CONTROL");
    if (path == nullptr)
        return -1;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

} // namespace

std::string ask_card(std::string_view line)
{
    const int fd = connect_to_card();
    if (fd < 0)
        return "error: this test has to be started by with_card";
    char answer[512];
    ssize_t got = -1;
    if (send(fd, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()))
        got = recv(fd, answer, sizeof(answer), 0);
    close(fd);
    return got < 0 ? "error: no answer" : std::string(answer, static_cast<std::size_t>(got));
}

std::size_t card_descriptors()
{
    const int fd = connect_to_card();
    ucred card{};
    socklen_t bytes = sizeof(card);
    const bool is_known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &card, &bytes) == 0;
    close(fd);
    std::size_t count = 0;
    std::error_code error;
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(card.pid) + "/fd", error);
    for (auto at = begin(all); is_known && !error && at != end(all); at.increment(error))
        ++count;
    return count;
}

int card_count(std::string_view what)
{
    const std::string status = ask_card("status"), name = " " + std::string(what) + " ";
    const std::size_t at = status.find(name);
    return at == std::string::npos ? -1 : std::stoi(status.substr(at + name.size()));
}

bool card_count_becomes(std::string_view what, int value)
{
    for (const auto end = Clock::now() + 60s; Clock::now() < end; std::this_thread::yield()) {
        if (card_count(what) == value)
            return true;
    }
    return false;
}

void set_bits(std::uint8_t *mailbox, unsigned bit, unsigned width, std::uint64_t value)
{
    for (unsigned i = width; i-- > 0; value >>= 1) {
        const unsigned at = bit + i, mask = 0x80u >> at % 8;
        mailbox[at / 8] =
            static_cast<std::uint8_t>((value & 1) != 0 ? mailbox[at / 8] | mask : mailbox[at / 8] & ~mask);
    }
}

std::uint64_t get_bits(const std::uint8_t *mailbox, unsigned bit, unsigned width)
{
    std::uint64_t value = 0;
    for (unsigned at = bit; at < bit + width; ++at)
        value = value << 1 | ((mailbox[at / 8] & 0x80u >> at % 8) != 0 ? 1u : 0u);
    return value;
}

std::uint32_t number_of(ibv_pd &pd)
{
    mlx5dv_pd described{};
    mlx5dv_obj object{};
    object.pd.in = &pd;
    object.pd.out = &described;
    mlx5dv_init_obj(&object, MLX5DV_OBJ_PD);
    return described.pdn;
}

std::uint16_t vhca_id_of(ibv_context &context)
{
    std::uint8_t in[16] = {}, out[4112] = {};
    set_bits(in, 0, 16, 0x100);
    set_bits(in, 48, 16, 1); // the current general capabilities
    if (mlx5dv_devx_general_cmd(&context, in, sizeof(in), out, sizeof(out)) != 0)
        throw std::runtime_error("QUERY_HCA_CAP: " + std::string(std::strerror(errno)));
    return static_cast<std::uint16_t>(get_bits(out + 16, 48, 16));
}

} // namespace card_test
