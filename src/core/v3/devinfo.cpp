// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Properties and capabilities of devices and representors.
#include <string>

#include <doca_dev.h>

#include "../objects/dev_properties.hpp"
#include "call.hpp"

using opendoca::Capabilities;
using opendoca::check_room;
using opendoca::compare_pci_address;
using opendoca::copy_address;
using opendoca::copy_number;
using opendoca::copy_pci_address;
using opendoca::copy_text;
using opendoca::DeviceFunction;
using opendoca::report_none;
using opendoca::v3::call;

namespace {

static_assert(DOCA_PCI_FUNC_TYPE_PF == static_cast<int>(opendoca::FunctionType::pf) &&
              DOCA_PCI_FUNC_TYPE_VF == static_cast<int>(opendoca::FunctionType::vf) &&
              DOCA_PCI_FUNC_TYPE_SF == static_cast<int>(opendoca::FunctionType::sf));

doca_pci_func_type type_of(opendoca::FunctionType type)
{
    return static_cast<doca_pci_func_type>(type);
}

/// Implements the queries of capabilities that are one bit.
doca_error_t report(const doca_devinfo *devinfo, bool Capabilities::*capability, uint8_t *out)
{
    return call({devinfo, out}, [&] { *out = devinfo->function->can.*capability; });
}

/// Copies a property of a representor, or returns NOT_SUPPORTED if this representor lacks it.
doca_error_t copy_if_known(const char *what, const doca_devinfo_rep &rep, const std::string &text, char *out,
                           uint32_t size, uint32_t needed)
{
    const doca_error_t status = check_room(what, size, needed);
    if (status == DOCA_SUCCESS && text.empty())
        return report_none(rep, what, DOCA_ERROR_NOT_SUPPORTED);
    return status == DOCA_SUCCESS ? copy_text(what, text, out, size, needed) : status;
}

/// Reports whether @p devinfo lists its representors by a filter. NOT_SUPPORTED if it has none at all.
template <typename Lists>
doca_error_t report_filter(const doca_devinfo *devinfo, uint8_t *out, Lists lists)
{
    return call({devinfo, out}, [&] {
        const Capabilities &can = devinfo->function->can;
        if (!can.representors_net && !can.representors_emulated)
            return DOCA_ERROR_NOT_SUPPORTED; // not logged: programs query each device
        *out = lists(can);
        return DOCA_SUCCESS;
    });
}

} // namespace

doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str)
{
    return call({devinfo, pci_addr_str}, [&] {
        const DeviceFunction &function = *devinfo->function;
        return copy_pci_address(function.name, function.pci_address, pci_addr_str, DOCA_ERROR_OPERATING_SYSTEM);
    });
}

doca_error_t doca_devinfo_is_equal_pci_addr(const struct doca_devinfo *devinfo, const char *pci_addr_str,
                                            uint8_t *is_equal)
{
    return call({devinfo, pci_addr_str, is_equal},
                [&] { return compare_pci_address(*devinfo, pci_addr_str, *is_equal); });
}

doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr, uint32_t size)
{
    return call({devinfo, ipv4_addr}, [&] {
        return copy_address("IPv4 address", *devinfo, &DeviceFunction::ipv4, ipv4_addr, size, DOCA_ERROR_NOT_FOUND);
    });
}

doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr, uint32_t size)
{
    return call({devinfo, ipv6_addr}, [&] {
        return copy_address("IPv6 address", *devinfo, &DeviceFunction::ipv6, ipv6_addr, size,
                            DOCA_ERROR_OPERATING_SYSTEM);
    });
}

doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr, uint32_t size)
{
    return call({devinfo, mac_addr}, [&] {
        return copy_address("MAC address", *devinfo, &DeviceFunction::mac, mac_addr, size, DOCA_ERROR_NOT_SUPPORTED);
    });
}

doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name, uint32_t size)
{
    return call({devinfo, iface_name}, [&] {
        // The buffer must have space for the longest name, as the public header states: a shorter one is refused.
        return copy_text("an interface name", devinfo->function->iface_name, iface_name, size,
                         DOCA_DEVINFO_IFACE_NAME_SIZE);
    });
}

doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name, uint32_t size)
{
    return call({devinfo, ibdev_name}, [&] {
        return copy_text("an IB device name", devinfo->function->ibdev_name, ibdev_name, size,
                         DOCA_DEVINFO_IBDEV_NAME_SIZE);
    });
}

doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid)
{
    return call({devinfo, lid}, [&] {
        return copy_number("LID: its port is not an InfiniBand one", *devinfo, devinfo->function->lid, *lid);
    });
}

doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo, uint64_t *active_rate)
{
    return call({devinfo, active_rate}, [&] {
        return copy_number("rate: its port is down, or its topology states none", *devinfo,
                           devinfo->function->active_rate, *active_rate);
    });
}

