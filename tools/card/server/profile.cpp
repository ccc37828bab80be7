// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "profile.hpp"

#include <algorithm>
#include <cstdio>

namespace opendoca::card {

namespace {

// Properties that no public source documents are listed in docs/card.md.
constexpr Profile profiles[] = {
    {.name = "bluefield-3",
     .pci_device = 0xa2dc,
     .firmware_major = 32,
     .firmware_minor = 38,
     .firmware_patch = 1002,
     .board = "MODEL00000003",
     .is_ethernet = true,
     .has_dpu = true,
     .dma_by_send_queue = true,
     .dma_by_queue_pair = true,
     .dma_works = true,
     .log_max_copy_bytes = 31,
     .reports_alias_keys = true,
     .shares_direct_keys = true,
     .shares_indirect_keys = true,
     .has_implicit_regions = true,
     .rate = "200 Gb/sec (4X HDR)",
     .active_speed = 64,
     .active_width = 2},
    {.name = "bluefield-2",
     .pci_device = 0xa2d6,
     .firmware_major = 24,
     .firmware_minor = 35,
     .firmware_patch = 2000,
     .board = "MODEL00000002",
     .is_ethernet = true,
     .has_dpu = true,
     .dma_by_send_queue = true,
     .dma_by_queue_pair = false,
     .dma_works = true,
     .log_max_copy_bytes = 21,
     .reports_alias_keys = true,
     .shares_direct_keys = true,
     .shares_indirect_keys = false,
     .has_implicit_regions = true,
     .rate = "100 Gb/sec (4X EDR)",
     .active_speed = 32,
     .active_width = 2},
    {.name = "connectx-7",
     .pci_device = 0x1021,
     .firmware_major = 28,
     .firmware_minor = 38,
     .firmware_patch = 1002,
     .board = "MODEL00000007",
     .is_ethernet = true,
     .has_dpu = false,
     .dma_by_send_queue = false,
     .dma_by_queue_pair = true,
     .dma_works = false,
     .log_max_copy_bytes = 31,
     .reports_alias_keys = true,
     .shares_direct_keys = false,
     .shares_indirect_keys = false,
     .has_implicit_regions = true,
     .rate = "200 Gb/sec (4X HDR)",
     .active_speed = 64,
     .active_width = 2},
    {.name = "connectx-5",
     .pci_device = 0x1017,
     .firmware_major = 16,
     .firmware_minor = 35,
     .firmware_patch = 2000,
     .board = "MODEL00000005",
     .is_ethernet = true,
     .has_dpu = false,
     .dma_by_send_queue = false,
     .dma_by_queue_pair = false,
     .dma_works = false,
     .log_max_copy_bytes = 0,
     .reports_alias_keys = false,
     .shares_direct_keys = false,
     .shares_indirect_keys = false,
     .has_implicit_regions = true,
     .rate = "100 Gb/sec (4X EDR)",
     .active_speed = 32,
     .active_width = 2},
    {.name = "infiniband",
     .pci_device = 0x101b,
     .firmware_major = 20,
     .firmware_minor = 35,
     .firmware_patch = 2000,
     .board = "MODEL00000006",
     .is_ethernet = false,
     .has_dpu = false,
     .dma_by_send_queue = false,
     .dma_by_queue_pair = false,
     .dma_works = false,
     .log_max_copy_bytes = 0,
     .reports_alias_keys = false,
     .shares_direct_keys = false,
     .shares_indirect_keys = false,
     .has_implicit_regions = false,
     .rate = "200 Gb/sec (4X HDR)",
     .active_speed = 64,
     .active_width = 2},
};

constexpr std::uint8_t roce_v1 = 1, roce_v2 = 2;
constexpr std::uint8_t mtu_1024 = 3, mtu_4096 = 5; // ibv_mtu
constexpr std::size_t gid_table_length = 16;       // most entries are unset, as on a real port

/// Returns a GID table with the link-local GID and the GID of an IPv4 address, each as RoCE v1 and v2. The IPv4 address
/// is a loopback address, so a program that connects to the network address of a GID reaches this machine.
std::vector<Gid> ethernet_gids(std::uint16_t vhca_id)
{
    const auto low = static_cast<std::uint8_t>(vhca_id);
    const Gid link_local{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0xee, 0x0d, 0x9a, 0xff, 0xfe, 0xbf, 0x32, low}, roce_v1};
    const Gid ipv4{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, low}, roce_v1};
    std::vector<Gid> gids = {link_local, link_local, ipv4, ipv4};
    gids[1].type = gids[3].type = roce_v2;
    gids.resize(gid_table_length);
    return gids;
}

