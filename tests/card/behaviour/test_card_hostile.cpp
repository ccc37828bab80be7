// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Requests that no honest program makes. The card runs in this process, so that sanitizers see what it does,
// and the client is this process as well. Whatever it asks for, the card must stay in one piece and touch no
// memory but what was registered.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_netlink.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/big_endian.hpp"
#include "server/command.hpp"
#include "server/control.hpp"
#include "server/devlink.hpp"
#include "server/devx.hpp"
#include "server/engine.hpp"
#include "server/rdma_netlink.hpp"
#include "server/work_request.hpp"

namespace opendoca::card {
namespace {

/// One ioctl as a program writes it.
class Ioctl {
public:
    Ioctl(unsigned object, unsigned method) : object_(object), method_(method) {}
    Ioctl &number(unsigned id, std::uint64_t value, unsigned length = 8)
    {
        attributes_.push_back({});
        attributes_.back().attr_id = static_cast<std::uint16_t>(id);
        attributes_.back().len = static_cast<std::uint16_t>(length);
        attributes_.back().data = value;
        return *this;
    }
    Ioctl &bytes(unsigned id, void *data, std::size_t size)
    {
        return number(id, reinterpret_cast<std::uintptr_t>(data), static_cast<unsigned>(size));
    }
    /// An errno, or 0; and what the card wrote into the attributes.
    int run(OpenFile &file, const std::shared_ptr<Process> &process)
    {
        image_.assign(sizeof(ib_uverbs_ioctl_hdr) + attributes_.size() * sizeof(ib_uverbs_attr), 0);
        ib_uverbs_ioctl_hdr header;
        std::memset(&header, 0, sizeof(header));
        header.length = static_cast<std::uint16_t>(image_.size());
        header.object_id = static_cast<std::uint16_t>(object_);
        header.method_id = static_cast<std::uint16_t>(method_);
        header.num_attrs = static_cast<std::uint16_t>(attributes_.size());
        std::memcpy(image_.data(), &header, sizeof(header));
        std::memcpy(image_.data() + sizeof(header), attributes_.data(), attributes_.size() * sizeof(ib_uverbs_attr));
        return run_image(file, process, image_);
    }
    static int run_image(OpenFile &file, const std::shared_ptr<Process> &process, std::vector<std::uint8_t> &image)
    {
        Command command(file, process, reinterpret_cast<std::uintptr_t>(image.data()));
        return run_command(command);
    }
    [[nodiscard]] std::uint32_t handle(std::size_t attribute) const
    {
        ib_uverbs_attr attr;
        std::memcpy(&attr, image_.data() + sizeof(ib_uverbs_ioctl_hdr) + attribute * sizeof(attr), sizeof(attr));
        return static_cast<std::uint32_t>(attr.data);
    }

private:
    unsigned object_, method_;
    std::vector<ib_uverbs_attr> attributes_;
    std::vector<std::uint8_t> image_;
};

class Hostile : public testing::Test {
protected:
    static constexpr std::size_t ring_slots = 256, arena_bytes = 1 << 20, registered_at = 1 << 18,
                                 registered_bytes = 1 << 16, device_memory_length = 1000;

