// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>
#include <vector>

#include "access.hpp"
#include "devices.hpp"

namespace opendoca::tools {

/// Everything that doca_caps finds out.
struct Report {
    std::string release; ///< of opendoca
    std::string version; ///< of the API
    std::vector<DeviceReport> devices;
    std::vector<AccessCheck> access;
};

[[nodiscard]] std::string to_text(const Report &report);
[[nodiscard]] std::string to_json(const Report &report);

} // namespace opendoca::tools
