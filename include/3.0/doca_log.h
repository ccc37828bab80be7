// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_log.h
 * Messages of a program and of the libraries: who writes them (sources), how severe they are (levels), and
 * where they go (backends).
 *
 *     DOCA_LOG_REGISTER(MY_PROGRAM);              // once per source file, at file scope
 *     ...
 *     DOCA_LOG_ERR("Failed to open %s", path);    // anywhere in that file
 *
 * A line reads [HH:MM:SS:uuuuuu][thread][DOCA][ERR][file.c:12][main] Failed to open x, in local time; the
 * tags of the levels are CRT, ERR, WRN, INF, DBG and TRC. A newline at the end of a message is optional. A
 * line is written as a whole and at once, so those of several threads do not mix; opendoca: if it is longer
 * than 1 KiB and there is no memory for it, it is cut and ends in "...". A log call leaves errno as it was.
 *
 * There are two logs: the program's and that of the libraries (SDK). A backend belongs to one of them; those
 * of the SDK's have names that end in _sdk.
 *
 * A backend of the program has two limits. It shows a message whose level number is at most its lower limit
 * (the most verbose level) and at least its upper limit (the most severe one). A new backend takes both from
 * the global limits, which are at first DOCA_LOG_LEVEL_INFO and DOCA_LOG_LEVEL_CRIT; setting a global limit
 * also sets it in all backends that exist, except where it was made strict. A backend of the SDK has one
 * limit, the most verbose level that it shows, which it takes from the global limit of the SDK, at first
 * DOCA_LOG_LEVEL_INFO. Limits may be any number from DOCA_LOG_LEVEL_DISABLE, which shows nothing, to
 * DOCA_LOG_LEVEL_TRACE.
 *
 * opendoca: until the first backend of the SDK is created, messages of the libraries within the global limit
 * of the SDK go to stderr; until the first backend of the program is, so do those of the program within the
 * global limits.
 *
 * All functions may be called from any thread at any time, also before main() and after it. Outputs are set
 * only on success.
 */
#ifndef DOCA_LOG_H_
#define DOCA_LOG_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <opendoca/level.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A place that messages go to. It exists until the process ends. */
struct doca_log_backend;

/** How severe a message is. A smaller number is more severe. */
enum doca_log_level {
    DOCA_LOG_LEVEL_DISABLE = 10, /**< As a limit: show nothing. No message has it. */
    DOCA_LOG_LEVEL_CRIT = 20,    /**< The program cannot go on. */
    DOCA_LOG_LEVEL_ERROR = 30,   /**< Something failed. */
    DOCA_LOG_LEVEL_WARNING = 40, /**< Something looks wrong, and work goes on. */
    DOCA_LOG_LEVEL_INFO = 50,    /**< What the program is doing. */
    DOCA_LOG_LEVEL_DEBUG = 60,   /**< What only its developers care for. */
    DOCA_LOG_LEVEL_TRACE = 70,   /**< Each step; compiled in on demand, see DOCA_LOG_TRC(). */
};

/**
 * Takes the text that a buffer backend has collected. It may call any function of this header, but what it
 * logs itself does not go to buffer backends.
 *
 * @param [in] buf The buffer of the backend, as a NUL-terminated string of whole lines (opendoca: a line
 * longer than the buffer comes in pieces). It is filled from the start again after the call.
 */
typedef void (*log_flush_callback)(char *buf);

/**
 * Sets the lower limit (the most verbose level shown) of one backend.
 *
 * @param [in] backend A backend of the program; not NULL.
 * @param [in] level DOCA_LOG_LEVEL_DISABLE to DOCA_LOG_LEVEL_TRACE.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: backend is NULL or the SDK's, or level is not a doca_log_level.
 * - DOCA_ERROR_NOT_PERMITTED: the lower limit was made strict.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend, uint32_t level);

/**
 * Sets the upper limit (the most severe level shown) of one backend.
 *
 * @param [in] backend A backend of the program; not NULL.
 * @param [in] upper_limit DOCA_LOG_LEVEL_DISABLE to DOCA_LOG_LEVEL_TRACE.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: backend is NULL or the SDK's, or upper_limit is not a doca_log_level.
 * - DOCA_ERROR_NOT_PERMITTED: the upper limit was made strict.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend,
                                                                      uint32_t upper_limit);

/**
 * Makes the lower limit of a backend final: neither doca_log_backend_set_level_lower_limit() nor
 * doca_log_level_set_global_lower_limit() changes it any more. May be called again.
 *
 * @param [in] backend A backend of the program; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: backend is NULL or the SDK's.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend);

/**
 * Makes the upper limit of a backend final: neither doca_log_backend_set_level_upper_limit() nor
 * doca_log_level_set_global_upper_limit() changes it any more. May be called again.
 *
 * @param [in] backend A backend of the program; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: backend is NULL or the SDK's.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend);

/**
 * Sets the lower limit (the most verbose level shown) for backends of the program to come and for those that
 * exist, except where it is strict.
 *
 * @param [in] level DOCA_LOG_LEVEL_DISABLE to DOCA_LOG_LEVEL_TRACE.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: level is not a doca_log_level.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_level_set_global_lower_limit(uint32_t level);

/**
 * Sets the upper limit (the most severe level shown) for backends of the program to come and for those that
 * exist, except where it is strict.
 *
 * @param [in] upper_limit DOCA_LOG_LEVEL_DISABLE to DOCA_LOG_LEVEL_TRACE.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: upper_limit is not a doca_log_level.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit);

/**
 * The global lower limit.
 *
 * @return DOCA_LOG_LEVEL_INFO, or what doca_log_level_set_global_lower_limit() was given last.
 */
