// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "report.hpp"

#include <algorithm>

#include "../common/json.hpp"
#include "../common/table.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t devices_side_by_side = 5; // fits a line of 110 characters

std::string or_none(const std::optional<std::string> &text)
{
    return text.value_or("-");
}

std::string title_of(const DeviceReport &device)
{
    return device.ibdev ? *device.ibdev : or_none(device.pci_address);
}

std::string port_as_text(const DeviceReport &device)
{
    std::string text = "  " + device.link_layer + " port, " + (device.is_port_active ? "active" : "down");
    const char *separator = "; GIDs ";
    for (const auto &[index, gid] : device.gids) {
        text += separator + std::to_string(index) + ": " + gid;
        separator = ", ";
    }
    return text;
}

std::string devices_as_text(const Report &report)
{
    Table table({{"PCI address"},
                 {"ibdev"},
                 {"interface"},
                 {"provider"},
                 {"type"},
                 {"MAC"},
                 {"IPv4"},
                 {"IPv6"},
                 {"LID"}});
    for (const DeviceReport &device : report.devices) {
        table.add({or_none(device.pci_address), or_none(device.ibdev), or_none(device.interface),
                   device.provider, device.function_type, or_none(device.mac), or_none(device.ipv4),
                   or_none(device.ipv6), device.lid ? std::to_string(*device.lid) : "-"});
        if (device.provider != "soft")
            table.add_line(port_as_text(device));
        if (device.acts_as)
            table.add_line("  acts as " + *device.acts_as + " towards the DPU");
        for (const RepresentorReport &rep : device.representors) {
            const std::string &address = rep.pci_address.empty() ? "-" : rep.pci_address;
            table.add_line("  representor " + address + "  " + rep.function_type + "  " + rep.kind + "  " +
                           rep.vuid);
        }
        for (const std::string &remark : device.remarks)
            table.add_line("  " + remark);
        if (!device.problem.empty())
            table.add_line("  representors unknown: " + device.problem);
    }
    return table.text("  ");
}

std::string capabilities_as_text(const Report &report)
{
    std::string text;
    for (std::size_t first = 0; first < report.devices.size(); first += devices_side_by_side) {
        const std::size_t last = std::min(first + devices_side_by_side, report.devices.size());
        std::vector<Table::Column> columns = {{""}};
        for (std::size_t i = first; i < last; ++i)
            columns.push_back({title_of(report.devices[i]), Align::right});
        Table table(std::move(columns));
        for (std::size_t row = 0; row < capability_rows().size(); ++row) {
            std::vector<std::string> cells = {capability_rows()[row].title};
            for (std::size_t i = first; i < last; ++i)
                cells.push_back(to_text(report.devices[i].capabilities[row]));
            table.add(std::move(cells));
        }
        if (first != 0)
            text += '\n';
        text += table.text("  ");
    }
    return text;
}

std::string access_as_text(const Report &report)
{
    Table table({{""}, {""}, {""}});
    for (const AccessCheck &check : report.access) {
        table.add({check.title, name_of(check.verdict), check.found});
        if (!check.advice.empty())
            table.add_line("  -> " + check.advice);
    }
    return table.text("  ");
}

Json as_json(const CapabilityValue &value)
{
    if (const bool *const is_set = std::get_if<bool>(&value))
        return *is_set;
    if (const std::uint64_t *const number = std::get_if<std::uint64_t>(&value))
        return *number;
    if (const char *const *const word = std::get_if<const char *>(&value))
        return *word;
    return {};
}

Json as_json(const DeviceReport &device)
{
    Json json = Json::object();
    json.set("pci_address", device.pci_address)
        .set("ibdev", device.ibdev)
        .set("interface", device.interface)
        .set("provider", device.provider)
        .set("function_type", device.function_type)
        .set("acts_as", device.acts_as)
        .set("mac", device.mac)
        .set("ipv4", device.ipv4)
        .set("ipv6", device.ipv6)
        .set("lid", device.lid)
        .set("link_layer", device.link_layer)
        .set("port_active", device.is_port_active);
    Json gids = Json::object();
    for (const auto &[index, gid] : device.gids)
        gids.set(std::to_string(index).c_str(), gid);
    json.set("gids", std::move(gids));
    Json capabilities = Json::object();
    for (std::size_t row = 0; row < capability_rows().size(); ++row)
        capabilities.set(capability_rows()[row].key, as_json(device.capabilities[row]));
    Json remarks = Json::array();
    for (const std::string &remark : device.remarks)
        remarks.add(remark);
    Json representors = Json::array();
    for (const RepresentorReport &rep : device.representors) {
        Json one = Json::object();
        one.set("pci_address", rep.pci_address)
            .set("function_type", rep.function_type)
            .set("kind", rep.kind)
            .set("vuid", rep.vuid);
        representors.add(std::move(one));
    }
    json.set("capabilities", std::move(capabilities)).set("remarks", std::move(remarks)).set("representors", std::move(representors));
    if (!device.problem.empty())
        json.set("problem", device.problem);
    return json;
}

} // namespace

std::string to_text(const Report &report)
{
    return "opendoca " + report.release + ", with the API of DOCA " + report.version + "\n\nDevices (" + std::to_string(report.devices.size()) + ")\n" +
           devices_as_text(report) + "\nCapabilities\n" + capabilities_as_text(report) +
           "\nCross-process access (software device)\n" + access_as_text(report);
}

std::string to_json(const Report &report)
{
    Json devices = Json::array();
    for (const DeviceReport &device : report.devices)
        devices.add(as_json(device));
    Json access = Json::array();
    for (const AccessCheck &check : report.access) {
        Json one = Json::object();
        one.set("check", check.key)
            .set("status", name_of(check.verdict))
            .set("found", check.found)
            .set("fix", check.advice.empty() ? Json() : Json(check.advice));
        access.add(std::move(one));
    }
    Json json = Json::object();
    json.set("release", report.release)
        .set("version", report.version)
        .set("devices", std::move(devices))
        .set("cross_process_access", std::move(access));
    return json.text();
}

} // namespace opendoca::tools
