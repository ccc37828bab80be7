// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Two processes with a reliable connection, of which the client sends random requests and checks what comes of them. It
// uses verbs alone, so each side may be on any RDMA device.
//
//   roce_pair DEVICE GID_INDEX MTU TIMEOUT RETRIES ROUNDS PORT [SERVER]
//
// With SERVER, an IPv4 address, it is the client. The details of the queue pairs are exchanged by TCP. TIMEOUT and
// RETRIES are the attributes timeout and retry_cnt of the queue pairs. The exit status is 0 if all data were right.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

constexpr std::size_t area_bytes = std::size_t{1} << 16;
constexpr std::size_t areas = 8; // of memory, and requests of a round: each has its own
constexpr std::uint64_t is_receive = 1U << 16;

void expect(bool condition, const std::string &what)
{
    if (!condition)
        throw std::runtime_error(what);
}

/// What a connection needs to know of the other side.
struct Details {
    ibv_gid gid;
    std::uint32_t number, psn, key;
    std::uint64_t address;
};

/// A TCP connection to the other process.
class Stream {
public:
    Stream(std::uint16_t port, const char *server)
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        fd_ = socket(AF_INET, SOCK_STREAM, 0);
        if (server != nullptr) {
            expect(inet_pton(AF_INET, server, &address.sin_addr) == 1, "the address is none of IPv4");
            expect(connect(fd_, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0, "connect()");
            return;
        }
        const int listening = fd_, on = 1;
        setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        expect(bind(listening, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0, "bind()");
        expect(listen(listening, 1) == 0, "listen()");
        fd_ = accept(listening, nullptr, nullptr);
        expect(fd_ >= 0, "accept()");
        close(listening);
    }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream() { close(fd_); }

    template <typename Value>
    Value exchange(const Value &ours)
    {
        Value theirs;
        expect(write(fd_, &ours, sizeof(ours)) == sizeof(ours), "write()");
        expect(recv(fd_, &theirs, sizeof(theirs), MSG_WAITALL) == sizeof(theirs), "the other side has ended");
        return theirs;
    }

    /// Returns whether the other side has closed its end or sent something.
    [[nodiscard]] bool has_news() const
    {
        char byte;
        return recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
    }

private:
    int fd_;
};

/// Fills @p bytes with the content of a message.
void content(std::uint32_t number, std::span<std::uint8_t> bytes)
{
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::uint8_t>(number * 37 + i * 7 + (i >> 8));
}

/// One side: a queue pair, the memory that the client reads and writes, and buffers for messages. Ends with the
/// process.
class Side {
public:
    Side(const char *device_name, int gid_index, Stream &stream, unsigned mtu, unsigned timeout, unsigned retries)
        : memory_(areas * area_bytes),
          messages_(areas * area_bytes)
    {
        int count = 0;
        ibv_device **list = ibv_get_device_list(&count);
        for (int i = 0; i < count; ++i) {
            if (ibv_get_device_name(list[i]) == std::string(device_name))
                context_ = ibv_open_device(list[i]);
        }
        expect(context_ != nullptr, std::string("no device ") + device_name);
        ibv_pd *pd = ibv_alloc_pd(context_);
        constexpr int access =
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
        memory_key_ = ibv_reg_mr(pd, memory_.data(), memory_.size(), access);
        message_key_ = ibv_reg_mr(pd, messages_.data(), messages_.size(), access);
        cq_ = ibv_create_cq(context_, 64, nullptr, nullptr, 0);
        expect(memory_key_ != nullptr && message_key_ != nullptr && cq_ != nullptr, "memory or completion queue");
        ibv_qp_init_attr init{};
        init.send_cq = init.recv_cq = cq_;
        init.qp_type = IBV_QPT_RC;
        init.cap = {2 * areas, 2 * areas, 1, 1, 0};
        qp_ = ibv_create_qp(pd, &init);
        expect(qp_ != nullptr, "queue pair");
        connect(gid_index, stream, mtu, timeout, retries);
    }

