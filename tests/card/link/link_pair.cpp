// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A program on either side of a card whose sides are at two places. It obeys lines of stdin, and answers each with one.
//
//   link_pair host DEVICE BYTES      has memory, and a key for the other side
//   link_pair dpu DEVICE BYTES       copies from and to it
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "../behaviour/keys.hpp"

namespace card_test {
namespace {

constexpr AccessKey access_key = {'b', 'e', 't', 'w', 'e', 'e', 'n', ' ', 'p', 'l', 'a', 'c', 'e', 's'};
constexpr std::size_t page = 4096;

std::uint8_t byte_of(std::uint64_t seed, std::size_t at)
{
    return static_cast<std::uint8_t>((at * 2654435761u + seed * 40503u) >> 16 ^ at);
}

/// Memory that is the oracle's: each byte follows from a seed and its place.
class Memory {
public:
    explicit Memory(std::size_t bytes)
        : size_(bytes),
          bytes_(static_cast<std::uint8_t *>(std::aligned_alloc(page, (bytes + page - 1) / page * page)), &std::free)
    {
        fill(0);
    }
    void fill(std::uint64_t seed, std::size_t from = 0)
    {
        for (std::size_t i = from; i < size_; ++i)
            bytes_.get()[i] = byte_of(seed, i);
    }
    [[nodiscard]] std::string compare(std::uint64_t seed, std::size_t from = 0) const
    {
        for (std::size_t i = from; i < size_; ++i) {
            if (bytes_.get()[i] != byte_of(seed, i))
                return "differs at " + std::to_string(i);
        }
        return "equal";
    }
    [[nodiscard]] std::uint8_t *data() const { return bytes_.get(); }
    [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(bytes_.get()); }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    std::size_t size_;
    std::unique_ptr<std::uint8_t, decltype(&std::free)> bytes_;
};

/// The commands of both sides.
using Command = std::function<std::string(std::istringstream &)>;

std::uint64_t number(std::istringstream &words)
{
    std::uint64_t value = 0;
    words >> value;
    return value;
}

class HostSide {
public:
    HostSide(const char *device, std::size_t bytes) : device_(device), memory_(bytes) {}

    std::map<std::string, Command> commands()
    {
        return {{"share", [this](auto &) { return share(); }},
                {"fill", [this](auto &words) { return memory_.fill(number(words)), std::string("filled"); }},
                {"check", [this](auto &words) { return memory_.compare(number(words)); }},
                {"check-rest", [this](auto &words) { return memory_.compare(number(words), page); }},
                {"word", [this](auto &) { return std::to_string(*reinterpret_cast<std::uint64_t *>(memory_.data())); }},
                {"revoke", [this](auto &) { return key_.object.reset(), std::string("revoked"); }}};
    }

private:
    std::string share()
    {
        key_ = make_direct_key(*device_.context, *device_.pd, memory_.data(), memory_.size());
        if (key_.object == nullptr || allow_access(*device_.context, key_.index, access_key) != 0)
            return "no key: status " + std::to_string(key_.status);
        return std::to_string(vhca_id_of(*device_.context)) + " " + std::to_string(key_.index) + " " +
               std::to_string(memory_.address());
    }

