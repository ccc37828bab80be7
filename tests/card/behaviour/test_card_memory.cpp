// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the card lets work requests touch: rights, ranges, protection domains, and keys that are gone.
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "verbs.hpp"

namespace card_test {
namespace {

class Memory : public testing::Test {
protected:
    Device first{"mlx5_0"}, second{"mlx5_1"};
    Buffer local{first, 4096, all_rights, 'l'};

    ibv_wc_status run(Pair &pair, ibv_wr_opcode opcode, std::uint64_t remote, std::uint32_t key,
                      std::uint32_t bytes = 64)
    {
        pair.first.post(opcode, *local.mr, remote, key, bytes);
        return next_completion(*first.cq).status;
    }
};

TEST_F(Memory, AWriteReachesThePeer)
{
    Pair pair(first, second);
    Buffer remote(second, 4096);
    EXPECT_EQ(run(pair, IBV_WR_RDMA_WRITE, remote.address(), remote.mr->rkey, 4096), IBV_WC_SUCCESS);
    EXPECT_EQ(remote.bytes, local.bytes);
}

TEST_F(Memory, AReadFetchesFromThePeer)
{
    Pair pair(first, second);
    Buffer remote(second, 4096, all_rights, 'r');
    EXPECT_EQ(run(pair, IBV_WR_RDMA_READ, remote.address(), remote.mr->rkey, 4096), IBV_WC_SUCCESS);
    EXPECT_EQ(local.bytes, remote.bytes);
}

TEST_F(Memory, FetchAndAddChangesThePeersWord)
{
    Pair pair(first, second);
    Buffer remote(second, 64, all_rights, 0);
    const std::uint64_t before = 41;
    std::memcpy(remote.bytes.data(), &before, sizeof(before));
    ASSERT_EQ(run(pair, IBV_WR_ATOMIC_FETCH_AND_ADD, remote.address(), remote.mr->rkey, 8), IBV_WC_SUCCESS);
    std::uint64_t after = 0, fetched = 0;
    std::memcpy(&after, remote.bytes.data(), sizeof(after));
    std::memcpy(&fetched, local.bytes.data(), sizeof(fetched));
    EXPECT_EQ(after, before + 1);
    EXPECT_EQ(fetched, before);
}

TEST_F(Memory, AnAtomicAtAnOddAddressIsAnInvalidRequest)
{
    Pair pair(first, second);
    Buffer remote(second, 64);
    EXPECT_EQ(run(pair, IBV_WR_ATOMIC_FETCH_AND_ADD, remote.address() + 4, remote.mr->rkey, 8), IBV_WC_REM_INV_REQ_ERR);
}

/// Messages that take the card a while.
class LongMessage : public testing::Test {
protected:
    static constexpr std::uint32_t bytes = 128u << 20;

