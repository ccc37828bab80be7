// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The differences between the API generations that concern the parser.
#pragma once

#include <cstdint>
#include <string>

#include <doca_error.h>

namespace opendoca::argp {

/// Constants and functions of one generation. Each front end has one static, constant object of it, which outlives the
/// parser.
struct Generation {
    doca_error_t misuse;                          ///< returned by calls in a wrong state
    std::uint32_t most_severe;                    ///< the lowest log level that a user may give
    std::uint32_t most_verbose;                   ///< and the highest
    std::string log_levels;                       ///< for the usage text
    bool has_sdk_log;                             ///< the libraries have a log of their own, with a flag
    const char *(*error_name)(doca_error_t);      ///< returns the name of an error code
    doca_error_t (*set_log_level)(std::uint32_t); ///< functions of the log, for the flags of the same names
    std::uint32_t (*log_level)();
    doca_error_t (*set_sdk_log_level)(std::uint32_t); ///< null without has_sdk_log, as the next one
    std::uint32_t (*sdk_log_level)();
    std::string (*version_text)(); ///< returns the text of --version
};

} // namespace opendoca::argp
