// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "services_at.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

namespace opendoca {

namespace {

constexpr std::string_view interface = "tmfifo_net0"; ///< the network interface across the PCIe, on both sides
/// The addresses in NVIDIA's documentation: the host's end is 192.168.100.1, the DPU's end 192.168.100.2.
constexpr std::uint8_t host_end = 1, dpu_end = 2;

/// Returns the interface's IPv4 address in host byte order, or 0.
std::uint32_t address_of_interface()
{
    ifaddrs *list = nullptr;
    if (getifaddrs(&list) != 0)
        return 0;
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
    for (const ifaddrs *entry = list; entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_name == interface && entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET)
            return ntohl(reinterpret_cast<const sockaddr_in *>(entry->ifa_addr)->sin_addr.s_addr);
    }
    return 0;
}

/// Returns what the environment says of the way that messages take; empty if it says nothing.
std::string_view path_of_data()
{
    const char *const text = std::getenv("DOCA_COMM_CHANNEL_DATA");
    return text != nullptr ? text : "";
}

} // namespace

std::string services_by_environment()
{
    const char *const text = std::getenv("DOCA_COMM_CHANNEL_ADDRESS");
    return text != nullptr ? text : "";
}

bool may_send_by_queue_pairs()
{
    const std::string_view path = path_of_data();
    return path != "tcp" && path != "stream";
}

bool do_queue_pairs_reach_peers()
{
    return path_of_data() != "stream";
}

std::string services_across_pcie(bool is_dpu)
{
    if (std::string given = services_by_environment(); !given.empty())
        return given;
    std::uint32_t address = address_of_interface();
    if (!is_dpu && (address & 0xff) == host_end)
        address += dpu_end - host_end;
    else if (!is_dpu)
        address = 0; // on a host with several DPUs, the address of the DPU cannot be derived
    char text[INET_ADDRSTRLEN] = {};
    const in_addr number = {htonl(address)};
    return address != 0 && inet_ntop(AF_INET, &number, text, sizeof(text)) != nullptr ? text : "";
}

} // namespace opendoca
