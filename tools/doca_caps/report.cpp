// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <unistd.h>

#include <doca_version.h>

#include "../common/table.hpp"
#include "core/base/release.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t devices_side_by_side = 5; // fits a line of 110 characters

/// Returns the placeholder of tables for a missing value.
std::string or_none(const std::optional<std::string> &text)
{
    return text.value_or("-");
}

/// Formats the port and its GIDs as a line below the device.
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

/// Formats the devices, each followed by lines for its port, representors and remarks.
std::string devices_as_text(const Report &report)
{
    Table table(
        {{"PCI address"}, {"ibdev"}, {"interface"}, {"provider"}, {"type"}, {"MAC"}, {"IPv4"}, {"IPv6"}, {"LID"}});
    for (const DeviceReport &device : report.devices) {
        table.add({or_none(device.pci_address), or_none(device.ibdev), or_none(device.interface), device.provider,
                   device.function_type, or_none(device.mac), or_none(device.ipv4), or_none(device.ipv6),
                   device.lid ? std::to_string(*device.lid) : "-"});
        if (device.provider != "soft")
            table.add_line(port_as_text(device));
        if (device.acts_as)
            table.add_line("  acts as " + *device.acts_as + " towards the DPU");
        for (const RepresentorReport &rep : device.representors) {
            const std::string &address = rep.pci_address.empty() ? "-" : rep.pci_address;
            table.add_line("  representor " + address + "  " + rep.function_type + "  " + rep.kind + "  " +
                           (rep.interface.empty() ? "-" : rep.interface) + "  " + rep.vuid);
        }
        for (const std::string &remark : device.remarks)
            table.add_line("  " + remark);
        if (!device.problem.empty())
            table.add_line("  representors unknown: " + device.problem);
    }
    return table.text("  ");
}

/// Formats one column for each device, in blocks of devices_side_by_side.
std::string capabilities_as_text(const Report &report)
{
    std::string text;
    for (std::size_t first = 0; first < report.devices.size(); first += devices_side_by_side) {
        const std::size_t last = std::min(first + devices_side_by_side, report.devices.size());
        std::vector<Table::Column> columns = {{""}};
        for (std::size_t i = first; i < last; ++i)
            columns.push_back({name_of(report.devices[i]), Align::right});
        Table table(std::move(columns));
        for (std::size_t row = 0; row < capability_rows().size(); ++row) {
            std::vector<std::string> cells = {capability_rows()[row].title};
            for (std::size_t i = first; i < last; ++i)
                cells.push_back(to_text(report.devices[i].capabilities[row]));
            table.add(std::move(cells));
        }
        // A blank line between blocks.
        if (first != 0)
            text += '\n';
        text += table.text("  ");
    }
    return text;
}

/// Formats the checks, each followed by its advice.
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

/// Lists the short names of the capabilities that a device has.
std::string brief(const DeviceReport &device)
{
    std::string text;
    for (std::size_t row = 0; row < capability_rows().size(); ++row) {
        const CapabilityRow &one = capability_rows()[row];
        if (one.brief != nullptr && is_present(device.capabilities[row]))
            text += (text.empty() ? "" : ", ") + std::string(one.brief);
    }
    return text;
}

/// Formats the state of the port and its rate; "-" for software devices.
std::string link_of(const DeviceReport &device)
{
    if (!device.hardware)
        return "-";
    // Drops the lanes of "100 Gb/sec (4X EDR)".
    const std::string rate = device.hardware->rate.substr(0, device.hardware->rate.find(" ("));
    return std::string(device.is_port_active ? "active" : "down") + (rate.empty() ? "" : ", ") + rate;
}

/// Adds a line for a property, unless the device does not have it.
void add_property(Table &table, const char *name, const std::string &value)
{
    if (!value.empty())
        table.add({name, value});
}

std::string bytes(const std::optional<std::uint64_t> &number)
{
    return number ? std::to_string(*number) + " bytes" : "";
}

template <typename Number>
std::string number_or_none(const std::optional<Number> &number)
{
    return number ? std::to_string(*number) : "-";
}

