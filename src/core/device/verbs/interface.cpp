// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "interface.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>

#include "../../pci_address.hpp"
#include "gid_table.hpp"

namespace opendoca::verbs {

namespace fs = std::filesystem;

Place place_of(const std::string &ibdev_path)
{
    Place place;
    std::error_code error;
    fs::path device = fs::canonical(ibdev_path + "/device", error);
    if (error)
        return place; // of a virtual interface, or of none
    if (device.filename().string().starts_with("mlx5_core.sf.")) {
        place.type = DOCA_PCI_FUNC_SF;
        device = device.parent_path();
    } else if (fs::exists(device / "physfn", error)) {
        place.type = DOCA_PCI_FUNC_VF;
    }
    place.pci_address = normalize_pci_address(device.filename().string()).value_or("");
    return place;
}

std::string interface_of(ibv_context &context, std::uint32_t port)
{
    char name[IF_NAMESIZE] = {};
    for (const ibv_gid_entry &entry : gids_of(context, port)) {
        if (entry.ndev_ifindex != 0 && if_indextoname(entry.ndev_ifindex, name) != nullptr)
            return name;
    }
    // A port without GIDs, because its interface is down: the one of its device with the port's number.
    std::error_code error;
    for (const auto &entry :
         fs::directory_iterator(std::string(context.device->ibdev_path) + "/device/net", error)) {
        std::uint32_t number = 0;
        std::ifstream(entry.path() / "dev_port") >> number;
        if (number == port - 1)
            return entry.path().filename();
    }
    return {};
}

Addresses addresses_of(const std::string &interface)
{
    Addresses found;
    ifaddrs *list = nullptr;
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
            if (link.sll_halen == DOCA_DEVINFO_MAC_ADDR_SIZE)
                std::memcpy(found.mac.emplace().data(), link.sll_addr, DOCA_DEVINFO_MAC_ADDR_SIZE);
            break;
        }
        case AF_INET:
            if (!found.ipv4)
                std::memcpy(found.ipv4.emplace().data(),
                            &reinterpret_cast<const sockaddr_in *>(entry->ifa_addr)->sin_addr,
                            DOCA_DEVINFO_IPV4_ADDR_SIZE);
            break;
        case AF_INET6: {
            const in6_addr &address = reinterpret_cast<const sockaddr_in6 *>(entry->ifa_addr)->sin6_addr;
            if (!found.ipv6 || (!is_global && !IN6_IS_ADDR_LINKLOCAL(&address))) {
                std::memcpy(found.ipv6.emplace().data(), &address, DOCA_DEVINFO_IPV6_ADDR_SIZE);
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
