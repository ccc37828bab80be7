// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Keys between the two sides of one card, and the DMA engine that copies by them: on profiles with and
// without.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "keys.hpp"
#include "peer.hpp"

namespace card_test {
namespace {

constexpr std::size_t size = 1 << 20;
constexpr AccessKey secret = {'a', ' ', 's', 'e', 'c', 'r', 'e', 't'};

std::string profile()
{
    const std::string status = ask_card("status"), before = "ok profile ";
    return status.substr(before.size(), status.find(' ', before.size()) - before.size());
}

struct AlignedBuffer {
    explicit AlignedBuffer(std::uint8_t fill) : bytes(static_cast<std::uint8_t *>(std::aligned_alloc(4096, size)))
    {
        std::memset(bytes, fill, size);
    }
    ~AlignedBuffer() { std::free(bytes); }
    AlignedBuffer(const AlignedBuffer &) = delete;
    AlignedBuffer &operator=(const AlignedBuffer &) = delete;
    [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(bytes); }
    [[nodiscard]] bool is_all(std::uint8_t value) const
    {
        return bytes[0] == value && bytes[size / 2] == value && bytes[size - 1] == value;
    }
    std::uint8_t *bytes;
};

TEST(Key, OfAUserMemoryWorksAsARemoteKey)
{
    Device first("mlx5_0"), second("mlx5_1");
    Pair pair(first, second);
    Buffer local(first, 4096, all_rights, 'l');
    AlignedBuffer memory(0);
    const DevxKey key = make_direct_key(*second.context, *second.pd, memory.bytes, size);
    ASSERT_NE(key.object, nullptr) << "status " << unsigned{key.status};
    pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, memory.address() + size - 4096, key.key(), 4096);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(memory.bytes[size - 1], 'l');
}

TEST(Key, OverARegionWorksAsARemoteKey)
{
    Device first("mlx5_0"), second("mlx5_1");
    Pair pair(first, second);
    Buffer local(first, 4096, all_rights, 'l'), remote(second, 8192);
    const DevxKey key = make_indirect_key(*second.context, *second.pd, *remote.mr);
    ASSERT_NE(key.object, nullptr) << "status " << unsigned{key.status};
    pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address() + 4096, key.key(), 4096);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(remote.bytes[4095], 0);
    EXPECT_EQ(remote.bytes[8191], 'l');
    // It is worth nothing without what it is over.
    remote.mr.reset();
    pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), key.key(), 4096);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_REM_ACCESS_ERR);
}

TEST(Key, IsRefusedWithASyndromeForEachWrongField)
{
    Device device("mlx5_0");
    AlignedBuffer memory(0);
    struct Case {
        Wrong wrong;
        unsigned status;
    };
    for (const auto &[wrong, status] : {Case{Wrong::pd, 5},
                                        {Wrong::umem, 5},
                                        {Wrong::offset, 3},
                                        {Wrong::length, 3},
                                        {Wrong::mode, 3},
                                        {Wrong::short_mailbox, 0x50},
                                        {Wrong::rights, 3}}) {
        errno = 0;
        const DevxKey key = make_direct_key(*device.context, *device.pd, memory.bytes, size, wrong);
        EXPECT_EQ(key.object, nullptr) << static_cast<int>(wrong);
        EXPECT_EQ(errno, EREMOTEIO);
        EXPECT_EQ(unsigned{key.status}, status) << static_cast<int>(wrong);
        EXPECT_EQ(key.syndrome >> 16, 0x200u) << "the command";
    }
}

TEST(Key, TheMemoryOfAKeyIsNotDeregistered)
{
    Device device("mlx5_0");
    AlignedBuffer memory(0);
    DevxKey key = make_direct_key(*device.context, *device.pd, memory.bytes, size);
    ASSERT_NE(key.object, nullptr);
    EXPECT_NE(mlx5dv_devx_umem_dereg(key.memory.get()), 0);
    key.object.reset();
}

