// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Properties and capabilities of devices and representors.
#include <algorithm>
#include <cstring>

#include <doca_log.h>

#include "dev.hpp"
#include "guard.hpp"
#include "pci_address.hpp"

DOCA_LOG_REGISTER(DOCA_DEVINFO);

using opendoca::guarded;

namespace {

doca_error_t copy_pci_address(const std::string &name, const std::string &address, char *out,
                              doca_error_t if_none)
{
    if (address.empty()) {
        DOCA_LOG_INFO("device %s is not on a PCI bus", name.c_str());
        return if_none;
    }
    std::memcpy(out, address.c_str(), address.size() + 1);
    return DOCA_SUCCESS;
}

/// @p Info is the description of a device or of a representor.
template <typename Info>
doca_error_t compare_pci_address(const Info &info, const char *text, uint8_t *is_equal)
{
    return guarded([&] {
        const auto wanted = opendoca::normalize_pci_address(text);
        if (!wanted) {
            DOCA_LOG_ERR("'%.32s' is not a PCI address of the form dddd:bb:dd.f or bb:dd.f", text);
            return DOCA_ERROR_INVALID_VALUE;
        }
        const bool is_match = info.answers_to(*wanted);
        if (info.search != nullptr)
            info.search->note(*wanted, is_match);
        *is_equal = is_match;
        return DOCA_SUCCESS;
    });
}

bool is_among(const std::string &wanted, const std::string &address, const std::vector<std::string> &also)
{
    return wanted == address || std::ranges::find(also, wanted) != also.end();
}

doca_error_t check_size(const char *what, std::uint32_t size, std::uint32_t needed)
{
    if (size < needed) {
        DOCA_LOG_ERR("%s takes %u bytes, the buffer has %u", what, needed, size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

/// Copies a string into a buffer that must have room for any string of the property.
doca_error_t copy_text(const char *what, const std::string &text, char *out, uint32_t size, uint32_t needed)
{
    if (out == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (const doca_error_t status = check_size(what, size, needed); status != DOCA_SUCCESS)
        return status;
    const std::size_t length = std::min<std::size_t>(text.size(), needed - 1);
    std::memcpy(out, text.data(), length);
    std::memset(out + length, 0, size - length);
    return DOCA_SUCCESS;
}

template <typename Address>
doca_error_t copy_address(const char *what, const doca_devinfo *devinfo,
                          Address opendoca::DeviceFunction::*member, uint8_t *out, uint32_t size,
                          doca_error_t if_none)
{
    if (devinfo == nullptr || out == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    const Address &address = (*devinfo->function).*member;
    using Bytes = typename Address::value_type;
    if (const doca_error_t status = check_size(what, size, std::tuple_size_v<Bytes>); status != DOCA_SUCCESS)
        return status;
    if (!address) {
        DOCA_LOG_INFO("device %s has no %s", devinfo->function->name.c_str(), what);
        return if_none;
    }
    std::ranges::copy(*address, out);
    return DOCA_SUCCESS;
}

doca_error_t report(const doca_devinfo *devinfo, bool opendoca::Capabilities::*capability, uint8_t *out)
{
    if (devinfo == nullptr || out == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *out = devinfo->function->can.*capability;
    return DOCA_SUCCESS;
}

} // namespace

bool doca_devinfo::answers_to(const std::string &pci_address) const
{
    return is_among(pci_address, function->pci_address, function->also);
}

bool doca_devinfo_rep::answers_to(const std::string &pci_address) const
{
    return is_among(pci_address, info.pci_address, info.also);
}

doca_error_t doca_devinfo_get_pci_addr_str(const struct doca_devinfo *devinfo, char *pci_addr_str)
{
    if (devinfo == nullptr || pci_addr_str == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    const opendoca::DeviceFunction &function = *devinfo->function;
    return copy_pci_address(function.name, function.pci_address, pci_addr_str, DOCA_ERROR_OPERATING_SYSTEM);
}

doca_error_t doca_devinfo_get_is_pci_addr_equal(const struct doca_devinfo *devinfo, const char *pci_addr_str,
                                                uint8_t *is_equal)
{
    if (devinfo == nullptr || pci_addr_str == nullptr || is_equal == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return compare_pci_address(*devinfo, pci_addr_str, is_equal);
}

doca_error_t doca_devinfo_get_ipv4_addr(const struct doca_devinfo *devinfo, uint8_t *ipv4_addr, uint32_t size)
{
    return copy_address("IPv4 address", devinfo, &opendoca::DeviceFunction::ipv4, ipv4_addr, size,
                        DOCA_ERROR_OPERATING_SYSTEM);
}

doca_error_t doca_devinfo_get_ipv6_addr(const struct doca_devinfo *devinfo, uint8_t *ipv6_addr, uint32_t size)
{
    return copy_address("IPv6 address", devinfo, &opendoca::DeviceFunction::ipv6, ipv6_addr, size,
                        DOCA_ERROR_OPERATING_SYSTEM);
}

doca_error_t doca_devinfo_get_mac_addr(const struct doca_devinfo *devinfo, uint8_t *mac_addr, uint32_t size)
{
    return copy_address("MAC address", devinfo, &opendoca::DeviceFunction::mac, mac_addr, size,
                        DOCA_ERROR_NOT_SUPPORTED);
}

doca_error_t doca_devinfo_get_iface_name(const struct doca_devinfo *devinfo, char *iface_name, uint32_t size)
{
    if (devinfo == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return copy_text("an interface name", devinfo->function->iface_name, iface_name, size,
                     DOCA_DEVINFO_IFACE_NAME_SIZE);
}

doca_error_t doca_devinfo_get_ibdev_name(const struct doca_devinfo *devinfo, char *ibdev_name, uint32_t size)
{
    if (devinfo == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return copy_text("an IB device name", devinfo->function->ibdev_name, ibdev_name, size,
                     DOCA_DEVINFO_IBDEV_NAME_SIZE);
}

doca_error_t doca_devinfo_get_lid(const struct doca_devinfo *devinfo, uint16_t *lid)
{
    if (devinfo == nullptr || lid == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (!devinfo->function->lid) {
        DOCA_LOG_ERR("device %s has no LID: its port is not an InfiniBand one",
                     devinfo->function->name.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    *lid = *devinfo->function->lid;
    return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_get_is_hotplug_manager_supported(const struct doca_devinfo *devinfo,
                                                           uint8_t *is_hotplug_manager)
{
    return report(devinfo, &opendoca::Capabilities::hotplug_manager, is_hotplug_manager);
}

doca_error_t doca_devinfo_get_is_mmap_export_dpu_supported(const struct doca_devinfo *devinfo,
                                                           uint8_t *mmap_export)
{
    return report(devinfo, &opendoca::Capabilities::export_dpu, mmap_export);
}

doca_error_t doca_devinfo_get_is_mmap_from_export_dpu_supported(const struct doca_devinfo *devinfo,
                                                                uint8_t *from_export)
{
    return report(devinfo, &opendoca::Capabilities::from_export_dpu, from_export);
}

doca_error_t doca_devinfo_rep_get_is_list_all_supported(const struct doca_devinfo *devinfo,
                                                        uint8_t *all_supported)
{
    if (devinfo == nullptr || all_supported == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    const auto &can = devinfo->function->can;
    *all_supported = can.representors_net || can.representors_emulated;
    return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_is_list_net_supported(const struct doca_devinfo *devinfo,
                                                        uint8_t *net_supported)
{
    return report(devinfo, &opendoca::Capabilities::representors_net, net_supported);
}

doca_error_t doca_devinfo_rep_get_is_list_emulated_supported(const struct doca_devinfo *devinfo,
                                                             uint8_t *emulated_supported)
{
    return report(devinfo, &opendoca::Capabilities::representors_emulated, emulated_supported);
}

doca_error_t doca_devinfo_rep_get_vuid(const struct doca_devinfo_rep *devinfo_rep, char *rep_vuid,
                                       uint32_t size)
{
    if (devinfo_rep == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return copy_text("a VUID", devinfo_rep->info.vuid, rep_vuid, size, DOCA_DEVINFO_REP_VUID_SIZE);
}

doca_error_t doca_devinfo_rep_get_pci_addr_str(const struct doca_devinfo_rep *devinfo_rep, char *pci_addr_str)
{
    if (devinfo_rep == nullptr || pci_addr_str == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    const opendoca::RepresentorInfo &info = devinfo_rep->info;
    return copy_pci_address(info.name, info.pci_address, pci_addr_str, DOCA_ERROR_NOT_SUPPORTED);
}

doca_error_t doca_devinfo_rep_get_pci_func_type(const struct doca_devinfo_rep *devinfo_rep,
                                                enum doca_pci_func_type *pci_func_type)
{
    if (devinfo_rep == nullptr || pci_func_type == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *pci_func_type = devinfo_rep->info.type;
    return DOCA_SUCCESS;
}

doca_error_t doca_devinfo_rep_get_is_pci_addr_equal(const struct doca_devinfo_rep *devinfo_rep,
                                                    const char *pci_addr_str, uint8_t *is_equal)
{
    if (devinfo_rep == nullptr || pci_addr_str == nullptr || is_equal == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return compare_pci_address(*devinfo_rep, pci_addr_str, is_equal);
}
