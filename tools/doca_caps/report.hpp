// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>
#include <vector>

#include "access.hpp"
#include "configuration.hpp"
#include "devices.hpp"
#include "machine.hpp"

namespace opendoca::tools {

/// Everything that doca_caps finds out.
struct Report {
    std::string release; ///< of opendoca
    std::string version; ///< of the API
    std::vector<DeviceReport> devices;
    std::vector<AccessCheck> access;
    std::vector<Lack> lacks; ///< of the machine
    std::string readiness;
    std::vector<Setting> settings;
    std::vector<Fact> facts;
};

/// Finds all of it out. Throws when there is no list of devices.
[[nodiscard]] Report make_report();

// For people, each a text of whole lines.

[[nodiscard]] std::string release_line(const Report &report);
/// A line for each device.
[[nodiscard]] std::string short_list(const Report &report);
/// Devices, capabilities and cross-process access, side by side.
[[nodiscard]] std::string everything(const Report &report);
/// All about one device.
[[nodiscard]] std::string closer(const DeviceReport &device);
/// Why capabilities are missing, for each of @p devices.
[[nodiscard]] std::string explanations(const std::vector<DeviceReport> &devices);
[[nodiscard]] std::string configuration(const Report &report);
/// Returns the results of the API's functions for each device, or for each representor.
[[nodiscard]] std::string device_properties(const Report &report);
[[nodiscard]] std::string representor_properties(const Report &report);

[[nodiscard]] std::string to_json(const Report &report);

} // namespace opendoca::tools
