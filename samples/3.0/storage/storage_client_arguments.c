// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "storage_client_arguments.h"

#include <ctype.h>
#include <stdlib.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(STORAGE_CLIENT_ARGUMENTS);

static doca_error_t set_pci_addr(void *param, void *config)
{
    struct client_config *client = config;

    return set_text(client->comch.pci_addr, sizeof(client->comch.pci_addr), "PCI address", param);
}

static doca_error_t set_file(void *param, void *config)
{
    struct client_config *client = config;

    return set_text(client->file, sizeof(client->file), "path", param);
}

static doca_error_t set_out(void *param, void *config)
{
    struct client_config *client = config;

    return set_text(client->out, sizeof(client->out), "path", param);
}

static doca_error_t set_number(const char *what, int value, uint32_t *field)
{
    if (value < 1 || value >= STORAGE_MAX_TARGETS) {
        DOCA_LOG_ERR("%d %s blocks: 1 to %d are possible", value, what, STORAGE_MAX_TARGETS - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    *field = (uint32_t)value;
    return DOCA_SUCCESS;
}

static doca_error_t set_num_data(void *param, void *config)
{
    return set_number("data", *(int *)param, &((struct client_config *)config)->num_data);
}

static doca_error_t set_num_redundancy(void *param, void *config)
{
    return set_number("redundancy", *(int *)param, &((struct client_config *)config)->num_redundancy);
}

/* Numbers that ascend, separated by commas. */
static doca_error_t set_lose(void *param, void *config)
{
    struct client_config *client = config;
    const char *text = param;

    client->num_lose = 0;
    for (;;) {
        const uint32_t count = client->num_lose;
        char *end = NULL;
        unsigned long block;

        if (!isdigit((unsigned char)*text) || count == STORAGE_MAX_TARGETS)
            break;
        block = strtoul(text, &end, 10);
        if (block >= STORAGE_MAX_TARGETS || (count > 0 && block <= client->lose[count - 1]))
            break;
        client->lose[client->num_lose++] = (uint32_t)block;
        if (*end == '\0')
            return DOCA_SUCCESS;
        if (*end != ',')
            break;
        text = end + 1;
    }
    DOCA_LOG_ERR("'%s' is no list of ascending numbers of blocks, such as 0,3", (const char *)param);
    return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t check_arguments(void *config)
{
    const struct client_config *client = config;
    const uint32_t num_blocks = client->num_data + client->num_redundancy;

    if (client->file[0] == '\0' || client->out[0] == '\0') {
        DOCA_LOG_ERR("The file to store (-f) and the file to write (-o) have to be given");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (num_blocks > STORAGE_MAX_TARGETS) {
        DOCA_LOG_ERR("%u data blocks and %u redundancy blocks are more than %d", client->num_data,
                     client->num_redundancy, STORAGE_MAX_TARGETS);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (client->num_lose > 0 && client->lose[client->num_lose - 1] >= num_blocks) {
        DOCA_LOG_ERR("Block %u cannot be lost: the blocks are 0 to %u", client->lose[client->num_lose - 1],
                     num_blocks - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t parse_client_arguments(int argc, char **argv, struct client_config *config)
{
    doca_error_t result;

    strcpy(config->comch.pci_addr, "3b:00.0");
    config->num_data = 4;
    config->num_redundancy = 2;
    result = doca_argp_init("doca_storage_client", config);
    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument("p", "pci-addr", "PCI address of the device", DOCA_ARGP_TYPE_STRING, set_pci_addr);
    if (result == DOCA_SUCCESS)
        result = add_argument("f", "file", "File to store", DOCA_ARGP_TYPE_STRING, set_file);
    if (result == DOCA_SUCCESS)
        result = add_argument("o", "out", "File to write what was read back to", DOCA_ARGP_TYPE_STRING, set_out);
    if (result == DOCA_SUCCESS)
        result = add_argument("k", "data-blocks", "Data blocks", DOCA_ARGP_TYPE_INT, set_num_data);
    if (result == DOCA_SUCCESS)
        result = add_argument("m", "redundancy-blocks", "Redundancy blocks: so many blocks may be lost",
                              DOCA_ARGP_TYPE_INT, set_num_redundancy);
    if (result == DOCA_SUCCESS)
        result =
            add_argument("L", "lose", "Blocks that the server loses, such as 0,3", DOCA_ARGP_TYPE_STRING, set_lose);
    if (result == DOCA_SUCCESS)
        result = doca_argp_register_validation_callback(check_arguments);
    return read_arguments(result, argc, argv);
}
