// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Small parts of the C functions, the same in every generation of the API.
#pragma once

#include <string>

#include "../core/guard.hpp"
#include "parser.hpp"
#include "report.hpp"

namespace opendoca::argp
{

[[nodiscard]] inline doca_error_t not_initialised(doca_error_t code, int line = __builtin_LINE())
{
    return fail(code, "doca_argp_init has not been called", line);
}

[[nodiscard]] inline doca_error_t null_argument(const char *name, int line = __builtin_LINE())
{
    return fail(DOCA_ERROR_INVALID_VALUE, std::string(name) + " is NULL", line);
}

/// For the setters, which have no way to report: whether @p part, which is called @p name, can be set.
[[nodiscard]] inline bool is_settable(const void *part, const char *name)
{
    if (part != nullptr)
        return true;
    (void)guarded([&] { return null_argument(name); });
    return false;
}

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

/// doca_argp_init(). @p if_twice: there is a parser already.
[[nodiscard]] doca_error_t init(const Generation &generation, const char *program_name, void *program_config,
                                doca_error_t if_twice);
/// doca_argp_start(). @p if_none: there is no parser.
[[nodiscard]] doca_error_t start(int argc, char **argv, doca_error_t if_none);
/// doca_argp_destroy().
[[nodiscard]] doca_error_t destroy(doca_error_t misuse);
/// doca_argp_usage(). Does not return but for lack of memory.
void show_usage(const Generation &generation);

/// One of the getters, and of the functions that set a callback: @p argument is given, and there is a parser.
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
