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
 * A line reads [HH:MM:SS:uuuuuu][DOCA][ERR][MY_PROGRAM:12]: Failed to open x, in local time; the tags of the
 * levels are CRT, ERR, WRN, INF and DBG. A newline at the end of a message is optional. A line is written as
 * a whole and at once, so those of several threads do not mix; opendoca: if it is longer than 1 KiB and there
 * is no memory for it, it is cut and ends in "...". A log call leaves errno as it was.
 *
 * Every backend has two limits. It shows a message whose level number is at most its lower limit (the most
 * verbose level) and at least its upper limit (the most severe one). A new backend takes both from the global
 * limits, which are at first DOCA_LOG_LEVEL_INFO and DOCA_LOG_LEVEL_CRIT; setting a global limit also sets it
 * in all backends that exist, except where it was made immutable. Limits may be any number from
 * DOCA_LOG_LEVEL_CRIT to DOCA_LOG_LEVEL_DEBUG.
 *
 * opendoca: until the first backend is created, messages within the global limits go to stderr.
 *
 * All functions may be called from any thread at any time, also before main() and after it.
 */
#ifndef DOCA_LOG_H_
#define DOCA_LOG_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <opendoca/level.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A place that messages go to. It exists until the process ends. */
struct doca_logger_backend;

/** How severe a message is. A smaller number is more severe. */
enum doca_log_level {
    DOCA_LOG_LEVEL_CRIT = 20,    /**< The program cannot go on. */
    DOCA_LOG_LEVEL_ERROR = 30,   /**< Something failed. */
    DOCA_LOG_LEVEL_WARNING = 40, /**< Something looks wrong, and work goes on. */
    DOCA_LOG_LEVEL_INFO = 50,    /**< What the program is doing. */
    DOCA_LOG_LEVEL_DEBUG = 60,   /**< What only its developers care for. */
};

/**
 * Takes the text that a buffer backend has collected. It may call any function of this header, but what it
 * logs itself does not go to buffer backends.
 *
 * @param buffer The buffer of the backend, as a NUL-terminated string of whole lines (opendoca: a line longer
 *     than the buffer comes in pieces). It is filled from the start again after the call.
 */
typedef void (*log_flush_callback)(char *buffer);

#if OPENDOCA_LEVEL < 20200
#include <opendoca/older/log.h>
#endif

/**
 * Period of the rate limit.
 *
 * @return Seconds; opendoca: 60 unless set.
 */
__DOCA_EXPERIMENTAL uint16_t doca_log_get_bucket_time(void);

/**
 * Sets the period of the rate limit, for all buckets and at once.
 *
 * @param bucket_time Seconds; opendoca: 0 turns rate limiting off.
 */
__DOCA_EXPERIMENTAL void doca_log_set_bucket_time(uint16_t bucket_time);

/**
 * Number of messages that a bucket lets through in each period.
 *
 * @return Messages; opendoca: 20 unless set.
 */
__DOCA_EXPERIMENTAL uint16_t doca_log_get_quantity(void);

/**
 * Sets how many messages a bucket lets through in each period, for all buckets and at once.
 *
 * @param quantity Messages; 0 lets none through.
 */
__DOCA_EXPERIMENTAL void doca_log_set_quantity(uint16_t quantity);

