// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A signal whose handler does nothing, again and again: it ends a call that blocks, whenever the call begins.
#ifndef ALARM_H_
#define ALARM_H_

#include <signal.h>
#include <sys/time.h>

#include "check.h"

static void ignore_alarm(int number)
{
    (void)number;
}

static inline void alarm_every(int milliseconds)
{
    const struct itimerval often = {{0, milliseconds * 1000}, {0, milliseconds * 1000}};
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = ignore_alarm;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
}

#endif
