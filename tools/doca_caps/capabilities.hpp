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

/// The answer of a device: yes or no, a number, a word that qualifies a yes, or nothing if the question does not apply.
using CapabilityValue = std::variant<std::monostate, bool, std::uint64_t, const char *>;

/// One row of the report: a property that devices have or lack. Rows are constant and live as long as the program, so
/// results are stored by the row's index.
struct CapabilityRow {
    const char *key;   ///< the name in JSON
    const char *title; ///< the title; indented by two blanks if the row is a detail of one above
    CapabilityValue (*query)(doca_devinfo &info);
    std::optional<Ability> ability; ///< the internal name of a capability, for the reason why a device lacks it
    const char *brief = nullptr;    ///< the name in the list of one line; null if it is left out there
};

/// Returns the rows that the generation's API can answer.
[[nodiscard]] std::span<const CapabilityRow> capability_rows();

/// The names of the generation's libraries, without "libdoca_".
[[nodiscard]] std::span<const char *const> library_names();

/// Returns the device's GID table, including empty entries; an empty table if the device has no RDMA.
[[nodiscard]] std::vector<Gid> gid_table(doca_devinfo &info);

/// Sets the library's log level: debug messages, or critical errors only.
void set_log_level(bool is_verbose);

/// Returns whether the device belongs to the software provider.
[[nodiscard]] bool is_software(const doca_devinfo &info);

/// Formats for the tables: "yes", "-" for no, a number, a word, or "" if there is no answer.
[[nodiscard]] std::string to_text(const CapabilityValue &value);

/// Returns whether the answer is a plain no. A missing answer is not a lack.
[[nodiscard]] bool is_lacking(const CapabilityValue &value);
/// Whether it is a yes, or a word for how it is done.
[[nodiscard]] bool is_present(const CapabilityValue &value);

// Adapters from functions of the API to CapabilityRow, each instantiated once for a row.

/// Converts a predicate.
template <bool (*predicate)(doca_devinfo &)>
CapabilityValue yes_or_no(doca_devinfo &info)
{
    return predicate(info);
}

/// The same, for what an engine of a card does elsewhere, and the CPU does here, on every device.
template <bool (*predicate)(doca_devinfo &)>
CapabilityValue emulated(doca_devinfo &info)
{
    if (predicate(info))
        return "emulated";
    return false;
}

/// Converts a function of the API that answers by success or an error.
template <auto get>
CapabilityValue success(doca_devinfo &info)
{
    return get(&info) == DOCA_SUCCESS;
}

/// Converts a function of the API that stores 0 or 1. NOT_SUPPORTED counts as no; any other error is no answer.
template <auto get>
CapabilityValue flag(doca_devinfo &info)
{
    std::uint8_t value = 0;
    const doca_error_t status = get(&info, &value);
    if (status != DOCA_SUCCESS && status != DOCA_ERROR_NOT_SUPPORTED)
        return {};
    return status == DOCA_SUCCESS && value != 0;
}

/// Declared only, for decltype: deduces the number's type from a getter of the API, which is 32 or 64 bits wide.
template <typename Info, typename Number>
Number number_returned_by(doca_error_t (*get)(Info *, Number *));

/// Converts a getter of a limit. There is no answer for devices without the capability that it limits.
template <bool (*has)(doca_devinfo &), auto get>
CapabilityValue limit(doca_devinfo &info)
{
    decltype(number_returned_by(get)) value = 0;
    if (!has(info) || get(&info, &value) != DOCA_SUCCESS)
        return {};
    return std::uint64_t{value};
}

} // namespace opendoca::tools
