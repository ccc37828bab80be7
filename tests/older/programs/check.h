// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the programs of this folder have in common: they end where something is not as it was on the original.
#ifndef CHECK_H_
#define CHECK_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_error.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define WORKS(call) GIVES(call, DOCA_SUCCESS)

#define GIVES(call, wanted)                                                                                            \
    do {                                                                                                               \
        const doca_error_t code_ = (call);                                                                             \
        if (code_ != (wanted)) {                                                                                       \
            fprintf(stderr, "%s:%d: %s gives %s\n", __FILE__, __LINE__, #call, doca_get_error_name(code_));            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
