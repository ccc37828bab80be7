// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_version.h
 * The version of the API: the one compiled against, and the one of the library in use.
 */
#ifndef DOCA_VERSION_H_
#define DOCA_VERSION_H_

#include <stddef.h>

#include <doca_compat.h>
#include <opendoca/level.h>

#ifdef __cplusplus
extern "C" {
#endif

#if OPENDOCA_LEVEL == 20500
#include <opendoca/older/version.h>
#else
/** Version of these headers, part by part, and as text: major.minor.patch, the patch with four digits. */
#if OPENDOCA_LEVEL == 20600
#define DOCA_VERSION_MAJOR 2
#define DOCA_VERSION_MINOR 6
#define DOCA_VERSION_PATCH 58
#define DOCA_VERSION_STRING "2.6.0058"
#elif OPENDOCA_LEVEL == 20700
#define DOCA_VERSION_MAJOR 2
#define DOCA_VERSION_MINOR 7
#define DOCA_VERSION_PATCH 0
#define DOCA_VERSION_STRING "2.7.0000"
#elif OPENDOCA_LEVEL == 20800
#define DOCA_VERSION_MAJOR 2
#define DOCA_VERSION_MINOR 8
#define DOCA_VERSION_PATCH 0
#define DOCA_VERSION_STRING "2.8.0000"
#else
#define DOCA_VERSION_MAJOR 3
#define DOCA_VERSION_MINOR 0
#define DOCA_VERSION_PATCH 58
#define DOCA_VERSION_STRING "3.0.0058"
#endif

/** One number (size_t) per build, in the order of the versions; minor below 256, patch below 65536. */
#define DOCA_VERSION_CALC_EXACT(major, minor, patch) ((size_t)((major) << 24 | (minor) << 16 | (patch)))

/** Number of the build of these headers. */
#define DOCA_VERSION_EXACT DOCA_VERSION_CALC_EXACT(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)

/**
 * One number (size_t) per version as users name it, "3.2.2", whose builds have patch numbers of 2000 and
 * more: the patch counts thousands.
 */
#define DOCA_VERSION_CALC(major, minor, patch) ((size_t)((major) << 24 | (minor) << 16 | ((patch)*1000)))

/** DOCA_VERSION_CALC of the version of these headers. */
#define DOCA_VERSION_OFFICIAL DOCA_VERSION_CALC(DOCA_VERSION_MAJOR, DOCA_VERSION_MINOR, DOCA_VERSION_PATCH)

/** True when the version given is that of these headers. */
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) (DOCA_VERSION_CALC(major, minor, patch) == DOCA_VERSION_OFFICIAL)

/** True when the version given is that of these headers, or an earlier one. */
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch) (DOCA_VERSION_CALC(major, minor, patch) <= DOCA_VERSION_OFFICIAL)
#endif

/**
 * Version that the calling program was compiled against. Any thread, any time.
 *
 * @return DOCA_VERSION_STRING (2.5: DOCA_VER_STRING); static, not to be freed.
 */
static inline const char *doca_version(void)
{
#if OPENDOCA_LEVEL == 20500
    return DOCA_VER_STRING;
#else
    return DOCA_VERSION_STRING;
#endif
}

/**
 * Version of the library that the program is running on, which may differ from doca_version(). Any thread,
 * any time.
 *
 * @return Text in the form of DOCA_VERSION_STRING; static, not to be freed, never NULL.
 */
DOCA_EXPERIMENTAL const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_VERSION_H_ */
