// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "devices.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>

#include <arpa/inet.h>

#include "../common/doca.hpp"
#include "../common/files.hpp"
// Internal headers of the library: the public API reports neither the provider nor, for devices, the function's type.
#include "core/objects/dev.hpp"

namespace opendoca::tools {

namespace {

const char *name_of_type(doca_pci_func_type type)
{
    switch (type) {
    case api::type_pf:
        return "PF";
    case api::type_vf:
        return "VF";
    case api::type_sf:
        return "SF";
    }
    return "?";
}

/// Calls a getter that stores text in a buffer of @p size bytes; nothing if it fails or the text is empty.
template <auto get, std::size_t size>
std::optional<std::string> text_of(const doca_devinfo &info)
{
    char text[size] = {};
    if (get(&info, text, size) != DOCA_SUCCESS || text[0] == '\0')
        return std::nullopt;
    return text;
}

std::optional<std::string> mac_of(const doca_devinfo &info)
{
    std::uint8_t m[DOCA_DEVINFO_MAC_ADDR_SIZE];
    if (doca_devinfo_get_mac_addr(&info, m, sizeof(m)) != DOCA_SUCCESS)
        return std::nullopt;
    char text[3 * sizeof(m)];
    std::snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
    return text;
}

/// Calls a getter that stores an address of @p size bytes, and formats it; nothing if it fails.
template <auto get, std::size_t size>
std::optional<std::string> ip_of(const doca_devinfo &info, int family)
{
    std::uint8_t address[size];
    char text[INET6_ADDRSTRLEN];
    if (get(&info, address, size) != DOCA_SUCCESS || inet_ntop(family, address, text, sizeof(text)) == nullptr)
        return std::nullopt;
    return text;
}

/// Formats the GIDs that are not all zero, by their index.
std::map<std::uint32_t, std::string> gids_in(const std::vector<Gid> &table)
{
    std::map<std::uint32_t, std::string> gids;
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        char text[INET6_ADDRSTRLEN];
        if (std::ranges::any_of(table[i], [](std::uint8_t byte) { return byte != 0; }) &&
            inet_ntop(AF_INET6, table[i].data(), text, sizeof(text)) != nullptr)
            gids.emplace(i, text);
    }
    return gids;
}

/// Appends the representors of one kind. @p kind is the word that is printed: "net" or "emulated".
void add_representors(DeviceReport &report, doca_dev &dev, api::RepFilter filter, const char *kind)
{
    const RepresentorList list(dev, filter);
    for (doca_devinfo_rep *const info : list.infos()) {
        RepresentorReport rep;
        char pci_address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = {};
        if (doca_devinfo_rep_get_pci_addr_str(info, pci_address) == DOCA_SUCCESS)
            rep.pci_address = pci_address;
        doca_pci_func_type type{};
        if (doca_devinfo_rep_get_pci_func_type(info, &type) == DOCA_SUCCESS)
            rep.function_type = name_of_type(type);
        char vuid[DOCA_DEVINFO_REP_VUID_SIZE] = {};
        if (doca_devinfo_rep_get_vuid(info, vuid, sizeof(vuid)) == DOCA_SUCCESS)
            rep.vuid = vuid;
        rep.interface = info->info.iface_name; // only functions of 3.0 return these two
        rep.vhca_id = info->info.vhca_id;
        rep.kind = kind;
        report.representors.push_back(std::move(rep));
    }
}

/// Returns the driver's name in the lines of a device's uevent, such as "DRIVER=mlx5_core".
std::string driver_in(const std::vector<std::string> &uevent)
{
    for (const std::string &line : uevent) {
        if (line.starts_with("DRIVER="))
            return line.substr(line.find('=') + 1);
    }
    return "";
}

/// Returns "ACTIVE" for "4: ACTIVE", the format of port states in sysfs.
std::string without_number(const std::string &state)
{
    const auto colon = state.find(": ");
    return colon == std::string::npos ? state : state.substr(colon + 2);
}

/// Converts an active MTU, an enumeration with values that count powers of two from 256. A raw Ethernet port has none.
std::optional<std::uint64_t> bytes_of(doca_mtu_size mtu)
{
    if (mtu == DOCA_MTU_SIZE_RAW_ETHERNET)
        return std::nullopt;
    return std::uint64_t{256} << static_cast<unsigned>(mtu);
}

/// Reads what sysfs reports about a real device and its port.
HardwareReport report_hardware(const DeviceFunction &function)
{
    HardwareReport report;
    const std::string device = "/sys/class/infiniband/" + function.ibdev_name;
    report.firmware = first_line(device + "/fw_ver");
    report.board = first_line(device + "/board_id");
    // Soft-RoCE has neither a bus nor a bus driver; its file "parent" names the interface below.
    if (const std::string parent = first_line(device + "/parent"); !parent.empty())
        report.driver = "Soft-RoCE over " + parent;
    else
        report.driver = driver_in(lines_of(device + "/device/uevent"));
    // The function's name is "DEVICE/PORT" for every port but the first.
    const auto slash = function.name.rfind('/');
    const std::string port = device + "/ports/" + (slash == std::string::npos ? "1" : function.name.substr(slash + 1));
    report.rate = first_line(port + "/rate");
    report.state = without_number(first_line(port + "/state"));
    report.physical_state = without_number(first_line(port + "/phys_state"));
    if (!function.iface_name.empty())
        report.interface_mtu = number_in("/sys/class/net/" + function.iface_name + "/mtu");
    if (function.can.rdma.reliable_connection)
        report.rdma_mtu = bytes_of(function.can.rdma.active_mtu);
    return report;
}

/// Collects everything about one device. Values that the API can't answer stay empty.
DeviceReport report_device(doca_devinfo &info)
{
    DeviceReport report;
    char pci_address[DOCA_DEVINFO_PCI_ADDR_SIZE] = {};
    if (doca_devinfo_get_pci_addr_str(&info, pci_address) == DOCA_SUCCESS)
        report.pci_address = pci_address;
    report.ibdev = text_of<doca_devinfo_get_ibdev_name, DOCA_DEVINFO_IBDEV_NAME_SIZE>(info);
    report.interface = text_of<doca_devinfo_get_iface_name, DOCA_DEVINFO_IFACE_NAME_SIZE>(info);
    report.provider = info.function->provider;
    report.function_type = name_of_type(static_cast<doca_pci_func_type>(info.function->type));
    if (const auto &other = info.function->behind_port; other && info.function->can.representors_net)
        report.acts_as = other->pci_address;
    report.mac = mac_of(info);
    report.ipv4 = ip_of<doca_devinfo_get_ipv4_addr, DOCA_DEVINFO_IPV4_ADDR_SIZE>(info, AF_INET);
    report.ipv6 = ip_of<doca_devinfo_get_ipv6_addr, DOCA_DEVINFO_IPV6_ADDR_SIZE>(info, AF_INET6);
    std::uint16_t lid = 0;
    if (doca_devinfo_get_lid(&info, &lid) == DOCA_SUCCESS)
        report.lid = lid;
    report.link_layer = info.function->can.rdma.is_ethernet ? "Ethernet" : "InfiniBand";
    report.is_port_active = info.function->is_port_active;
    report.active_rate = info.function->active_rate;
    report.vhca_id = info.function->vhca_id;
    report.sf_number = info.function->sf_number;
    report.gids = gids_in(gid_table(info));
    report.remarks = info.function->remarks();
    if (!is_software(info))
        report.hardware = report_hardware(*info.function);
    for (std::size_t i = 0; i < capability_rows().size(); ++i) {
        const CapabilityRow &row = capability_rows()[i];
        report.capabilities.push_back(row.query(info));
        if (row.ability && is_lacking(report.capabilities.back()))
            report.lacks.push_back({row.key, full_title(i), info.function->reason_against(*row.ability)});
    }

    // Only an open device lists representors. A failure is reported with the device, and does not hide the others.
    std::uint8_t has_net = 0, has_emulated = 0;
    (void)api::can_list_net(&info, &has_net);
    (void)api::can_list_emulated(&info, &has_emulated);
    if (has_net == 0 && has_emulated == 0)
        return report;
    try {
        const DeviceHandle dev = open_device(info);
        if (has_net != 0)
            add_representors(report, *dev, api::rep_net, "net");
        if (has_emulated != 0)
            add_representors(report, *dev, api::rep_emulated, "emulated");
    } catch (const std::exception &error) {
        report.problem = error.what();
    }
    return report;
}

} // namespace

bool is_named(const DeviceReport &device, const std::string &name)
{
    if (device.ibdev == name || device.interface == name)
        return true;
    // The kernel prints PCI addresses in lower case; the domain 0000 may be omitted, as lspci does.
    std::string address = name;
    std::ranges::transform(address, address.begin(), [](unsigned char c) { return std::tolower(c); });
    return device.pci_address == address || device.pci_address == "0000:" + address;
}

const std::string &name_of(const DeviceReport &device)
{
    static const std::string none = "-";
    return device.ibdev ? *device.ibdev : device.pci_address ? *device.pci_address : none;
}

std::string full_title(std::size_t row)
{
    const auto rows = capability_rows();
    std::string title = rows[row].title;
    if (!title.starts_with("  "))
        // Combines the title of the nearest row above that is not indented with this detail: "DMA memcpy bytes of a
        // job".
        return title;
    while (std::string_view(rows[row].title).starts_with("  "))
        --row;
    return rows[row].title + title.substr(1);
}

std::vector<DeviceReport> report_devices()
{
    const DeviceList devices;
    std::vector<DeviceReport> reports;
    for (doca_devinfo *const info : devices.infos())
        reports.push_back(report_device(*info));
    return reports;
}

} // namespace opendoca::tools