    void receive(std::size_t area)
    {
        ibv_sge sge{address_of(messages_, area), area_bytes, message_key_->lkey};
        ibv_recv_wr request{area | is_receive, nullptr, &sge, 1}, *bad = nullptr;
        expect(ibv_post_recv(qp_, &request, &bad) == 0, "ibv_post_recv()");
    }

    void post(ibv_send_wr &request, std::size_t area, std::size_t length)
    {
        ibv_sge sge{address_of(messages_, area), static_cast<std::uint32_t>(length), message_key_->lkey};
        request.wr_id = area;
        request.sg_list = &sge;
        request.num_sge = 1;
        request.send_flags = IBV_SEND_SIGNALED;
        ibv_send_wr *bad = nullptr;
        expect(ibv_post_send(qp_, &request, &bad) == 0, "ibv_post_send()");
    }

    /// Returns whether there was a completion. One with an error throws.
    bool poll(ibv_wc &completion)
    {
        const int count = ibv_poll_cq(cq_, 1, &completion);
        expect(count >= 0, "ibv_poll_cq()");
        if (count == 0)
            return false;
        expect(completion.status == IBV_WC_SUCCESS,
               "request " + std::to_string(completion.wr_id) + ": " + ibv_wc_status_str(completion.status));
        return true;
    }

    [[nodiscard]] std::span<std::uint8_t> message(std::size_t area)
    {
        return std::span(messages_).subspan(area * area_bytes, area_bytes);
    }
    [[nodiscard]] const Details &peer() const { return peer_; }

private:
    static std::uint64_t address_of(const std::vector<std::uint8_t> &memory, std::size_t area)
    {
        return reinterpret_cast<std::uintptr_t>(&memory[area * area_bytes]);
    }

    void connect(int gid_index, Stream &stream, unsigned mtu, unsigned timeout, unsigned retries)
    {
        ibv_qp_attr attributes{};
        attributes.qp_state = IBV_QPS_INIT;
        attributes.port_num = 1;
        attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
        expect(ibv_modify_qp(qp_, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
                   0,
               "to INIT");
        for (std::size_t area = 0; area < areas; ++area)
            receive(area);
        // Near to the end of the sequence numbers, so that they wrap around.
        Details own{{}, qp_->qp_num, 0xffff00, memory_key_->rkey, address_of(memory_, 0)};
        expect(ibv_query_gid(context_, 1, gid_index, &own.gid) == 0, "ibv_query_gid()");
        peer_ = stream.exchange(own);
        attributes.qp_state = IBV_QPS_RTR;
        attributes.path_mtu = static_cast<ibv_mtu>(std::countr_zero(mtu) - 7);
        attributes.dest_qp_num = peer_.number;
        attributes.rq_psn = peer_.psn;
        attributes.max_dest_rd_atomic = areas;
        attributes.min_rnr_timer = 14; // 1.28 ms
        attributes.ah_attr.is_global = 1;
        attributes.ah_attr.grh.dgid = peer_.gid;
        attributes.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index);
        attributes.ah_attr.grh.hop_limit = 64;
        attributes.ah_attr.port_num = 1;
        expect(ibv_modify_qp(qp_, &attributes,
                             IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
               "to RTR");
        attributes.qp_state = IBV_QPS_RTS;
        attributes.sq_psn = own.psn;
        attributes.timeout = static_cast<std::uint8_t>(timeout);
        attributes.retry_cnt = static_cast<std::uint8_t>(retries);
        attributes.rnr_retry = 7;
        attributes.max_rd_atomic = areas;
        expect(ibv_modify_qp(qp_, &attributes,
                             IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                 IBV_QP_MAX_QP_RD_ATOMIC) == 0,
               "to RTS");
        stream.exchange('c');
    }

    ibv_context *context_ = nullptr;
    ibv_mr *memory_key_ = nullptr, *message_key_ = nullptr;
    ibv_cq *cq_ = nullptr;
    ibv_qp *qp_ = nullptr;
    std::vector<std::uint8_t> memory_, messages_;
    Details peer_{};
};

/// Receives until the client is done. Messages arrive in the order of their numbers.
std::uint32_t serve(Side &side, const Stream &stream)
{
    std::vector<std::uint8_t> room(area_bytes);
    const std::span<std::uint8_t> expected(room);
    std::uint32_t number = 0;
    for (bool is_done = false;;) {
        ibv_wc completion;
        if (!side.poll(completion)) {
            if (is_done)
                return number;
            is_done = stream.has_news(); // its last completions may have come since
            continue;
        }
        if (completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM || (completion.wc_flags & IBV_WC_WITH_IMM) != 0)
            expect(ntohl(completion.imm_data) == number, "immediate data of message " + std::to_string(number));
        const std::size_t area = completion.wr_id & ~is_receive;
        if (completion.opcode == IBV_WC_RECV) {
            const auto data = side.message(area).first(completion.byte_len);
            content(number, expected.first(data.size()));
            expect(std::ranges::equal(data, expected.first(data.size())),
                   "message " + std::to_string(number) + " is wrong");
        }
        ++number;
        side.receive(area);
    }
}

/// The client: knows what the server's memory holds, and what each answer has to be.
class Client {
public:
    explicit Client(Side &side) : side_(side), memory_(areas * area_bytes) {}

