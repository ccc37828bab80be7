// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the parser has to know of the API generation that it works for.
#pragma once

#include <cstdint>
#include <string>

#include <doca_error.h>

namespace opendoca::argp
{

struct Generation {
    doca_error_t misuse;          ///< the answer to calls that are not allowed now
    std::uint32_t most_severe;    ///< lowest log level that a user may give
    std::uint32_t most_verbose;   ///< and highest
    std::string log_levels;       ///< for the usage text
    bool has_sdk_log;             ///< the libraries have a log of their own, with a flag
    const char *(*error_name)(doca_error_t);
    doca_error_t (*set_log_level)(std::uint32_t);
    std::uint32_t (*log_level)();
    doca_error_t (*set_sdk_log_level)(std::uint32_t); ///< null without has_sdk_log, as the next one
    std::uint32_t (*sdk_log_level)();
    std::string (*version_text)();
};

} // namespace opendoca::argp