TEST(Command, OfARefusedChangeOfStateChangesNothing)
{
    Device first("mlx5_0"), second("mlx5_1");
    Pair pair(first, second);
    Buffer local(first, 4096, all_rights, 'l'), remote(second, 4096);
    // RST2INIT_QP, without any remote right, for a queue pair that is ready to send.
    std::array<std::uint8_t, 248> in{};
    std::array<std::uint8_t, 16> out{};
    const std::uint32_t number = pair.second.get()->qp_num;
    in[0] = 0x05;
    in[1] = 0x02;
    in[9] = static_cast<std::uint8_t>(number >> 16);
    in[10] = static_cast<std::uint8_t>(number >> 8);
    in[11] = static_cast<std::uint8_t>(number);
    EXPECT_NE(mlx5dv_devx_qp_modify(pair.second.get(), in.data(), in.size(), out.data(), out.size()), 0);
    pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), remote.mr->rkey, 4096);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(remote.bytes[4095], 'l');
}

TEST(Command, ThatThereIsNotIsRefused)
{
    Device device("mlx5_0");
    std::uint8_t in[64] = {}, out[64] = {};
    set_bits(in, 0, 16, 0xb01);
    EXPECT_NE(mlx5dv_devx_general_cmd(device.context.get(), in, sizeof(in), out, sizeof(out)), 0);
    EXPECT_EQ(errno, EREMOTEIO);
    EXPECT_EQ(out[0], 2) << "bad operation";
}

TEST(DmaEngine, CopiesOrIsNotThere)
{
    Device device("mlx5_0");
    mlx5dv_context more{};
    more.comp_mask = MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH;
    ASSERT_EQ(mlx5dv_query_device(device.context.get(), &more), 0);
    const bool is_reported = profile().starts_with("bluefield") || profile() == "connectx-7";
    EXPECT_EQ(more.max_wr_memcpy_length, is_reported ? 1ull << (profile() == "bluefield-2" ? 21 : 31) : 0);
    CopyQueue queue(device);
    if (!is_reported) {
        EXPECT_EQ(queue.error, EOPNOTSUPP);
        return;
    }
    ASSERT_EQ(queue.error, 0);
    const std::size_t long_one = profile() == "bluefield-2" ? 2 << 20 : 5 << 20;
    Buffer source(device, long_one, all_rights, 's'), destination(device, long_one);
    const ibv_wc_status status =
        queue.copy(destination.mr->lkey, destination.address(), source.mr->lkey, source.address(), source.bytes.size());
    if (profile() == "connectx-7") {
        EXPECT_EQ(status, IBV_WC_LOC_QP_OP_ERR) << "what is reported is not always carried out";
    } else {
        EXPECT_EQ(status, IBV_WC_SUCCESS);
        EXPECT_TRUE(source.bytes == destination.bytes);
        EXPECT_EQ(queue.copy(destination.mr->lkey, destination.address() + 1, source.mr->lkey, source.address(),
                             source.bytes.size()),
                  IBV_WC_LOC_PROT_ERR);
    }
}

TEST(Alias, IsRefusedWhereTheCardSharesNoKeys)
{
    if (profile().starts_with("bluefield"))
        GTEST_SKIP() << "this card does";
    Device device("mlx5_0");
    AlignedBuffer memory(0);
    Buffer region(device, 4096);
    const DevxKey direct = make_direct_key(*device.context, *device.pd, memory.bytes, size),
                  indirect = make_indirect_key(*device.context, *device.pd, *region.mr);
    ASSERT_NE(direct.object, nullptr);
    ASSERT_NE(indirect.object, nullptr);
    EXPECT_EQ(allow_access(*device.context, direct.index, secret), 3);
    EXPECT_EQ(allow_access(*device.context, indirect.index, secret), 3);
}

TEST(Abilities, AreReportedAndRefusedOnRequest)
{
    if (profile() != "bluefield-3")
        GTEST_SKIP() << "a card without them";
    Device device("mlx5_0");
    Buffer source(device, 64, all_rights, 's'), destination(device, 64);
    const auto copy = [&] {
        CopyQueue queue(device);
        return queue.copy(destination.mr->lkey, destination.address(), source.mr->lkey, source.address(), 64);
    };
    AlignedBuffer memory(0);
    const DevxKey direct = make_direct_key(*device.context, *device.pd, memory.bytes, size),
                  indirect = make_indirect_key(*device.context, *device.pd, *source.mr);
    EXPECT_EQ(ask_card("dma-fails"), "ok");
    EXPECT_EQ(copy(), IBV_WC_LOC_QP_OP_ERR);
    EXPECT_EQ(ask_card("refuse-indirect-keys"), "ok");
    EXPECT_EQ(allow_access(*device.context, indirect.index, secret), 3);
    EXPECT_EQ(allow_access(*device.context, direct.index, secret), 0);
    EXPECT_EQ(ask_card("refuse-shared-keys"), "ok");
    EXPECT_EQ(allow_access(*device.context, direct.index, secret), 3);
    EXPECT_EQ(ask_card("clear"), "ok");
    EXPECT_EQ(copy(), IBV_WC_SUCCESS);
    EXPECT_EQ(allow_access(*device.context, indirect.index, secret), 0);
}