/// Lists the properties of a device, one a line. Properties that it does not have are left out.
Table properties_of(const DeviceReport &device)
{
    Table table({{""}, {""}});
    add_property(table, "PCI address", device.pci_address.value_or(""));
    add_property(table, "interface", device.interface.value_or(""));
    add_property(table, "type", device.function_type);
    add_property(table, "acts towards the DPU as", device.acts_as.value_or(""));
    add_property(table, "MAC", device.mac.value_or(""));
    add_property(table, "IPv4", device.ipv4.value_or(""));
    add_property(table, "IPv6", device.ipv6.value_or(""));
    add_property(table, "LID", device.lid ? std::to_string(*device.lid) : "");
    if (const auto &hardware = device.hardware) {
        add_property(table, "driver", hardware->driver);
        add_property(table, "firmware", hardware->firmware);
        add_property(table, "board", hardware->board);
        add_property(table, "link layer", device.link_layer);
        add_property(table, "state",
                     hardware->state.empty() ? (device.is_port_active ? "ACTIVE" : "DOWN") : hardware->state);
        add_property(table, "physical state", hardware->physical_state);
        add_property(table, "rate", hardware->rate);
        add_property(table, "MTU of the interface", bytes(hardware->interface_mtu));
        add_property(table, "MTU of RDMA", bytes(hardware->rdma_mtu));
    } else if (device.active_rate) {
        // A software device has a rate if its topology states one; in bits per second.
        add_property(table, "rate", std::to_string(*device.active_rate / 1'000'000) + " Mb/s, by its topology");
    }
    if (device.vhca_id)
        table.add({"VHCA", std::to_string(*device.vhca_id)});
    if (device.sf_number)
        table.add({"SF index", std::to_string(*device.sf_number)});
    for (const auto &[index, gid] : device.gids)
        table.add({"GID " + std::to_string(index), gid});
    return table;
}

/// Formats the missing capabilities with their reasons, one a line.
std::string lines(const std::vector<LackReport> &lacks)
{
    Table table({{""}, {""}});
    for (const LackReport &lack : lacks)
        table.add({lack.title, lack.reason});
    return table.text("  ");
}

/// Returns whether the explanations of both devices are equal.
bool have_equal_lacks(const DeviceReport &one, const DeviceReport &other)
{
    return one.provider == other.provider && lines(one.lacks) == lines(other.lacks);
}

} // namespace

std::string release_line(const Report &report)
{
    return "opendoca " + report.release + ", with the API of DOCA " + report.version + '\n';
}

std::string short_list(const Report &report)
{
    Table table({{"device"}, {"provider"}, {"PCI address"}, {"interface"}, {"link"}, {"can do"}});
    for (const DeviceReport &device : report.devices)
        table.add({name_of(device), device.provider, or_none(device.pci_address), or_none(device.interface),
                   link_of(device), brief(device)});
    return table.text();
}

// The text of --all.
std::string everything(const Report &report)
{
    return "Devices (" + std::to_string(report.devices.size()) + ")\n" + devices_as_text(report) + "\nCapabilities\n" +
           capabilities_as_text(report) + "\nCross-process access (software device)\n" + access_as_text(report);
}

// The text of -d.
std::string device_details(const DeviceReport &device)
{
    std::string text = name_of(device) + ", provider " + device.provider + '\n' + properties_of(device).text("  ");
    Table capabilities({{""}, {""}});
    for (std::size_t row = 0; row < capability_rows().size(); ++row) {
        if (std::string value = to_text(device.capabilities[row]); !value.empty())
            capabilities.add({capability_rows()[row].title, std::move(value)});
    }
    text += "\nCapabilities\n" + capabilities.text("  ");
    if (!device.remarks.empty())
        text += "\nRemarks\n";
    for (const std::string &remark : device.remarks)
        text += "  " + remark + '\n';
    if (!device.representors.empty() || !device.problem.empty())
        text += "\nRepresentors\n";
    Table representors({{""}, {""}, {""}, {""}, {""}});
    for (const RepresentorReport &rep : device.representors)
        representors.add({rep.pci_address.empty() ? "-" : rep.pci_address, rep.function_type, rep.kind,
                          rep.interface.empty() ? "-" : rep.interface, rep.vuid});
    text += representors.text("  ");
    if (!device.problem.empty())
        text += "  unknown: " + device.problem + '\n';
    return text;
}

