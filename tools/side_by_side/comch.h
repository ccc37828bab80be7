// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Shared by the programs of side_by_side.py that use Comch.
#ifndef COMCH_H_
#define COMCH_H_

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>

#include "loops.h"

static inline struct doca_dev *open_first(doca_error_t (*suits)(const struct doca_devinfo *))
{
    struct doca_devinfo **list = NULL;
    struct doca_dev *dev = NULL;
    uint32_t num_devices = 0;

    MUST(doca_devinfo_create_list(&list, &num_devices));
    for (uint32_t i = 0; i < num_devices && dev == NULL; i++)
        if (suits(list[i]) == DOCA_SUCCESS)
            MUST(doca_dev_open(list[i], &dev));
    if (dev == NULL)
        MUST(DOCA_ERROR_NOT_FOUND);
    return dev;
}

/* Starts a context on an engine. */
static inline void start_ctx(struct doca_pe *pe, struct doca_ctx *ctx)
{
    enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;
    doca_error_t status;

    MUST(doca_pe_connect_ctx(pe, ctx));
    status = doca_ctx_start(ctx);
    MUST(status == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : status);
    while (state == DOCA_CTX_STATE_STARTING) {
        (void)doca_pe_progress(pe);
        MUST(doca_ctx_get_state(ctx, &state));
    }
}

/* A server of the first device that can be one, for its first representor. Its device, too, if that is asked for. */
static inline struct doca_comch_server *create_server(const char *name, struct doca_dev **opened)
{
    struct doca_dev *const dev = open_first(doca_comch_cap_server_is_supported);
    struct doca_comch_server *server = NULL;
    struct doca_devinfo_rep **reps = NULL;
    struct doca_dev_rep *rep = NULL;
    uint32_t num_reps = 0;

    MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &num_reps));
    MUST(num_reps != 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND);
    MUST(doca_dev_rep_open(reps[0], &rep));
    MUST(doca_comch_server_create(dev, rep, name, &server));
    if (opened != NULL)
        *opened = dev;
    return server;
}

#endif /* COMCH_H_ */
