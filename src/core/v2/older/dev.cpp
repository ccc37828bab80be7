// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Devices and representors for programs that read a PCI address and compare it themselves.
#include "../../objects/dev.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "../../log/log.hpp"
#include "../../objects/dev_list.hpp"
#include "../call.hpp"
#include "symbols.hpp"

OPENDOCA_LOG_SOURCE(DOCA_OLDER_DEV);

using opendoca::Shown;
using opendoca::v2::call;

namespace {

// Values of the older headers.
enum DeviceProperty : unsigned { pci_addr, ipv4_addr, ipv6_addr, iface_name, ibdev_name, vuid };
enum RepresentorProperty : unsigned { rep_pci_addr, rep_vuid, rep_pci_func_type };

constexpr int emulated_filters = 4 | 8 | 16 | 32; // VIRTIO_FS, VIRTIO_NET, VIRTIO_BLK, NVME

/// Packs a PCI address as struct doca_pci_bdf has it, from the lowest bit on: 8 bits of the bus, 5 of the device, 3 of
/// the function.
std::uint16_t to_bdf(const std::string &address)
{
    const auto number = [&](std::size_t at, std::size_t digits) {
        return std::stoul(address.substr(at, digits), nullptr, 16);
    };
    // dddd:bb:dd.f
    return static_cast<std::uint16_t>(number(5, 2) | number(8, 2) << 8 | number(11, 1) << 13);
}

doca_error_t give_bdf(const std::string &name, const std::string &address, std::uint16_t &bdf, doca_error_t if_none)
{
    // Not an error: programs query each device.
    if (address.empty()) {
        LOG_INFO("device %s is not on a PCI bus", name.c_str());
        return if_none;
    }
    bdf = to_bdf(address);
    return DOCA_SUCCESS;
}

doca_error_t refuse_property(const char *of, unsigned property)
{
    LOG_ERR("a %s has no property %u", of, property);
    return DOCA_ERROR_INVALID_VALUE;
}

/// Calls @p get with a value of type @p Value, and copies that to the program's bytes.
template <typename Value, typename Get>
doca_error_t give_bytes(uint8_t *out, std::uint32_t size, Get &&get)
{
    // A larger buffer is allowed, and its rest is not written.
    if (size < sizeof(Value)) {
        LOG_ERR("the property takes %zu bytes, the buffer has %u", sizeof(Value), size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    Value value{};
    const doca_error_t status = get(&value);
    if (status == DOCA_SUCCESS)
        std::memcpy(out, &value, sizeof(value));
    return status;
}

} // namespace

doca_error_t opendoca_devinfo_list_create_1_3(struct doca_devinfo ***dev_list, uint32_t *nb_devs)
{
    // each_address: one entry for each PCI address, as programs search for theirs.
    return call({dev_list, nb_devs}, [&] { return opendoca::list_devices(*dev_list, *nb_devs, Shown::each_address); });
}

doca_error_t opendoca_devinfo_rep_list_create_1_3(struct doca_dev *dev, int filter,
                                                  struct doca_devinfo_rep ***dev_list_rep, uint32_t *nb_devs_rep)
{
    return call({dev, dev_list_rep, nb_devs_rep}, [&] {
        if ((filter & emulated_filters) != 0) {
            LOG_ERR("device %s has no representors for the filter 0x%x", dev->description().c_str(),
                    static_cast<unsigned>(filter));
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        return opendoca::list_representors(*dev, filter, *dev_list_rep, *nb_devs_rep, Shown::each_address);
    });
}

doca_error_t opendoca_devinfo_get_pci_addr_1_5(const struct doca_devinfo *devinfo, uint16_t *bdf)
{
    return call({devinfo, bdf}, [&] {
        return give_bdf(devinfo->function->name, devinfo->pci_address(), *bdf, DOCA_ERROR_OPERATING_SYSTEM);
    });
}

doca_error_t opendoca_devinfo_rep_get_pci_addr_1_5(const struct doca_devinfo_rep *devinfo_rep, uint16_t *bdf)
{
    return call({devinfo_rep, bdf}, [&] {
        return give_bdf(devinfo_rep->info.name, devinfo_rep->pci_address(), *bdf, DOCA_ERROR_NOT_SUPPORTED);
    });
}

doca_error_t opendoca_devinfo_property_get_1_3(const struct doca_devinfo *devinfo, unsigned property, uint8_t *value,
                                               uint32_t size)
{
    if (devinfo == nullptr || value == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    switch (property) {
    case pci_addr:
        return give_bytes<std::uint16_t>(
            value, size, [&](std::uint16_t *bdf) { return opendoca_devinfo_get_pci_addr_1_5(devinfo, bdf); });
    case ipv4_addr:
        return doca_devinfo_get_ipv4_addr(devinfo, value, size);
    case ipv6_addr:
        return doca_devinfo_get_ipv6_addr(devinfo, value, size);
    case iface_name:
        return doca_devinfo_get_iface_name(devinfo, reinterpret_cast<char *>(value), size);
    case ibdev_name:
        return doca_devinfo_get_ibdev_name(devinfo, reinterpret_cast<char *>(value), size);
    case vuid:
        return give_bytes<std::array<char, opendoca::max_vuid>>(value, size, [&](auto *text) {
            const std::string &known = devinfo->function->vuid;
            if (known.empty()) {
                LOG_INFO("device %s has no VUID", devinfo->function->name.c_str());
                return DOCA_ERROR_NOT_SUPPORTED;
            }
            known.copy(text->data(), text->size() - 1);
            return DOCA_SUCCESS;
        });
    default:
        return refuse_property("device", property);
    }
}

doca_error_t opendoca_devinfo_rep_property_get_1_3(const struct doca_devinfo_rep *devinfo_rep, unsigned property,
                                                   uint8_t *value, uint32_t size)
{
    if (devinfo_rep == nullptr || value == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    switch (property) {
    case rep_pci_addr:
        return give_bytes<std::uint16_t>(
            value, size, [&](std::uint16_t *bdf) { return opendoca_devinfo_rep_get_pci_addr_1_5(devinfo_rep, bdf); });
    case rep_vuid:
        return doca_devinfo_rep_get_vuid(devinfo_rep, reinterpret_cast<char *>(value), size);
    case rep_pci_func_type:
        return give_bytes<doca_pci_func_type>(value, size, [&](doca_pci_func_type *type) {
            return doca_devinfo_rep_get_pci_func_type(devinfo_rep, type);
        });
    default:
        return refuse_property("representor", property);
    }
}

doca_error_t opendoca_devinfo_get_is_mmap_export_supported_1_5(const struct doca_devinfo *devinfo, uint8_t *mmap_export)
{
    return call({devinfo, mmap_export}, [&] { *mmap_export = devinfo->function->can_export_dpu(); });
}

doca_error_t opendoca_devinfo_get_is_mmap_from_export_supported_1_5(const struct doca_devinfo *devinfo,
                                                                    uint8_t *from_export)
{
    return call({devinfo, from_export}, [&] { *from_export = devinfo->function->can_import_dpu(); });
}
