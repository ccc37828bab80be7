// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory of the device itself: what can be allocated, registered and mapped, what requests find there, and that
// it is free again after its owner.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.hpp"
#include "verbs.hpp"

namespace card_test {
namespace {

struct Free {
    void operator()(ibv_dm *memory) const { ibv_free_dm(memory); }
};
using DeviceMemory = std::unique_ptr<ibv_dm, Free>;

constexpr int zero_based = IBV_ACCESS_ZERO_BASED, registered_rights = zero_based | all_rights;

std::uint64_t largest(ibv_context &context)
{
    ibv_device_attr_ex limits{};
    return ibv_query_device_ex(&context, nullptr, &limits) == 0 ? limits.max_dm_size : 0;
}

/// Null, with errno, if it is refused.
DeviceMemory allocate(ibv_context &context, std::size_t length, std::uint32_t log_alignment = 0)
{
    ibv_alloc_dm_attr wanted{length, log_alignment, 0};
    errno = 0;
    return DeviceMemory(ibv_alloc_dm(&context, &wanted));
}

Owned<ibv_mr> reg(ibv_pd &pd, ibv_dm &memory, std::uint64_t offset, std::size_t length, int rights = registered_rights)
{
    errno = 0;
    return Owned<ibv_mr>(ibv_reg_dm_mr(&pd, &memory, offset, length, static_cast<unsigned>(rights)));
}

std::vector<std::uint8_t> content(ibv_dm &memory, std::uint64_t offset, std::size_t length)
{
    std::vector<std::uint8_t> bytes(length, 0xee);
    EXPECT_EQ(ibv_memcpy_from_dm(bytes.data(), &memory, offset, length), 0);
    return bytes;
}

/// The offset of a device's file at which libmlx5 maps the memory that begins with this page.
off_t offset_of(std::uint16_t page)
{
    constexpr std::uint64_t kind = 8;
    return static_cast<off_t>((std::uint64_t{page} >> 8 << 16 | kind << 8 | (page & 0xff)) *
                              static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

/// Whether these bytes of a device's file can be mapped; errno says why not.
bool is_mappable(ibv_context &context, std::uint16_t page, std::size_t length)
{
    errno = 0;
    void *pages = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, context.cmd_fd, offset_of(page));
    return pages != MAP_FAILED && munmap(pages, length) == 0;
}

class DeviceMemories : public testing::Test {
protected:
    Device first{"mlx5_0"}, second{"mlx5_1"};
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t limit = largest(*first.context);
};

TEST_F(DeviceMemories, HaveALengthAndAnAlignmentWithinTheLimits)
{
    EXPECT_EQ(limit, 128u << 10);
    const int objects = card_count("objects");
    EXPECT_EQ(allocate(*first.context, 0), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(allocate(*first.context, 64, 13), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(allocate(*first.context, limit + 1), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_NE(allocate(*first.context, 64, 12), nullptr);
    EXPECT_NE(allocate(*first.context, limit), nullptr);
    EXPECT_EQ(card_count("objects"), objects) << "what was refused left nothing";
}

TEST_F(DeviceMemories, OfSteeringAreNotThere)
{
    ibv_alloc_dm_attr wanted{4096, 0, 0};
    mlx5dv_alloc_dm_attr steering{MLX5DV_DM_TYPE_STEERING_SW_ICM, 0};
    errno = 0;
    EXPECT_EQ(mlx5dv_alloc_dm(first.context.get(), &wanted, &steering), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(DeviceMemories, HaveNoAddressesThatOperate)
{
    const DeviceMemory memory = allocate(*first.context, 64);
    ASSERT_NE(memory, nullptr);
    errno = 0;
    EXPECT_EQ(mlx5dv_dm_map_op_addr(memory.get(), 0), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(DeviceMemories, TogetherHaveALimitForEachFunction)
{
    std::vector<DeviceMemory> all;
    while (DeviceMemory memory = allocate(*first.context, page))
        all.push_back(std::move(memory));
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(all.size() * page, 2 * limit);
    EXPECT_NE(allocate(*second.context, limit), nullptr) << "each function has its own";
    all.erase(all.begin() + 3);
    all.erase(all.begin() + 5);
    EXPECT_EQ(allocate(*first.context, 2 * page), nullptr) << "no two free pages follow each other";
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_NE(allocate(*first.context, 1), nullptr);
    all.erase(all.begin() + 3); // once the page after the first gap
    EXPECT_NE(allocate(*first.context, 2 * page), nullptr);
}

TEST_F(DeviceMemories, BeginWithZerosAndHoldWhatIsCopiedThere)
{
    std::vector<std::uint8_t> bytes(2 * page);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
    for (int round = 0; round < 3; ++round) {
        const DeviceMemory memory = allocate(*first.context, bytes.size()), other = allocate(*first.context, page);
        ASSERT_NE(other, nullptr);
        EXPECT_EQ(content(*memory, 0, bytes.size()), std::vector<std::uint8_t>(bytes.size()));
        EXPECT_EQ(ibv_memcpy_to_dm(memory.get(), 0, bytes.data(), bytes.size()), 0);
        EXPECT_EQ(content(*memory, 0, bytes.size()), bytes);
        EXPECT_EQ(content(*other, 0, page), std::vector<std::uint8_t>(page)) << "another one has its own bytes";
    }
}

TEST_F(DeviceMemories, AreSharedWithChildren)
{
    const DeviceMemory memory = allocate(*first.context, 64);
    ASSERT_NE(memory, nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const std::uint32_t word = 0x12345678;
        _exit(ibv_memcpy_to_dm(memory.get(), 8, &word, sizeof(word)) == 0 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(content(*memory, 8, 4), (std::vector<std::uint8_t>{0x78, 0x56, 0x34, 0x12}));
}

TEST_F(DeviceMemories, AreRegisteredWithinTheirLength)
{
    const DeviceMemory memory = allocate(*first.context, 100);
    ASSERT_NE(memory, nullptr);
    EXPECT_NE(reg(*first.pd, *memory, 0, 100), nullptr);
    EXPECT_NE(reg(*first.pd, *memory, 96, 4), nullptr);
    EXPECT_NE(reg(*first.pd, *memory, 100, 0), nullptr);
    struct Range {
        std::uint64_t offset, length;
    };
    for (const auto &[offset, length] : {Range{0, 101}, Range{97, 4}, Range{101, 0}, Range{~0ull, 1}, Range{1, ~0ull},
                                         Range{~0ull - 3, 104}, Range{0, 128}}) {
        EXPECT_EQ(reg(*first.pd, *memory, offset, length), nullptr) << offset << " " << length;
        EXPECT_EQ(errno, EINVAL);
    }
    for (const int rights : {zero_based | IBV_ACCESS_REMOTE_WRITE, zero_based | IBV_ACCESS_REMOTE_ATOMIC,
                             registered_rights | IBV_ACCESS_MW_BIND, registered_rights | IBV_ACCESS_ON_DEMAND,
                             static_cast<int>(IBV_ACCESS_LOCAL_WRITE)}) {
        EXPECT_EQ(reg(*first.pd, *memory, 0, 64, rights), nullptr) << rights;
        EXPECT_EQ(errno, EINVAL);
    }
}

TEST_F(DeviceMemories, CannotBeFreedOrReregisteredWhileARegionRefersToThem)
{
    DeviceMemory memory = allocate(*first.context, 4096);
    ASSERT_NE(memory, nullptr);
    Owned<ibv_mr> region = reg(*first.pd, *memory, 0, 4096);
    ASSERT_NE(region, nullptr);
    EXPECT_EQ(ibv_free_dm(memory.get()), EBUSY);
    EXPECT_EQ(ibv_rereg_mr(region.get(), IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE),
              IBV_REREG_MR_ERR_CMD);
    EXPECT_EQ(errno, EINVAL);
    const std::uint32_t word = 1;
    EXPECT_EQ(ibv_memcpy_to_dm(memory.get(), 0, &word, sizeof(word)), 0) << "it is all there";
    region.reset();
    EXPECT_EQ(ibv_free_dm(memory.release()), 0);
}

TEST_F(DeviceMemories, AreReadAndWrittenByThePeer)
{
    Pair pair(first, second);
    Buffer local(first, 4096, all_rights, 'l');
    const DeviceMemory memory = allocate(*second.context, 8192);
    ASSERT_NE(memory, nullptr);
    // An offset that is not at a page.
    const Owned<ibv_mr> region = reg(*second.pd, *memory, 256, 4096);
    ASSERT_NE(region, nullptr);
    pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, 96, region->rkey, 4000);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    std::vector<std::uint8_t> expected(8192);
    std::fill_n(expected.begin() + 256 + 96, 4000, std::uint8_t{'l'});
    EXPECT_EQ(content(*memory, 0, 8192), expected);

    const std::uint64_t number = 41;
    EXPECT_EQ(ibv_memcpy_to_dm(memory.get(), 256 + 8, &number, sizeof(number)), 0);
    pair.first.post(IBV_WR_ATOMIC_FETCH_AND_ADD, *local.mr, 8, region->rkey, 8);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    std::uint64_t old = 0;
    std::memcpy(&old, local.bytes.data(), sizeof(old));
    EXPECT_EQ(old, 41u);
    EXPECT_EQ(content(*memory, 256 + 8, 4)[0], 42);

    pair.first.post(IBV_WR_RDMA_READ, *local.mr, 0, region->rkey, 4096);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(local.bytes, content(*memory, 256, 4096));
}

TEST_F(DeviceMemories, AreLocalBuffersOfRequests)
{
    Pair pair(first, second);
    const DeviceMemory source = allocate(*first.context, 4096), destination = allocate(*second.context, 4096);
    ASSERT_NE(destination, nullptr);
    const Owned<ibv_mr> from = reg(*first.pd, *source, 0, 4096), to = reg(*second.pd, *destination, 0, 4096);
    ASSERT_NE(to, nullptr);
    const std::vector<std::uint8_t> bytes(4096, 'd');
    EXPECT_EQ(ibv_memcpy_to_dm(source.get(), 0, bytes.data(), bytes.size()), 0);
    // Their addresses are null, as the ranges begin with 0.
    pair.second.post_receive(*to, 4096);
    pair.first.post(IBV_WR_SEND, *from, 0, 0, 4096);
    EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(next_completion(*second.cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(content(*destination, 0, 4096), bytes);
}

/// The page of a memory goes on behind its registered range.
TEST_F(DeviceMemories, EndForRequestsWhereTheRegionEnds)
{
    const DeviceMemory memory = allocate(*second.context, 4096);
    ASSERT_NE(memory, nullptr);
    const Owned<ibv_mr> region = reg(*second.pd, *memory, 64, 1024);
    ASSERT_NE(region, nullptr);
    Buffer local(first, 4096, all_rights, 'l');
    for (const std::uint64_t address : {961ull, 1024ull, ~0ull - 63, ~0ull - 31, 4096ull}) {
        Pair pair(first, second);
        pair.first.post(IBV_WR_RDMA_WRITE, *local.mr, address, region->rkey, 64);
        EXPECT_EQ(next_completion(*first.cq).status, IBV_WC_REM_ACCESS_ERR) << address;
    }
    EXPECT_EQ(content(*memory, 0, 4096), std::vector<std::uint8_t>(4096));
}

TEST_F(DeviceMemories, AreMappedByTheirOwnFileOnlyAndNotBeyondTheirEnd)
{
    const DeviceMemory memory = allocate(*first.context, 2 * page);
    ASSERT_NE(memory, nullptr);
    EXPECT_TRUE(is_mappable(*first.context, 0, 2 * page)) << "the only one has the first page";
    EXPECT_TRUE(is_mappable(*first.context, 0, page));
    EXPECT_FALSE(is_mappable(*first.context, 0, 3 * page));
    EXPECT_EQ(errno, EINVAL);
    for (const int other : {1, 2, 63, 255, 256, 65535}) {
        EXPECT_FALSE(is_mappable(*first.context, static_cast<std::uint16_t>(other), page)) << other;
        EXPECT_EQ(errno, EINVAL);
    }
    const Device same_function("mlx5_0");
    EXPECT_FALSE(is_mappable(*same_function.context, 0, page));
    EXPECT_FALSE(is_mappable(*second.context, 0, page));
}

/// A page that is mapped still when its memory is freed is not that of the next one.
TEST_F(DeviceMemories, ThatAreFreedAreNotSeenByOldMappings)
{
    DeviceMemory memory = allocate(*first.context, page);
    ASSERT_NE(memory, nullptr);
    auto *old = static_cast<std::uint8_t *>(
        mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, first.context->cmd_fd, offset_of(0)));
    ASSERT_NE(old, MAP_FAILED);
    memory.reset();
    memory = allocate(*first.context, page);
    old[0] = 'o';
    EXPECT_EQ(content(*memory, 0, 4), std::vector<std::uint8_t>(4));
    munmap(old, page);
}

/// Takes all memory of the device, and waits to be killed.
int be_victim()
{
    Device device("mlx5_0");
    const std::size_t limit = largest(*device.context);
    const DeviceMemory left = allocate(*device.context, limit), right = allocate(*device.context, limit);
    const Owned<ibv_mr> region = reg(*device.pd, *left, 0, limit);
    if (right == nullptr || region == nullptr)
        return 1;
    send_to_test({});
    receive_from_test();
    return 0;
}

TEST_F(DeviceMemories, OfAProcessThatDiesAreFree)
{
    const int objects = card_count("objects"), keys = card_count("keys");
    Peer victim("host", "victim");
    static_cast<void>(victim.receive());
    EXPECT_EQ(allocate(*first.context, 1), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    victim.kill();
    EXPECT_TRUE(card_count_becomes("objects", objects));
    EXPECT_TRUE(card_count_becomes("keys", keys));
    EXPECT_NE(allocate(*first.context, limit), nullptr);
}

} // namespace
} // namespace card_test

int main(int argc, char **argv)
{
    if (card_test::role(argc, argv) == "victim")
        return card_test::be_victim();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