class AliasOfAHost : public testing::Test {
protected:
    void SetUp() override
    {
        if (!profile().starts_with("bluefield"))
            GTEST_SKIP() << "a card without a DPU";
        host = std::make_unique<Device>("mlx5_0");
        direct = make_direct_key(*host->context, *host->pd, memory.bytes, size);
        ASSERT_NE(direct.object, nullptr);
        ASSERT_EQ(allow_access(*host->context, direct.index, secret), 0);
    }

    /// The DPU makes an alias and copies from and to the host's memory by it: its answer.
    Message ask_dpu(Peer &dpu, std::uint16_t vhca_id, std::uint32_t index, const AccessKey &access_key)
    {
        Message request{{vhca_id, index, memory.address(), size, 0, 0}, {}};
        std::ranges::copy(access_key, request.bytes);
        dpu.send(request);
        return dpu.receive();
    }

    AlignedBuffer memory{'h'};
    std::unique_ptr<Device> host;
    DevxKey direct;
};

/// For each request: makes an alias, copies all from it and 'd' to it. Answers: status of the command, of
/// both copies.
int be_dpu()
{
    Device device("mlx5_1"); // the first has no GID
    CopyQueue queue(device);
    AlignedBuffer own(0);
    const Owned<ibv_mr> mr(ibv_reg_mr(device.pd.get(), own.bytes, size, all_rights));
    DevxKey alias;
    for (;;) {
        const Message request = receive_from_test();
        if (request.word[3] == 0)
            return 0;
        if (request.word[4] == 0) { // else: the alias that it has
            AccessKey access_key;
            std::ranges::copy(request.bytes, access_key.begin());
            alias = make_alias(*device.context, *device.pd, static_cast<std::uint16_t>(request.word[0]),
                               static_cast<std::uint32_t>(request.word[1]), access_key);
            if (alias.object == nullptr) {
                send_to_test({{alias.status, alias.syndrome, 0, 0, 0, 0}, {}});
                continue;
            }
        }
        const std::size_t bytes = request.word[3];
        const auto read = queue.copy(mr->lkey, own.address(), alias.key(), request.word[2], bytes);
        const bool is_host_memory = own.is_all('h');
        std::memset(own.bytes, 'd', size);
        const auto written = queue.copy(alias.key(), request.word[2], mr->lkey, own.address(), bytes);
        send_to_test(
            {{0, 0, static_cast<std::uint64_t>(read), is_host_memory, static_cast<std::uint64_t>(written), 0}, {}});
    }
}

TEST_F(AliasOfAHost, LetsTheDpuCopyBothWays)
{
    Peer dpu("dpu", "dpu");
    const Message answer = ask_dpu(dpu, vhca_id_of(*host->context), direct.index, secret);
    EXPECT_EQ(answer.word[0], 0u) << "status of the alias; syndrome " << answer.word[1];
    EXPECT_EQ(answer.word[2], static_cast<std::uint64_t>(IBV_WC_SUCCESS));
    EXPECT_EQ(answer.word[3], 1u) << "it read the host's memory";
    EXPECT_EQ(answer.word[4], static_cast<std::uint64_t>(IBV_WC_SUCCESS));
    EXPECT_TRUE(memory.is_all('d'));
}