    Hostile()
    {
        card.faults.clear();
        arena = static_cast<std::uint8_t *>(
            mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        std::memset(arena, 0xa5, arena_bytes);
    }
    ~Hostile() override { munmap(arena, arena_bytes); }

    std::uint32_t random(std::uint32_t below) { return static_cast<std::uint32_t>(generator() % below); }
    bool chance(std::uint32_t one_in) { return random(one_in) == 0; }

    /// The card's memory is this process's: what it must not write to.
    void expect_only_registered_memory_changed()
    {
        const auto untouched = [&](std::size_t from, std::size_t to) {
            return std::all_of(arena + from, arena + to, [](std::uint8_t byte) { return byte == 0xa5; });
        };
        EXPECT_TRUE(untouched(0, registered_at));
        EXPECT_TRUE(untouched(registered_at + registered_bytes, arena_bytes));
    }

    std::uint32_t make_pd()
    {
        ib_uverbs_alloc_pd request{};
        ib_uverbs_alloc_pd_resp response{};
        Ioctl ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
        ioctl.number(UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_ALLOC_PD)
            .bytes(UVERBS_ATTR_CORE_IN, &request, sizeof(request))
            .bytes(UVERBS_ATTR_CORE_OUT, &response, 4);
        EXPECT_EQ(ioctl.run(file, process), 0);
        return response.pd_handle;
    }
    std::uint32_t make_key(std::uint32_t pd) { return make_key(pd, {arena + registered_at, registered_bytes}); }
    std::uint32_t make_key(std::uint32_t pd, std::span<std::uint8_t> bytes)
    {
        ib_uverbs_reg_mr request{};
        ib_uverbs_reg_mr_resp response{};
        request.start = request.hca_va = reinterpret_cast<std::uintptr_t>(bytes.data());
        request.length = bytes.size();
        request.pd_handle = pd;
        request.access_flags = 31;
        Ioctl ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
        ioctl.number(UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_REG_MR)
            .bytes(UVERBS_ATTR_CORE_IN, &request, sizeof(request))
            .bytes(UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
        EXPECT_EQ(ioctl.run(file, process), 0);
        return response.lkey;
    }
    /// Memory of the device that ends within a page, and its key.
    const DeviceMemory *make_device_memory(std::uint32_t pd, std::vector<std::uint32_t> &keys)
    {
        std::uint64_t offset = 0;
        std::uint16_t page = 0;
        std::uint32_t local = 0, remote = 0;
        Ioctl alloc(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC), reg(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG);
        alloc.number(UVERBS_ATTR_ALLOC_DM_HANDLE, 0, 0)
            .number(UVERBS_ATTR_ALLOC_DM_LENGTH, device_memory_length)
            .bytes(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &offset, sizeof(offset))
            .bytes(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, &page, sizeof(page));
        EXPECT_EQ(alloc.run(file, process), 0);
        reg.number(UVERBS_ATTR_REG_DM_MR_HANDLE, 0, 0)
            .number(UVERBS_ATTR_REG_DM_MR_LENGTH, device_memory_length)
            .number(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, pd, 0)
            .number(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, 47, 4)
            .number(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, alloc.handle(0), 0)
            .bytes(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, &local, sizeof(local))
            .bytes(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, &remote, sizeof(remote));
        EXPECT_EQ(reg.run(file, process), 0);
        keys.push_back(remote);
        return card.objects.find<DeviceMemory>(alloc.handle(0));
    }
    std::uint32_t make_cq()
    {
        queues.emplace_back(4096 * 64);
        records.emplace_back(16);
        mlx5_ib_create_cq driver{};
        driver.buf_addr = reinterpret_cast<std::uintptr_t>(queues.back().data());
        driver.db_addr = reinterpret_cast<std::uintptr_t>(records.back().data());
        driver.cqe_size = 64;
        Ioctl ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
        ioctl.number(UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0)
            .number(UVERBS_ATTR_CREATE_CQ_CQE, 4095, 4)
            .bytes(UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
        EXPECT_EQ(ioctl.run(file, process), 0);
        return ioctl.handle(0);
    }
    QueuePair *make_qp(std::uint32_t pd, std::uint32_t cq, std::uint64_t type, int expected = 0)
    {
        queues.emplace_back(ring_slots * 64 * 2);
        records.emplace_back(16);
        mlx5_ib_create_qp driver{};
        driver.buf_addr = reinterpret_cast<std::uintptr_t>(queues.back().data());
        driver.db_addr = reinterpret_cast<std::uintptr_t>(records.back().data());
        driver.sq_wqe_count = driver.rq_wqe_count = ring_slots;
        driver.rq_wqe_shift = 6;
        ib_uverbs_qp_cap limits{};
        Ioctl ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
        ioctl.number(UVERBS_ATTR_CREATE_QP_HANDLE, 0, 0)
            .number(UVERBS_ATTR_CREATE_QP_PD_HANDLE, pd, 0)
            .number(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq, 0)
            .number(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, cq, 0)
            .number(UVERBS_ATTR_CREATE_QP_TYPE, type)
            .bytes(UVERBS_ATTR_CREATE_QP_CAP, &limits, sizeof(limits))
            .bytes(UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
        EXPECT_EQ(ioctl.run(file, process), expected);
        return card.objects.find<QueuePair>(ioctl.handle(0));
    }
    std::uint32_t make_domain()
    {
        ib_uverbs_open_xrcd request{};
        ib_uverbs_open_xrcd_resp response{};
        request.fd = 0xffffffff;
        Ioctl ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
        ioctl.number(UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_OPEN_XRCD)
            .bytes(UVERBS_ATTR_CORE_IN, &request, sizeof(request))
            .bytes(UVERBS_ATTR_CORE_OUT, &response, 4);
        EXPECT_EQ(ioctl.run(file, process), 0);
        return response.xrcd_handle;
    }
    SharedReceiveQueue *make_xrc_queue(std::uint32_t domain, std::uint32_t pd, std::uint32_t cq)
    {
        queues.emplace_back(ring_slots * 32);
        records.emplace_back(16);
        mlx5_ib_create_srq driver{};
        driver.buf_addr = reinterpret_cast<std::uintptr_t>(queues.back().data());
        driver.db_addr = reinterpret_cast<std::uintptr_t>(records.back().data());
        driver.uidx = 77;
        Ioctl ioctl(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE);
        ioctl.number(UVERBS_ATTR_CREATE_SRQ_HANDLE, 0, 0)
            .number(UVERBS_ATTR_CREATE_SRQ_TYPE, 1)
            .number(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, domain, 0)
            .number(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, cq, 0)
            .number(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, pd, 0)
            .number(UVERBS_ATTR_CREATE_SRQ_MAX_WR, ring_slots - 1, 4)
            .number(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 1, 4)
            .bytes(UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
        EXPECT_EQ(ioctl.run(file, process), 0);
        return card.objects.find<SharedReceiveQueue>(ioctl.handle(0));
    }
    QueuePair *make_xrc_receiver(std::uint32_t domain)
    {
        mlx5_ib_create_qp driver{};
        ib_uverbs_qp_cap limits{};
        Ioctl ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
        ioctl.number(UVERBS_ATTR_CREATE_QP_HANDLE, 0, 0)
            .number(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, domain, 0)
            .number(UVERBS_ATTR_CREATE_QP_TYPE, 10)
            .bytes(UVERBS_ATTR_CREATE_QP_CAP, &limits, sizeof(limits))
            .bytes(UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
        EXPECT_EQ(ioctl.run(file, process), 0);
        return card.objects.find<QueuePair>(ioctl.handle(0));
    }
    /// Receive requests of `bytes` at `address`, each followed by the next one.
    static void post_receives(SharedReceiveQueue &queue, std::uint32_t key, std::uint64_t address, std::uint32_t bytes)
    {
        auto *ring = reinterpret_cast<std::uint8_t *>(queue.buffer);
        for (std::size_t i = 0; i < ring_slots; ++i) {
            std::uint8_t *entry = ring + i * 32;
            store_big(entry + 2, static_cast<std::uint16_t>((i + 1) % ring_slots));
            store_big(entry + 16, bytes);
            store_big(entry + 20, key);
            store_big(entry + 24, address);
        }
        store_big(reinterpret_cast<std::uint8_t *>(queue.doorbell_record),
                  static_cast<std::uint32_t>(queue.consumed + ring_slots - 1));
    }
    /// A SEND of XRC in the first slot of the ring.
    static void put_xrc_send(QueuePair &qp, std::uint32_t queue, std::uint32_t key, std::uint64_t address,
                             std::uint32_t bytes)
    {
        auto *request = reinterpret_cast<std::uint8_t *>(qp.send_buffer);
        store_big(request, static_cast<std::uint32_t>(Opcode::send));
        store_big(request + 4, std::uint32_t{3});
        store_big(request + 8, std::uint32_t{8}); // with a completion
        store_big(request + 16, queue);
        store_big(request + 32, bytes);
        store_big(request + 36, key);
        store_big(request + 40, address);
    }
    static void connect(QueuePair &from, QueuePair &to)
    {
        connect(from);
        connect(to);
        from.attributes.destination = to.number();
        to.attributes.destination = from.number();
        to.state = QpState::rtr;
    }
    /// As a program would have connected it to itself, without its many steps.
    static void connect(QueuePair &qp)
    {
        qp.attributes.destination = qp.number();
        qp.attributes.access = 15;
        qp.attributes.max_reads = qp.attributes.max_reads_of_peer = 4;
        qp.attributes.timeout = 1;
        qp.attributes.path.is_global = 1;
        std::ranges::copy(qp.file.function.profile.gids[3].raw, qp.attributes.path.dgid);
        qp.is_mmo_enabled = true;
        qp.state = QpState::rts;
    }
    /// Fills the send ring with requests whose keys, addresses and lengths are nearly right.
    void fill_ring(QueuePair &qp, std::span<const std::uint32_t> keys)
    {
        static constexpr std::uint8_t opcodes[] = {0, 1, 8, 9, 10, 11, 16, 17, 18, 0x25, 0x2f, 0x77};
        auto *ring = reinterpret_cast<std::uint8_t *>(qp.send_buffer);
        auto *receives = reinterpret_cast<std::uint8_t *>(qp.receive_buffer);
        for (std::size_t i = 0; i < ring_slots * 16; ++i) {
            std::uint32_t word = static_cast<std::uint32_t>(generator());
            if (chance(2))
                word = keys[random(static_cast<std::uint32_t>(keys.size()))];
            store_big(ring + i * 4, word);
            store_big(receives + i * 4, word);
        }
        for (std::size_t slot = 0; slot < ring_slots; ++slot) {
            std::uint8_t *request = ring + slot * 64;
            store_big(request, static_cast<std::uint32_t>(random(256) << 24 | opcodes[random(sizeof(opcodes))]));
            store_big(request + 4, chance(8) ? random(64) : 1 + random(4));
            for (const std::size_t at : {16, 24, 32, 40, 48, 56}) {
                if (chance(2))
                    store_big(request + at,
                              static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(arena + registered_at) +
                                                         random(registered_bytes)));
                else if (chance(2))
                    store_big(request + at, std::uint32_t{random(4096)});
            }
        }
    }
    /// Writes to device memory, at and around its end.
    void add_writes_to_device(QueuePair &qp, std::uint32_t local_key, std::uint32_t device_key)
    {
        for (std::size_t slot = 0; slot < ring_slots; ++slot) {
            std::uint8_t *request = reinterpret_cast<std::uint8_t *>(qp.send_buffer) + slot * 64;
            if (chance(2))
                continue;
            store_big(request, static_cast<std::uint32_t>(Opcode::write));
            store_big(request + 4, std::uint32_t{3});
            store_big(request + 16, chance(16) ? generator() : std::uint64_t{random(device_memory_length)});
            store_big(request + 24, device_key);
            store_big(request + 32, 1 + random(chance(8) ? 4096 : 128));
            store_big(request + 36, local_key);
            store_big(request + 40, std::uint64_t{reinterpret_cast<std::uintptr_t>(arena + registered_at)});
        }
    }
    static void ring_doorbell(QueuePair &qp, std::uint32_t sent, std::uint32_t received)
    {
        auto *record = reinterpret_cast<std::uint8_t *>(qp.doorbell_record);
        store_big(record, received);
        store_big(record + 4, sent);
    }

    std::mt19937_64 generator{20221122};
    Card card{*find_profile("bluefield-3")};
    OpenFile &file = card.open(card.functions[0], UniqueFd(dup(0)));
    std::shared_ptr<Process> process = card.process(getpid());
    std::uint8_t *arena = nullptr;
    std::deque<std::vector<std::uint8_t>> queues, records;
};

constexpr unsigned objects[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 14, 0x1000, 0x1001, 0x1002, 0x1005, 0x1008, 0x1009, 77};

TEST_F(Hostile, IoctlsOfAnyContent)
{
    make_cq();
    make_pd();
    for (int round = 0; round < 60'000; ++round) {
        std::vector<std::uint8_t> image(sizeof(ib_uverbs_ioctl_hdr) + random(20) * sizeof(ib_uverbs_attr));
        for (std::uint8_t &byte : image)
            byte = static_cast<std::uint8_t>(generator());
        ib_uverbs_ioctl_hdr header;
        std::memset(&header, 0, sizeof(header));
        header.length = static_cast<std::uint16_t>(chance(50) ? random(65536) : image.size());
        header.object_id = static_cast<std::uint16_t>(objects[random(std::size(objects))]);
        header.method_id = static_cast<std::uint16_t>(chance(2) ? random(10) : 0x1000 + random(6));
        header.num_attrs = static_cast<std::uint16_t>(
            chance(50) ? random(65536) : (image.size() - sizeof(header)) / sizeof(ib_uverbs_attr));
        std::memcpy(image.data(), &header, sizeof(header));
        for (std::size_t at = sizeof(header); at < image.size(); at += sizeof(ib_uverbs_attr)) {
            ib_uverbs_attr attribute{};
            attribute.attr_id = static_cast<std::uint16_t>(chance(4) ? 0x1000 + random(6) : random(20));
            attribute.len = static_cast<std::uint16_t>(chance(3) ? random(65536) : random(128));
            // Numbers of commands and handles, addresses of memory that it may read, and anything.
            attribute.data = chance(3)   ? random(64)
                             : chance(2) ? reinterpret_cast<std::uintptr_t>(arena + registered_at + random(1 << 15))
                                         : generator();
            if (chance(20))
                attribute.data = 0x80000000u + random(64);
            std::memcpy(image.data() + at, &attribute, sizeof(attribute));
        }
        // Inputs behind pointers are as random as the memory there.
        if (chance(4))
            std::generate(arena + registered_at, arena + registered_at + 4096,
                          [&] { return static_cast<std::uint8_t>(chance(2) ? random(8) : generator()); });
        Ioctl::run_image(file, process, image);
    }
    card.close(file);
    EXPECT_EQ(card.objects.count(), 0u) << "what it made ends with its file";
    EXPECT_EQ(card.keys.count(), 0u);
}

TEST_F(Hostile, CommandMailboxesOfAnyContent)
{
    const std::uint32_t pd = make_pd();
    make_key(pd);
    static constexpr std::uint16_t opcodes[] = {0x100, 0x740, 0xb16, 0xb22, 0x200, 0xa00, 0x400, 0x500, 0x502, 0x503,
                                                0x504, 0x505, 0x507, 0x50a, 0x50b, 0x50e, 0x90c, 0x90d, 0x754, 0x999};
    unsigned accepted = 0;
    for (int round = 0; round < 100'000; ++round) {
        std::vector<std::uint8_t> in(8 + random(chance(2) ? 512 : 64)), out(8 + random(chance(4) ? 8192 : 128));
        const bool is_sparse = chance(2);
        for (std::uint8_t &byte : in)
            byte = is_sparse && !chance(16) ? std::uint8_t{0} : static_cast<std::uint8_t>(generator());
        store_big(in.data(), opcodes[random(std::size(opcodes))]);
        if (in.size() >= 0x110 && chance(2)) {
            prm::set(in, prm::mkey::pd + prm::mkey::at, ProtectionDomain::first_number + pd);
            prm::set(in, prm::mkey::mode_high + prm::mkey::at, 0);
            prm::set(in, prm::mkey::mode_low + prm::mkey::at, 2 + random(2));
            prm::set(in, prm::create_mkey::actual_size, random(20));
        }
        Mailbox mailbox{file, process, in, out};
        const auto method = static_cast<Method>(random(4));
        if (run_prm_command(mailbox, method)) {
            ++accepted;
            EXPECT_EQ(out[0], 0);
        } else {
            EXPECT_NE(out[0], 0);
        }
        if (mailbox.created != nullptr && chance(2))
            card.objects.destroy(*mailbox.created);
    }
    EXPECT_GT(accepted, 100u) << "the requests have to be nearly right to test anything";
    card.close(file);
    EXPECT_EQ(card.keys.count(), 0u);
    expect_only_registered_memory_changed();
}

TEST_F(Hostile, TypeOfAQueuePairIsNotCutToItsLowByte)
{
    const std::uint32_t pd = make_pd(), cq = make_cq();
    for (const std::uint64_t type : {0x102ull, 0x1'0000'0002ull, ~0ull - 0xfd})
        EXPECT_EQ(make_qp(pd, cq, type, EOPNOTSUPP), nullptr) << type;
    EXPECT_NE(make_qp(pd, cq, 2), nullptr);
}

TEST_F(Hostile, WorkRequestsOfAnyContent)
{
    const std::uint32_t pd = make_pd(), cq = make_cq();
    std::vector<std::uint32_t> keys = {make_key(pd)};
    ib_uverbs_alloc_mw request{};
    request.pd_handle = pd;
    request.mw_type = 2;
    ib_uverbs_alloc_mw_resp window{};
    Ioctl alloc(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
    alloc.number(UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_ALLOC_MW)
        .bytes(UVERBS_ATTR_CORE_IN, &request, sizeof(request))
        .bytes(UVERBS_ATTR_CORE_OUT, &window, sizeof(window));
    ASSERT_EQ(alloc.run(file, process), 0);
    keys.push_back(window.rkey);
    const DeviceMemory *memory = make_device_memory(pd, keys);
    QueuePair *const qps[] = {make_qp(pd, cq, 2), make_qp(pd, cq, 3), make_qp(pd, cq, 4)};
    auto *completions = card.objects.find<CompletionQueue>(cq);
    unsigned done = 0;
    for (int round = 0; round < 600; ++round) {
        for (QueuePair *qp : qps) {
            ASSERT_NE(qp, nullptr);
            set_state_of(*qp, QpState::reset);
            connect(*qp);
            fill_ring(*qp, keys);
            if (chance(4))
                add_writes_to_device(*qp, keys.front(), keys.back());
            const std::uint32_t sent = chance(8) ? static_cast<std::uint32_t>(generator()) : random(ring_slots + 1);
            ring_doorbell(*qp, sent, random(chance(8) ? 65536 : ring_slots));
        }
        for (int turn = 0; turn < 16; ++turn)
            done += poll_process(*process).done;
        // The program takes what has come.
        store_big(reinterpret_cast<std::uint8_t *>(completions->doorbell_record), completions->produced);
        completions->is_overrun = false;
    }
    EXPECT_GT(done, 3000u);
    expect_only_registered_memory_changed();
    const auto behind = memory->pages.bytes().subspan(device_memory_length);
    EXPECT_FALSE(std::ranges::all_of(memory->pages.bytes(), [](std::uint8_t byte) { return byte == 0; }));
    EXPECT_TRUE(std::ranges::all_of(behind, [](std::uint8_t byte) { return byte == 0; }));
}

TEST_F(Hostile, XrcRequestsOfAnyContent)
{
    const std::uint32_t pd = make_pd(), cq = make_cq(), domain = make_domain();
    const std::vector<std::uint32_t> keys = {make_key(pd)};
    QueuePair *sender = make_qp(pd, cq, 9), *receiver = make_xrc_receiver(domain);
    ASSERT_NE(receiver, nullptr);
    SharedReceiveQueue *numbered[] = {make_xrc_queue(domain, pd, cq), make_xrc_queue(make_domain(), pd, cq),
                                      make_xrc_queue(domain, pd, cq)};
    auto *completions = card.objects.find<CompletionQueue>(cq);
    std::uint64_t messages = 0;
    unsigned done = 0;
    for (int round = 0; round < 2000; ++round) {
        if (chance(16)) {
            SharedReceiveQueue *&queue = numbered[random(3)];
            card.objects.destroy(*queue);
            queue = make_xrc_queue(domain, pd, cq);
        }
        set_state_of(*sender, QpState::reset);
        set_state_of(*receiver, QpState::reset);
        connect(*sender, *receiver);
        fill_ring(*sender, keys);
        for (SharedReceiveQueue *queue : numbered) {
            const std::uint64_t address = reinterpret_cast<std::uintptr_t>(arena + registered_at) + random(1 << 14);
            post_receives(*queue, keys[0], address, 1 + random(chance(4) ? 1 << 17 : 1 << 15));
            auto *ring = reinterpret_cast<std::uint8_t *>(queue->buffer);
            for (std::size_t i = 0; i < ring_slots * 32 && chance(2); i += 1 + random(64))
                ring[i] = static_cast<std::uint8_t>(generator());
        }
        auto *ring = reinterpret_cast<std::uint8_t *>(sender->send_buffer);
        for (std::size_t slot = 0; slot < ring_slots; ++slot) {
            std::uint8_t *request = ring + slot * 64;
            if (chance(8))
                continue;
            store_big(request + 4, 3 + random(2));
            store_big(request + 16, numbered[chance(8) ? random(3) : 0]->number() + (chance(16) ? random(300) : 0));
            store_big(request + 32, random(chance(8) ? 1 << 17 : 256));
            store_big(request + 36, keys[0]);
            store_big(request + 40, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(arena + registered_at) +
                                                               random(1 << 14)));
        }
        messages = card.messages;
        ring_doorbell(*sender, random(ring_slots + 1), 0);
        for (int turn = 0; turn < 8; ++turn)
            done += poll_process(*process).done;
        store_big(reinterpret_cast<std::uint8_t *>(completions->doorbell_record), completions->produced);
        completions->is_overrun = false;
    }
    EXPECT_GT(messages, 200u);
    EXPECT_GT(done, 3000u);
    expect_only_registered_memory_changed();
    card.close(file);
    EXPECT_EQ(card.objects.count(), 0u);
}

/// A message of several parts, and what a program can do between them.
TEST_F(Hostile, XrcChangesDuringAMessage)
{
    constexpr std::uint32_t bytes = 5 << 20;
    enum Change {
        nothing,
        destroy_queue,
        name_another_queue,
        reset_receiver,
        destroy_receiver,
        break_receiver,
        changes
    };
    std::vector<std::uint8_t> memory(bytes, 'm');
    const std::uint64_t address = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::uint32_t pd = make_pd(), cq = make_cq(), domain = make_domain(), key = make_key(pd, memory);
    auto *completions = card.objects.find<CompletionQueue>(cq);
    for (int change = nothing; change < changes; ++change) {
        QueuePair *sender = make_qp(pd, cq, 9), *receiver = make_xrc_receiver(domain);
        SharedReceiveQueue *first = make_xrc_queue(domain, pd, cq), *second = make_xrc_queue(domain, pd, cq);
        connect(*sender, *receiver);
        sender->attributes.timeout = 0; // it waits for ever
        post_receives(*first, key, address, bytes);
        post_receives(*second, key, address, bytes);
        put_xrc_send(*sender, first->number(), key, address, bytes);
        ring_doorbell(*sender, 1, 0);
        const std::uint32_t produced = completions->produced;
        poll_process(*process);
        EXPECT_NE(receiver->receiving, nullptr);
        EXPECT_EQ(first->consumed, 1);
        if (change == destroy_queue)
            card.objects.destroy(*first);
        else if (change == name_another_queue)
            put_xrc_send(*sender, second->number(), key, address, bytes);
        else if (change == reset_receiver || change == break_receiver)
            set_state_of(*receiver, change == reset_receiver ? QpState::reset : QpState::error);
        else if (change == destroy_receiver)
            card.objects.destroy(*receiver);
        for (int turn = 0; turn < 4; ++turn)
            poll_process(*process);
        // Of the receiver or of its queue, then of the sender; a sender without a receiver waits.
        static constexpr std::uint32_t written[] = {2, 1, 3, 0, 0, 1};
        EXPECT_EQ(completions->produced - produced, written[change]) << change;
        EXPECT_EQ(sender->state, change == destroy_queue ? QpState::error : QpState::rts) << change;
        EXPECT_EQ(second->consumed, change == name_another_queue ? 1 : 0);
        card.objects.destroy(*sender);
    }
}

/// The card would be ended by an access to pages that a program has cut off.
TEST_F(Hostile, DeviceMemoryCannotBeShortened)
{
    std::vector<std::uint32_t> keys;
    const DeviceMemory *memory = make_device_memory(make_pd(), keys);
    const UniqueFd program_end = memory->pages.share();
    for (const off_t length : {off_t{0}, off_t{1} << 30}) {
        EXPECT_EQ(ftruncate(program_end.get(), length), -1) << length;
        EXPECT_EQ(errno, EPERM);
    }
    EXPECT_EQ(fallocate(program_end.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), 0);
    memory->pages.bytes()[0] = 1; // a hole is filled with zeros
}

TEST_F(Hostile, ObjectsOfOthersAreNotFound)
{
    const std::uint32_t pd = make_pd(), key = make_key(pd);
    const std::uint32_t cq = make_cq();
    OpenFile &other = card.open(card.functions[1], UniqueFd(dup(0)));
    for (std::uint32_t handle = 0; handle < 64; ++handle) {
        struct Destroy {
            unsigned object, method;
        };
        for (const auto &[object, method] :
             {Destroy{UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY}, Destroy{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY},
              Destroy{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY}, Destroy{UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY},
              Destroy{UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE},
              Destroy{UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY}})
            EXPECT_NE(Ioctl(object, method).number(0, handle, 0).run(other, process), 0);
    }
    EXPECT_NE(card.objects.find<ProtectionDomain>(pd, file), nullptr);
    EXPECT_NE(card.objects.find<CompletionQueue>(cq, file), nullptr);
    EXPECT_NE(card.keys.find(key), nullptr);
}

TEST_F(Hostile, OneFileCannotTakeAllObjects)
{
    std::uint32_t made = 0;
    while (made <= OpenFile::max_objects && card.objects.create<ProtectionDomain>(file) != nullptr)
        ++made;
    EXPECT_EQ(made, OpenFile::max_objects);
    OpenFile &other = card.open(card.functions[0], UniqueFd(dup(0)));
    EXPECT_NE(card.objects.create<ProtectionDomain>(other), nullptr);
}

TEST_F(Hostile, ControlLinesAndNetlinkRequestsOfAnyContent)
{
    for (int round = 0; round < 50'000; ++round) {
        static constexpr std::string_view words[] = {"refuse",     "status", "reg_mr", "count",           "0",
                                                     "4294967296", "0x",     "host",   "port-down",       "dpu",
                                                     "1",          "fatal",  "\t",     "delay-completion"};
        std::string line;
        for (std::uint32_t i = 0, count = random(6); i < count; ++i)
            line.append(words[random(std::size(words))]).append(" ");
        if (chance(4) && !line.empty())
            line[random(static_cast<std::uint32_t>(line.size()))] = static_cast<char>(generator());
        EXPECT_FALSE(run_control(card, line).empty());
        std::vector<std::uint8_t> request(random(64));
        for (std::uint8_t &byte : request)
            byte = static_cast<std::uint8_t>(chance(2) ? random(32) : generator());
        if (request.size() >= 6) {
            const auto size = static_cast<std::uint32_t>(request.size());
            const std::uint16_t family = chance(2) ? 0x10 : 0x15;
            std::memcpy(request.data(), &size, sizeof(size));
            std::memcpy(request.data() + 4, &family, sizeof(family));
        }
        for (const Datagram &answer : handle_netlink(card, request))
            EXPECT_GE(answer.size(), 16u);
        if (request.size() >= 6) {
            const auto type = static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, random(RDMA_NLDEV_NUM_OPS)));
            std::memcpy(request.data() + 4, &type, sizeof(type));
        }
        for (const Datagram &answer : handle_rdma_netlink(card, chance(2) ? Side::host : Side::dpu, request))
            EXPECT_GE(answer.size(), 16u);
    }
}

/// A list of more objects than a socket takes ends early, and each of its datagrams fits into what programs receive by.
TEST_F(Hostile, AListOfManyObjectsStaysShort)
{
    while (card.objects.create<ProtectionDomain>(file) != nullptr)
        ;
    struct {
        nlmsghdr header;
        nlattr attribute;
        std::uint32_t index;
    } request{};
    request.header.nlmsg_len = sizeof(request);
    request.header.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_PD_GET);
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.attribute = {sizeof(request.attribute) + sizeof(request.index), RDMA_NLDEV_ATTR_DEV_INDEX};
    request.index = file.function.number;
    std::size_t total = 0;
    const auto replies = handle_rdma_netlink(card, file.function.profile.side,
                                             {reinterpret_cast<const std::uint8_t *>(&request), sizeof(request)});
    for (const Datagram &answer : replies) {
        EXPECT_LE(answer.size(), 16u * 1024);
        total += answer.size();
    }
    EXPECT_GT(total, 100u * 1024);
    EXPECT_LE(total, 160u * 1024);
    nlmsghdr last{};
    std::memcpy(&last, replies.back().data(), sizeof(last));
    EXPECT_EQ(last.nlmsg_type, NLMSG_DONE);
}

} // namespace
} // namespace opendoca::card