/**
 * Sets the lower limit (the most verbose level shown) of one backend.
 *
 * @param logger The backend; not NULL.
 * @param level DOCA_LOG_LEVEL_CRIT to DOCA_LOG_LEVEL_DEBUG.
 * @return DOCA_SUCCESS.
 *     DOCA_ERROR_INVALID_VALUE: logger is NULL, or level is not a doca_log_level.
 *     DOCA_ERROR_NOT_PERMITTED: the lower limit was made immutable.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_backend_level_set(struct doca_logger_backend *logger, uint32_t level);

/**
 * Sets the upper limit (the most severe level shown) of one backend.
 *
 * @param logger The backend; not NULL.
 * @param upper_level_limit DOCA_LOG_LEVEL_CRIT to DOCA_LOG_LEVEL_DEBUG.
 * @return DOCA_SUCCESS.
 *     DOCA_ERROR_INVALID_VALUE: logger is NULL, or upper_level_limit is not a doca_log_level.
 *     DOCA_ERROR_NOT_PERMITTED: the upper limit was made immutable.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_backend_set_upper_level_limit(struct doca_logger_backend *logger,
                                                                        uint32_t upper_level_limit);

/**
 * Makes the lower limit of a backend final: neither doca_log_backend_level_set() nor
 * doca_log_global_level_set() changes it any more. May be called again.
 *
 * @param logger The backend; not NULL.
 * @return DOCA_SUCCESS. DOCA_ERROR_INVALID_VALUE: logger is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_backend_set_lower_level_immutable(struct doca_logger_backend *logger);

/**
 * Makes the upper limit of a backend final: neither doca_log_backend_set_upper_level_limit() nor
 * doca_log_global_set_upper_level_limit() changes it any more. May be called again.
 *
 * @param logger The backend; not NULL.
 * @return DOCA_SUCCESS. DOCA_ERROR_INVALID_VALUE: logger is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_backend_set_upper_level_immutable(struct doca_logger_backend *logger);

/**
 * Sets the lower limit (the most verbose level shown) for backends to come and for those that exist, except
 * where it is immutable.
 *
 * @param level DOCA_LOG_LEVEL_CRIT to DOCA_LOG_LEVEL_DEBUG.
 * @return DOCA_SUCCESS. DOCA_ERROR_INVALID_VALUE: level is not a doca_log_level.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_global_level_set(uint32_t level);

/**
 * Sets the upper limit (the most severe level shown) for backends to come and for those that exist, except
 * where it is immutable.
 *
 * @param upper_level_limit DOCA_LOG_LEVEL_CRIT to DOCA_LOG_LEVEL_DEBUG.
 * @return DOCA_SUCCESS. DOCA_ERROR_INVALID_VALUE: upper_level_limit is not a doca_log_level.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_global_set_upper_level_limit(uint32_t upper_level_limit);

/**
 * The global lower limit.
 *
 * @return DOCA_LOG_LEVEL_INFO, or what doca_log_global_level_set() was given last.
 */
__DOCA_EXPERIMENTAL uint32_t doca_log_global_level_get(void);

/**
 * Adds a source of messages. DOCA_LOG_REGISTER() does this. Sources may share a name.
 *
 * @param source_name Name shown in the messages; copied; not NULL.
 * @param source Where to put the number of the source, which is above 0; not NULL. Set on success.
 * @return DOCA_SUCCESS.
 *     DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 *     DOCA_ERROR_FULL: there are 4095 sources already.
 *     DOCA_ERROR_NO_MEMORY: no memory for the name.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_source_register(const char *source_name, int *source);

/**
 * Removes a source and its rate limit buckets.
 *
 * @param source Number from doca_log_source_register().
 * @return DOCA_SUCCESS. DOCA_ERROR_INVALID_VALUE: there is no such source.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_source_destroy(int source);

/**
 * Adds a bucket, which counts messages that are limited together. DOCA_LOG_RATE_LIMIT() does this for each
 * place that it is used in. The bucket goes when its source does.
 *
 * @param source Number from doca_log_source_register().
 * @param bucket Where to put the number of the bucket, which is above 0; not NULL. Set on success.
 * @return DOCA_SUCCESS.
 *     DOCA_ERROR_INVALID_VALUE: bucket is NULL, or there is no such source.
 *     DOCA_ERROR_FULL: there are 8191 buckets already.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_rate_bucket_register(int source, int *bucket);

/**
 * Creates a backend that writes to a stdio stream and flushes it after each line.
 *
 * @param fptr The stream; not NULL. It stays the caller's and must stay open while anything may be logged.
 * @param backend Where to put the backend; not NULL. Set on success.
 * @return DOCA_SUCCESS.
 *     DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 *     DOCA_ERROR_NO_MEMORY: no memory for the backend.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_create_file_backend(FILE *fptr, struct doca_logger_backend **backend);

/**
 * Creates a backend that writes to a file descriptor.
 *
 * @param fd The descriptor. It stays the caller's and must stay open while anything may be logged.
 * @param backend Where to put the backend; not NULL. Set on success.
 * @return DOCA_SUCCESS.
 *     DOCA_ERROR_INVALID_VALUE: fd is not an open descriptor, or backend is NULL.
 *     DOCA_ERROR_NO_MEMORY: no memory for the backend.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_create_fd_backend(int fd, struct doca_logger_backend **backend);

/**
 * Creates a backend that collects lines in memory. When the next line does not fit, the handler is called,
 * from the thread that logs, and the buffer is filled anew. The buffer always holds a NUL-terminated string;
 * what has not been handed over when the process ends is there to be read.
 *
 * @param buffer The memory; not NULL. It stays the caller's and must stay valid while anything may be logged.
 * @param capacity Bytes of the buffer, the terminating NUL included; at least 2.
 * @param handler Takes the collected text; not NULL.
 * @param backend Where to put the backend; not NULL. Set on success.
 * @return DOCA_SUCCESS.
 *     DOCA_ERROR_INVALID_VALUE: an argument is NULL, or capacity is below 2.
 *     DOCA_ERROR_NO_MEMORY: no memory for the backend.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_create_buffer_backend(char *buffer, size_t capacity,
                                                                log_flush_callback handler,
                                                                struct doca_logger_backend **backend);

/**
 * Creates a backend that hands messages to syslog(3), facility user, without the time of day. A process has
 * one syslog name: that of the backend created last.
 *
 * @param name Name of the program in the system's log; copied; neither NULL nor empty.
 * @param backend Where to put the backend; not NULL. Set on success.
 * @return DOCA_SUCCESS.
 *     DOCA_ERROR_INVALID_VALUE: an argument is NULL, or name is empty.
 *     DOCA_ERROR_NO_MEMORY: no memory for the backend or the name.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_create_syslog_backend(const char *name, struct doca_logger_backend **backend);

/**
 * Creates the usual pair of backends: stdout for INFO and DEBUG, as far as the global lower limit lets them
 * through, and stderr for WARNING, ERROR and CRIT. Only the lower limit of stdout follows the global one; the
 * other three limits are immutable. opendoca: a second call succeeds and changes nothing, so that no line is
 * shown twice.
 *
 * @return DOCA_SUCCESS. DOCA_ERROR_NO_MEMORY: no memory for the backends; none was created.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_create_standard_backend(void);

/** Has the compiler check the arguments of a message against its format. */
#define DOCA_LOG_PRINTF_(format_index) __attribute__((format(printf, format_index, (format_index) + 1)))

