// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "report.hpp"

#include "../common/json.hpp"

namespace opendoca::tools {

namespace {

// The answer of a device: a missing one becomes null.
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

/// JSON has null where the reports have empty text, so that scripts need not compare with "".
Json or_null(const std::string &text)
{
    return text.empty() ? Json() : Json(text);
}

Json as_json(const HardwareReport &hardware)
{
    Json json = Json::object();
    json.set("firmware", or_null(hardware.firmware))
        .set("driver", or_null(hardware.driver))
        .set("board", or_null(hardware.board))
        .set("rate", or_null(hardware.rate))
        .set("state", or_null(hardware.state))
        .set("physical_state", or_null(hardware.physical_state))
        .set("interface_mtu", hardware.interface_mtu)
        .set("rdma_mtu", hardware.rdma_mtu);
    return json;
}

/// The keys are an interface for scripts.
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
        .set("active_rate", device.active_rate)
        .set("vhca_id", device.vhca_id)
        .set("sf_index", device.sf_number)
        .set("link_layer", device.link_layer)
        .set("port_active", device.is_port_active);
    // By index, since tables have gaps.
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
            .set("interface", or_null(rep.interface))
            .set("vhca_id", rep.vhca_id)
            .set("vuid", rep.vuid);
        representors.add(std::move(one));
    }
    Json lacks = Json::object();
    for (const LackReport &lack : device.lacks)
        lacks.set(lack.key, lack.reason);
    json.set("capabilities", std::move(capabilities))
        .set("lacks", std::move(lacks))
        .set("remarks", std::move(remarks))
        .set("representors", std::move(representors))
        .set("hardware", device.hardware ? as_json(*device.hardware) : Json());
    if (!device.problem.empty())
        json.set("problem", device.problem);
    return json;
}

} // namespace

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
            .set("fix", or_null(check.advice));
        access.add(std::move(one));
    }
    Json missing = Json::array();
    for (const Lack &lack : report.lacks) {
        Json one = Json::object();
        one.set("what", lack.what).set("remedy", lack.remedy);
        missing.add(std::move(one));
    }
    Json environment = Json::object();
    // Variables that are not set are left out; the manual lists them.
    for (const Setting &setting : report.settings) {
        if (setting.value)
            environment.set(setting.name.c_str(), *setting.value);
    }
    Json in_force = Json::object();
    for (const Fact &fact : report.facts)
        in_force.set(fact.name, fact.value);
    Json json = Json::object();
    json.set("release", report.release)
        .set("version", report.version)
        .set("missing", std::move(missing))
        .set("environment", std::move(environment))
        .set("in_force", std::move(in_force))
        .set("devices", std::move(devices))
        .set("cross_process_access", std::move(access));
    return json.text();
}

} // namespace opendoca::tools
