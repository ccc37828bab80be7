// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Cuts a text into four data blocks and computes two redundancy blocks.
#include <stdio.h>
#include <stdlib.h>

#include <doca_log.h>

#include "../ec_common.h"

DOCA_LOG_REGISTER(EC_CREATE);

#define NUM_SHOWN 16 /* bytes of each block */

static void show(const struct ec_resources *resources)
{
    for (size_t i = 0; i < NUM_BLOCKS; i++) {
        char hex[2 * NUM_SHOWN + 1] = "";

        for (size_t n = 0; n < NUM_SHOWN; n++)
            snprintf(hex + 2 * n, 3, "%02x", resources->blocks[i][n]);
        DOCA_LOG_INFO("Block %zu, %s: %s...", i, i < NUM_DATA ? "data" : "redundancy", hex);
    }
}

int main(int argc, char **argv)
{
    static struct ec_resources resources;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = create_redundancy("doca_ec_create", argc, argv, NULL, &resources);
    if (result == DOCA_SUCCESS)
        show(&resources);
    return finish(first_error(result, destroy_ec_resources(&resources)));
}
