// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Parameters on the command line, with a level of the log.
#include <doca_argp.h>
#include <doca_log.h>

#include "check.h"

struct config {
    char pci[8];
    int size;
    bool is_fast;
};

static doca_error_t set_pci(void *value, void *config)
{
    strcpy(((struct config *)config)->pci, (const char *)value);
    return DOCA_SUCCESS;
}

static doca_error_t set_size(void *value, void *config)
{
    ((struct config *)config)->size = *(int *)value;
    return DOCA_SUCCESS;
}

static doca_error_t set_fast(void *value, void *config)
{
    (void)value;
    ((struct config *)config)->is_fast = true;
    return DOCA_SUCCESS;
}

static void add(const char *name, const char *long_name, enum doca_argp_type type, callback_func callback)
{
    struct doca_argp_param *param;
    WORKS(doca_argp_param_create(&param));
    doca_argp_param_set_short_name(param, name);
    doca_argp_param_set_long_name(param, long_name);
    doca_argp_param_set_description(param, "A parameter");
    doca_argp_param_set_callback(param, callback);
    doca_argp_param_set_type(param, type);
    if (type == DOCA_ARGP_TYPE_STRING)
        doca_argp_param_set_mandatory(param);
    WORKS(doca_argp_register_param(param));
}

int main(int argc, char **argv)
{
    struct config config = {"", 0, false};
    int level = 0;
    WORKS(doca_argp_init("arguments", &config));
    add("p", "pci", DOCA_ARGP_TYPE_STRING, set_pci);
    add("l", "loops", DOCA_ARGP_TYPE_INT, set_size);
    add("f", "fast", DOCA_ARGP_TYPE_BOOLEAN, set_fast);
    WORKS(doca_argp_start(argc, argv));
    WORKS(doca_argp_get_log_level(&level));
    WORKS(doca_argp_destroy());
    CHECK(strcmp(config.pci, "03:00.0") == 0 && config.size == 64 && config.is_fast && level == DOCA_LOG_LEVEL_DEBUG);
    return 0;
}
