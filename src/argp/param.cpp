// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "param.hpp"

#include <algorithm>

#include "report.hpp"

using opendoca::argp::fail;
using opendoca::argp::quoted;

namespace {

/// Any printable text is a valid name, including one with spaces, which the user has to quote.
bool is_usable(const std::string &name)
{
    return !name.starts_with('-') && std::ranges::none_of(name, [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return code < ' ' || code == 0x7f;
    });
}

} // namespace

namespace opendoca::argp {

std::string flag_names(const std::string &short_name, const std::string &long_name)
{
    const std::string separator = short_name.empty() || long_name.empty() ? "" : "/";
    const std::string short_flag = short_name.empty() ? "" : "-" + short_name;
    return short_flag + separator + (long_name.empty() ? "" : "--" + long_name);
}

} // namespace opendoca::argp

std::string doca_argp_param::flags() const
{
    return opendoca::argp::flag_names(short_name, long_name);
}

doca_error_t doca_argp_param::check() const
{
    // Lack of memory first: it may have caused the other errors.
    if (is_out_of_memory)
        return fail(DOCA_ERROR_NO_MEMORY, "a parameter's setter ran out of memory");
    if (short_name.empty() && long_name.empty())
        return fail(DOCA_ERROR_INITIALIZATION, "a parameter has neither a short nor a long name");
    for (const std::string &name : {short_name, long_name}) {
        if (!is_usable(name))
            return fail(DOCA_ERROR_INVALID_VALUE, quoted(name) + " cannot be the name of a flag");
    }
    if (description.empty())
        return fail(DOCA_ERROR_INITIALIZATION, "parameter " + flags() + " has no description");
    if (callback == nullptr)
        return fail(DOCA_ERROR_INITIALIZATION, "parameter " + flags() + " has no callback");
    if (type == opendoca::argp::Type::unknown)
        return fail(DOCA_ERROR_INITIALIZATION, "parameter " + flags() + " has no type");
    if (type > opendoca::argp::Type::json)
        return fail(DOCA_ERROR_INVALID_VALUE,
                    "parameter " + flags() + " has the unknown type " + std::to_string(static_cast<unsigned>(type)));
    return DOCA_SUCCESS;
}
