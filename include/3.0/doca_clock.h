// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_clock.h
 * Clocks: the time of a device, and that of the CPU at the same moment. Since DOCA 3.2.
 *
 * opendoca: software devices have the clocks of this machine's kernel: DOCA_CLOCK_NIC_FREE_RUNNING is
 * CLOCK_MONOTONIC_RAW in nanoseconds, DOCA_CLOCK_NIC_REAL_TIME is CLOCK_TAI, which is equal to CLOCK_REALTIME where no
 * time service has set its difference. RDMA devices have those that their driver offers to programs:
 * DOCA_CLOCK_NIC_FREE_RUNNING is the counter that ibv_query_rt_values_ex() reads, in units of the device (see
 * hca_core_clock of ibv_query_device_ex()), and DOCA_CLOCK_NIC_REAL_TIME, on mlx5 devices, this counter as the kernel
 * converts it for time stamps of completions (mlx5dv_ts_to_ns()): the device's PTP clock. Where a driver offers
 * neither, as Soft-RoCE, the capabilities return DOCA_ERROR_NOT_SUPPORTED, and so does the creation. The values of the
 * DOCA_CLOCK_* numbers are our own: NVIDIA's are not known.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: any number, except for doca_clock_destroy(). A child process may use its parent's clocks.
 */
#ifndef DOCA_CLOCK_H_
#define DOCA_CLOCK_H_

#include <stdint.h>
#include <stdlib.h>
#include <sys/select.h>
#include <time.h>
/* With -std=c99, glibc declares struct timespec in these for programs that ask for POSIX alone. */
#if defined(__GLIBC__)
#include <bits/types/struct_timespec.h>
#endif

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Counter of the NIC that runs freely. */
#define DOCA_CLOCK_NIC_FREE_RUNNING 0x1
/** Time of the NIC, in seconds and nanoseconds since 1970. */
#define DOCA_CLOCK_NIC_REAL_TIME 0x2
/** Counter of the NIC's DPA. */
#define DOCA_CLOCK_NIC_DPA_TIMER 0x4
/** Counter of the CPU: the time-stamp counter of x86-64, the virtual count of 64-bit Arm. */
#define DOCA_CLOCK_HOST_COUNTER_CYCLES 0x8
/** CLOCK_REALTIME of this machine. */
#define DOCA_CLOCK_HOST_REAL_TIME 0x10
/** CLOCK_MONOTONIC of this machine. */
#define DOCA_CLOCK_HOST_MONOTONIC 0x20
/** CLOCK_MONOTONIC_RAW of this machine. */
#define DOCA_CLOCK_HOST_MONOTONIC_RAW 0x40

struct doca_dev;
struct doca_devinfo;

/** The clocks of a device. */
struct doca_clock;

/** What a clock shows. */
union doca_clock_timespec_t {
    struct timespec ts; /**< Of clocks that tell a time. */
    uint64_t counter;   /**< Of clocks that count. */
};

/**
 * Create the clocks of a device.
 *
 * Since DOCA 3.2.
 *
 * @param [in] dev The device; it must stay open until the clocks are destroyed.
 * @param [out] clock The clocks. Free them with doca_clock_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no clock that can be read.
 */
DOCA_EXPERIMENTAL doca_error_t doca_clock_create(struct doca_dev *dev, struct doca_clock **clock);

/**
 * Destroy the clocks of a device.
 *
 * Since DOCA 3.2.
 *
 * @param [in] clock The clocks.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: clock is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_clock_destroy(struct doca_clock *clock);

/**
 * Whether a device can tell DOCA_CLOCK_NIC_FREE_RUNNING. Threads: any.
 *
 * Since DOCA 3.2.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_clock_cap_nic_free_running_is_supported(const struct doca_devinfo *devinfo);

/**
 * Whether a device can tell DOCA_CLOCK_NIC_REAL_TIME. Threads: any.
 *
 * Since DOCA 3.2.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_clock_cap_nic_real_time_is_supported(const struct doca_devinfo *devinfo);

/**
 * Whether a device can tell DOCA_CLOCK_NIC_DPA_TIMER. Threads: any.
 *
 * Since DOCA 3.2.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_clock_cap_nic_dpa_timer_is_supported(const struct doca_devinfo *devinfo);

/**
 * What a clock shows now.
 *
 * Since DOCA 3.2.
 *
 * @param [in] clock The clocks.
 * @param [in] clock_type One of the numbers above; clocks of this machine as well as those of the device.
 * @param [out] timestamp What it shows: the counter of DOCA_CLOCK_NIC_FREE_RUNNING, DOCA_CLOCK_NIC_DPA_TIMER and
 * DOCA_CLOCK_HOST_COUNTER_CYCLES, the time of all others. Unchanged on failure.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or clock_type is not one of the numbers above.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no such clock.
 */
DOCA_EXPERIMENTAL doca_error_t doca_clock_get_timestamp(const struct doca_clock *clock, uint64_t clock_type,
                                                        union doca_clock_timespec_t *timestamp);

/**
 * What two clocks show at the same moment. opendoca: of eight pairs of readings, the one that took the shortest time.
 *
 * Since DOCA 3.2.
 *
 * @param [in] clock The clocks.
 * @param [in] primary_clock A clock of this machine: DOCA_CLOCK_HOST_*.
 * @param [in] nic_clock A clock of the device: DOCA_CLOCK_NIC_*.
 * @param [out] primary_timestamp What the first one shows.
 * @param [out] nic_timestamp What the second one shows.
 * @param [out] accuracy By how many nanoseconds the two moments may be apart, at least 1. Outputs are unchanged on
 * failure.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or a number is not such a clock.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no such clock.
 */
DOCA_EXPERIMENTAL doca_error_t doca_clock_get_crosstimestamp(const struct doca_clock *clock, uint64_t primary_clock,
                                                             uint64_t nic_clock,
                                                             union doca_clock_timespec_t *primary_timestamp,
                                                             union doca_clock_timespec_t *nic_timestamp,
                                                             uint64_t *accuracy);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CLOCK_H_ */
