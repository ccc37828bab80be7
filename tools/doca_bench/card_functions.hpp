// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

#include <bench_api.hpp>

#include "../common/doca.hpp"

namespace opendoca::tools {

using RepresentorHandle = Handle<doca_dev_rep, doca_dev_rep_close>;

/// A port of a DPU that can serve messages, with a host function behind it.
struct CardFunctions {
    DeviceHandle dpu;
    DeviceHandle host;
    std::string host_pci;
    std::string description; ///< "soft_pf0 to soft_p0"
};

/// Returns the first host function for which a port has a representor, or the one named @p host_ibdev. Throws if there
/// is none.
[[nodiscard]] CardFunctions find_functions(const std::string &host_ibdev = {});

/// Returns the pair for the host function at @p pci.
[[nodiscard]] RepresentorHandle open_representor(doca_dev *dpu, const std::string &pci);

} // namespace opendoca::tools
