// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "function.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <endian.h>

#include "../../log/log.hpp"
#include "../host/services_at.hpp"
#include "device.hpp"
#include "devlink.hpp"
#include "provider.hpp"
#include "representors.hpp"
#include "trials.hpp"
#include "vpd.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MLX5_FUNCTION);

namespace opendoca::mlx5 {

namespace {

/// Returns the identity by which both sides of a card refer to a function.
FunctionIdentity identity_of(std::uint64_t card_guid, std::uint16_t vhca_id)
{
    char card[32];
    std::snprintf(card, sizeof(card), "card %016" PRIx64, card_guid);
    return {card, "VHCA " + std::to_string(vhca_id)};
}

/// Returns the PCI routing ID: 8 bits of bus, 5 of device, 3 of function.
std::uint16_t routing_id_of(const HostFunction &host) noexcept
{
    return static_cast<std::uint16_t>((host.bus & 0xffu) << 8 | (host.device & 0x1fu) << 3 | (host.function & 7u));
}

std::string address_of(std::uint16_t routing_id)
{
    char text[32]; // the card reports no PCI domain of the host, so it is taken to be 0
    std::snprintf(text, sizeof(text), "0000:%02x:%02x.%x", routing_id >> 8 & 0xffu, routing_id >> 3 & 0x1fu,
                  routing_id & 7u);
    return text;
}

/// Reads the VF layout from the card's own SR-IOV capability. No command reports the layout of the host's PF, which the
/// same firmware has set up.
std::optional<VirtualFunctionLayout> virtual_functions_of(const std::string &pci_address)
{
    return VirtualFunctionLayout::read("/sys/bus/pci/devices/" + pci_address);
}

} // namespace

std::shared_ptr<verbs::VerbsFunction> make_function(ibv_context &context, const ibv_device_attr_ex &attributes,
                                                    std::uint32_t port)
{
    constexpr std::uint32_t mellanox = 0x02c9; // vendor ID as reported by ibv_query_device(), not the PCI vendor ID
    if (attributes.orig_attr.vendor_id != mellanox)
        return nullptr;
    const Library *const library = load_library();
    // The device is left to the verbs provider, which uses it without the additions of mlx5.
    if (library == nullptr || !library->is_supported(context.device))
        return nullptr;
    DeviceCapabilities capabilities;
    if (const Outcome outcome = Commands(*library, context).query_capabilities(capabilities); !outcome.is_good()) {
        LOG_INFO("device %s accepts no DEVX commands and is used as a plain RDMA device: %s",
                 ibv_get_device_name(context.device), outcome.to_text().c_str());
        return nullptr;
    }
    auto function = std::make_shared<Mlx5Function>(*library, context, attributes, port, capabilities);
    // Subfunctions have no vital product data of their own.
    if (function->type != FunctionType::sf)
        function->vuid = vuid_by_vpd(function->pci_address);
    if (function->vuid.empty() && capabilities.has_query_vuid)
        // A failure leaves the VUID empty.
        (void)!Commands(*library, context).query_vuid(capabilities.vhca_id, function->vuid).is_good();
    return function;
}

bool read_time(const Library &library, ibv_context &context, std::uint64_t &ns) noexcept
{
    mlx5dv_clock_info conversion{};
    std::uint64_t count = 0;
    if (library.get_clock_info(&context, &conversion) != 0 || !verbs::read_clock(context, count))
        return false;
    ns = mlx5dv_ts_to_ns(&conversion, count);
    return true;
}

Mlx5Function::Mlx5Function(const Library &library, ibv_context &context, const ibv_device_attr_ex &attributes,
                           std::uint32_t port, const DeviceCapabilities &capabilities)
    : VerbsFunction(context, attributes, port),
      library_(library),
      capabilities_(capabilities),
      card_guid_(be64toh(attributes.orig_attr.sys_image_guid))
{
    provider = "mlx5";
    vhca_id = capabilities.vhca_id;
    std::uint64_t ignored = 0;
    can.real_time_clock = read_time(library, context, ignored);
    // Representors are on the function that manages the e-switch. On a BlueField, this is a port of the DPU.
    can.representors_net = capabilities.manages_eswitch;
    services_at = services_across_pcie(capabilities.manages_eswitch);
    can.comm_channel = !services_at.empty();
    can.queue_pairs_reach_peers = do_queue_pairs_reach_peers();
    if (!capabilities.manages_eswitch)
        behind_port = identity_of(card_guid_, capabilities.vhca_id);
    if (can.rdma.is_ethernet && capabilities.forces_loopback && can.rdma.max_queue_size != 0)
        add_copies(); // loopback copies work even if the port has no address
}

doca_error_t Mlx5Function::open(std::unique_ptr<Device> &device) const
{
    return Mlx5Device::open(*this, device);
}

/// On a BlueField in switchdev mode, the function that has the representors has a port without an address. Its
/// subfunction, which has the same PCI address, has a port with an address behind the same e-switch.
void Mlx5Function::choose_message_port(const verbs::NewFunctions &functions)
{
    if (!can.comm_channel)
        return;
    for (const auto &candidate : functions) {
        const auto *const other = dynamic_cast<const Mlx5Function *>(candidate.get());
        if (has_message_port())
            break;
        // Only functions of the same card: their ports are behind the same e-switch.
        if (other == nullptr || !other->has_message_port() || other->card_guid_ != card_guid_)
            continue;
        // The first one found, unless a later one has this function's PCI address.
        if (messages_by == nullptr || (messages_by->pci_address != pci_address && other->pci_address == pci_address))
            messages_by = candidate;
    }
    can.messages_by_queue_pairs = may_send_by_queue_pairs() && (has_message_port() || messages_by != nullptr);
}

void choose_message_ports(const verbs::NewFunctions &functions)
{
    for (const auto &function : functions) {
        if (auto *const own = dynamic_cast<Mlx5Function *>(function.get()); own != nullptr)
            own->choose_message_port(functions);
    }
}

bool Mlx5Function::can_export_dpu() const noexcept
{
    return sharing_of(*this).way != Sharing::Way::none;
}

bool Mlx5Function::can_import_dpu() const noexcept
{
    return sharing_of(*this).imports;
}

// Counters across the PCIe are memory that RDMA atomics update.

bool Mlx5Function::can_export_counter() const noexcept
{
    return can.rdma.atomics && can_export_dpu();
}

bool Mlx5Function::can_import_counter() const noexcept
{
    return can.rdma.atomics && can_import_dpu();
}

std::string Mlx5Function::reason_against(Ability ability) const
{
    switch (ability) {
    case Ability::message_channel:
        return "neither tmfifo_net0 nor DOCA_COMM_CHANNEL_ADDRESS gives the address of the other side";
    case Ability::export_counter:
    case Ability::import_counter:
        if (!can.rdma.atomics)
            return "sync events across the PCIe are changed by atomics, and the device reports none";
        [[fallthrough]];
    case Ability::export_memory:
    case Ability::import_memory:
        return sharing_of(*this).reason;
    default:
        return VerbsFunction::reason_against(ability);
    }
}

/// Each line names the engine or way in use, or the reason why there is none.
std::vector<std::string> Mlx5Function::remarks() const
{
    std::vector<std::string> lines;
    const auto add = [&](std::string text, const std::string &reason) {
        text += reason;
        lines.push_back(std::move(text));
    };
    if (const Engine &engine = engine_of(*this); engine.works)
        add("copies by the DMA engine", "");
    else
        add("copies by RDMA loopback: ", engine.reason);
    const Sharing &sharing = sharing_of(*this);
    switch (sharing.way) {
    case Sharing::Way::none:
        add("no memory across the PCIe: ", sharing.reason);
        break;
    case Sharing::Way::indirect:
        add("memory across the PCIe by indirect keys", "");
        break;
    case Sharing::Way::direct:
        add("memory across the PCIe by direct keys", "");
        break;
    }
    if (sharing.way != Sharing::Way::none && !sharing.imports)
        add("cannot import memory: ", sharing.reason);
    if (vuid.empty())
        add("no VUID: the device does not report it, and only root may read it from the vital product data", "");
    else
        add("VUID ", vuid);
    if (has_soft_engines())
        add("the CPU stands in for the card's engines (DOCA_SOFT_ENGINES=1)", "");
    if (can.comm_channel) {
        const std::string way = services_at.starts_with("unix:") ? "a relay at " : "TCP at ";
        add(can.messages_by_queue_pairs ? "Comm Channel by queue pairs of " + (messages_by ? messages_by->name : name) +
                                              ", as arranged by " + way
                                        : "Comm Channel by " + way,
            services_at);
    } else {
        add("no Comm Channel: ", reason_against(Ability::message_channel));
    }
    if (!can.representors_net)
        return lines;
    if (const auto layout = virtual_functions_of(pci_address))
        add("PCI addresses of the host's VFs by the card's own SR-IOV capability: offset " +
                std::to_string(layout->first) + ", stride " + std::to_string(layout->stride),
            "");
    else
        add("PCI addresses of the host's VFs unknown: " + pci_address + " has no SR-IOV capability", "");
    return lines;
}

/// Combines three sources: interface names in sysfs, vport numbers by devlink, and VHCA ID and VUID by device commands.
/// Members that no source reports are left empty.
std::vector<RepresentorInfo> Mlx5Function::representors() const
{
    std::vector<RepresentorInfo> infos;
    if (!can.representors_net)
        return infos;
    // Opened for this query only. On failure, which is logged, there are no representors.
    verbs::OpenContext opened;
    if (verbs::OpenContext::open(*this, opened) != DOCA_SUCCESS)
        return infos;
    const Commands commands(library_, *opened.context);
    HostFunction host;
    const Outcome host_query = commands.query_host(host);
    if (!host_query.is_good())
        LOG_INFO("device %s does not report the addresses of the host's functions: %s", name.c_str(),
                 host_query.to_text().c_str());
    std::string reason;
    const std::map<std::string, std::uint32_t> ports = list_devlink_ports(reason);
    if (!reason.empty())
        LOG_INFO("device %s: devlink cannot list the e-switch's ports: %s", name.c_str(), reason.c_str());
    const std::optional<VirtualFunctionLayout> layout = virtual_functions_of(pci_address);
    for (const RepresentorPort &port : find_representors("/sys/class/net", iface_name)) {
        RepresentorInfo info;
        info.name = info.iface_name = port.interface;
        info.type = port.name.type;
        // The card reports the address of the host's PF. Those of its VFs follow from the layout, and SFs of the DPU
        // share the address of their PF. Addresses of the host's SFs are unknown.
        if (port.name.type == FunctionType::pf && port.name.is_external && host_query.is_good())
            info.pci_address = address_of(routing_id_of(host));
        else if (port.name.type == FunctionType::vf && port.name.is_external && host_query.is_good() && layout) {
            if (const auto id = layout->routing_id(routing_id_of(host), port.name.number))
                info.pci_address = address_of(*id);
        } else if (port.name.type == FunctionType::sf && !port.name.is_external)
            info.pci_address = pci_address;
        std::uint16_t represented_vhca_id = 0;
        const auto devlink_port = ports.find(port.interface);
        const std::optional<std::uint16_t> vport =
            devlink_port != ports.end() ? vport_of(devlink_port->second) : port.name.vport();
        // The identity that the represented function sends to services, which contains its own VHCA ID.
        if (vport && commands.query_vhca_id(*vport, represented_vhca_id).is_good()) {
            info.vhca_id = represented_vhca_id;
            info.own_identity = identity_of(card_guid_, represented_vhca_id);
        }
        if (capabilities_.has_query_vuid && info.vhca_id) {
            if (const Outcome outcome = commands.query_vuid(represented_vhca_id, info.vuid); !outcome.is_good())
                LOG_INFO("device %s does not report the VUID of %s: %s", name.c_str(), info.name.c_str(),
                         outcome.to_text().c_str());
        }
        infos.push_back(std::move(info));
    }
    return infos;
}

} // namespace opendoca::mlx5
