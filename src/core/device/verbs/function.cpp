// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "function.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <net/if.h>

#include "../../base/pci_address.hpp"
#include "../../log/log.hpp"
#include "device.hpp"
#include "gid_table.hpp"
#include "interface.hpp"
#include "port_rate.hpp"
#include "queue_pair.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_FUNCTION);

namespace opendoca::verbs {

// libibverbs takes a lock of its own while it lists devices. If another thread forked meanwhile, the child would
// inherit that lock in the locked state; this mutex delays the fork.
static constinit ForkSafeMutex listing;
static const ForkRegistration listing_registration(listing, LockRank::verbs_devices);

DeviceList::DeviceList() noexcept
{
    const std::lock_guard guard(listing);
    devices_ = ibv_get_device_list(&count_);
}

namespace {

constexpr std::uint32_t largest_queue = 32768;
constexpr std::uint32_t max_chain_length = 16; ///< a larger one would enlarge every entry of a send queue
constexpr int most_reads = 16;
constexpr std::uint64_t largest_copy = std::uint64_t{1} << 31;

/// Returns whether queue pairs are connected by number and GID, which is not the case for iWARP and others.
bool connects_by_number(const ibv_device &device) noexcept
{
    return device.transport_type == IBV_TRANSPORT_IB && device.node_type == IBV_NODE_CA;
}

RdmaCapabilities rdma_capabilities(ibv_context &context, const ibv_device_attr &device, const ibv_port_attr &attributes,
                                   std::uint32_t port)
{
    RdmaCapabilities can;
    const bool is_ethernet = attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
    const std::vector<ibv_gid_entry> gids = gids_of(context, port);
    if (!connects_by_number(*context.device))
        return can;
    // An Ethernet port without a GID, such as that of a BlueField's own function in switchdev mode, cannot reach any
    // peer.
    can.reliable_connection = !is_ethernet || !gids.empty();
    // IBV_ATOMIC_HCA suffices: the atomics of one device only have to be atomic with respect to each other.
    can.atomics = device.atomic_cap != IBV_ATOMIC_NONE;
    can.event_driven = true;
    can.is_ethernet = is_ethernet;
    // Sends and receives share one completion queue, so both must fit into it.
    const int longest = std::max(std::min(device.max_qp_wr, (device.max_cqe - 1) / 2), 1);
    const std::uint32_t size = std::min(std::bit_floor(static_cast<std::uint32_t>(longest)), largest_queue);
    can.max_queue_size = size;
    // Limited to 2^31 bytes, so that lengths and sums of lengths fit into 32 bits.
    can.max_message_size = std::min<std::uint32_t>(attributes.max_msg_sz, 1u << 31);
    can.max_chain_length = std::min(static_cast<std::uint32_t>(std::max(device.max_sge, 1)), max_chain_length);
    can.shared_receives = device.max_srq > 0 && device.max_srq_wr > 0 && device.max_srq_sge > 0;
    // One limit for all receives, shared or not: a program queries it before it chooses.
    if (can.shared_receives)
        can.max_chain_length = std::min(can.max_chain_length, static_cast<std::uint32_t>(device.max_srq_sge));
    can.active_mtu = mtu_of(attributes.active_mtu);
    can.gids.resize(static_cast<std::size_t>(std::max(attributes.gid_tbl_len, 0)));
    for (const ibv_gid_entry &entry : gids) {
        if (entry.gid_index < can.gids.size())
            // The list keeps the device's indices, since programs select a GID by its index.
            std::memcpy(can.gids[entry.gid_index].data(), entry.gid.raw, sizeof(entry.gid.raw));
    }
    return can;
}

} // namespace

bool read_clock(ibv_context &context, std::uint64_t &count) noexcept
{
    ibv_values_ex values{};
    values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    if (ibv_query_rt_values_ex(&context, &values) != 0 || (values.comp_mask & IBV_VALUES_MASK_RAW_CLOCK) == 0)
        return false;
    // Drivers return the count as the second member of the time.
    count = static_cast<std::uint64_t>(values.raw_clock.tv_nsec);
    return true;
}

VerbsFunction::VerbsFunction(ibv_context &context, const ibv_device_attr_ex &attributes, std::uint32_t port)
    : port_(port)
{
    const ibv_device_attr &device = attributes.orig_attr;
    provider = "verbs";
    ibdev_name = ibv_get_device_name(context.device);
    name = device.phys_port_cnt == 1 ? ibdev_name : ibdev_name + "/" + std::to_string(port);
    iface_name = interface_of(context, port);
    // Identifies the function: by its PCI address if it has one, otherwise by that of its network interface.
    PciFunction found = pci_function_of(context.device->ibdev_path);
    if (found.pci_address.empty() && !iface_name.empty())
        found = pci_function_of("/sys/class/net/" + iface_name); // Soft-RoCE has the PCI address of its interface
    pci_address = found.pci_address;
    type = found.type;
    sf_number = found.sf_number;
    const Addresses addresses = addresses_of(iface_name);
    mac = addresses.mac;
    ipv4 = addresses.ipv4;
    ipv6 = addresses.ipv6;

    ibv_port_attr port_attributes{};
    if (const int error = ibv_query_port(&context, static_cast<std::uint8_t>(port), &port_attributes); error != 0) {
        LOG_WARN("port %u of RDMA device %s can't be queried: %s", port, ibdev_name.c_str(), std::strerror(error));
        return;
    }
    // A port that cannot be queried is listed without any ability; reason_against_connections() explains why.
    is_queried_ = true;
    is_infiniband_ = connects_by_number(*context.device);
    if (port_attributes.link_layer == IBV_LINK_LAYER_INFINIBAND)
        lid = port_attributes.lid;
    is_port_active = port_attributes.state == IBV_PORT_ACTIVE;
    if (is_port_active) // drivers report an arbitrary rate for a port that is down
        active_rate = rate_of_port(port_attributes);
    max_segments_ = static_cast<std::uint32_t>(std::max(device.max_sge, 1));
    // One less than the device reports, since drivers may add an entry for themselves.
    max_completions_ = static_cast<std::uint32_t>(std::max(device.max_cqe - 1, 1));
    max_reads_ = static_cast<std::uint8_t>(std::clamp(device.max_qp_rd_atom, 1, most_reads));

    can.rdma = rdma_capabilities(context, device, port_attributes, port);
    if (can.rdma.reliable_connection)
        add_copies();
    std::uint64_t ignored = 0;
    can.free_running_clock = read_clock(context, ignored);
    can.add_work_of_cpu();
    if (has_soft_engines())
        can.add_engines_of_cpu();
}

void VerbsFunction::add_copies() noexcept
{
    can.dma_memcpy = true;
    can.dma_event_driven = true;
    can.dma_max_list_elements = 1024;
    can.dma_max_size = largest_copy;
}

doca_error_t VerbsFunction::open(std::unique_ptr<Device> &device) const
{
    return VerbsDevice::open(*this, device);
}

std::vector<std::string> VerbsFunction::remarks() const
{
    std::vector<std::string> lines;
    if (can.dma_memcpy)
        lines.emplace_back("copies by RDMA loopback");
    if (has_soft_engines())
        lines.emplace_back("the CPU stands in for the card's engines (DOCA_SOFT_ENGINES=1)");
    return lines;
}

std::string VerbsFunction::reason_against_connections() const
{
    if (!is_queried_)
        return "its port cannot be queried";
    if (!is_infiniband_)
        return "it is neither InfiniBand nor RoCE: queue pairs of iWARP are not connected by number and GID";
    if (!can.rdma.reliable_connection)
        return "its port has no GID: give its network interface an address, and set it up";
    return "no queue pair can be created on the device; see the log (doca_caps -v)";
}

std::string VerbsFunction::reason_against(Ability ability) const
{
    switch (ability) {
    case Ability::copy:
    case Ability::connect:
        return reason_against_connections();
    case Ability::atomics:
        return can.rdma.reliable_connection ? "the device reports none" : reason_against_connections();
    case Ability::protection_domain:
        return "the device cannot be opened; see the log (doca_caps -v)";
    case Ability::message_channel:
        return "only a BlueField has another side of the PCIe, and libmlx5 finds none here";
    case Ability::export_memory:
    case Ability::import_memory:
    case Ability::export_counter:
    case Ability::import_counter:
        return "only a BlueField shares memory across the PCIe, and libmlx5 finds none here";
    default:
        return DeviceFunction::reason_against(ability);
    }
}

/// Opens the device and creates queue pairs of decreasing size until one succeeds. The result is cached; a failure is
/// not, so that a later call tries again.
std::uint32_t VerbsFunction::max_queue_size() const noexcept
{
    const std::lock_guard guard(trial_lock_);
    if (max_queue_size_ != 0 || !can.rdma.reliable_connection)
        return max_queue_size_;
    std::unique_ptr<Device> device;
    if (guarded([&] { return open(device); }) != DOCA_SUCCESS)
        return 0;
    QueuePairSettings settings{};
    settings.recv_chain_length = can.rdma.max_chain_length;
    max_queue_size_ =
        largest_queues(*device->protection_domain(), sizes_for(can.rdma, settings), can.rdma.max_queue_size);
    if (max_queue_size_ == 0)
        LOG_ERR("device %s: no queue pair with entries of %u segments can be created: %s", name.c_str(),
                can.rdma.max_chain_length, std::strerror(errno));
    return max_queue_size_;
}

} // namespace opendoca::verbs
