// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_argp.h
 * Command line and JSON arguments of a DOCA program.
 *
 * Order of calls: doca_argp_init(), then for each flag doca_argp_param_create(), setters and
 * doca_argp_register_param(), for each command doca_argp_cmd_create(), setters, its own flags and commands
 * and doca_argp_register_cmd(); then doca_argp_start(), which calls back with each value, and
 * doca_argp_destroy().
 *
 * Every program also has the DOCA flags -h/--help, -v/--version, -l/--log-level, --sdk-log-level and
 * -j/--json. A flag of the program that has one of these names takes that name over. docs/arguments.md has
 * the full rules of the command line and of the JSON file.
 *
 * A command is a word of the command line: what follows it are its own flags and commands, besides the
 * inherited flags of what is above it, whose names its own take over. opendoca: no command is needed, and a
 * JSON file may have the flags of those that are given.
 *
 * Threads: all functions work on one state per process, so only one thread at a time may be in any of them.
 * Only --help, --version and doca_argp_usage() end the process; every error is returned, and logged once.
 */
#ifndef DOCA_ARGP_H_
#define DOCA_ARGP_H_

#include <stdarg.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_log.h>
#include <opendoca/level.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A command of the program. */
struct doca_argp_cmd;

/** A flag of the program. */
struct doca_argp_param;

/** Type of a flag's value, and with it what the callback's first argument points to. */
enum doca_argp_type {
    DOCA_ARGP_TYPE_UNKNOWN = 0,  /**< Not set; cannot be registered. */
    DOCA_ARGP_TYPE_STRING = 1,   /**< char *, ended by NUL. */
    DOCA_ARGP_TYPE_INT = 2,      /**< int *; decimal or 0x hexadecimal, with an optional sign. */
    DOCA_ARGP_TYPE_BOOLEAN = 3,  /**< bool *, always true: the flag has no value on the command line. */
    DOCA_ARGP_TYPE_JSON_OBJ = 4, /**< struct json_object * (json-c); from a JSON file only. */
};

/**
 * Receives one value of a flag, and is also the type of the version callback. The first argument is the value
 * (see doca_argp_type), which belongs to argp and is valid during the call only; for the version callback it
 * is NULL. The second is the program_config of doca_argp_init(). An error that it returns ends
 * doca_argp_start(), which returns the same error.
 */
typedef doca_error_t (*doca_argp_param_cb_t)(void *, void *);

/**
 * Called when its command was given, before the callbacks of its flags. The argument is the program_config.
 * An error that it returns ends doca_argp_start(), which returns the same error.
 */
typedef doca_error_t (*doca_argp_cmd_cb_t)(void *);

/**
 * Receives the DPDK (EAL) arguments: argv[0] is the program name, argv[argc] is NULL. The array and its
 * strings stay valid until doca_argp_destroy(); the callee may reorder the array.
 */
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

/** Checks the values together, after all other callbacks. The argument is the program_config. */
typedef doca_error_t (*doca_argp_validation_cb_t)(void *);

/**
 * Takes what argp has to say, in place of the log.
 *
 * @param [in] level How severe it is.
 * @param [in] format As of printf(3).
 * @param [in] args The arguments of the format.
 * @return DOCA_SUCCESS; opendoca: what it returns is not looked at.
 */
typedef doca_error_t (*doca_argp_logger_cb_t)(enum doca_log_level level, const char *format, va_list args);

/**
 * Print the usage text on standard output and end the process with status 0. Does not return. Before
 * doca_argp_init() the text shows the DOCA flags alone; within a command (opendoca: once doca_argp_start()
 * has met it) those of the command.
 */
DOCA_EXPERIMENTAL void doca_argp_usage(void);

