// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_error.h
 * The outcome of a call, and what all functions have in common.
 *
 * NULL, in all headers, where a function does not say otherwise:
 * - A function that returns doca_error_t answers DOCA_ERROR_INVALID_VALUE if an object or another pointer that
 *   it needs is NULL, in any state, and nothing has changed. Outputs are written only on success.
 * - A function that returns a value or a pointer returns 0 or NULL if its object is NULL.
 * - A function that returns nothing does nothing if its object is NULL.
 * The log names the function. A pointer may be NULL where the text of the parameter says so.
 *
 * Numbers and enumerators out of range: DOCA_ERROR_INVALID_VALUE, or the error that the function names.
 * Undefined, because it cannot be checked: a pointer to an object that was destroyed or is of another type, and
 * memory or text that is shorter than was said.
 */
#ifndef DOCA_ERROR_H_
#define DOCA_ERROR_H_

#include <doca_common_defines.h>
#include <doca_compat.h>
#include <opendoca/level.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Outcome of a DOCA call. What each value means for a function is written at that function. */
typedef enum doca_error {
    DOCA_SUCCESS = 0,                      /**< The call did what it was asked to do. */
    DOCA_ERROR_UNKNOWN = 1,                /**< It failed, and the cause is not known. */
    DOCA_ERROR_NOT_PERMITTED = 2,          /**< The object does not allow this now, or to this caller. */
    DOCA_ERROR_IN_USE = 3,                 /**< The object or resource is still used by another one. */
    DOCA_ERROR_NOT_SUPPORTED = 4,          /**< This device, library or platform cannot do it. */
    DOCA_ERROR_AGAIN = 5,                  /**< Nothing to report yet: try later. */
    DOCA_ERROR_INVALID_VALUE = 6,          /**< An argument is outside of what the function accepts. */
    DOCA_ERROR_NO_MEMORY = 7,              /**< Memory, or room in a queue or pool, has run out. */
    DOCA_ERROR_INITIALIZATION = 8,         /**< Something needed could not be set up. */
    DOCA_ERROR_TIME_OUT = 9,               /**< The time allowed has passed. */
    DOCA_ERROR_SHUTDOWN = 10,              /**< The object or the other side is shutting down. */
    DOCA_ERROR_CONNECTION_RESET = 11,      /**< The other side has dropped the connection. */
    DOCA_ERROR_CONNECTION_ABORTED = 12,    /**< The connection could not be made, or broke. */
    DOCA_ERROR_CONNECTION_INPROGRESS = 13, /**< The connection is still being made. */
    DOCA_ERROR_NOT_CONNECTED = 14,         /**< There is no connection. */
    DOCA_ERROR_NO_LOCK = 15,               /**< A lock that is needed could not be taken. */
    DOCA_ERROR_NOT_FOUND = 16,             /**< What was asked for does not exist. */
    DOCA_ERROR_IO_FAILED = 17,             /**< Reading, writing or a job's data transfer failed. */
    DOCA_ERROR_BAD_STATE = 18,             /**< The object is in the wrong state for this call. */
    DOCA_ERROR_UNSUPPORTED_VERSION = 19,   /**< Made by, or for, a version that is not supported. */
    DOCA_ERROR_OPERATING_SYSTEM = 20,      /**< The operating system refused a call. */
    DOCA_ERROR_DRIVER = 21,                /**< The device's driver refused a call. */
    DOCA_ERROR_UNEXPECTED = 22,            /**< Something happened that should not have been possible. */
    DOCA_ERROR_ALREADY_EXIST = 23,         /**< It exists already. */
    DOCA_ERROR_FULL = 24,                  /**< There is no room for another element. */
    DOCA_ERROR_EMPTY = 25,                 /**< There is no element to take. */
    DOCA_ERROR_IN_PROGRESS = 26,           /**< The work has begun and is not finished. */
} doca_error_t;

/** 1 when r is an error, that is, anything but DOCA_SUCCESS; 0 otherwise. Hinted as unlikely. */
#define DOCA_IS_ERROR(r) doca_unlikely((r) != DOCA_SUCCESS)

/**
 * Keeps the first failure of several calls: assigns t to r as long as r is DOCA_SUCCESS. A statement; t is
 * not evaluated when r already holds an error.
 */
#if OPENDOCA_LEVEL <= 10500
/* Programs of that time may leave the semicolon out. */
#define DOCA_ERROR_PROPAGATE(r, t)                                                                                     \
    do {                                                                                                               \
        if ((r) == DOCA_SUCCESS)                                                                                       \
            (r) = (t);                                                                                                 \
    } while (0);
#else
#define DOCA_ERROR_PROPAGATE(r, t)                                                                                     \
    do {                                                                                                               \
        if ((r) == DOCA_SUCCESS)                                                                                       \
            (r) = (t);                                                                                                 \
    } while (0)
#endif

/**
 * Name of an error code as it is spelled in the source, such as "DOCA_ERROR_AGAIN". Any thread, any time.
 *
 * @param error Any value.
 * @return Static text, never NULL; "unrecognized error code" for a value that is not a doca_error_t.
 */
__DOCA_EXPERIMENTAL const char *doca_get_error_name(doca_error_t error);

/**
 * Short description of an error code, to be shown to people. Any thread, any time.
 *
 * @param error Any value.
 * @return Static text, never NULL; "unrecognized error code" for a value that is not a doca_error_t.
 */
__DOCA_EXPERIMENTAL const char *doca_get_error_string(doca_error_t error);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_ERROR_H_ */
