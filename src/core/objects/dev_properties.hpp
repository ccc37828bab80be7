// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Properties of devices, copied to memory of the program. Outputs are set only on success.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "dev.hpp"

namespace opendoca {

/// Copies @p address with a terminating NUL. Returns @p if_none if it is empty: the device is not on a PCI bus.
[[nodiscard]] doca_error_t copy_pci_address(const std::string &name, const std::string &address, char *out,
                                            doca_error_t if_none);
/// Compares all addresses of the device with @p text, and records the result for the list's search. INVALID_VALUE if
/// @p text is not a PCI address.
[[nodiscard]] doca_error_t compare_pci_address(const doca_devinfo &info, const char *text, std::uint8_t &is_equal);
[[nodiscard]] doca_error_t compare_pci_address(const doca_devinfo_rep &info, const char *text, std::uint8_t &is_equal);
/// Copies a string to a buffer of @p size bytes, which must be at least @p needed, the room for any string of the
/// property. Writes exactly @p needed bytes: programs exist that pass a larger size than their buffers have.
[[nodiscard]] doca_error_t copy_text(const char *what, const std::string &text, char *out, std::uint32_t size,
                                     std::uint32_t needed);
/// Returns INVALID_VALUE, with a message, if @p size is less than @p needed bytes.
[[nodiscard]] doca_error_t check_room(const char *what, std::uint32_t size, std::uint32_t needed);
/// Logs that the device has no property @p what. Returns @p if_none.
[[nodiscard]] doca_error_t report_none(const doca_devinfo &info, const char *what, doca_error_t if_none);
[[nodiscard]] doca_error_t report_none(const doca_devinfo_rep &info, const char *what, doca_error_t if_none);

/// Copies a number, or returns NOT_SUPPORTED if there is none. @p Info describes a device or a representor.
template <typename Info, typename Number>
[[nodiscard]] doca_error_t copy_number(const char *what, const Info &info, const std::optional<Number> &number,
                                       Number &out)
{
    if (!number)
        return report_none(info, what, DOCA_ERROR_NOT_SUPPORTED);
    out = *number;
    return DOCA_SUCCESS;
}

/// Copies one of a function's addresses (such as its MAC), or returns @p if_none if there is none.
template <typename Address>
[[nodiscard]] doca_error_t copy_address(const char *what, const doca_devinfo &info, Address DeviceFunction::*member,
                                        std::uint8_t *out, std::uint32_t size, doca_error_t if_none)
{
    const Address &address = (*info.function).*member;
    constexpr auto needed = std::tuple_size_v<typename Address::value_type>;
    if (const doca_error_t status = check_room(what, size, needed); status != DOCA_SUCCESS)
        return status;
    if (!address)
        return report_none(info, what, if_none);
    std::ranges::copy(*address, out);
    return DOCA_SUCCESS;
}

} // namespace opendoca