/**
 * Begin: nothing is registered yet.
 *
 * @param [in] program_name Name for the usage text and for argv[0] of DPDK; copied. NULL to take that of
 * argv[0] of doca_argp_start().
 * @param [in] program_config Handed to every callback as it is; may be NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: program_name is empty (opendoca).
 * - DOCA_ERROR_BAD_STATE: a doca_argp_init() has not been ended by doca_argp_destroy() yet.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_init(const char *program_name, void *program_config);

/**
 * Register a flag. The parameter belongs to argp from here on, also when the call fails: do not use or
 * destroy it. A parameter without a long name becomes command-line only, because a JSON file names flags by
 * their long name.
 *
 * @param [in] input_param From doca_argp_param_create(). Not NULL, not registered before.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: input_param is NULL; another flag of the program has the same short or long
 *   name; a name has a leading '-' or control characters; the type is not one of doca_argp_type.
 * - DOCA_ERROR_INITIALIZATION: description, callback, type or both names are missing.
 * - DOCA_ERROR_BAD_STATE: doca_argp_init() was not called, or doca_argp_destroy() was; the parameter is
 *   registered already; called from a callback (opendoca).
 * - DOCA_ERROR_NO_MEMORY: no memory, here or earlier in a setter.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);

/**
 * Register a command of the program, with all that is registered in it. The command belongs to argp from here
 * on, also when the call fails.
 *
 * @param [in] input_cmd From doca_argp_cmd_create(). Not NULL, not registered before.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: input_cmd is NULL; another command of the program has the same name; the name
 *   has a leading '-', blanks or control characters.
 * - DOCA_ERROR_INITIALIZATION: name or description is missing.
 * - DOCA_ERROR_BAD_STATE: doca_argp_init() was not called; the command is registered already; called from a
 *   callback (opendoca).
 * - DOCA_ERROR_NO_MEMORY: no memory, here or earlier in a setter.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd);

/**
 * Set what --version calls; a second call replaces the first. After the callback returns the process ends,
 * with status 0 if it returned DOCA_SUCCESS and 1 otherwise. Without a callback --version prints the version
 * of DOCA.
 *
 * @param [in] callback Not NULL. Its first argument is NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: callback is NULL.
 * - DOCA_ERROR_BAD_STATE: doca_argp_init() was not called.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);

/**
 * Set the callback that checks the program's configuration as a whole; a second call replaces the first.
 *
 * @param [in] callback Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: callback is NULL.
 * - DOCA_ERROR_BAD_STATE: doca_argp_init() was not called.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);

/**
 * Let a function take what argp has to say, in place of the log.
 *
 * @param [in] callback Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: callback is NULL.
 * - DOCA_ERROR_ALREADY_EXIST: one is set.
 * - DOCA_ERROR_BAD_STATE: doca_argp_init() was not called.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback);

/**
 * Undo doca_argp_register_logger_callback(): the log takes the messages again. opendoca: without one nothing
 * changes.
 *
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: doca_argp_init() was not called.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_disable_logger_callback(void);

/**
 * Parse the command line, and the JSON file that it names, and call the callbacks. No callback runs before
 * everything has been parsed and all mandatory flags were found. Then, in this order: the log levels are set;
 * the callbacks of the commands and of the parameters run, those of the command line in its order and then
 * those of the JSON file that are not on the command line; the DPDK callback; the validation callback. The
 * first callback that fails ends the sequence. --help and --version act where they stand, and end the
 * process. May be called again: each call begins afresh. opendoca: after a mistake in the command line or in
 * the values of the file, the text of --help goes to stderr.
 *
 * @param [in] argc Number of elements of argv, at least 1.
 * @param [in] argv As main() has it. Not NULL; not changed.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: argc below 1, argv or an element NULL; a value is missing, superfluous or of
 *   the wrong form; a flag without multiplicity is given twice; a mandatory flag is missing; a singular flag
 *   does not stand alone; a command-line only flag is in the JSON file, or a JSON object on the command line.
 * - DOCA_ERROR_NOT_SUPPORTED: a flag, a command or a key of the JSON file is not known; an argument is
 *   neither.
 * - DOCA_ERROR_IO_FAILED: the JSON file cannot be read, has more than 16 MiB or 262144 values, or is not
 *   JSON.
 * - DOCA_ERROR_BAD_STATE: doca_argp_init() was not called, or called from a callback (opendoca).
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_UNEXPECTED: a C++ exception left a callback.
 * - whatever a callback returned.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_start(int argc, char **argv);

/**
 * End: forget all flags and commands and release what argp holds. Also after doca_argp_start() failed or was
 * never called. doca_argp_init() may be called again after it.
 *
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_BAD_STATE: doca_argp_init() was not called (nothing to do), or called from a callback
 *   (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_destroy(void);

/**
 * Make this a DPDK program: arguments before a "--" are DPDK's, those after it DOCA's and the program's.
 * Without a "--" there are none for DPDK. If there are none, the "doca_dpdk_flags" of the JSON file take
 * their place. doca_argp_start() always calls the callback, if only with argv[0]. To be called before
 * doca_argp_start(). A NULL callback, or a call before doca_argp_init(), is logged and has no effect.
 *
 * @param [in] callback Receives the DPDK arguments.
 */
DOCA_EXPERIMENTAL void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

/**
 * Make an empty parameter: not mandatory, not command-line only, without multiplicity, neither singular nor
 * inherited nor hidden. May be called at any time.
 *
 * @param [out] param Receives the parameter, which is to be registered or destroyed. Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: param is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_param_create(struct doca_argp_param **param);

/*
 * Setters: before the parameter is registered. Strings are copied, and a later call replaces an earlier one;
 * NULL or "" unsets. A NULL param is logged and has no effect. Nothing is checked before the registration.
 */

