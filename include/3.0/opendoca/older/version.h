// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/version.h
 * What doca_version.h has other at the level 20500. Included by it.
 */
#ifndef OPENDOCA_OLDER_VERSION_H_
#define OPENDOCA_OLDER_VERSION_H_

/** Version of these headers, part by part, and as text: major.minor.patch, the patch with four digits. */
#define DOCA_VER_MAJOR 2
#define DOCA_VER_MINOR 5
#define DOCA_VER_PATCH 108
#define DOCA_VER_STRING "2.5.0108"

/** One number (size_t) per version, in their order; minor below 256, patch below 65536. */
#define DOCA_VERSION_NUM(major, minor, patch) ((size_t)((major) << 24 | (minor) << 16 | (patch)))

/** Number of the version of these headers. */
#define DOCA_CURRENT_VERSION_NUM DOCA_VERSION_NUM(DOCA_VER_MAJOR, DOCA_VER_MINOR, DOCA_VER_PATCH)

/** True when the version given is that of these headers. */
#define DOCA_VERSION_EQ_CURRENT(major, minor, patch) (DOCA_VERSION_NUM(major, minor, patch) == DOCA_CURRENT_VERSION_NUM)

/** True when the version given is that of these headers, or an earlier one. */
#define DOCA_VERSION_LTE_CURRENT(major, minor, patch)                                                                  \
    (DOCA_VERSION_NUM(major, minor, patch) <= DOCA_CURRENT_VERSION_NUM)

#endif /* OPENDOCA_OLDER_VERSION_H_ */
