// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Cuts a text into four data blocks and computes two redundancy blocks.
#include <stdio.h>

#include <doca_log.h>

#include "../../common.h"
#include "../ec_common.h"

DOCA_LOG_REGISTER(EC_CREATE);

#define NUM_SHOWN 16 /* bytes of each block */

doca_error_t ec_create(const struct ec_config *config);

static void show(const struct ec_resources *resources)
{
    for (size_t i = 0; i < NUM_BLOCKS; i++) {
        char hex[2 * NUM_SHOWN + 1] = "";

        for (size_t n = 0; n < NUM_SHOWN; n++)
            (void)snprintf(hex + 2 * n, 3, "%02x", resources->blocks[i][n]);
        DOCA_LOG_INFO("Block %zu, %s: %s...", i, i < NUM_DATA ? "data" : "redundancy", hex);
    }
}

doca_error_t ec_create(const struct ec_config *config)
{
    struct ec_resources resources = {0};
    doca_error_t result;

    result = create_ec_resources(config->data, &resources);
    if (result == DOCA_SUCCESS)
        result = create_redundancy(&resources);
    if (result == DOCA_SUCCESS)
        show(&resources);
    result = first_error(result, destroy_ec_resources(&resources));
    return result;
}
