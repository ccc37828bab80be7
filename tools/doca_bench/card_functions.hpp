// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

#include <bench_api.hpp>

#include "../common/doca.hpp"

namespace opendoca::tools {

using RepresentorHandle = Handle<doca_dev_rep, doca_dev_rep_close>;

/// A port of a DPU that can serve messages, and a host function behind it: the two devices of a benchmark with
/// messages. Owns both open devices; each process of a benchmark has an object of its own.
struct CardFunctions {
    DeviceHandle dpu;
    DeviceHandle host;
    std::string host_pci;    ///< PCI address of the host function, which identifies its representor
    std::string description; ///< "soft_pf0 to soft_p0"
};

/// Returns the first host function for which a port has a representor, or the one named @p host_ibdev. Throws if there
/// is none.
[[nodiscard]] CardFunctions find_functions(const std::string &host_ibdev = {});

/// Opens the representor of the host function at @p pci. @p dpu must stay open for as long.
[[nodiscard]] RepresentorHandle open_representor(doca_dev *dpu, const std::string &pci);

} // namespace opendoca::tools
