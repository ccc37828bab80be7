// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// From the content of a JSON file to a Request.
#pragma once

#include "flag_set.hpp"
#include "request.hpp"

namespace opendoca::argp
{

/// Reads the sections of @p root, an object, for the commands of @p path. @p request may be half filled when it fails.
[[nodiscard]] doca_error_t parse_json_flags(const FlagSet &flags, const Path &path, bool is_dpdk_program,
                                            json_object &root, Request &request);

} // namespace opendoca::argp
