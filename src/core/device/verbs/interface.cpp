// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "interface.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>
#include <vector>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>

#include "../../base/pci_address.hpp"
#include "gid_table.hpp"

namespace opendoca::verbs {

namespace fs = std::filesystem;

namespace {

/// Returns whether @p interface is a representor: in switchdev mode they are listed beside the function's own
/// interface.
bool is_representor(const fs::path &interface)
{
    std::string name; // "p0" for a port; "pf0vf1", "pf0sf1" or "c1pf0" for a representor
    std::ifstream(interface / "phys_port_name") >> name;
    return name.find("pf") != std::string::npos;
}

} // namespace

PciFunction pci_function_of(const std::string &path)
{
    PciFunction function;
    std::error_code error;
    // The directory of a subfunction, or of a virtio device, is below that of its PCI function.
    for (fs::path device = fs::canonical(path + "/device", error); !error && device.has_relative_path();
         device = device.parent_path()) {
        if (device.filename().string().starts_with("mlx5_core.sf.")) {
            function.type = FunctionType::sf;
            if (std::uint32_t number = 0; std::ifstream(device / "sfnum") >> number)
                function.sf_number = number;
        }
        const auto address = normalize_pci_address(device.filename().string());
        if (!address)
            continue;
        // The nearest PCI function above the device; directories above it are bridges.
        function.pci_address = *address;
        // Only a VF has a link to its PF.
        if (function.type == FunctionType::pf && fs::is_symlink(device / "physfn", error))
            function.type = FunctionType::vf;
        break;
    }
    return function;
}

std::string interface_of(ibv_context &context, std::uint32_t port)
{
    // The first GIDs are those of the port's own interface; those of VLANs follow.
    std::vector<ibv_gid_entry> entries = gids_of(context, port);
    std::ranges::sort(entries, {}, &ibv_gid_entry::gid_index);
    char name[IF_NAMESIZE] = {};
    for (const ibv_gid_entry &entry : entries) {
        if (entry.ndev_ifindex != 0 && if_indextoname(entry.ndev_ifindex, name) != nullptr)
            return name;
    }
    return interface_in(context.device->ibdev_path, port);
}

std::string interface_in(const std::string &ibdev_path, std::uint32_t port)
{
    std::string found;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(ibdev_path + "/device/net", error)) {
        std::uint32_t number = 0;
        std::ifstream(entry.path() / "dev_port") >> number;
        const std::string name = entry.path().filename();
        // Takes the first name in alphabetical order: ib0 rather than ib0.8001.
        if (number == port - 1 && !is_representor(entry.path()) && (found.empty() || name < found))
            found = name;
    }
    return found;
}

Addresses addresses_of(const std::string &interface)
{
    Addresses found;
    ifaddrs *list = nullptr;
    // The interface may have vanished since it was found; it then has no entry in the list.
    if (interface.empty() || getifaddrs(&list) != 0)
        return found;
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
    bool is_global = false;
    for (const ifaddrs *entry = list; entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_addr == nullptr || interface != entry->ifa_name)
            continue;
        switch (entry->ifa_addr->sa_family) {
        case AF_PACKET: {
            const auto &link = *reinterpret_cast<const sockaddr_ll *>(entry->ifa_addr);
            if (link.sll_halen == sizeof(MacAddress))
                std::memcpy(found.mac.emplace().data(), link.sll_addr, sizeof(MacAddress));
            break;
        }
        case AF_INET:
            // The first IPv4 address is the primary one.
            if (!found.ipv4)
                std::memcpy(found.ipv4.emplace().data(),
                            &reinterpret_cast<const sockaddr_in *>(entry->ifa_addr)->sin_addr, sizeof(Ipv4Address));
            break;
        case AF_INET6: {
            const in6_addr &address = reinterpret_cast<const sockaddr_in6 *>(entry->ifa_addr)->sin6_addr;
            // A global address replaces a link-local one, which other links cannot reach.
            if (!found.ipv6 || (!is_global && !IN6_IS_ADDR_LINKLOCAL(&address))) {
                std::memcpy(found.ipv6.emplace().data(), &address, sizeof(Ipv6Address));
                is_global = !IN6_IS_ADDR_LINKLOCAL(&address);
            }
            break;
        }
        default:
            break;
        }
    }
    return found;
}

} // namespace opendoca::verbs
