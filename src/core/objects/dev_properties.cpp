// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dev_properties.hpp"

#include <cstdint>
#include <cstring>
#include <string>

#include "../base/pci_address.hpp"
#include "../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_DEVINFO);

namespace opendoca {

namespace {

/// Implements compare_pci_address(). @p Info describes a device or a representor.
template <typename Info>
doca_error_t compare(const Info &info, const char *text, std::uint8_t &is_equal)
{
    const auto wanted = normalize_pci_address(text);
    if (!wanted) {
        LOG_ERR("'%.32s' is not a PCI address of the form dddd:bb:dd.f or bb:dd.f", text);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // Any of a function's addresses matches, not only the one that the element shows.
    const bool is_match = info.has_address(*wanted);
    // An open device is not an element of a list, and belongs to no search.
    if (info.search != nullptr)
        info.search->note(*wanted, is_match);
    is_equal = is_match;
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t copy_pci_address(const std::string &name, const std::string &address, char *out, doca_error_t if_none)
{
    if (address.empty()) {
        // Not an error: programs try each device of a list.
        LOG_INFO("device %s is not on a PCI bus", name.c_str());
        return if_none;
    }
    // The public header fixes the size of the output; addresses in normal form always fit.
    std::memcpy(out, address.c_str(), address.size() + 1);
    return DOCA_SUCCESS;
}

doca_error_t compare_pci_address(const doca_devinfo &info, const char *text, std::uint8_t &is_equal)
{
    return compare(info, text, is_equal);
}

doca_error_t compare_pci_address(const doca_devinfo_rep &info, const char *text, std::uint8_t &is_equal)
{
    return compare(info, text, is_equal);
}

doca_error_t check_room(const char *what, std::uint32_t size, std::uint32_t needed)
{
    // The same rule for all lengths of the text, so that a program does not fail for single devices only.
    if (size < needed) {
        LOG_ERR("%s takes %u bytes, the buffer has %u", what, needed, size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t report_none(const doca_devinfo &info, const char *what, doca_error_t if_none)
{
    LOG_INFO("device %s has no %s", info.function->name.c_str(), what);
    return if_none;
}

doca_error_t report_none(const doca_devinfo_rep &info, const char *what, doca_error_t if_none)
{
    LOG_INFO("representor %s has no %s", info.info.name.c_str(), what);
    return if_none;
}

doca_error_t copy_text(const char *what, const std::string &text, char *out, std::uint32_t size, std::uint32_t needed)
{
    if (const doca_error_t status = check_room(what, size, needed); status != DOCA_SUCCESS)
        return status;
    // At least one NUL is left. The rest is cleared, so that no old data of the program looks like part of the string.
    const std::size_t length = std::min<std::size_t>(text.size(), needed - 1);
    std::memcpy(out, text.data(), length);
    std::memset(out + length, 0, needed - length);
    return DOCA_SUCCESS;
}

} // namespace opendoca
