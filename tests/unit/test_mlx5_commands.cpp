// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The commands that mlx5 devices are sent: a device of the test's own takes them apart, by offsets of its own, and can
// refuse any. That they work on a card is shown by tests/mlx5/.
#include "../../src/core/device/mlx5/commands.hpp"
#include "../../src/core/device/mlx5/shared_key.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <unistd.h>

namespace {

using namespace opendoca;
using namespace opendoca::mlx5;

using Bytes = std::vector<std::uint8_t>;

std::uint64_t bits(const Bytes &bytes, unsigned offset, unsigned width)
{
    std::uint64_t value = 0;
    for (unsigned bit = offset; bit < offset + width; ++bit)
        value = value << 1 | (bytes.at(bit / 8) >> (7 - bit % 8) & 1u);
    return value;
}

void put_bits(std::uint8_t *bytes, unsigned offset, unsigned width, std::uint64_t value)
{
    for (unsigned i = 0; i < width; ++i) {
        const unsigned bit = offset + width - 1 - i;
        if ((value >> i & 1) != 0)
            bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] | 1u << (7 - bit % 8));
    }
}

enum Opcode : unsigned {
    query_cap = 0x100,
    create_mkey = 0x200,
    to_rtr = 0x503,
    esw = 0x740,
    object = 0xa00,
    allow = 0xb16,
    vuid = 0xb22
};

/// What the device was told, in this order, and what it answers.
struct FakeDevice {
    std::vector<Bytes> commands;
    std::vector<std::string> events;                        ///< commands by number, and what was made and ended
    std::map<unsigned, unsigned> refused;                   ///< opcode to status
    std::map<unsigned, std::pair<unsigned, Bytes>> answers; ///< opcode to first byte and bytes of the answer
    int live_objects = 0, live_umems = 0;
    bool refuses_umem = false;
    MemoryRange umem{};
    std::uint32_t umem_access = 0;

    int answer(const void *in, std::size_t in_size, void *out, std::size_t out_size)
    {
        const auto *first = static_cast<const std::uint8_t *>(in);
        commands.emplace_back(first, first + in_size);
        const auto opcode = static_cast<unsigned>(bits(commands.back(), 0, 16));
        char text[16];
        std::snprintf(text, sizeof(text), "%x", opcode);
        events.emplace_back(text);
        auto *to = static_cast<std::uint8_t *>(out);
        std::memset(to, 0, out_size);
        if (const auto status = refused.find(opcode); status != refused.end()) {
            put_bits(to, 0, 8, status->second);
            put_bits(to, 32, 32, 0x1234);
            return EREMOTEIO;
        }
        if (const auto found = answers.find(opcode); found != answers.end()) {
            const auto &[at, bytes] = found->second;
            std::memcpy(to + at, bytes.data(), std::min(bytes.size(), out_size - at));
        }
        return 0;
    }
    [[nodiscard]] const Bytes &last() const { return commands.back(); }
};

FakeDevice *device = nullptr;
mlx5dv_devx_umem umem_handle{};

const Library fake = {
    .is_supported = nullptr,
    .query_device = nullptr,
    .create_qp = nullptr,
    .qp_ex_from_ibv_qp_ex = nullptr,
    .init_obj =
        [](mlx5dv_obj *given, std::uint64_t type) {
            EXPECT_EQ(type, std::uint64_t{MLX5DV_OBJ_PD});
            given->pd.out->pdn = 0x123456;
            return 0;
        },
    .get_clock_info = nullptr,
    .general_command = [](ibv_context *, const void *in, std::size_t in_size, void *out,
                          std::size_t out_size) { return device->answer(in, in_size, out, out_size); },
    .create_object = [](ibv_context *, const void *in, std::size_t in_size, void *out,
                        std::size_t out_size) -> mlx5dv_devx_obj * {
        if (const int error = device->answer(in, in_size, out, out_size); error != 0) {
            errno = error;
            return nullptr;
        }
        ++device->live_objects;
        return reinterpret_cast<mlx5dv_devx_obj *>(&device->live_objects);
    },
    .destroy_object =
        [](mlx5dv_devx_obj *) {
            --device->live_objects;
            device->events.emplace_back("destroy");
            return 0;
        },
    .modify_qp = [](ibv_qp *, const void *in, std::size_t in_size, void *out,
                    std::size_t out_size) { return device->answer(in, in_size, out, out_size); },
    .register_umem = [](ibv_context *, void *addr, std::size_t size, std::uint32_t access) -> mlx5dv_devx_umem * {
        if (device->refuses_umem) {
            errno = ENOMEM;
            return nullptr;
        }
        ++device->live_umems;
        device->events.emplace_back("umem");
        device->umem = {static_cast<std::byte *>(addr), size};
        device->umem_access = access;
        umem_handle.umem_id = 0xabcd;
        return &umem_handle;
    },
    .deregister_umem =
        [](mlx5dv_devx_umem *) {
            --device->live_umems;
            device->events.emplace_back("no umem");
            return 0;
        },
    .alloc_uar = nullptr,
    .free_uar = nullptr,
};

