// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/log.h
 * What doca_log.h has more at a level up to 20002. Included by it, inside of extern "C".
 */
#ifndef OPENDOCA_OLDER_LOG_H_
#define OPENDOCA_OLDER_LOG_H_

/**
 * Write messages to a stream instead of stderr, where they go as long as a program creates no backend. Threads: any.
 *
 * @param [in] stream The stream; it stays open as long as messages are written.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: stream is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_log_stream_redirect(FILE *stream)
    OPENDOCA_BOUND_TO(opendoca_log_stream_redirect_1_3);

#endif /* OPENDOCA_OLDER_LOG_H_ */
