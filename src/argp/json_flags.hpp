// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Parses the content of a JSON file into a Request.
#pragma once

#include "flag_set.hpp"
#include "request.hpp"

namespace opendoca::argp {

/// Parses the sections of the object @p root for the commands of @p path. @p is_dpdk_program: the section
/// doca_dpdk_flags is allowed. Returns NOT_SUPPORTED for an unknown key, INVALID_VALUE for a wrong value. @p request
/// may be partly filled on failure.
[[nodiscard]] doca_error_t parse_json_flags(const FlagSet &flags, const Path &path, bool is_dpdk_program,
                                            json_object &root, Request &request);

} // namespace opendoca::argp
