// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sysfs.hpp"

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "../wire.hpp"
#include "limits.hpp"
#include "representor.hpp"
#include "vpd.hpp"

namespace opendoca::card {

namespace fs = std::filesystem;

namespace {

/// Formats like snprintf.
template <typename... Values>
std::string text(const char *format, Values... values)
{
    char buffer[256];
    std::snprintf(buffer, sizeof(buffer), format, values...);
    return buffer;
}

/// Writes a file, and creates its folders.
void put_bytes(const fs::path &path, const std::string &content)
{
    fs::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file << content;
}

/// Writes a line.
void put(const fs::path &path, const std::string &content)
{
    put_bytes(path, content + '\n');
}

/// Creates the relative symbolic link `from`, which points to `to`.
void link(const fs::path &from, const fs::path &to)
{
    fs::create_directories(from.parent_path());
    fs::create_symlink(to.lexically_relative(from.parent_path()), from);
}

/// Links the entries of a folder of the kernel's sysfs into the tree, so that programs see both. Names of the card take
/// precedence.
void link_real(const fs::path &tree, const char *folder)
{
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(folder, error)) {
        const fs::path name =
            tree / fs::path(folder).relative_path().lexically_relative("sys") / entry.path().filename();
        if (!fs::exists(fs::symlink_status(name))) {
            fs::create_directories(name.parent_path());
            fs::create_symlink(entry.path(), name);
        }
    }
}

/// Formats a GUID in groups of four hexadecimal digits.
std::string groups(std::uint64_t guid)
{
    return text("%04x:%04x:%04x:%04x", static_cast<unsigned>(guid >> 48), static_cast<unsigned>(guid >> 32 & 0xffff),
                static_cast<unsigned>(guid >> 16 & 0xffff), static_cast<unsigned>(guid & 0xffff));
}

std::string groups(const Gid &gid)
{
    std::string result;
    for (std::size_t i = 0; i < gid.raw.size(); i += 2)
        result += text(i == 0 ? "%02x%02x" : ":%02x%02x", gid.raw[i], gid.raw[i + 1]);
    return result;
}

/// Returns the folder of a PCI function.
fs::path pci_folder(const fs::path &tree, const FunctionProfile &function)
{
    return tree / "devices/pci0000:00" / function.pci_address;
}

/// Returns the folder of a function's device: its PCI function, or the auxiliary device of a subfunction.
fs::path device_folder(const fs::path &tree, const FunctionProfile &function)
{
    const fs::path pci = pci_folder(tree, function);
    return function.kind == FunctionKind::subfunction ? pci / text("mlx5_core.sf.%u", function.subfunction) : pci;
}

/// Writes the files of a PCI function.
void write_pci(const fs::path &tree, const Profile &profile, const FunctionProfile &function)
{
    constexpr unsigned virtual_function = 0x101e; // device id of the VFs of all cards since ConnectX-6
    const unsigned number = function.kind == FunctionKind::virtual_function ? virtual_function : profile.pci_device;
    const fs::path pci = pci_folder(tree, function);
    put(pci / "vendor", "0x15b3");
    put(pci / "device", text("0x%04x", number));
    put(pci / "subsystem_vendor", "0x15b3");
    put(pci / "subsystem_device", "0x0001");
    put(pci / "class", profile.is_ethernet ? "0x020000" : "0x020700");
    put(pci / "modalias", text("pci:v000015B3d%08Xsv000015B3sd00000001bc02sc00i00", number));
    put(pci / "uevent", "DRIVER=mlx5_core\nPCI_SLOT_NAME=" + function.pci_address);
    put(pci / "numa_node", "-1");
    put(pci / "local_cpus", "ff");
    put(pci / "irq", "0");
    put_bytes(pci / "vpd", vital_product_data(profile, function.vuid));
    // libpci, which perftest uses, exits the program if these files are missing.
    std::string regions;
    for (int i = 0; i < 13; ++i)
        regions += "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
    put_bytes(pci / "resource", regions);
    std::string config(256, '\0');
    for (const auto &[at, value] :
         {std::pair(0u, 0x15b3u), {2u, number}, {10u, profile.is_ethernet ? 0x0200u : 0x0207u}}) {
        config[at] = static_cast<char>(value & 0xff);
        config[at + 1] = static_cast<char>(value >> 8);
    }
    put_bytes(pci / "config", config);
    const fs::path by_address = tree / "bus/pci/devices" / function.pci_address;
    link(by_address, pci);
}

/// Writes the files that show the state of a port. Each replaces the one before in one step, so no program reads a
/// part.
void write_state(const fs::path &port, bool is_up)
{
    const PortState state = port_state(is_up);
    const std::pair<const char *, std::string> files[] = {
        {"state", text("%u: %s", state.logical, is_up ? "ACTIVE" : "DOWN")},
        {"phys_state", text("%u: %s", state.physical, is_up ? "LinkUp" : "Polling")}};
    for (const auto &[name, content] : files) {
        const fs::path complete = port / name, incomplete = port / text(".%s", name);
        put(incomplete, content);
        fs::rename(incomplete, complete);
    }
}

/// Writes the files of a port.
void write_port(const fs::path &port, const Profile &profile, const FunctionProfile &function)
{
    write_state(port, true);
    put(port / "link_layer", profile.is_ethernet ? "Ethernet" : "InfiniBand");
    put(port / "lid", text("0x%x", function.lid));
    put(port / "sm_lid", profile.is_ethernet ? "0x0" : "0x1");
    put(port / "lid_mask_count", "0");
    put(port / "sm_sl", "0");
    put(port / "cap_mask", text("0x%08x", port_capability_flags(profile.is_ethernet)));
    put(port / "rate", std::string(profile.rate));
    for (unsigned i = 0; i < profile.pkeys(); ++i)
        put(port / "pkeys" / std::to_string(i), i == 0 ? "0xffff" : "0x0000");
    for (std::size_t i = 0; i < function.gids.size(); ++i) {
        const Gid &gid = function.gids[i];
        const std::string index = std::to_string(i);
        put(port / "gids" / index, groups(gid));
        if (!gid.is_set())
            continue; // the kernel's files of an unset GID cannot be read
        put(port / "gid_attrs/types" / index, gid.type == 2 ? "RoCE v2" : "IB/RoCE v1");
        if (profile.is_ethernet)
            put(port / "gid_attrs/ndevs" / index, function.interface);
    }
}

/// Writes the files of an RDMA device and of its uverbs node.
void write_device(const fs::path &tree, const Card &card, const Function &function)
{
    const Profile &profile = card.profile;
    const FunctionProfile &its = function.profile;
    const fs::path device = device_folder(tree, its), infiniband = device / "infiniband" / its.device_name;
    const std::string uverbs = "uverbs" + std::to_string(function.number);
    if (its.kind == FunctionKind::subfunction) {
        put(device / "sfnum", std::to_string(its.subfunction));
        put(device / "uevent", "DRIVER=mlx5_core.sf\nMODALIAS=auxiliary:mlx5_core.sf");
        put(device / "modalias", text("pci:v000015B3d%08Xsv000015B3sd00000001bc02sc00i00", profile.pci_device));
        for (const char *name : {"vendor", "device", "numa_node", "local_cpus"})
            link(device / name, pci_folder(tree, its) / name);
        link(tree / "bus/auxiliary/devices" / device.filename(), device);
    }
    if (its.kind == FunctionKind::physical)
        put(device / "sriov_totalvfs", "8");
    if (its.kind == FunctionKind::physical || its.kind == FunctionKind::embedded) {
        put(device / "sriov_offset", "2");
        put(device / "sriov_stride", "1");
    }
    if (profile.is_ethernet && its.kind != FunctionKind::embedded)
        put(device / "net" / its.interface / "dev_port", "0");
    put(infiniband / "node_type", "1: CA");
    put(infiniband / "node_guid", groups(card.guid_of(its)));
    put(infiniband / "sys_image_guid", groups(card.guid));
    put(infiniband / "node_desc", "opendoca software card");
    put(infiniband / "fw_ver",
        text("%u.%u.%u", profile.firmware_major, profile.firmware_minor, profile.firmware_patch));
    put(infiniband / "hw_rev", "0");
    put(infiniband / "board_id", std::string(profile.board));
    put(infiniband / "hca_type", text("MT%u", profile.pci_device));
    link(infiniband / "device", device);
    write_port(infiniband / "ports/1", profile, its);
    link(tree / "class/infiniband" / its.device_name, infiniband);
    const fs::path verbs = device / "infiniband_verbs" / uverbs;
    put(verbs / "ibdev", its.device_name);
    put(verbs / "abi_version", "1"); // ABI version of mlx5
    put(verbs / "dev", text("%u:%u", uverbs_major, uverbs_minor + function.number));
    link(verbs / "device", device);
    link(tree / "class/infiniband_verbs" / uverbs, verbs);
}

/// Writes the network interfaces that represent the ports of the e-switch, and removes those of absent functions.
void write_representors(const fs::path &tree, const Card &card, const FunctionProfile &manager)
{
    const fs::path device = device_folder(tree, manager);
    for (const Representor &port : all_ports_of(card)) {
        const fs::path net = device / "net" / port.name;
        const bool is_shown = fs::exists(fs::symlink_status(tree / "class/net" / port.name));
        if (!port.is_present()) {
            fs::remove(tree / "class/net" / port.name);
            fs::remove_all(net);
        }
        if (is_shown || !port.is_present())
            continue;
        put(net / "phys_switch_id", switch_id_of(card));
        put(net / "phys_port_name", port.port_name);
        put(net / "dev_port", "0");
        put(net / "ifindex", std::to_string(port.interface_index));
        put(net / "address", text("%02x:%02x:%02x:%02x:%02x:%02x", port.address[0], port.address[1], port.address[2],
                                  port.address[3], port.address[4], port.address[5]));
        put(net / "operstate", "up");
        put(net / "mtu", "1500");
        put(net / "type", "1");
        link(net / "device", device);
        link(tree / "class/net" / port.name, net);
    }
}

/// Writes the tree of one side.
void write_side(const Card &card, Side side, const fs::path &folder)
{
    const fs::path tree = folder / "sys";
    fs::create_directories(folder / "dev");
    put(tree / "class/infiniband_verbs/abi_version", "6");
    fs::create_directories(tree / "class/infiniband");
    put(tree / "class/misc/rdma_cm/abi_version", "4");
    put(tree / "class/misc/rdma_cm/dev", text("%u:%u", rdma_cm_major, rdma_cm_minor));
    const FunctionProfile *physical = nullptr;
    unsigned virtual_functions = 0;
    for (const Function &function : card.functions) {
        if (function.profile.side != side)
            continue;
        const FunctionProfile &its = function.profile;
        if (its.kind != FunctionKind::subfunction)
            write_pci(tree, card.profile, its);
        write_device(tree, card, function);
        if (its.kind == FunctionKind::physical)
            physical = &its;
        if (its.kind == FunctionKind::virtual_function && physical != nullptr) {
            link(pci_folder(tree, its) / "physfn", pci_folder(tree, *physical));
            link(pci_folder(tree, *physical) / text("virtfn%u", virtual_functions++), pci_folder(tree, its));
        }
        if (its.kind == FunctionKind::embedded) {
            fs::create_directories(tree / "class/net");
            write_representors(tree, card, its);
            link_real(tree, "/sys/class/net");
        }
    }
    if (physical != nullptr)
        put(pci_folder(tree, *physical) / "sriov_numvfs", std::to_string(virtual_functions));
    link_real(tree, "/sys/bus/pci/devices");
    if (fs::exists(tree / "bus/auxiliary"))
        link_real(tree, "/sys/bus/auxiliary/devices");
}

} // namespace