/**
 * Set the name after one dash, usually of one or two letters ("p", "ld").
 *
 * @param [in] param The parameter.
 * @param [in] name Without the dash.
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);

/**
 * Set the name after two dashes, which is also the key in a JSON file.
 *
 * @param [in] param The parameter.
 * @param [in] name Without the dashes.
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);

/**
 * Set the words that stand for the value in the usage text ("<path>"). Optional: the default follows the
 * type.
 *
 * @param [in] param The parameter.
 * @param [in] arguments The words.
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);

/**
 * Set the description for the usage text. Required.
 *
 * @param [in] param The parameter.
 * @param [in] description One or more lines.
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_description(struct doca_argp_param *param, const char *description);

/**
 * Set what receives the values. Required.
 *
 * @param [in] param The parameter.
 * @param [in] callback Called once for each value; for a BOOLEAN only when the flag was given.
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback);

/**
 * Set the type of the value. Required.
 *
 * @param [in] param The parameter.
 * @param [in] type Any but DOCA_ARGP_TYPE_UNKNOWN.
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type);

/**
 * Let doca_argp_start() fail when the flag is neither on the command line nor in the JSON file; that of a
 * command only when the command was given.
 *
 * @param [in] param The parameter.
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/**
 * Let doca_argp_start() fail when the flag is in the JSON file.
 *
 * @param [in] param The parameter.
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/**
 * Let the flag be given more than once; in a JSON file its value may be an array then.
 *
 * @param [in] param The parameter.
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/**
 * Let doca_argp_start() fail when the flag is given beside any other but DOCA's own. Where it is given, no
 * mandatory flag is missed.
 *
 * @param [in] param The parameter.
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_singular(struct doca_argp_param *param);

/**
 * Let the flag be given within the commands below, too.
 *
 * @param [in] param The parameter.
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_inherited(struct doca_argp_param *param);

/**
 * Leave the flag out of the usage text.
 *
 * @param [in] param The parameter.
 */
DOCA_EXPERIMENTAL void doca_argp_param_set_hidden(struct doca_argp_param *param);

/**
 * Release a parameter that was not registered. May be called at any time.
 *
 * @param [in] param From doca_argp_param_create(). Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: param is NULL.
 * - DOCA_ERROR_BAD_STATE: it is registered and so belongs to argp.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/**
 * Make an empty command: without flags and commands, not hidden. May be called at any time.
 *
 * @param [out] cmd Receives the command, which is to be registered or destroyed. Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: cmd is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);

/* Setters of commands, as those of parameters. */

/**
 * Set the word that stands for the command. Required.
 *
 * @param [in] cmd The command.
 * @param [in] name One word.
 */
DOCA_EXPERIMENTAL void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name);

/**
 * Set the description for the usage text. Required.
 *
 * @param [in] cmd The command.
 * @param [in] description One or more lines.
 */
DOCA_EXPERIMENTAL void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description);

/**
 * Set what is called when the command was given. Optional.
 *
 * @param [in] cmd The command.
 * @param [in] callback The function.
 */
DOCA_EXPERIMENTAL void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback);

/**
 * Leave the command out of the usage text.
 *
 * @param [in] cmd The command.
 */
DOCA_EXPERIMENTAL void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd);

/**
 * Register a flag in a command; otherwise as doca_argp_register_param().
 *
 * @param [in] cmd The command, not registered.
 * @param [in] input_param From doca_argp_param_create(). Not NULL, not registered before.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL; another flag of the command has the same short or long
 *   name; a name has a leading '-' or control characters; the type is not one of doca_argp_type.
 * - DOCA_ERROR_INITIALIZATION: description, callback, type or both names are missing.
 * - DOCA_ERROR_BAD_STATE: the command is registered; the parameter is registered already; called from a
 *   callback (opendoca).
 * - DOCA_ERROR_NO_MEMORY: no memory, here or earlier in a setter.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd,
                                                            struct doca_argp_param *input_param);

/**
 * Register a command in a command; otherwise as doca_argp_register_cmd().
 *
 * @param [in] cmd The command, not registered.
 * @param [in] input_cmd From doca_argp_cmd_create(). Not NULL, not registered before.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or both are the same; another command in it has the same
 *   name; the name has a leading '-', blanks or control characters.
 * - DOCA_ERROR_INITIALIZATION: name or description is missing.
 * - DOCA_ERROR_BAD_STATE: one of them is registered already.
 * - DOCA_ERROR_NO_MEMORY: no memory, here or earlier in a setter.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *input_cmd);

/**
 * Release a command that was not registered, with all that is registered in it. May be called at any time.
 *
 * @param [in] cmd From doca_argp_cmd_create(). Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: cmd is NULL.
 * - DOCA_ERROR_BAD_STATE: it is registered and so belongs to argp, or to another command.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd);

/**
 * Get the log level that the user gave. After doca_argp_start() has parsed, so also in callbacks.
 *
 * @param [out] log_level Receives 10 to 70 (enum doca_log_level); if the user gave none, the global lower
 * limit of the log. Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: log_level is NULL.
 * - DOCA_ERROR_BAD_STATE: doca_argp_init() was not called.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_get_log_level(int *log_level);

/**
 * Get the log level of the libraries that the user gave. After doca_argp_start() has parsed, so also in
 * callbacks.
 *
 * @param [out] log_level Receives 10 to 70 (enum doca_log_level); if the user gave none, the global limit of
 * the SDK. Not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: log_level is NULL.
 * - DOCA_ERROR_BAD_STATE: doca_argp_init() was not called.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_get_sdk_log_level(int *log_level);

#if OPENDOCA_LEVEL < 20900
#include <opendoca/older/argp.h>
#endif

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ARGP_H_ */
