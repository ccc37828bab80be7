// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How the samples wait. By default they block until something has happened, which leaves the processor to other
// programs. With --busy they poll, which answers some microseconds earlier.
#ifndef WAIT_H_
#define WAIT_H_

#include <stdbool.h>
#include <stdint.h>

#include <doca_ctx.h>
#include <doca_error.h>
#include <doca_types.h>

/* Adds --busy; between doca_argp_init() and doca_argp_start(). */
doca_error_t add_busy_argument(void);

/* Makes a work queue in event-driven mode, unless --busy was given. */
doca_error_t create_workq(uint32_t depth, struct doca_workq **workq);

/* Waits for the end of a job; the answer is that of doca_workq_progress_retrieve(). */
doca_error_t await_event(struct doca_workq *workq, struct doca_event *event);

/* Submits a job, which must be the only one, and waits for its end. Returns the result of the job. */
doca_error_t run_job(struct doca_workq *workq, const struct doca_job *job);

/* Waits until a descriptor that is armed is readable. With --busy it returns at once. */
doca_error_t await_handle(doca_event_handle_t handle);

#endif /* WAIT_H_ */