DOCA_EXPERIMENTAL uint32_t doca_log_level_get_global_lower_limit(void);

/**
 * The global upper limit.
 *
 * @return DOCA_LOG_LEVEL_CRIT, or what doca_log_level_set_global_upper_limit() was given last.
 */
DOCA_EXPERIMENTAL uint32_t doca_log_level_get_global_upper_limit(void);

/**
 * Adds a source of messages. DOCA_LOG_REGISTER() does this. Sources may share a name.
 *
 * @param [in] source_name Name of the source; copied; not NULL.
 * @param [out] source Where to put the number of the source, which is above 0; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_FULL: there are 4095 sources already.
 * - DOCA_ERROR_NO_MEMORY: no memory for the name.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_register_source(const char *source_name, int *source);

/**
 * Removes a source.
 *
 * @param [in] source Number from doca_log_register_source().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: there is no such source.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_unregister_source(int source);

/**
 * Creates a backend of the program's log that writes to a stdio stream and flushes it after each line.
 *
 * @param [in] fptr The stream; not NULL. It stays the caller's and must stay open while anything may be
 * logged.
 * @param [out] backend Where to put the backend; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory for the backend.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend);

/**
 * Creates a backend of the program's log that writes to a file descriptor.
 *
 * @param [in] fd The descriptor. It stays the caller's and must stay open while anything may be logged.
 * @param [out] backend Where to put the backend; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: fd is not an open descriptor, or backend is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory for the backend.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend);

/**
 * Creates a backend of the program's log that collects lines in memory. When the next line does not fit, the
 * handler is called, from the thread that logs, and the buffer is filled anew. The buffer always holds a
 * NUL-terminated string; what has not been handed over when the process ends is there to be read.
 *
 * @param [in] buf The memory; not NULL. It stays the caller's and must stay valid while anything may be
 * logged.
 * @param [in] capacity Bytes of the buffer, the terminating NUL included; at least 2.
 * @param [in] handler Takes the collected text; not NULL.
 * @param [out] backend Where to put the backend; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or capacity is below 2.
 * - DOCA_ERROR_NO_MEMORY: no memory for the backend.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity, log_flush_callback handler,
                                                                struct doca_log_backend **backend);

/**
 * Creates a backend of the program's log that hands messages to syslog(3), facility user, without the time of
 * day. A process has one name there: that of the backend created last.
 *
 * @param [in] name Name of the program in the system's log; copied; neither NULL nor empty.
 * @param [out] backend Where to put the backend; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or name is empty.
 * - DOCA_ERROR_NO_MEMORY: no memory for the backend or the name.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_syslog(const char *name, struct doca_log_backend **backend);

/**
 * Sets the limit (the most verbose level shown) of one backend of the SDK.
 *
 * @param [in] backend A backend of the SDK; not NULL.
 * @param [in] level DOCA_LOG_LEVEL_DISABLE to DOCA_LOG_LEVEL_TRACE.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: backend is NULL or the program's, or level is not a doca_log_level.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level);

/**
 * Creates a backend of the libraries' log that writes to a stdio stream and flushes it after each line.
 *
 * @param [in] fptr The stream; not NULL. It stays the caller's and must stay open while anything may be
 * logged.
 * @param [out] backend Where to put the backend; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory for the backend.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend);

/**
 * Creates a backend of the libraries' log that writes to a file descriptor.
 *
 * @param [in] fd The descriptor. It stays the caller's and must stay open while anything may be logged.
 * @param [out] backend Where to put the backend; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: fd is not an open descriptor, or backend is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory for the backend.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend);

/**
 * Creates a backend of the libraries' log that collects lines in memory. When the next line does not fit, the
 * handler is called, from the thread that logs, and the buffer is filled anew. The buffer always holds a
 * NUL-terminated string; what has not been handed over when the process ends is there to be read.
 *
 * @param [in] buf The memory; not NULL. It stays the caller's and must stay valid while anything may be
 * logged.
 * @param [in] capacity Bytes of the buffer, the terminating NUL included; at least 2.
 * @param [in] handler Takes the collected text; not NULL.
 * @param [out] backend Where to put the backend; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or capacity is below 2.
 * - DOCA_ERROR_NO_MEMORY: no memory for the backend.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity,
                                                                    log_flush_callback handler,
                                                                    struct doca_log_backend **backend);

/**
 * Creates a backend of the libraries' log that hands messages to syslog(3), facility user, without the time
 * of day. A process has one name there: that of the backend created last.
 *
 * @param [in] name Name of the program in the system's log; copied; neither NULL nor empty.
 * @param [out] backend Where to put the backend; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or name is empty.
 * - DOCA_ERROR_NO_MEMORY: no memory for the backend or the name.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name,
                                                                       struct doca_log_backend **backend);

/**
 * Sets the limit (the most verbose level shown) for backends of the SDK to come and for those that exist.
 *
 * @param [in] level DOCA_LOG_LEVEL_DISABLE to DOCA_LOG_LEVEL_TRACE.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: level is not a doca_log_level.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level);

/**
 * The global limit of the SDK.
 *
 * @return DOCA_LOG_LEVEL_INFO, or what doca_log_level_set_global_sdk_limit() was given last.
 */
