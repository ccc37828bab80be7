// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The interface of the programs of side_by_side.py: loops that it starts by name, as often as it likes.
#ifndef LOOPS_H_
#define LOOPS_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_error.h>

#define MUST(call) must((call), __FILE__, __LINE__)

static inline void must(doca_error_t status, const char *file, int line)
{
    if (status == DOCA_SUCCESS)
        return;
    fprintf(stderr, "%s:%d: error %d\n", file, line, (int)status);
    exit(1);
}

/* Does its work count times. */
struct loop {
    const char *name;
    void (*run)(unsigned long count);
};

static inline double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/*
 * Tells the names of all loops in a line. Then, for each line "name count" of stdin, runs that loop, and tells how
 * many nanoseconds it took. Returns at the end of stdin.
 */
static inline int serve_loops(const struct loop *loops, size_t num_loops)
{
    char name[64];
    unsigned long count;

    for (size_t i = 0; i < num_loops; i++)
        printf("%s%c", loops[i].name, i + 1 == num_loops ? '\n' : ' ');
    fflush(stdout);
    while (scanf("%63s %lu", name, &count) == 2) {
        size_t i = 0;

        while (i < num_loops && strcmp(loops[i].name, name) != 0)
            i++;
        if (i == num_loops) {
            fprintf(stderr, "there is no loop %s\n", name);
            return 1;
        }
        const double start = now_ns();

        loops[i].run(count);
        printf("%.0f\n", now_ns() - start);
        fflush(stdout);
    }
    return 0;
}

#endif /* LOOPS_H_ */
