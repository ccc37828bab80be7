// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the Comm Channel samples, and applications that use Comm Channel, share.
#ifndef CC_COMMON_H_
#define CC_COMMON_H_

#include <stdbool.h>
#include <stddef.h>

#include <doca_comm_channel.h>
#include <doca_dev.h>
#include <doca_error.h>

#define CC_MAX_MSG_SIZE 4080
#define CC_QUEUE_SIZE 10

/* Where to find a device unless -p says so, and the host's function on the DPU unless -r does. */
#define DEFAULT_DPU_PCI_ADDR "03:00.0"
#define DEFAULT_HOST_PCI_ADDR "0b:00.0"

/* One end of a connection. */
struct cc_end {
    struct doca_dev *dev; /* the caller's */
    struct doca_dev_rep *rep;
    struct doca_comm_channel_ep_t *ep;
    struct doca_comm_channel_addr_t *peer; /* NULL while there is none */
};

/* DPU: listens on the representor at an address. After a failure, too, cc_close() must follow; *end was zero.
 */
doca_error_t cc_listen(struct cc_end *end, struct doca_dev *dev, const char *rep_pci_addr, const char *service);

/* Host: connects, and waits until the service has taken it in. Also after a failure, cc_close() must follow.
 */
doca_error_t cc_connect(struct cc_end *end, struct doca_dev *dev, const char *service);

/* Sends a message; waits while the queue is full. */
doca_error_t cc_send(struct cc_end *end, const void *message, size_t len);

/* Waits for a message. *len is the room for it and becomes its length. The first one makes its sender the
 * peer. */
doca_error_t cc_receive(struct cc_end *end, void *message, size_t *len);

doca_error_t cc_close(struct cc_end *end);

#endif /* CC_COMMON_H_ */
