// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the environment and the installation make opendoca do.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "devices.hpp"

namespace opendoca::tools {

/// A variable of the environment.
struct Setting {
    std::string name;
    std::optional<std::string> value; ///< empty: not set
    std::string meaning;              ///< of the value, or of its absence
};

/// Something that is in force, and where it comes from.
struct Fact {
    const char *name;
    std::string value;
};

/// All variables that opendoca reads, and whatever else in @p environment begins with DOCA_.
[[nodiscard]] std::vector<Setting> settings_in(const char *const *environment);

[[nodiscard]] std::vector<Fact> facts_in_force(const std::vector<DeviceReport> &devices);

} // namespace opendoca::tools
