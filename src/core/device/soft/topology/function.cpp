// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "function.hpp"

#include "../../host/services_at.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../../log/log.hpp"
#include "../connection/queue_pair_page.hpp"
#include "../device.hpp"
#include "../faults/faulty_device.hpp"
#include "../memory/importer.hpp"
#include "../strict/strict.hpp"
#include "../strict/strict_order.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_FUNCTION);

namespace opendoca::soft {

namespace {

constexpr std::size_t gid_table_size = 16; ///< entries of the table that a port reports; unused ones are zero

/// Returns the GIDs as a RoCE port has them: the link-local address made of the MAC, then the IPv4 and the IPv6
/// address.
std::vector<Gid> gids_of(const TopologyFunction &description)
{
    std::vector<Gid> gids(gid_table_size);
    const auto &mac = description.mac;
    gids[0] = {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, static_cast<std::uint8_t>(mac[0] ^ 2), mac[1], mac[2], 0xff, 0xfe, mac[3],
                mac[4], mac[5]}};
    std::size_t count = 1;
    const auto is_set = [](const auto &address) {
        return std::ranges::any_of(address, [](std::uint8_t byte) { return byte != 0; });
    };
    if (const auto &ipv4 = description.ipv4; is_set(ipv4))
        gids[count++] = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ipv4[0], ipv4[1], ipv4[2], ipv4[3]}};
    // The default IPv6 address is the link-local one, which is in the table already.
    if (const auto &ipv6 = description.ipv6; is_set(ipv6) && std::memcmp(gids[0].data(), ipv6.data(), ipv6.size()) != 0)
        std::memcpy(gids[count].data(), ipv6.data(), ipv6.size());
    return gids;
}

/// Takes away what a function of the host has only while the Arm cores run: a DPU that it shares memory and sync events
/// with, services on it, and an engine for compression.
void apply_nic_mode(Capabilities &can)
{
    can.export_dpu = can.from_export_dpu = false;
    can.sync_event_export_dpu = can.sync_event_from_export_dpu = false;
    can.comm_channel = false;
    can.compress_deflate = can.decompress_deflate = can.decompress_lz4 = false;
}

/// Returns whether NIC mode, which apply_nic_mode() applies, is not the reason why a function lacks @p ability.
bool has_in_nic_mode(Ability ability) noexcept
{
    switch (ability) {
    case Ability::compress:
    case Ability::message_channel:
    case Ability::message_service:
    case Ability::export_memory:
    case Ability::import_memory:
    case Ability::export_counter:
    case Ability::import_counter:
    case Ability::list_representors:
        return false;
    default:
        return true;
    }
}

/// Finds the states for a device that was listed before DOCA_SOFT_FAULTS was set.
doca_error_t find_states(const DeviceStates *&states)
{
    Topology topology;
    DeviceStates *found = nullptr;
    doca_error_t status = load_topology(topology);
    if (status == DOCA_SUCCESS)
        status = DeviceStates::find(topology, true, found);
    states = found;
    return status;
}

/// Returns the function of the host that services and clients identify by this one: itself if it is behind a port of
/// the DPU. A port acts as the first PF of the host behind it if @p acts_for_host.
std::optional<FunctionIdentity> identity_behind_port(const TopologyFunction &function, const Topology &topology,
                                                     bool acts_for_host)
{
    if (!function.parent.empty())
        return FunctionIdentity{function.name, function.pci_address};
    const auto first_pf = std::ranges::find_if(topology, [&](const auto &other) {
        return other.side == Side::host && other.type == FunctionType::pf && other.parent == function.name;
    });
    if (!acts_for_host || first_pf == topology.end())
        return std::nullopt;
    return FunctionIdentity{first_pf->name, first_pf->pci_address};
}

} // namespace

SoftFunction::SoftFunction(const TopologyFunction &description, const Topology &topology, bool acts_for_host,
                           const DeviceStates *states)
    : is_strict_(description.is_strict),
      mode_(description.mode),
      states_(states),
      index_(static_cast<std::size_t>(&description - topology.data()))
{
    provider = "soft";
    name = description.name;
    pci_address = description.pci_address;
    also = description.also;
    ibdev_name = description.ibdev_name;
    iface_name = description.iface_name;
    vuid = description.vuid;
    type = description.type;
    mac = description.mac;
    ipv4 = description.ipv4;
    ipv6 = description.ipv6;
    is_port_active = states == nullptr || !states->of(index_).is_port_down();
    if (is_port_active)
        active_rate = description.active_rate;
    vhca_id = description.vhca_id;
    sf_number = description.sf_number;

    const bool is_dpu_port = description.side == Side::dpu && type == FunctionType::pf;
    if (mode_ != CardMode::nic) // otherwise nobody on the DPU could look for it
        behind_port = identity_behind_port(description, topology, acts_for_host && !is_strict_);
    port = description.parent;
    // Only the ports of the DPU and the host's functions share memory across the PCIe; SFs of the DPU do not.
    can.export_dpu = description.side == Side::host || is_dpu_port;
    can.from_export_dpu = can.export_dpu;
    can.representors_net = is_dpu_port;
    can.dma_memcpy = true;
    can.dma_event_driven = true;
    // Limits of our own: a software device has no hardware limits.
    can.dma_max_list_elements = 1024;
    can.dma_max_size = std::uint64_t{1} << 31;
    can.sync_event_export_dpu = can.export_dpu;
    can.sync_event_from_export_dpu = can.from_export_dpu;
    can.add_work_of_cpu();
    can.add_engines_of_cpu(description.engines);
    can.sha_hardware = description.sha_hardware;
    can.free_running_clock = can.real_time_clock = true;
    can.comm_channel = true;
    services_at = services_by_environment();

    can.rdma.reliable_connection = true;
    can.rdma.atomics = true;
    can.rdma.event_driven = true;
    can.rdma.shared_receives = true;
    can.rdma.max_queue_size = soft::max_queue_size;
    can.rdma.max_message_size = std::uint32_t{1} << 31;
    can.rdma.max_chain_length = max_chain_length;
    can.rdma.active_mtu = DOCA_MTU_SIZE_4K_BYTES;
    can.rdma.gids = gids_of(description);
    if (is_strict_)
        apply_strict_limits(can);
    if (mode_ == CardMode::nic)
        apply_nic_mode(can);

    if (is_dpu_port)
        find_representors(topology);
}