/**
 * Writes one message to every backend whose limits it is within. The macros below are the usual way to call
 * this. A message that no backend shows is not formatted, and is a success.
 *
 * @param level A doca_log_level.
 * @param source Number from doca_log_source_register(); opendoca: 0, which is no source, is shown as
 *     "UNKNOWN".
 * @param line Line of the source file.
 * @param format As of printf(3); not NULL. The arguments follow.
 * @return DOCA_SUCCESS.
 *     DOCA_ERROR_INVALID_VALUE: level is not a doca_log_level, format is NULL or cannot be carried out, or
 *     there is no such source.
 *     DOCA_ERROR_IO_FAILED: a backend could not write the message; the others have it.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log(uint32_t level, int source, int line, const char *format, ...)
    DOCA_LOG_PRINTF_(4);

/**
 * doca_log() for the DOCA_DLOG macros.
 *
 * @param level A doca_log_level.
 * @param source Number from doca_log_source_register(), or 0.
 * @param line Line of the source file.
 * @param format As of printf(3); not NULL. The arguments follow.
 * @return As doca_log().
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_developer(uint32_t level, int source, int line, const char *format, ...)
    DOCA_LOG_PRINTF_(4);

/**
 * doca_log() as long as the bucket has room: in each period of doca_log_get_bucket_time() seconds, which
 * begins with a message, the first doca_log_get_quantity() messages are written and the rest are dropped,
 * which is a success. Messages that no backend shows are not counted.
 *
 * @param level A doca_log_level.
 * @param source Number from doca_log_source_register(), or 0.
 * @param line Line of the source file.
 * @param bucket Number from doca_log_rate_bucket_register().
 * @param format As of printf(3); not NULL. The arguments follow.
 * @return As doca_log(), and DOCA_ERROR_INVALID_VALUE when there is no such bucket.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_rate_limit(uint32_t level, int source, int line, int bucket,
                                                     const char *format, ...) DOCA_LOG_PRINTF_(5);

/**
 * Makes the source file a source of messages, which the macros below need. At file scope, once; SOURCE is the
 * name as it stands, without quotes (opendoca: quotes around it are not shown), and may contain `::`. A
 * semicolon may follow. The source exists from before the constructors of default priority until after the
 * destructors.
 */
