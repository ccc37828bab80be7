// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions for flags that both generations have. Compiled once for each, with its own header.
#include <string>

#include <doca_argp.h>

#include "api.hpp"

using opendoca::guarded;
using opendoca::argp::is_settable;
using opendoca::argp::null_argument;
using opendoca::argp::Type;

namespace {

static_assert(DOCA_ARGP_TYPE_UNKNOWN == static_cast<unsigned>(Type::unknown) &&
              DOCA_ARGP_TYPE_STRING == static_cast<unsigned>(Type::string) &&
              DOCA_ARGP_TYPE_INT == static_cast<unsigned>(Type::number) &&
              DOCA_ARGP_TYPE_BOOLEAN == static_cast<unsigned>(Type::boolean) &&
              DOCA_ARGP_TYPE_JSON_OBJ == static_cast<unsigned>(Type::json));

void set_text(doca_argp_param *param, std::string doca_argp_param::*member, const char *text)
{
    opendoca::argp::set_text(param, "param", member, text);
}

} // namespace

doca_error_t doca_argp_param_create(struct doca_argp_param **param)
{
    return guarded([&] {
        if (param == nullptr)
            return null_argument("param");
        *param = new doca_argp_param;
        return DOCA_SUCCESS;
    });
}

void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name)
{
    set_text(param, &doca_argp_param::short_name, name);
}

void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name)
{
    set_text(param, &doca_argp_param::long_name, name);
}

void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments)
{
    set_text(param, &doca_argp_param::arguments, arguments);
}

void doca_argp_param_set_description(struct doca_argp_param *param, const char *description)
{
    set_text(param, &doca_argp_param::description, description);
}

void doca_argp_param_set_callback(struct doca_argp_param *param, doca_error_t (*callback)(void *, void *))
{
    if (is_settable(param, "param"))
        param->callback = callback;
}

void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type)
{
    if (is_settable(param, "param"))
        param->type = static_cast<Type>(type);
}

void doca_argp_param_set_mandatory(struct doca_argp_param *param)
{
    if (is_settable(param, "param"))
        param->is_mandatory = true;
}

void doca_argp_param_set_cli_only(struct doca_argp_param *param)
{
    if (is_settable(param, "param"))
        param->is_cli_only = true;
}

void doca_argp_param_set_multiplicity(struct doca_argp_param *param)
{
    if (is_settable(param, "param"))
        param->has_multiplicity = true;
}

void doca_argp_set_dpdk_program(doca_error_t (*callback)(int, char **))
{
    // The function is void: the error is only logged.
    (void)opendoca::argp::with_parser(reinterpret_cast<const void *>(callback), "callback", DOCA_ERROR_INITIALIZATION,
                                      [&](opendoca::argp::Parser &parser) { parser.set_dpdk_callback(callback); });
}
