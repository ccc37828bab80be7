// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: the connection details and the export descriptors of verbs devices, which need no device to be read. The
// checksum of an input is made right.
#include <cstring>

#include "../../src/core/crc32.hpp"
#include "../../src/core/device/descriptor.hpp"
#include "../../src/core/device/verbs/connection_details.hpp"
#include "../../src/core/device/verbs/memory_descriptor.hpp"
#include "../../src/core/log_backend.hpp"
#include "target.hpp"

using namespace opendoca;
using namespace opendoca::verbs;

void test_input(Input input)
{
    // Of the library's own, which this program has a second one of.
    static const bool is_silent = opendoca::set_global_log_limit(opendoca::LogLevel::critical,
                                                                 &opendoca::LogLimits::set_lower) == DOCA_SUCCESS;
    require(is_silent, "the log is silent");
    static const std::vector<std::byte> right_details = [] {
        ConnectionDetails details{};
        details.num_gids = 2;
        details.mtu = IBV_MTU_1024;
        details.link_layer = IBV_LINK_LAYER_ETHERNET;
        return to_bytes(DescriptorKind::verbs_connection, details);
    }();
    static const std::vector<std::byte> right_memory =
        to_bytes(DescriptorKind::verbs_memory, RemoteMemoryDescriptor{.addr = 4096, .len = 64, .key = 1, .access = 16});
    for (const std::vector<std::byte> &right : {right_details, right_memory}) {
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
            RemoteMemoryDescriptor memory{};
            if (read_descriptor(each, memory) == DOCA_SUCCESS)
                require(memory.addr + memory.len >= memory.addr, "the range does not wrap around");
        }
    }
}
