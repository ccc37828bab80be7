// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What this machine lacks for DOCA programs to run on its devices, and the commands that supply it.
// read_machine_facts() reads; lacks_of() and readiness() judge, so that tests can judge facts of other machines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "access.hpp"
#include "devices.hpp"

namespace opendoca::tools {

/// An RDMA device of the kernel, whether or not libibverbs lists it.
struct KernelDevice {
    std::string name; ///< "mlx5_0"
    std::string node; ///< "/dev/infiniband/uverbs0"; empty if the kernel has no verbs for it
    int error = 0;    ///< errno value of opening the node; 0 if that worked
};

/// What the kernel reports about devices and limits. Constant after read_machine_facts().
struct MachineFacts {
    std::vector<KernelDevice> rdma;
    std::vector<std::string> idle_cards; ///< PCI addresses of NVIDIA's network cards without an RDMA device
    uid_t user = 0;
    std::uint64_t lockable = 0; ///< number of bytes that this process may lock
};

/// Something that is missing, and the command or change that supplies it.
struct Lack {
    std::string what;
    std::string remedy;
};

/// Reads sysfs and opens the devices' nodes.
[[nodiscard]] MachineFacts read_machine_facts();

/// Returns what is missing, the most important first. Empty if the devices can be used.
[[nodiscard]] std::vector<Lack> lacks_of(const MachineFacts &facts, const std::vector<DeviceReport> &devices,
                                         const std::vector<AccessCheck> &access);

/// Formats one line: "Ready: ..." or "Missing: ...".
[[nodiscard]] std::string readiness(const std::vector<Lack> &lacks, const MachineFacts &facts,
                                    const std::vector<DeviceReport> &devices);

} // namespace opendoca::tools
