// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One flag of the program, as doca_argp_param_create() makes it and the setters fill it.
#pragma once

#include <string>

#include <doca_error.h>

namespace opendoca::argp {

/// The values of doca_argp_type.
enum class Type : unsigned { unknown, string, number, boolean, json };

/// The callback of a flag; receives a value and the program's configuration.
using ParamCallback = doca_error_t (*)(void *value, void *config);

} // namespace opendoca::argp

/// A flag. Owned by the program until it is registered, then by its level. Filled by setters that cannot report errors:
/// check() reports them at the registration.
struct doca_argp_param {
    std::string short_name;                           ///< without its dash; may be empty if there is a long name
    std::string long_name;                            ///< without its dashes; also the key in a JSON file
    std::string arguments;                            ///< placeholder of the value in the usage text
    std::string description;                          ///< for the usage text; required
    opendoca::argp::ParamCallback callback = nullptr; ///< called once for each value; required
    opendoca::argp::Type type = opendoca::argp::Type::unknown; ///< type of the values; required
    bool is_mandatory = false;                                 ///< must be given, unless a singular flag is
    bool is_cli_only = false;                                  ///< not allowed in a JSON file
    bool has_multiplicity = false;                             ///< may be given several times
    bool is_singular = false;                                  ///< no other flag of the program may be given with it
    bool is_inherited = false;                                 ///< may also be given after the commands below its level
    bool is_hidden = false;                                    ///< not in the usage text
    bool is_taken = false;         ///< registered: owned by its level, and no longer changeable
    bool is_out_of_memory = false; ///< a setter, which cannot report errors, failed to copy its string

    /// Returns DOCA_SUCCESS if the flag is complete and can be registered.
    [[nodiscard]] doca_error_t check() const;

    /// Returns its names as the user writes them: "-p/--pci-addr".
    [[nodiscard]] std::string flags() const;
};

namespace opendoca::argp {

/// Returns the names of a flag as the user writes them; either may be empty.
[[nodiscard]] std::string flag_names(const std::string &short_name, const std::string &long_name);

} // namespace opendoca::argp
