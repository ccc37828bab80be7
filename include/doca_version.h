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

#if OPENDOCA_LEVEL == 20200
/** Version of these headers, part by part. */
#define DOCA_VER_MAJOR 2
#define DOCA_VER_MINOR 2
#define DOCA_VER_PATCH 80

/** Version of these headers as text: major.minor.patch, the patch with four digits. */
#define DOCA_VER_STRING "2.2.0080"
#elif OPENDOCA_LEVEL == 20002
#define DOCA_VER_MAJOR 2
#define DOCA_VER_MINOR 0
#define DOCA_VER_PATCH 2027
#define DOCA_VER_STRING "2.0.2027"
#elif OPENDOCA_LEVEL == 10500
#define DOCA_VER_MAJOR 1
#define DOCA_VER_MINOR 5
#define DOCA_VER_PATCH 55
#define DOCA_VER_STRING "1.5.0055"
#elif OPENDOCA_LEVEL == 10400
#define DOCA_VER_MAJOR 1
#define DOCA_VER_MINOR 4
#define DOCA_VER_PATCH 0
#define DOCA_VER_STRING "1.4.0000"
#else
#define DOCA_VER_MAJOR 1
#define DOCA_VER_MINOR 3
#define DOCA_VER_PATCH 0
#define DOCA_VER_STRING "1.3.0000"
#endif

/** One number (size_t) per version, in the order of the versions; minor and patch below 256 and 65536. */
#define DOCA_VERSION_NUM(major, minor, patch) ((size_t)((major) << 24 | (minor) << 16 | (patch)))

/** Number of the version of these headers. */
#define DOCA_CURRENT_VERSION_NUM DOCA_VERSION_NUM(DOCA_VER_MAJOR, DOCA_VER_MINOR, DOCA_VER_PATCH)

/** True when the version given is that of these headers. */
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) (DOCA_VERSION_NUM(major, minor, patch) == DOCA_CURRENT_VERSION_NUM)

/** True when the version given is that of these headers, or an earlier one. */
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch)                                                                  \
    (DOCA_VERSION_NUM(major, minor, patch) <= DOCA_CURRENT_VERSION_NUM)

/**
 * Version that the calling program was compiled against. Any thread, any time.
 *
 * @return DOCA_VER_STRING; static, not to be freed.
 */
static inline const char *doca_version(void)
{
    return DOCA_VER_STRING;
}

/**
 * Version of the library that the program is running on, which may differ from doca_version(). Any thread,
 * any time.
 *
 * @return Text in the form of DOCA_VER_STRING; static, not to be freed, never NULL.
 */
__DOCA_EXPERIMENTAL const char *doca_version_runtime(void);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_VERSION_H_ */
