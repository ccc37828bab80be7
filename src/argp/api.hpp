// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Helpers of the C functions, shared by both generations of the API. They check arguments in a fixed order (null,
// state, value), log the first error and return its code; no exception leaves a C function.
#pragma once

#include <string>

#include "../core/base/guard.hpp"
#include "parser.hpp"
#include "report.hpp"

namespace opendoca::argp {

/// Logs that there is no parser, and returns @p code.
[[nodiscard]] inline doca_error_t not_initialised(doca_error_t code, int line = __builtin_LINE())
{
    return fail(code, "doca_argp_init has not been called", line);
}

/// Logs that the argument @p name is null, and returns INVALID_VALUE.
[[nodiscard]] inline doca_error_t null_argument(const char *name, int line = __builtin_LINE())
{
    return fail(DOCA_ERROR_INVALID_VALUE, std::string(name) + " is NULL", line);
}

/// Checks the object of a void setter: logs an error that names the argument @p name and returns false if @p part is
/// null.
[[nodiscard]] inline bool is_settable(const void *part, const char *name)
{
    if (part != nullptr)
        return true;
    (void)guarded([&] { return null_argument(name); });
    return false;
}

/// Implements a void setter of a text. @p part is a flag or a command. A failure for lack of memory is stored in @p
/// part, and reported when it is registered.
template <typename Part>
void set_text(Part *part, const char *part_name, std::string Part::*member, const char *text)
{
    if (!is_settable(part, part_name))
        return;
    const doca_error_t result = guarded([&] {
        part->*member = text == nullptr ? "" : text;
        return DOCA_SUCCESS;
    });
    if (result != DOCA_SUCCESS)
        part->is_out_of_memory = true;
}

/// Implements doca_argp_init(). Returns @p if_twice if a parser exists already.
[[nodiscard]] doca_error_t init(const Generation &generation, const char *program_name, void *program_config,
                                doca_error_t if_twice);
/// Implements doca_argp_start(). Returns @p if_none if there is no parser.
[[nodiscard]] doca_error_t start(int argc, char **argv, doca_error_t if_none);
/// Implements doca_argp_destroy(). Returns @p misuse if there is no parser or if a start is running.
[[nodiscard]] doca_error_t destroy(doca_error_t misuse);
/// Implements doca_argp_usage(). Ends the process; returns only if memory is exhausted.
void show_usage(const Generation &generation);

/// Common part of the getters and of the functions that set a callback: checks @p argument, then that a parser exists,
/// and calls @p body with the parser.
template <typename Body>
[[nodiscard]] doca_error_t with_parser(const void *argument, const char *name, doca_error_t if_none, Body body)
{
    return guarded([&] {
        if (argument == nullptr)
            return null_argument(name);
        if (parser == nullptr)
            return not_initialised(if_none);
        body(*parser);
        return DOCA_SUCCESS;
    });
}

} // namespace opendoca::argp