    Device device_;
    Memory memory_;
    DevxKey key_;
};

/// A queue pair of unreliable datagrams.
class DatagramQueue {
public:
    explicit DatagramQueue(Device &device)
    {
        ibv_qp_init_attr made{};
        made.send_cq = made.recv_cq = device.cq.get();
        made.cap = {4, 4, 1, 1, 0};
        made.qp_type = IBV_QPT_UD;
        made.sq_sig_all = 1;
        qp_.reset(ibv_create_qp(device.pd.get(), &made));
        if (qp_ == nullptr)
            throw std::runtime_error("ibv_create_qp");
        for (const auto &[state, mask] : {std::pair(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
                                          {IBV_QPS_RTR, IBV_QP_STATE},
                                          {IBV_QPS_RTS, IBV_QP_SQ_PSN}}) {
            ibv_qp_attr attributes{};
            attributes.qp_state = state;
            attributes.port_num = 1;
            attributes.qkey = qkey;
            if (ibv_modify_qp(qp_.get(), &attributes, IBV_QP_STATE | mask) != 0)
                throw std::runtime_error("ibv_modify_qp");
        }
        ibv_ah_attr path{};
        path.is_global = 1;
        path.port_num = 1;
        path.grh.sgid_index = 3;
        ibv_query_gid(device.context.get(), 1, 3, &path.grh.dgid);
        path_.reset(ibv_create_ah(device.pd.get(), &path));
        if (path_ == nullptr)
            throw std::runtime_error("ibv_create_ah");
    }
    [[nodiscard]] std::uint32_t number() const { return qp_->qp_num; }
    void send(const ibv_mr &memory, const DatagramQueue &to) const
    {
        ibv_sge piece{reinterpret_cast<std::uintptr_t>(memory.addr), bytes, memory.lkey};
        ibv_send_wr request{}, *bad = nullptr;
        request.sg_list = &piece;
        request.num_sge = 1;
        request.opcode = IBV_WR_SEND;
        request.wr.ud = {path_.get(), to.number(), qkey};
        if (ibv_post_send(qp_.get(), &request, &bad) != 0)
            throw std::runtime_error("ibv_post_send");
    }
    void receive(const ibv_mr &memory) const
    {
        ibv_sge piece{reinterpret_cast<std::uintptr_t>(memory.addr), 40 + bytes, memory.lkey};
        ibv_recv_wr request{}, *bad = nullptr;
        request.sg_list = &piece;
        request.num_sge = 1;
        if (ibv_post_recv(qp_.get(), &request, &bad) != 0)
            throw std::runtime_error("ibv_post_recv");
    }

private:
    static constexpr std::uint32_t qkey = 0x1234, bytes = 64;
    Owned<ibv_qp> qp_;
    Owned<ibv_ah> path_;
};

class DpuSide {
public:
    DpuSide(const char *device, std::size_t bytes)
        : device_(device),
          memory_(bytes),
          region_(ibv_reg_mr(device_.pd.get(), memory_.data(), bytes, all_rights)),
          copies_(device_)
    {
    }

