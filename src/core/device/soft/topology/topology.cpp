// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "topology.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <arpa/inet.h>

#include "../../../base/json.hpp"
#include "../../../base/pci_address.hpp"
#include "../../../log/log.hpp"
#include "object_reader.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_TOPOLOGY);

namespace opendoca::soft {

namespace {

constexpr std::size_t max_functions = 250; ///< the last byte of default addresses is the function's number
constexpr std::size_t max_text_size = std::size_t{1} << 20; ///< bytes of a file
constexpr std::size_t max_addresses = 16;                   ///< further addresses of a function
constexpr std::size_t max_iface_name = 15;                  ///< characters; the kernel's limit
constexpr std::uint64_t default_rate = 100'000'000'000;     ///< bits per second
constexpr std::uint64_t max_rate = 10'000'000'000'000;

// The topology of the DOCA Core guide, section 3.2.1.2. The further addresses of pf0 are those by which other guides
// and shipped samples refer to the host's function.
constexpr const char *default_topology = R"({"functions": [
    {"name": "p0",     "side": "dpu",  "type": "pf", "pci": "03:00.0"},
    {"name": "p1",     "side": "dpu",  "type": "pf", "pci": "03:00.1"},
    {"name": "p0s0",   "side": "dpu",  "type": "sf", "parent": "p0"},
    {"name": "p1s0",   "side": "dpu",  "type": "sf", "parent": "p1"},
    {"name": "pf0",    "side": "host", "type": "pf", "pci": "0b:00.0", "parent": "p0",
     "also": ["01:00.0", "3b:00.0", "b1:00.0"]},
    {"name": "pf1",    "side": "host", "type": "pf", "pci": "0b:00.1", "parent": "p1"},
    {"name": "pf0vf0", "side": "host", "type": "vf", "pci": "0b:00.2", "parent": "p0"},
    {"name": "pf0vf1", "side": "host", "type": "vf", "pci": "0b:00.3", "parent": "p0"},
    {"name": "pf1vf0", "side": "host", "type": "vf", "pci": "0b:00.4", "parent": "p1"}
]})";

