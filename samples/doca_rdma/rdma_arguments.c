// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_common.h"

#include <stdio.h>
#include <string.h>

#include <bsd/string.h>
#include <doca_log.h>

#include "../common.h"

DOCA_LOG_REGISTER(SAMPLES::RDMA_ARGUMENTS);

#define DEFAULT_TEXT "Hi DOCA RDMA!"
#define DEFAULT_LOCAL_PATH "/tmp/local_connection_desc_path.txt"
#define DEFAULT_REMOTE_PATH "/tmp/remote_connection_desc_path.txt"
#define DEFAULT_MMAP_PATH "/tmp/mmap_connection_desc_path.txt"

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

/* An argument that some of the samples take. */
struct rdma_argument_entry {
    uint32_t kind; /* 0: of every sample */
    struct argument argument;
};

/* clang-format off */
static const struct rdma_argument_entry all_arguments[] = {
    {0, {"d", "device", "<name>", "IB device name (default: the first device that suits)",
     set_device, DOCA_ARGP_TYPE_STRING, false}},
    {0, {"ld", "local-descriptor-path", "<path>",
     "File to write, for the remote side: how to connect to this side (default: " DEFAULT_LOCAL_PATH ")",
     set_local_path, DOCA_ARGP_TYPE_STRING, false}},
    {0, {"re", "remote-descriptor-path", "<path>",
     "File to read, from the remote side: how to connect to it (default: " DEFAULT_REMOTE_PATH ")",
     set_remote_path, DOCA_ARGP_TYPE_STRING, false}},
    {RDMA_ARGUMENT_MMAP, {"m", "mmap-descriptor-path", "<path>",
     "File with the responder's memory, written there and read by the requester (default: "
     DEFAULT_MMAP_PATH ")",
     set_mmap_path, DOCA_ARGP_TYPE_STRING, false}},
    {0, {"g", "gid-index", "<number>", "GID index (default: the library's)",
     set_gid_index, DOCA_ARGP_TYPE_INT, false}},
    {RDMA_ARGUMENT_READ, {"r", "read-string", "<text>", "Text to be read (default: " DEFAULT_TEXT ")",
     set_text, DOCA_ARGP_TYPE_STRING, false}},
    {RDMA_ARGUMENT_SEND, {"s", "send-string", "<text>", "Text to send (default: " DEFAULT_TEXT ")",
     set_text, DOCA_ARGP_TYPE_STRING, false}},
    {RDMA_ARGUMENT_WRITE, {"w", "write-string", "<text>", "Text to write (default: " DEFAULT_TEXT ")",
     set_text, DOCA_ARGP_TYPE_STRING, false}},
};
/* clang-format on */

static doca_error_t add_arguments(uint32_t arguments)
{
    const size_t num_arguments = sizeof(all_arguments) / sizeof(all_arguments[0]);
    doca_error_t result = DOCA_SUCCESS;

    for (size_t i = 0; i < num_arguments && result == DOCA_SUCCESS; i++) {
        if (all_arguments[i].kind == 0 || (arguments & all_arguments[i].kind) != 0)
            result = add_argument(&all_arguments[i].argument);
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

    result = begin_arguments(program, config);
    return result == DOCA_SUCCESS ? read_arguments(add_arguments(arguments), argc, argv) : result;
}