TEST_F(AliasOfAHost, OfAnIndirectKeyDependsOnTheCard)
{
    const Owned<ibv_mr> mr(ibv_reg_mr(host->pd.get(), memory.bytes, size, all_rights));
    const DevxKey indirect = make_indirect_key(*host->context, *host->pd, *mr);
    ASSERT_NE(indirect.object, nullptr);
    if (profile() == "bluefield-2") {
        EXPECT_EQ(allow_access(*host->context, indirect.index, secret), 3);
        return;
    }
    ASSERT_EQ(allow_access(*host->context, indirect.index, secret), 0);
    Peer dpu("dpu", "dpu");
    const Message answer = ask_dpu(dpu, vhca_id_of(*host->context), indirect.index, secret);
    EXPECT_EQ(answer.word[0], 0u);
    EXPECT_EQ(answer.word[3], 1u);
    EXPECT_TRUE(memory.is_all('d'));
}

TEST_F(AliasOfAHost, NeedsTheAccessKeyTheFunctionAndTheObject)
{
    Peer dpu("dpu", "dpu");
    const std::uint16_t vhca_id = vhca_id_of(*host->context);
    AccessKey wrong = secret;
    wrong.back() ^= 1;
    const Message answers[] = {ask_dpu(dpu, vhca_id, direct.index, wrong),
                               ask_dpu(dpu, static_cast<std::uint16_t>(vhca_id + 1), direct.index, secret),
                               ask_dpu(dpu, vhca_id, direct.index + 1000, secret)};
    for (const Message &answer : answers) {
        EXPECT_EQ(answer.word[0], 3u) << "one answer for all: bad parameter";
        EXPECT_EQ(answer.word[1], answers[0].word[1]);
    }
    EXPECT_TRUE(memory.is_all('h'));
}

TEST_F(AliasOfAHost, IsNotMadeOfAKeyThatWasNotAllowed)
{
    AlignedBuffer other('h');
    const DevxKey kept = make_direct_key(*host->context, *host->pd, other.bytes, size);
    ASSERT_NE(kept.object, nullptr);
    Peer dpu("dpu", "dpu");
    EXPECT_EQ(ask_dpu(dpu, vhca_id_of(*host->context), kept.index, AccessKey{}).word[0], 3u);
}

TEST_F(AliasOfAHost, EndsWithTheKeyBehindIt)
{
    Peer dpu("dpu", "dpu");
    ASSERT_EQ(ask_dpu(dpu, vhca_id_of(*host->context), direct.index, secret).word[0], 0u);
    std::memset(memory.bytes, 'h', size);
    direct.object.reset();
    // Another key may get the index: the alias is none of it.
    const DevxKey other = make_direct_key(*host->context, *host->pd, memory.bytes, size);
    ASSERT_EQ(allow_access(*host->context, other.index, secret), 0);
    dpu.send({{0, 0, memory.address(), size, 1, 0}, {}});
    const Message answer = dpu.receive();
    EXPECT_EQ(answer.word[2], static_cast<std::uint64_t>(IBV_WC_LOC_PROT_ERR));
    EXPECT_TRUE(memory.is_all('h'));
}

TEST_F(AliasOfAHost, EndsWithTheHostsProcess)
{
    Peer other_host("host", "host"), dpu("dpu", "dpu");
    const Message its = other_host.receive();
    dpu.send({{its.word[0], its.word[1], its.word[2], size, 0, 0}, {'a', ' ', 's', 'e', 'c', 'r', 'e', 't'}});
    ASSERT_EQ(dpu.receive().word[4], static_cast<std::uint64_t>(IBV_WC_SUCCESS));
    const int keys = card_count("keys");
    other_host.kill();
    ASSERT_TRUE(card_count_becomes("keys", keys - 1));
    dpu.send({{0, 0, its.word[2], size, 1, 0}, {}});
    EXPECT_EQ(dpu.receive().word[2], static_cast<std::uint64_t>(IBV_WC_LOC_PROT_ERR));
}

/// Shares a key and waits.
int be_host()
{
    Device device("mlx5_0");
    AlignedBuffer memory('h');
    const DevxKey key = make_direct_key(*device.context, *device.pd, memory.bytes, size);
    if (key.object == nullptr || allow_access(*device.context, key.index, secret) != 0)
        return 1;
    send_to_test({{vhca_id_of(*device.context), key.index, memory.address(), 0, 0, 0}, {}});
    receive_from_test();
    return 0;
}

} // namespace
} // namespace card_test

int main(int argc, char **argv)
{
    const std::string role = card_test::role(argc, argv);
    if (role == "dpu")
        return card_test::be_dpu();
    if (role == "host")
        return card_test::be_host();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