/// Returns the address in fe80::/64 with the interface identifier that is made of the MAC address.
std::array<std::uint8_t, 16> link_local(const std::array<std::uint8_t, 6> &mac)
{
    return {0xfe,   0x80,   0,    0,    0,      0,      0,     0, static_cast<std::uint8_t>(mac[0] ^ 2),
            mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
}

/// Reads the MAC and IP addresses. The defaults are derived from the function's position, so they are unique.
void read_addresses(ObjectReader &reader, std::size_t index, TopologyFunction &function)
{
    const auto number = static_cast<std::uint8_t>(index + 1);
    // 02: a locally administered address.
    function.mac = {0x02, 0x0d, 0x0c, 0xa0, 0x00, number};
    if (const std::string mac = reader.text("mac", 17); !mac.empty()) {
        auto &m = function.mac;
        int used = 0;
        if (std::sscanf(mac.c_str(), "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &m[0], &m[1], &m[2], &m[3], &m[4], &m[5],
                        &used) != 6 ||
            // The whole text must have been used: %n is the position behind the last digit.
            static_cast<std::size_t>(used) != mac.size())
            reader.report_error("\"mac\" must have the form xx:xx:xx:xx:xx:xx");
    }
    // 198.18.0.0/15 is reserved for benchmarks, so these addresses are not routed.
    function.ipv4 = {198, 18, 0, number};
    if (const std::string ipv4 = reader.text("ipv4", INET_ADDRSTRLEN);
        !ipv4.empty() && inet_pton(AF_INET, ipv4.c_str(), function.ipv4.data()) != 1)
        reader.report_error("\"ipv4\" is not an IPv4 address");
    function.ipv6 = link_local(function.mac);
    if (const std::string ipv6 = reader.text("ipv6", INET6_ADDRSTRLEN);
        !ipv6.empty() && inet_pton(AF_INET6, ipv6.c_str(), function.ipv6.data()) != 1)
        reader.report_error("\"ipv6\" is not an IPv6 address");
}

/// Checks the PCI addresses of a PF or VF, and brings them to their long form.
void read_pci_addresses(ObjectReader &reader, const std::string &pci, const Topology &topology,
                        TopologyFunction &function)
{
    const auto normalize = [&](const char *key, const std::string &text, std::string &address) {
        const auto normal = normalize_pci_address(text);
        if (!normal) {
            reader.report_key_error(key, "must have the form dddd:bb:dd.f or bb:dd.f");
            return;
        }
        if (function.has_address(*normal) ||
            std::ranges::any_of(topology, [&](const auto &other) { return other.has_address(*normal); }))
            reader.report_error("the PCI address " + *normal + " is taken");
        address = *normal;
    };
    const std::vector<std::string> also = std::move(function.also);
    function.also.clear();
    normalize("pci", pci, function.pci_address);
    for (const std::string &text : also) {
        std::string address;
        normalize("also", text, address);
        function.also.push_back(std::move(address));
    }
}

/// Returns the name that the kernel and udev give to the interface of a BlueField's representor: pf0hpf, pf0vf1,
/// pf0sf0. @p topology has the functions that precede it in the file.
std::string default_representor_name(const TopologyFunction &function, const Topology &topology)
{
    std::size_t port = 0, number = 0;
    for (const TopologyFunction &other : topology) {
        if (other.name == function.parent)
            break;
        port += other.side == Side::dpu && other.type == FunctionType::pf ? 1 : 0;
    }
    for (const TopologyFunction &other : topology)
        number += other.parent == function.parent && other.type == function.type ? 1 : 0;
    const std::string prefix = "pf" + std::to_string(port);
    switch (function.type) {
    case FunctionType::vf:
        return prefix + "vf" + std::to_string(number);
    case FunctionType::sf:
        return prefix + "sf" + std::to_string(number);
    case FunctionType::pf:
        break;
    }
    return prefix + "hpf" + (number == 0 ? "" : std::to_string(number));
}

/// Reads the properties, other than names and addresses, by which programs choose a device or a representor.
void read_properties(ObjectReader &reader, const Topology &topology, TopologyFunction &function)
{
    function.rep_iface_name = reader.text("rep_iface", max_iface_name);
    const std::uint64_t rate = reader.number("active_rate", max_rate).value_or(default_rate);
    // 0 stands for a function that reports no rate.
    if (rate != 0)
        function.active_rate = rate;
    if (const auto id = reader.number("vhca_id", UINT16_MAX)) {
        function.vhca_id = static_cast<std::uint16_t>(*id);
        if (std::ranges::find(topology, function.vhca_id, &TopologyFunction::vhca_id) != topology.end())
            reader.report_error("\"vhca_id\" " + std::to_string(*id) + " is taken");
    }
    const auto sf_number = reader.number("sf_index", UINT32_MAX);
    if (function.type != FunctionType::sf) {
        if (sf_number)
            reader.report_error("\"sf_index\" is of an SF");
        return;
    }
    // Default numbers of SFs count from 0 for each parent.
    const auto earlier = std::ranges::count_if(topology, [&](const TopologyFunction &other) {
        return other.type == FunctionType::sf && other.parent == function.parent;
    });
    function.sf_number = static_cast<std::uint32_t>(sf_number.value_or(static_cast<std::uint64_t>(earlier)));
}

/// Gives the representor its default name, and checks that the DPU has no other interface of that name.
void complete_representor_name(ObjectReader &reader, const Topology &topology, TopologyFunction &function)
{
    if (function.parent.empty()) {
        if (!function.rep_iface_name.empty())
            reader.report_error("a DPU's PF has no representor, and so no \"rep_iface\"");
        return;
    }
    if (function.rep_iface_name.empty())
        function.rep_iface_name = default_representor_name(function, topology);
    if (std::ranges::find(topology, function.rep_iface_name, &TopologyFunction::rep_iface_name) != topology.end())
        reader.report_error("\"rep_iface\": the interface \"" + function.rep_iface_name + "\" is taken");
}

/// Gives each function without a VHCA id the smallest free one, from 1 on.
void number_functions(Topology &topology)
{
    std::uint16_t next = 0;
    for (TopologyFunction &function : topology) {
        if (function.vhca_id)
            continue;
        do
            ++next;
        while (std::ranges::find(topology, std::optional(next), &TopologyFunction::vhca_id) != topology.end());
        function.vhca_id = next;
    }
}

/// Reads and checks one function, and appends it. Returns false after a log line for the first mistake.
bool read_function(json_object *object, const std::string &origin, Topology &topology)
{
    const std::size_t index = topology.size();
    ObjectReader reader(object, origin + ": function " + std::to_string(index));
    TopologyFunction f;
    f.name = reader.text("name", 31);
    if (f.name.empty())
        reader.report_error("\"name\" is missing");
    f.side = reader.choice<Side>("side", {{"dpu", Side::dpu}, {"host", Side::host}});
    f.type = reader.choice<FunctionType>(
        "type", {{"pf", FunctionType::pf}, {"vf", FunctionType::vf}, {"sf", FunctionType::sf}});
    f.parent = reader.text("parent", 31);
    const std::string pci = reader.text("pci", 12);
    f.also = reader.texts("also", max_addresses);
    f.sha_hardware = reader.flag("sha_hardware", f.type == FunctionType::pf);
    f.engines = reader.choice<EngineProfile>("engines",
                                             {{"all", EngineProfile::all},
                                              {"none", EngineProfile::none},
                                              {"bluefield-2", EngineProfile::bluefield_2},
                                              {"bluefield-3", EngineProfile::bluefield_3}},
                                             EngineProfile::all);
    f.is_strict = reader.flag("strict", false);
    f.ibdev_name = reader.text("ibdev", max_ibdev_name - 1);
    f.iface_name = reader.text("iface", max_iface_name);
    f.vuid = reader.text("vuid", max_vuid - 1);
    read_addresses(reader, index, f);
    read_properties(reader, topology, f);
    reader.finish();
    if (!reader.is_good())
        return false;

    // First what concerns the function alone, then its relation to those above it. Errors of the latter would otherwise
    // be misleading.
    const bool is_dpu_port = f.side == Side::dpu && f.type == FunctionType::pf;
    if (f.side == Side::dpu && f.type == FunctionType::vf)
        reader.report_error("a DPU's function is a PF or an SF");
    if (f.side == Side::host && f.type == FunctionType::sf)
        reader.report_error("a host's function is a PF or a VF");
    if (std::ranges::find(topology, f.name, &TopologyFunction::name) != topology.end())
        reader.report_error("the name \"" + f.name + "\" is taken");
    const auto parent = std::ranges::find(topology, f.parent, &TopologyFunction::name);
    if (is_dpu_port && !f.parent.empty())
        reader.report_error("a DPU's PF has no \"parent\"");
    if (!is_dpu_port && (parent == topology.end() || parent->side != Side::dpu || parent->type != FunctionType::pf))
        reader.report_error("\"parent\" must name a DPU's PF that stands above it");
    if (!reader.is_good())
        return false;

    if (f.type == FunctionType::sf) {
        if (!pci.empty() || !f.also.empty())
            reader.report_error("an SF has its parent's PCI address, and no \"pci\" or \"also\"");
        f.pci_address = parent->pci_address;
        f.also = parent->also;
    } else {
        read_pci_addresses(reader, pci, topology, f);
    }
    if (f.ibdev_name.empty())
        f.ibdev_name = "soft_" + f.name;
    if (f.iface_name.empty())
        f.iface_name = f.name.substr(0, max_iface_name);
    if (f.vuid.empty())
        f.vuid = "OPENDOCASOFT" + std::to_string(1000 + index) + "-" + f.name;
    complete_representor_name(reader, topology, f);
    topology.push_back(std::move(f));
    return reader.is_good();
}

} // namespace