class Mlx5Commands : public testing::Test {
protected:
    Mlx5Commands() { device = &fake_device; }

    static MemoryRange range_at(std::uint64_t address, std::size_t length)
    {
        return {reinterpret_cast<std::byte *>(static_cast<std::uintptr_t>(address)), length};
    }
    void expect_context(const Bytes &command, const MemoryRange &range, unsigned mode, bool is_writable)
    {
        EXPECT_EQ(bits(command, 0, 16), 0x200u);
        EXPECT_EQ(bits(command, 0x80 + 0x11, 5), is_writable ? 0b11111u : 0b00101u) << "a, rw, rr, lw, lr";
        EXPECT_EQ(bits(command, 0x80 + 0x03, 3), 0u);
        EXPECT_EQ(bits(command, 0x80 + 0x16, 2), mode);
        EXPECT_EQ(bits(command, 0x80 + 0x20, 24), 0xffffffu);
        EXPECT_EQ(bits(command, 0x80 + 0x68, 24), 0x123456u);
        EXPECT_EQ(bits(command, 0x80 + 0x80, 64), reinterpret_cast<std::uintptr_t>(range.addr));
        EXPECT_EQ(bits(command, 0x80 + 0xc0, 64), range.len);
    }

    FakeDevice fake_device;
    ibv_context context{};
    ibv_pd pd{};
    ibv_mr region{};
    Commands commands{fake, context};
    AccessKey access_key{1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                         17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};
};

TEST_F(Mlx5Commands, AnIndirectKeyHasOneEntryForEach2GiB)
{
    region.lkey = 0x77;
    const MemoryRange range = range_at(0x10000, (5ull << 30) + 1);
    fake_device.answers[create_mkey] = {9, {0x11, 0x22, 0x33}};
    DeviceKey key;
    ASSERT_TRUE(commands.create_indirect_key(pd, region, range, true, key).is_good());
    EXPECT_EQ(key.index(), 0x112233u);
    const Bytes &command = fake_device.last();
    expect_context(command, range, 3, true);
    EXPECT_EQ(key.key & 0xff, bits(command, 0x80 + 0x38, 8)) << "the key's lowest byte is the one that was asked for";
    EXPECT_EQ(bits(command, 0x61, 1), 0u);
    EXPECT_EQ(bits(command, 0x80 + 0x1a0, 32), 4u) << "three, filled up to a multiple of four";
    EXPECT_EQ(bits(command, 0x300, 32), 4u);
    EXPECT_EQ(bits(command, 0x80 + 0x1db, 5), 31u);
    ASSERT_EQ(command.size(), 0x110u + 4 * 16);
    for (unsigned i = 0; i < 3; ++i) {
        EXPECT_EQ(bits(command, 0x880 + i * 128 + 32, 32), 0x77u);
        EXPECT_EQ(bits(command, 0x880 + i * 128 + 64, 64), 0x10000 + (std::uint64_t{i} << 31));
    }
    EXPECT_EQ(bits(command, 0x880 + 3 * 128 + 32, 32), 0u);
}

TEST_F(Mlx5Commands, ADirectKeyIsOverMemoryThatIsRegisteredForIt)
{
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const MemoryRange range = range_at(16 * page - 1, page + 2); // three pages
    fake_device.answers[create_mkey] = {9, {0, 0, 5}};
    {
        DeviceKey key;
        ASSERT_TRUE(commands.create_direct_key(pd, range, false, key).is_good());
        EXPECT_EQ(fake_device.umem.addr, range.addr);
        EXPECT_EQ(fake_device.umem.len, range.len);
        EXPECT_EQ(fake_device.umem_access, std::uint32_t{IBV_ACCESS_REMOTE_READ});
        const Bytes &command = fake_device.last();
        expect_context(command, range, 1, false);
        EXPECT_EQ(bits(command, 0x61, 1), 1u);
        EXPECT_EQ(bits(command, 0x320, 32), 0xabcdu);
        EXPECT_EQ(bits(command, 0x340, 64), 0u);
        EXPECT_EQ(bits(command, 0x300, 32), 2u) << "units of 16 bytes for three pages of 8";
        EXPECT_EQ(bits(command, 0x80 + 0x1a0, 32), 2u);
        EXPECT_EQ(std::uint64_t{1} << bits(command, 0x80 + 0x1db, 5), page);
        EXPECT_EQ(key.index(), 5u);
    }
    EXPECT_EQ(fake_device.events, (std::vector<std::string>{"umem", "200", "destroy", "no umem"}));
}

