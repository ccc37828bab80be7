// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The variables of the environment and the facts of the installation that determine how opendoca behaves.
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
    std::optional<std::string> value; ///< empty if not set
    std::string meaning;              ///< the effect of the value, or of its absence
};

/// A decision that is in effect, such as the library or topology in use.
struct Fact {
    const char *name;
    std::string value;
};

/// Returns all variables that opendoca reads, and others in @p environment with names that begin with DOCA_.
[[nodiscard]] std::vector<Setting> settings_in(const char *const *environment);

/// Returns the decisions that are in effect, given the devices that were found.
[[nodiscard]] std::vector<Fact> facts_in_force(const std::vector<DeviceReport> &devices);

} // namespace opendoca::tools
