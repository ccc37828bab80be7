// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "pci_address.hpp"

#include <cstddef>

namespace opendoca {

std::optional<std::string> normalize_pci_address(std::string_view text)
{
    constexpr std::string_view pattern = "xxxx:xx:xx.f"; // x: a hexadecimal digit, f: 0 to 7
    std::string address(text);
    if (address.size() == pattern.size() - 5)
        address.insert(0, "0000:");
    if (address.size() != pattern.size())
        return std::nullopt;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        char &c = address[i];
        if (c >= 'A' && c <= 'F')
            c = static_cast<char>(c - 'A' + 'a');
        const bool is_digit = c >= '0' && c <= '9';
        const bool fits = pattern[i] == 'x'   ? is_digit || (c >= 'a' && c <= 'f')
                          : pattern[i] == 'f' ? c >= '0' && c <= '7'
                                              : c == pattern[i];
        if (!fits)
            return std::nullopt;
    }
    if (address[8] > '1') // 32 devices on a bus
        return std::nullopt;
    return address;
}

} // namespace opendoca
