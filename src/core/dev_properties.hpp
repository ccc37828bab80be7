// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Properties of devices, copied to where a program wants them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "dev.hpp"

namespace opendoca {

/// @p if_none for a device that is not on a PCI bus.
[[nodiscard]] doca_error_t copy_pci_address(const std::string &name, const std::string &address, char *out,
                                            doca_error_t if_none);
/// INVALID_VALUE for what is no PCI address.
[[nodiscard]] doca_error_t compare_pci_address(const doca_devinfo &info, const char *text, std::uint8_t &is_equal);
[[nodiscard]] doca_error_t compare_pci_address(const doca_devinfo_rep &info, const char *text, std::uint8_t &is_equal);
/// Copies a string into a buffer of @p size bytes that must have room for any string of the property, which is all
/// that is cleared: programs have given larger sizes than their buffers have.
[[nodiscard]] doca_error_t copy_text(const char *what, const std::string &text, char *out, std::uint32_t size,
                                     std::uint32_t needed);
/// INVALID_VALUE unless a buffer of @p size bytes is large enough.
[[nodiscard]] doca_error_t check_room(const char *what, std::uint32_t size, std::uint32_t needed);
[[nodiscard]] doca_error_t report_none(const doca_devinfo &info, const char *what, doca_error_t if_none);
[[nodiscard]] doca_error_t report_none(const doca_devinfo_rep &info, const char *what, doca_error_t if_none);

/// A number, or NOT_SUPPORTED. @p Info is the description of a device or of a representor.
template <typename Info, typename Number>
[[nodiscard]] doca_error_t copy_number(const char *what, const Info &info, const std::optional<Number> &number,
                                       Number &out)
{
    if (!number)
        return report_none(info, what, DOCA_ERROR_NOT_SUPPORTED);
    out = *number;
    return DOCA_SUCCESS;
}

/// One of a function's addresses, or @p if_none.
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