bool write_sysfs(Card &card, const std::string &folder)
{
    try {
        card.folder = folder;
        for (const Side side : {Side::host, Side::dpu}) {
            if (card.serves(side))
                write_side(card, side, fs::path(folder) / (side == Side::host ? "host" : "dpu"));
        }
        return true;
    } catch (const std::exception &error) { // of std::filesystem and of streams
        std::fprintf(stderr, "with_card: cannot write the card's files in %s: %s\n", folder.c_str(), error.what());
        return false;
    }
}

void show_representors(const Card &card)
{
    const Function *manager = eswitch_manager(card);
    if (card.folder.empty() || manager == nullptr || !card.serves(Side::dpu))
        return;
    try {
        write_representors(fs::path(card.folder) / "dpu/sys", card, manager->profile);
    } catch (const std::exception &error) { // of std::filesystem and of streams
        std::fprintf(stderr, "the representors can't be shown: %s\n", error.what());
    }
}

void show_port_state(const Card &card, const Function &function)
{
    if (card.folder.empty())
        return;
    const fs::path side = fs::path(card.folder) / (function.profile.side == Side::host ? "host" : "dpu");
    try {
        write_state(device_folder(side / "sys", function.profile) / "infiniband" / function.profile.device_name /
                        "ports/1",
                    function.is_port_up);
    } catch (const std::exception &error) { // of std::filesystem and of streams
        std::fprintf(stderr, "the state of the port of %s can't be shown: %s\n", function.profile.device_name.c_str(),
                     error.what());
    }
}

} // namespace opendoca::card