std::string explanations(const std::vector<DeviceReport> &devices)
{
    // The text of --explain.
    std::string text;
    // Devices with equal lacks and reasons share one list. It is printed with the first of them.
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const auto is_like_this = [&](const DeviceReport &other) { return have_equal_lacks(devices[i], other); };
        if (std::find_if(devices.begin(), devices.end(), is_like_this) - devices.begin() !=
            static_cast<std::ptrdiff_t>(i))
            continue;
        text += text.empty() ? "" : "\n";
        for (std::size_t j = i; j < devices.size(); ++j) {
            if (is_like_this(devices[j]))
                text += (j == i ? "" : ", ") + name_of(devices[j]);
        }
        text += devices[i].lacks.empty() ? ": nothing is missing\n" : ": missing\n" + lines(devices[i].lacks);
    }
    return text;
}

std::string configuration(const Report &report)
{
    Table facts({{""}, {""}});
    for (const Fact &fact : report.facts)
        facts.add({fact.name, fact.value});
    Table settings({{""}, {""}});
    for (const Setting &setting : report.settings)
        settings.add({(setting.value ? "" : "# ") + setting.name + '=' + setting.value.value_or(""), setting.meaning});
    return "In force\n" + facts.text("  ") + "\nEnvironment (# marks what is not set)\n" + settings.text("  ");
}

std::string device_properties(const Report &report)
{
    // The keys are the names of the API's getters, as in the output of NVIDIA's tool.
    std::string text;
    for (const DeviceReport &device : report.devices) {
        Table table({{""}, {""}});
        table.add({"ibdev_name", or_none(device.ibdev)});
        table.add({"iface_name", or_none(device.interface)});
        table.add({"mac_addr", or_none(device.mac)});
        table.add({"ipv4_addr", or_none(device.ipv4)});
        table.add({"ipv6_addr", or_none(device.ipv6)});
        table.add({"lid", number_or_none(device.lid)});
        table.add({"active_rate", number_or_none(device.active_rate)});
        table.add({"vhca_id", number_or_none(device.vhca_id)});
        table.add({"sf_index", number_or_none(device.sf_number)});
        text += "PCI: " + or_none(device.pci_address) + '\n' + table.text("    ");
    }
    return text;
}

std::string representor_properties(const Report &report)
{
    std::string text;
    for (const DeviceReport &device : report.devices) {
        for (const RepresentorReport &rep : device.representors) {
            Table table({{""}, {""}});
            table.add({"pci_func_type", rep.function_type});
            table.add({"vuid", rep.vuid.empty() ? "-" : rep.vuid});
            table.add({"iface_name", rep.interface.empty() ? "-" : rep.interface});
            table.add({"vhca_id", number_or_none(rep.vhca_id)});
            table.add({"dev", name_of(device)});
            text += "PCI: " + (rep.pci_address.empty() ? "-" : rep.pci_address) + '\n' + table.text("    ");
        }
        if (!device.problem.empty())
            text += name_of(device) + ": representors unknown: " + device.problem + '\n';
    }
    return text;
}

// The devices come first: judging the machine depends on them.
Report make_report()
{
    Report report;
    report.release = release();
    report.version = doca_version_runtime();
    report.devices = report_devices();
    report.access = check_access(read_system_facts());
    const MachineFacts machine = read_machine_facts();
    report.lacks = lacks_of(machine, report.devices, report.access);
    report.readiness = readiness(report.lacks, machine, report.devices);
    report.settings = settings_in(environ);
    report.facts = facts_in_force(report.devices);
    return report;
}

} // namespace opendoca::tools
