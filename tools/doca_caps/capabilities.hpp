// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <doca_dev.h>

#include "core/device/device.hpp"

namespace opendoca::tools {

/// What a device answers: yes or no, a number, how, or nothing because the question does not arise.
using CapabilityValue = std::variant<std::monostate, bool, std::uint64_t, const char *>;

/// One property that devices have or lack.
struct CapabilityRow {
    const char *key;   ///< in JSON
    const char *title; ///< that of a detail is indented
    CapabilityValue (*ask)(doca_devinfo &info);
    std::optional<Ability> ability; ///< of what can be lacking
    const char *brief = nullptr;    ///< in one line with the others; null for what is left out there
};

/// Those of the generation's API.
[[nodiscard]] std::span<const CapabilityRow> capability_rows();

/// The names of the generation's libraries, without "libdoca_".
[[nodiscard]] std::span<const char *const> library_names();

/// The device's GIDs, empty ones too; nothing where it has no RDMA.
[[nodiscard]] std::vector<Gid> gid_table(doca_devinfo &info);

/// Logs up to debug messages, or nothing but what is critical.
void set_log_level(bool is_verbose);

[[nodiscard]] bool is_software(const doca_devinfo &info);

/// For people: "yes", "-" for no, a number, a word, or nothing.
[[nodiscard]] std::string to_text(const CapabilityValue &value);

/// Whether the device was asked for a capability, and has it not.
[[nodiscard]] bool is_lacking(const CapabilityValue &value);

// How rows ask.

template <bool (*ask)(doca_devinfo &)>
CapabilityValue yes_or_no(doca_devinfo &info)
{
    return ask(info);
}

/// A function of the API that succeeds, or not.
template <auto get>
CapabilityValue success(doca_devinfo &info)
{
    return get(&info) == DOCA_SUCCESS;
}

/// A function of the API that returns a byte. NOT_SUPPORTED counts as no: the device cannot do it at all.
template <auto get>
CapabilityValue flag(doca_devinfo &info)
{
    std::uint8_t value = 0;
    const doca_error_t status = get(&info, &value);
    if (status != DOCA_SUCCESS && status != DOCA_ERROR_NOT_SUPPORTED)
        return {};
    return status == DOCA_SUCCESS && value != 0;
}

/// Deduces the type of the number that such a function of the API returns.
template <typename Info, typename Number>
Number number_told_by(doca_error_t (*get)(Info *, Number *));

/// A limit, for devices that have what it limits.
template <bool (*has)(doca_devinfo &), auto get>
CapabilityValue limit(doca_devinfo &info)
{
    decltype(number_told_by(get)) value = 0;
    if (!has(info) || get(&info, &value) != DOCA_SUCCESS)
        return {};
    return std::uint64_t{value};
}

} // namespace opendoca::tools
