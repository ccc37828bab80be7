// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Properties and capabilities of devices and representors.
#include <doca_dev.h>

#include "../objects/dev_properties.hpp"
#include "call.hpp"

using opendoca::Capabilities;
using opendoca::compare_pci_address;
using opendoca::copy_address;
using opendoca::copy_pci_address;
using opendoca::copy_text;
using opendoca::DeviceFunction;
using opendoca::report_none;
using opendoca::v2::call;

namespace {

/// Implements the queries of capabilities that are one bit.
doca_error_t report(const doca_devinfo *devinfo, bool Capabilities::*capability, uint8_t *out,
                    const char *function = __builtin_FUNCTION())
{
    return call(
        {devinfo, out}, [&] { *out = devinfo->function->can.*capability; }, function);
}

} // namespace

/// The codes for a property that a device lacks are DOCA's, and differ between properties.
doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str)
{
    return call({devinfo, pci_addr_str}, [&] {
        return copy_pci_address(devinfo->function->name, devinfo->pci_address(), pci_addr_str,
                                DOCA_ERROR_OPERATING_SYSTEM);
    });
}

doca_error_t doca_devinfo_get_is_pci_addr_equal(const struct doca_devinfo *devinfo, const char *pci_addr_str,
                                                uint8_t *is_equal)
{
    return call({devinfo, pci_addr_str, is_equal},
                [&] { return compare_pci_address(*devinfo, pci_addr_str, *is_equal); });
}

doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr, uint32_t size)
{
    return call({devinfo, ipv4_addr}, [&] {
        return copy_address("IPv4 address", *devinfo, &DeviceFunction::ipv4, ipv4_addr, size,
                            DOCA_ERROR_OPERATING_SYSTEM);
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
        if (!devinfo->function->lid)
            return report_none(*devinfo, "LID: its port is not an InfiniBand one", DOCA_ERROR_NOT_SUPPORTED);
        *lid = *devinfo->function->lid;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_devinfo_get_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
                                                           uint8_t *is_hotplug_manager)
{
    return report(devinfo, &Capabilities::hotplug_manager, is_hotplug_manager);
}

doca_error_t doca_devinfo_get_is_mmap_export_dpu_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export)
{
    // A virtual function: mlx5 devices find out by a trial.
    return call({devinfo, mmap_export}, [&] { *mmap_export = devinfo->function->can_export_dpu(); });
}

doca_error_t doca_devinfo_get_is_mmap_from_export_dpu_supported(const struct doca_devinfo *devinfo,
                                                                uint8_t *from_export)
{
    return call({devinfo, from_export}, [&] { *from_export = devinfo->function->can_import_dpu(); });
}

/// All: every representor that the device has, by any filter.
doca_error_t doca_devinfo_rep_get_is_list_all_supported(const struct doca_devinfo *devinfo, uint8_t *all_supported)
{
    return call({devinfo, all_supported}, [&] {
        const Capabilities &can = devinfo->function->can;
        *all_supported = can.representors_net || can.representors_emulated;
    });
}

doca_error_t doca_devinfo_rep_get_is_list_net_supported(const struct doca_devinfo *devinfo, uint8_t *net_supported)
{
    return report(devinfo, &Capabilities::representors_net, net_supported);
}

doca_error_t doca_devinfo_rep_get_is_list_emulated_supported(const struct doca_devinfo *devinfo,
                                                             uint8_t *emulated_supported)
{
    return report(devinfo, &Capabilities::representors_emulated, emulated_supported);
}

doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid, uint32_t size)
{
    return call({devinfo_rep, rep_vuid}, [&] {
        return copy_text("a VUID", devinfo_rep->info.vuid, rep_vuid, size, DOCA_DEVINFO_REP_VUID_SIZE);
    });
}

doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str)
{
    return call({devinfo_rep, pci_addr_str}, [&] {
        return copy_pci_address(devinfo_rep->info.name, devinfo_rep->pci_address(), pci_addr_str,
                                DOCA_ERROR_NOT_SUPPORTED);
    });
}

doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
                                                enum doca_pci_func_type *pci_func_type)
{
    return call({devinfo_rep, pci_func_type},
                [&] { *pci_func_type = static_cast<doca_pci_func_type>(devinfo_rep->info.type); });
}

doca_error_t doca_devinfo_rep_get_is_pci_addr_equal(const struct doca_devinfo_rep *devinfo_rep,
                                                    const char *pci_addr_str, uint8_t *is_equal)
{
    return call({devinfo_rep, pci_addr_str, is_equal},
                [&] { return compare_pci_address(*devinfo_rep, pci_addr_str, *is_equal); });
}
