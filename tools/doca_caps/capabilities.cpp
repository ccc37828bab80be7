// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "capabilities.hpp"

namespace opendoca::tools {

std::string to_text(const CapabilityValue &value)
{
    if (const bool *const is_set = std::get_if<bool>(&value))
        return *is_set ? "yes" : "-";
    if (const std::uint64_t *const number = std::get_if<std::uint64_t>(&value))
        return std::to_string(*number);
    if (const char *const *const word = std::get_if<const char *>(&value))
        return *word;
    return "";
}

} // namespace opendoca::tools
