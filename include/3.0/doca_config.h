// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_config.h
 * What the other headers offer on this target.
 */
#ifndef DOCA_CONFIG_H_
#define DOCA_CONFIG_H_

#include <doca_build_config.h>

/** Turns on the DOCA_STRUCT_* helpers of doca_compat.h. */
#ifndef DOCA_COMPAT_HELPERS
#define DOCA_COMPAT_HELPERS
#endif

#endif /* DOCA_CONFIG_H_ */