    /// Sends one request for each area and waits for all of them.
    void round(unsigned mtu)
    {
        std::array<std::vector<std::uint8_t>, areas> expected;
        for (std::size_t area = 0; area < areas; ++area)
            expected[area] = request(area, mtu);
        for (std::size_t left = areas; left != 0;) {
            ibv_wc completion;
            if (!side_.poll(completion))
                continue;
            --left;
            const std::vector<std::uint8_t> &right = expected[completion.wr_id];
            expect(std::equal(right.begin(), right.end(), side_.message(completion.wr_id).begin()),
                   "the answer of request " + std::to_string(completion.wr_id) + " is wrong");
        }
    }

    /// Compares all of the server's memory.
    void check_memory()
    {
        for (std::size_t area = 0; area < areas; ++area) {
            ibv_send_wr read = remote(IBV_WR_RDMA_READ, area, 0);
            side_.post(read, area, area_bytes);
            for (ibv_wc completion; !side_.poll(completion);) {
            }
            const auto data = side_.message(area);
            expect(
                std::equal(data.begin(), data.end(), memory_.begin() + static_cast<std::ptrdiff_t>(area * area_bytes)),
                "the memory of the server is wrong");
        }
    }

    [[nodiscard]] std::uint32_t messages() const { return number_; }

private:
    std::size_t any(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

    [[nodiscard]] ibv_send_wr remote(ibv_wr_opcode opcode, std::size_t area, std::size_t offset) const
    {
        ibv_send_wr request{};
        request.opcode = opcode;
        request.wr.rdma.remote_addr = side_.peer().address + area * area_bytes + offset;
        request.wr.rdma.rkey = side_.peer().key;
        return request;
    }

    /// Short, near to a number of packets, or any.
    std::size_t any_length(unsigned mtu)
    {
        switch (any(3)) {
        case 0:
            return any(64);
        case 1:
            return std::min<std::size_t>(mtu * (1 + any(8)) - 2 + any(5), area_bytes / 2);
        default:
            return any(area_bytes / 4);
        }
    }

    /// Sends any request for an area. Returns what it brings into the area's message.
    std::vector<std::uint8_t> request(std::size_t area, unsigned mtu)
    {
        const std::size_t length = any_length(mtu), offset = any(area_bytes - length);
        const auto place = memory_.begin() + static_cast<std::ptrdiff_t>(area * area_bytes + offset);
        const auto data = side_.message(area);
        switch (const std::size_t kind = any(7)) {
        case 0:
        case 1: {
            ibv_send_wr send{};
            send.opcode = kind == 0 ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
            return send_message(send, area, length);
        }
        case 2: {
            ibv_send_wr write = remote(IBV_WR_RDMA_WRITE_WITH_IMM, area, offset);
            auto sent = send_message(write, area, length);
            std::copy(sent.begin(), sent.end(), place);
            return sent;
        }
        case 3: {
            std::vector<std::uint8_t> sent(length);
            std::ranges::generate(sent, [this] { return static_cast<std::uint8_t>(random_()); });
            std::ranges::copy(sent, data.begin());
            std::ranges::copy(sent, place);
            ibv_send_wr write = remote(IBV_WR_RDMA_WRITE, area, offset);
            side_.post(write, area, length);
            return sent;
        }
        case 4: {
            std::ranges::fill(data.first(length), std::uint8_t{0});
            ibv_send_wr read = remote(IBV_WR_RDMA_READ, area, offset);
            side_.post(read, area, length);
            return {place, place + static_cast<std::ptrdiff_t>(length)};
        }
        default:
            return send_atomic(area, kind == 5);
        }
    }

    std::vector<std::uint8_t> send_message(ibv_send_wr &request, std::size_t area, std::size_t length)
    {
        std::vector<std::uint8_t> sent(length);
        content(number_, sent);
        std::ranges::copy(sent, side_.message(area).begin());
        request.imm_data = htonl(number_++);
        side_.post(request, area, length);
        return sent;
    }

    std::vector<std::uint8_t> send_atomic(std::size_t area, bool adds)
    {
        const std::size_t offset = any(area_bytes / sizeof(std::uint64_t)) * sizeof(std::uint64_t);
        std::uint8_t *place = &memory_[area * area_bytes + offset];
        std::uint64_t value;
        std::memcpy(&value, place, sizeof(value));
        std::vector<std::uint8_t> original(place, place + sizeof(value));
        ibv_send_wr request{};
        request.opcode = adds ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
        request.wr.atomic.remote_addr = side_.peer().address + area * area_bytes + offset;
        request.wr.atomic.rkey = side_.peer().key;
        request.wr.atomic.compare_add = adds ? random_() : value + any(2); // half of the comparisons fail
        request.wr.atomic.swap = random_();
        if (adds)
            value += request.wr.atomic.compare_add;
        else if (value == request.wr.atomic.compare_add)
            value = request.wr.atomic.swap;
        std::memcpy(place, &value, sizeof(value));
        side_.post(request, area, sizeof(value));
        return original;
    }

    Side &side_;
    std::vector<std::uint8_t> memory_; ///< what the server's has to be
    std::uint32_t number_ = 0;         ///< of the next message
    std::mt19937_64 random_{1};
};

} // namespace

int main(int argc, char **argv)
try {
    const std::span<char *> words(argv, static_cast<std::size_t>(argc));
    expect(argc == 8 || argc == 9, "usage: roce_pair DEVICE GID_INDEX MTU TIMEOUT RETRIES ROUNDS PORT [SERVER]");
    const auto number = [&](std::size_t index) { return static_cast<unsigned>(std::stoul(words[index])); };
    const bool is_client = argc == 9;
    Stream stream(static_cast<std::uint16_t>(number(7)), is_client ? words[8] : nullptr);
    const unsigned mtu = number(3);
    Side side(words[1], static_cast<int>(number(2)), stream, mtu, number(4), number(5));
    std::uint32_t messages = 0;
    if (is_client) {
        Client client(side);
        for (unsigned i = number(6); i != 0; --i)
            client.round(mtu);
        client.check_memory();
        messages = client.messages();
    } else {
        messages = serve(side, stream);
    }
    expect(stream.exchange(messages) == messages, "the number of messages is not that of the other side");
    std::printf("%u messages\n", messages);
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "roce_pair: %s\n", error.what());
    return 1;
}
