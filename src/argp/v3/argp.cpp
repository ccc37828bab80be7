// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of doca_argp.h that differ between the generations, as DOCA 3.0 has them. Commands are in
// commands.cpp.
#include <cstdint>
#include <string>

#include <doca_argp.h>
#include <doca_version.h>

#include "../api.hpp"

using opendoca::guarded;
using namespace opendoca::argp;

namespace {

/// Values of 3.0: misuse is BAD_STATE, level 10 turns the log off, and the libraries have a log of their own.
const Generation generation{
    .misuse = DOCA_ERROR_BAD_STATE,
    .most_severe = DOCA_LOG_LEVEL_DISABLE,
    .most_verbose = DOCA_LOG_LEVEL_TRACE,
    .log_levels = "10 nothing, 20 critical, 30 error, 40 warning, 50 info, 60 debug, 70 trace",
    .has_sdk_log = true,
    .error_name = doca_error_get_name,
    .set_log_level = doca_log_level_set_global_lower_limit,
    .log_level = doca_log_level_get_global_lower_limit,
    .set_sdk_log_level = doca_log_level_set_global_sdk_limit,
    .sdk_log_level = doca_log_level_get_global_sdk_limit,
    .version_text =
        [] {
            const std::string runtime = doca_version_runtime();
            return std::string("DOCA SDK     Version (Compilation): ") + doca_version() +
                   "\nDOCA Runtime Version (Runtime):     " + runtime + "\n";
        },
};

/// The program's callback for argp's messages; null if they go to the log.
doca_argp_logger_cb_t logger = nullptr;

/// A variadic function, because a va_list can only be made inside of one.
[[gnu::format(printf, 2, 3)]] void call_logger(std::uint32_t level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)logger(static_cast<doca_log_level>(level), format, arguments);
    va_end(arguments);
}

void listen(std::uint32_t level, const char *text)
{
    call_logger(level, "%s", text);
}

} // namespace

doca_error_t doca_argp_init(const char *program_name, void *program_config)
{
    return guarded([&] { return init(generation, program_name, program_config, DOCA_ERROR_BAD_STATE); });
}

doca_error_t doca_argp_destroy(void)
{
    return destroy(DOCA_ERROR_BAD_STATE);
}

doca_error_t doca_argp_start(int argc, char **argv)
{
    return start(argc, argv, DOCA_ERROR_BAD_STATE);
}

void doca_argp_usage(void)
{
    show_usage(generation);
}

doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback)
{
    return with_parser(reinterpret_cast<const void *>(callback), "callback", DOCA_ERROR_BAD_STATE,
                       [&](Parser &own) { own.set_version_callback(callback); });
}

doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback)
{
    return with_parser(reinterpret_cast<const void *>(callback), "callback", DOCA_ERROR_BAD_STATE,
                       [&](Parser &own) { own.set_validation_callback(callback); });
}

doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback)
{
    return guarded([&] {
        if (callback == nullptr)
            return null_argument("callback");
        if (parser == nullptr)
            return not_initialised(DOCA_ERROR_BAD_STATE);
        // One logger at a time; the first one stays.
        if (has_listener())
            return fail(DOCA_ERROR_ALREADY_EXIST, "a logger callback is registered already");
        logger = callback;
        set_listener(listen);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_argp_disable_logger_callback(void)
{
    return guarded([] {
        if (parser == nullptr)
            return not_initialised(DOCA_ERROR_BAD_STATE);
        set_listener(nullptr);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_argp_get_log_level(int *log_level)
{
    return with_parser(log_level, "log_level", DOCA_ERROR_BAD_STATE,
                       [&](Parser &own) { *log_level = own.log_level(); });
}

doca_error_t doca_argp_get_sdk_log_level(int *log_level)
{
    return with_parser(log_level, "log_level", DOCA_ERROR_BAD_STATE,
                       [&](Parser &own) { *log_level = own.sdk_log_level(); });
}

void doca_argp_param_set_singular(struct doca_argp_param *param)
{
    if (is_settable(param, "param"))
        param->is_singular = true;
}

void doca_argp_param_set_inherited(struct doca_argp_param *param)
{
    if (is_settable(param, "param"))
        param->is_inherited = true;
}

void doca_argp_param_set_hidden(struct doca_argp_param *param)
{
    if (is_settable(param, "param"))
        param->is_hidden = true;
}
