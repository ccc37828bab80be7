// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../common/files.hpp"
#include "core/base/unique_fd.hpp"

namespace opendoca::tools {

namespace {

/// Locked memory that suffices for the rings and buffers of a few connections, in bytes.
constexpr std::uint64_t enough_locked = std::uint64_t{64} << 20;
constexpr int cap_ipc_lock = 14; ///< CAP_IPC_LOCK, which lifts the limit on locked memory

bool is_real(const DeviceReport &device)
{
    return device.provider != "soft";
}

/// Joins names with commas.
std::string list(const std::vector<std::string> &names)
{
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// Returns what a device of the kernel lacks that the library does not list. The result depends on opening its node.
Lack lack_of(const KernelDevice &device, uid_t user)
{
    if (device.node.empty())
        return {"the kernel has no verbs for " + device.name, "modprobe ib_uverbs"};
    switch (device.error) {
    case 0:
        return {"libibverbs does not list " + device.name, "apt install ibverbs-providers"};
    case ENOENT:
        return {device.node + " of " + device.name + " does not exist",
                "of a container: --device=" + device.node + "; else udev makes it"};
    case EACCES:
    case EPERM:
        return {"user " + std::to_string(user) + " may not open " + device.node + " of " + device.name,
                device.error == EPERM ? "the container or service must be allowed to use the device"
                                      : "give the user the right to read and write it"};
    default:
        return {device.node + " of " + device.name + " cannot be opened: " + std::strerror(device.error),
                "the kernel's log may know why"};
    }
}

/// Returns the bytes that this process may lock; all if it has the capability or no limit can be read.
std::uint64_t lockable_memory()
{
    rlimit limit{};
    if (has_capability(text_in("/proc/self/status"), cap_ipc_lock) || getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return UINT64_MAX;
    return limit.rlim_cur;
}

} // namespace

MachineFacts read_machine_facts()
{
    MachineFacts facts;
    facts.user = geteuid();
    facts.lockable = lockable_memory();
    const std::string verbs = "/sys/class/infiniband_verbs/";
    for (const std::string &name : names_in("/sys/class/infiniband"))
        facts.rdma.push_back({name, "", 0});
    // The verbs node of a device has another name (uverbs0); its file "ibdev" links both.
    for (const std::string &entry : names_in(verbs)) {
        const std::string name = first_line(verbs + entry + "/ibdev");
        const auto device = std::ranges::find(facts.rdma, name, &KernelDevice::name);
        if (device == facts.rdma.end())
            continue;
        device->node = "/dev/infiniband/" + entry;
        const UniqueFd opened(open(device->node.c_str(), O_RDWR | O_CLOEXEC));
        device->error = opened.is_open() ? 0 : errno;
    }
    // 0x15b3 is NVIDIA's (Mellanox's) PCI vendor; class 0x02 is a network controller.
    const std::string bus = "/sys/bus/pci/devices/";
    for (const std::string &address : names_in(bus)) {
        const bool is_network_card = first_line(bus + address + "/vendor") == "0x15b3" &&
                                     first_line(bus + address + "/class").starts_with("0x02");
        if (is_network_card && names_in(bus + address + "/infiniband").empty())
            facts.idle_cards.push_back(address);
    }
    return facts;
}

std::vector<Lack> lacks_of(const MachineFacts &facts, const std::vector<DeviceReport> &devices,
                           const std::vector<AccessCheck> &access)
{
    std::vector<Lack> lacks;
    for (const KernelDevice &device : facts.rdma) {
        const auto listed = std::ranges::find(devices, device.name, &DeviceReport::ibdev);
        if (listed == devices.end())
            lacks.push_back(lack_of(device, facts.user));
        else if (!listed->is_port_active)
            lacks.push_back({"the port of " + device.name + " is down", "plug in the cable, and set its interface up"});
        // The cards' drivers are loaded in two steps: mlx5_core drives the card, mlx5_ib makes the RDMA device.
    }
    if (!facts.idle_cards.empty())
        lacks.push_back({"no driver makes an RDMA device of the card " + list(facts.idle_cards), "modprobe mlx5_ib"});
    // The limit concerns real devices only.
    if (std::ranges::any_of(devices, is_real) && facts.lockable < enough_locked)
        lacks.push_back(
            {"only " + std::to_string(facts.lockable >> 10) + " KiB of memory may be locked for RDMA devices",
             "raise ulimit -l; of a container: --ulimit memlock=-1"});
    if (!std::ranges::all_of(devices, is_real)) {
        // Settings do not count unless an attempt failed: doca_caps --all lists them as possible causes.
        for (const AccessCheck &check : access) {
            if (check.verdict == Verdict::blocked || (check.verdict == Verdict::limited && check.was_tried))
                lacks.push_back(
                    {"software devices and " + std::string(check.title) + ": " + check.found, check.advice});
        }
    }
    return lacks;
}

std::string readiness(const std::vector<Lack> &lacks, const MachineFacts &facts,
                      const std::vector<DeviceReport> &devices)
{
    std::vector<std::string> real;
    for (const DeviceReport &device : devices) {
        if (is_real(device))
            real.push_back(name_of(device));
    }
    const bool has_soft = real.size() < devices.size();
    std::string in_use = real.empty() ? "" : "RDMA on " + list(real);
    if (has_soft)
        in_use += real.empty() ? "software devices" : ", and software devices";
    // Software devices replace missing hardware only where there is none at all.
    if (has_soft && real.empty() && facts.rdma.empty())
        in_use += ", as this machine has no RDMA device";
    if (devices.empty())
        in_use = "no device";
    if (lacks.empty())
        return (devices.empty() ? "Missing: " : "Ready: ") + in_use + ".";
    std::string text = "Missing: ";
    for (const Lack &lack : lacks)
        text += (&lack == &lacks.front() ? "" : "; ") + lack.what + " (" + lack.remedy + ")";
    return text + ". In use: " + in_use + ".";
}

} // namespace opendoca::tools
