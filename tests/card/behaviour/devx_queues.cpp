// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "devx_queues.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include <arpa/inet.h>
#include <endian.h>

namespace card_test {

namespace {

constexpr std::size_t pages = 2 * 4096;
constexpr unsigned context_at = 0xc0; // of a queue pair

using PoolMailbox = std::array<std::uint8_t, 0x880 / 8>;
constexpr unsigned pool_at = 0x100;

/// CREATE_RMP for a ring at the start of a user memory.
PoolMailbox create_pool(Device &device, const QueueMemory &memory, Topology topology)
{
    constexpr unsigned queue = pool_at + 0x180;
    PoolMailbox in{};
    set_bits(in.data(), 0, 16, 0x90c);
    set_bits(in.data(), pool_at + 0x08, 4, 1); // ready
    set_bits(in.data(), queue, 4, static_cast<unsigned>(topology));
    set_bits(in.data(), queue + 0x48, 24, number_of(*device.pd));
    set_bits(in.data(), queue + 0x80, 64, QueueMemory::record_at);
    set_bits(in.data(), queue + 0x10c, 4, Pool::log_stride);
    set_bits(in.data(), queue + 0x11b, 5, 3); // eight entries
    set_bits(in.data(), queue + 0x140, 32, memory.id());
    set_bits(in.data(), queue + 0x160, 32, memory.id());
    return in;
}

Answer create(ibv_context &context, std::span<const std::uint8_t> in)
{
    Answer answer;
    std::uint8_t out[16] = {};
    answer.object.reset(mlx5dv_devx_obj_create(&context, in.data(), in.size(), out, sizeof(out)));
    answer.status = out[0];
    answer.number = static_cast<std::uint32_t>(get_bits(out, 0x48, 24));
    return answer;
}

} // namespace

QueueMemory::QueueMemory(ibv_context &context, unsigned access)
    : pages_(static_cast<std::uint8_t *>(std::aligned_alloc(4096, pages)))
{
    std::memset(pages_, 0, pages);
    memory_.reset(mlx5dv_devx_umem_reg(&context, pages_, pages, access));
    if (memory_ == nullptr)
        throw std::runtime_error("mlx5dv_devx_umem_reg: " + std::string(std::strerror(errno)));
}

QueueMemory::~QueueMemory()
{
    memory_.reset();
    std::free(pages_);
}

void QueueMemory::set_record(unsigned word, std::uint32_t value) const
{
    __atomic_store_n(reinterpret_cast<std::uint32_t *>(pages_ + record_at) + word, htonl(value), __ATOMIC_RELEASE);
}

Uar::Uar(ibv_context &context) : uar_(mlx5dv_devx_alloc_uar(&context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC))
{
    if (uar_ == nullptr)
        throw std::runtime_error("mlx5dv_devx_alloc_uar: " + std::string(std::strerror(errno)));
}

void Uar::ring(std::size_t offset, std::uint64_t value) const
{
    __atomic_store_n(reinterpret_cast<std::uint64_t *>(static_cast<char *>(uar_->base_addr) + offset), htobe64(value),
                     __ATOMIC_RELEASE);
}

DevxCq::DevxCq(ibv_context &context, const Uar &uar, bool ignores_overrun) : memory_(context), uar_(uar)
{
    constexpr unsigned at = 0x80;
    std::array<std::uint8_t, 0x880 / 8> in{};
    set_bits(in.data(), 0, 16, 0x400);
    set_bits(in.data(), at + 0x0e, 1, ignores_overrun ? 1 : 0);
    set_bits(in.data(), at + 0x20, 32, memory_.id());
    set_bits(in.data(), at + 0x63, 5, 2); // four entries
    set_bits(in.data(), at + 0x68, 24, uar.number());
    set_bits(in.data(), at + 0x1c0, 64, QueueMemory::record_at);
    set_bits(in.data(), 0x2c0, 32, memory_.id());
    for (std::uint32_t i = 0; i < entries; ++i)
        memory_.ring()[i * 64 + 63] = 0xf1; // invalid, of the owner before the first round
    answer_ = create(context, in);
    if (answer_.object == nullptr)
        throw std::runtime_error("CREATE_CQ: status " + std::to_string(answer_.status));
}

void DevxCq::arm()
{
    constexpr std::size_t doorbell_at = 0x20;
    const std::uint32_t word = (arms_ & 3) << 28 | (consumed_ & 0xffffff);
    memory_.set_record(1, word);
    uar_.ring(doorbell_at, static_cast<std::uint64_t>(word) << 32 | number());
    ++arms_;
}

int DevxCq::poll()
{
    const std::uint8_t *entry = memory_.ring() + consumed_ % entries * 64;
    const std::uint8_t owner = __atomic_load_n(&entry[63], __ATOMIC_ACQUIRE);
    const std::uint8_t expected = (consumed_ & entries) != 0 ? 1 : 0;
    if (owner >> 4 == 15 || (owner & 1) != expected)
        return -1;
    counter_ = static_cast<std::uint16_t>(entry[60] << 8 | entry[61]);
    ++consumed_;
    memory_.set_record(0, consumed_ & 0xffffff);
    return owner >> 4;
}

Pool::Pool(Device &device, Topology topology, std::size_t ring_offset)
    : memory_(*device.context, 0),
      ring_(memory_.ring() + ring_offset)
{
    PoolMailbox in = create_pool(device, memory_, topology);
    set_bits(in.data(), pool_at + 0x180 + 0x180, 64, ring_offset);
    // A list goes through the ring backwards, unlike a cycle.
    for (std::uint32_t i = 0; i < entries; ++i)
        set_bits(ring_ + (i << log_stride), 16, 16, (i + entries - 1) % entries);
    answer_ = create(*device.context, in);
    if (answer_.object == nullptr)
        throw std::runtime_error("CREATE_RMP: status " + std::to_string(answer_.status));
}

void Pool::post(const ibv_mr &memory, std::uint32_t bytes)
{
    // All entries are alike, so that both topologies find them.
    for (std::uint32_t i = 0; i < entries; ++i) {
        std::uint8_t *segment = ring_ + (i << log_stride) + 16;
        set_bits(segment, 0, 32, bytes);
        set_bits(segment, 32, 32, memory.lkey);
        set_bits(segment, 64, 64, reinterpret_cast<std::uintptr_t>(memory.addr));
    }
    memory_.set_record(0, ++posted_);
}

std::uint8_t create_wrong_pool(Device &device, unsigned bit, unsigned width, std::uint64_t value)
{
    const QueueMemory memory(*device.context);
    PoolMailbox in = create_pool(device, memory, Topology::list);
    set_bits(in.data(), pool_at + bit, width, value);
    return create(*device.context, in).status;
}

std::uint8_t Pool::set_limit(std::uint32_t limit)
{
    std::array<std::uint8_t, 0x880 / 8> in{};
    std::uint8_t out[16] = {};
    set_bits(in.data(), 0, 16, 0x90d);
    set_bits(in.data(), 0x40, 4, 1); // ready
    set_bits(in.data(), 0x48, 24, number());
    set_bits(in.data(), 0xbf, 1, 1);
    set_bits(in.data(), 0x2b0, 16, limit);
    mlx5dv_devx_obj_modify(object(), in.data(), in.size(), out, sizeof(out));
    return out[0];
}

DevxQp::DevxQp(Device &device, const Uar &uar, const DevxCq &cq, ReceiveQueue receives)
    : device_(device),
      memory_(*device.context, 0)
{
    std::array<std::uint8_t, 0x880 / 8> in{};
    set_bits(in.data(), 0, 16, 0x500);
    set_bits(in.data(), context_at + 0x28, 24, number_of(*device.pd));
    set_bits(in.data(), context_at + 0x51, 4, 2); // four slots
    set_bits(in.data(), context_at + 0x68, 24, uar.number());
    set_bits(in.data(), context_at + 0x88, 24, 0xffffff);
    set_bits(in.data(), context_at + 0x3e8, 24, cq.number());
    set_bits(in.data(), context_at + 0x4e8, 24, cq.number());
    set_bits(in.data(), context_at + 0x500, 64, QueueMemory::record_at);
    set_bits(in.data(), context_at + 0x565, 3, receives.kind);
    set_bits(in.data(), context_at + 0x568, 24, receives.number);
    set_bits(in.data(), context_at + 0x720, 32, memory_.id());
    set_bits(in.data(), 0x840, 32, memory_.id());
    answer_ = create(*device.context, in);
}

std::uint8_t DevxQp::modify(std::span<std::uint8_t> in, std::uint32_t opcode)
{
    std::uint8_t out[16] = {};
    set_bits(in.data(), 0, 16, opcode);
    set_bits(in.data(), 0x48, 24, number());
    mlx5dv_devx_obj_modify(object(), in.data(), in.size(), out, sizeof(out));
    return out[0];
}

std::uint8_t DevxQp::connect_to(const Address &peer, std::uint64_t optional_rights)
{
    std::array<std::uint8_t, 0x800 / 8> in{};
    set_bits(in.data(), context_at + 0x491, 1, 1); // remote writes
    if (const std::uint8_t status = modify(in, 0x502))
        return status;
    in = {};
    set_bits(in.data(), 0x80, 32, optional_rights);
    set_bits(in.data(), context_at + 0x490, 3, 7);
    set_bits(in.data(), context_at + 0x40, 3, IBV_MTU_1024);
    set_bits(in.data(), context_at + 0xa8, 24, peer.number);
    set_bits(in.data(), context_at + 0x4a3, 5, 12);
    if (peer.lid != 0)
        set_bits(in.data(), context_at + 0xc0 + 0x30, 16, peer.lid);
    else
        std::memcpy(in.data() + (context_at + 0xc0 + 0x80) / 8, peer.gid.raw, sizeof(peer.gid.raw));
    if (const std::uint8_t status = modify(in, 0x503))
        return status;
    in = {};
    set_bits(in.data(), context_at + 0x38d, 3, 7);
    set_bits(in.data(), context_at + 0x390, 3, 7);
    set_bits(in.data(), context_at + 0xc0 + 0x40, 5, 14);
    return modify(in, 0x504);
}

std::uint8_t DevxQp::fail()
{
    std::array<std::uint8_t, 16> in{};
    return modify(in, 0x507);
}

std::vector<std::uint8_t> DevxQp::query() const
{
    std::array<std::uint8_t, 16> in{};
    std::vector<std::uint8_t> out(0x880 / 8);
    set_bits(in.data(), 0, 16, 0x50b);
    set_bits(in.data(), 0x48, 24, number());
    if (mlx5dv_devx_obj_query(object(), in.data(), in.size(), out.data(), out.size()) != 0)
        throw std::runtime_error("QUERY_QP: status " + std::to_string(out[0]));
    out.erase(out.begin(), out.begin() + context_at / 8);
    return out;
}

Address DevxQp::address() const
{
    Address address{number(), {}, 0};
    ibv_port_attr port{};
    ibv_query_port(device_.context.get(), 1, &port);
    address.lid = port.lid;
    ibv_query_gid(device_.context.get(), 1, port.link_layer == IBV_LINK_LAYER_ETHERNET ? 3 : 0, &address.gid);
    return address;
}

} // namespace card_test
