// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The text of --help.
#pragma once

#include <string>

#include "flag_set.hpp"

namespace opendoca::argp {

/// Returns the usage text for the innermost command of @p path: DOCA's flags, the flags of the command, inherited ones,
/// and its commands.
[[nodiscard]] std::string usage_text(const std::string &program_name, const FlagSet &flags, const Path &path,
                                     bool is_dpdk_program);

} // namespace opendoca::argp
