// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors

/**
 * @file doca_argp.h
 * Command line and JSON arguments of a DOCA program.
 *
 * Order of calls: doca_argp_init(), then for each flag doca_argp_param_create(), setters and
 * doca_argp_register_param(), then doca_argp_start(), which calls back with each value, and
 * doca_argp_destroy().
 *
 * Every program also has the DOCA flags -h/--help, -v/--version, -l/--log-level and -j/--json, and a gRPC
 * program -g/--grpc-address. A flag of the program that has one of these names takes that name over.
 * docs/arguments.md has the full rules of the command line and of the JSON file.
 *
 * Threads: all functions work on one state per process, so only one thread at a time may be in any of them.
 * Only --help, --version and doca_argp_usage() end the process; every error is returned, and logged once.
 */
#ifndef DOCA_ARGP_H_
#define DOCA_ARGP_H_

#include <stdbool.h>
#include <string.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Type of a flag's value, and with it what the callback's first argument points to. */
enum doca_argp_type {
    DOCA_ARGP_TYPE_UNKNOWN = 0, /**< Not set; cannot be registered. */
    DOCA_ARGP_TYPE_STRING,      /**< char *, ended by NUL. */
    DOCA_ARGP_TYPE_INT,         /**< int *; decimal or 0x hexadecimal, with an optional sign. */
    DOCA_ARGP_TYPE_BOOLEAN,     /**< bool *, always true: the flag has no value on the command line. */
    DOCA_ARGP_TYPE_JSON_OBJ,    /**< struct json_object * (json-c), object or array; from a JSON file only. */
};

/** A flag of the program. */
struct doca_argp_param;

/**
 * Receives one value of a flag, and is also the type of the version callback. The first argument is the value
 * (see doca_argp_type), which belongs to argp and is valid during the call only; for the version callback it
 * is NULL. The second is the program_config of doca_argp_init(). An error that it returns ends
 * doca_argp_start(), which returns the same error.
 */
typedef doca_error_t (*callback_func)(void *, void *);

/**
 * Receives the DPDK (EAL) arguments: argv[0] is the program name, argv[argc] is NULL.
 * The array and its strings stay valid until doca_argp_destroy(); the callee may reorder the array.
 */
typedef doca_error_t (*dpdk_callback)(int argc, char **argv);

/** Checks the values together, after all other callbacks. The argument is the program_config. */
typedef doca_error_t (*validation_callback)(void *);

/**
 * Print the usage text on standard output and end the process with status 0. Does not return.
 * Before doca_argp_init() the text shows the DOCA flags alone.
 */
__DOCA_EXPERIMENTAL void doca_argp_usage(void);

/**
 * Begin: nothing is registered yet.
 *
 * @param program_name    Name for the usage text and for argv[0] of DPDK; copied. Not NULL, not empty.
 * @param program_config  Handed to every callback as it is; may be NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: program_name is NULL or empty, or a doca_argp_init() has not been ended by
 *   doca_argp_destroy() yet.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_argp_init(const char *program_name, void *program_config);

/**
 * Register a flag. The parameter belongs to argp from here on, also when the call fails: do not use or
 * destroy it. A parameter without a long name becomes command-line only, because a JSON file names flags by
 * their long name.
 *
 * @param input_param  From doca_argp_param_create(). Not NULL, not registered before.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: input_param is NULL or already registered; another flag of the program has the
 *   same short or long name; a name has a leading '-' or control characters; the type is not one of
 *   doca_argp_type; called from a callback.
 * - DOCA_ERROR_INITIALIZATION: description, callback, type or both names are missing, or doca_argp_init() was
 *   not called.
 * - DOCA_ERROR_NO_MEMORY: out of memory, here or earlier in a setter.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);

/**
 * Set what --version calls; a second call replaces the first. After the callback returns the process ends,
 * with status 0 if it returned DOCA_SUCCESS and 1 otherwise. Without a callback --version prints the version
 * of DOCA.
 *
 * @param callback  Not NULL. Its first argument is NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: callback is NULL, or doca_argp_init() was not called.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_argp_register_version_callback(callback_func callback);

/**
 * Set the callback that checks the program's configuration as a whole; a second call replaces the first.
 *
 * @param callback  Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: callback is NULL, or doca_argp_init() was not called.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_argp_register_validation_callback(validation_callback callback);

/**
 * Parse the command line, and the JSON file that it names, and call the callbacks. No callback runs before
 * everything has been parsed and all mandatory flags were found. Then, in this order: the log level is set;
 * the parameters' callbacks run, those of the command line in its order and then those of the JSON file that
 * are not on the command line; the DPDK callback; the validation callback. The first callback that fails ends
 * the sequence. --help and --version act where they stand, and end the process. May be called again: each
 * call begins afresh. opendoca: after a mistake in the command line or in the values of the file, the text of
 * --help goes to stderr.
 *
 * @param argc  Number of elements of argv, at least 1.
 * @param argv  As main() has it; argv[0] is not looked at. Not NULL; not changed.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: argc below 1, argv or an element NULL, called from a callback; a value is
 *   missing, superfluous or of the wrong form; a flag without multiplicity is given twice; a mandatory flag
 *   is missing; a command-line only flag is in the JSON file, or a JSON object on
 *   the command line.
 * - DOCA_ERROR_NOT_SUPPORTED: a flag or a key of the JSON file is not known; an argument is not a flag.
 * - DOCA_ERROR_IO_FAILED: the JSON file cannot be read, has more than 16 MiB or 262144 values, or is not
 *   JSON.
 * - DOCA_ERROR_INITIALIZATION: doca_argp_init() was not called.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 * - DOCA_ERROR_UNEXPECTED: a C++ exception left a callback.
 * - whatever a callback returned.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_argp_start(int argc, char **argv);

/**
 * End: forget all flags and release what argp holds. Also after doca_argp_start() failed or was never called.
 * doca_argp_init() may be called again after it.
 *
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: doca_argp_init() was not called (nothing to do), or called from a callback.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_argp_destroy(void);

/**
 * Make this a DPDK program: arguments before a "--" are DPDK's, those after it DOCA's and the program's.
 * Without a "--" there are none for DPDK. If there are none, the "doca_dpdk_flags" of the JSON file take
 * their place. doca_argp_start() always calls the callback, if only with argv[0].
 * To be called before doca_argp_start(). A NULL callback, or a call before doca_argp_init(), is logged and
 * has no effect.
 *
 * @param callback  Receives the DPDK arguments.
 */
