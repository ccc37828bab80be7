// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/log.h
 * What doca_log.h has more, and other, at a level up to 20800. Included by it, inside of extern "C".
 */
#ifndef OPENDOCA_OLDER_LOG_H_
#define OPENDOCA_OLDER_LOG_H_

#if OPENDOCA_LEVEL < 20700

/**
 * Logs a message: DOCA_LOG(INFO, "%d bytes", n). An expression, the doca_error_t of doca_log(). The level is the
 * end of an enumerator's name: CRIT, ERROR, WARNING, INFO, DEBUG or TRACE.
 */
#define DOCA_LOG(level, ...) doca_log(DOCA_LOG_LEVEL_##level, log_source, __FILE__, __LINE__, __func__, __VA_ARGS__)

#define DOCA_LOG_CRIT(...) DOCA_LOG(CRIT, __VA_ARGS__)
#define DOCA_LOG_ERR(...) DOCA_LOG(ERROR, __VA_ARGS__)
#define DOCA_LOG_WARN(...) DOCA_LOG(WARNING, __VA_ARGS__)
#define DOCA_LOG_INFO(...) DOCA_LOG(INFO, __VA_ARGS__)
#define DOCA_LOG_DBG(...) DOCA_LOG(DEBUG, __VA_ARGS__)

#endif

/* As doca_log_backend_create_with_buf() and doca_log_backend_create_with_buf_sdk() of DOCA 2.6 and later. */

DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_buffer(char *buffer, size_t capacity,
                                                                   log_flush_callback handler,
                                                                   struct doca_log_backend **backend)
    OPENDOCA_BOUND_TO(doca_log_backend_create_with_buf);

DOCA_EXPERIMENTAL doca_error_t doca_log_backend_create_with_buffer_sdk(char *buffer, size_t capacity,
                                                                       log_flush_callback handler,
                                                                       struct doca_log_backend **backend)
    OPENDOCA_BOUND_TO(doca_log_backend_create_with_buf_sdk);

#endif /* OPENDOCA_OLDER_LOG_H_ */