DOCA_EXPERIMENTAL uint32_t doca_log_level_get_global_sdk_limit(void);

/**
 * Creates the program's usual pair of backends: stdout for INFO and what is more verbose, as far as the
 * global lower limit lets it through, and stderr for WARNING, ERROR and CRIT. Only the lower limit of stdout
 * follows the global one; the other three limits are strict. opendoca: a second call succeeds and changes
 * nothing, so that no line is shown twice.
 *
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_NO_MEMORY: no memory for the backends; none was created.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_standard(void);

/**
 * Writes one message to every backend of the program whose limits it is within. The macros below are the
 * usual way to call this. A message that no backend shows is not formatted, and is a success. The arguments
 * of the format follow it.
 *
 * @param [in] level DOCA_LOG_LEVEL_CRIT to DOCA_LOG_LEVEL_TRACE.
 * @param [in] source Number from doca_log_register_source(); opendoca: or 0, which is no source.
 * @param [in] fname Name of the source file, of which the part after the last slash is shown; not NULL.
 * @param [in] line Line of the source file.
 * @param [in] func Name of the function; not NULL.
 * @param [in] format As of printf(3); not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: level is not a doca_log_level, a text is NULL, format cannot be carried out, or
 *   there is no such source.
 * - DOCA_ERROR_IO_FAILED: a backend could not write the message; the others have it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func,
                                        const char *format, ...) __attribute__((format(printf, 6, 7)));

/**
 * Makes the source file a source of messages, which the macros below need. At file scope, once; source is the
 * name as it stands, without quotes, and may contain `::`. A semicolon may follow. The source exists from
 * before the constructors of default priority until after the destructors.
 */
#define DOCA_LOG_REGISTER(source)                                                                                      \
    static int log_source;                                                                                             \
    static __attribute__((constructor(101), used)) void DOCA_LOG_CTOR_##__FILE__(void)                                 \
    {                                                                                                                  \
        doca_log_register_source(#source, &log_source);                                                                \
    }                                                                                                                  \
    static __attribute__((destructor(101), used)) void DOCA_LOG_DTOR_##__FILE__(void)                                  \
    {                                                                                                                  \
        doca_log_unregister_source(log_source);                                                                        \
    }

#if OPENDOCA_LEVEL >= 20700
/**
 * Logs a message: DOCA_LOG(DOCA_LOG_LEVEL_INFO, "%d bytes", n). An expression, the doca_error_t of
 * doca_log(). The level is a doca_log_level.
 */
#define DOCA_LOG(level, ...) doca_log(level, log_source, __FILE__, __LINE__, __func__, __VA_ARGS__)

#define DOCA_LOG_CRIT(...) DOCA_LOG(DOCA_LOG_LEVEL_CRIT, __VA_ARGS__)
#define DOCA_LOG_ERR(...) DOCA_LOG(DOCA_LOG_LEVEL_ERROR, __VA_ARGS__)
#define DOCA_LOG_WARN(...) DOCA_LOG(DOCA_LOG_LEVEL_WARNING, __VA_ARGS__)
#define DOCA_LOG_INFO(...) DOCA_LOG(DOCA_LOG_LEVEL_INFO, __VA_ARGS__)
#define DOCA_LOG_DBG(...) DOCA_LOG(DOCA_LOG_LEVEL_DEBUG, __VA_ARGS__)
#endif

/**
 * Logs a message of level TRACE where DOCA_LOGGING_ALLOW_TRACE is defined before this header is read;
 * elsewhere the message and its arguments leave no trace in the program. A statement.
 */
#ifdef DOCA_LOGGING_ALLOW_TRACE
#define DOCA_LOG_TRC(...) doca_log(DOCA_LOG_LEVEL_TRACE, log_source, __FILE__, __LINE__, __func__, __VA_ARGS__)
#else
#define DOCA_LOG_TRC(...)                                                                                              \
    do {                                                                                                               \
    } while (0)
#endif

#if OPENDOCA_LEVEL < 20900
#include <opendoca/older/log.h>
#endif

#ifdef __cplusplus
}
#endif

#endif /* DOCA_LOG_H_ */
