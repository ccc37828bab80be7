// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: the connection details and the export descriptors of verbs and mlx5 devices, which need no device to be
// read. The checksum of an input is made right.
#include <cstdint>
#include <cstring>
#include <vector>

#include "../../src/core/base/crc32.hpp"
#include "../../src/core/device/descriptor.hpp"
#include "../../src/core/device/mlx5/memory_descriptor.hpp"
#include "../../src/core/device/verbs/connection_details.hpp"
#include "../../src/core/device/verbs/memory_descriptor.hpp"
#include "target.hpp"

using namespace opendoca;
using namespace opendoca::verbs;

void test_input(Input input)
{
    static const std::vector<std::byte> right_details = [] {
        ConnectionDetails details{};
        details.num_gids = 2;
        details.mtu = IBV_MTU_1024;
        details.link_layer = IBV_LINK_LAYER_ETHERNET;
        return to_bytes(DescriptorKind::verbs_connection, details);
    }();
    static const std::vector<std::byte> right_memory =
        to_bytes(DescriptorKind::verbs_memory, RemoteMemoryDescriptor{.addr = 4096, .len = 64, .key = 1, .access = 16});
    constexpr mlx5::SharedMemoryDescriptor shared = {.addr = 4096,
                                                     .len = 8,
                                                     .card_guid = 1,
                                                     .vhca_id = 1,
                                                     .key_index = 1,
                                                     .access = Access::dpu_read_write,
                                                     .access_key = {}};
    static const std::vector<std::byte> right_shared = to_bytes(DescriptorKind::mlx5_memory, shared),
                                        right_counter = to_bytes(DescriptorKind::mlx5_counter, shared);
    for (const std::vector<std::byte> &right : {right_details, right_memory, right_shared, right_counter}) {
        std::vector<std::byte> bytes = changed(right, input);
        const std::size_t end = bytes.size() - sizeof(std::uint32_t);
        const std::uint32_t crc = crc32(bytes.data(), end);
        for (std::size_t i = 0; i < sizeof(crc); ++i)
            bytes[end + i] = static_cast<std::byte>(crc >> (24 - 8 * i) & 0xff);
        for (const Input each : {Input(bytes), input}) {
            ConnectionDetails details{};
            if (read_details(each, details) == DOCA_SUCCESS) {
                require(details.num_gids <= max_candidates, "there are not more GIDs than there is room for");
                LocalEnd own{};
                own.details.num_gids = 1;
                own.details.link_layer = details.link_layer;
                for (const auto &path : find_paths(own, details, QueuePairSettings{}))
                    (void)path;
            }
            mlx5::SharedMemoryDescriptor read{};
            if (mlx5::read_descriptor(each, read) == DOCA_SUCCESS)
                require(read.len != 0 && read.addr + read.len >= read.addr, "the shared range does not wrap around");
            if (mlx5::read_counter_descriptor(each, read) == DOCA_SUCCESS)
                require(read.len == 8 && read.addr % 8 == 0, "it is a counter");
            RemoteMemoryDescriptor memory{};
            if (read_descriptor(each, memory) == DOCA_SUCCESS)
                require(memory.addr + memory.len >= memory.addr, "the range does not wrap around");
        }
    }
}