/// Returns a GID table with the default GID only: the subnet prefix fe80::/64 and the port's GUID.
std::vector<Gid> infiniband_gids(std::uint64_t guid)
{
    Gid gid{{0xfe, 0x80}, 0};
    for (std::size_t i = 0; i < 8; ++i)
        gid.raw[8 + i] = static_cast<std::uint8_t>(guid >> (56 - 8 * i));
    std::vector<Gid> gids(gid_table_length);
    gids[0] = gid;
    return gids;
}

/// Returns a VUID in the format of real cards.
std::string vuid_of(const FunctionProfile &function)
{
    // Serial number of the card, "MLNX", and the system, device and function numbers.
    char text[64];
    std::snprintf(text, sizeof(text), "MT2347XZ0%04XMLNXS0D%uF%u", 0x3200u + function.vhca_id,
                  function.kind == FunctionKind::subfunction ? 1u : 0u, function.vport);
    return text;
}

} // namespace

const Profile *find_profile(std::string_view name)
{
    const auto found = std::ranges::find(profiles, name, &Profile::name);
    return found == std::ranges::end(profiles) ? nullptr : found;
}

std::span<const Profile> all_profiles()
{
    return profiles;
}

std::vector<FunctionProfile> functions_of(const Profile &profile)
{
    // Numbers and addresses are fixed, so that tests and documents can name them. docs/card.md lists them. VHCA ids are
    // unique on the card; vports are those of a BlueField: 0 is the host's PF, 1 its first VF, 0xfffe the embedded
    // function, 0x8000 plus the number a subfunction.
    std::vector<FunctionProfile> functions;
    const auto add = [&](Side side, FunctionKind kind, std::uint16_t vhca_id, std::uint16_t vport,
                         const char *device_name, const char *pci_address, bool has_address) {
        FunctionProfile function{side,
                                 kind,
                                 vhca_id,
                                 vport,
                                 device_name,
                                 pci_address,
                                 kind == FunctionKind::subfunction ? 4u : 0u,
                                 0,
                                 {},
                                 {},
                                 "lo",
                                 profile.is_ethernet ? mtu_1024 : mtu_4096};
        if (!profile.is_ethernet) {
            function.lid = static_cast<std::uint16_t>(0x10 + vhca_id);
            function.gids = infiniband_gids(Profile::guid_base | vhca_id);
        } else if (has_address) { // only a function with a network address has GIDs on Ethernet
            function.gids = ethernet_gids(vhca_id);
        } else {
            function.gids.resize(gid_table_length);
        }
        function.vuid = vuid_of(function);
        functions.push_back(std::move(function));
    };
    add(Side::host, FunctionKind::physical, 1, 0, "mlx5_0", "0000:3b:00.0", true);
    add(Side::host, FunctionKind::virtual_function, 2, 1, "mlx5_1", "0000:3b:00.2", true);
    if (profile.has_dpu) {
        // The uplink's own device has no GID, as on a BlueField in switchdev mode: the e-switch forwards what arrives
        // there.
        add(Side::dpu, FunctionKind::embedded, 5, 0xfffe, "mlx5_0", "0000:03:00.0", false);
        add(Side::dpu, FunctionKind::subfunction, 6, 0x8004, "mlx5_1", "0000:03:00.0", true);
    }
    return functions;
}

} // namespace opendoca::card
