// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "storage_requests.h"

#include <doca_log.h>

DOCA_LOG_REGISTER(STORAGE_REQUESTS);

static doca_error_t take_welcome(struct session *session, const char *bytes, size_t len)
{
    struct storage_welcome welcome;
    const doca_error_t result = storage_read(bytes, len, &welcome, sizeof(welcome));

    if (result != DOCA_SUCCESS)
        return result;
    if (session->num_targets != 0 || welcome.num_targets == 0 || welcome.num_targets > STORAGE_MAX_TARGETS)
        return DOCA_ERROR_INVALID_VALUE;
    DOCA_LOG_INFO("The server has %u targets for blocks of up to %u bytes", welcome.num_targets,
                  welcome.max_block_size);
    session->num_targets = welcome.num_targets;
    session->max_block_size = welcome.max_block_size;
    return DOCA_SUCCESS;
}

static doca_error_t take_done(struct session *session, const char *bytes, size_t len)
{
    struct storage_done done;
    const doca_error_t result = storage_read(bytes, len, &done, sizeof(done));

    if (result != DOCA_SUCCESS)
        return result;
    if (done.request_type != session->request_type || done.target >= session->num_targets ||
        !session->targets[done.target].is_in_flight)
        return DOCA_ERROR_INVALID_VALUE;
    session->targets[done.target].is_in_flight = 0;
    session->targets[done.target].status = (doca_error_t)done.status;
    session->num_in_flight--;
    return DOCA_SUCCESS;
}

static void received(struct control *control, const char *bytes, size_t len)
{
    struct session *session = (struct session *)control;
    const uint32_t type = storage_type(bytes, len);
    doca_error_t result = DOCA_ERROR_INVALID_VALUE;

    if (type == STORAGE_WELCOME)
        result = take_welcome(session, bytes, len);
    else if (type == STORAGE_DONE)
        result = take_done(session, bytes, len);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("A message of type %u with %zu bytes does not follow the protocol", type, len);
        give_up(control, result);
    }
}

doca_error_t create_session(const struct comch_config *config, struct session *session)
{
    session->control.received = received;
    return create_client(STORAGE_SERVICE, config, &session->control);
}

doca_error_t destroy_session(struct session *session)
{
    return destroy_control(&session->control);
}

static doca_error_t progress_session(struct session *session)
{
    const doca_error_t result = first_error(progress(session->control.pe), session->control.result);

    if (result == DOCA_SUCCESS && session->control.is_over) {
        DOCA_LOG_ERR("There is no server, or it has gone");
        return DOCA_ERROR_CONNECTION_RESET;
    }
    return result;
}

doca_error_t wait_for_server(struct session *session)
{
    doca_error_t result = DOCA_SUCCESS;

    while (result == DOCA_SUCCESS && session->num_targets == 0)
        result = progress_session(session);
    return result;
}

/* The connection's messages are copied when they are submitted. */
static doca_error_t send_request(struct session *session, uint32_t target, const void *message, size_t len)
{
    doca_error_t result = DOCA_ERROR_NOT_CONNECTED;

    if (session->control.connection != NULL)
        result = send_text(&session->control, message, len);
    if (result == DOCA_SUCCESS) {
        session->targets[target].is_in_flight = 1;
        session->num_in_flight++;
    }
    return result;
}

static doca_error_t wait_for_answers(struct session *session)
{
    doca_error_t result = DOCA_SUCCESS;

    while (result == DOCA_SUCCESS && session->num_in_flight > 0)
        result = progress_session(session);
    return result;
}

doca_error_t open_store(struct session *session, const struct image *image)
{
    struct storage_open open = {.header = {.version = STORAGE_VERSION, .type = STORAGE_OPEN},
                                .block_size = (uint32_t)image->block_size};
    const void *descriptor = NULL;
    size_t len = 0;
    doca_error_t result;

    if (image->block_size > session->max_block_size) {
        DOCA_LOG_ERR("The server stores blocks of up to %u bytes, not of %zu", session->max_block_size,
                     image->block_size);
        return DOCA_ERROR_TOO_BIG;
    }
    result = doca_mmap_export_pci(image->memory.mmap, session->control.dev, &descriptor, &len);
    if (result == DOCA_SUCCESS && len > sizeof(open.descriptor))
        result = DOCA_ERROR_TOO_BIG;
    if (result == DOCA_SUCCESS) {
        memcpy(open.descriptor, descriptor, len);
        open.descriptor_len = (uint32_t)len;
        session->request_type = STORAGE_OPEN;
        result = send_request(session, 0, &open, offsetof(struct storage_open, descriptor) + len);
    }
    if (result == DOCA_SUCCESS)
        result = wait_for_answers(session);
    if (result == DOCA_SUCCESS)
        result = session->targets[0].status;
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The server cannot use this side's memory: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t request_blocks(struct session *session, enum storage_message_type type, const uint32_t *targets,
                            const uint32_t *blocks, uint32_t num_blocks)
{
    doca_error_t result = DOCA_SUCCESS;

    session->request_type = type;
    for (uint32_t i = 0; result == DOCA_SUCCESS && i < num_blocks; i++) {
        const struct storage_request request = {
            .header = {.version = STORAGE_VERSION, .type = type}, .block = blocks[i], .target = targets[blocks[i]]};

        result = send_request(session, request.target, &request, sizeof(request));
    }
    return result == DOCA_SUCCESS ? wait_for_answers(session) : result;
}
