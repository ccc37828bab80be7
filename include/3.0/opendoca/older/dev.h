// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/dev.h
 * What doca_dev.h has other at a level up to 20600. Included by it, inside of extern "C".
 */
#ifndef OPENDOCA_OLDER_DEV_H_
#define OPENDOCA_OLDER_DEV_H_

/**
 * Nominal data rate of a device's port. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] active_rate Bits per second.
 * @return As doca_devinfo_get_active_rate() of DOCA 3.0.
 */
DOCA_EXPERIMENTAL doca_error_t doca_devinfo_get_active_rate(const struct doca_devinfo *devinfo, double *active_rate)
    OPENDOCA_BOUND_TO(opendoca_devinfo_get_active_rate_2_6);

#endif /* OPENDOCA_OLDER_DEV_H_ */
