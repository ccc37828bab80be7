// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Properties and capabilities of devices and representors.
#include <algorithm>
#include <cstring>

#include <doca_dev.h>

#include "../dev.hpp"
#include "../log.hpp"
#include "../pci_address.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_DEVINFO);

using opendoca::Capabilities;
using opendoca::DeviceFunction;
using opendoca::v2::call;

namespace {

doca_error_t copy_pci_address(const std::string &name, const std::string &address, char *out,
                              doca_error_t if_none)
{
    if (address.empty()) {
        LOG_INFO("device %s is not on a PCI bus", name.c_str());
        return if_none;
    }
    std::memcpy(out, address.c_str(), address.size() + 1);
    return DOCA_SUCCESS;
}

/// @p Info is the description of a device or of a representor.
template <typename Info>
doca_error_t compare_pci_address(const Info &info, const char *text, uint8_t *is_equal)
{
    const auto wanted = opendoca::normalize_pci_address(text);
    if (!wanted) {
        LOG_ERR("'%.32s' is not a PCI address of the form dddd:bb:dd.f or bb:dd.f", text);
        return DOCA_ERROR_INVALID_VALUE;
    }
    const bool is_match = info.answers_to(*wanted);
    if (info.search != nullptr)
        info.search->note(*wanted, is_match);
    *is_equal = is_match;
    return DOCA_SUCCESS;
}

doca_error_t check_size(const char *what, std::uint32_t size, std::uint32_t needed)
{
    if (size < needed) {
        LOG_ERR("%s takes %u bytes, the buffer has %u", what, needed, size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

/// Copies a string into a buffer that must have room for any string of the property, which is all that is
/// cleared: programs have given larger sizes than their buffers have.
doca_error_t copy_text(const char *what, const std::string &text, char *out, uint32_t size, uint32_t needed)
{
    if (const doca_error_t status = check_size(what, size, needed); status != DOCA_SUCCESS)
        return status;
    const std::size_t length = std::min<std::size_t>(text.size(), needed - 1);
    std::memcpy(out, text.data(), length);
    std::memset(out + length, 0, needed - length);
    return DOCA_SUCCESS;
}

template <typename Address>
doca_error_t copy_address(const char *what, const doca_devinfo *devinfo, Address DeviceFunction::*member,
                          uint8_t *out, uint32_t size, doca_error_t if_none)
{
    return call({devinfo, out}, [&] {
        const Address &address = (*devinfo->function).*member;
        constexpr auto needed = std::tuple_size_v<typename Address::value_type>;
        if (const doca_error_t status = check_size(what, size, needed); status != DOCA_SUCCESS)
            return status;
        if (!address) {
            LOG_INFO("device %s has no %s", devinfo->function->name.c_str(), what);
            return if_none;
        }
        std::ranges::copy(*address, out);
        return DOCA_SUCCESS;
    });
}

doca_error_t report(const doca_devinfo *devinfo, bool Capabilities::*capability, uint8_t *out)
{
    return call({devinfo, out}, [&] { *out = devinfo->function->can.*capability; });
}

} // namespace

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
                [&] { return compare_pci_address(*devinfo, pci_addr_str, is_equal); });
}

doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr, uint32_t size)
{
    return copy_address("IPv4 address", devinfo, &DeviceFunction::ipv4, ipv4_addr, size,
                        DOCA_ERROR_OPERATING_SYSTEM);
}

doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr, uint32_t size)
{
    return copy_address("IPv6 address", devinfo, &DeviceFunction::ipv6, ipv6_addr, size,
                        DOCA_ERROR_OPERATING_SYSTEM);
}

doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr, uint32_t size)
{
    return copy_address("MAC address", devinfo, &DeviceFunction::mac, mac_addr, size,
                        DOCA_ERROR_NOT_SUPPORTED);
}

doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name, uint32_t size)
{
    return call({devinfo, iface_name}, [&] {
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
        if (!devinfo->function->lid) {
            LOG_ERR("device %s has no LID: its port is not an InfiniBand one",
                    devinfo->function->name.c_str());
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        *lid = *devinfo->function->lid;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_devinfo_get_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
                                                           uint8_t *is_hotplug_manager)
{
    return report(devinfo, &Capabilities::hotplug_manager, is_hotplug_manager);
}

doca_error_t doca_devinfo_get_is_mmap_export_dpu_supported(const struct doca_devinfo *devinfo,
                                                           uint8_t *mmap_export)
{
    return call({devinfo, mmap_export}, [&] { *mmap_export = devinfo->function->can_export_dpu(); });
}

doca_error_t doca_devinfo_get_is_mmap_from_export_dpu_supported(const struct doca_devinfo *devinfo,
                                                                uint8_t *from_export)
{
    return call({devinfo, from_export}, [&] { *from_export = devinfo->function->can_import_dpu(); });
}

doca_error_t doca_devinfo_rep_get_is_list_all_supported(const struct doca_devinfo *devinfo,
                                                        uint8_t *all_supported)
{
    return call({devinfo, all_supported}, [&] {
        const Capabilities &can = devinfo->function->can;
        *all_supported = can.representors_net || can.representors_emulated;
    });
}

doca_error_t doca_devinfo_rep_get_is_list_net_supported(const struct doca_devinfo *devinfo,
                                                        uint8_t *net_supported)
{
    return report(devinfo, &Capabilities::representors_net, net_supported);
}

doca_error_t doca_devinfo_rep_get_is_list_emulated_supported(const struct doca_devinfo *devinfo,
                                                             uint8_t *emulated_supported)
{
    return report(devinfo, &Capabilities::representors_emulated, emulated_supported);
}

doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid,
                                       uint32_t size)
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
    return call({devinfo_rep, pci_func_type}, [&] { *pci_func_type = static_cast<doca_pci_func_type>(devinfo_rep->info.type); });
}

doca_error_t doca_devinfo_rep_get_is_pci_addr_equal(const struct doca_devinfo_rep *devinfo_rep,
                                                    const char *pci_addr_str, uint8_t *is_equal)
{
    return call({devinfo_rep, pci_addr_str, is_equal},
                [&] { return compare_pci_address(*devinfo_rep, pci_addr_str, is_equal); });
}
