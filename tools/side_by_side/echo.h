// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The other process of a loop, on a CPU of its own. It blocks between two runs.
#ifndef ECHO_H_
#define ECHO_H_

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "loops.h"

static int counts[2]; /* a pipe: how many messages to answer */
static int ready[2];

static void expect(int holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    exit(1);
}

/*
 * Starts it: start() opens the service, answer() does its part of so many messages. CPUs are numbered from 0; this
 * process is pinned by the program that starts it.
 */
static inline void start_echo(void (*start)(void), void (*answer)(unsigned long count))
{
    char is_ready = 1;
    unsigned long count;
    cpu_set_t all;
    int cpu = 0;

    expect(pipe(counts) == 0 && pipe(ready) == 0, "pipe");
    const pid_t parent = getpid();
    const pid_t child = fork();

    expect(child >= 0, "fork");
    if (child != 0) {
        expect(read(ready[0], &is_ready, 1) == 1, "the other process");
        return;
    }
    expect(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent, "prctl");
    expect(sched_getaffinity(0, sizeof(all), &all) == 0, "sched_getaffinity");
    while (CPU_ISSET(cpu, &all) && cpu + 1 < sysconf(_SC_NPROCESSORS_ONLN))
        cpu++;
    CPU_ZERO(&all);
    CPU_SET(cpu, &all);
    (void)sched_setaffinity(0, sizeof(all), &all); /* a machine may have one only */
    close(counts[1]);
    start();
    expect(write(ready[1], &is_ready, 1) == 1, "the first process");
    while (read(counts[0], &count, sizeof(count)) == sizeof(count))
        answer(count);
    _exit(0);
}

static inline void wake_echo(unsigned long count)
{
    expect(write(counts[1], &count, sizeof(count)) == sizeof(count), "the other process");
}

#endif /* ECHO_H_ */
