// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One flag of the program, as doca_argp_param_create() makes it and the setters fill it.
#pragma once

#include <string>

#include <doca_argp.h>

struct doca_argp_param {
    std::string short_name;
    std::string long_name;
    std::string arguments;
    std::string description;
    callback_func callback = nullptr;
    doca_argp_type type = DOCA_ARGP_TYPE_UNKNOWN;
    bool is_mandatory = false;
    bool is_cli_only = false;
    bool has_multiplicity = false;
    bool is_out_of_memory = false; ///< A setter, which cannot report it, could not copy its string.

    /// Whether the parameter can be registered.
    [[nodiscard]] doca_error_t check() const;

    /// Its names as the user writes them: "-p/--pci-addr".
    [[nodiscard]] std::string flags() const;
};

namespace opendoca::argp
{

/// The names of a flag, either of which may be empty, as the user writes them.
[[nodiscard]] std::string flag_names(const std::string &short_name, const std::string &long_name);

} // namespace opendoca::argp