    std::map<std::string, Command> commands()
    {
        return {{"open", [this](auto &words) { return open(words); }},
                {"read", [this](auto &words) { return copy(words, false); }},
                {"write", [this](auto &words) { return copy(words, true); }},
                {"time", [this](auto &words) { return time(words); }},
                {"beyond", [this](auto &) { return beyond(); }},
                {"rdma-read", [this](auto &words) { return rdma(words, IBV_WR_RDMA_READ, true); }},
                {"rdma-write", [this](auto &words) { return rdma(words, IBV_WR_RDMA_WRITE, true); }},
                {"rdma-write-from", [this](auto &words) { return rdma(words, IBV_WR_RDMA_WRITE, false); }},
                {"rdma-read-to", [this](auto &words) { return rdma(words, IBV_WR_RDMA_READ, false); }},
                {"add", [this](auto &) { return add(); }},
                {"datagrams", [this](auto &) { return datagrams(); }},
                {"flood", [this](auto &) { return flood(); }}};
    }

private:
    std::string open(std::istringstream &words)
    {
        const auto vhca_id = static_cast<std::uint16_t>(number(words));
        const auto index = static_cast<std::uint32_t>(number(words));
        remote_ = number(words);
        AccessKey given = access_key;
        given.back() = static_cast<std::uint8_t>(given.back() + number(words)); // not 0: a wrong key
        alias_ = make_alias(*device_.context, *device_.pd, vhca_id, index, given);
        return alias_.object != nullptr ? "opened" : "refused with status " + std::to_string(alias_.status);
    }
    /// Copies everything by the DMA engine, in pieces of many sizes, and compares what was read.
    std::string copy(std::istringstream &words, bool is_write)
    {
        const std::uint64_t seed = number(words);
        constexpr std::size_t sizes[] = {1, 7, 64, 4096, 65535, 65536, 65537, 1 << 20, (1 << 20) + 3, 3 << 20};
        memory_.fill(is_write ? seed : seed + 1);
        for (std::size_t at = 0, i = 0; at < memory_.size(); ++i) {
            const std::size_t bytes = std::min(sizes[i % std::size(sizes)], memory_.size() - at);
            const std::uint64_t here = memory_.address() + at, there = remote_ + at;
            const ibv_wc_status status = is_write ? copies_.copy(alias_.key(), there, region_->lkey, here, bytes)
                                                  : copies_.copy(region_->lkey, here, alias_.key(), there, bytes);
            if (status != IBV_WC_SUCCESS)
                return "status " + std::to_string(status) + " at " + std::to_string(at);
            at += bytes;
        }
        return memory_.compare(seed);
    }
    /// Reads the same bytes again and again. Returns the time of one read in ns.
    std::string time(std::istringstream &words)
    {
        std::size_t bytes = 0;
        unsigned count = 0;
        words >> bytes >> count;
        const auto begin = std::chrono::steady_clock::now();
        for (unsigned i = 0; i < count; ++i) {
            const ibv_wc_status status =
                copies_.copy(region_->lkey, memory_.address(), alias_.key(), remote_, std::min(bytes, memory_.size()));
            if (status != IBV_WC_SUCCESS)
                return "status " + std::to_string(status);
        }
        const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
        return std::to_string(taken.count() / std::max(count, 1u));
    }
    /// Tries to read one byte more than the key has.
    std::string beyond()
    {
        return "status " + std::to_string(copies_.copy(region_->lkey, memory_.address(), alias_.key(), remote_ + 1,
                                                       memory_.size()));
    }
    /// Moves everything by a connection between two queue pairs of this side. The other side's memory is that which the
    /// request names as the remote memory, or that of its data segment.
    std::string rdma(std::istringstream &words, ibv_wr_opcode opcode, bool is_remote)
    {
        const std::uint64_t seed = number(words);
        const bool reads_other_side = (opcode == IBV_WR_RDMA_READ) == is_remote;
        memory_.fill(reads_other_side ? seed + 1 : seed);
        if (!pair_)
            pair_.emplace(device_, device_);
        ibv_mr local{};
        local.addr = is_remote ? memory_.data() : reinterpret_cast<void *>(remote_);
        local.lkey = is_remote ? region_->lkey : alias_.key();
        pair_->first.post(opcode, local, is_remote ? remote_ : memory_.address(),
                          is_remote ? alias_.key() : region_->rkey, static_cast<std::uint32_t>(memory_.size()));
        if (const ibv_wc_status status = next_completion(*device_.cq).status; status != IBV_WC_SUCCESS) {
            pair_.reset(); // it is broken
            return "status " + std::to_string(status);
        }
        return memory_.compare(seed);
    }
    /// Adds 1 to the first word, a thousand times. Returns the sum of the values before, as the atomics have returned
    /// them.
    std::string add()
    {
        std::uint64_t sum = 0, first = 0;
        for (unsigned i = 0; i < 1000; ++i) {
            pair_->first.post(IBV_WR_ATOMIC_FETCH_AND_ADD, *region_, remote_, alias_.key(), sizeof(std::uint64_t));
            if (const ibv_wc_status status = next_completion(*device_.cq).status; status != IBV_WC_SUCCESS)
                return "status " + std::to_string(status);
            std::uint64_t before = 0;
            std::memcpy(&before, memory_.data(), sizeof(before));
            if (i == 0)
                first = before;
            sum += before - first;
        }
        return "sum " + std::to_string(sum);
    }
    /// Sends a datagram from the other side's memory, and one to it. Returns the status of each, and that of the second
    /// one's sender before.
    std::string datagrams()
    {
        const DatagramQueue from_there(device_), from_here(device_), receiver(device_);
        ibv_mr there = *region_;
        there.addr = reinterpret_cast<void *>(remote_);
        there.lkey = alias_.key();
        from_there.send(there, receiver);
        std::string result = std::to_string(next_completion(*device_.cq).status);
        receiver.receive(there);
        from_here.send(*region_, receiver);
        std::map<std::uint32_t, int> statuses;
        for (int i = 0; i < 2; ++i) {
            const ibv_wc completion = next_completion(*device_.cq);
            statuses[completion.qp_num] = completion.status;
        }
        for (const DatagramQueue *queue : {&from_here, &receiver})
            result += " " + (statuses.contains(queue->number()) ? std::to_string(statuses[queue->number()]) : "none");
        return result;
    }
    /// Copies until a copy fails. A line announces that the first copies have ended.
    std::string flood()
    {
        for (std::uint64_t count = 0;; ++count) {
            const ibv_wc_status status =
                copies_.copy(region_->lkey, memory_.address(), alias_.key(), remote_, memory_.size());
            if (status != IBV_WC_SUCCESS)
                return "ended with status " + std::to_string(status);
            if (count == 3)
                std::cout << "flooding" << std::endl;
        }
    }

    Device device_;
    Memory memory_;
    Owned<ibv_mr> region_;
    CopyQueue copies_;
    std::optional<Pair> pair_; ///< created when it is needed: not all functions have a port for it
    DevxKey alias_;
    std::uint64_t remote_ = 0;
};

void serve(std::map<std::string, Command> commands)
{
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        const auto found = commands.find(name);
        std::cout << (found == commands.end() ? "unknown" : found->second(words)) << std::endl;
    }
}

} // namespace
} // namespace card_test

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    try {
        const std::size_t bytes = std::strtoul(argv[3], nullptr, 10);
        if (std::string_view(argv[1]) == "host") {
            card_test::HostSide side(argv[2], bytes);
            card_test::serve(side.commands());
        } else {
            card_test::DpuSide side(argv[2], bytes);
            card_test::serve(side.commands());
        }
    } catch (const std::exception &error) {
        std::cout << "error: " << error.what() << std::endl;
        return 1;
    }
}
