// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The cards that are modelled, and what differs between them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opendoca::card {

/// The two machines that a card with a DPU connects. A card without one has the host's side only.
enum class Side : std::uint8_t { host, dpu };

/// Kinds of functions, which differ in their files in sysfs and in the commands that they may use.
enum class FunctionKind : std::uint8_t {
    physical, ///< PF of the host, or of a card without a DPU
    virtual_function,
    subfunction,
    embedded, ///< the DPU's own physical function, which manages the e-switch
};

/// An entry of a port's GID table. A GID of zeros marks an unset entry.
struct Gid {
    std::array<std::uint8_t, 16> raw;
    std::uint8_t type; ///< as ib_uverbs_gid_entry: 0 InfiniBand, 1 RoCE v1, 2 RoCE v2

    [[nodiscard]] bool is_set() const { return raw != decltype(raw){}; }
};

/// The properties of a function that do not change once the card serves programs. Part of Function; created by
/// functions_of() when the card starts.
struct FunctionProfile {
    Side side;
    FunctionKind kind;
    std::uint16_t vhca_id;     ///< unique on the card
    std::uint16_t vport;       ///< number of its port of the e-switch
    std::string device_name;   ///< mlx5_N, counted on its side
    std::string pci_address;   ///< its own, or that of a subfunction's parent
    std::uint32_t subfunction; ///< number of a subfunction
    std::uint16_t lid;         ///< 0 on Ethernet
    std::vector<Gid> gids;     ///< GID table of its port
    std::string vuid;
    std::string interface = "lo"; ///< network interface of its port
    std::uint8_t active_mtu = 3;  ///< path MTU of its port, as ibv_mtu
};

/// The properties of a card: what a model reports, and what it does. A capability may be reported although requests
/// fail, as on some real cards. All profiles are constants with static storage, so references to them stay valid.
struct Profile {
    std::string_view name;
    std::uint16_t pci_device;
    std::uint16_t firmware_major, firmware_minor, firmware_patch;
    std::string_view board;
    bool is_ethernet;
    bool has_dpu;
    /// DMA engine (MMO): the queue capabilities that report it, and whether requests succeed.
    bool dma_by_send_queue, dma_by_queue_pair, dma_works;
    std::uint8_t log_max_copy_bytes; ///< maximum length of one request, as a logarithm to base 2
    /// Alias keys: what the capabilities report, and which keys ALLOW_OTHER_VHCA_ACCESS accepts.
    bool reports_alias_keys, shares_direct_keys, shares_indirect_keys;
    /// On-demand regions of the whole address space. UCX 1.13 would use one on ConnectX-6 alone, when it cannot replace
    /// mmap(), and crashes when it closes it, so that profile has none.
    bool has_implicit_regions;
    std::string_view rate;                   ///< text of the sysfs file
    std::uint8_t active_speed, active_width; ///< as in ibv_port_attr

    /// Returns the length of a port's partition key table. Only its first entry is set.
    [[nodiscard]] std::uint16_t pkeys() const { return is_ethernet ? 1 : 128; }
    /// GUID of a card without addresses; those of its functions have their VHCA id in the last byte.
    static constexpr std::uint64_t guid_base = 0xec0d9a0300bf3200;
};

/// Returns the profile with this name, or null.
const Profile *find_profile(std::string_view name);
/// Returns all profiles, in the order of the documentation.
std::span<const Profile> all_profiles();
/// Returns the functions of a card, in the order of their uverbs numbers, which begin at 0 on each side.
std::vector<FunctionProfile> functions_of(const Profile &profile);

} // namespace opendoca::card
