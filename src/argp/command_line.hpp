// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Parses the words of a command line into a Request.
#pragma once

#include <span>

#include "flag_set.hpp"
#include "request.hpp"

namespace opendoca::argp {

/// Parses @p words, without the program name and DPDK's arguments, up to the end or to the first flag for help or for
/// the version. Returns NOT_SUPPORTED for an unknown flag, command or argument, INVALID_VALUE for a wrong value. @p
/// request may be partly filled on failure.
[[nodiscard]] doca_error_t parse_command_line(const FlagSet &flags, std::span<char *const> words, Request &request);

} // namespace opendoca::argp
