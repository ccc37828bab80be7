// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <doca_dev.h>

namespace opendoca::tools {

/// What a device answers: yes or no, a number, how, or nothing because the question does not arise.
using CapabilityValue = std::variant<std::monostate, bool, std::uint64_t, const char *>;

/// One property that devices have or lack. A library joins doca_caps by its rows in v2/ and v3/.
struct CapabilityRow {
    const char *key; ///< in JSON
    const char *title;
    CapabilityValue (*ask)(doca_devinfo &info);
};

[[nodiscard]] std::span<const CapabilityRow> capability_rows();

using Gid = std::array<std::uint8_t, 16>;
/// The device's GIDs, empty ones too; nothing where it has no RDMA.
[[nodiscard]] std::vector<Gid> gid_table(doca_devinfo &info);

/// Logs up to debug messages, or nothing but what is critical.
void set_log_level(bool is_verbose);

/// For people: "yes", "-" for no, a number, a word, or nothing.
[[nodiscard]] std::string to_text(const CapabilityValue &value);

} // namespace opendoca::tools
