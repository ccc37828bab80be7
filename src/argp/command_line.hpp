// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// From the words of the command line to a Request.
#pragma once

#include <span>

#include "flag_set.hpp"
#include "request.hpp"

namespace opendoca::argp
{

/// Reads @p words, which have neither the program name nor DPDK's arguments, up to the end or to the first
/// flag for help or the version. @p request may be half filled when it fails.
[[nodiscard]] doca_error_t parse_command_line(const FlagSet &flags, std::span<char *const> words,
                                              Request &request);

} // namespace opendoca::argp
