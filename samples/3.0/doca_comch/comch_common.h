// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the Comch samples share: their arguments, and the control path, which is a server or a client with one
// peer.
#ifndef COMCH_COMMON_H_
#define COMCH_COMMON_H_

#include <doca_comch.h>

#include "../common.h"

struct comch_config {
    char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
    char rep_pci_addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE]; /* of the server: the host's function that clients use
                                                        */
    char text[MAX_TEXT_SIZE];
    uint32_t num_messages; /* of the client in the data path */
};

enum comch_argument {
    COMCH_ARGUMENT_REP = 1 << 0,   /* -r */
    COMCH_ARGUMENT_TEXT = 1 << 1,  /* -t */
    COMCH_ARGUMENT_COUNT = 1 << 2, /* -n */
};

/* Fills a configuration from the command line. arguments is a mask of enum comch_argument, besides -p.
 */
doca_error_t parse_arguments(const char *program, const char *default_pci_addr, uint32_t arguments, int argc,
                             char **argv, struct comch_config *config);

/* A server or a client. Its callbacks find it by the context's user data. */
struct control {
    struct doca_dev *dev;
    struct doca_dev_rep *rep;         /* of a server */
    struct doca_comch_server *server; /* one of the two */
    struct doca_comch_client *client;
    struct doca_ctx *ctx;
    struct doca_pe *pe;
    struct doca_comch_connection *connection; /* NULL while there is none */
    uint32_t peer_consumer;                   /* where the peer takes data; 0 while it does not */
    int is_over;                              /* the context is idle again */
    doca_error_t result;                      /* the first failure of a callback */

    /* The sample's part, called in callbacks. connected may be NULL. */
    void (*connected)(struct control *control);
    void (*received)(struct control *control, const char *text, size_t len);
};

/* Makes and starts one. Also after a failure, destroy_control() must follow; *control was zero but for the
 * sample's part. */
doca_error_t create_server(const char *name, const struct comch_config *config, struct control *control);
doca_error_t create_client(const char *name, const struct comch_config *config, struct control *control);
/* Stops it, waits for that, and takes apart what has been made. */
doca_error_t destroy_control(struct control *control);

/* Until there is a connection. */
doca_error_t wait_for_peer(struct control *control);
/* Until the context is idle again; the answer is the first failure of a callback. */
doca_error_t wait_for_end(struct control *control);

/* Sends a text to the peer. The text need not outlive the call. */
doca_error_t send_text(struct control *control, const char *text, size_t len);
/* Stops the context, and keeps the failure that is the reason. May be called in callbacks. */
void give_up(struct control *control, doca_error_t reason);

#endif /* COMCH_COMMON_H_ */
