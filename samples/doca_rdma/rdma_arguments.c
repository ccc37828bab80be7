// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_common.h"

#include <stdio.h>
#include <string.h>

#include <bsd/string.h>
#include <doca_argp.h>
#include <doca_log.h>

#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::RDMA_ARGUMENTS);

#define DEFAULT_TEXT "Hi DOCA RDMA!"
#define DEFAULT_LOCAL_PATH "/tmp/local_connection_desc_path.txt"
#define DEFAULT_REMOTE_PATH "/tmp/remote_connection_desc_path.txt"
#define DEFAULT_MMAP_PATH "/tmp/mmap_connection_desc_path.txt"

static doca_error_t set_string(const char *what, const char *value, char *field, size_t size)
{
    const size_t len = strlen(value);

    if (len == 0) {
        DOCA_LOG_ERR("The %s is empty", what);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (len >= size) {
        DOCA_LOG_ERR("The %s has %zu bytes, and at most %zu are possible", what, len, size - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    (void)strlcpy(field, value, size);
    return DOCA_SUCCESS;
}

static doca_error_t set_device(void *value, void *config)
{
    struct rdma_config *const c = config;

    return set_string("name of the device", value, c->device_name, sizeof(c->device_name));
}

static doca_error_t set_local_path(void *value, void *config)
{
    struct rdma_config *const c = config;

    return set_string("path of the local descriptor", value, c->local_path, sizeof(c->local_path));
}

static doca_error_t set_remote_path(void *value, void *config)
{
    struct rdma_config *const c = config;

    return set_string("path of the remote descriptor", value, c->remote_path, sizeof(c->remote_path));
}

static doca_error_t set_mmap_path(void *value, void *config)
{
    struct rdma_config *const c = config;

    return set_string("path of the mmap descriptor", value, c->mmap_path, sizeof(c->mmap_path));
}

static doca_error_t set_text(void *value, void *config)
{
    struct rdma_config *const c = config;

    return set_string("text", value, c->text, sizeof(c->text));
}

static doca_error_t set_gid_index(void *value, void *config)
{
    struct rdma_config *const c = config;
    const int gid_index = *(const int *)value;

    if (gid_index < 0) {
        DOCA_LOG_ERR("The GID index %d is negative", gid_index);
        return DOCA_ERROR_INVALID_VALUE;
    }
    c->has_gid_index = true;
    c->gid_index = (uint32_t)gid_index;
    return DOCA_SUCCESS;
}

struct argument {
    uint32_t kind; /* 0: of every sample */
    const char *short_name;
    const char *long_name;
    const char *value;
    const char *description;
    callback_func callback;
    enum doca_argp_type type;
};

/* clang-format off */
static const struct argument all_arguments[] = {
    {0, "d", "device", "<name>", "IB device name (default: the first device that suits)",
     set_device, DOCA_ARGP_TYPE_STRING},
    {0, "ld", "local-descriptor-path", "<path>",
     "File to write, for the remote side: how to connect to this side (default: " DEFAULT_LOCAL_PATH ")",
     set_local_path, DOCA_ARGP_TYPE_STRING},
    {0, "re", "remote-descriptor-path", "<path>",
     "File to read, from the remote side: how to connect to it (default: " DEFAULT_REMOTE_PATH ")",
     set_remote_path, DOCA_ARGP_TYPE_STRING},
    {RDMA_ARGUMENT_MMAP, "m", "mmap-descriptor-path", "<path>",
     "File with the responder's memory, written there and read by the requester (default: "
     DEFAULT_MMAP_PATH ")",
     set_mmap_path, DOCA_ARGP_TYPE_STRING},
    {0, "g", "gid-index", "<number>", "GID index (default: the library's)",
     set_gid_index, DOCA_ARGP_TYPE_INT},
    {RDMA_ARGUMENT_READ, "r", "read-string", "<text>", "Text to be read (default: " DEFAULT_TEXT ")",
     set_text, DOCA_ARGP_TYPE_STRING},
    {RDMA_ARGUMENT_SEND, "s", "send-string", "<text>", "Text to send (default: " DEFAULT_TEXT ")",
     set_text, DOCA_ARGP_TYPE_STRING},
    {RDMA_ARGUMENT_WRITE, "w", "write-string", "<text>", "Text to write (default: " DEFAULT_TEXT ")",
     set_text, DOCA_ARGP_TYPE_STRING},
};
/* clang-format on */

static doca_error_t register_argument(const struct argument *argument)
{
    struct doca_argp_param *param;
    doca_error_t result;

    result = doca_argp_param_create(&param);
    if (result != DOCA_SUCCESS)
        return result;
    doca_argp_param_set_short_name(param, argument->short_name);
    doca_argp_param_set_long_name(param, argument->long_name);
    doca_argp_param_set_arguments(param, argument->value);
    doca_argp_param_set_description(param, argument->description);
    doca_argp_param_set_callback(param, argument->callback);
    doca_argp_param_set_type(param, argument->type);
    return doca_argp_register_param(param);
}

static doca_error_t register_arguments(uint32_t arguments)
{
    const size_t num_arguments = sizeof(all_arguments) / sizeof(all_arguments[0]);
    doca_error_t result = DOCA_SUCCESS;

    for (size_t i = 0; i < num_arguments && result == DOCA_SUCCESS; i++) {
        if (all_arguments[i].kind == 0 || (arguments & all_arguments[i].kind) != 0)
            result = register_argument(&all_arguments[i]);
    }
    return result;
}

doca_error_t parse_arguments(const char *program, uint32_t arguments, int argc, char **argv, struct rdma_config *config)
{
    doca_error_t result;

    memset(config, 0, sizeof(*config));
    (void)strlcpy(config->local_path, DEFAULT_LOCAL_PATH, sizeof(config->local_path));
    (void)strlcpy(config->remote_path, DEFAULT_REMOTE_PATH, sizeof(config->remote_path));
    (void)strlcpy(config->mmap_path, DEFAULT_MMAP_PATH, sizeof(config->mmap_path));
    (void)strlcpy(config->text, DEFAULT_TEXT, sizeof(config->text));

    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The arguments cannot be set up: %s", doca_get_error_string(result));
        return result;
    }
    result = register_arguments(arguments);
    if (result == DOCA_SUCCESS)
        result = add_busy_argument();
    if (result == DOCA_SUCCESS)
        result = doca_argp_start(argc, argv);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The arguments cannot be used: %s (-h shows what is possible)", doca_get_error_string(result));
    (void)doca_argp_destroy();
    return result;
}
