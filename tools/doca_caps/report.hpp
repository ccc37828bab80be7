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

/// Everything that doca_caps reports. Filled once by make_report(), then only formatted; the program has one thread.
struct Report {
    std::string release; ///< the release of opendoca
    std::string version; ///< the version of the API
    std::vector<DeviceReport> devices;
    std::vector<AccessCheck> access;
    std::vector<Lack> lacks; ///< what the machine lacks
    std::string readiness;
    std::vector<Setting> settings;
    std::vector<Fact> facts;
};

/// Collects the report. Throws if the library can't list devices.
[[nodiscard]] Report make_report();

// Formatters for the terminal. Each returns whole lines.

/// Returns the releases of opendoca and of the API.
[[nodiscard]] std::string release_line(const Report &report);
/// Formats one line for each device.
[[nodiscard]] std::string short_list(const Report &report);
/// Formats devices, capabilities and cross-process access as tables.
[[nodiscard]] std::string everything(const Report &report);
/// Formats everything about one device.
[[nodiscard]] std::string device_details(const DeviceReport &device);
/// Formats the reasons for missing capabilities of @p devices.
[[nodiscard]] std::string explanations(const std::vector<DeviceReport> &devices);
/// Formats the settings of the environment and the decisions in effect.
[[nodiscard]] std::string configuration(const Report &report);
/// Formats the results of the API's functions for each device, or for each representor.
[[nodiscard]] std::string device_properties(const Report &report);
[[nodiscard]] std::string representor_properties(const Report &report);

/// Formats the whole report as JSON. The options of the command line do not change it.
[[nodiscard]] std::string to_json(const Report &report);

} // namespace opendoca::tools
