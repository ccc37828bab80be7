// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "representors.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <tuple>

namespace opendoca::mlx5 {

namespace fs = std::filesystem;

namespace {

/// Returns the first word in a file of sysfs, or an empty string if the file does not exist or cannot be read.
std::string first_word_of(const fs::path &file)
{
    std::string word;
    std::ifstream(file) >> word;
    return word;
}

/// Removes @p prefix and the number that follows it from the front of @p text. Returns false, without a change to @p
/// text, if it begins otherwise.
bool take_number(std::string_view &text, std::string_view prefix, unsigned &number) noexcept
{
    if (!text.starts_with(prefix))
        return false;
    const char *const first = text.data() + prefix.size(), *const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(first, last, number);
    if (error != std::errc{})
        return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

} // namespace

std::optional<PortName> PortName::parse(std::string_view text) noexcept
{
    PortName name;
    unsigned controller = 0;
    // Controller 0, or none, is the DPU itself; others are hosts.
    name.is_external = take_number(text, "c", controller) && controller != 0;
    if (!take_number(text, "pf", name.pf))
        return {};
    if (take_number(text, "vf", name.number))
        name.type = FunctionType::vf;
    else if (take_number(text, "sf", name.number))
        name.type = FunctionType::sf;
    return text.empty() ? std::optional(name) : std::nullopt;
}

std::optional<std::uint16_t> PortName::vport() const noexcept
{
    switch (type) {
    // Vports of mlx5: 0 is the PF, and VF n is n + 1.
    case FunctionType::pf:
        return std::uint16_t{0};
    case FunctionType::vf:
        return static_cast<std::uint16_t>(number + 1);
    case FunctionType::sf:
        break;
    }
    return {};
}

std::optional<VirtualFunctionLayout> VirtualFunctionLayout::read(const std::string &pci)
{
    VirtualFunctionLayout layout;
    // The kernel writes these files for PFs only. 0 means that SR-IOV is not available.
    const auto read_number = [&](const char *file, std::uint32_t &number) {
        const std::string text = first_word_of(fs::path(pci) / file);
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        return error == std::errc{} && end == text.data() + text.size() && number != 0;
    };
    if (!read_number("sriov_offset", layout.first) || !read_number("sriov_stride", layout.stride))
        return {};
    return layout;
}

std::optional<std::uint16_t> VirtualFunctionLayout::routing_id(std::uint16_t pf, unsigned number) const noexcept
{
    // In 64 bits, since both values are from sysfs and unchecked.
    const std::uint64_t id = pf + std::uint64_t{first} + std::uint64_t{stride} * number;
    return id > UINT16_MAX ? std::nullopt : std::optional(static_cast<std::uint16_t>(id));
}

std::vector<RepresentorPort> find_representors(const std::string &net, const std::string &uplink)
{
    std::vector<RepresentorPort> found;
    const std::string switch_id = uplink.empty() ? "" : first_word_of(fs::path(net) / uplink / "phys_switch_id");
    if (switch_id.empty())
        return found; // not in switchdev mode
    // The ports of a bond form one e-switch; representors of the other uplink have that uplink's number.
    std::string_view uplink_name = "p0";
    const std::string port_name = first_word_of(fs::path(net) / uplink / "phys_port_name");
    if (!port_name.empty())
        uplink_name = port_name;
    unsigned port = 0;
    (void)take_number(uplink_name, "p", port);
    // Interfaces can be removed meanwhile. Their files then read as empty, which matches nothing.
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(net, error)) {
        const auto name = PortName::parse(first_word_of(entry.path() / "phys_port_name"));
        if (name && name->pf == port && first_word_of(entry.path() / "phys_switch_id") == switch_id)
            found.push_back({entry.path().filename(), *name});
    }
    std::ranges::sort(found, {}, [](const RepresentorPort &rep) {
        return std::tuple(!rep.name.is_external, rep.name.type, rep.name.number, rep.interface);
    });
    return found;
}

} // namespace opendoca::mlx5