    Device first{"mlx5_0"}, second{"mlx5_1"};
    Buffer source{first, bytes, all_rights, 's'}, target{second, bytes};
};

TEST_F(LongMessage, LeavesTimeForOthers)
{
    Pair of_long(first, second), of_short(first, second);
    Buffer word(second, 8);
    of_long.second.post_receive(*target.mr, bytes);
    of_long.first.post(IBV_WR_SEND, *source.mr, 0, 0, bytes);
    of_short.first.post(IBV_WR_RDMA_WRITE, *source.mr, word.address(), word.mr->rkey, 8);
    const ibv_wc early = next_completion(*first.cq);
    EXPECT_EQ(early.status, IBV_WC_SUCCESS);
    EXPECT_EQ(early.qp_num, of_short.first.get()->qp_num) << "the long message was copied first";
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    const ibv_wc received = next_completion(*second.cq);
    EXPECT_EQ(received.status, IBV_WC_SUCCESS);
    EXPECT_EQ(received.byte_len, bytes);
    EXPECT_EQ(target.bytes, source.bytes);
}

TEST_F(LongMessage, LeavesOneReceiveToFlushIfItsReceiverBreaks)
{
    Pair pair(first, second);
    pair.second.post_receive(*target.mr, bytes);
    pair.first.post(IBV_WR_SEND, *source.mr, 0, 0, bytes);
    ASSERT_EQ(pair.second.set_state(IBV_QPS_ERR), 0);
    EXPECT_EQ(next_completion(*second.cq).status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_RETRY_EXC_ERR);
    EXPECT_FALSE(has_completion_within(*second.cq, std::chrono::milliseconds(50)));
}

TEST_F(LongMessage, EndsWithTheKeyOfItsReceive)
{
    Pair pair(first, second);
    pair.second.post_receive(*target.mr, bytes);
    pair.first.post(IBV_WR_SEND, *source.mr, 0, 0, bytes);
    target.mr.reset();
    EXPECT_EQ(next_completion(*second.cq).status, IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_REM_OP_ERR);
}

struct Refusal {
    const char *name;
    ibv_wr_opcode opcode;
    int rights_of_memory, rights_of_connection;
    ibv_wc_status status;
};

class RemoteRights : public Memory, public testing::WithParamInterface<Refusal> {};

TEST_P(RemoteRights, AreChecked)
{
    const Refusal &refusal = GetParam();
    Pair pair(first, second, {}, refusal.rights_of_connection);
    Buffer remote(second, 64, refusal.rights_of_memory, 'r');
    const auto before = remote.bytes;
    EXPECT_EQ(run(pair, refusal.opcode, remote.address(), remote.mr->rkey, 8), refusal.status);
    EXPECT_EQ(remote.bytes, before);
    EXPECT_EQ(pair.first.state(), IBV_QPS_ERR);
    EXPECT_EQ(pair.second.state(), IBV_QPS_ERR) << "who was asked for it breaks, too";
    EXPECT_EQ(next_event(*second.context),
              refusal.status == IBV_WC_REM_ACCESS_ERR ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
}

constexpr int write_only = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
constexpr int read_only = IBV_ACCESS_REMOTE_READ;
INSTANTIATE_TEST_SUITE_P(
    Card, RemoteRights,
    testing::Values(Refusal{"WriteOfAKey", IBV_WR_RDMA_WRITE, read_only, all_rights, IBV_WC_REM_ACCESS_ERR},
                    Refusal{"ReadOfAKey", IBV_WR_RDMA_READ, write_only, all_rights, IBV_WC_REM_ACCESS_ERR},
                    Refusal{"AtomicOfAKey", IBV_WR_ATOMIC_FETCH_AND_ADD, write_only, all_rights, IBV_WC_REM_ACCESS_ERR},
                    Refusal{"WriteOfAConnection", IBV_WR_RDMA_WRITE, all_rights, read_only, IBV_WC_REM_INV_REQ_ERR},
                    Refusal{"ReadOfAConnection", IBV_WR_RDMA_READ, all_rights, write_only, IBV_WC_REM_INV_REQ_ERR},
                    Refusal{"AtomicOfAConnection", IBV_WR_ATOMIC_FETCH_AND_ADD, all_rights, write_only,
                            IBV_WC_REM_INV_REQ_ERR}),
    [](const auto &refusal) { return refusal.param.name; });

TEST_F(Memory, LocalMemoryThatMayNotBeWrittenIsNotReadInto)
{
    Pair pair(first, second);
    Buffer remote(second, 64);
    Buffer read_only_local(first, 64, 0, 'x');
    pair.first.post(IBV_WR_RDMA_READ, *read_only_local.mr, remote.address(), remote.mr->rkey, 64);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(read_only_local.bytes, std::vector<std::uint8_t>(64, 'x'));
}

TEST_F(Memory, OneByteBeyondTheEndIsRefused)
{
    Buffer remote(second, 64, all_rights, 'r');
    {
        Pair pair(first, second);
        EXPECT_EQ(run(pair, IBV_WR_RDMA_WRITE, remote.address() + 1, remote.mr->rkey, 64), IBV_WC_REM_ACCESS_ERR);
    }
    {
        Pair pair(first, second);
        EXPECT_EQ(run(pair, IBV_WR_RDMA_WRITE, remote.address() - 1, remote.mr->rkey, 8), IBV_WC_REM_ACCESS_ERR);
    }
    EXPECT_EQ(remote.bytes, std::vector<std::uint8_t>(64, 'r'));
}

TEST_F(Memory, AnAddressThatWrapsAroundIsRefused)
{
    Pair pair(first, second);
    Buffer remote(second, 64);
    EXPECT_EQ(run(pair, IBV_WR_RDMA_WRITE, UINT64_MAX - 7, remote.mr->rkey, 64), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Memory, AKeyThatWasNeverGivenOutIsRefused)
{
    Pair pair(first, second);
    Buffer remote(second, 64);
    EXPECT_EQ(run(pair, IBV_WR_RDMA_WRITE, remote.address(), remote.mr->rkey ^ 1, 64), IBV_WC_REM_ACCESS_ERR)
        << "the lower 8 bits are part of the key";
}

TEST_F(Memory, AKeyThatIsGoneIsRefused)
{
    Pair pair(first, second);
    Buffer remote(second, 64, all_rights, 'r');
    const std::uint32_t key = remote.mr->rkey;
    remote.mr.reset();
    EXPECT_EQ(run(pair, IBV_WR_RDMA_WRITE, remote.address(), key, 64), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Memory, AKeyOfAnotherProtectionDomainIsRefused)
{
    Pair pair(first, second);
    Owned<ibv_pd> other(ibv_alloc_pd(second.context.get()));
    std::vector<std::uint8_t> bytes(64);
    const Owned<ibv_mr> mr(ibv_reg_mr(other.get(), bytes.data(), bytes.size(), all_rights));
    EXPECT_EQ(run(pair, IBV_WR_RDMA_WRITE, reinterpret_cast<std::uintptr_t>(bytes.data()), mr->rkey, 64),
              IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Memory, ALocalKeyOfAnotherProtectionDomainIsRefused)
{
    Pair pair(first, second);
    Owned<ibv_pd> other(ibv_alloc_pd(first.context.get()));
    Buffer remote(second, 64);
    const Owned<ibv_mr> mr(ibv_reg_mr(other.get(), local.bytes.data(), local.bytes.size(), all_rights));
    pair.first.post(IBV_WR_RDMA_WRITE, *mr, remote.address(), remote.mr->rkey, 64);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(Memory, AProtectionDomainInUseIsNotFreed)
{
    Owned<ibv_pd> pd(ibv_alloc_pd(first.context.get()));
    std::vector<std::uint8_t> bytes(64);
    Owned<ibv_mr> mr(ibv_reg_mr(pd.get(), bytes.data(), bytes.size(), all_rights));
    EXPECT_EQ(ibv_dealloc_pd(pd.get()), EBUSY);
    mr.reset();
    EXPECT_EQ(ibv_dealloc_pd(pd.release()), 0);
}

TEST_F(Memory, RemoteRightsWithoutLocalOnesAreNotRegistered)
{
    errno = 0;
    const int remote_alone = IBV_ACCESS_REMOTE_WRITE;
    EXPECT_EQ(ibv_reg_mr(first.pd.get(), local.bytes.data(), 64, remote_alone), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(Memory, MemoryThatIsNotThereIsNotRegistered)
{
    errno = 0;
    const int writable = IBV_ACCESS_LOCAL_WRITE;
    EXPECT_EQ(ibv_reg_mr(first.pd.get(), reinterpret_cast<void *>(0x10), 64, writable), nullptr);
    EXPECT_EQ(errno, EFAULT);
}

TEST_F(Memory, AMessageThatDoesNotFitBreaksBothSides)
{
    Pair pair(first, second);
    Buffer remote(second, 64);
    pair.second.post_receive(*remote.mr, 32);
    pair.first.post(IBV_WR_SEND, *local.mr, 0, 0, 64);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_REM_INV_REQ_ERR);
    EXPECT_EQ(next_completion(*second.cq).status, IBV_WC_LOC_LEN_ERR);
}

TEST_F(Memory, WhatComesAfterAFailureIsFlushed)
{
    Pair pair(first, second);
    Buffer remote(second, 64);
    pair.first.post_receive(*local.mr, 64);
    pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), 0x12345600, 64);
    pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, remote.address(), remote.mr->rkey, 64);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_WR_FLUSH_ERR) << "the receive request";
    // And a reset and another connection make it as new.
    ASSERT_EQ(pair.first.set_state(IBV_QPS_RESET), 0);
    ASSERT_EQ(pair.second.set_state(IBV_QPS_RESET), 0);
    ASSERT_EQ(pair.first.connect_to(pair.second.address()), 0);
    ASSERT_EQ(pair.second.connect_to(pair.first.address()), 0);
    EXPECT_EQ(run(pair, IBV_WR_RDMA_WRITE, remote.address(), remote.mr->rkey), IBV_WC_SUCCESS);
}

} // namespace
} // namespace card_test
