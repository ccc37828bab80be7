// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What differs between the cards that are modelled.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opendoca::card {

enum class Side : std::uint8_t { host, dpu };

enum class FunctionKind : std::uint8_t {
    physical, ///< PF of the host, or of a card without a DPU
    virtual_function,
    subfunction,
    embedded, ///< the DPU's own physical function, which manages the e-switch
};

struct Gid {
    std::array<std::uint8_t, 16> raw;
    std::uint8_t type; ///< as ib_uverbs_gid_entry: 0 InfiniBand, 1 RoCE v1, 2 RoCE v2

    [[nodiscard]] bool is_set() const { return raw != decltype(raw){}; }
};

/// A function as it was when the card came up.
struct FunctionProfile {
    Side side;
    FunctionKind kind;
    std::uint16_t vhca_id;
    std::uint16_t vport;
    std::string device_name;   ///< mlx5_N of its side
    std::string pci_address;   ///< of its own, or of the parent of a subfunction
    std::uint32_t subfunction; ///< its number
    std::uint16_t lid;         ///< 0 on Ethernet
    std::vector<Gid> gids;     ///< of its port
    std::string vuid;
};

struct Profile {
    std::string_view name;
    std::uint16_t pci_device;
    std::uint16_t firmware_major, firmware_minor, firmware_patch;
    std::string_view board;
    bool is_ethernet;
    bool has_dpu;
    /// DMA engine (MMO): which queue capability reports it, and whether requests are carried out.
    bool dma_by_send_queue, dma_by_queue_pair, dma_works;
    std::uint8_t log_longest_copy; ///< of the engine, in one request
    /// Alias keys: what the capabilities say, and what ALLOW_OTHER_VHCA_ACCESS takes.
    bool reports_alias_keys, shares_direct_keys, shares_indirect_keys;
    std::string_view rate; ///< text of sysfs
    std::uint8_t active_speed, active_width;

    /// Partition keys of a port; only the first is set.
    [[nodiscard]] std::uint16_t pkeys() const { return is_ethernet ? 1 : 128; }
    [[nodiscard]] std::uint64_t guid(std::uint16_t vhca_id) const { return guid_base | vhca_id; }
    [[nodiscard]] std::uint64_t system_guid() const { return guid_base; }
    static constexpr std::uint64_t guid_base = 0xec0d9a0300bf3200;
};

/// Null where there is none of that name.
const Profile *find_profile(std::string_view name);
std::span<const Profile> all_profiles();
/// The functions of a card in the order of their uverbs numbers, each side from 0.
std::vector<FunctionProfile> functions_of(const Profile &profile);

} // namespace opendoca::card
