// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of doca_argp.h.
#include <doca_argp.h>

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "../core/guard.hpp"
#include "parser.hpp"
#include "report.hpp"

using opendoca::guarded;
using opendoca::argp::fail;
using opendoca::argp::Parser;
using opendoca::argp::warn;

namespace
{

/// From init to destroy. Not a smart pointer: exit() may come from a callback, while the parser is in use.
Parser *parser = nullptr;

doca_error_t not_initialised(doca_error_t code, int line = __builtin_LINE())
{
    return fail(code, "doca_argp_init has not been called", line);
}

doca_error_t null_argument(const char *name, int line = __builtin_LINE())
{
    return fail(DOCA_ERROR_INVALID_VALUE, std::string(name) + " is NULL", line);
}

/// For the setters, which have no way to report.
[[nodiscard]] bool is_settable(const doca_argp_param *param)
{
    if (param != nullptr)
        return true;
    (void)guarded([] { return null_argument("param"); });
    return false;
}

void set_text(doca_argp_param *param, std::string doca_argp_param::*member, const char *text)
{
    if (!is_settable(param))
        return;
    const doca_error_t result = guarded([&] {
        param->*member = text == nullptr ? "" : text;
        return DOCA_SUCCESS;
    });
    if (result != DOCA_SUCCESS)
        param->is_out_of_memory = true;
}

} // namespace

doca_error_t doca_argp_init(const char *program_name, void *program_config)
{
    return guarded([&] {
        if (program_name == nullptr || *program_name == '\0')
            return fail(DOCA_ERROR_INVALID_VALUE, "program_name is NULL or empty");
        if (parser != nullptr)
            return fail(DOCA_ERROR_INVALID_VALUE, "doca_argp_init is called again without doca_argp_destroy");
        parser = new Parser(program_name, program_config);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_argp_destroy(void)
{
    return guarded([] {
        if (parser == nullptr)
            return not_initialised(DOCA_ERROR_INVALID_VALUE);
        if (parser->is_in_start())
            return fail(DOCA_ERROR_INVALID_VALUE, "doca_argp_destroy is called by one of argp's callbacks");
        delete std::exchange(parser, nullptr);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_argp_register_param(struct doca_argp_param *input_param)
{
    return guarded([&] {
        if (input_param == nullptr)
            return null_argument("input_param");
        if (parser != nullptr && parser->contains(input_param))
            return fail(DOCA_ERROR_INVALID_VALUE,
                        "parameter " + input_param->flags() + " is registered already");
        std::unique_ptr<doca_argp_param> owned(input_param);
        return parser == nullptr ? not_initialised(DOCA_ERROR_INITIALIZATION) : parser->add(std::move(owned));
    });
}

doca_error_t doca_argp_register_version_callback(callback_func callback)
{
    return guarded([&] {
        if (callback == nullptr)
            return null_argument("callback");
        if (parser == nullptr)
            return not_initialised(DOCA_ERROR_INVALID_VALUE);
        parser->set_version_callback(callback);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_argp_register_validation_callback(validation_callback callback)
{
    return guarded([&] {
        if (callback == nullptr)
            return null_argument("callback");
        if (parser == nullptr)
            return not_initialised(DOCA_ERROR_INVALID_VALUE);
        parser->set_validation_callback(callback);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_argp_start(int argc, char **argv)
{
    return guarded([&] {
        if (parser == nullptr)
            return not_initialised(DOCA_ERROR_INITIALIZATION);
        if (argc < 1)
            return fail(DOCA_ERROR_INVALID_VALUE, "argc is " + std::to_string(argc) + ", which is below 1");
        if (argv == nullptr)
            return null_argument("argv");
        const std::span<char *const> words(argv, static_cast<std::size_t>(argc));
        for (const char *word : words.subspan(1)) {
            if (word == nullptr)
                return null_argument("an element of argv");
        }
        return parser->start(words.subspan(1));
    });
}

void doca_argp_usage(void)
{
    (void)guarded([]() -> doca_error_t {
        if (parser != nullptr)
            parser->show_usage();
        Parser("<program>", nullptr).show_usage();
    });
}

void doca_argp_set_dpdk_program(dpdk_callback callback)
{
    (void)guarded([&] {
        if (callback == nullptr)
            return null_argument("callback");
        if (parser == nullptr)
            return not_initialised(DOCA_ERROR_INITIALIZATION);
        parser->set_dpdk_callback(callback);
        return DOCA_SUCCESS;
    });
}

void doca_argp_set_grpc_program(void)
{
    (void)guarded([] {
        if (parser == nullptr)
            return not_initialised(DOCA_ERROR_INITIALIZATION);
        parser->set_grpc_program();
        return DOCA_SUCCESS;
    });
}

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

void doca_argp_param_set_callback(struct doca_argp_param *param, callback_func callback)
{
    if (is_settable(param))
        param->callback = callback;
}

void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type)
{
    if (is_settable(param))
        param->type = type;
}

void doca_argp_param_set_mandatory(struct doca_argp_param *param)
{
    if (is_settable(param))
        param->is_mandatory = true;
}

void doca_argp_param_set_cli_only(struct doca_argp_param *param)
{
    if (is_settable(param))
        param->is_cli_only = true;
}

void doca_argp_param_set_multiplicity(struct doca_argp_param *param)
{
    if (is_settable(param))
        param->has_multiplicity = true;
}

doca_error_t doca_argp_param_destroy(struct doca_argp_param *param)
{
    return guarded([&] {
        if (param == nullptr)
            return null_argument("param");
        if (parser != nullptr && parser->contains(param))
            return fail(DOCA_ERROR_INVALID_VALUE, "parameter " + param->flags() + " belongs to argp");
        delete param;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_argp_get_grpc_addr(const char **address)
{
    return guarded([&] {
        if (address == nullptr)
            return null_argument("address");
        if (parser == nullptr)
            return not_initialised(DOCA_ERROR_INVALID_VALUE);
        *address = parser->grpc_address();
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_argp_get_log_level(int *log_level)
{
    return guarded([&] {
        if (log_level == nullptr)
            return null_argument("log_level");
        if (parser == nullptr)
            return not_initialised(DOCA_ERROR_INVALID_VALUE);
        *log_level = parser->log_level();
        return DOCA_SUCCESS;
    });
}
