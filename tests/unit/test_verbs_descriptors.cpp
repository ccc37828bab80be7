// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Export descriptors and connection details of devices of libibverbs, from peers that lie.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "../../src/core/device/descriptor.hpp"
#include "../../src/core/device/verbs/connection_details.hpp"
#include "../../src/core/device/verbs/memory_descriptor.hpp"

using namespace opendoca::verbs;
using opendoca::DescriptorKind;

namespace {

RemoteMemoryDescriptor memory()
{
    return {.addr = 0x123456789abc0000, .len = 0x10203040, .key = 0xa1b2c3d4, .access = DOCA_ACCESS_RDMA_WRITE};
}

ConnectionDetails details()
{
    ConnectionDetails d{};
    d.qpn = 0x010203;
    d.psn = 0x040506;
    d.lid = 0x0708;
    d.link_layer = IBV_LINK_LAYER_ETHERNET;
    d.mtu = IBV_MTU_1024;
    d.max_reads = 16;
    d.num_gids = 2;
    d.ranks[1] = 3;
    d.gids[1].raw[15] = 0x77;
    d.machine = 0xdeadbeef;
    return d;
}

std::vector<std::byte> seal(const RemoteMemoryDescriptor &d)
{
    return to_bytes(DescriptorKind::verbs_memory, d);
}
std::vector<std::byte> seal(const ConnectionDetails &d)
{
    return to_bytes(DescriptorKind::verbs_connection, d);
}

doca_error_t read(const std::vector<std::byte> &bytes, RemoteMemoryDescriptor &d)
{
    return read_descriptor(bytes, d);
}
doca_error_t read(const std::vector<std::byte> &bytes, ConnectionDetails &d)
{
    return read_details(bytes, d);
}

/// Neither cut off nor changed anywhere; and @p d is not touched.
template <typename Descriptor>
void expect_damage_is_seen(Descriptor d, doca_error_t refusal)
{
    const std::vector<std::byte> good = seal(d), before = good;
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::vector<std::byte> changed = good;
        changed[i] ^= std::byte{0x40};
        EXPECT_EQ(read(changed, d), refusal) << "byte " << i;
        EXPECT_EQ(read({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)}, d), refusal) << i << " bytes";
    }
    EXPECT_EQ(seal(d), before);
}

TEST(VerbsDescriptors, FitIntoTheBuffersOfPrograms)
{
    EXPECT_LE(seal(memory()).size(), opendoca::max_descriptor_size);
    EXPECT_LE(seal(details()).size(), opendoca::max_descriptor_size);
}

TEST(VerbsDescriptors, NumbersAreInNetworkByteOrder)
{
    const std::vector<std::byte> bytes = seal(memory());
    const std::uint8_t expected[] = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0,    0,    0,    0,
                                     0,    0,    0x10, 0x20, 0x30, 0x40, 0xa1, 0xb2, 0xc3, 0xd4};
    ASSERT_GE(bytes.size(), opendoca::descriptor_header_size + sizeof(expected));
    EXPECT_EQ(std::memcmp(&bytes[opendoca::descriptor_header_size], expected, sizeof(expected)), 0);
}

TEST(VerbsDescriptors, SayWhatWasWritten)
{
    RemoteMemoryDescriptor memory_read{};
    ASSERT_EQ(read(seal(memory()), memory_read), DOCA_SUCCESS);
    EXPECT_EQ(memory_read.addr, memory().addr);
    EXPECT_EQ(memory_read.len, memory().len);
    EXPECT_EQ(memory_read.key, memory().key);
    EXPECT_EQ(memory_read.access, memory().access);
    ConnectionDetails details_read{};
    ASSERT_EQ(read(seal(details()), details_read), DOCA_SUCCESS);
    EXPECT_EQ(details_read.qpn, details().qpn);
    EXPECT_EQ(details_read.psn, details().psn);
    EXPECT_EQ(details_read.lid, details().lid);
    EXPECT_EQ(details_read.ranks[1], 3);
    EXPECT_EQ(details_read.gids[1].raw[15], 0x77);
    EXPECT_EQ(details_read.machine, details().machine);
    EXPECT_EQ(seal(details_read), seal(details()));
}

TEST(VerbsDescriptors, DamageIsSeen)
{
    expect_damage_is_seen(memory(), DOCA_ERROR_INVALID_VALUE);
    expect_damage_is_seen(details(), DOCA_ERROR_CONNECTION_ABORTED);
}

/// Programs hand in the whole buffer that they have read an export descriptor into; details come by themselves.
TEST(VerbsDescriptors, OnlyExportDescriptorsMayBeFollowedByOthersBytes)
{
    RemoteMemoryDescriptor memory_read{};
    std::vector<std::byte> bytes = seal(memory());
    bytes.resize(4096, std::byte{0xee});
    EXPECT_EQ(read(bytes, memory_read), DOCA_SUCCESS);
    ConnectionDetails details_read{};
    bytes = seal(details());
    bytes.push_back({});
    EXPECT_EQ(read(bytes, details_read), DOCA_ERROR_CONNECTION_ABORTED);
}

TEST(VerbsDescriptors, AreNotTakenForEachOther)
{
    RemoteMemoryDescriptor memory_read{};
    ConnectionDetails details_read{};
    EXPECT_EQ(read(seal(details()), memory_read), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(read(seal(memory()), details_read), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_EQ(read(to_bytes(DescriptorKind::soft_memory, memory()), memory_read), DOCA_ERROR_INVALID_VALUE);
}

TEST(VerbsDescriptors, MemoryThatCannotBeIsRefused)
{
    const std::function<void(RemoteMemoryDescriptor &)> lies[] = {
        [](RemoteMemoryDescriptor &d) { d.addr = 0; },
        [](RemoteMemoryDescriptor &d) { d.len = 0; },
        [](RemoteMemoryDescriptor &d) { d.len = UINT64_MAX; },
        [](RemoteMemoryDescriptor &d) { d.access = 0; },
        [](RemoteMemoryDescriptor &d) { d.access |= DOCA_ACCESS_LOCAL_READ_WRITE; },
        [](RemoteMemoryDescriptor &d) { d.access |= 1U << 31; },
    };
    for (std::size_t i = 0; i < std::size(lies); ++i) {
        RemoteMemoryDescriptor lie = memory(), seen{};
        lies[i](lie);
        EXPECT_EQ(read(seal(lie), seen), DOCA_ERROR_INVALID_VALUE) << i;
    }
}

TEST(VerbsDescriptors, EndsThatCannotBeAreRefused)
{
    const std::function<void(ConnectionDetails &)> lies[] = {
        [](ConnectionDetails &d) { d.qpn = max_24_bits + 1; },
        [](ConnectionDetails &d) { d.psn = UINT32_MAX; },
        [](ConnectionDetails &d) { d.mtu = 0; },
        [](ConnectionDetails &d) { d.mtu = IBV_MTU_4096 + 1; },
        [](ConnectionDetails &d) { d.max_reads = 0; },
        [](ConnectionDetails &d) { d.num_gids = max_candidates + 1; },
        [](ConnectionDetails &d) { d.num_gids = UINT8_MAX; },
    };
    for (std::size_t i = 0; i < std::size(lies); ++i) {
        ConnectionDetails lie = details(), seen{};
        lies[i](lie);
        EXPECT_EQ(read(seal(lie), seen), DOCA_ERROR_CONNECTION_ABORTED) << i;
    }
}

} // namespace