void SoftFunction::find_representors(const Topology &topology)
{
    // Functions of the host first, as programs commonly take the first representor.
    for (const Side side : {Side::host, Side::dpu}) {
        for (const auto &other : topology) {
            const auto index = static_cast<std::size_t>(&other - topology.data());
            if (other.side == side && other.parent == name && (states_ == nullptr || !states_->of(index).is_removed()))
                representors_.push_back({.name = other.name,
                                         .pci_address = other.pci_address,
                                         .also = other.also,
                                         .vuid = other.vuid,
                                         .type = other.type,
                                         .is_emulated = false,
                                         .own_identity = {},
                                         .iface_name = other.rep_iface_name,
                                         .vhca_id = other.vhca_id});
        }
    }
}

doca_error_t SoftFunction::open(std::unique_ptr<Device> &device) const
{
    std::shared_ptr<FaultPlan> faults;
    if (const doca_error_t status = FaultPlan::from_environment(faults); status != DOCA_SUCCESS)
        return status;
    const DeviceStates *states = states_;
    if (states == nullptr && faults != nullptr) {
        if (const doca_error_t status = find_states(states); status != DOCA_SUCCESS)
            return status;
    }
    if (states != nullptr && states->of(index_).is_removed()) {
        LOG_ERR("device %s was removed", description().c_str());
        return DOCA_ERROR_NOT_CONNECTED;
    }
    if (is_strict_)
        ExporterProcess::check_each_time();
    if (states != nullptr)
        device = std::make_unique<FaultyDevice>(
            *this, is_strict_, faults != nullptr ? std::move(faults) : std::make_shared<FaultPlan>(), *states, index_);
    else
        device = std::make_unique<SoftDevice>(*this, is_strict_);
    return DOCA_SUCCESS;
}

std::vector<std::string> SoftFunction::remarks() const
{
    std::vector<std::string> lines;
    if (is_strict_)
        lines.emplace_back("as strict as a card, by DOCA_SOFT_STRICT=1 or \"strict\" in the topology");
    if (mode_ == CardMode::nic)
        lines.emplace_back("its card is in NIC mode, by \"mode\" in the topology");
    if (mode_ == CardMode::restricted)
        lines.emplace_back("its card is in restricted mode, by \"mode\" in the topology");
    return lines;
}

std::unique_ptr<CompletionOrder> SoftFunction::order_of_late(const char *what) const
{
    if (!is_strict_)
        return nullptr;
    LOG_INFO("%s of device %s is carried out after its submission (strict: late-destination), in an order by "
             "DOCA_SOFT_STRICT_SEED=%" PRIu64 " (strict: unordered-completions)",
             what, description().c_str(), StrictRandom::seed());
    return std::make_unique<StrictOrder>();
}

const char *SoftFunction::strict_suffix(StrictRule rule) const noexcept
{
    return is_strict_ ? suffix_of(rule) : "";
}

std::string SoftFunction::reason_against(Ability ability) const
{
    if (mode_ == CardMode::nic && !has_in_nic_mode(ability))
        return "its card is in NIC mode, by \"mode\" in " + topology_origin();
    switch (ability) {
    case Ability::hash_by_engine:
        return "\"sha_hardware\" is not true for it in " + topology_origin();
    case Ability::compress:
    case Ability::erasure_coding:
    case Ability::encrypt:
        if (can.compress_deflate && can.decompress_lz4) // the topology does not restrict it
            return DeviceFunction::reason_against(ability);
        return can.decompress_deflate ? "\"engines\" names a card without that engine in " + topology_origin()
                                      : "\"engines\" is \"none\" for it in " + topology_origin();
    case Ability::protection_domain:
        return "it is no device of libibverbs";
    case Ability::export_memory:
    case Ability::export_counter:
    case Ability::import_memory:
    case Ability::import_counter:
        return "it is a subfunction of the DPU, and only the DPU's ports share memory with the host's functions";
    default:
        return DeviceFunction::reason_against(ability);
    }
}

} // namespace opendoca::soft
