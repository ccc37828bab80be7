// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_common_defines.h
 * Branch hints.
 */
#ifndef DOCA_COMMON_DEFINES_H_
#define DOCA_COMMON_DEFINES_H_

#ifdef __GNUC__

/** The truth of x (1 or 0), which the compiler may take to be 1 most of the time. */
#define doca_likely(x) (__builtin_expect(!!(x), 1))

/** The truth of x (1 or 0), which the compiler may take to be 0 most of the time. */
#define doca_unlikely(x) (__builtin_expect(!!(x), 0))

#else

#define doca_likely(x) (x)
#define doca_unlikely(x) (x)

#endif

#endif /* DOCA_COMMON_DEFINES_H_ */
