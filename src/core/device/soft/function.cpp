// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "function.hpp"

#include "device.hpp"

namespace opendoca::soft {

SoftFunction::SoftFunction(const TopologyFunction &description, const Topology &topology)
{
    provider = "soft";
    name = description.name;
    pci_address = description.pci_address;
    ibdev_name = description.ibdev_name;
    iface_name = description.iface_name;
    type = description.type;
    mac = description.mac;
    ipv4 = description.ipv4;
    ipv6 = description.ipv6;

    const bool is_dpu_port = description.side == Side::dpu && type == DOCA_PCI_FUNC_PF;
    can.export_dpu = description.side == Side::host;
    can.from_export_dpu = is_dpu_port;
    can.representors_net = is_dpu_port;
    can.dma_memcpy = true;
    can.dma_event_driven = true;
    can.dma_max_list_elements = 1024;
    can.dma_max_size = std::uint64_t{1} << 31;
    can.sync_event = true;
    can.sync_event_event_driven = true;
    can.sync_event_export_dpu = can.export_dpu;
    can.sync_event_from_export_dpu = can.from_export_dpu;
    can.sha_software = true;
    can.sha_max_list_elements = 1024;
    can.sha_max_size = std::uint64_t{1} << 31;
    can.comm_channel = true;

    if (!is_dpu_port)
        return;
    for (const Side side : {Side::host, Side::dpu}) {
        for (const auto &other : topology) {
            if (other.side == side && other.parent == name)
                representors_.push_back({other.name, other.pci_address, other.vuid, other.type, false});
        }
    }
}

doca_error_t SoftFunction::open(std::unique_ptr<Device> &device) const
{
    device = std::make_unique<SoftDevice>(*this);
    return DOCA_SUCCESS;
}

} // namespace opendoca::soft
