// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Runs on the DPU: stores blocks of a client on the host on its targets and ends when the client has gone. All work is
// done in callbacks: those of Comch begin copies, and that of DMA answers the client.
#include <stdlib.h>

#include <doca_log.h>

#include "../../doca_comch/comch_common.h"
#include "../storage_targets.h"

DOCA_LOG_REGISTER(STORAGE_SERVER);

struct server_config {
    struct comch_config comch;
    uint32_t num_targets;
};

struct server {
    struct control control; /* the first member: the callbacks of Comch get its address */
    struct targets targets;
};

static doca_error_t set_pci_addr(void *param, void *config)
{
    struct server_config *server = config;

    return set_text(server->comch.pci_addr, sizeof(server->comch.pci_addr), "PCI address", param);
}

static doca_error_t set_rep_pci_addr(void *param, void *config)
{
    struct server_config *server = config;

    return set_text(server->comch.rep_pci_addr, sizeof(server->comch.rep_pci_addr), "representor's PCI address", param);
}

static doca_error_t set_num_targets(void *param, void *config)
{
    const int count = *(int *)param;

    if (count < 1 || count > STORAGE_MAX_TARGETS) {
        DOCA_LOG_ERR("%d targets: 1 to %d are possible", count, STORAGE_MAX_TARGETS);
        return DOCA_ERROR_INVALID_VALUE;
    }
    ((struct server_config *)config)->num_targets = (uint32_t)count;
    return DOCA_SUCCESS;
}

static doca_error_t parse_arguments_of_server(int argc, char **argv, struct server_config *config)
{
    doca_error_t result;

    strcpy(config->comch.pci_addr, "03:00.0");
    strcpy(config->comch.rep_pci_addr, "3b:00.0");
    config->num_targets = 8;
    result = doca_argp_init("doca_storage_server", config);
    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument("p", "pci-addr", "PCI address of the device", DOCA_ARGP_TYPE_STRING, set_pci_addr);
    if (result == DOCA_SUCCESS)
        result =
            add_argument("r", "rep-pci", "PCI address of the host's function", DOCA_ARGP_TYPE_STRING, set_rep_pci_addr);
    if (result == DOCA_SUCCESS)
        result = add_argument("n", "targets", "Targets, each of which stores one block", DOCA_ARGP_TYPE_INT,
                              set_num_targets);
    return read_arguments(result, argc, argv);
}

/* A client that has gone needs no message. */
static void send_message(struct control *control, const void *message, size_t len)
{
    doca_error_t result = DOCA_SUCCESS;

    if (control->connection != NULL)
        result = send_text(control, message, len);
    if (result != DOCA_SUCCESS)
        give_up(control, result);
}

static void connected(struct control *control)
{
    const struct targets *targets = &((struct server *)control)->targets;
    const struct storage_welcome welcome = {.header = {.version = STORAGE_VERSION, .type = STORAGE_WELCOME},
                                            .num_targets = targets->num_targets,
                                            .max_block_size = targets->max_block_size};

    send_message(control, &welcome, sizeof(welcome));
}

static void send_done(struct control *control, uint32_t request_type, uint32_t target, doca_error_t status)
{
    const struct storage_done done = {.header = {.version = STORAGE_VERSION, .type = STORAGE_DONE},
                                      .request_type = request_type,
                                      .target = target,
                                      .status = status};

    /* The server keeps running, but its exit status reports the failure. A lost block is none. */
    if (status != DOCA_SUCCESS && status != DOCA_ERROR_NOT_FOUND)
        control->result = first_error(control->result, status);
    send_message(control, &done, sizeof(done));
}

/* The end of a request to a target, also of a copy. */
static void answer(void *owner, uint32_t request_type, uint32_t target, doca_error_t status)
{
    static const char *const names[] = {
        [STORAGE_STORE] = "store a block", [STORAGE_LOAD] = "load its block", [STORAGE_LOSE] = "lose its block"};

    DOCA_LOG_INFO("Target %u had to %s: %s", target, names[request_type], doca_error_get_descr(status));
    send_done(owner, request_type, target, status);
}

/* The answer may come later: when the copy has ended. */
static doca_error_t take_request(struct server *server, const void *bytes, size_t len)
{
    struct storage_request request;
    const doca_error_t result = storage_read(bytes, len, &request, sizeof(request));
    doca_error_t status;

    if (result != DOCA_SUCCESS)
        return result;
    if (request.header.type == STORAGE_LOSE) {
        answer(server, STORAGE_LOSE, request.target, lose_block(&server->targets, request.target));
        return DOCA_SUCCESS;
    }
    status = start_copy(&server->targets, &request);
    if (status != DOCA_SUCCESS)
        answer(server, request.header.type, request.target, status);
    return DOCA_SUCCESS;
}

static doca_error_t take_open(struct server *server, const void *bytes, size_t len)
{
    struct storage_open open;
    const doca_error_t result = storage_read_open(bytes, len, &open);

    if (result == DOCA_SUCCESS)
        send_done(&server->control, STORAGE_OPEN, 0, open_targets(&server->targets, &open));
    return result;
}

static void received(struct control *control, const char *bytes, size_t len)
{
    struct server *server = (struct server *)control;
    const uint32_t type = storage_type(bytes, len);
    doca_error_t result = DOCA_ERROR_INVALID_VALUE;

    if (type == STORAGE_OPEN)
        result = take_open(server, bytes, len);
    else if (type == STORAGE_STORE || type == STORAGE_LOAD || type == STORAGE_LOSE)
        result = take_request(server, bytes, len);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("A message of type %u with %zu bytes does not follow the protocol", type, len);
        give_up(control, result);
    }
}

int main(int argc, char **argv)
{
    static struct server_config config;
    static struct server server = {.control = {.connected = connected, .received = received},
                                   .targets = {.ended = answer, .owner = &server}};
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_arguments_of_server(argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_server(STORAGE_SERVICE, &config.comch, &server.control);
    if (result == DOCA_SUCCESS)
        result = create_targets(server.control.dev, server.control.pe, config.num_targets, &server.targets);
    if (result == DOCA_SUCCESS)
        result = wait_for_end(&server.control);
    result = first_error(result, destroy_targets(&server.targets));
    return finish(first_error(result, destroy_control(&server.control)));
}
