// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_compat.h
 * How public functions are marked, and helpers for structures that carry the API version they were compiled
 * for.
 */
#ifndef DOCA_COMPAT_H_
#define DOCA_COMPAT_H_

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <doca_config.h>
#include <opendoca/level.h>

/** Kept by the compiler even where nothing in the same file refers to it. */
#define DOCA_USED __attribute__((used))

/** Marks a public function whose interface stays as it is. */
#define DOCA_STABLE __attribute__((visibility("default"))) DOCA_USED

/**
 * Marks a public function whose interface may still change. A program that calls it without defining
 * DOCA_ALLOW_EXPERIMENTAL_API is warned about each such function that it uses.
 */
#ifdef DOCA_ALLOW_EXPERIMENTAL_API
#define DOCA_EXPERIMENTAL __attribute__((section(".text.experimental"))) DOCA_STABLE
#else
#define DOCA_EXPERIMENTAL                                                                                              \
    __attribute__((deprecated("Symbol is defined as experimental"))) __attribute__((section(".text.experimental")))    \
    DOCA_STABLE
#endif

/** Marks a public function that has a successor. Who calls it is warned. */
#define DOCA_DEPRECATED __attribute__((deprecated("Symbol is defined as deprecated"))) DOCA_STABLE

#ifdef DOCA_COMPAT_HELPERS

/** Type and value of the version in a structure. */
#if OPENDOCA_LEVEL == 20500
#define OPENDOCA_STRUCT_VERSION_TYPE_ uint32_t
#define OPENDOCA_STRUCT_VERSION_ ((uint32_t)DOCA_CURRENT_VERSION_NUM)
#else
#define OPENDOCA_STRUCT_VERSION_TYPE_ size_t
#define OPENDOCA_STRUCT_VERSION_ DOCA_VERSION_EXACT
#endif

/** First member of a versioned structure: the API version that its user was compiled for. */
#define DOCA_STRUCT_START OPENDOCA_STRUCT_VERSION_TYPE_ __doca_api_version

/** The version that the structure behind the pointer _X_ carries. */
#define DOCA_STRUCT_GET_VERSION(_X_) ((_X_)->__doca_api_version)

/** Gives the object _X_ the version of these headers; its other members stay as they are. */
#define DOCA_STRUCT_CTOR(_X_) ((void)((_X_).__doca_api_version = OPENDOCA_STRUCT_VERSION_))

/** DOCA_STRUCT_CTOR for a pointer to the object. */
#define DOCA_STRUCT_PTR_CTOR(_X_) ((void)((_X_)->__doca_api_version = OPENDOCA_STRUCT_VERSION_))

/** Clears the object _X_ to zero bytes, then gives it the version of these headers. */
#define DOCA_STRUCT_MEMSET_CTOR(_X_) ((void)memset(&(_X_), 0, sizeof(_X_)), DOCA_STRUCT_CTOR(_X_))

/** DOCA_STRUCT_MEMSET_CTOR for a pointer to the object. */
#define DOCA_STRUCT_PTR_MEMSET_CTOR(_X_) ((void)memset((_X_), 0, sizeof(*(_X_))), DOCA_STRUCT_PTR_CTOR(_X_))

/** First element of a designated initialiser list of a versioned structure. */
#define DOCA_STRUCT_CTOR_LIST_START .__doca_api_version = OPENDOCA_STRUCT_VERSION_

/** Defines __name__, a struct __st__ with the version of these headers and zero in its other members. */
#define DOCA_STRUCT_DEF(__st__, __name__) struct __st__ __name__ = {DOCA_STRUCT_CTOR_LIST_START}

#endif /* DOCA_COMPAT_HELPERS */

/* Last, because doca_version.h needs the marks above and includes this header in its turn. */
#include <doca_version.h>

#endif /* DOCA_COMPAT_H_ */
