// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The text of --help and --version.
#pragma once

#include <string>

#include "flag_set.hpp"

namespace opendoca::argp
{

[[nodiscard]] std::string usage_text(const std::string &program_name, const FlagSet &flags,
                                     bool is_dpdk_program);

[[nodiscard]] std::string version_text();

} // namespace opendoca::argp
