// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_session.hpp"

#include <stdexcept>

namespace opendoca::tools {

namespace {

constexpr std::size_t num_bufs = 4096; ///< more than any benchmark uses at once: two for each job in flight

/// Returns whether a device has a capability that the API stores as a byte.
template <auto get>
bool has(const doca_devinfo &info)
{
    std::uint8_t value = 0;
    return get(&info, &value) == DOCA_SUCCESS && value != 0;
}

/// Returns the named device, or the first one that supports DMA and import. A device with DMA only is good enough for
/// cases within this process.
doca_devinfo &choose(const DeviceList &devices, const std::string &ibdev)
{
    doca_devinfo *second_best = nullptr;
    std::string known;
    for (doca_devinfo *const info : devices.infos()) {
        if (!api::can_copy(*info))
            continue;
        known += ' ' + ibdev_of(*info);
        if (!ibdev.empty() ? ibdev_of(*info) == ibdev : has<api::can_import_pci>(*info))
            return *info;
        if (ibdev.empty() && second_best == nullptr)
            second_best = info;
    }
    if (second_best != nullptr)
        return *second_best;
    throw std::runtime_error(known.empty() ? "no device here can do DMA"
                                           : "no device '" + ibdev + "' can do DMA here; these can:" + known);
}

} // namespace

DmaSession::DmaSession(const std::string &ibdev) : inventory_(start_inventory(num_bufs))
{
    const DeviceList devices;
    doca_devinfo &info = choose(devices, ibdev);
    ibdev_ = ibdev_of(info);
    must(api::max_copy_size(&info, &max_size_), "a device's limits");
    dev_ = open_device(info);
}

DmaSession::~DmaSession() = default;

std::optional<std::string> DmaSession::find_exporter() const
{
    // A port of a DPU imports from the host functions that it has representors for.
    const doca_devinfo &own = *doca_dev_as_devinfo(dev_.get());
    if (!has<api::can_import_pci>(own) || !has<api::can_list_net>(own))
        return std::nullopt;
    const DeviceList devices;
    const RepresentorList representors(*dev_, api::rep_net);
    for (const doca_devinfo_rep *const rep : representors.infos()) {
        char address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = {};
        if (api::rep_pci_address(rep, address) != DOCA_SUCCESS)
            continue;
        for (doca_devinfo *const info : devices.infos()) {
            std::uint8_t is_equal = 0;
            if (has<api::can_export_pci>(*info) && api::has_pci_address(info, address, &is_equal) == DOCA_SUCCESS &&
                is_equal != 0)
                return ibdev_of(*info);
        }
    }
    return std::nullopt;
}

MmapHandle DmaSession::map(std::span<std::byte> memory) const
{
    return start_map(dev_.get(), memory, api::local_rights);
}

MmapHandle DmaSession::import(std::span<const std::byte> descriptor) const
{
    doca_mmap *map = nullptr;
    must(doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev_.get(), &map),
         "importing memory");
    return MmapHandle(map);
}

doca_buf *DmaSession::take_buf(doca_mmap *map, std::byte *addr, std::size_t size) const
{
    doca_buf *buf = nullptr;
    must(api::take_buf(inventory_.get(), map, addr, size, 0, &buf), "taking a buffer");
    return buf;
}

} // namespace opendoca::tools
