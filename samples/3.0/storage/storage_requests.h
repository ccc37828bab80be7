// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The client's side of the protocol of the storage sample: requests to the server, and their answers.
#ifndef STORAGE_REQUESTS_H_
#define STORAGE_REQUESTS_H_

#include "../doca_comch/comch_common.h"
#include "storage_image.h"
#include "storage_protocol.h"

/* Zero before connect_session(). */
struct session {
    struct control control;  /* the first member: the callbacks of Comch get its address */
    uint32_t num_targets;    /* of the server; 0 before it has sent WELCOME */
    uint32_t max_block_size; /* that it stores */
    uint32_t request_type;   /* of the requests in flight */
    uint32_t num_in_flight;
    struct {
        int is_in_flight;
        doca_error_t status; /* of the last request */
    } targets[STORAGE_MAX_TARGETS];
};

/* Starts to connect. After a failure, too, destroy_session() must follow. */
doca_error_t create_session(const struct comch_config *config, struct session *session);
doca_error_t destroy_session(struct session *session);
/* Waits until the server has sent WELCOME. */
doca_error_t wait_for_server(struct session *session);

/* Lets the server use the memory of the image, which has at most as many blocks as the server has targets. */
doca_error_t open_store(struct session *session, const struct image *image);
/* Sends a request of a type for each of some blocks and waits until all have ended. targets has the target of each
 * block of the image. Returns the first failure of sending or waiting; how each request ended is in the session. */
doca_error_t request_blocks(struct session *session, enum storage_message_type type, const uint32_t *targets,
                            const uint32_t *blocks, uint32_t num_blocks);

#endif /* STORAGE_REQUESTS_H_ */
