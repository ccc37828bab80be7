// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of doca_argp.h that differ between the generations, as DOCA 2.2 has them.
#include <memory>
#include <string>

#include <doca_argp.h>
#include <doca_log.h>
#include <doca_version.h>

#include "../api.hpp"

using opendoca::guarded;
using namespace opendoca::argp;

namespace {

/// Values of 2.2: misuse has no code of its own, and there is one log.
const Generation generation{
    .misuse = DOCA_ERROR_INVALID_VALUE,
    .most_severe = DOCA_LOG_LEVEL_CRIT,
    .most_verbose = DOCA_LOG_LEVEL_DEBUG,
    .log_levels = "20 critical, 30 error, 40 warning, 50 info, 60 debug",
    .has_sdk_log = false,
    .error_name = doca_get_error_name,
    .set_log_level = doca_log_global_level_set,
    .log_level = doca_log_global_level_get,
    .set_sdk_log_level = nullptr,
    .sdk_log_level = nullptr,
    .version_text =
        [] {
            const std::string runtime = doca_version_runtime();
            return std::string("DOCA version: ") + doca_version() + "\nDOCA runtime version: " + runtime + "\n";
        },
};

} // namespace

doca_error_t doca_argp_init(const char *program_name, void *program_config)
{
    return guarded([&] {
        if (program_name == nullptr)
            return null_argument("program_name");
        return init(generation, program_name, program_config, DOCA_ERROR_INVALID_VALUE);
    });
}

doca_error_t doca_argp_destroy(void)
{
    return destroy(DOCA_ERROR_INVALID_VALUE);
}

doca_error_t doca_argp_register_param(struct doca_argp_param *input_param)
{
    return guarded([&] {
        if (input_param == nullptr)
            return null_argument("input_param");
        if (input_param->is_taken)
            return fail(DOCA_ERROR_INVALID_VALUE, "parameter " + input_param->flags() + " is registered already");
        // The object is freed even if there is no parser: registering passes its ownership in any case.
        std::unique_ptr<doca_argp_param> owned(input_param);
        return parser == nullptr ? not_initialised(DOCA_ERROR_INITIALIZATION) : parser->add(std::move(owned));
    });
}

doca_error_t doca_argp_register_version_callback(callback_func callback)
{
    return with_parser(reinterpret_cast<const void *>(callback), "callback", DOCA_ERROR_INVALID_VALUE,
                       [&](Parser &own) { own.set_version_callback(callback); });
}

doca_error_t doca_argp_register_validation_callback(validation_callback callback)
{
    return with_parser(reinterpret_cast<const void *>(callback), "callback", DOCA_ERROR_INVALID_VALUE,
                       [&](Parser &own) { own.set_validation_callback(callback); });
}

doca_error_t doca_argp_start(int argc, char **argv)
{
    return start(argc, argv, DOCA_ERROR_INITIALIZATION);
}

void doca_argp_usage(void)
{
    show_usage(generation);
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

doca_error_t doca_argp_param_destroy(struct doca_argp_param *param)
{
    return guarded([&] {
        if (param == nullptr)
            return null_argument("param");
        if (param->is_taken)
            return fail(DOCA_ERROR_INVALID_VALUE, "parameter " + param->flags() + " belongs to argp");
        delete param;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_argp_get_grpc_addr(const char **address)
{
    return with_parser(address, "address", DOCA_ERROR_INVALID_VALUE,
                       [&](Parser &own) { *address = own.grpc_address(); });
}

doca_error_t doca_argp_get_log_level(int *log_level)
{
    return with_parser(log_level, "log_level", DOCA_ERROR_INVALID_VALUE,
                       [&](Parser &own) { *log_level = own.log_level(); });
}
