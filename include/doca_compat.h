// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_compat.h
 * How public functions are marked, and helpers for structures that carry the API version they were compiled
 * for.
 */
#ifndef DOCA_COMPAT_H_
#define DOCA_COMPAT_H_

#include <doca_config.h>

#ifdef DOCA_COMPAT_HELPERS
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#endif

/** Kept by the compiler even where nothing in the same file refers to it. */
#define DOCA_USED __attribute__((used))

/** Visible outside of the shared library that defines it. */
#define DOCA_EXPORTED __attribute__((visibility("default"))) DOCA_USED

/**
 * Marks every public function. All of DOCA 2.2 counts as experimental: a program that calls it without
 * defining DOCA_ALLOW_EXPERIMENTAL_API is warned about each function that it uses.
 */
#ifdef DOCA_ALLOW_EXPERIMENTAL_API
#define __DOCA_EXPERIMENTAL __attribute__((section(".text.experimental"))) DOCA_EXPORTED
#else
#define __DOCA_EXPERIMENTAL                                                                                            \
    __attribute__((deprecated("Symbol is defined as experimental"))) __attribute__((section(".text.experimental")))    \
    DOCA_EXPORTED
#endif

#ifdef DOCA_COMPAT_HELPERS

/** First member of a versioned structure: the API version that its user was compiled for. */
#define DOCA_STRUCT_START uint32_t __doca_api_version

/** The version that the structure behind the pointer _X_ carries. */
#define DOCA_STRUCT_GET_VERSION(_X_) ((_X_)->__doca_api_version)

/** Gives the object _X_ the version of these headers; its other members stay as they are. */
#define DOCA_STRUCT_CTOR(_X_) ((void)((_X_).__doca_api_version = (uint32_t)DOCA_CURRENT_VERSION_NUM))

/** DOCA_STRUCT_CTOR for a pointer to the object. */
#define DOCA_STRUCT_PTR_CTOR(_X_) ((void)((_X_)->__doca_api_version = (uint32_t)DOCA_CURRENT_VERSION_NUM))

/** Clears the object _X_ to zero bytes, then gives it the version of these headers. */
#define DOCA_STRUCT_MEMSET_CTOR(_X_) ((void)memset(&(_X_), 0, sizeof(_X_)), DOCA_STRUCT_CTOR(_X_))

/** DOCA_STRUCT_MEMSET_CTOR for a pointer to the object. */
#define DOCA_STRUCT_PTR_MEMSET_CTOR(_X_) ((void)memset((_X_), 0, sizeof(*(_X_))), DOCA_STRUCT_PTR_CTOR(_X_))

/** First element of a designated initialiser list of a versioned structure. */
#define DOCA_STRUCT_CTOR_LIST_START .__doca_api_version = DOCA_CURRENT_VERSION_NUM

/* Last, because doca_version.h needs the marks above and includes this header in its turn. */
#include <doca_version.h>

#endif /* DOCA_COMPAT_HELPERS */

#endif /* DOCA_COMPAT_H_ */