#define DOCA_LOG_REGISTER(SOURCE)                                                                                      \
    static int log_source;                                                                                             \
    static __attribute__((constructor(101), used)) void DOCA_LOG_CTOR_##__FILE__(void)                                 \
    {                                                                                                                  \
        doca_log_source_register(#SOURCE, &log_source);                                                                \
    }                                                                                                                  \
    static __attribute__((destructor(101), used)) void DOCA_LOG_DTOR_##__FILE__(void)                                  \
    {                                                                                                                  \
        doca_log_source_destroy(log_source);                                                                           \
    }

/**
 * Logs a message: DOCA_LOG(INFO, "%d bytes", n). An expression, the doca_error_t of doca_log(). The level is
 * CRIT, ERROR, WARNING, INFO or DEBUG.
 */
#define DOCA_LOG(level, ...) doca_log(DOCA_LOG_LEVEL_##level, log_source, __LINE__, __VA_ARGS__)

#define DOCA_LOG_CRIT(...) DOCA_LOG(CRIT, __VA_ARGS__)
#define DOCA_LOG_ERR(...) DOCA_LOG(ERROR, __VA_ARGS__)
#define DOCA_LOG_WARN(...) DOCA_LOG(WARNING, __VA_ARGS__)
#define DOCA_LOG_INFO(...) DOCA_LOG(INFO, __VA_ARGS__)
#define DOCA_LOG_DBG(...) DOCA_LOG(DEBUG, __VA_ARGS__)

/**
 * Logs a message, but not too often: each place that this is used in has a bucket of its own. A statement.
 */
#define DOCA_LOG_RATE_LIMIT(level, ...)                                                                                \
    do {                                                                                                               \
        static int doca_log_site_bucket_ = -1;                                                                         \
        int doca_log_bucket_ = __atomic_load_n(&doca_log_site_bucket_, __ATOMIC_ACQUIRE);                              \
        if (doca_log_bucket_ == -1 && doca_log_rate_bucket_register(log_source, &doca_log_bucket_) == DOCA_SUCCESS) {  \
            int doca_log_first_ = -1;                                                                                  \
            if (!__atomic_compare_exchange_n(&doca_log_site_bucket_, &doca_log_first_, doca_log_bucket_, 0,            \
                                             __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))                                      \
                doca_log_bucket_ = doca_log_first_;                                                                    \
        }                                                                                                              \
        doca_log_rate_limit(DOCA_LOG_LEVEL_##level, log_source, __LINE__, doca_log_bucket_, __VA_ARGS__);              \
    } while (0)

#define DOCA_LOG_RATE_LIMIT_CRIT(...) DOCA_LOG_RATE_LIMIT(CRIT, __VA_ARGS__)
#define DOCA_LOG_RATE_LIMIT_ERR(...) DOCA_LOG_RATE_LIMIT(ERROR, __VA_ARGS__)
#define DOCA_LOG_RATE_LIMIT_WARN(...) DOCA_LOG_RATE_LIMIT(WARNING, __VA_ARGS__)
#define DOCA_LOG_RATE_LIMIT_INFO(...) DOCA_LOG_RATE_LIMIT(INFO, __VA_ARGS__)
#define DOCA_LOG_RATE_LIMIT_DBG(...) DOCA_LOG_RATE_LIMIT(DEBUG, __VA_ARGS__)

/**
 * Logs a message for developers where DOCA_LOGGING_ALLOW_DLOG is defined before this header is read;
 * elsewhere the message and its arguments leave no trace in the program. A statement.
 */
#ifdef DOCA_LOGGING_ALLOW_DLOG
#define DOCA_DLOG(level, ...) doca_log_developer(DOCA_LOG_LEVEL_##level, log_source, __LINE__, __VA_ARGS__)
#else
#define DOCA_DLOG(level, ...)                                                                                          \
    do {                                                                                                               \
    } while (0)
#endif

#define DOCA_DLOG_CRIT(...) DOCA_DLOG(CRIT, __VA_ARGS__)
#define DOCA_DLOG_ERR(...) DOCA_DLOG(ERROR, __VA_ARGS__)
#define DOCA_DLOG_WARN(...) DOCA_DLOG(WARNING, __VA_ARGS__)
#define DOCA_DLOG_INFO(...) DOCA_DLOG(INFO, __VA_ARGS__)
#define DOCA_DLOG_DBG(...) DOCA_DLOG(DEBUG, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif /* DOCA_LOG_H_ */