doca_error_t doca_devinfo_get_vhca_id(const struct doca_devinfo *devinfo, uint16_t *vhca_id)
{
    return call({devinfo, vhca_id}, [&] {
        return copy_number("VHCA id: it is neither an mlx5 device nor a software device", *devinfo,
                           devinfo->function->vhca_id, *vhca_id);
    });
}

doca_error_t doca_devinfo_get_pci_func_type(const struct doca_devinfo *devinfo, enum doca_pci_func_type *pci_func_type)
{
    return call({devinfo, pci_func_type}, [&] { *pci_func_type = type_of(devinfo->function->type); });
}

doca_error_t doca_devinfo_get_sf_index(const struct doca_devinfo *devinfo, uint32_t *sf_index)
{
    return call({devinfo, sf_index}, [&] {
        return copy_number("SF index: it is no SF, or the kernel reports none", *devinfo, devinfo->function->sf_number,
                           *sf_index);
    });
}

doca_error_t doca_devinfo_cap_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
                                                           uint8_t *is_hotplug_manager)
{
    return report(devinfo, &Capabilities::hotplug_manager, is_hotplug_manager);
}

doca_error_t doca_devinfo_cap_is_notification_moderation_supported(const struct doca_devinfo *devinfo,
                                                                   uint8_t *is_notification_moderation_supported)
{
    // No device here has this feature; the query itself is supported and answers 0.
    return call({devinfo, is_notification_moderation_supported}, [&] { *is_notification_moderation_supported = 0; });
}

doca_error_t doca_devinfo_cap_is_accelerate_resource_reclaim_supported(const struct doca_devinfo *devinfo,
                                                                       uint8_t *is_accelerate_resource_reclaim)
{
    return call({devinfo, is_accelerate_resource_reclaim}, [&] { *is_accelerate_resource_reclaim = 0; });
}

doca_error_t doca_devinfo_rep_cap_is_filter_all_supported(const struct doca_devinfo *devinfo,
                                                          uint8_t *filter_all_supported)
{
    return report_filter(devinfo, filter_all_supported, [](const Capabilities &) { return true; });
}

doca_error_t doca_devinfo_rep_cap_is_filter_net_supported(const struct doca_devinfo *devinfo,
                                                          uint8_t *filter_net_supported)
{
    return report_filter(devinfo, filter_net_supported, [](const Capabilities &can) { return can.representors_net; });
}

doca_error_t doca_devinfo_rep_cap_is_filter_emulated_supported(const struct doca_devinfo *devinfo,
                                                               uint8_t *filter_emulated_supported)
{
    return report_filter(devinfo, filter_emulated_supported,
                         [](const Capabilities &can) { return can.representors_emulated; });
}

doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid, uint32_t size)
{
    return call({devinfo_rep, rep_vuid}, [&] {
        return copy_if_known("VUID", *devinfo_rep, devinfo_rep->info.vuid, rep_vuid, size, DOCA_DEVINFO_REP_VUID_SIZE);
    });
}

doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str)
{
    return call({devinfo_rep, pci_addr_str}, [&] {
        const opendoca::RepresentorInfo &info = devinfo_rep->info;
        return copy_pci_address(info.name, info.pci_address, pci_addr_str, DOCA_ERROR_NOT_SUPPORTED);
    });
}

doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
                                                enum doca_pci_func_type *pci_func_type)
{
    return call({devinfo_rep, pci_func_type}, [&] { *pci_func_type = type_of(devinfo_rep->info.type); });
}

doca_error_t doca_devinfo_rep_get_is_hotplug(const struct doca_devinfo_rep *devinfo_rep, uint8_t *is_hotplug)
{
    return call({devinfo_rep, is_hotplug}, [&] { *is_hotplug = 0; });
}

doca_error_t doca_devinfo_rep_get_iface_name(const struct doca_devinfo_rep *devinfo_rep, char *iface_name,
                                             uint32_t size)
{
    return call({devinfo_rep, iface_name}, [&] {
        return copy_if_known("interface name", *devinfo_rep, devinfo_rep->info.iface_name, iface_name, size,
                             DOCA_DEVINFO_IFACE_NAME_SIZE);
    });
}

doca_error_t doca_devinfo_rep_get_vhca_id(const struct doca_devinfo_rep *devinfo_rep, uint16_t *vhca_id)
{
    return call({devinfo_rep, vhca_id}, [&] {
        return copy_number("VHCA id that the device reports", *devinfo_rep, devinfo_rep->info.vhca_id, *vhca_id);
    });
}

doca_error_t doca_devinfo_rep_is_equal_pci_addr(const struct doca_devinfo_rep *devinfo_rep, const char *pci_addr_str,
                                                uint8_t *is_equal)
{
    return call({devinfo_rep, pci_addr_str, is_equal},
                [&] { return compare_pci_address(*devinfo_rep, pci_addr_str, *is_equal); });
}