bool TopologyFunction::has_address(const std::string &address) const
{
    return address == pci_address || std::ranges::find(also, address) != also.end();
}

std::string topology_origin()
{
    const char *const path = std::getenv("DOCA_SOFT_TOPOLOGY");
    return path == nullptr || *path == '\0' ? "the default topology" : path;
}

doca_error_t parse_topology(const std::string &text, const std::string &origin, Topology &topology)
{
    if (text.size() > max_text_size) {
        LOG_ERR("%s has more than %zu bytes", origin.c_str(), max_text_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    JsonPtr root;
    if (JsonError error; !read_json(text, root, error)) {
        const std::string_view before = std::string_view(text).substr(0, error.offset);
        LOG_ERR("%s, line %td: %s", origin.c_str(), 1 + std::ranges::count(before, '\n'), error.what.c_str());
        return DOCA_ERROR_INVALID_VALUE;
    }
    json_object *functions = nullptr;
    if (!json_object_is_type(root.get(), json_type_object) ||
        !json_object_object_get_ex(root.get(), "functions", &functions) ||
        !json_object_is_type(functions, json_type_array)) {
        LOG_ERR("%s must hold an object with the array \"functions\"", origin.c_str());
        return DOCA_ERROR_INVALID_VALUE;
    }
    const std::size_t count = json_object_array_length(functions);
    if (count == 0 || count > max_functions) {
        LOG_ERR("%s has %zu functions, and 1 to %zu are possible", origin.c_str(), count, max_functions);
        return DOCA_ERROR_INVALID_VALUE;
    }
    ObjectReader reader(root.get(), origin);
    const CardMode mode = reader.choice<CardMode>(
        "mode", {{"dpu", CardMode::dpu}, {"nic", CardMode::nic}, {"restricted", CardMode::restricted}}, CardMode::dpu);
    if (!reader.is_good())
        return DOCA_ERROR_INVALID_VALUE;
    Topology result;
    for (std::size_t i = 0; i < count; ++i) {
        if (!read_function(json_object_array_get_idx(functions, i), origin, result))
            return DOCA_ERROR_INVALID_VALUE;
    }
    number_functions(result);
    for (TopologyFunction &function : result)
        function.mode = mode;
    if (std::ranges::none_of(result, &TopologyFunction::exists)) {
        LOG_ERR("%s: \"mode\" is \"nic\", where only the host has functions, and the file has none of the host",
                origin.c_str());
        return DOCA_ERROR_INVALID_VALUE;
    }
    topology = std::move(result);
    return DOCA_SUCCESS;
}

doca_error_t load_topology(Topology &topology)
{
    const char *const path = std::getenv("DOCA_SOFT_TOPOLOGY");
    if (path == nullptr || *path == '\0')
        return parse_topology(default_topology, topology_origin(), topology);
    std::ifstream file(path);
    const int error = errno;
    std::error_code ignored;
    if (const bool is_directory = std::filesystem::is_directory(path, ignored); is_directory || !file.is_open()) {
        LOG_ERR("DOCA_SOFT_TOPOLOGY: can't read '%s': %s", path, std::strerror(is_directory ? EISDIR : error));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    std::string text(max_text_size + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return parse_topology(text, path, topology);
}

} // namespace opendoca::soft
