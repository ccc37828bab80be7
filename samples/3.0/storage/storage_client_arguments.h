// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The command line of the client of the storage sample.
#ifndef STORAGE_CLIENT_ARGUMENTS_H_
#define STORAGE_CLIENT_ARGUMENTS_H_

#include "../doca_comch/comch_common.h"
#include "storage_protocol.h"

struct client_config {
    struct comch_config comch; /* the device */
    char file[MAX_PATH_SIZE];
    char out[MAX_PATH_SIZE];
    uint32_t num_data;
    uint32_t num_redundancy;
    uint32_t lose[STORAGE_MAX_TARGETS]; /* the blocks to lose, each larger than the one before */
    uint32_t num_lose;
};

/* Reads -p, -f, -o, -k, -m and -L, and checks them together. */
doca_error_t parse_client_arguments(int argc, char **argv, struct client_config *config);

#endif /* STORAGE_CLIENT_ARGUMENTS_H_ */