__DOCA_EXPERIMENTAL void doca_argp_set_dpdk_program(dpdk_callback callback);

/**
 * Make this a gRPC program, which has the flag -g/--grpc-address.
 * To be called before doca_argp_start(). A call before doca_argp_init() is logged and has no effect.
 */
__DOCA_EXPERIMENTAL void doca_argp_set_grpc_program(void);

/**
 * Make an empty parameter: not mandatory, not command-line only, without multiplicity. May be called at any
 * time.
 *
 * @param param  Receives the parameter, which is to be registered or destroyed. Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: param is NULL.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_argp_param_create(struct doca_argp_param **param);

/*
 * Setters: before doca_argp_register_param(). Strings are copied, and a later call replaces an earlier one;
 * NULL or "" unsets. A NULL param is logged and has no effect. Nothing is checked before
 * doca_argp_register_param().
 */

/**
 * Set the name after one dash, usually of one or two letters ("p", "ld").
 * @param param  The parameter.
 * @param name   Without the dash.
 */
__DOCA_EXPERIMENTAL void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);

/**
 * Set the name after two dashes, which is also the key in a JSON file.
 * @param param  The parameter.
 * @param name   Without the dashes.
 */
__DOCA_EXPERIMENTAL void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);

/**
 * Set the words that stand for the value in the usage text ("<path>"). Optional: the default follows the
 * type.
 * @param param      The parameter.
 * @param arguments  The words.
 */
__DOCA_EXPERIMENTAL void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);

/**
 * Set the description for the usage text. Required.
 * @param param        The parameter.
 * @param description  One or more lines.
 */
__DOCA_EXPERIMENTAL void doca_argp_param_set_description(struct doca_argp_param *param, const char *description);

/**
 * Set what receives the values. Required.
 * @param param     The parameter.
 * @param callback  Called once for each value; for a BOOLEAN only when the flag was given.
 */
__DOCA_EXPERIMENTAL void doca_argp_param_set_callback(struct doca_argp_param *param, callback_func callback);

/**
 * Set the type of the value. Required.
 * @param param  The parameter.
 * @param type   Any but DOCA_ARGP_TYPE_UNKNOWN.
 */
__DOCA_EXPERIMENTAL void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type);

/**
 * Let doca_argp_start() fail when the flag is neither on the command line nor in the JSON file.
 * @param param  The parameter.
 */
__DOCA_EXPERIMENTAL void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/**
 * Let doca_argp_start() fail when the flag is in the JSON file.
 * @param param  The parameter.
 */
__DOCA_EXPERIMENTAL void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/**
 * Let the flag be given more than once; in a JSON file its value may be an array then.
 * @param param  The parameter.
 */
__DOCA_EXPERIMENTAL void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/**
 * Release a parameter that was not given to doca_argp_register_param(). May be called at any time.
 *
 * @param param  From doca_argp_param_create(). Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: param is NULL, or is registered and so belongs to argp.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/**
 * Get the gRPC address that the user gave. After doca_argp_start() has parsed, so also in callbacks.
 *
 * @param address  Receives the address, or "" if there is none; valid until the next doca_argp_start() or
 *                 doca_argp_destroy(). Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: address is NULL, or doca_argp_init() was not called.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_argp_get_grpc_addr(const char **address);

/**
 * Get the log level that the user gave. After doca_argp_start() has parsed, so also in callbacks.
 *
 * @param log_level  Receives 20, 30, 40, 50 or 60 (enum doca_log_level); if the user gave none, the global
 *                   level of the log. Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: log_level is NULL, or doca_argp_init() was not called.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_argp_get_log_level(int *log_level);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ARGP_H_ */
