// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One flag of the program, as doca_argp_param_create() makes it and the setters fill it.
#pragma once

#include <string>

#include <doca_error.h>

namespace opendoca::argp
{

/// The values of doca_argp_type.
enum class Type : unsigned { unknown, string, number, boolean, json };

/// Gets a value and the program's configuration.
using ParamCallback = doca_error_t (*)(void *value, void *config);

} // namespace opendoca::argp

struct doca_argp_param {
    std::string short_name;
    std::string long_name;
    std::string arguments;
    std::string description;
    opendoca::argp::ParamCallback callback = nullptr;
    opendoca::argp::Type type = opendoca::argp::Type::unknown;
    bool is_mandatory = false;
    bool is_cli_only = false;
    bool has_multiplicity = false;
    bool is_singular = false;      ///< No other flag of the program may be given with it.
    bool is_inherited = false;     ///< It may be given within the commands below, too.
    bool is_hidden = false;
    bool is_taken = false;         ///< It is registered, and belongs to who has it.
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
