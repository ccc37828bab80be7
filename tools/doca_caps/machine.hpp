// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What this machine lacks for programs to run on its devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

#include "access.hpp"
#include "devices.hpp"

namespace opendoca::tools {

/// An RDMA device of the kernel.
struct KernelDevice {
    std::string name; ///< "mlx5_0"
    std::string node; ///< "/dev/infiniband/uverbs0", or empty where the kernel has no verbs for it
    int error = 0;    ///< of opening that: an errno value
};

struct MachineFacts {
    std::vector<KernelDevice> rdma;
    std::vector<std::string> idle_cards; ///< PCI addresses of NVIDIA's network cards that are no RDMA device
    uid_t user = 0;
    std::uint64_t lockable = 0; ///< bytes that this process may lock
};

struct Lack {
    std::string what;
    std::string remedy;
};

[[nodiscard]] MachineFacts read_machine_facts();

/// What is to be mended, the most important first.
[[nodiscard]] std::vector<Lack> lacks_of(const MachineFacts &facts, const std::vector<DeviceReport> &devices,
                                         const std::vector<AccessCheck> &access);

/// One line: "Ready: ..." or "Missing: ...".
[[nodiscard]] std::string readiness(const std::vector<Lack> &lacks, const MachineFacts &facts,
                                    const std::vector<DeviceReport> &devices);

} // namespace opendoca::tools