TEST_F(Mlx5Commands, WhatIsWritableIsRegisteredForThat)
{
    DeviceKey key;
    ASSERT_TRUE(commands.create_direct_key(pd, range_at(4096, 1), true, key).is_good());
    EXPECT_EQ(fake_device.umem_access,
              std::uint32_t{IBV_ACCESS_REMOTE_READ} | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    EXPECT_EQ(bits(fake_device.last(), 0x80 + 0x11, 5), 0b11111u);
}

TEST_F(Mlx5Commands, AccessIsAllowedByTheKeysIndex)
{
    DeviceKey key;
    key.key = 0xabcdef42;
    ASSERT_TRUE(commands.allow_access(key, access_key).is_good());
    const Bytes &command = fake_device.last();
    EXPECT_EQ(command.size(), 64u);
    EXPECT_EQ(bits(command, 0, 16), 0xb16u);
    EXPECT_EQ(bits(command, 0x90, 16), 0xff01u);
    EXPECT_EQ(bits(command, 0xa0, 32), 0xabcdefu);
    EXPECT_TRUE(std::equal(access_key.begin(), access_key.end(), command.begin() + 32));
}

TEST_F(Mlx5Commands, AnAliasNamesTheOthersKeyAndItsOwnDomain)
{
    fake_device.answers[object] = {8, {0x00, 0x01, 0x02, 0x03}};
    DeviceKey alias;
    ASSERT_TRUE(commands.create_alias(pd, 0x55, 0xabcdef, access_key, alias).is_good());
    EXPECT_EQ(alias.key, 0x01020300u) << "the object's number, and no variant";
    const Bytes &command = fake_device.last();
    EXPECT_EQ(command.size(), 80u);
    EXPECT_EQ(bits(command, 0, 16), 0xa00u);
    EXPECT_EQ(bits(command, 0x30, 16), 0xff01u);
    EXPECT_EQ(bits(command, 0x60, 1), 1u);
    EXPECT_EQ(bits(command, 0x80, 16), 0x55u);
    EXPECT_EQ(bits(command, 0xa0, 32), 0xabcdefu);
    EXPECT_TRUE(std::equal(access_key.begin(), access_key.end(), command.begin() + 32));
    EXPECT_EQ(bits(command, 0x200, 32), 0x123456u);
}

TEST_F(Mlx5Commands, AnAliasThatTheDeviceMarksAsBadIsNone)
{
    fake_device.answers[object] = {0x98 / 8, {0x01}}; // its status
    DeviceKey alias;
    const Outcome outcome = commands.create_alias(pd, 1, 2, access_key, alias);
    EXPECT_EQ(outcome.error, EACCES);
    alias = {};
    EXPECT_EQ(fake_device.live_objects, 0);
}

TEST_F(Mlx5Commands, SharingMakesAKeyThenAllowsIt)
{
    for (const auto way : {Sharing::Way::indirect, Sharing::Way::direct}) {
        fake_device = {};
        fake_device.answers[create_mkey] = {9, {0, 0, 7}};
        {
            SharedKey shared;
            ASSERT_TRUE(shared.create(commands, pd, way, &region, range_at(4096, 4096), true).is_good());
            EXPECT_TRUE(
                std::equal(shared.access_key().begin(), shared.access_key().end(), fake_device.last().begin() + 32));
            EXPECT_EQ(shared.key().index(), 7u);
            EXPECT_EQ(bits(fake_device.last(), 0xa0, 32), 7u);
        }
        const std::vector<std::string> expected =
            way == Sharing::Way::indirect ? std::vector<std::string>{"200", "b16", "destroy"}
                                          : std::vector<std::string>{"umem", "200", "b16", "destroy", "no umem"};
        EXPECT_EQ(fake_device.events, expected);
    }
}

TEST_F(Mlx5Commands, EachShareHasAnAccessKeyOfItsOwn)
{
    SharedKey one, other;
    ASSERT_TRUE(one.create(commands, pd, Sharing::Way::indirect, &region, range_at(4096, 4096), true).is_good());
    ASSERT_TRUE(other.create(commands, pd, Sharing::Way::indirect, &region, range_at(4096, 4096), true).is_good());
    EXPECT_NE(one.access_key(), other.access_key());
    EXPECT_NE(one.access_key(), AccessKey{});
}

TEST_F(Mlx5Commands, WhatIsRefusedHalfwayLeavesNothing)
{
    for (const unsigned opcode : {create_mkey, allow}) {
        for (const auto way : {Sharing::Way::indirect, Sharing::Way::direct}) {
            fake_device = {};
            fake_device.refused[opcode] = 3;
            SharedKey shared;
            const Outcome outcome = shared.create(commands, pd, way, &region, range_at(4096, 4096), true);
            EXPECT_EQ(outcome.status, 3);
            EXPECT_EQ(outcome.syndrome, 0x1234u);
            EXPECT_NE(outcome.to_text().find("0x1234"), std::string::npos);
            EXPECT_EQ(fake_device.live_objects, 0);
            EXPECT_EQ(fake_device.live_umems, 0);
        }
    }
    fake_device = {};
    fake_device.refuses_umem = true;
    SharedKey shared;
    EXPECT_EQ(shared.create(commands, pd, Sharing::Way::direct, nullptr, range_at(4096, 4096), true).error, ENOMEM);
    EXPECT_TRUE(fake_device.commands.empty());
}

TEST_F(Mlx5Commands, CapabilitiesAreThoseOfNow)
{
    Bytes general(4096), more(4096), roce(4096);
    put_bits(general.data(), 0x1f, 1, 1);
    put_bits(general.data(), 0x20, 1, 1);
    put_bits(general.data(), 0x30, 16, 0x1234);
    put_bits(general.data(), 0x1a7, 1, 1);
    fake_device.answers[query_cap] = {16, general};
    DeviceCapabilities found;
    ASSERT_TRUE(commands.query_capabilities(found).is_good());
    EXPECT_EQ(found.vhca_id, 0x1234);
    EXPECT_TRUE(found.manages_eswitch);
    ASSERT_EQ(fake_device.commands.size(), 3u);
    const unsigned modifiers[] = {0x01, 0x41, 0x09};
    for (unsigned i = 0; i < 3; ++i) {
        EXPECT_EQ(bits(fake_device.commands[i], 0, 16), 0x100u);
        EXPECT_EQ(bits(fake_device.commands[i], 0x30, 16), modifiers[i]);
        EXPECT_EQ(bits(fake_device.commands[i], 0x40, 1), 0u) << "of this function";
    }
}

TEST_F(Mlx5Commands, EachCapabilityIsReadByItself)
{
    // One answer for all kinds: bits of one must not be taken for another's.
    const auto with = [&](std::vector<std::pair<unsigned, unsigned>> fields) {
        fake_device = {};
        Bytes capability(4096);
        for (const auto &[offset, width] : fields)
            put_bits(capability.data(), offset, width, width == 32 ? 0x100 : width == 64 ? 0x4 : 1);
        fake_device.answers[query_cap] = {16, capability};
        DeviceCapabilities found;
        EXPECT_TRUE(commands.query_capabilities(found).is_good());
        return found;
    };
    const std::pair<unsigned, unsigned> resource_manager{0x1f, 1}, cap_2{0x20, 1}, cross{0xe0, 32}, allowed{0x100, 64},
        has_vuid{0x92, 1}, disabled{5, 1}, enabled{6, 1};
    EXPECT_TRUE(with({cap_2, cross, allowed}).reports_shared_keys);
    EXPECT_FALSE(with({cross, allowed}).reports_shared_keys);
    EXPECT_FALSE(with({cap_2, cross}).reports_shared_keys);
    EXPECT_FALSE(with({cap_2, allowed}).reports_shared_keys);
    EXPECT_TRUE(with({cap_2, has_vuid, resource_manager}).has_query_vuid);
    EXPECT_FALSE(with({cap_2, has_vuid}).has_query_vuid);
    EXPECT_FALSE(with({cap_2, resource_manager}).has_query_vuid);
    EXPECT_TRUE(with({disabled, enabled}).forces_loopback);
    EXPECT_FALSE(with({disabled}).forces_loopback);
    EXPECT_FALSE(with({enabled}).forces_loopback);
}

TEST_F(Mlx5Commands, AFunctionBehindThePortIsNamedByItsNumber)
{
    Bytes general(4096);
    put_bits(general.data(), 0x30, 16, 7);
    fake_device.answers[query_cap] = {16, general};
    std::uint16_t vhca_id = 0;
    ASSERT_TRUE(commands.query_vhca_id(0x8004, vhca_id).is_good());
    EXPECT_EQ(vhca_id, 7);
    EXPECT_EQ(bits(fake_device.last(), 0x40, 1), 1u);
    EXPECT_EQ(bits(fake_device.last(), 0x50, 16), 0x8004u);
}

TEST_F(Mlx5Commands, LoopbackIsAPathToItself)
{
    ibv_qp qp{};
    qp.qp_num = 0xabc;
    ASSERT_TRUE(commands.loop_back(qp, 2, IBV_MTU_4096, 0x654321).is_good());
    const Bytes &command = fake_device.last();
    EXPECT_EQ(bits(command, 0, 16), 0x503u);
    EXPECT_EQ(bits(command, 0x48, 24), 0xabcu);
    EXPECT_EQ(bits(command, 0xc0 + 0x40, 3), 5u);
    EXPECT_EQ(bits(command, 0xc0 + 0x43, 5), 30u);
    EXPECT_EQ(bits(command, 0xc0 + 0xa8, 24), 0xabcu);
    EXPECT_EQ(bits(command, 0xc0 + 0xc0, 1), 1u);
    EXPECT_EQ(bits(command, 0xc0 + 0xc0 + 0x128, 8), 2u);
    EXPECT_EQ(bits(command, 0xc0 + 0x4a3, 5), 12u);
    EXPECT_EQ(bits(command, 0xc0 + 0x4a8, 24), 0x654321u);
}

TEST_F(Mlx5Commands, TheHostIsWhereItsBusIs)
{
    Bytes parameters(64);
    put_bits(parameters.data(), 0x00, 8, 1);
    put_bits(parameters.data(), 0x0e, 1, 1);
    put_bits(parameters.data(), 0x30, 16, 0x3b);
    put_bits(parameters.data(), 0x40, 16, 9);
    put_bits(parameters.data(), 0x50, 16, 2);
    put_bits(parameters.data(), 0x70, 16, 3);
    fake_device.answers[esw] = {16, parameters};
    HostFunction host;
    ASSERT_TRUE(commands.query_host(host).is_good());
    EXPECT_EQ(bits(fake_device.last(), 0, 16), 0x740u);
    EXPECT_EQ(host.host, 1);
    EXPECT_EQ(host.bus, 0x3b);
    EXPECT_EQ(host.device, 2);
    EXPECT_EQ(host.function, 3);
    EXPECT_EQ(host.vhca_id, 9);
    put_bits(parameters.data(), 0x0f, 1, 1);
    fake_device.answers[esw] = {16, parameters};
    EXPECT_FALSE(commands.query_host(host).is_good()) << "a host whose PF is disabled";
}

TEST_F(Mlx5Commands, AVuidIsTheTextOfItsFunction)
{
    Bytes entries(2 + 128);
    entries[1] = 1;
    std::memset(&entries[2], 'x', 128); // no NUL
    fake_device.answers[vuid] = {0x1f0 / 8, entries};
    std::string text;
    ASSERT_TRUE(commands.query_vuid(0x77, text).is_good());
    EXPECT_EQ(text, std::string(128, 'x'));
    EXPECT_EQ(bits(fake_device.last(), 0, 16), 0xb22u);
    EXPECT_EQ(bits(fake_device.last(), 0x70, 16), 0x77u);
    entries[2 + 5] = 0;
    fake_device.answers[vuid] = {0x1f0 / 8, entries};
    ASSERT_TRUE(commands.query_vuid(0x77, text).is_good());
    EXPECT_EQ(text, "xxxxx");
    entries[1] = 0;
    fake_device.answers[vuid] = {0x1f0 / 8, entries};
    EXPECT_EQ(commands.query_vuid(0x77, text).error, ENOENT);
}

TEST_F(Mlx5Commands, ACommandThatTheKernelLetsThroughAndTheDeviceRefusesHasFailed)
{
    fake_device.answers[allow] = {0, {5}}; // a status, without an error of the call
    DeviceKey key;
    const Outcome outcome = commands.allow_access(key, access_key);
    EXPECT_FALSE(outcome.is_good());
    EXPECT_EQ(outcome.status, 5);
}

} // namespace
